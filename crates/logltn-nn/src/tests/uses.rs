//! How networks are used, and misused.

use super::{ELU, bits, conv, image, numbers};
use crate::{Activation, LayerSpec, Network, NetworkSpec, Shape, lenet, mlp};

#[test]
fn gradients_add_up() {
    let spec = mlp(5, &[70, 70], 3, Activation::Elu);
    let mut network = Network::new(&spec, 1).unwrap();
    let (input, by_output) = (numbers(50, 1), numbers(30, 2));
    network.forward(&input, 10);
    network.backward(&by_output, None);
    let once = network.gradients().to_vec();
    network.backward(&by_output, None);
    for (twice, once) in network.gradients().iter().zip(&once) {
        assert_eq!(*twice, 2.0 * once);
    }
    network.zero_gradients();
    assert!(network.gradients().iter().all(|&g| g == 0.0));
    network.backward(&by_output, None);
    assert_eq!(network.gradients(), once);
}

#[test]
fn evaluation_does_not_disturb_training() {
    for spec in [lenet(4), mlp(784, &[9], 4, Activation::Elu)] {
        let mut network = Network::new(&spec, 1).unwrap();
        let input = numbers(20 * 784, 1);
        let by_output = numbers(20 * 4, 2);
        network.forward(&input, 20);
        network.backward(&by_output, None);
        let truth = network.gradients().to_vec();
        network.zero_gradients();
        let output = bits(network.forward(&input, 20));
        // More rows than go through at once.
        let more = numbers(1600 * 784, 3);
        let evaluated = bits(network.forward_only(&more, 1600));
        network.backward(&by_output, None);
        assert_eq!(network.gradients(), truth);
        assert_eq!(bits(network.forward_only(&input, 20)), output);
        assert_eq!(bits(network.forward(&more, 1600)), evaluated);
    }
}

#[test]
fn batches_may_shrink_and_grow() {
    let spec = image(1, 6, 6, &[conv(3, 3), ELU, LayerSpec::Pool(2)]);
    let mut network = Network::new(&spec, 1).unwrap();
    for rows in [40, 3, 17, 0, 64, 1] {
        let input = numbers(rows * 36, 1);
        let by_output = numbers(rows * 12, 2);
        let mut fresh = Network::new(&spec, 1).unwrap();
        let output = bits(fresh.forward(&input, rows));
        assert_eq!(bits(network.forward(&input, rows)), output);
        let (mut by_input, mut by_input_fresh) = (vec![0.0; rows * 36], vec![1.0; rows * 36]);
        network.zero_gradients();
        network.backward(&by_output, Some(&mut by_input));
        fresh.backward(&by_output, Some(&mut by_input_fresh));
        assert_eq!(bits(network.gradients()), bits(fresh.gradients()));
        assert_eq!(bits(&by_input), bits(&by_input_fresh));
    }
}

#[test]
fn changed_parameters_are_noticed() {
    let mut network = Network::new(&mlp(2, &[3], 1, Activation::Elu), 1).unwrap();
    let before = network.forward(&[1.0, 2.0], 1)[0];
    let bias = network.tensors()[3].range.start;
    network.parameters_mut()[bias] += 10.0;
    assert!((network.forward(&[1.0, 2.0], 1)[0] - before - 10.0).abs() < 1e-5);
}

#[test]
fn a_network_without_layers_does_nothing() {
    for input in [Shape::Flat(3), image(1, 3, 1, &[]).input] {
        let layers = vec![];
        let mut network = Network::new(&NetworkSpec { input, layers }, 1).unwrap();
        assert_eq!(network.forward(&[1.0, 2.0, 3.0], 1), [1.0, 2.0, 3.0]);
        let mut by_input = [0.0; 3];
        network.backward(&[4.0, 5.0, 6.0], Some(&mut by_input));
        assert_eq!(by_input, [4.0, 5.0, 6.0]);
    }
}

