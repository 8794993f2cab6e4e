//! The task as a project: theory, manifest, tables, and the numbers of the boxes.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use logltn::{Code, Diagnostic, Diagnostics};
use rayon::prelude::*;
use safetensors::Dtype;
use safetensors::tensor::View;

use super::annotations::Annotations;
use super::split::{BATCH, Split};
use crate::standin::ontology::{TYPES, pairs};
use crate::standin::{SceneBox, simulated_features};

/// Positions are pixels by this number: no side of a picture is longer, and the authors' features do not say how large
/// pictures are.
const LONGEST_SIDE: f32 = 500.0;
/// Boxes whose features are drawn together, from a seed of their own: the result does not depend on threads.
const BLOCK: usize = 512;

/// The theory of `theories/`, or that of the authors' released code, where `partOf`'s arguments are reversed in
/// `whole_to_parts`.
pub(super) fn theory(released: bool) -> String {
    let theory = include_str!("../../theories/pascal_part.ltn");
    match released {
        true => theory.replace(PAPERS_PREMISE, RELEASED_PREMISE),
        false => theory.to_string(),
    }
}

const PAPERS_PREMISE: &str = "type(x, w) and part_of(y, x) ->";
const RELEASED_PREMISE: &str = "type(x, w) and part_of(x, y) ->";

/// The manifest of `theories/` for these tables; rules come in after the pretraining.
pub(super) fn manifest(steps: u64, pretraining: u64) -> String {
    let mut phases = Vec::new();
    if pretraining > 0 {
        phases.push(format!(
            r#"{{ steps = {pretraining}, axioms = ["types", "positives", "negatives"] }}"#
        ));
    }
    if steps > pretraining {
        phases.push(format!("{{ steps = {} }}", steps - pretraining));
    }
    let phases = phases.join(", ");
    format!(
        r#"theory = "pascal_part.ltn"

[sorts.Box]
features = "boxes.safetensors"

[sorts.Type]
individuals = "classes.csv"

[tables]
ontology  = {{ rows = "ontology.csv" }}
labelled  = {{ rows = "labelled.csv", batch = {BATCH} }}
parts     = {{ rows = "parts.csv", batch = {BATCH} }}
not_parts = {{ rows = "not_parts.csv", batch = {BATCH} }}
pairs     = {{ rows = "pairs.csv", batch = {BATCH} }}
boxes     = {{ rows = "boxes.csv", batch = {BATCH} }}

[predicates.type]
args = ["x", "t"]
network = {{ mlp = [512, 256, 256, 128, 128], activation = "elu", inputs = ["x.roi", "x.position"] }}
output = "softmax"

[predicates.part_of]
args = ["x", "y"]
network = {{ mlp = [512, 256, 256, 128, 128], activation = "elu", inputs = [
    "stop(type(x))", "stop(type(y))", "x.position", "y.position",
    "containment(x.position, y.position)", "containment(y.position, x.position)" ] }}
output = "sigmoid"

[schedule]
alpha = {{ linear = [1, 4] }}
p = {{ linear = [1, 6] }}

[train]
optimizer = "adam"
learning_rate = 0.001
phases = [ {phases} ]
"#
    )
}

/// Name and text of each table's file.
pub(super) fn tables(train: &[SceneBox], split: &Split) -> Vec<(String, String)> {
    let file = |name: &str, header: &str, rows: &mut dyn Iterator<Item = String>| {
        // Files of individuals have none.
        let mut text = match header {
            "" => String::new(),
            header => format!("{header}\n"),
        };
        rows.for_each(|row| {
            let _ = writeln!(text, "{row}");
        });
        (format!("{name}.csv"), text)
    };
    let pair = |[x, y]: &[u32; 2]| format!("{x},{y}");
    let typed = |&x: &u32| format!("{x},{}", TYPES[train[x as usize].type_id]);
    let whole = |(whole, part): (usize, usize)| format!("{},{}", TYPES[whole], TYPES[part]);
    vec![
        file("classes", "", &mut TYPES.iter().map(|t| t.to_string())),
        file("ontology", "whole,part", &mut pairs().map(whole)),
        file("labelled", "x,t", &mut split.labelled.iter().map(typed)),
        file("parts", "x,y", &mut split.parts.iter().map(pair)),
        file("not_parts", "x,y", &mut split.not_parts.iter().map(pair)),
        file("pairs", "x,y", &mut split.pairs.iter().map(pair)),
        file("boxes", "x", &mut (0..train.len()).map(|x| x.to_string())),
    ]
}

/// What simulated features look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// The noise around a type's prototype.
    pub noise: f64,
    /// Whether those below 0 are 0. A detector's are, after its last layer, a ReLU.
    pub rectified: bool,
}

/// Simulated features of all boxes, those for training first.
pub(super) fn simulated(annotations: &Annotations, width: usize, look: Look) -> Vec<f32> {
    let boxes: Vec<SceneBox> = (annotations.train.iter().chain(&annotations.test))
        .cloned()
        .collect();
    let mut features = vec![0.0; boxes.len() * width];
    (features.par_chunks_mut(BLOCK * width).enumerate()).for_each(|(block, out)| {
        let from = block * BLOCK;
        let own = &boxes[from..from + out.len() / width];
        out.copy_from_slice(&simulated_features(block as u64, own, width, look.noise));
        if look.rectified {
            out.iter_mut()
                .for_each(|feature| *feature = feature.max(0.0));
        }
    });
    features
}

/// Numbers that become bytes when they are written, and not before: there are hundreds of megabytes of them.
struct Floats {
    shape: [usize; 2],
    values: Vec<f32>,
}

impl View for Floats {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        let bytes: Vec<u8> = self.values.iter().flat_map(|v| v.to_le_bytes()).collect();
        bytes.into()
    }
    fn data_len(&self) -> usize {
        self.values.len() * size_of::<f32>()
    }
}

/// Writes the features and positions of all boxes.
pub(super) fn write_boxes(
    folder: &Path,
    annotations: &Annotations,
    features: Vec<f32>,
    width: usize,
) -> Result<(), Diagnostics> {
    let boxes = annotations.train.iter().chain(&annotations.test);
    let position: Vec<f32> = boxes
        .flat_map(|b| [b.xmin, b.ymin, b.xmax, b.ymax])
        .map(|edge| edge as f32 / LONGEST_SIDE)
        .collect();
    let count = position.len() / 4;
    let fields = [("roi", width, features), ("position", 4, position)];
    let views = fields.map(|(name, width, values)| {
        let shape = [count, width];
        (name, Floats { shape, values })
    });
    let path = folder.join("boxes.safetensors");
    safetensors::serialize_to_file(views, None, &path).map_err(|error| {
        Diagnostic::error(
            Code::CannotWrite,
            format!("{}: cannot be written: {error}", path.display()),
        )
        .help("choose another folder with `--out`")
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_released_theory_reverses_one_axiom() {
        assert!(theory(false).contains(PAPERS_PREMISE));
        assert!(!theory(true).contains(PAPERS_PREMISE));
        assert_eq!(theory(true).matches(RELEASED_PREMISE).count(), 1);
        assert_eq!(
            theory(true).replace(RELEASED_PREMISE, PAPERS_PREMISE),
            theory(false)
        );
    }

    #[test]
    fn phases_that_have_no_steps_are_left_out() {
        assert!(manifest(1000, 100).contains("{ steps = 900 }"));
        assert_eq!(manifest(3, 0).matches("steps =").count(), 1);
        assert_eq!(manifest(10, 10).matches("steps =").count(), 1);
    }
}
