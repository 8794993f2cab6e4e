//! The authors' features: `box_features.hdf5`, as <https://github.com/sbadredd/semantic-pascal-part> makes it.
//!
//! Every box is a group, named by its number, with the attributes `type` (text), `pic` and `partof` (integers; −1 for
//! no whole) and the datasets `roi_features` (floats, as many in every box: 1,024) and `position` (xmin, ymin, xmax, ymax
//! in pixels).

use std::path::Path;

use hdf5_pure::{AttrValue, File, Group};
use logltn::{Code, Diagnostic, Diagnostics, memory};

use super::annotations::{Raw, numbered, type_named};
use crate::standin::SceneBox;

/// The two files in the folder.
pub(super) const FILES: [&str; 2] = ["trainval/box_features.hdf5", "test/box_features.hdf5"];
/// Boxes with a shorter side are left out, as the authors do.
const SMALLEST_SIDE: u32 = 6;
/// A wrong file is wrong in every box.
const MOST_ERRORS: usize = 10;

/// Boxes with their features.
#[derive(Debug)]
pub(super) struct Described {
    pub boxes: Vec<SceneBox>,
    pub width: usize,
    /// `width` numbers for each box.
    pub features: Vec<f32>,
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Described, Diagnostics> {
    let name = path.display().to_string();
    let broken = |error: hdf5_pure::Error| {
        Diagnostic::error(Code::FileDamaged, format!("{name}: cannot be read as HDF5: {error}")).help(
            "it should be what `process_output_to_hdf5.py` of https://github.com/sbadredd/semantic-pascal-part writes",
        )
    };
    let file = File::open(path).map_err(broken)?;
    let groups = file.root().iter_groups().map_err(broken)?;
    let mut errors = Diagnostics::new();
    let mut found: Vec<(Raw, Group)> = Vec::with_capacity(groups.len());
    for (key, group) in groups {
        match raw(&name, &key, &group) {
            Ok(raw) => {
                let [xmin, ymin, xmax, ymax] = raw.edges;
                let sides = [xmax.saturating_sub(xmin), ymax.saturating_sub(ymin)];
                if sides.iter().all(|&side| side >= SMALLEST_SIDE) {
                    found.push((raw, group));
                }
            }
            Err(error) => errors.push(error),
        }
        if errors.error_count() >= MOST_ERRORS {
            return Err(errors);
        }
    }
    if errors.has_errors() {
        return Err(errors);
    }
    if found.is_empty() {
        let message = format!("{name}: there are no boxes in it");
        return Err(Diagnostic::error(Code::EmptyFile, message)
            .help("each box should be a group, named by its number")
            .into());
    }
    // In the file they are in the order of their names: 1, 10, 100.
    found.sort_by_key(|(raw, _)| (raw.picture, raw.id));
    let mut features = Vec::new();
    let mut width = None;
    for (raw, group) in &found {
        let numbers = numbers(&name, raw, group)?;
        let expected = *width.get_or_insert(numbers.len());
        if numbers.len() != expected {
            let message = format!(
                "{name}: box {} has {} features, those before it have {expected}",
                raw.id,
                numbers.len()
            );
            return Err(Diagnostic::error(Code::SizesDisagree, message).into());
        }
        if features.is_empty() {
            features.reserve(expected * found.len());
        }
        features.extend(numbers);
    }
    let raw: Vec<Raw> = found.into_iter().map(|(raw, _)| raw).collect();
    Ok(Described {
        boxes: numbered(&name, &raw)?,
        width: width.unwrap_or(0),
        features,
    })
}

fn raw(file: &str, key: &str, group: &Group) -> Result<Raw, Diagnostic> {
    let wrong =
        |what: String| Diagnostic::error(Code::FileDamaged, format!("{file}: box `{key}`: {what}"));
    let id =
        (key.parse::<i64>()).map_err(|_| wrong("a box is identified by its number".to_string()))?;
    let attributes = (group.attrs()).map_err(|error| wrong(error.to_string()))?;
    let integer = |name: &str| {
        let value = attributes.get(name).and_then(AttrValue::as_i64);
        value.ok_or_else(|| wrong(format!("the attribute `{name}` should be an integer")))
    };
    let type_name = (attributes.get("type").and_then(AttrValue::as_str))
        .ok_or_else(|| wrong("the attribute `type` should be a text".to_string()))?;
    let type_id =
        type_named(type_name).map_err(|error| error.note(format!("{file}: box `{key}`")))?;
    let position = |error: hdf5_pure::Error| wrong(format!("`position`: {error}"));
    let set = group.dataset("position").map_err(position)?;
    let shape = set.shape().map_err(position)?;
    // Looked at before it is read: packed, a file can claim any size.
    let count = shape.iter().fold(1, |n: u64, &m| n.saturating_mul(m));
    let numbers = match count {
        4 => set.read_f64().map_err(position)?,
        _ => Vec::new(),
    };
    let &[xmin, ymin, xmax, ymax] = &numbers[..] else {
        let what =
            format!("`position` should hold 4 numbers (xmin, ymin, xmax, ymax), but holds {count}");
        return Err(wrong(what));
    };
    if numbers.iter().any(|x| !(0.0..=1e6).contains(x)) {
        return Err(wrong(format!(
            "`position` is {numbers:?}, which are not pixels"
        )));
    }
    Ok(Raw {
        id,
        picture: integer("pic")?,
        type_id,
        edges: [xmin, ymin, xmax, ymax].map(|edge| edge as u32),
        part_of: integer("partof")?,
        // The file does not say how large pictures are, and it is not needed.
        size: [0, 0],
    })
}

/// The features of one box.
fn numbers(file: &str, raw: &Raw, group: &Group) -> Result<Vec<f32>, Diagnostic> {
    let wrong = |what: String| {
        Diagnostic::error(
            Code::FileDamaged,
            format!("{file}: box `{}`: {what}", raw.id),
        )
    };
    let set = (group.dataset("roi_features"))
        .map_err(|error| wrong(format!("`roi_features`: {error}")))?;
    let shape = set.shape().map_err(|error| wrong(error.to_string()))?;
    if shape.len() != 1 || shape[0] == 0 {
        return Err(wrong(format!(
            "`roi_features` should be a list of numbers, but has the shape {shape:?}"
        )));
    }
    // Packed, a file can claim any size.
    let bytes = 12 * u128::from(shape[0]);
    memory::ask(bytes).map_err(|error| {
        error.refuse(format_args!("{file}: `roi_features` of box `{}`", raw.id))
    })?;
    let numbers = (set.read_f32()).map_err(|error| wrong(format!("`roi_features`: {error}")))?;
    match numbers.iter().find(|x| !x.is_finite()) {
        Some(strange) => Err(wrong(format!("one of the `roi_features` is {strange}"))),
        None => Ok(numbers),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use hdf5_pure::FileBuilder;

    use super::*;
    use crate::standin::ontology::TYPES;

    fn fixture(name: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pascal-part");
        folder.join(name)
    }

    #[test]
    fn files_of_h5py_are_read_in_order_of_pictures() {
        let found = read(&fixture(FILES[0])).expect("a file like the authors'");
        let types: Vec<&str> = found.boxes.iter().map(|b| TYPES[b.type_id]).collect();
        let expected = [
            "bottle",
            "cap",
            "body",
            "bottle",
            "cap",
            "body",
            "tvmonitor",
            "screen",
            "dog",
            "head",
        ];
        assert_eq!(types, expected, "the ear is too narrow");
        let wholes: Vec<Option<usize>> = found.boxes.iter().map(|b| b.part_of).collect();
        let [a, b, c, d] = [0, 3, 6, 8].map(Some);
        assert_eq!(wholes, [None, a, a, None, b, b, None, c, None, d]);
        let pictures: Vec<usize> = found.boxes.iter().map(|b| b.picture).collect();
        assert_eq!(pictures, [0, 0, 0, 0, 0, 0, 1, 1, 2, 2]);
        let cap = &found.boxes[1];
        assert_eq!([cap.xmin, cap.ymin, cap.xmax, cap.ymax], [20, 10, 40, 30]);
        assert_eq!((found.width, found.features.len()), (4, 40));
        // What h5py says of boxes 0 and 7.
        assert_eq!(found.features[..4], [1.5, 0.5, 0.0, -1.0]);
        assert_eq!(found.features[36..], [1.25, 1.0, 1.5, -1.5]);
    }

    /// A file with one box that is right except for what is asked for.
    fn wrong(roi: &[f32], position: &[i32], type_name: &str, partof: AttrValue) -> String {
        let mut builder = FileBuilder::new();
        for key in ["0", "1"] {
            let mut group = builder.create_group(key);
            let roi = if key == "0" { &[0.5; 3] } else { roi };
            group.create_dataset("roi_features").with_f32_data(roi);
            group.create_dataset("position").with_i32_data(position);
            group.set_attr("type", AttrValue::String(type_name.into()));
            group.set_attr("pic", AttrValue::I64(0));
            group.set_attr("partof", partof.clone());
            builder.add_group(group.finish());
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("box_features.hdf5");
        builder.write(&path).expect("written");
        match read(&path) {
            Ok(found) => format!("read: {found:?}"),
            Err(errors) => errors.to_string(),
        }
    }

    #[test]
    fn wrong_shapes_and_names_are_refused_with_the_box() {
        let none = || AttrValue::I64(-1);
        let position = [0, 0, 20, 20];
        assert!(wrong(&[0.0; 3], &position, "dog", none()).starts_with("read"));
        let message = wrong(&[0.0; 2], &position, "dog", none());
        assert!(
            message.contains("box 1 has 2 features, those before it have 3"),
            "{message}"
        );
        let message = wrong(&[0.0; 3], &[0, 0, 20], "dog", none());
        assert!(
            message.contains("box `0`: `position` should hold 4 numbers"),
            "{message}"
        );
        assert!(message.contains("but holds 3"), "{message}");
        let message = wrong(&[0.0; 3], &[-4, 0, 20, 20], "dog", none());
        assert!(message.contains("which are not pixels"), "{message}");
        let message = wrong(&[0.0; 3], &position, "dgo", none());
        assert!(message.contains("there is no type `dgo`"), "{message}");
        assert!(message.contains("did you mean `dog`?"), "{message}");
        let message = wrong(&[0.0, f32::NAN, 0.0], &position, "dog", none());
        assert!(
            message.contains("one of the `roi_features` is NaN"),
            "{message}"
        );
        let message = wrong(&[0.0; 3], &position, "dog", AttrValue::F64(1.0));
        assert!(
            message.contains("the attribute `partof` should be an integer"),
            "{message}"
        );
    }

    #[test]
    fn what_is_no_hdf5_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("box_features.hdf5");
        std::fs::write(&path, b"box_id,type\n0,dog\n").expect("written");
        let message = read(&path).expect_err("a CSV").to_string();
        assert!(message.contains("cannot be read as HDF5"), "{message}");
        assert!(message.contains("process_output_to_hdf5.py"), "{message}");
        FileBuilder::new().write(&path).expect("written");
        let message = read(&path).expect_err("an empty file").to_string();
        assert!(message.contains("there are no boxes in it"), "{message}");
    }
}
