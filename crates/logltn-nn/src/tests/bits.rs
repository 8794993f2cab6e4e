//! The same bits, whatever the number of threads, the cut of the batch, and the kind of processor.

use super::{bits, numbers};
use crate::processor::Processor;
use crate::{Activation, AdamSettings, LayerSpec, Network, NetworkSpec, Optimizer, lenet, mlp};

/// All bits that three steps of training leave behind.
fn train(spec: &NetworkSpec, rows: usize, threads: usize) -> Vec<Vec<u32>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        let mut network = Network::new(spec, 7).unwrap();
        let mut adam = Optimizer::adam(AdamSettings::default(), network.parameters().len());
        let input = numbers(rows * network.input_shape().len(), 1);
        let mut by_input = vec![0.0; input.len()];
        let mut output = vec![];
        for _ in 0..3 {
            output = network.forward(&input, rows).to_vec();
            network.zero_gradients();
            network.backward(&output, Some(&mut by_input));
            // Once more, of some rows only.
            let kept = rows / 3;
            network.forward_keeping(&input, rows, kept);
            network.backward_anew(&output[..kept * output.len() / rows], None);
            let (parameters, gradients) = network.parameters_and_gradients();
            adam.step(1e-3, parameters, gradients);
        }
        let evaluated = network.forward_only(&input, rows).to_vec();
        [
            &output,
            &by_input,
            &evaluated,
            network.gradients(),
            network.parameters(),
        ]
        .map(bits)
        .to_vec()
    })
}

#[test]
fn on_any_number_of_threads() {
    let many_weights = mlp(300, &[200, 150], 40, Activation::Elu);
    let many_rows = mlp(16, &[16, 16, 16], 5, Activation::Sigmoid);
    let mut dropping = lenet(10);
    dropping.layers.insert(7, LayerSpec::Dropout(0.4));
    for (spec, rows) in [
        (lenet(10), 70),
        (dropping, 70),
        (many_weights, 500),
        (many_rows, 4000),
    ] {
        let alone = train(&spec, rows, 1);
        for threads in [2, 3, 8] {
            assert!(
                train(&spec, rows, threads) == alone,
                "{spec} on {threads} threads"
            );
        }
    }
}

#[test]
fn a_row_does_not_know_its_batch() {
    for (spec, rows) in [
        (lenet(10), 35),
        (mlp(20, &[70, 9], 3, Activation::Tanh), 150),
    ] {
        let mut network = Network::new(&spec, 7).unwrap();
        let inputs = network.input_shape().len();
        let input = numbers(rows * inputs, 1);
        let together = bits(network.forward(&input, rows));
        let mut alone = vec![];
        for row in input.chunks(inputs) {
            alone.extend(bits(network.forward(row, 1)));
        }
        assert!(together == alone, "{spec}");
    }
}

/// Whatever fuses multiplication and addition; there is only one such kind on most machines.
#[test]
fn on_any_processor_that_fuses() {
    let fused = |processor: &Processor| {
        cfg!(target_arch = "aarch64") || !matches!(processor, Processor::Portable)
    };
    let kinds: Vec<Processor> = Processor::all_available()
        .into_iter()
        .filter(fused)
        .collect();
    for (spec, rows) in [
        (lenet(10), 20),
        (mlp(80, &[70, 9], 3, Activation::Elu), 100),
    ] {
        let results: Vec<_> = kinds
            .iter()
            .map(|&processor| {
                let mut network = Network::for_processor(&spec, 1, processor).unwrap();
                let input = numbers(rows * network.input_shape().len(), 1);
                let output = network.forward(&input, rows).to_vec();
                let mut by_input = vec![0.0; input.len()];
                network.backward(&output, Some(&mut by_input));
                [&output, &by_input, network.gradients()].map(bits)
            })
            .collect();
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{spec}");
    }
}

#[test]
fn seeds() {
    let spec = mlp(3, &[4], 2, Activation::Elu);
    let parameters = |seed| bits(Network::new(&spec, seed).unwrap().parameters());
    assert_eq!(parameters(1), parameters(1));
    assert_ne!(parameters(1), parameters(2));
    // These must never change: a run is repeated by its seed, also by a later version.
    let network = Network::new(&spec, 1).unwrap();
    assert_eq!(
        bits(&network.parameters()[..3]),
        [1061159293, 3188173641, 3208293563]
    );
}
