//! `logltn dashboard`: what it refuses, and what changes while it runs; what it answers is in `cases/dashboard.case`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::common::served::{Served, pictures_project, trained};
use serde_json::{Value, json};

#[test]
fn runs_that_come_and_go_are_told() {
    let folder = pictures_project();
    trained(&folder, "c", &["--steps", "3"]);
    let runs = folder.path().join("runs");
    let served = Served::start(&runs, &[]);
    let mut events = served.connect();
    write!(
        events,
        "GET /api/events HTTP/1.1\r\nHost: localhost:{}\r\n\r\n",
        served.port
    )
    .unwrap();
    let mut heard = String::new();
    let mut hear = |wanted: &str| {
        let began = Instant::now();
        while !heard.contains(wanted) {
            let mut bytes = [0; 4096];
            let read = events.read(&mut bytes).expect("events");
            heard += &String::from_utf8_lossy(&bytes[..read]);
            assert!(
                read > 0 && began.elapsed() < Duration::from_secs(600),
                "{heard}"
            );
        }
    };
    hear("\"all\":[");
    trained(&folder, "d", &["--steps", "3"]);
    hear("\"id\":\"d\"");
    fs::remove_dir_all(runs.join("d")).unwrap();
    hear("\"gone\":[\"d\"]");
}

#[test]
fn runs_that_are_cut_back_begin_anew() {
    let folder = pictures_project();
    trained(&folder, "a", &[]);
    let runs = folder.path().join("runs");
    let served = Served::start(&runs, &[]);
    let records = runs.join("a/metrics.jsonl");
    let text = fs::read_to_string(&records).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // A line that is not yet written to its end is not a line.
    fs::write(
        &records,
        format!("{}{}", lines[..100].concat(), &lines[100][..40]),
    )
    .unwrap();
    let first = served.document("/api/curves?run=a");
    assert_eq!(first["step"], json!(100));
    fs::write(&records, lines[..150].concat()).unwrap();
    let more = |generation: &Value, after: u64| {
        served.document(&format!(
            "/api/curves?run=a&generation={generation}&after={after}"
        ))
    };
    let second = more(&first["generation"], 100);
    assert_eq!(
        (
            &second["generation"],
            &second["step"],
            &second["series"][0]["from"]
        ),
        (&first["generation"], &json!(150), &json!(100))
    );
    // As after a resume: shorter, and then longer with other numbers.
    let unsealed = |line: &&str| match line.split_once(",\"check\"") {
        Some((body, _)) => format!("{body}}}\n"),
        None => line.to_string(),
    };
    let other: String = lines[..160].iter().map(unsealed).collect();
    let other = other.replace("\"step_time\":", "\"step_time\":1");
    fs::write(&records, other).unwrap();
    let third = more(&first["generation"], 150);
    assert_ne!(third["generation"], first["generation"]);
    assert_eq!(
        (&third["step"], &third["series"][0]["from"]),
        (&json!(160), &json!(0))
    );
    // A record that is damaged is said to be.
    fs::write(&records, text.replacen("\"loss\":", "\"loss\":1", 3)).unwrap();
    let damaged = served.get("/api/curves?run=a");
    assert_eq!(damaged.status, 422);
    assert!(damaged.body.contains("damaged"), "{}", damaged.body);
}

