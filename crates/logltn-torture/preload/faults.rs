//! A library that is between a program and the C library (`LD_PRELOAD`), counts the program's calls on the files below a
//! folder, and lets one of them go wrong: with an error, half done, or with a signal before, in the middle or after.
//!
//! It sees every call, whichever crate makes it, and needs no help from the program. `build.rs` compiles it by itself, as it
//! must not be linked into anything. What it is told comes in the environment:
//!
//! | variable | says |
//! |---|---|
//! | `LOGLTN_FAULT_UNDER` | the folder, with an absolute path, as the program names it |
//! | `LOGLTN_FAULT_LOG` | where to write a line `number call` for every call that is counted |
//! | `LOGLTN_FAULT_AT` | the number of the call that goes wrong, from 1 |
//! | `LOGLTN_FAULT_HOW` | `before`, `middle`, `after` or `from`, and an errno or a signal: `middle error 28`, `after signal 9` |
//!
//! `middle` writes half of the bytes (a call that writes none is as before); with an error, that comes with the call after it,
//! as a disk that fills up does. `after` does what was asked and says that it failed, as networks do. `from` lets every later
//! call fail too: `from error 28` is a full disk, on which what needs no room continues; `from error 5` is a disk that died.

#![allow(clippy::missing_safety_doc)] // all are those of the C library

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::SeqCst};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
    fn getpid() -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn pause() -> c_int;
}

/// The next definition after ours: the C library's.
const NEXT: *mut c_void = -1_isize as *mut c_void;
const FULL: c_int = 28;
const CREATE: c_int = 0o100;
const APPEND: c_int = 0o2000;
const WRITE_ONLY: c_int = 1;

#[derive(Clone, Copy, PartialEq)]
enum When {
    Before,
    Middle,
    After,
    From,
}

#[derive(Clone, Copy)]
enum What {
    Error(c_int),
    Signal(c_int),
}

struct Told {
    under: Vec<u8>,
    log: c_int,
    fault: Option<(u64, When, What)>,
}

static COUNT: AtomicU64 = AtomicU64::new(0);
/// An error that the next call has: a write was cut short before.
static OWED: AtomicI32 = AtomicI32::new(0);
/// The descriptors of files below the folder.
static WATCHED: [AtomicBool; 1024] = [const { AtomicBool::new(false) }; 1024];

fn told() -> &'static Told {
    static TOLD: OnceLock<Told> = OnceLock::new();
    TOLD.get_or_init(|| {
        let text = |name: &str| std::env::var(name).unwrap_or_default();
        let at = text("LOGLTN_FAULT_AT").parse().ok();
        let how = text("LOGLTN_FAULT_HOW");
        let mut words = how.split(' ');
        let when = match words.next() {
            Some("before") => Some(When::Before),
            Some("middle") => Some(When::Middle),
            Some("after") => Some(When::After),
            Some("from") => Some(When::From),
            _ => None,
        };
        let (kind, number) = (words.next(), words.next().and_then(|n| n.parse().ok()));
        let what = number.map(|n| match kind {
            Some("signal") => What::Signal(n),
            _ => What::Error(n),
        });
        let log = match std::env::var_os("LOGLTN_FAULT_LOG") {
            Some(path) => {
                let path = [path.as_bytes(), b"\0"].concat();
                // SAFETY: the path ends with a zero; the C library's `open64` has this signature.
                unsafe { real_open64(path.as_ptr().cast(), WRITE_ONLY | CREATE | APPEND, 0o600) }
            }
            None => -1,
        };
        Told {
            under: std::env::var_os("LOGLTN_FAULT_UNDER")
                .map(|folder| folder.as_bytes().to_vec())
                .unwrap_or_default(),
            log,
            fault: at
                .zip(when)
                .zip(what)
                .map(|((at, when), what)| (at, when, what)),
        }
    })
}

fn is_under(path: *const c_char) -> bool {
    if path.is_null() {
        return false;
    }
    // SAFETY: callers of the C library pass strings that end with a zero.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    let under = &told().under;
    !under.is_empty() && path.starts_with(under)
}

