//! Whatever memory a training may take, it is refused before it begins, or it ends well; what it takes is in `cases/memory.case`.

use std::fmt::Write;

use crate::common::Folder;

/// A theory over integers, with a number for each.
fn learnable(theory: &str) -> Folder {
    let manifest = "theory = 't.ltn'\npredicates.w.learnable = true\ntrain.steps = 2\n";
    Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        ("m.toml", manifest.as_bytes()),
    ])
}

#[test]
fn a_training_that_has_weights_ends_well() {
    let mut axioms = "sort S = 0..99\npredicate w(S)\n".to_string();
    for i in 0..2000 {
        let (a, b, c) = (i % 100, i * 7 % 100, i * 13 % 100);
        let _ = writeln!(axioms, "axiom a{i}: w({a}) and not w({b}) -> w({c})");
    }
    let pairs = "sort S = 0..300\npredicate w(S, S)\n\
                 axiom a: forall x, y: S where x < y. w(x, y) -> not w(y, x)";
    // What is said of each axiom at the end takes more than a step.
    let family = "sort S = 0..3000\npredicate w(S)\naxiom a for x: S: w(x) or not w(0)";
    for theory in [&axioms, pairs, family] {
        let folder = learnable(theory);
        let check = folder.run(&["check", "m.toml", "--json"]).json();
        let estimate = check["step"]["memory_bytes"].as_f64().expect("a number");
        let mut ends = [0; 3];
        for percent in [10, 19, 25, 31, 38, 45, 60, 80, 120] {
            let memory = format!("{}", estimate as u64 * percent / 100);
            let (out, flags) = (format!("run{percent}"), ["--threads", "1"]);
            let run = ["train", "m.toml", "--out", &out, "--memory", &memory];
            let run = folder.run(&[&run[..], &flags].concat());
            let has_weights = folder.has(&format!("{out}/weights.safetensors"));
            assert_eq!(has_weights, run.status == 0, "{percent} %: {run}");
            if has_weights {
                let info = folder.read(&format!("{out}/run.json"));
                assert!(info.contains("\"finished\""), "{percent} %: {info}");
            }
            ends[run.status as usize] += 1;
        }
        assert!(ends[0] > 1 && ends[2] > 0, "{ends:?}");
    }
}

/// A gzipped file of zeros.
fn packed(rows: usize) -> Vec<u8> {
    use std::io::Write;
    let mut idx = vec![0, 0, 8, 2];
    idx.extend((rows as u32).to_be_bytes());
    idx.extend(1000_u32.to_be_bytes());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&idx).expect("packed");
    for _ in 0..rows {
        gzip.write_all(&[0; 1000]).expect("packed");
    }
    gzip.finish().expect("packed")
}

#[test]
fn a_packed_file_is_refused_before_it_is_unpacked() {
    let manifest = "theory = 't.ltn'\nsorts.S.features = 'points.idx.gz'\n\
        predicates.P = { network = { mlp = [4] }, output = 'sigmoid' }\ntrain.steps = 2\n";
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort S\npredicate P(S)\naxiom a: forall x: S. P(x)\n",
        ),
        ("points.idx.gz", &packed(400_000)),
        ("m.toml", manifest.as_bytes()),
    ]);
    for command in [
        &["check", "m.toml"][..],
        &["train", "m.toml", "--out", "run"],
    ] {
        let run = folder.refuses(&[command, &["--memory", "1GB"]].concat());
        run.complains("[400000, 1000]");
        run.complains("of memory");
        assert!(run.memory.is_none_or(|bytes| bytes < 150 << 20), "{run}");
    }
    assert!(!folder.has("run"));
}
