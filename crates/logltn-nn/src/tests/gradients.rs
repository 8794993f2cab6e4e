//! Values against the plain implementation, gradients against its finite differences.

use proptest::prelude::*;

use super::{ELU, conv, image, numbers, reference};
use crate::processor::Processor;
use crate::{Activation, LayerSpec, Network, NetworkSpec, Shape, mlp};

/// Checks the outputs of all rows, and gradients of a sample of the parameters and inputs.
fn check(spec: &NetworkSpec, rows: usize) {
    for processor in Processor::all_available() {
        check_on(spec, rows, processor);
    }
}

fn check_on(spec: &NetworkSpec, rows: usize, processor: Processor) {
    let what = format!("{spec}, {rows} rows, {processor:?}");
    let mut network = Network::for_processor(spec, 3, processor).unwrap();
    // Biases are 0 at first, which would hide a wrong one.
    for (parameter, noise) in network.parameters_mut().iter_mut().zip(numbers(1 << 20, 1)) {
        *parameter += 0.1 * noise;
    }
    let (inputs, outputs) = (spec.input.len(), spec.output().unwrap().len());
    let input = numbers(rows * inputs, 4);
    let by_output = numbers(rows * outputs, 5);
    let mut by_input = vec![f32::NAN; input.len()];
    let output = network.forward(&input, rows).to_vec();
    network.backward(&by_output, Some(&mut by_input));

    let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
    let (parameters, input, by_output) =
        (wide(network.parameters()), wide(&input), wide(&by_output));
    for (row, output) in output.chunks(outputs).enumerate() {
        let truth = reference::forward(spec, &parameters, &input[row * inputs..][..inputs]);
        for (got, truth) in output.iter().zip(truth) {
            let error = (f64::from(*got) - truth).abs();
            assert!(
                error < 1e-5 * (1.0 + truth.abs()),
                "{what}: {got} is not {truth}"
            );
        }
    }

    // The loss is linear in the outputs, so rows can be taken one by one.
    let row_loss = |parameters: &[f64], input: &[f64], row: usize| -> f64 {
        let output = reference::forward(spec, parameters, input);
        let by_output = &by_output[row * outputs..];
        output.iter().zip(by_output).map(|(o, d)| o * d).sum()
    };
    let loss = |parameters: &[f64]| -> f64 {
        let rows = input.chunks(inputs).enumerate();
        rows.map(|(row, input)| row_loss(parameters, input, row))
            .sum()
    };
    let step = 1e-6;
    let agree = |got: f32, truth: f64, name: &str, index: usize| {
        let error = (f64::from(got) - truth).abs();
        assert!(
            error < 2e-4 * (1.0 + truth.abs()),
            "{what}: the gradient of {name} {index} is {truth}, not {got}"
        );
    };
    for tensor in network.tensors() {
        let count = tensor.range.len();
        let sample = (0..count.min(12)).map(|i| tensor.range.start + i * count / count.min(12));
        for index in sample.chain([tensor.range.end - 1]) {
            let mut moved = parameters.clone();
            moved[index] += step;
            let above = loss(&moved);
            moved[index] -= 2.0 * step;
            let truth = (above - loss(&moved)) / (2.0 * step);
            agree(network.gradients()[index], truth, &tensor.name, index);
        }
    }
    for index in (0..input.len()).step_by(input.len().div_ceil(40)) {
        let row = index / inputs;
        let mut moved = input[row * inputs..][..inputs].to_vec();
        moved[index % inputs] += step;
        let above = row_loss(&parameters, &moved, row);
        moved[index % inputs] -= 2.0 * step;
        let truth = (above - row_loss(&parameters, &moved, row)) / (2.0 * step);
        agree(by_input[index], truth, "input", index);
    }
}

#[test]
fn dense_layers_of_all_widths() {
    for width in [1, 5, 15, 16, 17, 33, 48, 50, 64, 65, 130] {
        let spec = NetworkSpec {
            input: Shape::Flat(width),
            layers: vec![LayerSpec::Dense(7), LayerSpec::Dense(width)],
        };
        check(&spec, 3);
    }
}

#[test]
fn dense_layers_on_all_numbers_of_rows() {
    for rows in [1, 2, 7, 16, 47, 48, 49, 100] {
        check(&mlp(6, &[5], 3, Activation::Elu), rows);
    }
}

/// More weights than are summed up block by block.
#[test]
fn dense_layers_with_many_weights() {
    check(&mlp(70, &[130], 90, Activation::Tanh), 61);
}

#[test]
fn activations() {
    for activation in Activation::ALL {
        check(&mlp(4, &[9, 8], 3, activation), 5);
        let alone = LayerSpec::Activation(activation);
        let spec = NetworkSpec {
            input: Shape::Flat(4),
            layers: vec![alone, LayerSpec::Dense(3), alone, alone],
        };
        check(&spec, 5);
        let pooled = [conv(3, 2), alone, LayerSpec::Pool(2), alone];
        check(&image(2, 7, 7, &pooled), 5);
        let pooled = [
            alone,
            LayerSpec::Pool(2),
            conv(3, 2),
            LayerSpec::Pool(1),
            alone,
        ];
        check(&image(2, 7, 7, &pooled), 5);
    }
}

#[test]
fn convolutions_of_all_sizes() {
    for kernel in 1..=9 {
        let (height, width) = (kernel + 2, kernel + 5);
        check(&image(2, height, width, &[conv(3, kernel)]), 2);
    }
    for filters in 1..=13 {
        check(&image(1, 4, 6, &[conv(filters, 3), ELU, conv(2, 2)]), 3);
    }
}

#[test]
fn pooling_with_and_without_leftovers() {
    for size in 1..=4 {
        for width in 4..=8 {
            check(&image(3, 5, width, &[LayerSpec::Pool(size), ELU]), 2);
            let after = [conv(2, 2), ELU, LayerSpec::Pool(size.min(3)), conv(2, 1)];
            check(&image(1, 5, width, &after), 2);
        }
    }
}

#[test]
fn a_small_lenet() {
    let layers = [
        conv(6, 3),
        ELU,
        LayerSpec::Pool(2),
        conv(16, 3),
        ELU,
        LayerSpec::Pool(2),
        LayerSpec::Flatten,
        LayerSpec::Dense(20),
        ELU,
        LayerSpec::Dense(10),
    ];
    check(&image(1, 14, 14, &layers), 17);
    check(&image(1, 14, 14, &layers), 33);
}

fn any_layer() -> impl Strategy<Value = LayerSpec> {
    prop_oneof![
        (1..20usize).prop_map(LayerSpec::Dense),
        (1..9usize, 1..5usize).prop_map(|(filters, kernel)| conv(filters, kernel)),
        (1..4usize).prop_map(LayerSpec::Pool),
        Just(LayerSpec::Flatten),
        prop::sample::select(&Activation::ALL).prop_map(LayerSpec::Activation),
        prop::sample::select(&Activation::ALL).prop_map(LayerSpec::Activation),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Layers that cannot follow what is there are left out.
    #[test]
    fn random_networks(
        layers in prop::collection::vec(any_layer(), 0..9),
        flat: bool,
        sides in (1..3usize, 1..12usize, 1..12usize),
        rows in 1..40usize,
    ) {
        let (channels, height, width) = sides;
        let mut spec = image(channels, height, width, &[]);
        if flat {
            spec.input = Shape::Flat(height * width);
        }
        for layer in layers {
            spec.layers.push(layer);
            if spec.output().is_err() {
                spec.layers.pop();
            }
        }
        check(&spec, rows);
    }
}
