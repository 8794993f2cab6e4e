//! Small projects in folders of their own, and the program run on them.
#![allow(dead_code)] // each test uses its part

#[cfg(unix)]
pub mod browser;
#[cfg(target_os = "linux")]
pub mod mounted;
pub mod served;

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder with files.
pub struct Folder {
    dir: TempDir,
}

/// How a run of the program ended.
pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    /// With these files, each a name and its content.
    pub fn new(files: &[(&str, &[u8])]) -> Folder {
        let folder = Folder {
            dir: TempDir::new().expect("a temporary folder"),
        };
        for (name, content) in files {
            folder.write(name, content);
        }
        folder
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn write(&self, name: &str, content: &[u8]) {
        let path = self.path().join(name);
        let folder = path.parent().expect("a folder");
        std::fs::create_dir_all(folder).expect("a folder in a temporary folder");
        std::fs::write(path, content).expect("a file in a temporary folder");
    }

    pub fn remove(&self, name: &str) {
        std::fs::remove_file(self.path().join(name)).expect("the file is there");
    }

    /// Runs the program in this folder.
    pub fn run(&self, arguments: &[&str]) -> Run {
        run_in(self.path(), arguments)
    }
}

/// Runs the program in a folder.
pub fn run_in(dir: &Path, arguments: &[&str]) -> Run {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(arguments)
        .current_dir(dir)
        .output()
        .expect("the program runs");
    Run {
        status: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A project in which everything has its place and nothing is wrong.
pub const SOUND: [(&str, &[u8]); 9] = [
    (
        "t.ltn",
        b"sort Point
sort Type
sort Digit = 0..9
sort Colour = {red, green, blue}
param near
param most
constant origin: Point
table labelled(x: Point, t: Type)
table readings(x: Point, d: Digit, c: Colour, n: Int, w: Real)

predicate type(Point, Type)
predicate close(Point, Point)
predicate bright(Point)
predicate shows(Point, Colour)

axiom examples:  forall (x, t) in labelled. type(x, t)
axiom cats:      exists x: Point. type(x, cat)
axiom smooth:    forall x, y: Point where dist(x, y) < near. close(x, y) <-> close(y, x)
axiom readings:  forall (x, d, c, n, w) in readings where d + n < most and w < 1.5. bright(x) <-> shows(x, c)
axiom origin:    bright(origin)
",
    ),
    (
        "m.toml",
        b"theory = \"t.ltn\"

[sorts.Point]
features = \"points.csv\"
[sorts.Type]
individuals = \"types.csv\"

[params]
near = { percentile = 50, of = \"dist(Point, Point)\" }
most = 12

[constants]
origin = { row = 0 }

[tables]
labelled = { rows = \"labelled.csv\" }
readings = { rows = \"readings.csv\" }

[predicates]
type = { logits = \"type.csv\", output = \"softmax\" }
close = { truth = \"close.csv\" }
bright = { log_truth = \"bright.csv\" }
shows = { logits = \"shows.csv\", output = \"sigmoid\" }
",
    ),
    ("points.csv", b"x,y\n0,0\n3,4\n6,8\n"),
    ("types.csv", b"cat\ndog\n"),
    ("labelled.csv", b"x,t\n0,cat\n2,dog\n"),
    (
        "readings.csv",
        b"w,n,c,d,x\n0.5,3,red,9,0\n1.5,-2,blue,0,1\n1.25,4,green,7,2\n",
    ),
    ("type.csv", b"cat,dog\n2,-1\n0,0\n-0.5,1\n"),
    ("close.csv", b"close\n1\n0.5\n0\n0.5\n1\n0.25\n0\n0.75\n1\n"),
    ("bright.csv", b"bright\n0\n-1\n-0.5\n"),
];

/// [`SOUND`] with the last of its files, which does not fit into the array.
pub fn sound() -> Folder {
    let folder = Folder::new(&SOUND);
    folder.write("shows.csv", b"red,green,blue\n1,2,3\n0,0,0\n-1,0,1\n");
    folder
}
