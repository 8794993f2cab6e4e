//! The PASCAL-Part task's stand-in: pictures of wholes with their parts, box by box.

use logltn_learn::random::Random;

use super::ontology::type_id;
use super::pascal_part_figures::{PICTURE_SIZES, REPEATED_TYPE, WHOLES, WHOLES_PER_PICTURE};

/// The dataset drops boxes with a side below this many pixels, so none is made.
const SMALLEST_SIDE: u32 = 6;

/// Mean and standard deviation.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    mean: f64,
    deviation: f64,
}

pub(super) const fn spread(mean: f64, deviation: f64) -> Spread {
    Spread { mean, deviation }
}

impl Spread {
    fn draw(self, random: &mut Random) -> f64 {
        self.mean + self.deviation * random.normal()
    }
}

/// What is known of one type of whole.
pub(super) struct WholeFigures {
    pub(super) whole: &'static str,
    /// How many there are in the dataset.
    pub(super) count: u32,
    /// The square root of the share of the picture that the box covers.
    pub(super) scale: Spread,
    /// The logarithm of width by height.
    pub(super) log_aspect: Spread,
    /// Across and down, as fractions of the picture.
    pub(super) centre: [Spread; 2],
    pub(super) parts: &'static [PartFigures],
}

/// What is known of one type of part in one type of whole.
pub(super) struct PartFigures {
    pub(super) part: &'static str,
    /// The share of the wholes that show such a part at all.
    pub(super) presence: f64,
    /// How many a whole shows if it shows any.
    pub(super) count: Spread,
    /// Across and down, as fractions of the whole's box.
    pub(super) centre: [Spread; 2],
    /// Width and height, as fractions of the whole's box.
    pub(super) size: [Spread; 2],
}

/// A box in a picture. Coordinates are pixels; `xmin < xmax <= img_w` and `ymin < ymax <= img_h`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneBox {
    /// Which picture it is in, from 0.
    pub picture: usize,
    /// Its type: a place in [`TYPES`](super::ontology::TYPES).
    pub type_id: usize,
    /// Left edge.
    pub xmin: u32,
    /// Upper edge.
    pub ymin: u32,
    /// Right edge.
    pub xmax: u32,
    /// Lower edge.
    pub ymax: u32,
    /// The place, in [`Scenes::boxes`], of the whole that this is a part of.
    pub part_of: Option<usize>,
    /// Width of the picture.
    pub img_w: u32,
    /// Height of the picture.
    pub img_h: u32,
}

/// Pictures, as their boxes: picture after picture, each whole directly followed by its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenes {
    /// The boxes.
    pub boxes: Vec<SceneBox>,
}

/// Scenes in the manner of Semantic PASCAL-Part.
///
/// How many wholes a picture shows, of which types and sizes, which parts they show and where, follow the figures of
/// the real annotations. All links are within a picture, obey the [ontology](super::ontology), and every part lies
/// inside its whole. What depends on what beyond that (an eye needs a head) is not modelled.
///
/// ```
/// use logltn_standin::pascal_part_scenes;
///
/// let scenes = pascal_part_scenes(0, 10);
/// let last = scenes.boxes.last().unwrap();
/// assert_eq!(last.picture, 9);
/// ```
pub fn pascal_part_scenes(seed: u64, pictures: usize) -> Scenes {
    let mut random = Random::new(seed, 2);
    let mut boxes = Vec::new();
    for picture in 0..pictures {
        let size = random.weighted(PICTURE_SIZES.iter().map(|size| size.2));
        let (img_w, img_h, _) = PICTURE_SIZES[size];
        let wholes = 1 + random.weighted(WHOLES_PER_PICTURE.into_iter());
        let mut shown: Vec<usize> = Vec::new();
        for _ in 0..wholes {
            let kind = if !shown.is_empty() && random.uniform() < REPEATED_TYPE {
                shown[random.below(shown.len())]
            } else {
                random.weighted(WHOLES.iter().map(|figures| figures.count))
            };
            shown.push(kind);
            add_whole(
                &mut random,
                &mut boxes,
                &WHOLES[kind],
                picture,
                img_w,
                img_h,
            );
        }
    }
    Scenes { boxes }
}

fn add_whole(
    random: &mut Random,
    boxes: &mut Vec<SceneBox>,
    figures: &WholeFigures,
    picture: usize,
    img_w: u32,
    img_h: u32,
) {
    let scale = figures.scale.draw(random).clamp(0.02, 1.0);
    let area = scale * scale * f64::from(img_w) * f64::from(img_h);
    let aspect = exp(figures.log_aspect.draw(random).clamp(-3.0, 3.0));
    let centre = figures.centre.map(|centre| centre.draw(random));
    let (xmin, xmax) = interval((0, img_w), centre[0], (area * aspect).sqrt());
    let (ymin, ymax) = interval((0, img_h), centre[1], (area / aspect).sqrt());
    let whole = boxes.len();
    boxes.push(SceneBox {
        picture,
        type_id: named(figures.whole),
        xmin,
        ymin,
        xmax,
        ymax,
        part_of: None,
        img_w,
        img_h,
    });
    for part in figures.parts {
        if random.uniform() >= part.presence {
            continue;
        }
        let count = part.count.draw(random).round().max(1.0) as usize;
        for _ in 0..count {
            let centre = part.centre.map(|centre| centre.draw(random));
            let size = part.size.map(|size| size.draw(random));
            let across = interval((xmin, xmax), centre[0], size[0] * f64::from(xmax - xmin));
            let down = interval((ymin, ymax), centre[1], size[1] * f64::from(ymax - ymin));
            boxes.push(SceneBox {
                picture,
                type_id: named(part.part),
                xmin: across.0,
                ymin: down.0,
                xmax: across.1,
                ymax: down.1,
                part_of: Some(whole),
                img_w,
                img_h,
            });
        }
    }
}

