//! The Model Context Protocol over standard input and output: JSON-RPC, one message a line.

mod tools;

use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

use serde_json::{Value, json};

/// The newest supported version of the protocol; the parts used here have not changed since the first.
const VERSION: &str = "2025-06-18";
const VERSIONS: [&str; 3] = [VERSION, "2025-03-26", "2024-11-05"];

/// The longest message that is read.
const LONGEST: u64 = 1 << 22;

/// Answers messages until the client disconnects. A tool may run for at most `limit`.
pub fn serve(limit: Duration) -> io::Result<()> {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        if (&mut input).take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let answer = match serde_json::from_slice::<Value>(&line) {
            Ok(Value::Array(batch)) if !batch.is_empty() => {
                let answers = batch.iter().filter_map(|message| answer(message, limit));
                let answers: Vec<Value> = answers.collect();
                (!answers.is_empty()).then_some(Value::Array(answers))
            }
            Ok(message) => answer(&message, limit),
            Err(_) if line.iter().all(u8::is_ascii_whitespace) => None,
            Err(problem) => {
                // The rest of a message that is too long would be read as another one.
                if !line.ends_with(b"\n") {
                    return Err(io::Error::other("a message is too long or was cut off"));
                }
                Some(failure(
                    &Value::Null,
                    -32700,
                    &format!("not JSON: {problem}"),
                ))
            }
        };
        if let Some(answer) = answer {
            let mut out = io::stdout().lock();
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
}

fn failure(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// The response to a request; notifications and stray responses get none.
fn answer(message: &Value, limit: Duration) -> Option<Value> {
    if !message.is_object() {
        return Some(failure(&Value::Null, -32600, "a message is an object"));
    }
    let id = message.get("id")?;
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        return (message.get("result").is_none() && message.get("error").is_none())
            .then(|| failure(id, -32600, "a request has a `method`"));
    };
    let parameters = &message["params"];
    let result = match method {
        "initialize" => Ok(beginning(parameters)),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": tools::list() })),
        "tools/call" => tools::call(parameters, limit).map_err(|message| (-32602, message)),
        _ => Err((-32601, format!("unknown method `{method}`"))),
    };
    Some(match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, message)) => failure(id, code, &message),
    })
}

fn beginning(parameters: &Value) -> Value {
    let wanted = parameters["protocolVersion"].as_str();
    let version = (wanted.filter(|wanted| VERSIONS.contains(wanted))).unwrap_or(VERSION);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "logltn", "version": env!("CARGO_PKG_VERSION") },
        "instructions": crate::topics::LANGUAGE,
    })
}
