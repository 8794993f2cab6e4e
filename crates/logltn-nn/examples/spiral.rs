//! Two spirals wind around each other; a small network learns to tell them apart.
//!
//! `cargo run --release -p logltn-nn --example spiral`

use logltn_nn::{Activation, Adam, AdamSettings, Network, SpecError, mlp};

/// Points on both spirals, and for each the spiral it is on.
fn spirals(points: usize) -> (Vec<f32>, Vec<f32>) {
    let (mut input, mut labels) = (vec![], vec![]);
    for i in 0..points {
        let (radius, label) = (i as f32 / points as f32, (i % 2) as f32);
        let angle = 9.0 * radius + std::f32::consts::PI * label;
        input.extend([radius * angle.cos(), radius * angle.sin()]);
        labels.push(label);
    }
    (input, labels)
}

fn main() -> Result<(), SpecError> {
    let points = 400;
    let (input, labels) = spirals(points);
    let mut network = Network::new(&mlp(2, &[32, 32], 1, Activation::Elu), 1)?;
    let mut adam = Adam::new(AdamSettings::default(), network.parameters().len());
    for step in 0..=1000 {
        let logits = network.forward(&input, points);
        // The loss is the cross entropy; its gradient by a logit is the probability less the label.
        let (mut loss, mut right, mut by_logits) = (0.0, 0, vec![]);
        for (logit, label) in logits.iter().zip(&labels) {
            loss += (logit.max(0.0) - logit * label + (-logit.abs()).exp().ln_1p()) / points as f32;
            right += usize::from((*logit > 0.0) == (*label == 1.0));
            by_logits.push((1.0 / (1.0 + (-logit).exp()) - label) / points as f32);
        }
        if step % 200 == 0 {
            println!("step {step:4}: loss {loss:.4}, {right} of {points} right");
        }
        network.zero_gradients();
        network.backward(&by_logits, None);
        let (parameters, gradients) = network.parameters_and_gradients();
        adam.step(0.01, parameters, gradients);
    }
    Ok(())
}
