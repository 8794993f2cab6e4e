//! The dashboard over a disk of another machine: nothing is told by the system, times are coarse and of another clock, files
//! are replaced and written by halves, and reading fails now and then.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::mounted::Mounted;
use crate::common::served::{Served, pictures_project, trained};
use serde_json::{Value, json};

/// A process until it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What an open page was told.
#[derive(Default)]
struct Heard {
    runs: BTreeMap<String, Value>,
    /// Runs that were said to be gone, or to be unreadable.
    lost: Vec<String>,
}

/// Listens as a page does.
fn listen(served: &Served) -> Arc<Mutex<Heard>> {
    let mut stream = served.connect();
    let port = served.port;
    write!(
        stream,
        "GET /api/events HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
    )
    .expect("it listens");
    let heard = Arc::new(Mutex::new(Heard::default()));
    let hearing = Arc::clone(&heard);
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let Some(news) = line.strip_prefix("data: ") else {
                continue;
            };
            let news: Value = serde_json::from_str(news).expect("JSON");
            let mut heard = hearing.lock().expect("no thread failed");
            for run in ["all", "changed"]
                .iter()
                .filter_map(|key| news[key].as_array())
                .flatten()
            {
                let id = run["id"].as_str().expect("a name").to_string();
                if run["state"] == "unreadable" {
                    heard.lost.push(run.to_string());
                }
                heard.runs.insert(id, run.clone());
            }
            for id in news["gone"].as_array().into_iter().flatten() {
                heard.lost.push(id.to_string());
            }
        }
    });
    heard
}

/// Waits until a run is told like that, and says how long it took.
fn until(heard: &Mutex<Heard>, run: &str, what: impl Fn(&Value) -> bool) -> Duration {
    let began = Instant::now();
    loop {
        let heard = heard.lock().expect("no thread failed");
        if heard.runs.get(run).is_some_and(&what) {
            return began.elapsed();
        }
        assert!(
            began.elapsed() < Duration::from_secs(600),
            "{run} is {:?}",
            heard.runs.get(run)
        );
        drop(heard);
        thread::sleep(Duration::from_millis(20));
    }
}

/// The last step that is written, on the other machine.
fn written(run: &Path) -> u64 {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    text.matches('\n').count() as u64
}

fn step(run: &Value) -> u64 {
    run["step"].as_u64().unwrap_or(0)
}

