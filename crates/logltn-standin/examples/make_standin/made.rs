//! The data files beside the paper's theories, as bytes: what `theories/` holds is what this makes, and a test sees to it.

use std::io::{self, Read};

use flate2::read::GzDecoder;
use logltn_learn::random::Random;
use logltn_standin::files::{StandInFile, clustering_project, table};
use logltn_standin::ontology::{TYPES, pairs};
use logltn_standin::{DEFAULT_NOISE, SceneBox, pascal_part_scenes, simulated_features};
use safetensors::tensor::{Dtype, TensorView};

/// Everything is made from this seed.
const SEED: u64 = 0;

/// The smaller of the paper's two MNISTAdd training sets.
const SUMS: usize = 1500;
/// The last of the 60,000 training images, which no sum uses, tell how well digits are read.
const HELD_OUT: std::ops::Range<usize> = 58_000..60_000;

const PICTURES: usize = 64;
/// The last pictures are for testing only.
const TEST_PICTURES: usize = 14;
/// The paper gives away the labels of 5 % of the training data.
const LABELLED_SHARE: f64 = 0.05;
/// Pairs that are not parts are far commoner than pairs that are.
const NEGATIVES_PER_POSITIVE: usize = 10;
const TRAINING_PAIRS: usize = 4000;
const TEST_PAIRS: usize = 4000;
const ROI_WIDTH: usize = 64;

/// All files of the three theories.
///
/// The sums of MNISTAdd need the real labels: `mnist_labels` is the content of `train-labels-idx1-ubyte.gz`.
///
/// # Errors
/// If `mnist_labels` is not a gzipped IDX file of 60,000 labels.
pub fn theory_files(mnist_labels: &[u8]) -> io::Result<Vec<StandInFile>> {
    let mut files = clustering_project();
    // The theory and the manifest are written by hand.
    files.retain(|file| file.path.ends_with(".csv"));
    files.extend(mnist_add_files(&unpacked_labels(mnist_labels)?));
    files.extend(pascal_part_files());
    Ok(files)
}

/// The labels of an IDX file: a magic number, a count, and a byte for each.
fn unpacked_labels(gzipped: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(gzipped).read_to_end(&mut bytes)?;
    match bytes.split_at_checked(8) {
        Some((header, labels))
            if header == [0, 0, 8, 1, 0, 0, 0xea, 0x60]
                && labels.len() == 60_000
                && labels.iter().all(|digit| *digit < 10) =>
        {
            Ok(labels.to_vec())
        }
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "expected the 60,000 labels of MNIST's training images (train-labels-idx1-ubyte.gz)",
        )),
    }
}

fn mnist_add_files(labels: &[u8]) -> Vec<StandInFile> {
    // Operand k takes the images from k·SUMS on.
    let sums = (0..SUMS).map(|i| {
        let images: [usize; 4] = std::array::from_fn(|k| k * SUMS + i);
        let [d1, d2, d3, d4] = images.map(|image| u32::from(labels[image]));
        let [x1, x2, y1, y2] = images;
        format!("{x1},{x2},{y1},{y2},{}", 10 * d1 + d2 + 10 * d3 + d4)
    });
    let held_out = HELD_OUT.map(|image| format!("{image},{}", labels[image]));
    vec![
        table("mnist_add/sums.csv", "x1,x2,y1,y2,n", sums),
        table("mnist_add/held_out_digits.csv", "x,d", held_out),
    ]
}

