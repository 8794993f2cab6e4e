//! One budget of memory for the whole program: what asks for more is refused before it is taken, and what `check`
//! estimates is about what training takes.

use std::fmt::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, Run};

/// How it ended, and the most memory that the program had at once.
struct Measured {
    run: Run,
    bytes: u64,
    time: Duration,
}

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    // Into files: nobody reads while it runs.
    let file = |name: &str| std::fs::File::create(folder.path().join(name)).expect("a file");
    Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(arguments)
        .current_dir(folder.path())
        .stdout(Stdio::from(file("stdout")))
        .stderr(Stdio::from(file("stderr")))
        .spawn()
        .expect("the program runs")
}

fn measured(folder: &Folder, arguments: &[&str]) -> Measured {
    let begun = Instant::now();
    let mut child = start(folder, arguments);
    let status = format!("/proc/{}/status", child.id());
    let mut bytes = 0;
    let ended = loop {
        // What it was at most, so looking now and then misses little.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let most = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = most.and_then(|m| m.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        bytes = bytes.max(1024 * kib.unwrap_or(0));
        if let Some(ended) = child.try_wait().expect("a child") {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    let run = Run {
        arguments: arguments.join(" "),
        status: ended.code().expect("no signal"),
        stdout: folder.read("stdout"),
        stderr: folder.read("stderr"),
    };
    Measured {
        run,
        bytes,
        time: begun.elapsed(),
    }
}

/// This many rows of this many numbers.
fn points(rows: usize, columns: usize) -> String {
    let heads: Vec<String> = (0..columns).map(|c| format!("c{c}")).collect();
    let mut text = heads.join(",") + "\n";
    for row in 0..rows {
        for column in 0..columns {
            let end = if column + 1 == columns { "\n" } else { "," };
            let _ = write!(text, "{}{end}", (row * 31 + column * 17) % 101);
        }
    }
    text
}

/// A theory over points with features, and a network.
fn project(axioms: &str, rows: usize, columns: usize, hidden: &str) -> Folder {
    let theory = format!("sort S\npredicate P(S)\npredicate R(S, S)\n{axioms}\n");
    let manifest = format!(
        "theory = 't.ltn'\nsorts.S.features = 'points.csv'\n\
         [predicates]\nP = {{ network = {{ mlp = [{hidden}] }}, output = 'sigmoid' }}\n\
         R = {{ network = {{ mlp = [8] }}, output = 'sigmoid' }}\n[train]\nsteps = 2\n"
    );
    Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        ("points.csv", points(rows, columns).as_bytes()),
        ("m.toml", manifest.as_bytes()),
    ])
}

/// A theory over integers, with a number for each.
fn learnable(theory: &str) -> Folder {
    let manifest = "theory = 't.ltn'\npredicates.w.learnable = true\ntrain.steps = 2\n";
    Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        ("m.toml", manifest.as_bytes()),
    ])
}

/// An npz member or a gzipped file of zeros, packed.
fn packed(rows: usize) -> Vec<u8> {
    use std::io::Write;
    let mut idx = vec![0, 0, 8, 2];
    idx.extend((rows as u32).to_be_bytes());
    idx.extend(1000_u32.to_be_bytes());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&idx).expect("packed");
    let zeros = vec![0; 1 << 20];
    let mut left = rows * 1000;
    while left > 0 {
        let now = left.min(zeros.len());
        gzip.write_all(&zeros[..now]).expect("packed");
        left -= now;
    }
    gzip.finish().expect("packed")
}

