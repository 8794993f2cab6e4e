//! Finds out whether a process is writing a run, without touching the run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A run that was written to within this time counts as running.
const RECENT: Duration = Duration::from_secs(30);

/// The two numbers of a disk, as glibc takes them apart.
#[cfg(unix)]
fn numbers(disk: u64) -> (u64, u64) {
    let major = (disk >> 8 & 0xfff) | (disk >> 32 & !0xfff);
    let minor = (disk & 0xff) | (disk >> 12 & !0xff);
    (major, minor)
}

/// Whether a disk is a device of this machine. Those of a network, or of a program, have no device: their first number is 0.
#[cfg(unix)]
pub fn is_here(disk: u64) -> bool {
    cfg!(target_os = "linux") && numbers(disk).0 != 0
}

/// The files that are locked on this machine: disk and number on it.
///
/// Trying a run's lock would be sure, but a training that starts in that moment would find it taken.
pub struct Locks(BTreeSet<(u64, u64, u64)>);

impl Locks {
    /// The current locks; none where the system does not list them.
    pub fn now() -> Locks {
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        // `1: FLOCK  ADVISORY  WRITE 1234 08:01:131090 0 EOF`
        let numbers = locks.lines().filter_map(|line| {
            let place = line
                .split_whitespace()
                .find(|word| word.matches(':').count() == 2)?;
            let mut parts = place.split(':');
            let mut disk = || u64::from_str_radix(parts.next()?, 16).ok();
            let (major, minor) = (disk()?, disk()?);
            Some((major, minor, parts.next()?.parse().ok()?))
        });
        Locks(numbers.collect())
    }

    /// Whether the run in a folder is locked.
    fn holds(&self, folder: &Path) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let Ok(lock) = fs::symlink_metadata(folder.join("run.lock")) else {
                return false;
            };
            let (major, minor) = numbers(lock.dev());
            // Virtual disks (btrfs, overlays) have several numbers, all with 0.
            (self.0.iter())
                .any(|&(a, b, file)| file == lock.ino() && a == major && (b == minor || major == 0))
        }
        #[cfg(not(unix))]
        {
            let _ = folder;
            false
        }
    }

    /// Judges a run that claims to be running but has been silent for a time: `None` if it runs, else that time.
    ///
    /// A lock is a sure sign. A run on another machine's disk has none that can be seen from here: it should have written
    /// something lately, given the time that its steps take.
    pub fn silence(
        &self,
        folder: &Path,
        quiet: Duration,
        step_time: Option<f64>,
    ) -> Option<Duration> {
        if self.holds(folder) {
            return None;
        }
        let pace = Duration::try_from_secs_f64(5.0 * step_time.unwrap_or(0.0));
        (quiet > RECENT.max(pace.unwrap_or(Duration::MAX))).then_some(quiet)
    }
}
