//! Handles Ctrl-C and SIGTERM for commands that have something to save. Other commands just end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::console;

/// How many [`Unsaved`] there are.
static UNSAVED: AtomicUsize = AtomicUsize::new(0);

/// How long a command without unsaved work may take to print a last message.
const WORDS: Duration = Duration::from_millis(500);

/// Unsaved work, such as the steps since a checkpoint: while there is some, the first Ctrl-C waits.
pub struct Unsaved(());

impl Unsaved {
    /// From now on.
    pub fn new() -> Unsaved {
        UNSAVED.fetch_add(1, Ordering::SeqCst);
        Unsaved(())
    }
}

impl Drop for Unsaved {
    fn drop(&mut self) {
        UNSAVED.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A flag that the first Ctrl-C sets. Commands with unsaved work check it and are waited for; without unsaved work the
/// program ends. A second Ctrl-C ends it at once.
pub fn asks_to_stop() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    // Without a handler Ctrl-C ends the program; a checkpoint is there anyway.
    let _ = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        // On a line of its own: the terminal has put `^C` behind the progress bar.
        console::complain("\nstopping; Ctrl-C again ends at once\n");
        // Not on this thread, which listens for the second Ctrl-C.
        let _ = std::thread::Builder::new().spawn(end_when_saved);
    });
    stop
}

fn end_when_saved() {
    loop {
        while UNSAVED.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(WORDS);
        if UNSAVED.load(Ordering::SeqCst) == 0 {
            std::process::exit(130);
        }
    }
}