#[test]
fn runs_on_a_disk_of_another_machine_are_followed() {
    let there = pictures_project();
    // A letter that takes two bytes, so that lines can be cut in the middle of one.
    let theory = there.read("t.ltn");
    there.write(
        "t.ltn",
        theory.replace("axiom some:", "axiom größe:").as_bytes(),
    );
    trained(&there, "done", &["--steps", "30"]);
    let runs = there.path().join("runs");
    let Some(disk) = Mounted::new(there.path()) else {
        return;
    };
    let served = Served::start(&disk.path().join("runs"), &[]);
    let heard = listen(&served);
    until(&heard, "done", |run| run["state"] == "finished");

    // A training there appears and moves here.
    let live = Running(
        Command::new(env!("CARGO_BIN_EXE_logltn"))
            .args(["train", "m.toml", "--out", "runs/live", "--threads", "1"])
            .args(["--steps", "100000000"])
            .current_dir(there.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs"),
    );
    until(&heard, "live", |run| {
        run["state"] == "running" && step(run) > 0
    });
    let moved = || {
        let now = written(&runs.join("live")) + 1;
        until(&heard, "live", |run| step(run) >= now)
    };
    let took: Vec<Duration> = (0..5).map(|_| moved()).collect();
    eprintln!("steps that were written there were here after {took:?}");
    // A machine that has other things to do may be slow; one that waits for something is so each time.
    assert!(
        took.iter().min() < Some(&Duration::from_secs(60)),
        "{took:?}"
    );
    // Its lock is not seen here, and its clock is five minutes behind: it lives because it moves.
    assert_eq!(heard.lock().unwrap().runs["live"]["state"], "running");

    // Lines that come by halves, also of a letter.
    let hand = runs.join("hand");
    fs::create_dir(&hand).unwrap();
    for name in ["manifest.toml", "theory.ltn", "weights.safetensors"] {
        fs::copy(runs.join("done").join(name), hand.join(name)).unwrap();
    }
    let text = fs::read(runs.join("done/metrics.jsonl")).unwrap();
    let line_ends: Vec<usize> = (0..text.len()).filter(|at| text[*at] == b'\n').collect();
    let letter = (line_ends[9]..text.len())
        .find(|at| text[*at] == 0xc3)
        .expect("the first half of a letter");
    assert!(letter < line_ends[10]);
    let info: Value =
        serde_json::from_slice(&fs::read(runs.join("done/run.json")).unwrap()).unwrap();
    let mut info = info.as_object().unwrap().clone();
    info.remove("check");
    info.remove("whole");
    info.insert("status".into(), json!("running"));
    let put_into = |run: &Path, info: &serde_json::Map<String, Value>| {
        fs::write(runs.join("new"), Value::from(info.clone()).to_string()).unwrap();
        fs::rename(runs.join("new"), run.join("run.json")).unwrap();
    };
    let put = |info: &serde_json::Map<String, Value>| put_into(&hand, info);
    fs::write(hand.join("metrics.jsonl"), &text[..=letter]).unwrap();
    put(&info);
    until(&heard, "hand", |run| step(run) == 10);
    let first = served.document("/api/curves?run=hand");
    assert_eq!(first["step"], json!(10));
    fs::write(hand.join("metrics.jsonl"), &text[..=line_ends[14]]).unwrap();
    until(&heard, "hand", |run| step(run) == 15);
    let more = format!(
        "/api/curves?run=hand&generation={}&after=10",
        first["generation"]
    );
    let more = served.document(&more);
    assert_eq!(
        (&more["step"], &more["series"][0]["from"]),
        (&json!(15), &json!(10))
    );

    // The same length within the same second, again and again: what was last is shown in the end.
    for seed in 1..=9 {
        info.insert("seed".into(), json!(seed));
        put(&info);
        thread::sleep(Duration::from_millis(70));
    }
    until(&heard, "hand", |run| run["seed"] == "9");

    // A disk that cannot replace a file atomically has none for a moment.
    fs::remove_file(hand.join("run.json")).unwrap();
    thread::sleep(Duration::from_millis(2500));
    info.insert("title".into(), json!("again"));
    put(&info);
    until(&heard, "hand", |run| run["title"] == "again");

    // What breaks an axiom, from there.
    let answer = served.post("/api/explain", r#"{"run": "done", "axiom": "no_rows"}"#);
    assert_eq!(answer.status, 200, "{}", answer.body);

    // Now and then something fails.
    disk.stumble(7);
    fs::write(hand.join("metrics.jsonl"), &text[..=line_ends[19]]).unwrap();
    until(&heard, "hand", |run| step(run) == 20);
    let took: Vec<Duration> = (0..5).map(|_| moved()).collect();
    eprintln!("while reading fails, they were here after {took:?}");
    drop(live);
    let began = Instant::now();
    let last = written(&runs.join("live"));
    while served.get("/api/curves?run=live").status != 200 {
        assert!(began.elapsed() < Duration::from_secs(600));
    }
    until(&heard, "live", |run| step(run) == last);
    disk.stumble(0);
    let curves = served.document("/api/curves?run=live");
    assert_eq!(
        (&curves["step"], &curves["records"]),
        (&json!(last), &json!(last))
    );

    // A run that has ended is looked at less closely after a while; if it continues, that is seen as soon.
    info.insert("status".into(), json!("finished"));
    let took: Vec<Duration> = (1..=3)
        .map(|round| {
            thread::sleep(Duration::from_millis(4500));
            let title = format!("round {round}");
            info.insert("title".into(), json!(title));
            put_into(&runs.join("done"), &info);
            until(&heard, "done", |run| run["title"] == title[..])
        })
        .collect();
    eprintln!("what happened to a run at rest was here after {took:?}");
    assert!(
        took.iter().min() < Some(&Duration::from_secs(60)),
        "{took:?}"
    );

    // None of it has made a run look lost, and nobody has tried to write there.
    assert_eq!(heard.lock().unwrap().lost, Vec::<String>::new());
    assert_eq!(disk.writes(), Vec::<u32>::new());
    // One that is really gone is.
    fs::remove_dir_all(&hand).unwrap();
    let began = Instant::now();
    while !heard
        .lock()
        .unwrap()
        .lost
        .iter()
        .any(|run| run.contains("hand"))
    {
        assert!(
            began.elapsed() < Duration::from_secs(600),
            "it is still there"
        );
        thread::sleep(Duration::from_millis(50));
    }
}
