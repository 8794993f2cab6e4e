//! Milliseconds of a step (forward, backward, Adam) of three networks, as lines of `name median fastest`.
//!
//! `cargo run --release -p logltn-nn --example bench -- 20`: 20 steps, more for the small networks.
//! `bench/networks` runs this in turns with PyTorch.

use std::time::Instant;

use logltn_nn::{Activation, AdamSettings, Network, NetworkSpec, Optimizer, lenet, mlp};

fn main() {
    let repetitions = std::env::args()
        .nth(1)
        .and_then(|argument| argument.parse().ok())
        .unwrap_or(20);
    let clustering = mlp(16, &[16, 16, 16], 5, Activation::Elu);
    let types = mlp(1028, &[512, 256, 256, 128, 128], 60, Activation::Elu);
    measure("lenet", &lenet(10), 128, repetitions * 2);
    measure("clustering", &clustering, 801, repetitions * 5);
    measure("types", &types, 1024, repetitions);
}

fn measure(name: &str, spec: &NetworkSpec, rows: usize, repetitions: usize) {
    let mut network = Network::new(spec, 1).expect("the networks above are possible");
    let mut adam = Optimizer::adam(AdamSettings::default(), network.parameters().len());
    let input: Vec<f32> = (0..rows * network.input_shape().len())
        .map(|i| (i as f32 * 0.37).sin())
        .collect();
    let mut by_output = vec![0.0; rows * network.output_shape().len()];
    let outputs = by_output.len() as f32;
    let mut times = vec![];
    for _ in 0..repetitions + 3 {
        let start = Instant::now();
        let output = network.forward(&input, rows);
        // The loss is the mean of the squares.
        for (by_output, output) in by_output.iter_mut().zip(output) {
            *by_output = 2.0 * output / outputs;
        }
        network.zero_gradients();
        network.backward(&by_output, None);
        let (parameters, gradients) = network.parameters_and_gradients();
        adam.step(1e-3, parameters, gradients);
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    // The first steps ask for memory.
    let times = &mut times[3..];
    times.sort_by(f64::total_cmp);
    println!("{name} {:.4} {:.4}", times[times.len() / 2], times[0]);
}
