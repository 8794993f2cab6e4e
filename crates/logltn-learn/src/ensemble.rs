//! What several models say together: the mean, and how far they disagree.

use crate::predictions::{Answers, Predictions};

impl Predictions {
    /// The mean of what the members of an ensemble say of the same rows, with how far they disagree in each. Of truths and
    /// classes that is the Jensen-Shannon divergence of their distributions, as a share of the greatest there can be: 0 if they
    /// all say the same, 1 if each is certain of something else. Of values it is their standard deviation.
    ///
    /// ```
    /// use logltn_learn::{Answers, Predictions};
    /// let says = |truth: f64| Predictions { answers: Answers::Truth, width: 1, numbers: vec![truth], disagreement: vec![] };
    /// let both = Predictions::of_ensemble(&[says(1.0), says(0.0)]);
    /// assert_eq!((both.numbers[0], both.disagreement[0]), (0.5, 1.0));
    /// assert_eq!(Predictions::of_ensemble(&[says(0.3), says(0.3)]).disagreement, [0.0]);
    /// ```
    pub fn of_ensemble(members: &[Predictions]) -> Predictions {
        let Some(first) = members.first() else {
            return Predictions {
                answers: Answers::Truth,
                width: 1,
                numbers: Vec::new(),
                disagreement: Vec::new(),
            };
        };
        let count = members.len() as f64;
        let mut mean = first.clone();
        for (i, mean) in mean.numbers.iter_mut().enumerate() {
            *mean = members.iter().map(|m| m.numbers[i]).sum::<f64>() / count;
        }
        let width = first.width.max(1);
        let rows = mean.numbers.len() / width;
        let disagreement = |row: usize| {
            let range = row * width..(row + 1) * width;
            let of = |m: &Predictions| match first.answers {
                Answers::Truth => vec![m.numbers[row], 1.0 - m.numbers[row]],
                _ => m.numbers[range.clone()].to_vec(),
            };
            let all: Vec<Vec<f64>> = members.iter().map(of).collect();
            match first.answers {
                Answers::Truth | Answers::Classes(_) => divergence(&all),
                Answers::Values(_) | Answers::Individual(_) => deviation(&all),
            }
        };
        mean.disagreement = (0..rows).map(disagreement).collect();
        mean
    }
}

/// The Jensen-Shannon divergence, as a share of the greatest that this many distributions over this many classes can have.
fn divergence(all: &[Vec<f64>]) -> f64 {
    let (count, classes) = (all.len(), all[0].len());
    // What is true of several classes at once adds up to more than 1.
    let normal = |p: &Vec<f64>| {
        let sum: f64 = p.iter().sum();
        p.iter()
            .map(|x| x / sum.max(f64::MIN_POSITIVE))
            .collect::<Vec<f64>>()
    };
    let all: Vec<Vec<f64>> = all.iter().map(normal).collect();
    let entropy = |p: &mut dyn Iterator<Item = f64>| -> f64 {
        p.filter(|p| *p > 0.0).map(|p| -p * p.ln()).sum()
    };
    let mean = |k: usize| all.iter().map(|p| p[k]).sum::<f64>() / count as f64;
    let each: f64 = all.iter().map(|p| entropy(&mut p.iter().copied())).sum();
    let together = entropy(&mut (0..classes).map(mean));
    let most = (count.min(classes) as f64).ln();
    match most > 0.0 {
        true => ((together - each / count as f64) / most).clamp(0.0, 1.0),
        false => 0.0,
    }
}

/// The root of the mean squared distance from the mean.
fn deviation(all: &[Vec<f64>]) -> f64 {
    let count = all.len() as f64;
    let mean = |k: usize| all.iter().map(|p| p[k]).sum::<f64>() / count;
    let squares = all
        .iter()
        .flat_map(|p| p.iter().enumerate().map(|(k, x)| (x - mean(k)).powi(2)));
    (squares.sum::<f64>() / count).sqrt()
}
