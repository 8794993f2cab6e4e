//! `logltn dashboard`: what it answers, and what it refuses.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::common::served::{Served, pictures_project, trained};
use serde_json::{Value, json};

/// Every file under a folder with its time and content.
fn everything(dir: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(folder) = open.pop() {
        let time = fs::metadata(&folder).unwrap().modified().unwrap();
        found.insert(folder.clone(), (time, Vec::new()));
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap();
            match kind.is_dir() {
                true => open.push(path),
                false => {
                    let bytes = fs::read(&path).unwrap_or_default();
                    found.insert(path, (kind.modified().unwrap(), bytes));
                }
            }
        }
    }
    found
}

#[test]
fn runs_are_shown_explained_and_asked() {
    let folder = pictures_project();
    trained(&folder, "deep/a", &["--seed", "1"]);
    trained(&folder, "deep/b", &["--seed", "2"]);
    trained(&folder, "c", &["--steps", "30"]);
    let runs = folder.path().join("runs");
    let before = everything(&runs);
    let served = Served::start(&runs, &[]);
    let list = served.document("/api/runs");
    let ids: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["c", "deep/a", "deep/b"]);
    let (c, a, b) = (&list[0], &list[1], &list[2]);
    assert_eq!(
        (&a["state"], &a["step"], &a["total"]),
        (&json!("finished"), &json!(200), &json!(200))
    );
    assert_eq!((&a["seed"], &c["total"]), (&json!("1"), &json!(30)));
    assert_eq!(a["group"], b["group"], "they differ in the seed only");
    assert_ne!(a["group"], c["group"]);
    assert_eq!(a["metrics"][0][0], "accuracy(kind)");

    let curves = served.document("/api/curves?run=deep%2Fa");
    let series: BTreeMap<&str, &Value> = (curves["series"].as_array().unwrap().iter())
        .map(|s| (s["key"].as_str().unwrap(), s))
        .collect();
    for key in [
        "loss",
        "sat",
        "gradient norm",
        "step time",
        "axiom:no_rows",
        "metric:accuracy(kind)",
        "learning rate",
        "α",
    ] {
        assert!(series.contains_key(key), "{key}: {:?}", series.keys());
    }
    assert_eq!(series["loss"]["x"].as_array().unwrap().len(), 200);
    assert_eq!(
        series["metric:accuracy(kind)"]["x"]
            .as_array()
            .unwrap()
            .len(),
        10
    );
    // The schedules are what training used: from their first value to their last.
    for (key, first, last) in [("learning rate", 0.01, 0.001), ("α", 1.0, 4.0)] {
        let y = series[key]["y"].as_array().unwrap();
        assert_eq!(
            (y[0].as_f64(), y[199].as_f64()),
            (Some(first), Some(last)),
            "{key}"
        );
    }
    // What is new after a step is little, and nothing after the last.
    let generation = &curves["generation"];
    let more = served.document(&format!(
        "/api/curves?run=deep%2Fa&generation={generation}&after=198"
    ));
    assert_eq!(
        (&more["series"][0]["from"], &more["series"][0]["x"]),
        (&json!(198), &json!([199.0, 200.0]))
    );
    let other = served.document("/api/curves?run=deep%2Fa&generation=999&after=198");
    assert_eq!(
        other["series"][0]["from"],
        json!(0),
        "another generation is told all"
    );
    let part = served.document("/api/stretch?run=deep%2Fa&from=50&to=59");
    assert_eq!(part["series"][0]["x"].as_array().unwrap().len(), 10);

    let details = served.document("/api/details?run=c");
    assert_eq!(details["told"]["train.steps"], json!(30));
    let rule = &details["formulas"]["no_rows"];
    assert_eq!(
        rule["written"],
        "forall x: Image. kind(x, row) -> kind(x, column)"
    );
    assert!(
        rule["normal"]
            .as_str()
            .unwrap()
            .contains("not kind(x, row) or"),
        "{rule}"
    );
    let axioms = details["axioms"].as_array().unwrap();
    let no_rows = axioms.iter().find(|a| a["name"] == "no_rows").unwrap();
    assert_eq!(
        (&no_rows["groundings"], &no_rows["weight"]),
        (&json!(12), &json!(1.0))
    );

    // The same as the program says.
    let answer = served.post("/api/explain", r#"{"run": "deep/a", "axiom": "no_rows"}"#);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let told: Value = serde_json::from_str(&answer.body).unwrap();
    let said = folder.run(&[
        "explain",
        "m.toml",
        "--run",
        "runs/deep/a",
        "--axiom",
        "no_rows",
        "--json",
    ]);
    let said = said.json();
    let (worst, expected) = (&told[0]["worst"][0], &said["axioms"][0]["worst"][0]);
    assert_eq!(told[0]["worst"].as_array().unwrap().len(), 10);
    assert_eq!(
        worst["binding"],
        format!("x = {}", expected["binding"]["x"])
    );
    let degree = expected["truth"].as_f64().unwrap().exp();
    assert!(
        (worst["truth"].as_f64().unwrap() - degree).abs() < 1e-12,
        "{worst}"
    );
    assert_eq!(worst["literals"][0][0], expected["literals"][0]["literal"]);
    let picture = &worst["pictures"][0];
    assert!(
        picture["source"]
            .as_str()
            .unwrap()
            .starts_with("data:image/png;base64,iVBOR")
    );
    assert!(
        picture["title"].as_str().unwrap().contains("kind row"),
        "{picture}"
    );

    let answer = served.post(
        "/api/query",
        r#"{"run": "deep/a", "formula": "find x: Image, k: Kind. kind(x, k)"}"#,
    );
    let told: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(told["total"], json!(36));
    let truths: Vec<f64> = (told["answers"].as_array().unwrap().iter())
        .map(|a| a["truth"].as_f64().unwrap())
        .collect();
    assert!(
        truths.len() == 20 && truths.is_sorted_by(|a, b| a >= b),
        "{truths:?}"
    );
    let wide = "find a: Image, b: Image, c: Image, d: Image, e: Image, f: Image, g: Image, h: Image, i: Image. kind(a, row)";
    let wide = served.post(
        "/api/query",
        &json!({ "run": "deep/a", "formula": wide }).to_string(),
    );
    assert!(
        wide.status == 422 && wide.body.contains("groundings, too many to wait for"),
        "{wide:?}"
    );
    let wrong = served.post(
        "/api/query",
        r#"{"run": "deep/a", "formula": "forall x: Image.\n knd(x, row)"}"#,
    );
    assert_eq!(wrong.status, 422);
    let errors: Value = serde_json::from_str(&wrong.body).unwrap();
    let error = &errors["errors"][0];
    assert_eq!(
        (&error["line"], &error["column"], &error["length"]),
        (&json!(2), &json!(2), &json!(3)),
        "{error}"
    );
    assert_eq!(
        (&error["code"], &error["file"]),
        (&json!("unknown-predicate"), &json!("query"))
    );

    let networks = served.document("/api/networks?run=deep%2Fa");
    let kind = &networks[0];
    assert_eq!(
        kind["confusion"]["labels"],
        json!(["row", "column", "diagonal"])
    );
    assert_eq!(kind["confusion"]["total"], json!(12));
    let accuracy = a["metrics"][0][1].as_f64().unwrap();
    assert_eq!(
        kind["confusion"]["right"].as_f64().unwrap() / 12.0,
        accuracy
    );
    assert_eq!(kind["points"]["x"].as_array().unwrap().len(), 12);

    // The list is told by itself.
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
    trained(&folder, "d", &["--steps", "30"]);
    hear("\"id\":\"d\"");
    fs::remove_dir_all(runs.join("d")).unwrap();
    hear("\"gone\":[\"d\"]");

    // Nothing of it has written anything.
    let mut after = everything(&runs);
    after.insert(runs.clone(), before[&runs].clone()); // where `d` came and went
    assert!(before == after, "a run was changed");
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

#[test]
fn mistakes_on_the_command_line() {
    let folder = pictures_project();
    for (arguments, expected) in [
        (&["dashboard", "nowhere"][..], "there is no such folder"),
        (&["dashboard", "m.toml"], "found a file"),
        (
            &["dashboard", ".", "--host", "203.0.113.1", "--port", "0"],
            "203.0.113.1:0: it cannot be served there",
        ),
        (
            &["dashboard", ".", "--export", "out.html"],
            "there is no run in the folder",
        ),
        (
            &["dashboard", ".", "--export", "out.html", "--port", "1"],
            "cannot be used with",
        ),
        (&["dashboard", ".", "--port", "70000"], "65535"),
    ] {
        let run = folder.refuses(arguments);
        assert!(
            run.stderr.contains(expected),
            "{arguments:?}: {}",
            run.stderr
        );
    }
    trained(&folder, "a", &["--steps", "3"]);
    let served = Served::start(folder.path(), &[]);
    let taken = folder.run(&["dashboard", ".", "--port", &served.port.to_string()]);
    assert!(
        taken.status == 2
            && taken.stderr.contains("it cannot be served there")
            && taken.stderr.contains("--port"),
        "{}",
        taken.stderr
    );
    let inside = folder.run(&["dashboard", ".", "--export", "runs/a/out.html"]);
    assert!(
        inside.status == 2 && inside.stderr.contains("would be inside a run"),
        "{}",
        inside.stderr
    );
}

#[test]
fn an_export_holds_what_the_page_shows() {
    let folder = pictures_project();
    trained(&folder, "a", &["--steps", "60"]);
    trained(&folder, "b", &["--steps", "60", "--seed", "5"]);
    let before = everything(&folder.path().join("runs"));
    let run = folder.run(&["dashboard", "runs", "--export", "all.html"]);
    assert_eq!(
        (run.status, &run.stdout[..]),
        (0, "dashboard all.html\n"),
        "{}",
        run.stderr
    );
    assert!(
        before == everything(&folder.path().join("runs")),
        "a run was changed"
    );
    let page = folder.read("all.html");
    let data = page
        .split("id=\"data\">")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next())
        .unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["runs"].as_array().unwrap().len(), 2);
    assert_eq!(data["curves"]["b"]["step"], json!(60));
    assert_eq!(data["explained"]["a"]["no_rows"]["groundings"], json!(12));
    assert_eq!(data["networks"]["a"][0]["confusion"]["total"], json!(12));
    assert!(
        data["details"]["a"]["theory"]
            .as_str()
            .unwrap()
            .contains("axiom some")
    );
}
