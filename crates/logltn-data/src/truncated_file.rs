//! Reports a memory-mapped file that becomes shorter while in use, because it was truncated or its disk or network is gone. The operating system then sends SIGBUS, which would end the program without a message.

#[cfg(target_os = "linux")]
pub use linux::say_what_was_cut;
#[cfg(target_os = "linux")]
pub(super) use linux::{Watched, watch};

/// Other systems have other signals.
#[cfg(not(target_os = "linux"))]
pub fn say_what_was_cut() {}

#[cfg(not(target_os = "linux"))]
pub(super) struct Watched;

#[cfg(not(target_os = "linux"))]
pub(super) fn watch(_: &[u8], _: &std::path::Path) -> Watched {
    Watched
}

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::path::Path;
    use std::ptr::null_mut;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};

    use logltn_diagnostics::harmless;

    /// A mapped file. Never freed, since a signal may come at any time.
    struct File {
        start: usize,
        /// 0 once it is unmapped.
        length: AtomicUsize,
        message: String,
        next: *mut File,
    }

    static NEWEST: AtomicPtr<File> = AtomicPtr::new(null_mut());
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// Registers a file while this exists.
    pub(in super::super) struct Watched(&'static AtomicUsize);

    impl Drop for Watched {
        fn drop(&mut self) {
            self.0.store(0, SeqCst);
        }
    }

    /// Registers the file behind these bytes.
    pub(in super::super) fn watch(bytes: &[u8], path: &Path) -> Watched {
        let path = path.display().to_string();
        let file = Box::into_raw(Box::new(File {
            start: bytes.as_ptr().addr(),
            length: AtomicUsize::new(bytes.len()),
            message: format!(
                "error: {}: the file was cut short, or became unreadable, while it was in use\n  \
                 help: do not change files during training; restore it, and continue with --resume\n",
                harmless(&path)
            ),
            next: null_mut(),
        }));
        loop {
            let newest = NEWEST.load(SeqCst);
            // SAFETY: it was just created, and no other thread sees it until it is published as the
            // newest.
            unsafe { (*file).next = newest };
            if NEWEST
                .compare_exchange(newest, file, SeqCst, SeqCst)
                .is_ok()
            {
                break;
            }
        }
        // SAFETY: it is never freed, and from now on it is only read.
        Watched(unsafe { &(*file).length })
    }

    /// Makes the program end with a message and status 1 when a memory-mapped file is cut short. Other causes of the signal
    /// keep their effect.
    pub fn say_what_was_cut() {
        BEFORE.get_or_init(|| {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            let mut action = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all zeros is a valid action; the handler has the form that SA_SIGINFO requires, and only reads
            // memory that is never freed, writes, and exits.
            unsafe {
                (*action.as_mut_ptr()).sa_sigaction = heard as *const () as usize;
                (*action.as_mut_ptr()).sa_flags = libc::SA_SIGINFO;
                libc::sigaction(libc::SIGBUS, action.as_ptr(), before.as_mut_ptr());
                before.assume_init()
            }
        });
    }

    extern "C" fn heard(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the system passes the address with this signal.
        let place = unsafe { (*info).si_addr() }.addr();
        let mut at = NEWEST.load(SeqCst);
        // SAFETY: files are never freed.
        while let Some(file) = unsafe { at.as_ref() } {
            if place.wrapping_sub(file.start) < file.length.load(SeqCst) {
                // SAFETY: the bytes exist; both calls are allowed in a handler.
                unsafe {
                    libc::write(2, file.message.as_ptr().cast(), file.message.len());
                    libc::_exit(1);
                }
            }
            at = file.next;
        }
        if let Some(before) = BEFORE.get() {
            // SAFETY: it is the action the system returned. The faulting read raises the signal
            // again.
            unsafe { libc::sigaction(libc::SIGBUS, before, null_mut()) };
        }
    }
}
