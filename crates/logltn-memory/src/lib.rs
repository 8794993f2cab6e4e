//! How much memory the process may take, in one place. Code whose memory grows with the input [asks](ask) here first, so
//! that too much is an error with a place and does not bring the machine down.
//!
//! ```
//! use logltn_memory as memory;
//! assert!(memory::ask(1000).is_ok());
//! let error = memory::ask(u128::from(u64::MAX)).unwrap_err().refuse("array `x` of big.npz");
//! assert_eq!(error.code().name(), "too-much-memory");
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use logltn_diagnostics::{Code, Diagnostic};

/// 0 until first queried.
static LIMIT: AtomicU64 = AtomicU64::new(0);
/// Bytes that [`Counting`] has allocated and not freed.
static USED: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);
/// What is being done, for the message if memory runs out.
static DOING: Mutex<String> = Mutex::new(String::new());

/// What to do and say if memory runs out during optional work.
static LEFT_OUT: Mutex<Option<LeftOut>> = Mutex::new(None);

type LeftOut = (Box<dyn FnMut() + Send>, String);

/// Used if nothing is known about the machine.
const UNKNOWN_MACHINE: u64 = 8 << 30;

/// How many bytes the process may take: half of the machine's memory, or of what its control group or `ulimit -v` allows,
/// unless [set](set_limit).
pub fn limit() -> u64 {
    match LIMIT.load(Ordering::Relaxed) {
        0 => {
            let limit = (machine().unwrap_or(UNKNOWN_MACHINE) / 2).max(1);
            LIMIT.store(limit, Ordering::Relaxed);
            limit
        }
        limit => limit,
    }
}

/// Sets how many bytes the process may take.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

/// How many bytes are in use, where [`Counting`] counts them; 0 elsewhere.
pub fn used() -> u64 {
    USED.load(Ordering::Relaxed)
}

/// The most bytes that were in use at any time, likewise.
pub fn peak() -> u64 {
    PEAK.load(Ordering::Relaxed)
}

/// How many more bytes may be taken.
pub fn left() -> u64 {
    limit().saturating_sub(used())
}

/// Whether this many more bytes may be taken. Nothing is reserved: ask before taking them.
///
/// # Errors
/// If that is too much.
pub fn ask(bytes: u128) -> Result<(), TooMuch> {
    match bytes > u128::from(left()) {
        true => Err(TooMuch { asked: bytes }),
        false => Ok(()),
    }
}

/// Sets what is being done, for the message if memory runs out.
pub fn doing(what: impl Into<String>) {
    *DOING.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
}

/// While this lives, the current work is optional: when the [limit] is reached, the program runs the fallback instead and
/// exits successfully, with a warning and these words.
#[must_use]
pub struct CanBeLeftOut(());

impl CanBeLeftOut {
    /// The fallback should be cheap.
    pub fn new(words: impl Into<String>, instead: impl FnMut() + Send + 'static) -> CanBeLeftOut {
        let new: LeftOut = (Box::new(instead), words.into());
        *LEFT_OUT.lock().unwrap_or_else(PoisonError::into_inner) = Some(new);
        CanBeLeftOut(())
    }
}

impl Drop for CanBeLeftOut {
    fn drop(&mut self) {
        let mut left_out = LEFT_OUT.lock().unwrap_or_else(PoisonError::into_inner);
        let old = left_out.take();
        drop(left_out); // nothing is freed while the lock is held
        drop(old);
    }
}

/// A request for more memory than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch {
    /// How many bytes.
    pub asked: u128,
}

impl TooMuch {
    /// The error, naming what asked.
    pub fn refuse(self, who: impl std::fmt::Display) -> Diagnostic {
        let used = match used() {
            0..1_000_000 => String::new(),
            used => format!(" ({} are in use)", shown(used.into())),
        };
        Diagnostic::error(
            Code::TooMuchMemory,
            format!(
                "{who} takes about {} of memory: more than the {} allowed{used}",
                shown(self.asked),
                shown(limit().into())
            ),
        )
    }
}

static ALLOW_MORE: RwLock<&str> = RwLock::new("a higher limit allows more, if the machine has it");

