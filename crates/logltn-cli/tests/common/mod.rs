//! Small projects in their own folders, and the program run on them.
#![allow(dead_code)] // each test uses its part

#[cfg(unix)]
pub mod browser;
#[cfg(target_os = "linux")]
pub mod mounted;
pub mod served;

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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
    /// The most memory that it had at once, in bytes, where the system says so.
    pub memory: Option<u64>,
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

    /// Whether there is a file of this name, or one that begins so before a `*`.
    pub fn has(&self, name: &str) -> bool {
        let path = self.path().join(name);
        let Some(start) = name.strip_suffix('*') else {
            return path.exists();
        };
        let start = self.path().join(start);
        let entries = std::fs::read_dir(path.parent().expect("a folder"));
        let mut names = entries.into_iter().flatten().flatten().map(|e| e.path());
        names.any(|name| {
            name.to_string_lossy()
                .starts_with(&*start.to_string_lossy())
        })
    }

    /// Whether it is neither a file nor a folder.
    pub fn is_pipe(&self, name: &str) -> bool {
        let data = std::fs::metadata(self.path().join(name));
        data.is_ok_and(|data| !data.is_file() && !data.is_dir())
    }

    /// The records of a run without what depends on the time.
    #[track_caller]
    pub fn records(&self, run: &str) -> Vec<Value> {
        let text = self.read(&format!("{run}/metrics.jsonl"));
        let record = |line: &str| {
            let mut record: Value = serde_json::from_str(line).expect("JSON");
            for key in ["step_time", "check"] {
                let removed = record.as_object_mut().expect("an object").remove(key);
                assert!(removed.is_some(), "{line}");
            }
            record
        };
        text.lines().map(record).collect()
    }

    #[track_caller]
    pub fn weights(&self, run: &str) -> Vec<u8> {
        self.bytes(&format!("{run}/weights.safetensors"))
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

    /// Starts the program, whose errors can be read while it is at work.
    pub fn start(&self, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_logltn"))
            .args(arguments)
            .current_dir(self.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// Waits until a program has written a file, or has ended.
    #[track_caller]
    pub fn await_file(&self, name: &str, child: &mut Child) {
        let begun = Instant::now();
        while !self.has(name) && child.try_wait().expect("a child").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(600), "no {name}");
            std::thread::sleep(Duration::from_millis(1));
        }
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
        .env_remove("COLUMNS")
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
    let status = format!("/proc/{}/status", child.id());
    let watched = std::thread::spawn(move || most_memory(&status));
    let output = child.wait_with_output().expect("the program ends");
    Run {
        arguments: arguments.join(" "),
        status: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        memory: watched.join().expect("it ends"),
    }
}

/// What a process took at most: a number that only grows, so looking now and then misses little.
fn most_memory(status: &str) -> Option<u64> {
    let mut most = None;
    while let Ok(text) = std::fs::read_to_string(status) {
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(kib) = line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        else {
            break;
        };
        most = Some(1024 * kib);
        std::thread::sleep(Duration::from_millis(3));
    }
    most
}

/// Sends a signal, such as `-INT`.
#[cfg(unix)]
#[track_caller]
pub fn signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    let sent = kill.args([name, &child.id().to_string()]);
    assert!(sent.status().expect("kill").success());
}

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The project of this name in `cases/`.
pub fn project(name: &str) -> Folder {
    let folder = Folder::new(&[]);
    copy(
        &root().join("crates/logltn-cli/tests/cases").join(name),
        folder.path(),
    );
    folder
}

/// Copies what is in a folder into another one.
pub fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a kind").is_dir() {
            std::fs::create_dir(&to).expect("a folder");
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("a file");
        }
    }
}