/// An interval of about the given length and relative centre, moved and cut so that it lies inside another.
fn interval((low, high): (u32, u32), centre: f64, length: f64) -> (u32, u32) {
    let room = high - low;
    let length = (length.round().max(0.0) as u32).clamp(SMALLEST_SIDE.min(room), room);
    let start = centre * f64::from(room) - f64::from(length) / 2.0;
    let start = (start.round().max(0.0) as u32).min(room - length);
    (low + start, low + start + length)
}

fn named(name: &str) -> usize {
    type_id(name).expect("the figures name types of the ontology (tested)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::{ONTOLOGY, TYPES, is_part};

    #[test]
    fn the_figures_cover_the_ontology_in_its_order() {
        for (figures, whole) in WHOLES.iter().zip(&ONTOLOGY) {
            assert_eq!(figures.whole, whole.name);
            assert!(
                figures
                    .parts
                    .iter()
                    .map(|part| part.part)
                    .eq(whole.parts.iter().copied())
            );
        }
        assert_eq!(WHOLES.len(), ONTOLOGY.len());
    }

    #[test]
    fn boxes_are_in_their_pictures_and_parts_in_their_wholes() {
        let scenes = pascal_part_scenes(1, 300);
        for b in &scenes.boxes {
            assert!(b.xmax <= b.img_w && b.ymax <= b.img_h, "{b:?}");
            assert!(
                b.xmin + SMALLEST_SIDE <= b.xmax && b.ymin + SMALLEST_SIDE <= b.ymax,
                "{b:?}"
            );
            let Some(whole) = b.part_of.map(|whole| &scenes.boxes[whole]) else {
                assert!(ONTOLOGY.iter().any(|whole| whole.name == TYPES[b.type_id]));
                continue;
            };
            assert_eq!(
                (b.picture, b.img_w, b.img_h),
                (whole.picture, whole.img_w, whole.img_h)
            );
            assert!(whole.part_of.is_none() && is_part(b.type_id, whole.type_id));
            assert!(
                whole.xmin <= b.xmin && b.xmax <= whole.xmax,
                "{b:?} in {whole:?}"
            );
            assert!(
                whole.ymin <= b.ymin && b.ymax <= whole.ymax,
                "{b:?} in {whole:?}"
            );
        }
    }

    /// The real annotations have 16.3 boxes and 2.6 wholes to a picture, and a whole's type is `person` in 32 % of
    /// the cases.
    #[test]
    fn pictures_are_as_full_as_the_real_ones() {
        let pictures = 7687;
        let scenes = pascal_part_scenes(2, pictures);
        let wholes: Vec<_> = scenes
            .boxes
            .iter()
            .filter(|b| b.part_of.is_none())
            .collect();
        let per_picture = scenes.boxes.len() as f64 / pictures as f64;
        assert!(
            (15.6..17.0).contains(&per_picture),
            "{per_picture} boxes per picture"
        );
        let per_picture = wholes.len() as f64 / pictures as f64;
        assert!(
            (2.48..2.68).contains(&per_picture),
            "{per_picture} wholes per picture"
        );
        let people = wholes
            .iter()
            .filter(|b| TYPES[b.type_id] == "person")
            .count();
        let share = people as f64 / wholes.len() as f64;
        assert!(
            (0.30..0.34).contains(&share),
            "{share} of the wholes are people"
        );
    }

    #[test]
    fn scenes_depend_on_the_seed_only() {
        assert_eq!(pascal_part_scenes(3, 5), pascal_part_scenes(3, 5));
        assert_ne!(pascal_part_scenes(3, 5), pascal_part_scenes(4, 5));
        let longer = pascal_part_scenes(3, 6).boxes;
        let shorter = pascal_part_scenes(3, 5).boxes;
        assert_eq!(
            longer[..shorter.len()],
            shorter,
            "more pictures change the earlier ones"
        );
    }
}

/// The exponential of a number of moderate size (|x| below 700), the same on every platform.
fn exp(x: f64) -> f64 {
    // x = k ln 2 + r with |r| ≤ ½ ln 2.
    let k = (x / std::f64::consts::LN_2).round();
    let r = x - k * std::f64::consts::LN_2;
    let mut series = 1.0;
    for term in (1..=16).rev() {
        series = 1.0 + series * r / f64::from(term);
    }
    series * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

#[test]
fn the_exponential_agrees_with_the_platforms() {
    for step in 1..4000 {
        let x = f64::from(step) * 0.003 - 6.0;
        assert!((exp(x) / x.exp() - 1.0).abs() < 1e-14, "exp {x}");
    }
}
