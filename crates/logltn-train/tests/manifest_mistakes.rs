//! What users read when a manifest is wrong.

use std::path::Path;

use logltn::Source;
use logltn_train::manifest::Manifest;

/// Each mistake after the text that causes it, warnings included.
fn report(mistakes: &[&str]) -> String {
    let mut out = String::new();
    for text in mistakes {
        let result = Manifest::parse(Source::new("m.toml", *text), Path::new("."));
        let found = match result {
            Ok((_, warnings)) => warnings,
            Err(errors) => {
                assert!(errors.has_errors());
                errors
            }
        };
        assert!(!found.is_empty(), "nothing was found wrong with:\n{text}");
        out.push_str(&format!("{found}\n{}\n\n", "=".repeat(80)));
    }
    out
}

/// A manifest with a theory and `rest`.
macro_rules! with_theory {
    ($($rest:literal),+ $(,)?) => {
        [$(concat!("theory = \"t.ltn\"\n", $rest)),+]
    };
}

#[test]
fn notation() {
    let shown = report(&[
        "",
        "theory = t.ltn\n[train\nsteps = 1 2\n",
        "theory = \"a.ltn\"\ntheory = \"b.ltn\"\nsemantic = \"logltn\"\n",
        "theory = \"unclosed\n[train]\nsteps = 10\n",
        "[train]\nsteps = 1\n[train]\nseed = -1\n",
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn keys_and_kinds() {
    let shown = report(&with_theory![
        "[trian]\nsteps = 10\n",
        "[train]\nsteps = 10\nlerning_rate = 0.1\nfrobnicate = true\n",
        "[train]\nsteps = \"many\"\nlearning_rate = \"0.1\"\nseed = 1.5\noptimizer = 3\n",
        "sorts = \"points.csv\"\n",
        "[sorts]\nPoint = \"points.csv\"\n",
        "[sorts.Point]\nfeatures = \"\"\n",
        "[sorts.Point]\nfeatures = \"a.csv\"\nindividuals = \"b.csv\"\n",
        "[sorts.Point]\nfeatures = \"a.csv\"\nlearnable = 8\n",
        "[sorts.Point]\nindividuals = [\"ann\", \"bob\", \"ann\"]\n",
        "[sorts.Point]\nindividuals = []\nlabels = \"labels.csv\"\n",
        "[sorts.Point]\nlabels = { colum = \"Class\" }\n",
        "[tables]\nparts = { batch = 0 }\n",
        "[params]\nnear = true\nfar = inf\n",
        "[params]\nnear = { percentile = 101, of = \"dist(Point Point)\" }\nfar = { percentile = 5, of = \"norm(Point)\" }\n",
        "[constants]\na = { row = 1, learnable = 2 }\nb = {}\nc = { row = -1 }\n",
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn semantics() {
    let shown = report(&with_theory![
        "semantics = \"logltm\"\n",
        "semantics = 1\n",
        "semantics = { base = \"logltn\", and = \"product\", not = \"standard\", or = \"maxx\", forall = 1, foral = \"mean\" }\n",
        "semantics = { base = \"stable\", stable_eps = 1 }\n",
        "semantics = { stable_eps = 0 }\n",
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn networks() {
    let shown = report(&with_theory![
        "[predicates.C]\nnetwork = { mlp = [16] }\n",
        "[predicates.C]\nnetwork = { mlp = [16, 0, \"a\", 99999999] }\noutput = \"sofmax\"\n",
        "[predicates.C]\nnetwork = { mlp = [16] }\ntruth = \"p.csv\"\noutput = \"softmax\"\n",
        "[predicates.C]\ntruth = \"p.csv\"\noutput = \"softmax\"\n",
        "[predicates.C]\nnetwork = { activation = \"elu\" }\noutput = \"softmax\"\n",
        "[predicates.C]\nnetwork = { cnn = \"resnet\", activation = \"gelu\" }\noutput = \"softmax\"\n",
        "[predicates.C]\nnetwork = \"trunk\"\noutput = \"softmax\"\n[networks.trunk]\nmlp = 4\n[networks.spare]\ncnn = \"lenet\"\n",
        "[predicates.C]\nnetwork = \"trnuk\"\noutput = \"softmax\"\n[networks.trunk]\nmlp = [4]\n",
        "[predicates.C]\nnetwork = { layers = [{ conv = [6] }, { dense = 0 }, \"dropout\", {}, 3, { pool = 2, dense = 3 }] }\noutput = \"sigmoid\"\n",
        "[predicates.C]\nnetwork = { layers = [{ dropout = 1 }, { dropout = -0.5 }, { dropout = \"half\" }] }\noutput = \"sigmoid\"\n",
        "[predicates.C]\nnetwork = { mlp = [4], undecided = 1 }\noutput = \"sigmoid\"\n",
        "[predicates.C]\nnetwork = { layers = [{ conv = [6, 5] }, { dense = 10 }] }\noutput = \"sigmoid\"\n",
        "[predicates.C]\nnetwork = { layers = [\"flatten\", { conv = [6, 5] }] }\noutput = \"sigmoid\"\n",
        "[predicates.C]\nnetwork = { layers = [{ conv = [6, 5] }, \"elu\"] }\noutput = \"sigmoid\"\n",
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn inputs() {
    let shown = report(&with_theory![
        "[predicates.C]\nnetwork = { mlp = [], inputs = [\"x\"] }\noutput = \"sigmoid\"\n",
        "[predicates.C]\nargs = [\"x\", \"y\"]\nnetwork = { mlp = [], inputs = [\"x.roi\", \"z.roi\", \"stop(type(w))\"] }\noutput = \"sigmoid\"\n",
        "[predicates.C]\nargs = [\"x\", \"t\"]\nnetwork = { mlp = [], inputs = [\"x\", \"t\"] }\noutput = \"softmax\"\n",
        "[predicates.C]\nargs = [\"x\", \"x\", \"1\"]\nnetwork = { mlp = [], inputs = [] }\noutput = \"sigmoid\"\n",
        "[predicates.C]\nargs = [\"x\"]\nnetwork = { mlp = [], inputs = [\"x.\", \"x y\", \"stop(type(x)\", \"containment(x.a)\", \"type()\", \"3\", \"\"] }\noutput = \"sigmoid\"\n",
        "[predicates.C]\nargs = [\"x\"]\nnetwork = { mlp = [], inputs = [\"\\u0078 + 1\", '''x..y'''] }\noutput = \"sigmoid\"\n",
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn training() {
    let shown = report(&with_theory![
        "[train]\nsteps = 10\nepochs = 10\n",
        "[train]\nsteps = 10\nphases = [{ steps = 3 }]\n",
        "[train]\nphases = [{}, { steps = 0 }, { steps = 1, epochs = 1 }, { steps = 1, axioms = \"a\" }, 7]\n",
        "[train]\nphases = []\n",
        "[train]\nseed = 1\n",
        "[train]\nsteps = 1\nlearning_rate = 0\nseed = 18446744073709551616\nclip_norm = -1\noptimizer = \"adma\"\n",
        "[train]\nsteps = 1\noptimizer = \"adam\"\nmomentum = 0.9\nweight_decay = 0.1\n",
        "[train]\nsteps = 1\nearly_stop = { metric = \"accuracy\", patience = 2 }\n",
        "[train]\nsteps = 1\nearly_stop = { metric = \"acuracy(p)\", patience = 2 }\n[evaluate]\nmetrics = [{ metric = \"accuracy\", predicate = \"p\", rows = \"r.csv\" }]\n",
        "[schedule]\nalpha = { linear = [0, 4] }\np = { exponential = [1, 2, 3] }\np_forall = 0.5\n",
        "[schedule]\nalpha = { linear = [1, 4], exponential = [1, 4] }\np = {}\np_forall = { linear = [1, 4], by = \"day\" }\n",
        "[evaluate]\nevery = 0\nmetrics = [{ metric = \"acuracy\", predicate = \"p\", rows = \"r.csv\" }, { metric = \"accuracy\" }]\n",
        "[evaluate]\nmetrics = [{ metric = \"accuracy\", predicate = \"p\", rows = \"a.csv\" }, { metric = \"accuracy\", predicate = \"p\", rows = \"b.csv\" }]\n",
        "[evaluate]\nmetrics = [{ metric = \"accuracy\", predicate = \"p\", rows = \"a.csv\", labels = \"S\" }]\n",
        "[evaluate]\nmetrics = [{ metric = \"row_accuracy\", predicate = \"p\", table = \"T\", labels = \"S\" }, { metric = \"hits\", predicate = \"p\", rows = \"a.csv\" }, { metric = \"roc_auc\", predicate = \"p\", k = 3, of = \"x\", filter = [] }]\n",
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn files_that_cannot_be_read() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("bad.toml");
    std::fs::write(&path, b"theory = \"t.ltn\"\n# caf\xe9\n").expect("a file");
    let shown = |path: &Path| {
        let errors = Manifest::read(path).expect_err("must fail");
        errors
            .to_string()
            .replace(&dir.path().display().to_string(), "DIR")
    };
    let all = [path.as_path(), dir.path(), &dir.path().join("none.toml")].map(shown);
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn keys_that_stand_elsewhere() {
    for (text, help) in [
        (
            "[predicates.eq]\nclosed_form = { logit = \"m\", learn = { m = 1 } }\n",
            "put it next to `closed_form`",
        ),
        ("[train]\nsteps = 1\nsemantics = \"stable\"\n", "at the top"),
        ("[sorts.P]\nsize = 20\n", "individuals have names"),
    ] {
        let shown = report(&[&format!("theory = \"t.ltn\"\n{text}")]);
        assert!(shown.contains(help), "{shown}");
    }
}

#[test]
fn a_theory_is_no_manifest() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("t.ltn");
    std::fs::write(&path, "sort P\n").expect("a file");
    let errors = Manifest::read(&path).expect_err("must fail").to_string();
    assert!(errors.contains("is a theory, not a manifest"), "{errors}");
    assert!(errors.contains("`theory = \"t.ltn\"`"), "{errors}");
}

#[test]
fn a_file_is_read_relative_to_its_folder() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("m.toml");
    // With a byte-order mark and Windows line ends.
    std::fs::write(
        &path,
        "\u{feff}theory = \"t.ltn\"\r\n[train]\r\nsteps = 5\r\n",
    )
    .expect("a file");
    let (manifest, warnings) = Manifest::read(&path).expect("a good manifest");
    assert!(warnings.is_empty());
    assert_eq!(
        manifest.resolve(&manifest.theory.value),
        dir.path().join("t.ltn")
    );
    assert_eq!(manifest.source.slice(manifest.theory.span), "\"t.ltn\"");
}
