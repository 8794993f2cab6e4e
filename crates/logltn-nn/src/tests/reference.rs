//! The plainest network there is: layer after layer as the specification says, in double precision, one row.

use crate::{Activation, LayerSpec, NetworkSpec, Shape};

/// The output for one row. Parameters are those of the network, in its order.
pub fn forward(spec: &NetworkSpec, parameters: &[f64], row: &[f64]) -> Vec<f64> {
    let mut values = row.to_vec();
    let mut shape = spec.input;
    let mut parameters = parameters;
    let mut take = |length: usize| {
        let (taken, rest) = parameters.split_at(length);
        parameters = rest;
        taken
    };
    for layer in &spec.layers {
        let output = layer.output(shape).unwrap();
        values = match (*layer, shape, output) {
            (LayerSpec::Dense(outputs), Shape::Flat(inputs), _) => {
                let weights = take(outputs * inputs);
                let bias = take(outputs);
                (0..outputs)
                    .map(|o| {
                        let products = (0..inputs).map(|i| weights[o * inputs + i] * values[i]);
                        products.sum::<f64>() + bias[o]
                    })
                    .collect()
            }
            (
                LayerSpec::Conv { filters, kernel: k },
                Shape::Image {
                    channels,
                    height: h,
                    width: w,
                },
                _,
            ) => {
                let weights = take(filters * channels * k * k);
                let bias = take(filters);
                let mut out = vec![];
                for f in 0..filters {
                    for y in 0..=h - k {
                        for x in 0..=w - k {
                            let mut sum = bias[f];
                            for c in 0..channels {
                                for i in 0..k {
                                    for j in 0..k {
                                        sum += weights[((f * channels + c) * k + i) * k + j]
                                            * values[(c * h + y + i) * w + x + j];
                                    }
                                }
                            }
                            out.push(sum);
                        }
                    }
                }
                out
            }
            (
                LayerSpec::Pool(k),
                Shape::Image {
                    channels,
                    height: h,
                    width: w,
                },
                _,
            ) => {
                let mut out = vec![];
                for c in 0..channels {
                    for y in 0..h / k {
                        for x in 0..w / k {
                            let tile = (0..k * k)
                                .map(|p| values[(c * h + y * k + p / k) * w + x * k + p % k]);
                            out.push(tile.fold(f64::NEG_INFINITY, f64::max));
                        }
                    }
                }
                out
            }
            (LayerSpec::Activation(activation), ..) => values
                .into_iter()
                .map(|x| match activation {
                    Activation::Elu => {
                        if x > 0.0 {
                            x
                        } else {
                            x.exp_m1()
                        }
                    }
                    Activation::Relu => x.max(0.0),
                    Activation::Tanh => x.tanh(),
                    Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
                })
                .collect(),
            _ => values,
        };
        shape = output;
    }
    values
}
