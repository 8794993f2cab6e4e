//! Starts logltn as a process, with a fault, a limit or a signal if need be, and waits for its end, but not forever.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How a try ended: in one of the ways that are right, by name, or with what is wrong.
pub type Attempt = Result<&'static str, String>;

/// The word with which this program is logltn.
pub const PROGRAM: &str = "--program";

/// Where this crate's program is, which a test is not.
static OWN: OnceLock<PathBuf> = OnceLock::new();

/// Says where it is.
pub fn set_program(path: &Path) {
    let _ = OWN.set(path.to_path_buf());
}

pub const SIGINT: i32 = 2;
pub const SIGKILL: i32 = 9;
pub const SIGTERM: i32 = 15;

unsafe extern "C" {
    fn kill(process: i32, signal: i32) -> i32;
    fn setrlimit(resource: i32, limits: *const [u64; 2]) -> i32;
}

const ADDRESS_SPACE: i32 = 9;

/// How it ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit status, or none if a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// What is done to it.
#[derive(Clone, Debug, Default)]
pub struct Harm {
    /// The variables of the library of faults (`preload/faults.rs`), which is not loaded if there are none.
    pub faults: Vec<(&'static str, String)>,
    /// A signal after a time.
    pub signal: Option<(Duration, i32)>,
    /// The most bytes of address space.
    pub memory: Option<u64>,
}

/// The library of faults, as a file: it comes with this program, which may have been carried to another machine.
fn library() -> std::io::Result<PathBuf> {
    let bytes = include_bytes!(env!("LOGLTN_FAULTS"));
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    // One for all processes, and whole whoever makes it.
    let path = std::env::temp_dir().join(format!("logltn-faults-{:08x}.so", sum.sum()));
    if !path.exists() {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(bytes)?;
        file.persist(&path)?;
    }
    Ok(path)
}

/// Runs logltn in a folder. A run that takes more than a minute is killed, and counts as wrong.
pub fn run(folder: &Path, words: &[&str], harm: &Harm) -> Result<Ended, String> {
    let wrong = |error: std::io::Error| format!("the harness cannot start logltn: {error}");
    let mut said: [File; 2] = [
        tempfile::tempfile().map_err(wrong)?,
        tempfile::tempfile().map_err(wrong)?,
    ];
    let to = |file: &File| file.try_clone().map(Stdio::from).map_err(wrong);
    let mut command = Command::new(OWN.get().expect("it is set before the first try"));
    command
        // There is a try for each core already.
        .env("RAYON_NUM_THREADS", "2")
        .arg(PROGRAM)
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(to(&said[0])?)
        .stderr(to(&said[1])?);
    if !harm.faults.is_empty() {
        command.env("LD_PRELOAD", library().map_err(wrong)?);
        command.envs(harm.faults.iter().map(|(name, value)| (name, value)));
    }
    if let Some(bytes) = harm.memory {
        // SAFETY: a system call on memory that is there, which is allowed between fork and exec.
        unsafe {
            command.pre_exec(move || match setrlimit(ADDRESS_SPACE, &[bytes, bytes]) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
    }
    let mut child = command.spawn().map_err(wrong)?;
    let begun = Instant::now();
    let mut signal = harm.signal;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(wrong)? {
            break status;
        }
        if let Some((after, number)) = signal
            && begun.elapsed() >= after
        {
            // SAFETY: no memory is involved; the child has not been waited for, so its number is still its own.
            unsafe { kill(child.id() as i32, number) };
            signal = None;
        }
        if begun.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("logltn {words:?} does not end"));
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    let [stdout, stderr] = said.each_mut().map(|file| {
        let mut bytes = Vec::new();
        let read = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
        read.map(|_| String::from_utf8_lossy(&bytes).into_owned())
    });
    Ok(Ended {
        status: status.code(),
        signal: status.signal(),
        stdout: stdout.map_err(wrong)?,
        stderr: stderr.map_err(wrong)?,
    })
}

impl Ended {
    /// Whether it ended as documented: with 0, 1 or 2, and with a message unless with 0.
    pub fn documented(&self) -> Result<i32, String> {
        match self.status {
            Some(0) => Ok(0),
            Some(status @ 1..=2)
                if self.stderr.contains("error") || self.stderr.contains("continue with") =>
            {
                Ok(status)
            }
            Some(1..=2) => Err(format!("it failed without a message: {self:?}")),
            _ => Err(format!("it ended in no documented way: {self:?}")),
        }
    }
}
