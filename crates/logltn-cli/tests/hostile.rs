//! Files that are not what they seem: pipes, devices, links, odd names, flipped bits, somebody else's folder.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, signal};

const MANIFEST: &str = "theory = 't.ltn'
[sorts.Point]
features = 'points.csv'
[predicates.good]
network = { mlp = [4], activation = 'elu' }
output = 'sigmoid'
[train]
steps = 6
checkpoint_every = 2
";

fn project() -> Folder {
    Folder::new(&[
        (
            "t.ltn",
            b"sort Point\npredicate good(Point)\naxiom all_good: forall x: Point. good(x)\n",
        ),
        ("points.csv", b"a,b\n0,1\n2,0\n1,2\n"),
        ("m.toml", MANIFEST.as_bytes()),
    ])
}

#[test]
fn pipes_and_devices_are_refused_at_once() {
    for name in ["t.ltn", "points.csv", "m.toml"] {
        let folder = project();
        let path = folder.path().join(name);
        fs::remove_file(&path).expect("it is there");
        let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        let begun = Instant::now();
        let run = folder.refuses(&["check", "m.toml"]);
        run.complains("a pipe or device");
        assert!(begun.elapsed() < Duration::from_secs(600));
    }
    let folder = project();
    folder.write(
        "m.toml",
        MANIFEST.replace("points.csv", "/dev/zero").as_bytes(),
    );
    folder.refuses(&["check", "m.toml"]);
}

/// Those of a run, too: whoever reads or writes it would wait forever.
#[test]
fn pipes_in_a_run_are_refused_at_once() {
    let folder = project();
    for run in ["run", "other"] {
        folder.ok(&["train", "m.toml", "--out", run]);
    }
    let cases: [(&str, &[&str]); 6] = [
        ("manifest.toml", &["compare", "run", "other", "--json"]),
        ("metrics.jsonl", &["compare", "run", "other", "--json"]),
        ("theory.ltn", &["compare", "run", "other", "--json"]),
        ("weights.safetensors", &["eval", "m.toml", "--run", "run"]),
        ("run.lock", &["train", "m.toml", "--out", "run", "--resume"]),
        (
            "metrics.csv",
            &["train", "m.toml", "--out", "run", "--resume"],
        ),
    ];
    for (name, arguments) in cases {
        let path = folder.path().join("run").join(name);
        let whole = fs::read(&path).expect("it is there");
        fs::remove_file(&path).expect("it is there");
        let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        let begun = Instant::now();
        let run = folder.run(arguments);
        let words = format!("{name}, {arguments:?}: {}", run.stderr);
        run.ended(2);
        assert!(run.stderr.contains("a pipe or device"), "{words}");
        assert!(begun.elapsed() < Duration::from_secs(600), "{words}");
        fs::remove_file(&path).expect("it is there");
        fs::write(&path, whole).expect("written");
    }
}

/// One that is so large that it is read where it is: the system has a signal for that, which says nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_cut_while_it_is_learnt_from_is_named() {
    const ROWS: usize = 1 << 21;
    let folder = project();
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({ROWS}, 40), }}");
    header.extend(std::iter::repeat_n(' ', 117 - header.len()));
    let start = [&b"\x93NUMPY\x01\x00\x76\x00"[..], header.as_bytes(), b"\n"].concat();
    folder.write("points.npy", &start);
    let points = folder.path().join("points.npy");
    let file = fs::OpenOptions::new().write(true).open(&points);
    let file = file.expect("it is there");
    // A hole: it takes no room.
    file.set_len((start.len() + 4 * 40 * ROWS) as u64)
        .expect("a longer file");
    folder.write(
        "t.ltn",
        b"sort Point\ntable some(x: Point)\npredicate good(Point)\naxiom a: forall (x) in some. good(x)\n",
    );
    let rows: String = (0..100_000)
        .map(|i| format!("{}\n", i * 997 % ROWS))
        .collect();
    folder.write("some.csv", format!("x\n{rows}").as_bytes());
    let manifest = MANIFEST
        .replace("points.csv", "points.npy")
        .replace("steps = 6", "steps = 100000000");
    let tables = "[tables]\nsome = { rows = 'some.csv', batch = 64 }\n";
    folder.write("m.toml", format!("{manifest}{tables}").as_bytes());
    let mut child = folder.start(&["train", "m.toml", "--out", "run"]);
    folder.await_file("run/checkpoint.safetensors", &mut child);
    file.set_len(10_000).expect("a shorter file");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("points.npy: the file was cut short"),
        "{said}"
    );
}

#[test]
fn ones_own_files_are_not_a_run() {
    let folder = project();
    let run = folder.refuses(&["train", "m.toml", "--out", "."]);
    run.complains("holds no run");
    let text = folder.read("m.toml");
    assert_eq!(text, MANIFEST);
}

