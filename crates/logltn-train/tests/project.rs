//! Projects: what is known of a theory and its data once all files are read.

use std::path::Path;

use logltn::theory::{ColumnSort, ParamId, TableId};
use logltn::{ColumnData, Diagnostics, Number, Output};
use logltn_data::{CsvFile, Values};
use logltn_train::project::{Features, Project, scaled};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, content) in files {
        std::fs::write(dir.path().join(name), content).unwrap();
    }
    dir
}

fn load(dir: &TempDir) -> Project {
    let mut found = Diagnostics::new();
    let project = Project::load(&dir.path().join("m.toml"), &mut found);
    project.unwrap_or_else(|| panic!("{found}"))
}

const THEORY: &str = "
    sort Point
    sort Type
    sort Digit = 3..5
    table seen(x: Point, t: Type, d: Digit, n: Int, w: Real)
    param near
    param many
    constant here: Point
    constant there: Point
    predicate P(Point, Type)
    predicate Q(Point, Digit)
    predicate R(Point, Point)
    predicate S()
    axiom a: forall (x, t, d, n, w) in seen where n < many and w < near. P(x, t) <-> Q(x, d)
    axiom b: R(here, there) <-> S()
";

const MANIFEST: &str = "
    theory = 't.ltn'
    [sorts]
    Point = { features = 'points.csv', labels = { file = 'labels.csv', column = 'class' } }
    Type.individuals = ['cat', 'dog']
    [params]
    near = 2.0
    many = 7
    [tables]
    seen = { rows = 'seen.csv', batch = 2 }
    [constants]
    here.row = 1
    there.learnable = 2
    [predicates]
    P = { logits = 'p.csv', output = 'softmax' }
    Q = { log_truth = 'q.csv' }
    R = { network = { mlp = [] }, output = 'sigmoid' }
    S = { truth = 's.csv' }
";

fn grounded() -> TempDir {
    folder(&[
        ("t.ltn", THEORY),
        ("m.toml", MANIFEST),
        ("points.csv", "a,b\n1,2\n3,4\n"),
        ("labels.csv", "id,class\n0,x\n1,y\n"),
        // Columns in any order.
        ("seen.csv", "w,n,d,t,x\n0.5,-1,5,dog,1\n1e3,7,3,cat,0\n"),
        ("p.csv", "cat,dog\n1,2\n3,4\n"),
        ("q.csv", "q\n-1\n-2\n-3\n-4\n-5\n-6\n"),
        ("s.csv", "s\n0.5\n"),
    ])
}

#[test]
fn everything_finds_its_place() {
    let project = load(&grounded());
    let (theory, data) = (project.theory(), &project.data);
    let point = theory.sort("Point").unwrap();
    assert_eq!(data.size(point), 2);
    assert_eq!(data.size(theory.sort("Type").unwrap()), 2);
    assert_eq!(data.param(ParamId(0)), Some(Number::Real(2.0)));
    assert_eq!(data.param(ParamId(1)), Some(Number::Int(7)));
    let seen = data.table(TableId(0)).unwrap();
    assert!(seen.batched);
    let expected = [
        ColumnData::Individuals(vec![1, 0]),
        ColumnData::Individuals(vec![1, 0]),
        ColumnData::Individuals(vec![2, 0]), // 5 and 3 of 3..5
        ColumnData::Int(vec![-1, 7]),
        ColumnData::Real(vec![0.5, 1e3]),
    ];
    assert_eq!(seen.columns[..], expected);
    assert_eq!(data.constant_index(logltn::theory::ConstantId(0)), 1);
    assert_eq!(data.constant_index(logltn::theory::ConstantId(1)), 2); // after the two of the data
    assert!(data.missing().is_empty(), "{}", data.missing());
}

#[test]
fn numbers_keep_the_shape_of_their_files() {
    let project = load(&grounded());
    let outputs = [
        Output::softmax(),
        Output::log_truth(),
        Output::sigmoid(),
        Output::truth(),
    ];
    assert_eq!(project.outputs, outputs);
    let p = project.numbers[0].as_ref().unwrap();
    assert_eq!(
        (p.values.len() / p.columns, p.header.as_slice()),
        (2, &["cat", "dog"].map(String::from)[..])
    );
    assert_eq!(
        p.row(&[1]).map(|range| &p.values[range]),
        Some(&[3.0, 4.0][..])
    );
    assert_eq!(p.row(&[2]), None);
    let q = project.numbers[1].as_ref().unwrap();
    assert_eq!(
        q.row(&[1, 2]).map(|range| q.values[range.start]),
        Some(-6.0)
    );
    assert_eq!(q.row(&[0, 3]), None);
    assert!(project.numbers[2].is_none());
    let s = project.numbers[3].as_ref().unwrap();
    assert_eq!(s.row(&[]), Some(0..1));
}

