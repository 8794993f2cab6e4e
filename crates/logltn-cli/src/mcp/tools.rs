//! The tools: each runs a command of the program in a separate process, so a failure, a hang or too much memory stays there.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::CommandFactory;
use logltn::{Diagnostics, Labels, Source, Theory};
use serde_json::{Map, Value, json};

use crate::console::messages;

/// The most that a tool's answer may hold of each stream.
const MOST_OUTPUT: u64 = 1 << 20;

/// How an argument of a tool reaches the command.
enum Way {
    /// In place, by order.
    Plain,
    /// Behind a flag.
    Flag(&'static str),
}

struct Argument {
    name: &'static str,
    kind: &'static str,
    says: &'static str,
    needed: bool,
    way: Way,
}

struct Tool {
    name: &'static str,
    says: &'static str,
    arguments: &'static [Argument],
}

const fn plain(name: &'static str, says: &'static str) -> Argument {
    Argument {
        name,
        kind: "string",
        says,
        needed: true,
        way: Way::Plain,
    }
}

const fn flag(
    name: &'static str,
    kind: &'static str,
    flag: &'static str,
    says: &'static str,
) -> Argument {
    Argument {
        name,
        kind,
        says,
        needed: false,
        way: Way::Flag(flag),
    }
}

const MANIFEST: Argument = plain("manifest", "The path of the manifest, a .toml file");
const RUN: Argument = flag(
    "run",
    "string",
    "--run",
    "The folder of a run whose weights to use",
);
const TOP: Argument = flag(
    "top",
    "integer",
    "--top",
    "How many bindings to show; 0 for all",
);

const TOOLS: &[Tool] = &[
    Tool {
        name: "check",
        says: "Check a theory (as text) or a whole project (its manifest): every mistake with its place and a hint, or what each axiom means and how many groundings it has.",
        arguments: &[
            Argument {
                needed: false,
                ..MANIFEST
            },
            Argument {
                needed: false,
                ..plain("theory", "The text of a theory, instead of a manifest")
            },
        ],
    },
    Tool {
        name: "query",
        says: "How true a formula is; or, for `find x: S where GUARD. formula`, the bindings that satisfy it, best first.",
        arguments: &[
            MANIFEST,
            plain("formula", "The formula, over the symbols of the theory"),
            RUN,
            TOP,
        ],
    },
    Tool {
        name: "explain",
        says: "Which bindings violate each axiom most, and which literals are to blame.",
        arguments: &[
            MANIFEST,
            flag("axiom", "string", "--axiom", "Only this axiom"),
            RUN,
            TOP,
        ],
    },
    Tool {
        name: "identify",
        says: "Whether the axioms and the data determine what a predicate means, or whether another reading fits as well.",
        arguments: &[MANIFEST],
    },
    Tool {
        name: "train",
        says: "Train the networks of a manifest for a short while. The result is the table of axioms and metrics; the run can then be asked.",
        arguments: &[
            MANIFEST,
            Argument {
                needed: true,
                ..flag(
                    "out",
                    "string",
                    "--out",
                    "The folder for the run; it must be new or empty",
                )
            },
            Argument {
                needed: true,
                ..flag("steps", "integer", "--steps", "How many steps")
            },
            flag(
                "seed",
                "integer",
                "--seed",
                "The seed of all random numbers",
            ),
        ],
    },
];

/// Those that this program has.
fn tools() -> impl Iterator<Item = &'static Tool> {
    let program = crate::Arguments::command();
    (TOOLS.iter()).filter(move |tool| program.find_subcommand(tool.name).is_some())
}

/// What `tools/list` answers.
pub fn list() -> Vec<Value> {
    tools()
        .map(|tool| {
            let properties: Map<String, Value> = (tool.arguments.iter())
                .map(|a| (a.name.to_string(), json!({ "type": a.kind, "description": a.says })))
                .collect();
            let needed = tool.arguments.iter().filter(|a| a.needed).map(|a| a.name);
            let needed: Vec<&str> = needed.collect();
            json!({
                "name": tool.name,
                "description": tool.says,
                "inputSchema": { "type": "object", "properties": properties, "required": needed, "additionalProperties": false },
            })
        })
        .collect()
}

/// What `tools/call` answers; an error is one of the call, not of the tool.
pub fn call(parameters: &Value, limit: Duration) -> Result<Value, String> {
    let name = parameters["name"]
        .as_str()
        .ok_or("which tool? `name` is missing")?;
    let tool = tools().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| format!("there is no tool `{name}`"))?;
    let nothing = Map::new();
    let given = match &parameters["arguments"] {
        Value::Object(given) => given,
        Value::Null => &nothing,
        _ => return Err("`arguments` is an object".to_string()),
    };
    let words = words(tool, given)?;
    if name == "check" {
        match (given.get("theory"), given.get("manifest")) {
            (Some(theory), None) => return Ok(check_theory(theory.as_str().unwrap_or_default())),
            (None, Some(_)) => {}
            _ => return Err("`check` takes either `manifest` or `theory`".to_string()),
        }
    }
    Ok(run(tool, &words, limit))
}

