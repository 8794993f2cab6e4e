//! What a run may see: 5 % of the labels, and pairs of boxes of one picture.

use std::ops::Range;

use logltn_learn::random::Random;

use crate::standin::SceneBox;

/// The share of labels that is given away.
const LABELLED: f64 = 0.05;
/// Rows of each table that a step sees.
pub(super) const BATCH: usize = 32;
/// A separate stream of random numbers.
const STREAM: u64 = 20;

/// The rows of the tables of one run.
#[derive(Debug, PartialEq)]
pub(super) struct Split {
    /// Boxes whose type is known.
    pub labelled: Vec<u32>,
    pub parts: Vec<[u32; 2]>,
    pub not_parts: Vec<[u32; 2]>,
    pub pairs: Vec<[u32; 2]>,
}

/// All ordered pairs of boxes of one picture, a box with itself among them, by number.
pub(super) struct Pairs {
    /// The boxes of each picture.
    pictures: Vec<Range<usize>>,
    /// The number of the first pair of each picture, and of the pair after the last.
    first: Vec<usize>,
}

impl Pairs {
    pub fn of(boxes: &[SceneBox]) -> Pairs {
        let mut pictures: Vec<Range<usize>> = Vec::new();
        for (place, b) in boxes.iter().enumerate() {
            match pictures.last_mut() {
                Some(last) if boxes[last.start].picture == b.picture => last.end = place + 1,
                _ => pictures.push(place..place + 1),
            }
        }
        let mut first = vec![0];
        for picture in &pictures {
            let before = first.last().copied().unwrap_or(0);
            first.push(before + picture.len() * picture.len());
        }
        Pairs { pictures, first }
    }

    pub fn len(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    pub fn pair(&self, number: usize) -> [u32; 2] {
        let picture = self.first.partition_point(|&first| first <= number) - 1;
        let boxes = &self.pictures[picture];
        let at = number - self.first[picture];
        [at / boxes.len(), at % boxes.len()].map(|b| (boxes.start + b) as u32)
    }

    /// The boxes of each picture.
    pub fn pictures(&self) -> &[Range<usize>] {
        &self.pictures
    }
}

impl Split {
    /// Draws 5 % of the boxes and 5 % of the pairs, and pairs of which nothing is known.
    ///
    /// A run of `steps` steps sees at most this many batches. Of the pairs, of which there are millions, no more are
    /// drawn than that: drawing them here without repetition or later from all of them is the same.
    pub fn draw(boxes: &[SceneBox], pairs: &Pairs, seed: u64, steps: u64) -> Split {
        let mut random = Random::new(seed, STREAM);
        let seen = usize::try_from(steps)
            .unwrap_or(usize::MAX)
            .saturating_mul(BATCH);
        let share = |of: usize| (of as f64 * LABELLED).ceil() as usize;
        let mut labelled: Vec<u32> = (0..boxes.len() as u32).collect();
        random.shuffle(&mut labelled);
        labelled.truncate(share(boxes.len()));
        let mut numbers: Vec<u32> = (0..pairs.len() as u32).collect();
        random.shuffle(&mut numbers);
        let known = numbers[..share(pairs.len())]
            .iter()
            .map(|&n| pairs.pair(n as usize));
        let is_part = |[x, y]: &[u32; 2]| boxes[*x as usize].part_of == Some(*y as usize);
        let (parts, mut not_parts): (Vec<[u32; 2]>, Vec<[u32; 2]>) = known.partition(is_part);
        not_parts.truncate(seen);
        // Afresh, so that what is known is among them as often as anything else.
        random.shuffle(&mut numbers);
        numbers.truncate(seen);
        Split {
            labelled,
            parts,
            not_parts,
            pairs: numbers.iter().map(|&n| pairs.pair(n as usize)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standin::pascal_part_scenes;

    #[test]
    fn pairs_are_those_of_one_picture() {
        let boxes = pascal_part_scenes(0, 4).boxes;
        let pairs = Pairs::of(&boxes);
        let mut expected = Vec::new();
        for (x, a) in boxes.iter().enumerate() {
            let same = boxes
                .iter()
                .enumerate()
                .filter(|(_, b)| a.picture == b.picture);
            expected.extend(same.map(|(y, _)| [x as u32, y as u32]));
        }
        let found: Vec<[u32; 2]> = (0..pairs.len()).map(|n| pairs.pair(n)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_twentieth_is_known_and_nothing_of_it_is_wrong() {
        let boxes = pascal_part_scenes(0, 200).boxes;
        let pairs = Pairs::of(&boxes);
        let split = Split::draw(&boxes, &pairs, 3, 1_000_000);
        let share = |n: usize, of: usize| n as f64 / of as f64;
        assert!((share(split.labelled.len(), boxes.len()) - 0.05).abs() < 1e-3);
        let known = split.parts.len() + split.not_parts.len();
        assert!((share(known, pairs.len()) - 0.05).abs() < 1e-3);
        let is_part = |[x, y]: &[u32; 2]| boxes[*x as usize].part_of == Some(*y as usize);
        assert!(!split.parts.is_empty() && split.parts.iter().all(is_part));
        assert!(!split.not_parts.iter().any(is_part));
        assert_eq!(split.pairs.len(), pairs.len());
        assert_eq!(split, Split::draw(&boxes, &pairs, 3, 1_000_000));
        assert_ne!(split.labelled, Split::draw(&boxes, &pairs, 4, 2).labelled);
        assert_eq!(Split::draw(&boxes, &pairs, 3, 2).pairs.len(), 64);
    }
}
