//! Files that are not what they seem: cut while they are read, odd names, flipped bits; others are in `cases/hostile.case`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};

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