/// The command line of a call.
fn words(tool: &Tool, given: &Map<String, Value>) -> Result<Vec<String>, String> {
    let known = |name: &String| tool.arguments.iter().any(|a| a.name == name);
    if let Some(name) = given.keys().find(|name| !known(name)) {
        return Err(format!("`{}` has no argument `{name}`", tool.name));
    }
    let mut flags = Vec::new();
    let mut plain = Vec::new();
    for argument in tool.arguments {
        let text = match (given.get(argument.name), argument.kind) {
            (None | Some(Value::Null), _) if argument.needed => {
                return Err(format!("`{}` needs `{}`", tool.name, argument.name));
            }
            (None | Some(Value::Null), _) => continue,
            (Some(Value::String(text)), "string") => text.clone(),
            (Some(Value::Number(n)), "integer") if n.is_u64() => n.to_string(),
            (Some(_), "string") => return Err(format!("`{}` is a string", argument.name)),
            (Some(_), _) => return Err(format!("`{}` is an integer, 0 or more", argument.name)),
        };
        match argument.way {
            Way::Plain => plain.push(text),
            // With `=`, a value that begins with a dash is not read as a flag.
            Way::Flag(flag) => flags.push(format!("{flag}={text}")),
        }
    }
    // After `--` nothing is read as a flag.
    flags.push("--".to_string());
    flags.extend(plain);
    Ok(flags)
}

/// How many messages about a theory an answer has; `more` says how many others there are.
const MOST_MESSAGES: usize = 100;

/// A theory by itself: no data, so individuals that the data would name are unknown.
fn check_theory(text: &str) -> Value {
    let mut found = Diagnostics::new();
    let source = Source::new("theory.ltn", text);
    let theory = Theory::parse_as_far_as_possible(source, &Labels::default(), &mut found);
    let mut shown = messages(&found);
    let more = shown.len().saturating_sub(MOST_MESSAGES);
    shown.truncate(MOST_MESSAGES);
    let document = json!({
        "ok": !found.has_errors(),
        "axioms": theory.axioms.len(),
        "messages": shown,
        "more": more,
    });
    result(&document.to_string(), found.has_errors())
}

fn result(text: &str, failed: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": failed })
}

/// Runs the command, and ends it when its time is over.
fn run(tool: &Tool, words: &[String], limit: Duration) -> Value {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return result(&format!("cannot find the program: {error}"), true),
    };
    // The Python package is run by Python. The name that Python was called by tells the environment; the file behind
    // it does not.
    let stem = program.file_stem().map(|stem| stem.to_string_lossy());
    let is_python = stem.is_some_and(|stem| stem.starts_with("python"));
    let called = std::env::args_os().next().filter(|_| is_python);
    let mut command = Command::new(called.unwrap_or(program.into_os_string()));
    if is_python {
        command.args(["-m", "logltn"]);
    }
    command.arg(tool.name);
    command.arg(format!("--memory={}", logltn_memory::limit()));
    if tool.name != "train" {
        command.arg("--json");
    }
    let streams = (command.args(words).env("NO_COLOR", "1"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = match streams.spawn() {
        Ok(child) => child,
        Err(error) => return result(&format!("cannot start `{}`: {error}", tool.name), true),
    };
    let out = child
        .stdout
        .take()
        .map(|stream| std::thread::spawn(|| read(stream)));
    let messages = child
        .stderr
        .take()
        .map(|stream| std::thread::spawn(|| read(stream)));
    let begun = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begun.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
    };
    let text = |reader: Option<std::thread::JoinHandle<String>>| {
        (reader.and_then(|reader| reader.join().ok())).unwrap_or_default()
    };
    let (mut said, complaints) = (text(out), text(messages));
    let failed = !ended.is_some_and(|status| status.success());
    if ended.is_none() {
        said += &format!(
            "stopped after {} seconds, the limit of this server\n",
            limit.as_secs()
        );
    }
    // With `--json` mistakes are in the document.
    if said.is_empty() || tool.name == "train" {
        said += &complaints;
    }
    result(&said, failed)
}

/// The text of a stream, cut to the length of an answer; the rest is read and dropped.
fn read(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = (&mut stream).take(MOST_OUTPUT).read_to_end(&mut bytes);
    let cut = std::io::copy(&mut stream, &mut std::io::sink()).is_ok_and(|more| more > 0);
    let end = if cut {
        "\n… (cut off; ask for less with `top`)\n"
    } else {
        ""
    };
    String::from_utf8_lossy(&bytes).into_owned() + end
}
