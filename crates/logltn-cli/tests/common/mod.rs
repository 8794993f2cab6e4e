//! Small projects in their own folders, and the program run on them.
#![allow(dead_code)] // each test uses its part

#[cfg(unix)]
pub mod browser;
#[cfg(target_os = "linux")]
pub mod mounted;
pub mod served;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with files.
pub struct Folder {
    dir: TempDir,
}

/// How a run of the program ended.
pub struct Run {
    /// What was run, for messages.
    pub arguments: String,
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
        let path = self.path().join(name);
        let removed = match path.is_dir() {
            true => std::fs::remove_dir_all(path),
            false => std::fs::remove_file(path),
        };
        removed.expect("the file is there");
    }

    /// The text of a file.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("UTF-8")
    }

    /// What a file holds.
    #[track_caller]
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// Replaces a text that a file has.
    #[track_caller]
    pub fn change(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{name} has no {from:?}");
        self.write(name, text.replacen(from, to, 1).as_bytes());
    }

    /// Runs the program, which must succeed, with `--json`.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        self.ok(&[arguments, &["--json"]].concat()).json()
    }

    /// Runs the program, which must succeed.
    #[track_caller]
    pub fn ok(&self, arguments: &[&str]) -> Run {
        self.run(arguments).ends(0)
    }

    /// Runs the program, which must find a mistake in what it was given.
    #[track_caller]
    pub fn refuses(&self, arguments: &[&str]) -> Run {
        self.run(arguments).ends(2)
    }

    /// Runs the program, which must fail at what it was to do.
    #[track_caller]
    pub fn stops(&self, arguments: &[&str]) -> Run {
        self.run(arguments).ends(1)
    }

    /// Runs the program in this folder.
    pub fn run(&self, arguments: &[&str]) -> Run {
        run_in(self.path(), arguments)
    }
}

impl Run {
    /// It ended with this status.
    #[track_caller]
    pub fn ends(self, status: i32) -> Run {
        self.ended(status);
        self
    }

    #[track_caller]
    pub fn ended(&self, status: i32) {
        assert_eq!(self.status, status, "{self}");
    }

    /// It succeeded silently on standard error.
    #[track_caller]
    pub fn quiet(&self) {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{self}");
    }

    /// Standard output has this text.
    #[track_caller]
    pub fn says(&self, text: impl AsRef<str>) {
        let text = text.as_ref();
        assert!(
            self.stdout.contains(text),
            "no {text:?} in the output of {self}"
        );
    }

    /// Standard error has this text.
    #[track_caller]
    pub fn complains(&self, text: impl AsRef<str>) {
        let text = text.as_ref();
        assert!(
            self.stderr.contains(text),
            "no {text:?} in the errors of {self}"
        );
    }

    /// Standard output as a document.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "logltn {}\n{}{}",
            self.arguments, self.stdout, self.stderr
        )
    }
}

/// Runs the program in a folder.
pub fn run_in(dir: &Path, arguments: &[&str]) -> Run {
    run_with(dir, arguments, None)
}

/// Runs the program in a folder, with something on its standard input.
pub fn run_with(dir: &Path, arguments: &[&str], input: Option<&[u8]>) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(arguments)
        .current_dir(dir)
        .stdin(if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        // One that refuses its flags does not read it.
        let _ = pipe.write_all(input);
    }
    let output = child.wait_with_output().expect("the program ends");
    Run {
        arguments: arguments.join(" "),
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