fn is_watched(descriptor: c_int) -> bool {
    let watched = usize::try_from(descriptor)
        .ok()
        .and_then(|at| WATCHED.get(at));
    watched.is_some_and(|watched| watched.load(SeqCst))
}

fn watch(descriptor: c_int, on: bool) {
    if let Some(watched) = usize::try_from(descriptor)
        .ok()
        .and_then(|at| WATCHED.get(at))
    {
        watched.store(on, SeqCst);
    }
}

fn fail<R: From<i8>>(error: c_int) -> R {
    // SAFETY: the C library gives every thread its own place.
    unsafe { *__errno_location() = error };
    R::from(-1)
}

fn send(signal: c_int) {
    // SAFETY: to ourselves, with no memory involved.
    unsafe {
        kill(getpid(), signal);
        if signal == 9 {
            pause();
        }
    }
}

/// A call that is counted: as it is, or as it was told to go wrong. `room` if it needs room on the disk, `half` if it can be
/// done by halves.
fn call<R: From<i8>>(
    name: &str,
    room: bool,
    real: impl Fn() -> R,
    half: Option<&dyn Fn() -> R>,
) -> R {
    let number = COUNT.fetch_add(1, SeqCst) + 1;
    let told = told();
    if told.log >= 0 {
        let line = format!("{number} {name}\n");
        // SAFETY: the C library's `write`, with as many bytes as there are.
        unsafe { real_write(told.log, line.as_ptr().cast(), line.len()) };
    }
    let owed = OWED.swap(0, SeqCst);
    if owed != 0 {
        return fail(owed);
    }
    let Some((at, when, what)) = told.fault else {
        return real();
    };
    if number < at || (number > at && when != When::From) {
        return real();
    }
    let by_halves = || half.map_or_else(&real, |half| half());
    match (when, what) {
        (When::From, What::Error(FULL)) if !room => real(),
        (When::Before | When::From, What::Error(error)) => fail(error),
        (When::Before | When::From, What::Signal(signal)) => {
            send(signal);
            real()
        }
        (When::Middle, What::Error(error)) => match half {
            Some(half) => {
                OWED.store(error, SeqCst);
                half()
            }
            None => fail(error),
        },
        (When::Middle, What::Signal(signal)) => {
            let result = by_halves();
            send(signal);
            result
        }
        (When::After, What::Error(error)) => {
            real();
            fail(error)
        }
        (When::After, What::Signal(signal)) => {
            let result = real();
            send(signal);
            result
        }
    }
}

/// The C library's own function, which ours hides. The name ends with a zero.
fn next(found: &OnceLock<usize>, name: &str) -> usize {
    *found.get_or_init(|| {
        assert!(name.ends_with('\0'));
        // SAFETY: the name ends with a zero.
        let found = unsafe { dlsym(NEXT, name.as_ptr().cast()) } as usize;
        assert!(found != 0, "the C library has no {name}");
        found
    })
}

/// A function that calls the C library's of another name.
macro_rules! real {
    ($name:ident, $real:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        unsafe fn $real($($argument: $type),*) -> $result {
            static FOUND: OnceLock<usize> = OnceLock::new();
            let found = next(&FOUND, concat!(stringify!($name), "\0"));
            // SAFETY: the C library declares it with these arguments and this result. The mode of `open` is passed like any
            // argument on the systems that this is for, and ignored where it is not needed.
            let function: unsafe extern "C" fn($($type),*) -> $result = unsafe { std::mem::transmute(found) };
            // SAFETY: the caller's promises are the same.
            unsafe { function($($argument),*) }
        }
    };
}