#[test]
fn a_path_that_is_not_utf_8_is_a_path() {
    let folder = project();
    let odd = OsString::from_vec(b"r\xffun".to_vec());
    let status = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(["train", "m.toml", "--out"])
        .arg(&odd)
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .status()
        .expect("it runs");
    assert_eq!(status.code(), Some(0));
    assert!(
        folder
            .path()
            .join(&odd)
            .join("weights.safetensors")
            .exists()
    );
}

#[test]
fn a_damaged_run_is_not_evaluated_or_resumed() {
    let folder = project();
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let weights = folder.path().join("run/weights.safetensors");
    let whole = fs::read(&weights).expect("weights");
    for bit in (0..8 * whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&weights, bytes).expect("written");
        let run = folder.run(&["eval", "m.toml", "--run", "run"]);
        assert_ne!(run.status, 0, "bit {bit}: {}", run.stdout);
    }
    fs::write(&weights, &whole).expect("written");
    folder.ok(&["eval", "m.toml", "--run", "run"]);
    // The records of its start are lost.
    for name in ["run.json", "manifest.toml", "theory.ltn"] {
        let path = folder.path().join("run").join(name);
        let text = fs::read(&path).expect("it is there");
        for garbage in [None, Some("{{{")] {
            match garbage {
                Some(garbage) => fs::write(&path, garbage).expect("written"),
                None => fs::remove_file(&path).expect("it is there"),
            }
            let run = folder.run(&["train", "m.toml", "--out", "run", "--resume"]);
            assert_ne!(run.status, 0, "{name} {garbage:?}: {}", run.stdout);
        }
        fs::write(&path, text).expect("written");
    }
    folder.ok(&["train", "m.toml", "--out", "run", "--resume"]);
}

#[test]
fn a_project_that_was_moved_is_resumed() {
    let (folder, elsewhere) = (project(), Folder::new(&[]));
    let run = elsewhere.path().join("run").display().to_string();
    folder.ok(&["train", "m.toml", "--out", &run]);
    let moved = Folder::new(&[]);
    for name in ["t.ltn", "points.csv", "m.toml"] {
        fs::rename(folder.path().join(name), moved.path().join(name)).expect("moved");
    }
    moved.ok(&["train", "m.toml", "--out", &run, "--resume"]);
    moved.write("points.csv", b"a,b\n0,1\n2,0\n1,3\n");
    moved.refuses(&["train", "m.toml", "--out", &run, "--resume"]);
}

#[test]
fn names_are_shown_and_not_obeyed() {
    let folder = project();
    let names = "\u{1b}]0;owned\u{7}ann\nb\u{9b}2Job\nc\u{202e}lara\n";
    folder.write("names.txt", names.as_bytes());
    folder.write("good.csv", b"logit\n1\n2\n3\n");
    folder.write(
        "t.ltn",
        b"sort Point\npredicate good(Point)\naxiom one for x: Point: good(x)\n",
    );
    folder.write(
        "m.toml",
        b"theory = 't.ltn'\n[sorts.Point]\nindividuals = 'names.txt'\n[predicates.good]\nlogits = 'good.csv'\noutput = 'sigmoid'\n",
    );
    for arguments in [
        &["eval", "m.toml"][..],
        &["check", "m.toml"],
        &["eval", "m.toml", "--json"],
        &["predict", "m.toml", "good", "--json"],
    ] {
        let run = folder.run(arguments);
        let said = run.stdout + &run.stderr;
        let raw = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!said.contains(raw), "{arguments:?}: {said:?}");
    }
}

/// A run's manifest names the one that it was given in a comment, which ends with the line.
#[test]
fn a_path_does_not_write_a_manifest() {
    let folder = project();
    let odd = "m\n[train]\u{1b}.toml";
    folder.write(odd, MANIFEST.as_bytes());
    folder.ok(&["train", odd, "--out", "run"]);
    folder.ok(&["train", odd, "--out", "run", "--resume"]);
    folder.ok(&["train", "m.toml", "--out", "other"]);
    folder.ok(&["compare", "run", "other", "--json"]);
    let page = folder.read("run/report.html");
    assert!(!page.contains('\u{1b}'));
}

/// As schedulers stop a job.
#[test]
fn sigterm_is_heard_like_ctrl_c() {
    let folder = project();
    folder.write(
        "m.toml",
        MANIFEST
            .replace("steps = 6", "steps = 100000000")
            .as_bytes(),
    );
    let mut child = folder.start(&["train", "m.toml", "--out", "run"]);
    folder.await_file("run/checkpoint.safetensors", &mut child);
    signal(&child, "-TERM");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("continue with the same command and --resume"),
        "{said}"
    );
}