/// What to do about it, if nothing better is known.
pub fn allow_more() -> &'static str {
    // A thread that waits for the lock may be ending for lack of memory.
    ALLOW_MORE.try_read().map_or("", |words| *words)
}

/// Sets how users of this program can raise the limit: by a flag or an argument.
pub fn set_allow_more(words: &'static str) {
    *ALLOW_MORE.write().unwrap_or_else(PoisonError::into_inner) = words;
}

/// A number of bytes for people: `12.3 MB`.
pub fn shown(bytes: u128) -> String {
    Shown(bytes).to_string()
}

/// The same without a string, for when there is no memory for one.
struct Shown(u128);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut value = self.0 as f64;
        for unit in ["bytes", "kB", "MB", "GB", "TB"] {
            if value < 1000.0 || unit == "TB" {
                return match unit {
                    "bytes" => write!(f, "{} bytes", self.0),
                    _ if value < 10.0 => write!(f, "{value:.1} {unit}"),
                    _ => write!(f, "{value:.0} {unit}"),
                };
            }
            value /= 1000.0;
        }
        Ok(())
    }
}

/// How many bytes of address space the process may have, if `ulimit -v` limits it. Code, thread stacks and the allocator's
/// reserves take address space too.
pub fn address_space() -> Option<u64> {
    addresses(&std::fs::read_to_string("/proc/self/limits").ok()?)
}

/// The limit in force in `/proc/self/limits`.
fn addresses(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    // `unlimited` is not a number.
    line.split_whitespace().next()?.parse().ok()
}

/// The memory of the machine, or less if a control group or a limit on address space allows less.
fn machine() -> Option<u64> {
    let whole = std::fs::read_to_string("/proc/meminfo").ok();
    let whole = whole.as_deref().and_then(total);
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let allowed = control_groups(&groups).filter_map(|file| {
        let text = std::fs::read_to_string(file).ok()?;
        text.trim().parse().ok() // `max` means no limit
    });
    let all = whole.into_iter().chain(allowed);
    all.chain(address_space()).min()
}

/// The total of `/proc/meminfo`.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The files that may hold a limit, of all groups in `/proc/self/cgroup` and the groups around them, in both versions.
fn control_groups(groups: &str) -> impl Iterator<Item = String> {
    groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (kinds, path) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        let (root, file) = match kinds {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        };
        let matters = kinds.is_empty() || kinds.split(',').any(|kind| kind == "memory");
        let mut at = matters.then(|| path.trim_end_matches('/').to_string());
        std::iter::from_fn(move || {
            let here = at.take()?;
            let found = format!("{root}{here}/{file}");
            at = here.rsplit_once('/').map(|(outer, _)| outer.to_string());
            Some(found)
        })
    })
}

/// What the system's allocator takes for this many bytes, including its bookkeeping: blocks of 16 bytes, at least
/// two.
fn block(bytes: usize) -> u64 {
    ((bytes as u64 + 23) & !15).max(32)
}

/// An allocator that counts what it hands out, and ends the program with a message and status 2 rather than exceed
/// [`limit`], or when the system has no more. Code that asks first never gets there; this is for code that did not.
///
/// A program installs it with `#[global_allocator]`; a library inside another program, which must not end that program, uses
/// `Counting<false>`.
pub struct Counting<const ENDS: bool = true>;

impl<const ENDS: bool> Counting<ENDS> {
    fn take(&self, bytes: u64) {
        let used = USED.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if used > PEAK.load(Ordering::Relaxed) {
            PEAK.fetch_max(used, Ordering::Relaxed);
        }
        let limit = LIMIT.load(Ordering::Relaxed);
        if ENDS && limit != 0 && used > limit {
            too_much(bytes);
        }
    }

    /// The system's allocation, if it succeeded.
    fn given(&self, pointer: *mut u8, bytes: usize) -> *mut u8 {
        if ENDS && pointer.is_null() {
            none_left(bytes);
        }
        pointer
    }

    fn give_back(&self, bytes: u64) {
        USED.fetch_sub(bytes, Ordering::Relaxed);
    }
}

