//! Hover: what an editor shows for the word under the mouse.

use logltn::{Role, Semantics, Word};
use logltn_learn::MetricKind;
use logltn_train::manifest::keys::MANIFEST;
use serde_json::{Value, json};

use super::definition::Section;
use super::documents::{Cursor, Kind, Known};
use super::uri;

/// The answer to `textDocument/hover`.
pub fn hover(place: &Cursor<'_>) -> Value {
    let shown = match place.kind {
        Kind::Theory => place
            .word()
            .map(|word| (of_word(&place.project, word), word.span)),
        _ => place.toml.as_ref().map(|toml| {
            let span = logltn::Span::new(toml.start, toml.end);
            (of_manifest(place), span)
        }),
    };
    match shown {
        Some((text, span)) if !text.is_empty() => json!({
            "contents": { "kind": "markdown", "value": text },
            "range": uri::range(place.text, span),
        }),
        _ => Value::Null,
    }
}

fn code(text: &str) -> String {
    format!("```logltn\n{text}\n```\n")
}

fn of_word(known: &Known, word: &Word) -> String {
    match word.role {
        Role::Keyword => operator(known, &word.text),
        Role::Axiom => axiom(known, &word.text),
        Role::Column => String::new(),
        Role::Sort | Role::Symbol | Role::Term => symbol(known, word),
    }
}

/// What a connective or a quantifier computes under the manifest's semantics.
fn operator(known: &Known, word: &str) -> String {
    let key = match word {
        "and" | "∧" | "all" | "⋀" => "and",
        "or" | "∨" | "any" | "⋁" => "or",
        "not" | "¬" => "not",
        "->" | "→" => "implies",
        "forall" | "∀" => "forall",
        "exists" | "∃" => "exists",
        _ => return String::new(),
    };
    formulas(known, word, key)
}

fn formulas(known: &Known, word: &str, key: &str) -> String {
    let semantics = known
        .manifest
        .as_ref()
        .map_or_else(Semantics::default, |m| m.semantics);
    let lines = semantics.formulas(key);
    format!("`{word}` under `{semantics}`\n\n{}", lines.join("\n"))
}

/// The axiom with its negation normal form.
fn axiom(known: &Known, name: &str) -> String {
    let theory = &known.theory;
    let Some(axiom) = theory.axiom(name) else {
        return String::new();
    };
    let head = theory.show_head(axiom);
    let mut text = code(&format!(
        "axiom {head}: {}",
        theory.show(axiom, &axiom.formula)
    ));
    if let Some(normal) = axiom.formula.nnf() {
        text += &format!(
            "negation normal form\n{}",
            code(&theory.show(axiom, &normal))
        );
    }
    text + &grounding(known, Section::Axioms, name)
}

fn symbol(known: &Known, word: &Word) -> String {
    let theory = &known.theory;
    if let Some((section, line)) = declaration(known, word.role, &word.text) {
        return code(&line) + &grounding(known, section, &word.text);
    }
    let label = theory
        .sorts
        .iter()
        .find(|sort| sort.labels.contains(&word.text));
    let variable = (theory.formulas())
        .filter(|axiom| axiom.span.start <= word.span.start && word.span.end <= axiom.span.end);
    let mut variable = variable.flat_map(|axiom| &axiom.variables);
    match (variable.find(|variable| variable.name == word.text), label) {
        (Some(variable), _) => {
            let sort = theory.column_sort_name(variable.sort);
            code(&format!("{}: {sort}", word.text)) + "a variable"
        }
        (None, Some(sort)) => format!("a label of sort `{}`", sort.name),
        (None, None) => String::new(),
    }
}

/// The line of the theory that declares a name, and the section of the manifest that grounds it.
pub fn declaration(known: &Known, role: Role, name: &str) -> Option<(Section, String)> {
    let words: &[(&str, Section)] = match role {
        Role::Sort => &[("sort", Section::Sorts)],
        Role::Term => &[("constant", Section::Constants), ("param", Section::Params)],
        _ => &[
            ("predicate", Section::Predicates),
            ("function", Section::Functions),
            ("table", Section::Tables),
            ("define", Section::Definitions),
        ],
    };
    let text = known.theory.to_string();
    words.iter().find_map(|(word, section)| {
        let head = format!("{word} {name}");
        let mut lines = text.lines().filter(|line| {
            let rest = line.strip_prefix(&head);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        Some((*section, lines.next()?.to_string()))
    })
}

/// The lines of the manifest that ground a symbol.
fn grounding(known: &Known, section: Section, name: &str) -> String {
    let Some(manifest) = &known.manifest else {
        return String::new();
    };
    let Some(span) = section.entry(manifest, name) else {
        return String::new();
    };
    let text = manifest.source.text();
    let start = text[..span.start as usize]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let is_header = text[start..].trim_start().starts_with('[');
    let lines = text[start..].lines().enumerate();
    let entry: Vec<&str> = lines
        .take_while(|(i, line)| *i == 0 || is_header && !line.trim_start().starts_with('['))
        .map(|(_, line)| line)
        .collect();
    let file = manifest.source.name();
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    format!(
        "in `{file}`\n```toml\n{}\n```\n",
        entry.join("\n").trim_end()
    )
}

fn of_manifest(place: &Cursor<'_>) -> String {
    let Some(toml) = &place.toml else {
        return String::new();
    };
    let path: Vec<&str> = toml.path.iter().map(String::as_str).collect();
    if toml.in_value {
        let metric = MetricKind::ALL.iter().find(|(name, _)| *name == toml.word);
        return match (path.last(), metric) {
            (Some(&"metric"), Some((_, kind))) => format!("`{}`: {}", toml.word, kind.says()),
            (Some(key), _) if path[0] == "semantics" && Semantics::KEYS.contains(key) => {
                formulas(&place.project, key, key)
            }
            (Some(key), _) => {
                let role = match *key {
                    "predicate" | "function" | "table" | "filter" => Role::Symbol,
                    "labels" => Role::Sort,
                    "axioms" => return axiom(&place.project, &toml.word),
                    _ => return String::new(),
                };
                let line = declaration(&place.project, role, &toml.word);
                line.map(|(_, line)| code(&line)).unwrap_or_default()
            }
            (None, _) => String::new(),
        };
    }
    if let Some(key) = MANIFEST.at(&path).and_then(|group| group.key(&toml.word)) {
        let default = match key.default {
            "" => String::new(),
            default => format!(" Default: {default}."),
        };
        return format!(
            "`{}`: {}\n\n{}{default}",
            key.name,
            key.kind.words(),
            key.sentence
        );
    }
    match path.first().and_then(|section| Section::named(section)) {
        Some(Section::Axioms) => axiom(&place.project, &toml.word),
        Some(section) => declaration(&place.project, section.role(), &toml.word)
            .map(|(_, line)| code(&line))
            .unwrap_or_default(),
        None => String::new(),
    }
}