#[test]
fn too_much_is_refused_before_it_is_taken() {
    let numbers = "sort S = 0..9999\npredicate w(S)\n";
    let mut cases: Vec<(&str, Folder, &str, &str)> = vec![
        (
            "nested `any`",
            learnable(&format!(
                "{numbers}axiom a: any x: S. any y: S. w(x) and w(y)"
            )),
            "1GB",
            "t.ltn:3:14",
        ),
        (
            "with a guard",
            learnable(&format!(
                "{numbers}axiom a: any x: S. any y: S where y < x. w(x) and w(y)"
            )),
            "200MB",
            "t.ltn:3:14",
        ),
        (
            "a family of `all`",
            learnable(&format!(
                "{numbers}axiom a for x: S: all y: S. w(x) or w(y)"
            )),
            "1GB",
            "t.ltn:3:13",
        ),
        (
            "a guard that keeps everything",
            project(
                "axiom a: forall x, y, z: S where dist(x, y) + dist(y, z) < 10000. P(x) or P(z)",
                400,
                4,
                "4",
            ),
            "500MB",
            "t.ltn:4:34",
        ),
        (
            "pairs",
            project(
                "axiom a: forall x, y: S where x != y. R(x, y)",
                6000,
                1,
                "4",
            ),
            "100MB",
            "t.ltn:4:31",
        ),
        (
            "a network",
            project("axiom a: forall x: S. P(x)", 3, 4, "20000, 20000"),
            "4GB",
            "layer 3, `dense 20000`, has 400020000 parameters",
        ),
        (
            "learnable vectors",
            Folder::new(&[
                (
                    "t.ltn",
                    b"sort S = 0..999999\npredicate P(S)\naxiom a: forall x: S. P(x)\n",
                ),
                (
                    "m.toml",
                    b"theory = 't.ltn'\nsorts.S.learnable = 1000\ntrain.steps = 1\n\
                      predicates.P = { network = { mlp = [4] }, output = 'sigmoid' }\n",
                ),
            ]),
            "4GB",
            "individuals of sort `S`",
        ),
        (
            "a table",
            project("axiom a: forall x: S. P(x)", 20_000, 40, "4"),
            "10MB",
            "points.csv",
        ),
    ];
    let gzipped = project("axiom a: forall x: S. P(x)", 1, 1, "4");
    gzipped.write("points.idx.gz", &packed(400_000));
    let manifest = gzipped.read("m.toml");
    gzipped.write(
        "m.toml",
        manifest.replace("points.csv", "points.idx.gz").as_bytes(),
    );
    cases.push(("a packed file", gzipped, "1GB", "[400000, 1000]"));
    for (what, folder, memory, place) in cases {
        for command in [
            &["check", "m.toml"][..],
            &["train", "m.toml", "--out", "run"],
        ] {
            let run = measured(&folder, &[command, &["--memory", memory]].concat());
            let words = format!("{what}: {:?} {}", run.time, run.run);
            run.run.ended(2);
            run.run.complains(place);
            run.run.complains("of memory");
            // Seconds on a quiet machine, in a build without optimisation.
            assert!(run.time < Duration::from_secs(600), "{words}");
            assert!(run.bytes < 150 << 20, "{what}: {} bytes", run.bytes);
        }
        assert!(!folder.has("run"), "{what}");
    }
}

#[test]
fn what_did_not_ask_ends_with_a_message() {
    let folder = project("axiom a: forall x: S. P(x)", 3, 4, "4");
    let run = measured(&folder, &["check", "m.toml", "--memory", "1kB"]);
    run.run.ended(2);
    run.run.complains("error: memory is at its limit of 1.0 kB");
}

