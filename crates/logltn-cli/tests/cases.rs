//! The cases in `cases/`: files, commands, and what the program is to say of them. `cases/README.md` says how they are written.
//!
//! A driver of our own, as those that exist (`trycmd`, `cram`) compare whole outputs: ours change files between commands, compare
//! the bytes of two runs and numbers within a tolerance, and run where there is no shell.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::Value;

use crate::common::served::Served;
use crate::common::{Folder, Run, copy, root, run_with};

/// Each file of `cases/` is a test.
macro_rules! cases {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            play(stringify!($name));
        })*

        #[test]
        fn each_file_is_a_test() {
            let mut files: Vec<String> = (std::fs::read_dir(folder()).expect("cases"))
                .map(|f| f.expect("a file").file_name().into_string().expect("UTF-8"))
                .filter_map(|name| Some(name.strip_suffix(".case")?.to_string()))
                .collect();
            files.sort();
            assert_eq!(files, [$(stringify!($name)),*]);
        }
    };
}

cases! {
    advice
    asking
    beside
    check
    closed_forms
    codes
    compare
    dashboard
    definitions
    ends
    entails
    eval
    example
    fmt
    functions
    help
    hostile
    identify
    limits
    memory
    metrics
    mine
    mistakes
    names
    new
    new_data
    predict
    probability
    reproduce
    runs
    sampled
    sweep
    terms
    train
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases"))
}

/// A line of a case, with the block of indented lines that follows it.
struct Line<'a> {
    number: usize,
    word: &'a str,
    rest: &'a str,
    block: Option<String>,
    /// The lines of the block in the file.
    lines: std::ops::Range<usize>,
}

fn read(text: &str) -> Vec<Line<'_>> {
    let mut found: Vec<Line> = Vec::new();
    let mut blank = 0;
    for (at, line) in text.lines().enumerate() {
        if line.is_empty() {
            blank += 1;
        } else if let Some(inner) = line.strip_prefix("    ") {
            let last = found.last_mut().expect("a block belongs to a line");
            let block = last.block.get_or_insert_default();
            if !block.is_empty() {
                *block += &"\n".repeat(blank);
            }
            *block += &format!("{inner}\n");
            if last.lines.is_empty() {
                last.lines.start = at;
            }
            last.lines.end = at + 1;
            blank = 0;
        } else {
            blank = 0;
            if !line.starts_with('#') {
                let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
                found.push(Line {
                    number: at + 1,
                    word,
                    rest,
                    block: None,
                    lines: 0..0,
                });
            }
        }
    }
    found
}

/// Runs a case, or with `LOGLTN_WRITE=1` writes into it what was said where whole outputs are expected.
fn play(name: &str) {
    let path = folder().join(format!("{name}.case"));
    let text = std::fs::read_to_string(&path).expect("the case");
    let text = text.replace("\r\n", "\n");
    let lines = read(&text);
    let mut player = Player {
        name,
        served: None,
        wrong: Vec::new(),
        new: Vec::new(),
    };
    for group in lines.split(|line| line.word == "=") {
        let mut parts = group.split(|line| line.word == "==");
        let first = Folder::new(&[]);
        player.part(&first, parts.next().expect("the first part"));
        for part in parts {
            let folder = Folder::new(&[]);
            copy(first.path(), folder.path());
            player.part(&folder, part);
        }
    }
    if std::env::var_os("LOGLTN_WRITE").is_some() {
        let mut now: Vec<String> = text.lines().map(String::from).collect();
        player
            .new
            .sort_by_key(|(lines, _)| std::cmp::Reverse(lines.start));
        for (lines, said) in player.new {
            let said = said.lines().map(|l| match l {
                "" => String::new(),
                l => format!("    {l}"),
            });
            now.splice(lines, said);
        }
        std::fs::write(path, now.join("\n") + "\n").expect("the case can be written");
    }
    assert!(player.wrong.is_empty(), "{}", player.wrong.join("\n"));
}

/// The files of a folder, what is in them and when they were written.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let time = std::fs::metadata(&path).and_then(|data| data.modified());
            let bytes = std::fs::read(&path).expect("a file");
            found.push((path, bytes, time.expect("a time")));
        }
    }
    found.sort();
    found
}

struct Player<'a> {
    name: &'a str,
    /// The dashboard that `$get` and `$post` ask.
    served: Option<Served>,
    wrong: Vec<String>,
    new: Vec<(std::ops::Range<usize>, String)>,
}

