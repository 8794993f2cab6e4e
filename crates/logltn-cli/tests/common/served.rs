//! `logltn dashboard`, asked without a browser: bytes in, bytes out.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::Folder;

/// A dashboard that runs until it is dropped.
pub struct Served {
    child: Child,
    pub url: String,
    pub port: u16,
}

/// An answer.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Served {
    /// Starts it on a port that is free.
    pub fn start(dir: &Path, more: &[&str]) -> Served {
        let mut child = Command::new(env!("CARGO_BIN_EXE_logltn"))
            .args(["dashboard", &dir.display().to_string(), "--port", "0"])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut url).expect("a line");
        let url = url.trim().to_string();
        let port = url
            .split('/')
            .nth(2)
            .and_then(|host| host.rsplit(':').next());
        let port = port.and_then(|port| port.parse().ok()).expect("a port");
        Served { child, url, port }
    }

    /// How much memory it takes, in bytes.
    #[cfg(target_os = "linux")]
    pub fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).expect("it runs");
        let line = text
            .lines()
            .find(|line| line.starts_with("VmHWM:"))
            .expect("a line");
        let number = line
            .split_whitespace()
            .nth(1)
            .and_then(|n| n.parse::<u64>().ok());
        1024 * number.expect("a number")
    }

    /// A connection.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let limit = Some(Duration::from_secs(600));
        stream.set_read_timeout(limit).expect("a limit");
        stream
    }

    /// Sends bytes as they are and reads to the end.
    pub fn send(&self, bytes: &[u8]) -> Answered {
        let mut stream = self.connect();
        // A server that has seen enough may close before all is said.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split_whitespace().nth(1).and_then(|s| s.parse().ok());
        Answered {
            status: status.unwrap_or(0),
            head: head.to_ascii_lowercase(),
            body: body.to_string(),
        }
    }

    /// Asks for a path, with more lines in the head.
    pub fn get_with(&self, path: &str, lines: &str) -> Answered {
        let port = self.port;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{lines}\r\n"
        );
        self.send(request.as_bytes())
    }

    /// Asks for a path.
    pub fn get(&self, path: &str) -> Answered {
        self.get_with(path, "")
    }

    /// Asks for a document.
    pub fn document(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).expect("JSON")
    }

    /// Asks a question.
    pub fn post(&self, path: &str, body: &str) -> Answered {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        self.send(request.as_bytes())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Pictures of three kinds, a network that learns to tell them apart, and an axiom that cannot hold.
pub fn pictures_project() -> Folder {
    super::project("pictures")
}

/// Trains the project to `runs/NAME`.
pub fn trained(folder: &Folder, name: &str, more: &[&str]) {
    let out = format!("runs/{name}");
    let mut arguments = vec!["train", "m.toml", "--out", &out];
    arguments.extend(more);
    let run = folder.run(&arguments);
    assert_eq!(run.status, 0, "{}", run.stderr);
}
