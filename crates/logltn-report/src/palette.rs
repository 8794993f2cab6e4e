//! Colours that people with any kind of colour vision can tell apart, on a light background.

use std::fmt;

/// A colour as red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(u32);

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:06x}", self.0)
    }
}

pub(super) const BACKGROUND: Colour = Colour(0xffffff);
pub(super) const INK: Colour = Colour(0x1f2933);
pub(super) const FAINT_INK: Colour = Colour(0x5f6b7a);
pub(super) const GRID: Colour = Colour(0xe6e9ee);
pub(super) const AXIS: Colour = Colour(0x9aa5b1);
/// For curves that are only context.
pub(super) const MUTED: Colour = Colour(0xc3cad3);

/// The palette of Okabe and Ito, without its yellow, which is too light for thin lines.
const SERIES: [u32; 7] = [
    0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x4a4a4a,
];

/// The colour of the `index`th series.
pub(super) fn series(index: usize) -> Colour {
    Colour(SERIES[index % SERIES.len()])
}

/// How often the colours have been used up before the `index`th series: those after need another dash or marker.
pub(super) fn round(index: usize) -> usize {
    index / SERIES.len()
}

/// The dash of the `index`th series: as long as the colours last none, then for each round of them another. Lengths of lines
/// and gaps, in turn.
pub(super) fn dash(index: usize) -> String {
    match round(index) {
        0 => String::new(),
        1 => "6 4".into(),
        2 => "1 4".into(),
        // A long line and more and more dots.
        round => format!("12 4{}", " 1 4".repeat(round - 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_series_look_alike() {
        for (a, b) in (0..60).flat_map(|a| (0..a).map(move |b| (a, b))) {
            assert_ne!((series(a), dash(a)), (series(b), dash(b)), "{a} {b}");
        }
    }
}