fn pascal_part_files() -> Vec<StandInFile> {
    let boxes = pascal_part_scenes(SEED, PICTURES).boxes;
    let first_test = boxes
        .iter()
        .take_while(|b| b.picture < PICTURES - TEST_PICTURES)
        .count();
    let mut random = Random::new(SEED, 4);

    let labelled = spread_over_types(&mut random, &boxes[..first_test]);
    let mut links: Vec<(usize, usize)> = (boxes[..first_test].iter().enumerate())
        .filter_map(|(part, b)| b.part_of.map(|whole| (part, whole)))
        .collect();
    random.shuffle(&mut links);
    links.truncate(share(links.len()));
    let mut training_pairs = same_picture_pairs(&boxes, 0..first_test);
    random.shuffle(&mut training_pairs);
    let mut negatives: Vec<(usize, usize)> = training_pairs
        .iter()
        .copied()
        .filter(|&(x, y)| boxes[x].part_of != Some(y))
        .collect();
    negatives.truncate(links.len() * NEGATIVES_PER_POSITIVE);
    // A second shuffle, so that the unlabelled pairs are not simply the negatives over again.
    random.shuffle(&mut training_pairs);
    training_pairs.truncate(TRAINING_PAIRS);
    let mut test_pairs = same_picture_pairs(&boxes, first_test..boxes.len());
    random.shuffle(&mut test_pairs);
    test_pairs.truncate(TEST_PAIRS);

    let pair = |&(x, y): &(usize, usize)| format!("{x},{y}");
    let typed = |x: usize| format!("{x},{}", TYPES[boxes[x].type_id]);
    vec![
        StandInFile {
            path: "pascal_part/boxes.safetensors",
            bytes: box_fields(&boxes),
        },
        StandInFile {
            path: "pascal_part/classes.csv",
            bytes: (TYPES.iter().map(|name| format!("{name}\n")))
                .collect::<String>()
                .into_bytes(),
        },
        table(
            "pascal_part/ontology.csv",
            "whole,part",
            pairs().map(|(whole, part)| format!("{},{}", TYPES[whole], TYPES[part])),
        ),
        table(
            "pascal_part/labelled.csv",
            "x,t",
            labelled.into_iter().map(typed),
        ),
        table("pascal_part/parts.csv", "x,y", links.iter().map(pair)),
        table(
            "pascal_part/not_parts.csv",
            "x,y",
            negatives.iter().map(pair),
        ),
        table(
            "pascal_part/pairs.csv",
            "x,y",
            training_pairs.iter().map(pair),
        ),
        table(
            "pascal_part/boxes.csv",
            "x",
            (0..first_test).map(|x| x.to_string()),
        ),
        table(
            "pascal_part/test_labelled.csv",
            "x,t",
            (first_test..boxes.len()).map(typed),
        ),
        table(
            "pascal_part/test_pairs.csv",
            "x,y,truth",
            test_pairs
                .iter()
                .map(|&(x, y)| format!("{x},{y},{}", u8::from(boxes[x].part_of == Some(y)))),
        ),
    ]
}

/// 5 % of a number of things.
fn share(of: usize) -> usize {
    (of as f64 * LABELLED_SHARE).ceil() as usize
}

/// 5 % of the boxes, one of each type before a second of any: in so small a sample a purely random choice would never
/// show most types.
fn spread_over_types(random: &mut Random, boxes: &[SceneBox]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    random.shuffle(&mut order);
    let mut seen = [0usize; TYPES.len()];
    let mut rounds: Vec<(usize, usize)> = Vec::with_capacity(order.len());
    for x in order {
        let round = &mut seen[boxes[x].type_id];
        rounds.push((*round, x));
        *round += 1;
    }
    rounds.sort_by_key(|(round, _)| *round); // stable: within a round the order stays random
    rounds.truncate(share(boxes.len()));
    rounds.into_iter().map(|(_, x)| x).collect()
}

/// All ordered pairs of distinct boxes of one picture.
fn same_picture_pairs(boxes: &[SceneBox], range: std::ops::Range<usize>) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for x in range.clone() {
        for y in range.clone() {
            if x != y && boxes[x].picture == boxes[y].picture {
                found.push((x, y));
            }
        }
    }
    found
}

/// The fields `roi` (simulated) and `position` (edges as fractions of the picture) of all boxes.
fn box_fields(boxes: &[SceneBox]) -> Vec<u8> {
    let roi = simulated_features(SEED, boxes, ROI_WIDTH, DEFAULT_NOISE);
    let position: Vec<f32> = boxes
        .iter()
        .flat_map(|b| {
            let (w, h) = (b.img_w as f32, b.img_h as f32);
            [
                b.xmin as f32 / w,
                b.ymin as f32 / h,
                b.xmax as f32 / w,
                b.ymax as f32 / h,
            ]
        })
        .collect();
    let bytes = |values: &[f32]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let (roi, position) = (bytes(&roi), bytes(&position));
    let view = |width, data| {
        TensorView::new(Dtype::F32, vec![boxes.len(), width], data)
            .expect("shape and length agree by construction")
    };
    safetensors::serialize(
        [
            ("roi", view(ROI_WIDTH, &roi)),
            ("position", view(4, &position)),
        ],
        None,
    )
    .expect("two small tensors with plain names can be written")
}
