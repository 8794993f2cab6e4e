//! MNIST's digits, for the tasks that read them.

use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::{Array, Values, read_idx};

use super::data_folders;

/// How many digits there are.
pub const DIGITS: usize = 10;

const FILES: [&str; 4] = [
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
];

/// The folder of MNIST; `data` is what `--data` names.
///
/// # Errors
/// If it is nowhere.
pub fn find(data: Option<&Path>) -> Result<PathBuf, Diagnostics> {
    data_folders::find(data, "mnist", &FILES)?.ok_or_else(|| {
        Diagnostic::error(Code::FileNotFound, "MNIST cannot be found")
            .note(format!("its files are {}", FILES.map(|f| format!("`{f}`")).join(", ")))
            .help("run this in a clone of the repository, which has them in data/mnist, or name with `--data DIR` a folder that has them in DIR/mnist")
            .into()
    })
}

/// Images and what they show.
pub struct Digits {
    /// One after the other.
    pub images: Vec<u8>,
    /// What each shows.
    pub labels: Vec<u8>,
    /// Rows and columns of an image.
    pub shape: [usize; 2],
}

/// The images for training and those for testing, which are of one size.
///
/// # Errors
/// If a file is missing or broken.
pub fn read(folder: &Path) -> Result<[Digits; 2], Diagnostics> {
    let [train_images, train_labels, test_images, test_labels] = FILES;
    let train = Digits::read(folder, train_images, train_labels)?;
    let test = Digits::read(folder, test_images, test_labels)?;
    if train.shape != test.shape {
        let message = format!(
            "{}: training and test images differ in size",
            folder.display()
        );
        return Err(Diagnostic::error(Code::SizesDisagree, message).into());
    }
    Ok([train, test])
}

impl Digits {
    fn read(folder: &Path, images: &str, labels: &str) -> Result<Digits, Diagnostics> {
        let path = |name: &str| folder.join(name);
        let (shape, images) = bytes_of(read_idx(&path(images))?, &path(images))?;
        let (_, labels) = bytes_of(read_idx(&path(labels))?, &path(labels))?;
        let &[count, height, width] = &shape[..] else {
            let message = format!("{}: not pictures", folder.display());
            return Err(Diagnostic::error(Code::WrongShape, message).into());
        };
        if count != labels.len() || labels.iter().any(|&l| usize::from(l) >= DIGITS) {
            let message = format!(
                "{}: {count} images do not go with {} labels from 0 to 9",
                folder.display(),
                labels.len()
            );
            return Err(Diagnostic::error(Code::SizesDisagree, message).into());
        }
        Ok(Digits {
            images,
            labels,
            shape: [height, width],
        })
    }

    /// An image, row by row.
    pub fn image(&self, index: usize) -> &[u8] {
        let size = self.shape[0] * self.shape[1];
        &self.images[index * size..(index + 1) * size]
    }

    /// The first images, consecutively.
    pub fn first(&self, count: usize) -> &[u8] {
        &self.images[..count * self.shape[0] * self.shape[1]]
    }
}

fn bytes_of(array: Array, path: &Path) -> Result<(Vec<usize>, Vec<u8>), Diagnostics> {
    match array.values {
        Values::U8(bytes) => Ok((array.shape, bytes.to_vec())),
        _ => Err(Diagnostic::error(
            Code::UnsupportedElements,
            format!("{}: does not hold bytes", path.display()),
        )
        .into()),
    }
}

/// The first images for training and for testing in one IDX file, as a sort has one.
pub fn idx([train, test]: [&Digits; 2], [first, second]: [usize; 2]) -> Vec<u8> {
    images_file(
        train.shape,
        &[train.first(first), test.first(second)].concat(),
    )
}

/// An IDX file of images of this shape, given consecutively.
pub fn images_file(shape: [usize; 2], images: &[u8]) -> Vec<u8> {
    let mut out = vec![0, 0, 8, 3];
    for size in [images.len() / (shape[0] * shape[1]), shape[0], shape[1]] {
        out.extend((size as u32).to_be_bytes());
    }
    out.extend(images);
    out
}