impl Player<'_> {
    fn part(&mut self, folder: &Folder, mut lines: &[Line]) {
        self.served = None;
        while let [line, rest @ ..] = lines {
            lines = rest;
            if !line.word.starts_with('$') {
                self.act(folder, line);
                continue;
            }
            // Those with `&` are to say the same.
            let count = |lines: &[Line], test: &dyn Fn(&Line) -> bool| {
                lines.iter().take_while(|line| test(line)).count()
            };
            let (others, rest) = rest.split_at(count(rest, &|l| l.word == "&"));
            let commands: Vec<&Line> = std::iter::once(line).chain(others).collect();
            let acts = [
                "file", "edit", "rows", "copy", "append", "use", "forget", "remove", "pipe", "cut",
                "excerpt", "serve",
            ];
            let expected = |l: &Line| {
                !(acts.contains(&l.word) || l.word.starts_with('$') || l.word.starts_with("with"))
            };
            let (common, mut rest) = rest.split_at(count(rest, &expected));
            let varies = |l: &Line| l.word.starts_with("with");
            if !rest.first().is_some_and(varies) {
                self.run(folder, &commands, &[common]);
            }
            while rest.first().is_some_and(varies) {
                let (changes, after) = rest.split_at(count(rest, &varies));
                let (own, after) = after.split_at(count(after, &expected));
                rest = after;
                let changed = Folder::new(&[]);
                copy(folder.path(), changed.path());
                for change in changes {
                    self.act(&changed, change);
                }
                self.run(&changed, &commands, &[common, own]);
            }
            lines = rest;
        }
    }

    /// What is done without the program.
    fn act(&mut self, folder: &Folder, line: &Line) {
        match line.word {
            "file" => folder.write(line.rest, line.block.as_deref().unwrap_or("").as_bytes()),
            "edit" | "with" => {
                let (file, change) = line.rest.split_once(": ").expect("edit FILE: OLD => NEW");
                let change = match (&line.block, change.strip_prefix("=>")) {
                    (Some(new), _) => Some((change, new.as_str())),
                    (None, Some(new)) => Some(("", new)),
                    (None, None) => change.split_once(" =>"),
                };
                let (old, new) = change.expect("edit FILE: OLD => NEW");
                let new = new.strip_prefix(' ').unwrap_or(new);
                match unescaped(old).as_str() {
                    "" => folder.write(file, &bytes(new)),
                    old => folder.change(file, old, &unescaped(new)),
                }
            }
            "rows" => {
                let mut parts = line.rest.splitn(4, ' ');
                let mut next = || parts.next().expect("rows FILE COUNT HEADER ROW");
                let (file, count, header, row) = (next(), next(), next(), next());
                let count = count.parse().expect("a number of rows");
                let rows: String = (0..count)
                    .map(|i| unescaped(&computed(row, i)) + "\n")
                    .collect();
                let header = header.replace("\\n", "\n");
                folder.write(
                    file,
                    format!("{header}\n{rows}")
                        .trim_start_matches("-\n")
                        .as_bytes(),
                );
            }
            "copy" | "append" => {
                let files = words(line.rest);
                let [first, second] = [&files[0], &files[1]];
                match line.word {
                    "copy" => folder.write(second, &folder.bytes(first)),
                    _ => folder.write(first, &[folder.bytes(first), folder.bytes(second)].concat()),
                }
            }
            "use" => copy(&self::folder().join(line.rest), folder.path()),
            "forget" => {
                let words = words(line.rest);
                let mut document: Value =
                    serde_json::from_str(&folder.read(&words[0])).expect("JSON");
                for key in &words[1..] {
                    document
                        .as_object_mut()
                        .expect("an object")
                        .remove(key)
                        .expect("the key");
                }
                folder.write(&words[0], document.to_string().as_bytes());
            }
            "remove" | "without" => words(line.rest).iter().for_each(|file| folder.remove(file)),
            "pipe" | "with_pipe" => {
                let path = folder.path().join(line.rest);
                let _ = std::fs::remove_file(&path);
                let made = Command::new("mkfifo").arg(path).status();
                assert!(made.expect("mkfifo").success());
            }
            "excerpt" => {
                let mut parts = line.rest.splitn(3, ' ');
                let mut next = || parts.next().expect("excerpt FILE PAGE FIRST LINE");
                let (file, page, first) = (next(), next(), next());
                let page = std::fs::read_to_string(root().join(page)).expect("a page");
                let (_, after) = page.split_once(first).expect("the block");
                let (block, _) = after.split_once("```").expect("its end");
                folder.write(file, format!("{first}{block}").as_bytes());
            }
            "cut" => {
                let (file, count) = line.rest.split_once(' ').expect("cut FILE COUNT");
                let count = count.parse().expect("a number of lines");
                let text = folder.read(file);
                let kept: String = text.split_inclusive('\n').take(count).collect();
                folder.write(file, kept.as_bytes());
            }
            "serve" => {
                let words = words(line.rest);
                let flags: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                self.served = Some(Served::start(&folder.path().join(&words[0]), &flags));
            }
            _ => self.wrong(line, "nobody knows this word", None),
        }
    }

    fn run(&mut self, folder: &Folder, commands: &[&Line], expected: &[&[Line]]) {
        let here = folder.path().to_str().expect("UTF-8");
        let root = root().to_str().expect("UTF-8");
        let mut errors: Option<Vec<String>> = None;
        for command in commands {
            let words = words(command.rest);
            let words: Vec<String> = (words.iter())
                .map(|word| word.replace("[DIR]", here).replace("[ROOT]", root))
                .map(|word| match &self.served {
                    Some(served) => word.replace("[PORT]", &served.port.to_string()),
                    None => word,
                })
                .collect();
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            let asks = ["$get", "$post"].contains(&commands[0].word);
            let place = format!("{}:{}", self.name, command.number);
            assert!(asks || words.remove(0) == "logltn", "{place}");
            let mut named = |sign: &str| {
                let at = words.iter().position(|word| *word == sign)?;
                words.remove(at);
                Some(words.remove(at).to_string())
            };
            let (input, output) = (named("<"), named(">"));
            let place = if command.word == "$root" {
                Path::new(root)
            } else {
                folder.path()
            };
            let input = input.map(|file| folder.bytes(&file));
            let untouched = |l: &&Line| l.word == "untouched";
            let kept: Vec<_> = expected
                .iter()
                .flat_map(|l| l.iter())
                .filter(untouched)
                .collect();
            let before: Vec<_> = kept
                .iter()
                .map(|l| files(&folder.path().join(l.rest)))
                .collect();
            let mut run = match &self.served {
                Some(served) if asks => asked(served, &words),
                _ => run_with(place, &words, input.as_deref()),
            };
            for (line, before) in kept.iter().zip(before) {
                if files(&folder.path().join(line.rest)) != before {
                    self.wrong(line, "something was written there", Some(&run));
                }
            }
            if let Some(file) = output {
                folder.write(&file, run.stdout.as_bytes());
            }
            run.stdout = run.stdout.replace(here, "[DIR]");
            run.stderr = run.stderr.replace(here, "[DIR]");
            let lines = || expected.iter().flat_map(|lines| lines.iter());
            let status = lines().find_map(|l| l.word.strip_prefix('[')?.strip_suffix(']'));
            let status = status.map_or(0, |s| s.parse().expect("a status"));
            if run.status != status {
                let wrong = format!("it ended with {}, not {status}", run.status);
                self.wrong(command, &wrong, Some(&run));
                continue;
            }
            let lines_of_errors = run.stderr.lines().filter(|line| line.starts_with("error"));
            let found: Vec<String> = lines_of_errors.map(String::from).collect();
            if errors.get_or_insert_with(|| found.clone()) != &found {
                self.wrong(command, &format!("before it was {errors:?}"), Some(&run));
            }
            for line in lines() {
                if let Err(wrong) = self.holds(folder, &run, line) {
                    self.wrong(line, &wrong, Some(&run));
                }
            }
        }
    }

    /// Whether what a line says of a run and its files is so.
    fn holds(&mut self, folder: &Folder, run: &Run, line: &Line) -> Result<(), String> {
        let rest = line.rest;
        let each = |texts: &str, test: &dyn Fn(&str) -> bool| {
            let wrong = texts.split(" && ").map(unescaped).find(|text| !test(text));
            wrong.map_or(Ok(()), Err)
        };
        let is = |right: bool, wrong: &str| right.then_some(()).ok_or(wrong.to_string());
        // Long messages are cut into lines.
        let joined = |text: &str| -> String {
            let words = text.split_whitespace().filter(|word| *word != "|");
            words.collect::<Vec<_>>().join(" ")
        };
        let complaint = joined(&run.stderr);
        let complained = |text: &str| run.stderr.contains(text) || complaint.contains(text);
        match (line.word, &line.block) {
            ("says", Some(block)) => self.whole(line, &run.stdout, block),
            ("complains", Some(block)) => self.whole(line, &run.stderr, block),
            ("says", None) if rest.is_empty() => is(run.stdout.is_empty(), "it says something"),
            ("says", None) => each(rest, &|text| run.stdout.contains(text)),
            ("complains", None) => each(rest, &complained),
            ("never", Some(block)) => {
                let (said, lines): (Vec<_>, Vec<_>) =
                    (run.stdout.lines().collect(), block.lines().collect());
                is(!fits(&said, &lines), "it has these lines")
            }
            ("never", None) => each(rest, &|text| {
                !run.stdout.contains(text) && !complained(text)
            }),
            ("quiet", _) => is(run.stderr.is_empty(), "it is not quiet"),
            ("times", _) => {
                let (count, text) = rest.split_once(' ').expect("times COUNT TEXT");
                let found = run.stderr.matches(text).count() + run.stdout.matches(text).count();
                is(count == found.to_string(), &format!("{found} times"))
            }
            ("json", _) => json(folder, &run.stdout, rest),
            ("memory", _) => {
                let (relation, bound) = rest.split_once(' ').expect("memory < BYTES");
                let (times, path) = bound.split_once(' ').unwrap_or((bound, "1"));
                let times: f64 = times.parse().expect("a number");
                let bound = times * number(&value(folder, &run.stdout, path)?);
                let bytes = run.memory.map_or(bound, |bytes| bytes as f64);
                let right = bytes == bound || (bytes < bound) == (relation == "<");
                is(right, &format!("it took {bytes}"))
            }
            ("same" | "differ", _) => {
                let contents: Vec<_> = words(rest).iter().map(|f| content(folder, f)).collect();
                let same = contents.windows(2).all(|pair| pair[0] == pair[1]);
                is(same == (line.word == "same"), "it is the other way round")
            }
            ("piped", _) => is(folder.is_pipe(rest), "it is no pipe"),
            ("there", _) => is(words(rest).iter().all(|f| folder.has(f)), "it is not there"),
            ("gone", _) => is(!words(rest).iter().any(|f| folder.has(f)), "it is there"),
            ("has", Some(block)) => self.whole(line, &folder.read(rest), block),
            ("has" | "lacks", None) => {
                let (file, texts) = rest.split_once(": ").expect("has FILE: TEXT");
                let content = String::from_utf8_lossy(&folder.bytes(file)).into_owned();
                each(texts, &|text| {
                    content.contains(text) == (line.word == "has")
                })
            }
            ("untouched", _) => Ok(()),
            (word, _) if word.starts_with('[') => each(rest, &complained),
            _ => Err("nobody knows this word".to_string()),
        }
    }

    /// Whether a text is this one, in which `[..]` stands for anything in a line and `...` for any lines.
    fn whole(&mut self, line: &Line, said: &str, expected: &str) -> Result<(), String> {
        let said: Vec<&str> = said.trim_end().lines().map(str::trim_end).collect();
        let expected: Vec<&str> = expected.lines().collect();
        if fits(&said, &expected) {
            return Ok(());
        }
        self.new.push((line.lines.clone(), said.join("\n")));
        Err("it is something else".to_string())
    }

    fn wrong(&mut self, line: &Line, what: &str, run: Option<&Run>) {
        let Line {
            number, word, rest, ..
        } = line;
        let run = run.map(Run::to_string).unwrap_or_default();
        let name = self.name;
        self.wrong.push(format!(
            "cases/{name}.case:{number}: {word} {rest}\n{what}\n{run}"
        ));
    }
}

