//! Colours that people with any kind of colour vision can tell apart, on a light background.

/// A colour as red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

pub(super) const BACKGROUND: Colour = Colour(255, 255, 255);
pub(super) const INK: Colour = Colour(0x1f, 0x29, 0x33);
pub(super) const FAINT_INK: Colour = Colour(0x5f, 0x6b, 0x7a);
pub(super) const GRID: Colour = Colour(0xe6, 0xe9, 0xee);
pub(super) const AXIS: Colour = Colour(0x9a, 0xa5, 0xb1);
/// For curves that are only context.
pub(super) const MUTED: Colour = Colour(0xc3, 0xca, 0xd3);

/// The palette of Okabe and Ito, without its yellow, which is too light for thin lines.
const SERIES: [Colour; 7] = [
    Colour(0x00, 0x72, 0xb2),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x56, 0xb4, 0xe9),
    Colour(0x4a, 0x4a, 0x4a),
];

/// The colour of the `index`th series.
pub(super) fn series(index: usize) -> Colour {
    SERIES[index % SERIES.len()]
}

/// How often the colours have been used up before the `index`th series: those after need another dash or marker.
pub(super) fn round(index: usize) -> usize {
    index / SERIES.len()
}

/// The dash of the `index`th series: as long as the colours last none, then for each round of them another. Lengths of lines
/// and gaps, in turn.
pub(super) fn dash(index: usize) -> Vec<f32> {
    match round(index) {
        0 => Vec::new(),
        1 => vec![6.0, 4.0],
        2 => vec![1.0, 4.0],
        // A long line and more and more dots.
        round => {
            let dots = std::iter::repeat_n([1.0, 4.0], round - 2).flatten();
            [12.0, 4.0].into_iter().chain(dots).collect()
        }
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
