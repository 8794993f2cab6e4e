//! Changes, pushed to every open page as they happen.
//!
//! Files are polled, since remote disks send no events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use logltn_report::ListedRun;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::discover::Runs;

/// How many pages may listen at once.
const MOST_PAGES: usize = 16;
/// How many events may wait for a page that does not read them; beyond that it is disconnected and reconnects.
const MOST_WAITING: usize = 64;
/// How often is looked: looking should take half a hundredth of the time, so that a training beside it has the rest; but what
/// is new is seen within two seconds, unless looking alone takes a tenth of that.
const EVERY: Duration = Duration::from_millis(1000);
const SELDOM: Duration = Duration::from_millis(1200);
/// How often a page gets a sign of life, so that dead connections are noticed.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The runs, and the pages that follow them.
pub struct Watched {
    runs: Mutex<Runs>,
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    told: BTreeMap<String, ListedRun>,
    open: Vec<mpsc::Sender<Bytes>>,
}

/// A thread that panicked leaves this state consistent.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Watched {
    /// Begins to watch, for as long as the program runs. Nothing is looked at while no page is open.
    pub fn new(runs: Runs) -> Arc<Watched> {
        let watched = Arc::new(Watched {
            runs: Mutex::new(runs),
            pages: Mutex::default(),
        });
        let watching = Arc::downgrade(&watched);
        thread::spawn(move || {
            let mut beat = Instant::now();
            let mut pause = EVERY;
            loop {
                thread::sleep(pause);
                let Some(watched) = watching.upgrade() else {
                    return;
                };
                if locked(&watched.pages).open.is_empty() {
                    continue;
                }
                let began = Instant::now();
                watched.look();
                watched.tell_changes();
                if beat.elapsed() > HEARTBEAT {
                    beat = Instant::now();
                    watched.tell("alive", &json!({}));
                }
                let took = began.elapsed();
                pause = (200 * took).clamp(EVERY, SELDOM.max(10 * took));
            }
        });
        watched
    }

    /// The runs, as they were last seen.
    pub fn runs(&self) -> MutexGuard<'_, Runs> {
        locked(&self.runs)
    }

    /// Scans the folder again.
    pub fn look(&self) {
        self.runs().scan();
    }

    /// Subscribes a new page: first everything, then changes. `None` if too many pages listen.
    pub fn listen(&self) -> Option<mpsc::Receiver<Bytes>> {
        self.look();
        self.tell_changes();
        let mut pages = locked(&self.pages);
        pages.open.retain(|page| !page.is_closed());
        if pages.open.len() >= MOST_PAGES {
            return None;
        }
        let (page, receiver) = mpsc::channel(MOST_WAITING);
        let all: Vec<&ListedRun> = pages.told.values().collect();
        page.try_send(event("runs", &json!({ "all": all }))).ok()?;
        pages.open.push(page);
        Some(receiver)
    }

    fn tell_changes(&self) {
        let mut runs = self.runs();
        let news = runs.news();
        let mut pages = locked(&self.pages);
        let changed: Vec<&ListedRun> = (news.iter().filter_map(|name| runs.get(name)))
            .filter(|run| pages.told.get(&run.id) != Some(run))
            .collect();
        let gone: Vec<&String> = (news.iter())
            .filter(|name| runs.get(name).is_none() && pages.told.contains_key(*name))
            .collect();
        if changed.is_empty() && gone.is_empty() {
            return;
        }
        let message = event("runs", &json!({ "changed": changed, "gone": gone }));
        pages
            .open
            .retain(|page| page.try_send(message.clone()).is_ok());
        for name in gone {
            pages.told.remove(name);
        }
        for run in changed {
            pages.told.insert(run.id.clone(), run.clone());
        }
    }

    fn tell(&self, name: &str, data: &Value) {
        let message = event(name, data);
        (locked(&self.pages).open).retain(|page| page.try_send(message.clone()).is_ok());
    }
}

/// JSON has no line breaks of its own, so it is one line.
fn event(name: &str, data: &Value) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}