/// Rows that are not kept count for the outputs, dropout included, and as rows whose gradient is 0.
#[test]
fn rows_that_are_not_kept_have_no_gradient() {
    let mut dropping = mlp(300, &[200, 90], 4, Activation::Elu);
    dropping.layers.insert(2, LayerSpec::Dropout(0.3));
    let small = mlp(5, &[7], 4, Activation::Tanh);
    for (spec, rows) in [(lenet(4), 70), (dropping, 200), (small, 200)] {
        for kept in [0, 1, 33, rows] {
            let mut all = Network::new(&spec, 1).unwrap();
            let mut some = Network::new(&spec, 1).unwrap();
            let inputs = all.input_shape().len();
            let input = numbers(rows * inputs, 1);
            let output = bits(all.forward(&input, rows));
            assert_eq!(bits(some.forward_keeping(&input, rows, kept)), output);
            let mut by_output = numbers(rows * 4, 2);
            by_output[kept * 4..].fill(0.0);
            let mut by_input = vec![1.0; rows * inputs];
            let mut by_kept = vec![1.0; kept * inputs];
            all.backward(&by_output, Some(&mut by_input));
            // Whatever there was before.
            some.gradients_mut().fill(f32::NAN);
            some.backward_anew(&by_output[..kept * 4], Some(&mut by_kept));
            assert_eq!(bits(&by_kept), bits(&by_input[..kept * inputs]));
            assert!(by_input[kept * inputs..].iter().all(|&g| g == 0.0));
            for (some, all) in some.gradients().iter().zip(all.gradients()) {
                // Sums are cut at other rows.
                assert!(
                    (some - all).abs() <= 1e-4 * (1.0 + all.abs()),
                    "{spec}: {some} {all}"
                );
            }
        }
    }
}

/// A network must not hide that something went wrong before it.
#[test]
fn not_a_number_goes_through() {
    for activation in Activation::ALL {
        let layers = [
            conv(2, 2),
            LayerSpec::Activation(activation),
            LayerSpec::Pool(2),
        ];
        let mut network = Network::new(&image(1, 3, 3, &layers), 1).unwrap();
        for pixel in 0..9 {
            let mut input = [1.0; 9];
            input[pixel] = f32::NAN;
            assert!(network.forward(&input, 1).iter().all(|x| x.is_nan()));
        }
    }
}

#[test]
fn names_and_shapes_of_tensors() {
    let network = Network::new(&lenet(10), 1).unwrap();
    let tensors: Vec<(&str, &[usize])> = network
        .tensors()
        .iter()
        .map(|tensor| (tensor.name.as_str(), tensor.shape.as_slice()))
        .collect();
    assert_eq!(
        tensors,
        [
            ("0.weight", &[6, 1, 5, 5][..]),
            ("0.bias", &[6]),
            ("3.weight", &[16, 6, 5, 5]),
            ("3.bias", &[16]),
            ("7.weight", &[100, 256]),
            ("7.bias", &[100]),
            ("9.weight", &[84, 100]),
            ("9.bias", &[84]),
            ("11.weight", &[10, 84]),
            ("11.bias", &[10]),
        ]
    );
    let mut end = 0;
    for tensor in network.tensors() {
        assert_eq!(tensor.range.start, end);
        assert_eq!(tensor.range.len(), tensor.shape.iter().product::<usize>());
        end = tensor.range.end;
    }
    assert_eq!(end, network.parameters().len());
}

#[test]
#[should_panic(expected = "the input has 2 rows of 3 numbers")]
fn input_of_another_length_is_a_bug() {
    let mut network = Network::new(&mlp(3, &[], 1, Activation::Elu), 1).unwrap();
    network.forward(&[0.0; 7], 2);
}

#[test]
#[should_panic(expected = "as many rows as the last forward pass, 2, of 1 numbers")]
fn gradients_of_another_batch_are_a_bug() {
    let mut network = Network::new(&mlp(3, &[], 1, Activation::Elu), 1).unwrap();
    network.forward(&[0.0; 6], 2);
    network.backward(&[0.0; 3], None);
}
