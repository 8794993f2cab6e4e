//! The authors' features: `box_features.hdf5`, as <https://github.com/sbadredd/semantic-pascal-part> makes it.
//!
//! Every box is a group, named by its number, with the attributes `type` (text), `pic` and `partof` (integers; −1 for
//! no whole) and the datasets `roi_features` (floats, as many in every box: 1,024) and `position` (xmin, ymin, xmax, ymax
//! in pixels).

use std::collections::HashMap;
use std::path::Path;

use hdf5_pure::{AttrValue, File, Group};
use logltn::{Diagnostic, Diagnostics};

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
        Diagnostic::error(format!("{name}: cannot be read as HDF5: {error}")).help(
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
        return Err(Diagnostic::error(message)
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
            return Err(Diagnostic::error(message).into());
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
    let wrong = |what: String| Diagnostic::error(format!("{file}: box `{key}`: {what}"));
    let id = (key.parse::<i64>())
        .map_err(|_| wrong("a box goes by its number".to_string()))?;
    let attributes = (group.attrs()).map_err(|error| wrong(error.to_string()))?;
    let integer = |name: &str| match integer(&attributes, name) {
        Some(value) => Ok(value),
        None => Err(wrong(format!("the attribute `{name}` should be an integer"))),
    };
    let type_name = match attributes.get("type") {
        Some(AttrValue::String(name) | AttrValue::VarLenString(name)) => name,
        Some(AttrValue::AsciiString(name) | AttrValue::VarLenAsciiString(name)) => name,
        _ => return Err(wrong("the attribute `type` should be a text".to_string())),
    };
    let type_id = type_named(type_name)
        .map_err(|error| error.note(format!("{file}: box `{key}`")))?;
    let position = (group.dataset("position"))
        .and_then(|set| set.read_f64())
        .map_err(|error| wrong(format!("`position`: {error}")))?;
    let &[xmin, ymin, xmax, ymax] = &position[..] else {
        let what = format!(
            "`position` should hold 4 numbers (xmin, ymin, xmax, ymax), but holds {}",
            position.len()
        );
        return Err(wrong(what));
    };
    if position.iter().any(|x| !(0.0..=1e6).contains(x)) {
        return Err(wrong(format!("`position` is {position:?}, which are no pixels")));
    }
    Ok(Raw {
        id,
        picture: integer("pic")?,
        type_id,
        edges: [xmin, ymin, xmax, ymax].map(|edge| edge as u32),
        part_of: integer("partof")?,
        // The file does not say how large pictures are, and nobody asks.
        size: [0, 0],
    })
}

fn integer(attributes: &HashMap<String, AttrValue>, name: &str) -> Option<i64> {
    match attributes.get(name)? {
        AttrValue::I8(value) => Some(i64::from(*value)),
        AttrValue::I16(value) => Some(i64::from(*value)),
        AttrValue::I32(value) => Some(i64::from(*value)),
        AttrValue::I64(value) => Some(*value),
        AttrValue::U8(value) => Some(i64::from(*value)),
        AttrValue::U16(value) => Some(i64::from(*value)),
        AttrValue::U32(value) => Some(i64::from(*value)),
        AttrValue::U64(value) => i64::try_from(*value).ok(),
        _ => None,
    }
}

/// The features of one box.
fn numbers(file: &str, raw: &Raw, group: &Group) -> Result<Vec<f32>, Diagnostic> {
    let wrong = |what: String| Diagnostic::error(format!("{file}: box `{}`: {what}", raw.id));
    let set = (group.dataset("roi_features"))
        .map_err(|error| wrong(format!("`roi_features`: {error}")))?;
    let shape = set.shape().map_err(|error| wrong(error.to_string()))?;
    if shape.len() != 1 || shape[0] == 0 {
        return Err(wrong(format!(
            "`roi_features` should be a list of numbers, but has the shape {shape:?}"
        )));
    }
    let numbers = (set.read_f32()).map_err(|error| wrong(format!("`roi_features`: {error}")))?;
    match numbers.iter().find(|x| !x.is_finite()) {
        Some(strange) => Err(wrong(format!("one of the `roi_features` is {strange}"))),
        None => Ok(numbers),
    }
}