/// Our function in the place of the C library's: `counted` says whether the call is counted, `room` whether it needs room on the
/// disk, `half` how it is done by halves.
macro_rules! between {
    ($($name:ident, $real:ident($($argument:ident: $type:ty),*) -> $result:ty, counted $counted:expr, room $room:expr $(, half $half:expr)?;)*) => { $(
        real!($name, $real($($argument: $type),*) -> $result);

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: the caller's promises are the same.
            let real = || unsafe { $real($($argument),*) };
            #[allow(unused_mut, unused_assignments)]
            let mut half: Option<&dyn Fn() -> $result> = None;
            $(
                // SAFETY: half of what the caller has is there.
                let halved = || unsafe { $half };
                half = Some(&halved);
            )?
            if $counted { call(stringify!($name), $room, real, half) } else { real() }
        }
    )* };
}

/// The same for calls that give a descriptor, which is watched from then on.
macro_rules! opening {
    ($($name:ident, $real:ident($($argument:ident: $type:ty),*), path $path:ident, flags $flags:ident;)*) => { $(
        real!($name, $real($($argument: $type),*) -> c_int);

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: the caller's promises are the same.
            let real = || unsafe { $real($($argument),*) };
            if !is_under($path) {
                return real();
            }
            let descriptor = call(stringify!($name), $flags & CREATE != 0, real, None);
            watch(descriptor, true);
            descriptor
        }
    )* };
}

opening! {
    open, real_open(path: *const c_char, flags: c_int, mode: c_uint), path path, flags flags;
    open64, real_open64(path: *const c_char, flags: c_int, mode: c_uint), path path, flags flags;
    openat, real_openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint), path path, flags flags;
    openat64, real_openat64(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint), path path, flags flags;
}

between! {
    read, real_read(file: c_int, to: *mut c_void, size: usize) -> isize, counted is_watched(file), room false, half real_read(file, to, size.div_ceil(2));
    write, real_write(file: c_int, from: *const c_void, size: usize) -> isize, counted is_watched(file), room true, half real_write(file, from, size / 2);
    fsync, real_fsync(file: c_int) -> c_int, counted is_watched(file), room true;
    fdatasync, real_fdatasync(file: c_int) -> c_int, counted is_watched(file), room true;
    ftruncate64, real_ftruncate64(file: c_int, size: i64) -> c_int, counted is_watched(file), room false;
    lseek64, real_lseek64(file: c_int, by: i64, from: c_int) -> i64, counted is_watched(file), room false;
    flock, real_flock(file: c_int, how: c_int) -> c_int, counted is_watched(file), room false;
    rename, real_rename(from: *const c_char, to: *const c_char) -> c_int, counted is_under(to), room true;
    link, real_link(from: *const c_char, to: *const c_char) -> c_int, counted is_under(to), room true;
    linkat, real_linkat(a: c_int, from: *const c_char, b: c_int, to: *const c_char, flags: c_int) -> c_int, counted is_under(to), room true;
    unlink, real_unlink(path: *const c_char) -> c_int, counted is_under(path), room false;
    mkdir, real_mkdir(path: *const c_char, mode: c_uint) -> c_int, counted is_under(path), room true;
    statx, real_statx(folder: c_int, path: *const c_char, flags: c_int, mask: c_uint, to: *mut c_void) -> c_int, counted is_under(path), room false;
    copy_file_range, real_copy_file_range(from: c_int, a: *mut i64, to: c_int, b: *mut i64, size: usize, flags: c_uint) -> isize, counted is_watched(to), room true;
}

real!(opendir, real_opendir(path: *const c_char) -> *mut c_void);
real!(close, real_close(file: c_int) -> c_int);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn opendir(path: *const c_char) -> *mut c_void {
    // SAFETY: the caller's promises are the same.
    let real = || unsafe { real_opendir(path) } as c_long;
    let result = match is_under(path) {
        true => call("opendir", false, real, None),
        false => real(),
    };
    match result {
        -1 => std::ptr::null_mut(),
        stream => stream as *mut c_void,
    }
}

/// Not counted: nobody looks at what it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(file: c_int) -> c_int {
    watch(file, false);
    // SAFETY: the caller's promises are the same.
    unsafe { real_close(file) }
}
