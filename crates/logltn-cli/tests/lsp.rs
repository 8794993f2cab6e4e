//! `logltn lsp`, spoken to as an editor does.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::common::{Folder, Random};

const THEORY: &str = "sort Point\nsort Colour = {red, green}\ntable pairs(x: Point, y: Point)\npredicate C(Point, Colour)\nparam near
axiom same: forall (x, y) in pairs, c: Colour where dist(x, y) < near. C(x, c) -> C(y, c)\naxiom some: exists x: Point. C(x, red)\n";
const MANIFEST: &str = "theory = \"t.ltn\"\n\n[sorts.Point]\nfeatures = { file = \"p.csv\", columns = [\"a\", \"b\"] }\n\n[tables]
pairs = { rows = \"pairs.csv\" }\n\n[params]\nnear = 2\n\n[predicates.C]\nnetwork = { mlp = [4] }\noutput = \"softmax\"\n
[train]\nsteps = 3\nfreeze = [\"C\"]\n\n[evaluate]\nmetrics = [{ metric = \"f1\", predicate = \"C\", rows = \"r.csv\" }]\n";

/// An editor with its own server.
struct Editor {
    folder: Folder,
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
    /// What came besides answers.
    published: Vec<Value>,
}

impl Editor {
    fn new() -> Editor {
        let theory = THEORY.replace("(x, y) in pairs, c: Colour", "c: Colour, x, y: Point");
        let folder = Folder::new(&[
            ("t.ltn", theory.as_bytes()),
            ("m.toml", MANIFEST.as_bytes()),
            ("p.csv", b"a,b\n1,2\n3,4\n"),
            ("pairs.csv", b"x,y\n0,1\n"),
            ("r.csv", b"a1,a2\n0,red\n"),
            ("other.toml", b"[package]\nname = 1\n"),
        ]);
        let mut server = Command::new(env!("CARGO_BIN_EXE_logltn"))
            .arg("lsp")
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut editor = Editor {
            folder,
            input: server.stdin.take().unwrap(),
            output: BufReader::new(server.stdout.take().unwrap()),
            server,
            asked: 0,
            published: Vec::new(),
        };
        let capabilities = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(capabilities["capabilities"]["hoverProvider"], true);
        editor.tell("initialized", json!({}));
        editor
    }

    fn uri(&self, name: &str) -> String {
        let path = self
            .folder
            .path()
            .join(name)
            .display()
            .to_string()
            .replace('\\', "/");
        let slash = if path.starts_with('/') { "" } else { "/" };
        format!("file://{slash}{path}")
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn send(&mut self, message: Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "the server is gone"
            );
            match line.trim().split_once(": ") {
                Some(("Content-Length", n)) => length = n.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The whole response.
    fn ask_raw(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.published.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.ask_raw(method, params);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    fn open(&mut self, name: &str) -> Value {
        let (uri, text) = (self.uri(name), self.text(name));
        let document = json!({ "uri": uri, "languageId": "x", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics(name)
    }

    fn change(&mut self, name: &str, text: &str) -> Value {
        let document = json!({ "uri": self.uri(name), "version": 2 });
        let changes = json!([{ "text": text }]);
        self.tell(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": changes }),
        );
        self.diagnostics(name)
    }

    /// The last diagnostics of a document. The answer to a question comes after all that was said before it.
    fn diagnostics(&mut self, name: &str) -> Value {
        let uri = self.uri(name);
        self.ask_raw("nothing/at-all", json!({}));
        let of = |message: &&Value| message["params"]["uri"] == uri;
        let last = self.published.iter().rfind(of);
        last.map_or(Value::Null, |message| {
            message["params"]["diagnostics"].clone()
        })
    }

    /// The parameters for the place of `|` in a piece of a document.
    fn at(&self, name: &str, piece: &str) -> Value {
        let text = self.text(name);
        let at = text.find(&piece.replace('|', "")).expect(piece) + piece.find('|').unwrap();
        let line = text[..at].matches('\n').count();
        let character = text[text[..at].rfind('\n').map_or(0, |i| i + 1)..at]
            .encode_utf16()
            .count();
        json!({
            "textDocument": { "uri": self.uri(name) },
            "position": { "line": line, "character": character },
        })
    }

    fn hover(&mut self, name: &str, piece: &str) -> String {
        let place = self.at(name, piece);
        let hover = self.ask("textDocument/hover", place);
        hover["contents"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_string()
    }

    /// Each line is a question about a place, and what the answer has (`hover`, `offers`) or is.
    fn answers(&mut self, questions: &str) {
        for line in questions.trim().lines() {
            let (question, expected) = line.trim().split_once(" => ").expect(line);
            let mut words = question.splitn(3, ' ');
            let mut next = || words.next().expect("QUESTION FILE PLACE");
            let (question, name, piece) = (next(), next(), next());
            let place = self.at(name, piece);
            match question {
                "hover" => {
                    let shown = self.hover(name, piece);
                    let has = |text| shown.contains(text);
                    assert!(expected.split(" && ").all(has), "{line}: {shown}");
                }
                "defined" => {
                    let found = self.ask("textDocument/definition", place);
                    let file = found["uri"].as_str().and_then(|uri| uri.rsplit('/').next());
                    let at = |file| format!("{file}:{}", found["range"]["start"]["line"]);
                    assert_eq!(file.map_or("nowhere".into(), at), expected, "{line}");
                }
                _ => {
                    let list = self.ask("textDocument/completion", place);
                    let items = list["items"].as_array().unwrap().iter();
                    let words: Vec<&str> = items.filter_map(|i| i["label"].as_str()).collect();
                    match question {
                        "completes" => assert_eq!(words.join(" "), expected, "{line}"),
                        _ => assert!(expected.split(' ').all(|w| words.contains(&w)), "{line}"),
                    }
                }
            }
        }
    }

    fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.server.wait().unwrap().success());
    }
}

#[test]
fn diagnostics_as_one_types() {
    let mut editor = Editor::new();
    assert_eq!(editor.open("m.toml"), json!([]));
    let unused = editor.open("t.ltn");
    assert_eq!(unused[0]["code"], "unused-declaration", "{unused}");

    let wrong = editor.text("t.ltn").replace("C(x, red)", "C(x, rde)");
    let found = editor.change("t.ltn", &wrong);
    let error = found
        .as_array()
        .unwrap()
        .iter()
        .find(|d| d["severity"] == 1)
        .expect("an error");
    assert!(
        error["message"].as_str().unwrap().contains("rde"),
        "{error}"
    );
    assert_eq!(error["range"]["start"]["line"], 6);
    // The manifest does not fit a theory without the predicate, though that is not saved.
    let other = editor.text("t.ltn").replace("predicate C", "predicate D");
    editor.change("t.ltn", &other);
    let found = editor.diagnostics("m.toml");
    assert!(found.to_string().contains('C'), "{found}");

    let manifest = editor.text("m.toml").replace("steps = 3", "step = 3");
    let found = editor.change("m.toml", &manifest);
    assert!(found.to_string().contains("unknown key `step`"), "{found}");
    assert_eq!(editor.open("other.toml"), json!([]));
    // Half a text, and none.
    editor.change("t.ltn", "axiom a: forall x: ");
    editor.change("t.ltn", "");
    editor.change("m.toml", "theory = \"");
    editor.end();
}

#[test]
fn hover_completion_and_definitions() {
    let mut editor = Editor::new();
    editor.open("t.ltn");
    editor.open("m.toml");

    editor.answers(
        r#"
        hover t.ltn predicate |C => predicate C(Point, Colour) && output = "softmax"
        hover t.ltn axiom sa|me => not C(x, c) or C(y, c)
        hover t.ltn |forall => `mean` of logs: 1/n Σ v
        hover t.ltn exists |x => x: Point
        hover t.ltn C(x, |red => label of sort `Colour`
        hover m.toml fe|atures => A row of numbers for each individual
        hover m.toml [predicates.|C] => predicate C(Point, Colour)
        hover m.toml "f|1" => precision and recall
        offers t.ltn C(x, r|ed) => red green C Point forall near x
        offers m.toml ste|ps => learning_rate
        offers m.toml { m|lp => activation
        completes m.toml "soft|max" => softmax sigmoid
        completes m.toml columns = ["a|" => a b
        completes m.toml predicate = "|C => C
        completes m.toml theory = "|t => t.ltn
        defined t.ltn -> |C(y, c) => t.ltn:3
        defined t.ltn exists x: |Point => t.ltn:0
        defined t.ltn predicate |C => m.toml:11
        defined t.ltn pairs(|x: => pairs.csv:0
        defined t.ltn < |near => t.ltn:4
        defined m.toml [predicates.|C] => t.ltn:3
        defined m.toml "t.l|tn" => t.ltn:0
        defined m.toml "|b"] => p.csv:0
        defined m.toml freeze = ["|C => t.ltn:3
        defined m.toml st|eps => nowhere"#,
    );
    editor.end();
}

#[test]
fn hover_over_an_operator_of_the_manifest() {
    let mut editor = Editor::new();
    let semantics = "semantics = { base = \"logltn\", or = \"max\" }\n";
    (editor.folder).write("m.toml", format!("{semantics}{MANIFEST}").as_bytes());
    editor.open("m.toml");
    let shown = editor.hover("m.toml", "or = \"m|ax");
    assert!(shown.contains("`max` of both: the greatest"), "{shown}");
    assert_eq!(editor.hover("m.toml", "base = \"log|ltn"), "");
    editor.end();
}

#[test]
fn rename_and_format() {
    let mut editor = Editor::new();
    editor.open("t.ltn");
    editor.open("m.toml");
    let mut place = editor.at("t.ltn", "predicate |C");
    place["newName"] = json!("colour_of");
    let edits = editor.ask("textDocument/rename", place.clone());
    let count = |name: &str| {
        let changes = edits["changes"].as_object().unwrap();
        let of = changes.iter().find(|(uri, _)| uri.ends_with(name));
        of.map_or(0, |(_, edits)| edits.as_array().unwrap().len())
    };
    // The declaration and three uses; the section, `freeze` and the metric.
    assert_eq!((count("t.ltn"), count("m.toml")), (4, 3), "{edits}");
    for wrong in ["Point", "forall", "a b", "3", "", "red"] {
        place["newName"] = json!(wrong);
        let response = editor.ask_raw("textDocument/rename", place.clone());
        assert!(response.get("error").is_some(), "{wrong}: {response}");
    }
    // A variable is renamed in its axiom only.
    let mut place = editor.at("t.ltn", "exists |x");
    place["newName"] = json!("z");
    let edits = editor.ask("textDocument/rename", place);
    assert_eq!(
        edits["changes"]
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .as_array()
            .unwrap()
            .len(),
        2
    );

    let document = json!({ "uri": editor.uri("t.ltn") });
    let format = json!({ "textDocument": document, "options": {} });
    editor.change("t.ltn", "sort  S");
    let edits = editor.ask("textDocument/formatting", format.clone());
    assert_eq!(edits[0]["newText"], "sort S\n");
    editor.change("t.ltn", "sort S\n");
    assert_eq!(
        editor.ask("textDocument/formatting", format.clone()),
        json!([])
    );
    editor.change("t.ltn", "sort");
    assert_eq!(editor.ask("textDocument/formatting", format), json!([]));
    editor.end();
}

#[test]
fn a_client_that_leaves_ends_the_server() {
    let mut editor = Editor::new();
    drop(editor.input);
    editor.server.wait().unwrap();
}

/// A theory, a manifest and folders with names that take several bytes or UTF-16 units, and line ends of Windows.
const FOREIGN: &str = "# 𝄞 Größe\r\nsort Straße\r\nsort Farbe = {rot, 猫}\r\ntable paare(größe: Straße, y: Straße)\r\npredicate 𝐂(Straße, Farbe)\r
axiom 𝐚: forall x: Straße. 𝐂(x, rot) or 𝐂(x, 猫)\r\naxiom b: forall (größe, y) in paare. 𝐂(größe, rot) -> 𝐂(y, rot)\r\n";
const FOREIGN_MANIFEST: &str = "theory = \"t.ltn\"\r\n[sorts.\"Straße\"]\r\nfeatures = { file = \"p ü.csv\", columns = [\"ä\"] }\r\n[tables]\r
paare = { rows = \"paare.csv\" }\r\n[predicates.\"𝐂\"]\r\nnetwork = { mlp = [4] }\r\noutput = \"softmax\"\r\n[train]\r\nsteps = 3\r\nfreeze = [\"𝐂\"]\r\n";

/// A text after edits, as an editor makes them.
fn edited(text: &str, edits: &Value) -> String {
    let offset = |place: &Value| {
        let line = place["line"].as_u64().unwrap() as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut left = place["character"].as_u64().unwrap() as usize;
        let mut end = start;
        for c in text[start..].chars() {
            if left == 0 {
                break;
            }
            left -= c.len_utf16().min(left);
            end += c.len_utf8();
        }
        end
    };
    let mut edits: Vec<(usize, usize, &str)> = (edits.as_array().unwrap().iter())
        .map(|edit| {
            let range = &edit["range"];
            let new = edit["newText"].as_str().unwrap();
            (offset(&range["start"]), offset(&range["end"]), new)
        })
        .collect();
    edits.sort_unstable();
    let mut out = text.to_string();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

#[test]
fn names_of_any_script_and_line_ends_of_windows() {
    let mut editor = Editor::new();
    editor.folder.write("t.ltn", FOREIGN.as_bytes());
    editor.folder.write("m.toml", FOREIGN_MANIFEST.as_bytes());
    editor.folder.write("p ü.csv", "ä\r\n1\r\n".as_bytes());
    editor
        .folder
        .write("paare.csv", "größe,y\r\n0,0\r\n".as_bytes());
    assert_eq!(editor.open("t.ltn"), json!([]));
    assert_eq!(editor.open("m.toml"), json!([]));
    editor.answers(
        r#"
        defined t.ltn or |𝐂(x => t.ltn:4
        defined t.ltn predicate |𝐂 => m.toml:5
        defined t.ltn paare(|größe => paare.csv:0
        defined m.toml ["|ä" => p%20%C3%BC.csv:0
        defined m.toml predicates."|𝐂 => t.ltn:4
        hover t.ltn x, |猫 => label of sort `Farbe`"#,
    );

    // What is renamed everywhere is the name and nothing else; TOML's keys get quotes where they need them.
    for (place, old, new) in [
        ("sort |Straße", "Straße", "Weg"),
        ("predicate |𝐂", "𝐂", "ist"),
        ("table |paare", "paare", "Nächste"),
        ("(|größe, y) in", "größe", "x1"),
    ] {
        let mut params = editor.at("t.ltn", place);
        params["newName"] = json!(new);
        let edits = editor.ask("textDocument/rename", params);
        let changed = |name: &str, text: &str| {
            let changes = edits["changes"].as_object().unwrap();
            let of = changes.iter().find(|(uri, _)| uri.ends_with(name));
            of.map_or(text.to_string(), |(_, edits)| edited(text, edits))
        };
        let theory = match old {
            // The variable, not the column.
            "größe" => FOREIGN
                .replace("(größe, y) in", "(x1, y) in")
                .replace("𝐂(größe", "𝐂(x1"),
            _ => FOREIGN.replace(old, new),
        };
        let manifest = match old {
            "größe" => FOREIGN_MANIFEST.to_string(),
            "paare" => FOREIGN_MANIFEST.replace("paare =", "\"Nächste\" ="),
            _ => FOREIGN_MANIFEST.replace(old, new),
        };
        assert_eq!(changed("t.ltn", FOREIGN), theory);
        assert_eq!(changed("m.toml", FOREIGN_MANIFEST), manifest);
    }
    editor.end();
}

/// Every text that there is while two files are typed: any question has an answer, and the server lives.
#[test]
fn half_written_files() {
    let mut editor = Editor::new();
    editor.open("t.ltn");
    editor.open("m.toml");
    let strange = [
        "",
        "\r",
        "\u{feff}",
        "\"",
        "#",
        "[[",
        "a.\"",
        "\0",
        "axiom a: ",
    ];
    for (name, whole) in [("t.ltn", FOREIGN), ("m.toml", FOREIGN_MANIFEST)] {
        let ends = (whole.char_indices()).filter(|(at, _)| at % 3 == 0);
        let prefixes = ends.map(|(at, _)| &whole[..at]);
        for text in prefixes.chain(strange) {
            editor.change(name, text);
            let line = text.matches('\n').count() as u64;
            let places = [(line, 0), (line, 7), (line, 9_999), (line + 3, 1), (0, 2)];
            for (line, character) in places {
                let document = json!({ "uri": editor.uri(name) });
                let position = json!({ "line": line, "character": character });
                let place =
                    json!({ "textDocument": document, "position": position, "newName": "zz" });
                for question in ["hover", "completion", "definition"] {
                    editor.ask(&format!("textDocument/{question}"), place.clone());
                }
                // May be refused.
                editor.ask_raw("textDocument/rename", place);
            }
        }
    }
    editor.end();
}

/// Pieces that a text may have anywhere: half words, names of two UTF-16 units, line ends of all systems.
const PIECES: &str = "𝄞|ü|猫|\r\n|\n|\r|\u{feff}|\"|#|(|)|[|{|.|,|: |= | -> |forall x: S. |exists |axiom a: |define d(x: S): |sort S\n|P(x, a)|\
    x.age|theory = \"t.ltn\"\n|[predicates.P]\n|output = \"softmax\"\n|freeze = [\"P\"]\n|0.5e";

/// A theory with every kind of name, and its manifest; the names are drawn.
fn project(random: &mut Random) -> (String, String) {
    let mark = ["", "2", "ü", "𝐱", "_"];
    let name = |base: &str, random: &mut Random| format!("{base}{}", random.of(&mark));
    let [sort, class, table, predicate, define, axiom] =
        ["Point", "Class", "near", "is", "both", "same"].map(|base| name(base, random));
    let (x, y) = (name("x", random), name("y", random));
    let theory = format!(
        "# {x} 𝄞\nsort {sort}\nsort {class} = {{red, \"dark 猫\"}}\ntable {table}(a: {sort}, b: {sort})\nparam limit
predicate {predicate}({sort}, {class})\ndefine {define}({x}, {y}: {sort}): {predicate}({x}, red) and {predicate}({y}, red)
axiom {axiom} for c: {class}: forall ({x}, {y}) in {table} where dist({x}, {y}) < limit. {predicate}({x}, c) -> {predicate}({y}, c)
axiom two: (forall {x}: {sort}. {predicate}({x}, red)) or (exists {x}: {sort}. {define}({x}, {x}) or {predicate}({x}, \"dark 猫\"))\n"
    );
    let manifest = format!(
        "theory = \"t.ltn\"\n[sorts.\"{sort}\"]\nfeatures = \"p.csv\"\n[tables]\n\"{table}\" = {{ rows = \"pairs.csv\" }}\n[params]
\"limit\" = {{ percentile = 50, of = \"dist({sort}, {sort})\" }}\n[predicates.\"{predicate}\"]\nnetwork = {{ mlp = [4] }}
output = \"softmax\"\n[axioms.\"{axiom}[red]\"]\nweight = 2\n[train]\nphases = [{{ steps = 1, axioms = [\"{axiom}\"] }}, {{ steps = 1 }}]
freeze = [\"{predicate}\"]\nearly_stop = {{ metric = \"accuracy({predicate})\", patience = 2 }}\n[evaluate]
metrics = [{{ metric = \"accuracy\", predicate = \"{predicate}\", rows = \"r.csv\" }}]\n"
    );
    (theory, manifest)
}

/// Every range in an answer lies in the text of its document.
fn in_range(answer: &Value, text_of: &dyn Fn(Option<&str>) -> Option<String>, uri: Option<&str>) {
    match answer {
        Value::Array(all) => all.iter().for_each(|one| in_range(one, text_of, uri)),
        Value::Object(fields) => {
            let uri = fields.get("uri").and_then(Value::as_str).or(uri);
            if let (Some(start), Some(end), Some(text)) =
                (fields.get("start"), fields.get("end"), text_of(uri))
            {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                let lines: Vec<&str> = text.split('\n').collect();
                let place = |p: &Value| {
                    (
                        p["line"].as_u64().unwrap(),
                        p["character"].as_u64().unwrap(),
                    )
                };
                let (start, end) = (place(start), place(end));
                assert!(start <= end, "{answer}");
                let line = lines
                    .get(end.0 as usize)
                    .unwrap_or_else(|| panic!("{answer} in {text:?}"));
                assert!(
                    end.1 as usize <= line.encode_utf16().count() + 1,
                    "{answer} in {line:?}"
                );
            }
            for (key, value) in fields {
                let uri = Some(key.as_str())
                    .filter(|key| key.starts_with("file:"))
                    .or(uri);
                in_range(value, text_of, uri);
            }
        }
        _ => {}
    }
}

/// Random edits and questions: the server answers, and its ranges are in the text. `LOGLTN_RANDOM_CASES` asks for more.
#[test]
fn random_edits_and_questions() {
    let cases = std::env::var("LOGLTN_RANDOM_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    let mut random = Random(3);
    let pieces: Vec<&str> = PIECES.split('|').collect();
    let mut editor = Editor::new();
    let (theory, manifest) = project(&mut random);
    let mut texts = [("t.ltn", theory), ("m.toml", manifest)];
    for (name, text) in &texts {
        editor.folder.write(name, text.as_bytes());
        editor.open(name);
    }
    for case in 0..cases.unwrap_or(120) {
        if case % 12 == 0 {
            let (theory, manifest) = project(&mut random);
            texts = [("t.ltn", theory), ("m.toml", manifest)];
            for (name, text) in &texts {
                editor.change(name, text);
            }
        }
        let (name, text) = &mut texts[random.below(2)];
        let places: Vec<usize> = text
            .char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .collect();
        let (from, to) = (random.below(places.len()), random.below(7));
        let (from, to) = (
            places[from],
            places[(from + to * random.below(2)).min(places.len() - 1)],
        );
        let piece: &&str = random.of(&pieces);
        text.replace_range(from..to, piece);
        let (name, text) = (*name, text.clone());
        let mut answers = vec![editor.change(name, &text)];
        for _ in 0..3 {
            let line = random.below(text.matches('\n').count() + 2);
            let document = json!({ "uri": editor.uri(name) });
            let place = json!({
                "textDocument": document, "newName": random.of(&["zz", "猫2", "red", "dist", "a b"]),
                "position": { "line": line, "character": random.below(90) },
            });
            for question in [
                "hover",
                "completion",
                "definition",
                "prepareRename",
                "rename",
                "formatting",
            ] {
                // A rename may be refused.
                let answer = editor.ask_raw(&format!("textDocument/{question}"), place.clone());
                answers.push(answer["result"].clone());
            }
        }
        let here = editor.uri(name);
        let uris: Vec<String> = texts.iter().map(|(name, _)| editor.uri(name)).collect();
        let text_of = |uri: Option<&str>| {
            let uri = uri.unwrap_or(&here);
            let at = uris.iter().position(|open| open == uri)?;
            Some(
                texts[at]
                    .1
                    .strip_prefix('\u{feff}')
                    .unwrap_or(&texts[at].1)
                    .to_string(),
            )
        };
        for answer in answers {
            in_range(&answer, &text_of, None);
        }
    }
    editor.end();
}

/// Any name can be renamed at any of its places. Theory and manifest stay without a mistake, and renaming back restores them.
#[test]
fn renaming_keeps_the_meaning() {
    let mut random = Random(8);
    let mut editor = Editor::new();
    editor.open("t.ltn");
    editor.open("m.toml");
    let mut renamed = 0;
    for case in 0..12 {
        let (theory, manifest) = project(&mut random);
        let show = |editor: &mut Editor, texts: &[String; 2]| {
            editor.folder.write("t.ltn", texts[0].as_bytes());
            editor.folder.write("m.toml", texts[1].as_bytes());
            editor.change("t.ltn", &texts[0]);
            let of_manifest = editor.change("m.toml", &texts[1]);
            let found = [editor.change("t.ltn", &texts[0]), of_manifest];
            assert_eq!(found, [json!([]), json!([])], "{case}: {texts:#?}");
        };
        let before = [theory, manifest];
        show(&mut editor, &before);
        let letters: Vec<usize> = (before[0].char_indices())
            .filter(|(_, c)| c.is_alphabetic())
            .map(|(at, _)| at)
            .collect();
        for _ in 0..6 {
            let at = letters[random.below(letters.len())];
            let new = *random.of(&["neu", "𝐧eu", "größe"]);
            let line = before[0][..at].matches('\n').count();
            let start = before[0][..at].rfind('\n').map_or(0, |i| i + 1);
            let position =
                json!({ "line": line, "character": before[0][start..at].encode_utf16().count() });
            let ask = |editor: &mut Editor, position: &Value, new: &str| {
                editor.ask_raw("textDocument/rename", json!({
                    "textDocument": { "uri": editor.uri("t.ltn") }, "newName": new, "position": position,
                }))
            };
            let document =
                json!({ "textDocument": { "uri": editor.uri("t.ltn") }, "position": position });
            let old = editor.ask_raw("textDocument/prepareRename", document);
            let answer = ask(&mut editor, &position, new);
            let Some(changes) = answer["result"]["changes"].as_object().cloned() else {
                continue;
            };
            let old = old["result"]["placeholder"]
                .as_str()
                .expect("the name")
                .to_string();
            // Labels are written in the data, too.
            if ["red", "dark 猫"].contains(&old.as_str()) {
                continue;
            }
            let apply =
                |editor: &Editor, texts: &[String; 2], changes: &serde_json::Map<String, Value>| {
                    [("t.ltn", &texts[0]), ("m.toml", &texts[1])].map(|(name, text)| {
                        changes
                            .get(&editor.uri(name))
                            .map_or(text.clone(), |edits| edited(text, edits))
                    })
                };
            let after = apply(&editor, &before, &changes);
            assert_ne!(after[0], before[0]);
            show(&mut editor, &after);
            let place = after[0].find(new).expect("the new name");
            let line = after[0][..place].matches('\n').count();
            let start = after[0][..place].rfind('\n').map_or(0, |i| i + 1);
            let position =
                json!({ "line": line, "character": after[0][start..place].encode_utf16().count() });
            let back = ask(&mut editor, &position, &old);
            let changes = back["result"]["changes"]
                .as_object()
                .unwrap_or_else(|| panic!("{old}: {back}"))
                .clone();
            assert_eq!(apply(&editor, &after, &changes), before, "{old}");
            show(&mut editor, &before);
            renamed += 1;
        }
    }
    assert!(renamed > 20, "{renamed}");
    editor.end();
}
