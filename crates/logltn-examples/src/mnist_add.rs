//! Digits learnt from sums.

use logltn::Diagnostics;
use logltn_report::{Tile, write_tiles};
use logltn_standin::mnist::{Digits, images_file};

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::Shown;
use crate::sources::{Sources, too_few};
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "mnist-add",
    about: "no digit is labelled, only sums of two: handwritten digits (MNIST)",
    theory: include_str!("../projects/mnist-add.ltn"),
    manifest: include_str!("../projects/mnist-add.toml"),
    data,
    figures: &[
        Figure::new(Of::Metric("sums"), None, None),
        Figure::new(Of::Metric("digits"), None, None),
    ],
    show,
};

const SUMS: usize = 3000;
const TEST_SUMS: usize = 1000;

fn data(sources: &Sources) -> Result<Made, Diagnostics> {
    let ([train, test], folder) = sources.mnist()?;
    if train.labels.len() < 2 * SUMS || test.labels.len() < 2 * TEST_SUMS {
        return Err(too_few("pictures").into());
    }
    // The first addends, then the second ones; those of the test come last.
    let sums = |digits: &Digits, first: usize, count: usize| -> Vec<[usize; 3]> {
        let digit = |i: usize| usize::from(digits.labels[i]);
        let sum = |i: usize| [first + i, first + count + i, digit(i) + digit(count + i)];
        (0..count).map(sum).collect()
    };
    let first = 2 * SUMS;
    let digits = (0..2 * TEST_SUMS).map(|i| [first + i, usize::from(test.labels[i])]);
    let images = [train.first(2 * SUMS), test.first(2 * TEST_SUMS)].concat();
    Ok(Made {
        what: format!("MNIST, of {}", folder.display()),
        files: vec![
            File::csv("sums.csv", "x,y,n", sums(&train, 0, SUMS)),
            File::csv("test_sums.csv", "x,y,n", sums(&test, first, TEST_SUMS)),
            File::csv("digits.csv", "x,d", digits),
            File {
                name: "images.idx",
                bytes: images_file(train.shape, &images),
            },
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    const SHOWN: usize = 24;
    let pictures = learnt.features("Image")?;
    let said = learnt.classes("digit", pictures.len())?;
    let tile = |i: usize| Tile {
        pixels: pictures[i].iter().map(|x| (255.0 * x) as u8).collect(),
        width: 28,
        caption: said[i].to_string(),
        wrong: false,
    };
    let tiles: Vec<Tile> = (2 * SUMS..).take(SHOWN).map(tile).collect();
    let path = learnt.picture("digits.svg")?;
    write_tiles(&tiles, 8, "Digits read in test pictures", &path)?;
    shown.pictures.push(path);
    Ok(())
}
