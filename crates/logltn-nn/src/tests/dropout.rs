//! Dropout: shares and means, gradients, and that nothing but seed, step, layer, row and place matters.

use super::{ELU, bits, conv, image, numbers, reference};
use crate::{Activation, LayerSpec, Network, NetworkSpec, Shape, mlp};

const HALF: LayerSpec = LayerSpec::Dropout(0.5);

fn only(layer: LayerSpec, input: Shape) -> NetworkSpec {
    NetworkSpec {
        input,
        layers: vec![layer],
    }
}

#[test]
fn the_share_is_kept_and_so_is_the_mean() {
    let flat = Shape::Flat(203);
    let picture = image(3, 9, 7, &[]).input;
    for (input, rate) in [(flat, 0.1), (flat, 0.4), (picture, 0.25), (picture, 0.9)] {
        let mut network = Network::new(&only(LayerSpec::Dropout(rate), input), 1).unwrap();
        let rows = 500;
        let output = network.forward(&vec![1.0; rows * input.len()], rows);
        let count = output.len() as f64;
        let dropped = output.iter().filter(|&&x| x == 0.0).count() as f64 / count;
        let mean = output.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
        let rate = f64::from(rate);
        let deviation = (rate * (1.0 - rate) / count).sqrt();
        assert!((dropped - rate).abs() < 5.0 * deviation, "{dropped}");
        assert!(
            (mean - 1.0).abs() < 5.0 * deviation / (1.0 - rate),
            "{mean}"
        );
    }
}

#[test]
fn rows_steps_seeds_and_layers_differ() {
    let two = NetworkSpec {
        input: Shape::Flat(64),
        layers: vec![HALF, HALF],
    };
    let mut network = Network::new(&two, 1).unwrap();
    let output = network.forward(&[1.0; 128], 2).to_vec();
    assert_ne!(output[..64], output[64..]);
    // Two layers that chose alike would drop half, not three quarters.
    let kept = output.iter().filter(|&&x| x != 0.0).count();
    assert!((16..48).contains(&kept), "{kept}");
    assert_ne!(network.forward(&[1.0; 128], 2), output);
    let mut other = Network::new(&two, 2).unwrap();
    assert_ne!(other.forward(&[1.0; 128], 2), output);
}

#[test]
fn nothing_is_dropped_at_rate_0_or_without_training() {
    let spec = only(LayerSpec::Dropout(0.0), Shape::Flat(40));
    let input = numbers(80, 1);
    let mut network = Network::new(&spec, 1).unwrap();
    assert_eq!(bits(network.forward(&input, 2)), bits(&input));
    let mut network = Network::new(&only(HALF, Shape::Flat(40)), 1).unwrap();
    assert_eq!(bits(network.forward_only(&input, 2)), bits(&input));
}

/// With choices held fast, gradients by parameters and inputs are those of finite differences.
#[test]
fn gradients_go_where_numbers_went() {
    // Without pooling, whose winners change within a difference that single precision can see.
    let pictures = [conv(3, 3), ELU, HALF, LayerSpec::Flatten];
    let mut pictures = image(1, 8, 8, &pictures);
    pictures
        .layers
        .extend([LayerSpec::Dense(20), ELU, HALF, LayerSpec::Dense(3)]);
    let mut flat = mlp(10, &[70], 3, Activation::Tanh);
    flat.layers.insert(2, LayerSpec::Dropout(0.3));
    for spec in [pictures, flat] {
        let rows = 37;
        let mut network = Network::new(&spec, 3).unwrap();
        let (inputs, length) = (spec.input.len(), network.parameters().len());
        let mut input = numbers(rows * inputs, 1);
        let by_output = numbers(rows * 3, 2);
        let mut by_input = vec![0.0; input.len()];
        network.forward(&input, rows);
        // What is looked at in between does not disturb.
        network.forward_only(&input, rows);
        network.backward(&by_output, Some(&mut by_input));
        let gradients = network.gradients().to_vec();
        let loss = |network: &mut Network, input: &[f32]| -> f64 {
            network.set_step(0);
            let output = network.forward(input, rows).iter().zip(&by_output);
            output.map(|(&o, &d)| f64::from(o) * f64::from(d)).sum()
        };
        let step = 1e-2;
        let agree = |got: f32, above: f64, below: f64, what: &str| {
            let truth = (above - below) / (2.0 * f64::from(step));
            let error = (f64::from(got) - truth).abs();
            assert!(
                error < 2e-2 * (1.0 + truth.abs()),
                "{spec}, {what}: {got} is not {truth}"
            );
        };
        for index in (0..length).step_by(length.div_ceil(60)) {
            let kept = network.parameters()[index];
            network.parameters_mut()[index] = kept + step;
            let above = loss(&mut network, &input);
            network.parameters_mut()[index] = kept - step;
            let below = loss(&mut network, &input);
            network.parameters_mut()[index] = kept;
            agree(
                gradients[index],
                above,
                below,
                &format!("parameter {index}"),
            );
        }
        for index in (0..input.len()).step_by(input.len().div_ceil(60)) {
            let kept = input[index];
            input[index] = kept + step;
            let above = loss(&mut network, &input);
            input[index] = kept - step;
            let below = loss(&mut network, &input);
            input[index] = kept;
            agree(by_input[index], above, below, &format!("input {index}"));
        }
    }
}

/// Without training the network is the one without dropout.
#[test]
fn evaluation_is_that_of_the_plain_network() {
    let mut spec = mlp(10, &[30], 3, Activation::Elu);
    spec.layers.insert(2, HALF);
    let mut network = Network::new(&spec, 3).unwrap();
    let input = numbers(10, 1);
    let output = network.forward_only(&input, 1).to_vec();
    let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
    let truth = reference::forward(&spec, &wide(network.parameters()), &wide(&input));
    for (got, truth) in output.iter().zip(truth) {
        assert!((f64::from(*got) - truth).abs() < 1e-5);
    }
}