#[test]
fn other_pages_and_hosts_are_refused() {
    let folder = pictures_project();
    trained(&folder, "a", &["--steps", "3"]);
    let served = Served::start(&folder.path().join("runs"), &[]);
    let port = served.port;
    let good = served.get("/");
    assert_eq!(good.status, 200);
    for needed in [
        "content-security-policy: default-src 'none'; script-src 'self';",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(good.head.contains(needed), "{needed}: {}", good.head);
    }
    assert!(!good.head.contains("access-control-allow"), "{}", good.head);
    // DNS rebinding: the address is ours, the name is not.
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        &format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1:1",
    ] {
        let answer = served.send(
            format!("GET /api/runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        );
        assert_eq!(answer.status, 403, "{host}");
        assert!(!answer.body.contains("\"id\""), "{}", answer.body);
    }
    let none = served.send(b"GET /api/runs HTTP/1.0\r\n\r\n");
    assert_eq!(none.status, 403);
    let absolute = served.send(b"GET http://evil.example/api/runs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(absolute.status, 403);
    let two = served.get_with("/api/runs", "Host: evil.example\r\n");
    assert!([400, 403].contains(&two.status), "{two:?}");
    for lines in [
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Origin: https://127.0.0.1\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
    ] {
        assert_eq!(served.get_with("/api/runs", lines).status, 403, "{lines}");
    }
    let own = format!("Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(served.get_with("/api/runs", &own).status, 200);
    // What a form of another page could send.
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ] {
        let body = r#"{"run": "a", "formula": "true"}"#;
        let answer = served.send(
            format!("POST /api/query HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes(),
        );
        assert_eq!(answer.status, 415, "{kind}");
    }
    for method in ["PUT", "DELETE", "OPTIONS", "TRACE"] {
        let answer = served.send(
            format!(
                "{method} /api/runs HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
            )
            .as_bytes(),
        );
        assert_eq!(answer.status, 405, "{method}");
    }
}

#[test]
#[cfg(unix)]
fn nothing_outside_of_the_folder_is_read() {
    use std::os::unix::fs::symlink;
    const SECRET: &str = "the-secret-of-the-house";
    let folder = pictures_project();
    for name in ["a", "linked", "pipe"] {
        trained(&folder, name, &["--steps", "3"]);
    }
    // A whole run outside, and files that say a secret.
    trained(&folder, "../outside", &["--steps", "3"]);
    folder.write("secret.txt", SECRET.as_bytes());
    folder.write(
        "secret/run.json",
        format!("{{\"title\": \"{SECRET}\"}}").as_bytes(),
    );
    let runs = folder.path().join("runs");
    symlink(folder.path().join("outside"), runs.join("by_link")).unwrap();
    symlink(folder.path().join("secret"), runs.join("secret")).unwrap();
    fs::remove_file(runs.join("linked/theory.ltn")).unwrap();
    symlink(
        folder.path().join("secret.txt"),
        runs.join("linked/theory.ltn"),
    )
    .unwrap();
    fs::remove_file(runs.join("pipe/metrics.jsonl")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(runs.join("pipe/metrics.jsonl"))
        .status();
    assert!(made.unwrap().success());
    // A run that somebody else made, whose manifest names a file of ours.
    let forged = runs.join("forged");
    fs::create_dir(&forged).unwrap();
    for name in [
        "run.json",
        "weights.safetensors",
        "theory.ltn",
        "metrics.jsonl",
    ] {
        fs::copy(runs.join("a").join(name), forged.join(name)).unwrap();
    }
    let manifest = fs::read_to_string(runs.join("a/manifest.toml")).unwrap();
    let names_it = manifest.replace("labels.csv", "secret.txt");
    assert_ne!(manifest, names_it);
    fs::write(forged.join("manifest.toml"), names_it).unwrap();
    // Without what was noted of its own files, so that nothing else is in the way.
    let info: Value = serde_json::from_slice(&fs::read(forged.join("run.json")).unwrap()).unwrap();
    let mut info = info.as_object().unwrap().clone();
    info.remove("files");
    info.remove("check");
    fs::write(forged.join("run.json"), Value::from(info).to_string()).unwrap();

    let served = Served::start(&runs, &[]);
    let list = served.get("/api/runs").body;
    assert!(
        !list.contains(SECRET) && !list.contains("by_link") && !list.contains("\"secret\""),
        "{list}"
    );
    let list: Value = serde_json::from_str(&list).unwrap();
    let states: BTreeMap<&str, &str> = (list.as_array().unwrap().iter())
        .map(|run| (run["id"].as_str().unwrap(), run["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states["a"], "finished");
    assert_eq!(
        (states["linked"], states["pipe"]),
        ("unreadable", "unreadable")
    );
    let mut paths: Vec<String> = [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/a/../../secret.txt",
        "//etc/passwd",
        "/a/run.json",
        "/.git/config",
    ]
    .map(String::from)
    .into();
    let names = [
        "..",
        "../outside",
        "..%2Foutside",
        "%2e%2e/outside",
        "by_link",
        "secret",
        "linked",
        "pipe",
        "a/..",
        "./a",
        "a/",
        "a%00",
        "/etc",
        "%2Fetc",
        "a/../../outside",
        "C:%5C",
        "",
    ];
    for name in names {
        for what in ["details", "curves", "networks"] {
            paths.push(format!("/api/{what}?run={name}"));
        }
    }
    for path in paths {
        let answer = served.get(&path);
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.body.contains(SECRET), "{path}: {}", answer.body);
    }
    for path in ["/api/explain", "/api/query"] {
        for name in ["../outside", "by_link", "linked", "forged"] {
            let body = match path {
                "/api/query" => json!({ "run": name, "formula": "forall x: Image. kind(x, row)" }),
                _ => json!({ "run": name, "axiom": "some" }),
            };
            let answer = served.post(path, &body.to_string());
            assert_ne!(answer.status, 200, "{path} {name}");
            assert!(
                !answer.body.contains(SECRET),
                "{path} {name}: {}",
                answer.body
            );
        }
    }
    let answer = served.get("/api/networks?run=forged");
    assert!(
        answer.status == 422
            && answer
                .body
                .contains("has changed since the run was trained"),
        "{answer:?}"
    );
    assert_eq!(
        served.get("/api/networks?run=a").status,
        200,
        "its own data may lie elsewhere"
    );
}

#[test]
fn requests_are_bounded_in_size_and_number() {
    let folder = pictures_project();
    trained(&folder, "a", &["--steps", "3"]);
    let served = Served::start(&folder.path().join("runs"), &[]);
    let port = served.port;
    let long = "x".repeat(1 << 20);
    let head = served.get_with("/api/runs", &format!("X: {long}\r\n"));
    assert!([0, 400, 431].contains(&head.status), "{}", head.status);
    let path = served.get(&format!("/{long}"));
    assert!([0, 400, 414, 431].contains(&path.status), "{}", path.status);
    let many: String = (0..1000).map(|i| format!("X{i}: y\r\n")).collect();
    assert!([0, 400, 431].contains(&served.get_with("/api/runs", &many).status));
    let question = json!({ "run": "a", "formula": long }).to_string();
    assert_eq!(served.post("/api/query", &question).status, 413);
    for body in [
        "",
        "{",
        "[]",
        "{\"run\": 3}",
        "{\"run\": \"a\", \"more\": 1}",
        "\u{0}",
    ] {
        assert_eq!(served.post("/api/query", body).status, 400, "{body}");
    }
    for garbage in [
        &b"\x16\x03\x01\x02\x00"[..],
        b"GET\r\n\r\n",
        b"\r\n\r\n\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /api/query HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ] {
        let mut stream = served.connect();
        stream.write_all(garbage).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{garbage:?}");
    }
    // Pages that listen: some, not all.
    let listening: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = served.connect();
            write!(
                stream,
                "GET /api/events HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
            )
            .unwrap();
            let mut status = [0; 12];
            stream.read_exact(&mut status).unwrap();
            (stream, String::from_utf8_lossy(&status).into_owned())
        })
        .collect();
    let count = |status: &str| {
        listening
            .iter()
            .filter(|(_, s)| s.ends_with(status))
            .count()
    };
    assert_eq!((count("200"), count("503")), (16, 4));
    drop(listening);
    // More connections than there are, that say nothing: they are closed in the end, and others get their turn.
    let idle: Vec<_> = (0..100).map(|_| served.connect()).collect();
    let began = Instant::now();
    assert_eq!(served.get("/").status, 200);
    assert!(
        began.elapsed() < Duration::from_secs(600),
        "{:?}",
        began.elapsed()
    );
    drop(idle);
    // And some that ask for much and never read it.
    let request = format!("GET /page.js HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n").repeat(200);
    let deaf: Vec<_> = (0..70)
        .map(|_| {
            let mut stream = served.connect();
            stream
                .set_write_timeout(Some(Duration::from_secs(1)))
                .unwrap();
            let _ = stream.write_all(request.as_bytes());
            stream
        })
        .collect();
    let began = Instant::now();
    assert_eq!(served.get("/").status, 200);
    assert!(
        began.elapsed() < Duration::from_secs(600),
        "{:?}",
        began.elapsed()
    );
    drop(deaf);
}

#[test]
fn others_need_the_token() {
    let folder = pictures_project();
    trained(&folder, "a", &["--steps", "3"]);
    let runs = folder.path().join("runs");
    let served = Served::start(&runs, &["--host", "127.0.0.1"]);
    let (_, token) = served
        .url
        .split_once("/?token=")
        .expect("a token is printed");
    assert!(token.len() >= 32);
    for path in [
        "/",
        "/page.js",
        "/api/runs",
        "/api/events",
        "/?token=",
        "/?token=1",
        &format!("/?tokem={token}"),
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert!(
            !answer.body.contains(token) && !answer.body.contains("\"id\""),
            "{}",
            answer.body
        );
    }
    let answer = served.get(&format!("/?token={token}"));
    assert_eq!(answer.status, 303);
    assert!(
        answer.head.contains("location: /\r\n") || answer.head.ends_with("location: /"),
        "{}",
        answer.head
    );
    assert!(
        answer.head.contains("httponly; samesite=strict"),
        "{}",
        answer.head
    );
    let cookie = format!("Cookie: logltn={token}\r\n");
    assert_eq!(served.get_with("/", &cookie).status, 200);
    assert_eq!(served.get_with("/api/runs", &cookie).status, 200);
    assert_eq!(
        served
            .get_with("/api/runs", &format!("Authorization: Bearer {token}\r\n"))
            .status,
        200
    );
    // Not from another page, whatever it knows.
    let foreign = format!("{cookie}Origin: http://evil.example\r\n");
    assert_eq!(served.get_with("/api/runs", &foreign).status, 403);
    // Another one has another.
    let again = Served::start(&runs, &["--host", "127.0.0.1"]);
    assert!(!again.url.ends_with(token));
}

/// Without `--host` nobody else can even connect.
#[test]
#[cfg(target_os = "linux")]
fn only_this_machine_is_listened_to() {
    let folder = pictures_project();
    trained(&folder, "a", &["--steps", "3"]);
    let served = Served::start(&folder.path().join("runs"), &[]);
    let sockets = fs::read_to_string("/proc/net/tcp").unwrap()
        + &fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    let port = format!(":{:04X}", served.port);
    let listening: Vec<&str> = (sockets.lines())
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words.get(3) == Some(&"0A") && words[1].ends_with(&port)).then(|| words[1])
        })
        .collect();
    assert_eq!(listening, [format!("0100007F{port}")]);
}