#[test]
fn features_and_labels_are_read_when_they_are_asked_for() {
    let dir = grounded();
    let project = load(&dir);
    let point = project.theory().sort("Point").unwrap();
    let digit = project.theory().sort("Digit").unwrap();
    let features = Features::of(&project.features_of(point).unwrap());
    assert_eq!(
        (features.row(0), features.row(1)),
        (&[1.0, 2.0][..], &[3.0, 4.0][..])
    );
    assert!(project.features_of(digit).unwrap().is_empty());
    let labels = project.labels_of(point).unwrap();
    assert_eq!(labels, Some(vec!["x".to_string(), "y".to_string()]));
    assert_eq!(project.labels_of(digit).unwrap(), None);
    // Guards measure no distance: the features are not with the data.
    assert_eq!(project.data.distance((point, 0), (point, 1)), None);

    let file = CsvFile::parse(b"t,x\ndog,1\n", "rows.csv").unwrap();
    let types = ColumnSort::Sort(project.theory().sort("Type").unwrap());
    let column = project.read_column(&file, 0, types).unwrap();
    assert_eq!(column, ColumnData::Individuals(vec![1]));
    let wrong = project.read_column(&file, 1, types).unwrap_err();
    assert!(
        wrong.to_string().contains("has no individual `1`"),
        "{wrong}"
    );

    std::fs::write(dir.path().join("points.csv"), "a\n1\n2\n").unwrap();
    let changed = project.features_of(point).unwrap_err().to_string();
    assert!(changed.contains("were changed"), "{changed}");
}

/// The rule for sigmoids: one logit, unless the last argument can only pick one of several.
#[test]
fn sigmoids_have_a_logit_per_class_where_the_network_does_not_read_the_class() {
    let per_class = |predicate: &str, sorts: &str, grounding: &str| {
        let dir = folder(&[
            (
                "t.ltn",
                &format!(
                    "sort Point  sort Type  sort Digit = 0..2  predicate P({predicate})
                     axiom a: forall x: Point, t: Type, d: Digit. P({})",
                    predicate
                        .replace("Point", "x")
                        .replace("Type", "t")
                        .replace("Digit", "d")
                ),
            ),
            (
                "m.toml",
                &format!(
                    "theory = 't.ltn'
                     [sorts]
                     Point.features = 'points.csv'
                     {sorts}
                     [predicates]
                     P = {{ {grounding}, output = 'sigmoid' }}"
                ),
            ),
            ("points.csv", "a\n1\n2\n"),
        ]);
        load(&dir).outputs[0].per_class
    };
    let labels = "Type.individuals = ['cat', 'dog']";
    let learnt = "Type = { individuals = ['cat', 'dog'], learnable = 3 }";
    let all = "network = { mlp = [] }";
    let some =
        |inputs: &str| format!("args = ['x', 'y'], network = {{ mlp = [], inputs = [{inputs}] }}");
    assert!(per_class("Point, Digit", labels, all));
    assert!(per_class("Point, Type", labels, all));
    assert!(per_class("Point, Type", labels, &some("'x'")));
    assert!(per_class("Point, Type", learnt, &some("'x'")));
    assert!(!per_class("Point, Type", learnt, all));
    assert!(!per_class("Point, Type", learnt, &some("'x', 'y'")));
    assert!(!per_class("Point, Point", labels, all));
    assert!(!per_class("Point, Point", labels, &some("'x'")));
    assert!(!per_class("Digit, Point", labels, all));
}

#[test]
fn pictures_are_scaled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../theories/mnist_add.toml");
    let mut found = Diagnostics::new();
    let project = Project::load(&root, &mut found).unwrap_or_else(|| panic!("{found}"));
    let image = project.theory().sort("Image").unwrap();
    assert_eq!(
        project.feature_file(image).unwrap().fields[0].shape,
        [28, 28]
    );
    let fields = project.features_of(image).unwrap();
    assert!(matches!(fields[0].array.values, Values::U8(_)));
    let pixels = scaled(&fields[0].array);
    assert!(pixels.iter().all(|p| (0.0..=1.0).contains(p)));
    assert!(pixels.contains(&1.0));
}