// SAFETY: everything is delegated to the system's allocator; counting touches atomics only.
unsafe impl<const ENDS: bool> GlobalAlloc for Counting<ENDS> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.take(block(layout.size()));
        // SAFETY: as the caller promises.
        self.given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.take(block(layout.size()));
        // SAFETY: as the caller promises.
        self.given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.give_back(block(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (before, now) = (block(layout.size()), block(size));
        match now.checked_sub(before) {
            Some(more) => self.take(more),
            None => self.give_back(before - now),
        }
        // SAFETY: as the caller promises.
        self.given(unsafe { System.realloc(pointer, layout, size) }, size)
    }
}

#[cold]
fn too_much(bytes: u64) {
    let limit = LIMIT.load(Ordering::Relaxed);
    end(
        format_args!("memory is at its limit of {}", Shown(limit.into())),
        bytes.into(),
        allow_more(),
    );
}

#[cold]
fn none_left(bytes: usize) {
    let used = USED.load(Ordering::Relaxed);
    end(
        format_args!(
            "the system has no more memory than the {} in use",
            Shown(used.into())
        ),
        bytes as u128,
        "`ulimit -v` may limit the program, or other programs use the rest",
    );
}

/// Ends the program with a message, without allocating.
fn end(what: fmt::Arguments<'_>, bytes: u128, help: &str) {
    static ENDING: AtomicBool = AtomicBool::new(false);
    thread_local!(static HERE: Cell<bool> = const { Cell::new(false) });
    if ENDING.swap(true, Ordering::Relaxed) {
        // Exiting may take a few bytes too. Other threads wait meanwhile: their requests cannot be
        // met.
        while !HERE.with(Cell::get) {
            std::thread::sleep(Duration::from_secs(1));
        }
        return;
    }
    HERE.with(|here| here.set(true));
    let mut text = [0_u8; 1024];
    let mut rest = &mut text[..];
    let mut left_out = LEFT_OUT.try_lock().ok().and_then(|mut it| it.take());
    if let Some((instead, _)) = &mut left_out {
        instead();
    }
    let kind = left_out.as_ref().map_or("error", |_| "warning");
    let _ = write!(rest, "{kind}: {what}");
    if let Ok(doing) = DOING.try_lock()
        && !doing.is_empty()
    {
        // A file name may be long.
        let most = (0..=doing.len().min(400)).rev();
        let mut most = most.filter(|at| doing.is_char_boundary(*at));
        let _ = write!(rest, " while {}", &doing[..most.next().unwrap_or(0)]);
    }
    let _ = writeln!(rest, ": {} more were requested", Shown(bytes));
    if let Some((_, words)) = &left_out {
        let _ = writeln!(rest, "  note: {words}");
    }
    let _ = writeln!(rest, "  help: {help}");
    let length = 1024 - rest.len();
    let _ = std::io::stderr().write_all(&text[..length]);
    std::process::exit(if left_out.is_some() { 0 } else { 2 });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_groups_and_of_those_around_them() {
        let found: Vec<String> = control_groups("0::/a/b\n").collect();
        assert_eq!(
            found,
            [
                "/sys/fs/cgroup/a/b/memory.max",
                "/sys/fs/cgroup/a/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
        );
        let old = "3:cpu,cpuacct:/x\n2:memory:/x\n";
        let found: Vec<String> = control_groups(old).collect();
        assert_eq!(
            found,
            [
                "/sys/fs/cgroup/memory/x/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes"
            ]
        );
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       16 kB\n"), Some(16384));
        assert_eq!(total("MemTotal: many\n"), None);
    }

    #[test]
    fn a_bound_on_addresses() {
        let limits = |soft: &str| {
            format!(
                "Limit   Soft Limit  Hard Limit  Units\nMax address space         {soft}  unlimited  bytes\n"
            )
        };
        assert_eq!(addresses(&limits("1073741824")), Some(1 << 30));
        assert_eq!(addresses(&limits("unlimited")), None);
        assert_eq!(addresses(""), None);
    }

    #[test]
    fn sizes_for_people() {
        for (bytes, words) in [
            (12, "12 bytes"),
            (1_500, "1.5 kB"),
            (12_345_678, "12 MB"),
            (9_600_000_000, "9.6 GB"),
            (5_000_000_000_000_000, "5000 TB"),
        ] {
            assert_eq!(shown(bytes), words);
        }
    }
}
