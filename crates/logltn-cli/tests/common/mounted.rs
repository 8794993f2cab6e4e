//! A disk of another machine, as far as this one can tell: a folder that is mounted through the kernel (FUSE), with times in
//! whole seconds of a clock that is behind, with names and sizes that are remembered for a second, files that go stale when
//! they are replaced, and now and then an error.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

const ENOENT: i32 = 2;
const EIO: i32 = 5;
const EROFS: i32 = 30;
const ENOSYS: i32 = 38;
const ESTALE: i32 = 116;

/// How many seconds the other machine's clock is behind.
const BEHIND: u64 = 300;
/// How many seconds the kernel may remember what it was told.
const REMEMBERED: u64 = 1;

/// A folder that is mounted until this is dropped.
pub struct Mounted {
    place: tempfile::TempDir,
    told: Arc<Told>,
}

#[derive(Default)]
struct Told {
    /// Every few requests one fails; none at 0.
    stumbles: AtomicU64,
    /// What somebody has tried to change.
    writes: Mutex<Vec<u32>>,
}

impl Mounted {
    /// Mounts a folder. Where that is not allowed (it takes root and /dev/fuse), says so and gives `None`.
    pub fn new(folder: &Path) -> Option<Mounted> {
        let place = tempfile::tempdir().expect("a folder");
        let fuse = File::options().read(true).write(true).open("/dev/fuse");
        let mounted = fuse.and_then(|fuse| {
            let user = fs::metadata("/proc/self")?.uid();
            let options = format!("fd=0,rootmode=40000,user_id={user},group_id=0,allow_other");
            let done = Command::new("mount")
                .args(["-i", "-t", "fuse", "-o", &options, "elsewhere"])
                .arg(place.path())
                .stdin(fuse.try_clone()?)
                .output()?;
            Ok((fuse, done))
        });
        let fuse = match mounted {
            Ok((fuse, done)) if done.status.success() => fuse,
            why => {
                eprintln!("\nSKIPPED: no disk can be mounted here, so none was tried: {why:?}\n");
                return None;
            }
        };
        let told = Arc::new(Told::default());
        let mut disk = Disk {
            fuse,
            told: Arc::clone(&told),
            nodes: vec![(PathBuf::new(), 0), node(folder)],
            known: HashMap::new(),
            open: HashMap::new(),
            requests: 0,
        };
        thread::spawn(move || disk.serve());
        Some(Mounted { place, told })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Lets one in this many requests fail; none at 0.
    pub fn stumble(&self, every: u64) {
        self.told.stumbles.store(every, SeqCst);
    }

    /// The requests to change something, by their numbers.
    pub fn writes(&self) -> Vec<u32> {
        self.told.writes.lock().expect("no thread failed").clone()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn node(path: &Path) -> (PathBuf, u64) {
    let number = fs::symlink_metadata(path).map_or(0, |facts| facts.ino());
    (path.to_path_buf(), number)
}

/// The other end of the mount.
struct Disk {
    fuse: File,
    told: Arc<Told>,
    /// Paths and the numbers that their files had.
    nodes: Vec<(PathBuf, u64)>,
    known: HashMap<(PathBuf, u64), u64>,
    open: HashMap<u64, File>,
    requests: u64,
}

/// Numbers as the kernel writes them.
struct Bytes(Vec<u8>);

impl Bytes {
    fn u64s(mut self, numbers: &[u64]) -> Bytes {
        (self.0).extend(numbers.iter().flat_map(|n| n.to_ne_bytes()));
        self
    }

    fn u32s(mut self, numbers: &[u32]) -> Bytes {
        (self.0).extend(numbers.iter().flat_map(|n| n.to_ne_bytes()));
        self
    }

    fn facts(self, facts: &fs::Metadata) -> Bytes {
        let time = (facts.mtime() as u64).saturating_sub(BEHIND);
        let sizes = [facts.ino(), facts.size(), facts.blocks(), time, time, time];
        let rest = [0, 0, 0, facts.mode(), facts.nlink() as u32];
        self.u64s(&sizes)
            .u32s(&rest)
            .u32s(&[facts.uid(), facts.gid(), 0, 4096, 0])
    }
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight"))
}

fn small(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four"))
}

impl Disk {
    fn serve(&mut self) {
        let mut buffer = vec![0; 1 << 18];
        // It ends when the folder is no longer mounted.
        while let Ok(length @ 40..) = self.fuse.read(&mut buffer) {
            let request = buffer[..length].to_vec();
            let (what, unique) = (small(&request, 4), number(&request, 8));
            // FORGET, INTERRUPT and BATCH_FORGET want no answer.
            if [2, 36, 42].contains(&what) {
                continue;
            }
            let answer = self.answer(what, number(&request, 16), &request[40..]);
            let (error, body) = match answer {
                Ok(Bytes(body)) => (0, body),
                Err(error) => (-error, Vec::new()),
            };
            let head = Bytes(Vec::new()).u32s(&[16 + body.len() as u32, error as u32]);
            let whole = [head.u64s(&[unique]).0, body].concat();
            // Who asked may have gone.
            let _ = self.fuse.write(&whole);
        }
    }

    fn answer(&mut self, what: u32, node: u64, body: &[u8]) -> Result<Bytes, i32> {
        let nothing = Bytes(Vec::new());
        let error = |error: std::io::Error| error.raw_os_error().unwrap_or(EIO);
        // LOOKUP, GETATTR, OPEN, READ, OPENDIR, READDIR
        if [1, 3, 14, 15, 27, 28].contains(&what) {
            self.requests += 1;
            let every = self.told.stumbles.load(SeqCst);
            if every > 0 && self.requests.is_multiple_of(every) {
                let odd = (self.requests / every).is_multiple_of(2);
                return Err(if odd { EIO } else { ESTALE });
            }
        }
        match what {
            1 => {
                let end = body.iter().position(|b| *b == 0).unwrap_or(body.len());
                let name = std::str::from_utf8(&body[..end]).map_err(|_| ENOENT)?;
                let path = self.path(node)?.join(name);
                let facts = fs::symlink_metadata(&path).map_err(error)?;
                let place = (path, facts.ino());
                let next = self.nodes.len() as u64;
                let id = *self.known.entry(place.clone()).or_insert(next);
                if id == next {
                    self.nodes.push(place);
                }
                let valid = [id, 0, REMEMBERED, REMEMBERED];
                Ok(nothing.u64s(&valid).u32s(&[0, 0]).facts(&facts))
            }
            3 => {
                let facts = fs::symlink_metadata(self.path(node)?).map_err(error)?;
                Ok(nothing.u64s(&[REMEMBERED]).u32s(&[0, 0]).facts(&facts))
            }
            5 => {
                let target = fs::read_link(self.path(node)?).map_err(error)?;
                Ok(Bytes(target.to_string_lossy().into_owned().into_bytes()))
            }
            14 if small(body, 0) & 3 == 0 => {
                let file = File::open(self.path(node)?).map_err(error)?;
                let handle = self.requests;
                self.open.insert(handle, file);
                Ok(nothing.u64s(&[handle]).u32s(&[0, 0]))
            }
            15 => {
                let file = self.open.get(&number(body, 0)).ok_or(EIO)?;
                let mut bytes = vec![0; small(body, 16) as usize];
                let read = file.read_at(&mut bytes, number(body, 8)).map_err(error)?;
                bytes.truncate(read);
                Ok(Bytes(bytes))
            }
            17 => Ok(Bytes(vec![0; 80])),
            18 => {
                self.open.remove(&number(body, 0));
                Ok(nothing)
            }
            26 => Ok(nothing
                .u32s(&[7, 31, 1 << 16, 0, 0, 4096, 1, 0, 0])
                .u32s(&[0; 7])),
            27 => Ok(nothing.u64s(&[0]).u32s(&[0, 0])),
            28 => self.names(node, number(body, 8), small(body, 16) as usize),
            29 | 38 => Ok(nothing),
            // SETATTR, SYMLINK to LINK, OPEN for writing, WRITE, CREATE, FALLOCATE, RENAME2
            4 | 6 | 8..=14 | 16 | 35 | 43 | 45 => {
                let mut writes = self.told.writes.lock().expect("no thread failed");
                writes.push(what);
                Err(EROFS)
            }
            _ => Err(ENOSYS),
        }
    }

    /// The names in a folder, from the one after `offset`.
    fn names(&self, node: u64, offset: u64, room: usize) -> Result<Bytes, i32> {
        let entries = fs::read_dir(self.path(node)?).map_err(|_| EIO)?;
        let mut found: Vec<_> = entries.flatten().collect();
        found.sort_by_key(|entry| entry.file_name());
        let mut bytes = Bytes(Vec::new());
        for (at, entry) in found.iter().enumerate().skip(offset as usize) {
            let Ok(facts) = fs::symlink_metadata(entry.path()) else {
                continue;
            };
            let name = entry.file_name().into_encoded_bytes();
            if bytes.0.len() + 24 + name.len().next_multiple_of(8) > room {
                break;
            }
            bytes = bytes
                .u64s(&[facts.ino(), at as u64 + 1])
                .u32s(&[name.len() as u32, facts.mode() >> 12]);
            bytes.0.extend(name);
            bytes.0.resize(bytes.0.len().next_multiple_of(8), 0);
        }
        Ok(bytes)
    }

    /// Where a file is, if it is still the one that was asked for.
    fn path(&self, id: u64) -> Result<&Path, i32> {
        let (path, number) = self.nodes.get(id as usize).ok_or(ESTALE)?;
        let facts = fs::symlink_metadata(path).map_err(|_| ESTALE)?;
        match facts.ino() == *number {
            true => Ok(path),
            false => Err(ESTALE),
        }
    }
}
