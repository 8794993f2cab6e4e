//! A real browser without a window, told what to do through the pipe that Chromium has for it.
//!
//! Nothing but Chromium (Debian's package will do), `sh` and `mkfifo` is needed: no Node, no driver.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    calls: u64,
    session: String,
    /// What the page complained about: exceptions, and what its policy forbade.
    pub complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

/// Where Chromium is, if it is somewhere.
fn program() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let places = names
        .iter()
        .flat_map(|name| folders.iter().map(move |f| f.join(name)));
    places.into_iter().find(|path| path.is_file())
}

impl Browser {
    /// Starts one. Where there is none, says so and gives `None`.
    pub fn start() -> Option<Browser> {
        let Some(program) = program() else {
            eprintln!(
                "\nSKIPPED: there is no Chromium, so no page was tried in a browser (Debian: apt-get install chromium)\n"
            );
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder");
        let [input, output] = ["in", "out"].map(|name| profile.path().join(name));
        let made = Command::new("mkfifo").args([&input, &output]).status();
        assert!(made.expect("mkfifo").success());
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$IN\" 4>\"$OUT\""])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
            ])
            .args([
                "--no-first-run",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!(
                "--user-data-dir={}",
                profile.path().join("profile").display()
            ))
            .env("IN", &input)
            .env("OUT", &output)
            .env("HOME", profile.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a browser");
        let to = File::options().write(true).open(&input).expect("a pipe");
        let from = BufReader::new(File::open(&output).expect("a pipe"));
        let mut browser = Browser {
            child,
            to,
            from,
            calls: 0,
            session: String::new(),
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let session = browser.call(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        );
        browser.session = session["sessionId"]
            .as_str()
            .expect("a session")
            .to_string();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.size(1280, 1000);
        Some(browser)
    }

    /// Calls a method of the browser's protocol.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.answer(method, parameters);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// What the browser answers to a call, be it a mistake.
    fn answer(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        write!(self.to, "{message}\0").expect("the browser listens");
        loop {
            let mut bytes = Vec::new();
            let read = self
                .from
                .read_until(0, &mut bytes)
                .expect("the browser speaks");
            assert!(read > 0, "the browser has gone");
            bytes.pop();
            let answer: Value = serde_json::from_slice(&bytes).expect("JSON");
            self.listen(&answer);
            if answer["id"] == json!(self.calls) {
                return answer;
            }
        }
    }

    fn listen(&mut self, message: &Value) {
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.complaints
                    .push(parameters["exceptionDetails"].to_string());
            }
            Some("Log.entryAdded") if parameters["entry"]["source"] == "security" => {
                self.complaints
                    .push(parameters["entry"]["text"].to_string());
            }
            _ => {}
        }
    }

    /// How large the page is.
    pub fn size(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
    }

    /// `light` or `dark`, as the system would prefer.
    pub fn prefer(&mut self, scheme: &str) {
        let feature = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": feature }));
    }

    /// Opens a page.
    pub fn open(&mut self, url: &str) {
        let opened = self.call("Page.navigate", json!({ "url": url }));
        assert!(opened.get("errorText").is_none(), "{url}: {opened}");
    }

    /// What an expression of JavaScript is in the page.
    pub fn get(&mut self, expression: &str) -> Value {
        self.evaluate(expression)
            .unwrap_or_else(|mistake| panic!("{expression}: {mistake}"))
    }

    /// The same, or why it has no value: an exception, or a page that was left in the meantime.
    fn evaluate(&mut self, expression: &str) -> Result<Value, Value> {
        let answer = self.answer(
            "Runtime.evaluate",
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }),
        );
        let result = &answer["result"];
        if answer.get("error").is_some() || result.get("exceptionDetails").is_some() {
            return Err(answer);
        }
        Ok(result["result"]["value"].clone())
    }

    /// Waits until an expression is true, and says how long that took. While a page is being opened there may be nothing to
    /// ask: that is not true yet, and no mistake.
    pub fn wait(&mut self, expression: &str) -> Duration {
        let began = Instant::now();
        while self.evaluate(&format!("!!({expression})")) != Ok(json!(true)) {
            if began.elapsed() > Duration::from_secs(600) {
                let text = self.get("document.body.innerText");
                panic!("in vain: {expression}\n{:?}\n{text}", self.complaints);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        began.elapsed()
    }

    /// The text of what a selector finds first.
    pub fn text(&mut self, selector: &str) -> String {
        let found = self.get(&format!(
            "document.querySelector({selector:?})?.innerText ?? ''"
        ));
        found.as_str().unwrap_or_default().to_string()
    }

    /// Presses what a selector finds first, as soon as it is there and can be pressed. Finding and pressing are one call: the
    /// page may be drawn again between two.
    pub fn press(&mut self, selector: &str) {
        self.wait(&format!(
            "((e) => e && !e.disabled && (e.click(), true))(document.querySelector({selector:?}))"
        ));
    }

    /// A picture of the page as a PNG.
    pub fn picture(&mut self) -> Vec<u8> {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        decoded(shot["data"].as_str().expect("a picture"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn decoded(base64: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for group in base64.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group
            .iter()
            .fold(0u32, |bits, c| bits << 6 | u32::from(digit(*c)));
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

/// Writes a picture for the documents, if they are to be written.
pub fn document_picture(name: &str, png: &[u8]) {
    assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000, "{name}");
    if std::env::var_os("LOGLTN_WRITE").is_some() {
        let path = super::root().join("docs/pictures").join(name);
        fs::write(path, png).expect("a picture");
    }
}
