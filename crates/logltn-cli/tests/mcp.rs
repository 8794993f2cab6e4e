//! `logltn mcp`, spoken to as a client does.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::common::Folder;

struct Client {
    folder: Folder,
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    fn new(arguments: &[&str]) -> Client {
        let folder = Folder::new(&[
            (
                "t.ltn",
                b"sort P\npredicate good(P)\naxiom all: forall x: P. good(x)\n",
            ),
            ("p.csv", b"a,b\n0.1,1\n0.9,0\n"),
            (
                "m.toml",
                b"theory = \"t.ltn\"\n[sorts]\nP = { features = \"p.csv\" }\n[predicates]\n\
                  good = { network = { mlp = [4] }, output = \"sigmoid\" }\n[train]\nsteps = 3\n",
            ),
        ]);
        let mut server = Command::new(env!("CARGO_BIN_EXE_logltn"))
            .arg("mcp")
            .args(arguments)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        Client {
            folder,
            input: server.stdin.take(),
            output: BufReader::new(server.stdout.take().expect("output")),
            server,
            asked: 0,
        }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("open"), "{line}").expect("the server listens");
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).expect("JSON")
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        );
        let answer = self.answer();
        assert_eq!(
            (&answer["id"], &answer["jsonrpc"]),
            (&json!(id), &json!("2.0"))
        );
        answer
    }

    /// Calls a tool: its text, and whether it failed.
    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        );
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}"));
        (text.to_string(), result["isError"] == true)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let status = self.server.wait().expect("it ends");
        assert!(status.success() || std::thread::panicking());
    }
}

#[test]
fn a_session() {
    let mut client = Client::new(&[]);
    let begun = client.ask("initialize", json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } }));
    assert_eq!(begun["result"]["protocolVersion"], "2025-03-26");
    assert!(
        begun["result"]["instructions"]
            .as_str()
            .is_some_and(|card| card.contains("Ten examples"))
    );
    // A notification has no answer: the next one is that of the ping.
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    let tools = client.ask("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().expect("tools").clone();
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    for name in ["check", "query", "explain", "train"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(
        tools
            .iter()
            .all(|tool| tool["inputSchema"]["type"] == "object")
    );

    let (text, failed) = client.call("check", json!({ "manifest": "m.toml" }));
    let document: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    assert!(!failed && document["axioms"].is_array(), "{text}");
    let (text, failed) = client.call(
        "check",
        json!({ "theory": "sort A\npredicate P(A)\naxiom a: forall x: A. Q(x)" }),
    );
    assert!(failed && text.contains("unknown-predicate"), "{text}");
    let (text, failed) = client.call("check", json!({ "theory": "predicate P()\naxiom a: P()" }));
    assert!(!failed && text.contains("\"ok\":true"), "{text}");

    let (text, failed) = client.call(
        "train",
        json!({ "manifest": "m.toml", "out": "run", "steps": 3 }),
    );
    assert!(
        !failed
            && client
                .folder
                .path()
                .join("run/weights.safetensors")
                .exists(),
        "{text}"
    );
    let (text, failed) = client.call(
        "explain",
        json!({ "manifest": "m.toml", "run": "run", "top": 1 }),
    );
    assert!(!failed && text.contains("\"worst\""), "{text}");
    // A formula that looks like a flag is one that is wrong, not a flag.
    let (text, failed) = client.call(
        "query",
        json!({ "manifest": "m.toml", "formula": "--help", "run": "run" }),
    );
    assert!(failed && text.contains("\"errors\""), "{text}");
    let (text, failed) = client.call("check", json!({ "manifest": "nothing.toml" }));
    assert!(failed && text.contains("file-not-found"), "{text}");
}

#[test]
fn mistakes_have_answers() {
    let mut client = Client::new(&[]);
    client.send("nonsense");
    assert_eq!(client.answer()["error"]["code"], -32700);
    client.send("");
    for strange in ["[]", "null", "3", "\"ping\"", "[[]]"] {
        client.send(strange);
        let answer = client.answer();
        let answer = answer.get(0).unwrap_or(&answer);
        assert_eq!(answer["error"]["code"], -32600, "{strange}: {answer}");
    }
    client.send(r#"[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":8,"method":"ping"}]"#);
    let ids = client.answer();
    assert_eq!(
        (&ids[0]["id"], &ids[1]["id"], ids.as_array().map(Vec::len)),
        (&json!(7), &json!(8), Some(2))
    );
    // An answer stays short, whatever the theory.
    let (text, failed) = client.call("check", json!({ "theory": "sort A\n".repeat(2_000) }));
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let more = document["more"].as_u64();
    assert!(failed && more >= Some(1_800), "{more:?}");
    assert_eq!(client.ask("nothing", json!({}))["error"]["code"], -32601);
    for params in [
        json!({}),
        json!({ "name": "remove" }),
        json!({ "name": "check" }),
        json!({ "name": "check", "arguments": [] }),
        json!({ "name": "check", "arguments": { "manifest": 3 } }),
        json!({ "name": "check", "arguments": { "manifest": "m.toml", "theory": "" } }),
        json!({ "name": "query", "arguments": { "manifest": "m.toml" } }),
        json!({ "name": "query", "arguments": { "manifest": "m.toml", "formula": "P()", "top": -1 } }),
        json!({ "name": "train", "arguments": { "manifest": "m.toml", "out": "r", "steps": 1, "force": true } }),
    ] {
        let answer = client.ask("tools/call", params.clone());
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
}

#[test]
fn a_tool_that_takes_too_long_is_stopped() {
    let mut client = Client::new(&["--seconds", "1"]);
    let (text, failed) = client.call(
        "train",
        json!({ "manifest": "m.toml", "out": "run", "steps": 1_000_000_000_u64 }),
    );
    assert!(failed && text.contains("stopped after 1 seconds"), "{text}");
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}