fn fits(said: &[&str], expected: &[&str]) -> bool {
    match (said, expected) {
        ([], []) => true,
        (_, ["...", rest @ ..]) => (0..=said.len()).any(|from| fits(&said[from..], rest)),
        ([first, said @ ..], [line, expected @ ..]) => {
            line_fits(first, line) && fits(said, expected)
        }
        _ => false,
    }
}

fn line_fits(said: &str, expected: &str) -> bool {
    let mut parts = expected.split("[..]");
    let Some(mut said) = said.strip_prefix(parts.next().unwrap_or("")) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return said.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return said.ends_with(part);
        }
        match said.find(part) {
            Some(at) => said = &said[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// What a dashboard answers, as a program would say it.
fn asked(served: &Served, words: &[&str]) -> Run {
    let answer = match words {
        [path, body] => served.post(path, body),
        _ => served.get(words[0]),
    };
    let good = answer.status == 200;
    Run {
        arguments: words.join(" "),
        status: if good { 0 } else { answer.status.into() },
        stderr: if good {
            String::new()
        } else {
            format!("{}\n{}", answer.head, answer.body)
        },
        stdout: answer.body,
        memory: None,
    }
}

/// The tensors of a file, which are in single precision.
fn tensors(bytes: &[u8]) -> BTreeMap<String, Vec<f32>> {
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let (header, numbers) = bytes[8..].split_at(length);
    let header: BTreeMap<String, Value> = serde_json::from_slice(header).expect("JSON");
    let tensor = |(name, tensor): (String, Value)| {
        let at = |i: usize| tensor["data_offsets"][i].as_u64().map(|at| at as usize);
        let numbers = numbers[at(0)?..at(1)?].chunks(4);
        let number = |four: &[u8]| f32::from_le_bytes(four.try_into().expect("4 bytes"));
        Some((name, numbers.map(number).collect()))
    };
    header.into_iter().filter_map(tensor).collect()
}

/// What of a file is compared: of the records of a run everything but the times, of `FILE:NAME` the tensors whose names begin so.
fn content(folder: &Folder, file: &str) -> Vec<u8> {
    if let Some((file, name)) = file.split_once(':') {
        let mut found = tensors(&folder.bytes(file));
        found.retain(|tensor, _| tensor.starts_with(name));
        assert!(!found.is_empty(), "no {name} in {file}");
        return format!("{found:?}").into_bytes();
    }
    match file.strip_suffix("metrics.jsonl") {
        Some(run) => format!("{:?}", folder.records(run)).into_bytes(),
        None => folder.bytes(file),
    }
}

/// Whether `/path/to/value = 3`, or `FILE: /path = 3`, is so; the value may be at a path as well, and `*` goes to each of many.
fn json(folder: &Folder, stdout: &str, claim: &str) -> Result<(), String> {
    let value = |text: &str| {
        let words = text.split_once(' ');
        let Some((word @ ("mean" | "deviation" | "most" | "exp" | "abs"), path)) = words else {
            return value(folder, stdout, text);
        };
        let many = numbers(&value(folder, stdout, path)?);
        match word {
            "exp" => return Ok(many.iter().map(|x| x.exp()).collect()),
            "abs" => return Ok(many.iter().map(|x| x.abs()).collect()),
            "most" => return Ok(many.into_iter().fold(f64::NEG_INFINITY, f64::max).into()),
            _ => {}
        }
        let count = many.len() as f64;
        let mean = many.iter().sum::<f64>() / count;
        let squares = many.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        let deviation = (squares / (count - 1.0)).sqrt();
        Ok((if word == "mean" { mean } else { deviation }).into())
    };
    let relations = [
        " = ",
        " != ",
        " ~ ",
        " < ",
        " <= ",
        " > ",
        " >= ",
        " has ",
        " length ",
        " distinct ",
    ];
    let at = relations
        .iter()
        .filter_map(|r| Some((claim.find(r)?, *r)))
        .min();
    let (at, relation) = at.ok_or("json PATH = VALUE, or ~ VALUE TOLERANCE, != < > has length")?;
    let (found, right) = (value(&claim[..at])?, &claim[at + relation.len()..]);
    let holds = match relation {
        " = " => found == value(right)?,
        " != " => found != value(right)?,
        " ~ " => {
            let (right, tolerance) = right.rsplit_once(' ').ok_or("~ VALUE TOLERANCE")?;
            let (found, right) = (numbers(&found), numbers(&value(right)?));
            let tolerance = number(&value(tolerance)?);
            found.len() == right.len()
                && (found.iter().zip(&right)).all(|(a, b)| (a - b).abs() <= tolerance)
        }
        " < " => number(&found) < number(&value(right)?),
        " <= " => number(&found) <= number(&value(right)?),
        " > " => number(&found) > number(&value(right)?),
        " >= " => number(&found) >= number(&value(right)?),
        " has " => match &found {
            Value::String(text) => text.contains(right),
            Value::Array(values) => values.contains(&value(right)?),
            _ => false,
        },
        " distinct " => {
            let each = found.as_array().into_iter().flatten().map(Value::to_string);
            each.collect::<BTreeSet<_>>().len() >= right.parse().expect("a number")
        }
        _ => found.as_array().map(Vec::len) == right.parse().ok(),
    };
    holds.then_some(()).ok_or(format!("it is {found}"))
}

/// What stands at a path, or is written there.
fn value(folder: &Folder, stdout: &str, text: &str) -> Result<Value, String> {
    let (document, path) = match text.split_once(": /") {
        Some((file, _)) if file.ends_with(".safetensors") => {
            let tensors = serde_json::json!(tensors(&folder.bytes(file)));
            (tensors.to_string(), &text[file.len() + 2..])
        }
        Some((file, _)) => (folder.read(file), &text[file.len() + 2..]),
        None if text.starts_with('/') => (stdout.to_string(), text),
        None => return serde_json::from_str(text).map_err(|e| format!("{text}: {e}")),
    };
    if text.contains(".txt: /") {
        return Ok(follow(&printed(&document), path));
    }
    // The data of a page.
    let data = document
        .split_once("id=\"data\">")
        .and_then(|(_, data)| data.split_once("</script>"));
    let document = data.map_or(document.as_str(), |(data, _)| data);
    let lines = serde_json::Deserializer::from_str(document).into_iter();
    let lines: Result<Vec<Value>, _> = lines.collect();
    let document = match &lines.map_err(|e| e.to_string())?[..] {
        [one] => one.clone(),
        many => many.to_vec().into(),
    };
    Ok(follow(&document, if path == "/" { "" } else { path }))
}

/// The lines of a printed table by their first words; of equal ones the first.
fn printed(text: &str) -> Value {
    let mut lines = serde_json::Map::new();
    for line in text.lines() {
        let word = |word: &str| serde_json::from_str(word).unwrap_or_else(|_| word.into());
        let words: Vec<Value> = line.split_whitespace().map(word).collect();
        if let Some(first) = line.split_whitespace().next() {
            lines.entry(first).or_insert(words.into());
        }
    }
    lines.into()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn numbers(value: &Value) -> Vec<f64> {
    match value.as_array() {
        Some(many) => many.iter().map(number).collect(),
        None => vec![number(value)],
    }
}

/// What stands at `/a/0`, at `/*` of each, or at `/[name]` of the first that has this in one of its fields, or of theirs.
fn follow(document: &Value, path: &str) -> Value {
    fn fields(one: &Value) -> impl Iterator<Item = &Value> {
        one.as_object().into_iter().flat_map(|o| o.values())
    }
    let Some(path) = path.strip_prefix('/') else {
        return document.clone();
    };
    let (step, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    let name = step.strip_prefix('[').and_then(|s| s.strip_suffix(']'));
    let has_name = |one: &&Value| {
        let mut all = fields(one).chain(fields(one).flat_map(fields));
        all.any(|field| match field {
            Value::String(text) => Some(text.as_str()) == name,
            other => Some(other.to_string().as_str()) == name,
        })
    };
    let next = match document {
        Value::Array(each) if step == "*" => return each.iter().map(|v| follow(v, rest)).collect(),
        Value::Object(each) if step == "*" => {
            return each.values().map(|v| follow(v, rest)).collect();
        }
        Value::Array(each) if name.is_some() => each.iter().find(has_name),
        Value::Array(each) => step.parse().ok().and_then(|at: usize| each.get(at)),
        Value::Object(fields) => fields.get(&step.replace("~1", "/")),
        _ => None,
    };
    next.map_or(Value::Null, |next| follow(next, rest))
}

/// A row in which `{i*7%11+1}` is a number that is computed from left to right.
fn computed(row: &str, i: u64) -> String {
    let mut parts = row.split(['{', '}']);
    let mut out = parts.next().unwrap_or_default().to_string();
    while let (Some(formula), after) = (parts.next(), parts.next()) {
        let (mut value, mut sign) = (0, '+');
        for term in formula.split_inclusive(['*', '%', '+', '/']) {
            let next = term.chars().next_back().filter(|c| "*%+/".contains(*c));
            let term = term.trim_end_matches(['*', '%', '+', '/']);
            let term = if term == "i" {
                i
            } else {
                term.parse().expect("a number")
            };
            value = match sign {
                '*' => value * term,
                '%' => value % term,
                '/' => value / term,
                _ => value + term,
            };
            sign = next.unwrap_or(sign);
        }
        out += &format!("{value}{}", after.unwrap_or_default());
    }
    out
}

/// A text of a line, in which `\n` stands for the end of a line and `\x` with two digits for a byte.
fn bytes(text: &str) -> Vec<u8> {
    let text = text.replace("\\n", "\n").replace("\\t", "\t");
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
        bytes.extend(part[2..].bytes());
    }
    bytes
}

/// The same as text.
fn unescaped(text: &str) -> String {
    String::from_utf8(bytes(text)).expect("UTF-8")
}

/// The words of a command; what is between quotes is one.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