#[test]
fn training_takes_what_check_says() {
    let cases = [
        (
            "a network",
            project("axiom a: forall x: S. P(x)", 8, 4, "1300, 1300"),
        ),
        (
            "rows of a network",
            project(
                "axiom a: forall x, y: S where x != y. R(x, y) -> R(y, x)",
                250,
                4,
                "4",
            ),
        ),
        (
            "near pairs",
            project(
                "axiom a: forall x, y: S where dist(x, y) < 1000. P(x) -> P(y)",
                1100,
                4,
                "4",
            ),
        ),
        (
            "features",
            project("axiom a: forall x: S. P(x)", 30_000, 30, "16"),
        ),
        (
            "learnable vectors",
            Folder::new(&[
                (
                    "t.ltn",
                    b"sort S = 0..29999\npredicate P(S)\naxiom a: forall x: S. P(x)\n",
                ),
                (
                    "m.toml",
                    b"theory = 't.ltn'\nsorts.S.learnable = 32\ntrain.steps = 2\n\
                      predicates.P = { network = { mlp = [4] }, output = 'sigmoid' }\n",
                ),
            ]),
        ),
        (
            "a family",
            learnable("sort S = 0..2999\npredicate w(S)\naxiom a for x: S: w(x) or not w(0)"),
        ),
        (
            "a long `any`",
            learnable("sort S = 0..49999\npredicate w(S)\naxiom a: any x: S. w(x)"),
        ),
        (
            "a guard of arithmetic, and two literals of one predicate",
            learnable(
                "sort S = 0..700\npredicate w(S, S)\n\
                 axiom a: forall x, y: S where x < y. w(x, y) -> not w(y, x)",
            ),
        ),
        (
            "a definition, plain and negated",
            learnable(
                "sort S = 0..400\npredicate w(S, S)\ndefine both(x: S, y: S): w(x, y) and w(y, x)\n\
                 axiom a: forall x, y: S. both(x, y) or not both(y, x)",
            ),
        ),
        (
            "a part in two places",
            learnable(
                "sort S = 0..400\npredicate w(S, S)\n\
                 axiom a: forall x, y: S. (w(x, y) and w(y, x)) or not (w(x, y) and w(y, x))",
            ),
        ),
        (
            "a softmax over all individuals",
            Folder::new(&[
                (
                    "t.ltn",
                    b"sort E = 0..1999\npredicate w(E, E)\n\
                      axiom a: forall x, y: E where y = x + 1. w(x, y)\n",
                ),
                (
                    "m.toml",
                    b"theory = 't.ltn'\nsorts.E.learnable = 8\ntrain.steps = 2\n\
                      predicates.w = { args = ['x', 'y'], closed_form = { softmax = 'sum(x * y)' } }\n",
                ),
            ]),
        ),
    ];
    for (what, folder) in cases {
        let check = measured(&folder, &["check", "m.toml", "--json"]);
        let document = check.run.json();
        let estimate = document["step"]["memory_bytes"].as_f64().expect("a number");
        let train = measured(&folder, &["train", "m.toml", "--out", "run"]);
        train.run.ended(0);
        for (command, bytes) in [("check", check.bytes), ("train", train.bytes)] {
            let times = bytes as f64 / estimate;
            assert!(
                times <= 1.5,
                "{what}: {command} takes {bytes}, not {estimate}"
            );
        }
        // Nor is it a wild guess.
        let times = estimate / train.bytes as f64;
        assert!(times <= 3.0, "{what}: {} and not {estimate}", train.bytes);
    }
}

/// Whatever may be taken: a training is refused before it begins, or it ends well.
#[test]
fn a_training_that_has_weights_ends_well() {
    let mut axioms = "sort S = 0..99\npredicate w(S)\n".to_string();
    for i in 0..2000 {
        let (a, b, c) = (i % 100, i * 7 % 100, i * 13 % 100);
        let _ = writeln!(axioms, "axiom a{i}: w({a}) and not w({b}) -> w({c})");
    }
    let pairs = "sort S = 0..300\npredicate w(S, S)\n\
                 axiom a: forall x, y: S where x < y. w(x, y) -> not w(y, x)";
    for theory in [&axioms, pairs] {
        let folder = learnable(theory);
        let check = folder.run(&["check", "m.toml", "--json"]).json();
        let estimate = check["step"]["memory_bytes"].as_f64().expect("a number");
        let mut ends = [0; 3];
        for percent in [10, 25, 35, 45, 55, 65, 75, 85, 100, 120] {
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
