//! Completions at a position.

use logltn_train::manifest::Individuals;
use logltn_train::manifest::keys::{Kind as Holds, MANIFEST};
use serde_json::{Value, json};

use super::definition::{Section, columns, file_of_columns};
use super::documents::{Cursor, Kind, folder};

/// The protocol's numbers for kinds of completions.
const FUNCTION: u32 = 3;
const VARIABLE: u32 = 6;
const CLASS: u32 = 7;
const PROPERTY: u32 = 10;
const VALUE: u32 = 12;
const KEYWORD: u32 = 14;
const FILE: u32 = 17;
const CONSTANT: u32 = 21;

/// Folders with more files than this are not listed.
const MOST_FILES: usize = 500;
/// A sort with more labels than this is data, too long a list to pick from.
const MOST_LABELS: usize = 1000;

/// Words of theories that names may be as well.
const WORDS: [&str; 8] = [
    "define", "to", "depth", "weight", "dist", "abs", "min", "max",
];

/// The answer to `textDocument/completion`.
pub fn complete(place: &Cursor<'_>) -> Value {
    let items = match place.kind {
        Kind::Theory => in_theory(place),
        _ => in_manifest(place),
    };
    json!({ "isIncomplete": false, "items": items })
}

fn item(label: &str, kind: u32, detail: &str) -> Value {
    json!({ "label": label, "kind": kind, "detail": detail })
}

fn in_theory(place: &Cursor<'_>) -> Vec<Value> {
    let theory = &place.project.theory;
    let before =
        place.text[..place.offset].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    let mut items = Vec::new();
    // A feature: the columns of the sorts' files.
    let dot = before.strip_suffix('.');
    if dot.is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric() || c == '_')) {
        let manifest = place.project.manifest.as_ref();
        for (manifest, (name, sort)) in manifest
            .iter()
            .flat_map(|m| m.sorts.iter().map(move |sort| (m, sort)))
        {
            if let Some(Individuals::Features(from)) = &sort.individuals {
                let columns = columns(&manifest.resolve(&from.file));
                let detail = format!("feature of {name}");
                items.extend(
                    columns
                        .iter()
                        .map(|(column, _)| item(column, PROPERTY, &detail)),
                );
            }
        }
    }
    let words = logltn::reserved_words().chain(WORDS);
    items.extend(words.map(|word| item(word, KEYWORD, "")));
    for sort in &theory.sorts {
        items.push(item(&sort.name, CLASS, "sort"));
        if sort.labels.len() <= MOST_LABELS {
            let detail = format!("label of {}", sort.name);
            items.extend(
                sort.labels
                    .iter()
                    .map(|label| item(label, CONSTANT, &detail)),
            );
        }
    }
    for (section, kind, detail) in [
        (Section::Tables, FUNCTION, "table"),
        (Section::Predicates, FUNCTION, "predicate"),
        (Section::Definitions, FUNCTION, "definition"),
        (Section::Functions, FUNCTION, "function"),
        (Section::Constants, CONSTANT, "constant"),
        (Section::Params, CONSTANT, "param"),
    ] {
        let names = section.names(&place.project);
        items.extend(names.iter().map(|name| item(name, kind, detail)));
    }
    let here = theory.formulas().filter(|axiom| {
        (axiom.span.start as usize..=axiom.span.end as usize).contains(&place.offset)
    });
    for variable in here.flat_map(|axiom| &axiom.variables) {
        let sort = theory.column_sort_name(variable.sort);
        items.push(item(&variable.name, VARIABLE, sort));
    }
    items.dedup();
    items
}

fn in_manifest(place: &Cursor<'_>) -> Vec<Value> {
    let Some(toml) = &place.toml else {
        return Vec::new();
    };
    let path: Vec<&str> = toml.path.iter().map(String::as_str).collect();
    if toml.in_value {
        return values(place, &path, toml.quoted);
    }
    if let Some(group) = MANIFEST.at(&path) {
        let key = |key: &logltn_train::manifest::keys::Key| {
            let mut item = item(key.name, PROPERTY, &key.kind.words());
            item["documentation"] = json!(key.sentence);
            item
        };
        return group.keys.iter().map(key).collect();
    }
    let section = (path.len() == 1).then(|| Section::named(path[0])).flatten();
    let names = section.map(|section| section.names(&place.project));
    let names = names.unwrap_or_default();
    names
        .iter()
        .map(|name| item(name, CLASS, "of the theory"))
        .collect()
}

/// The possible values of a key.
fn values(place: &Cursor<'_>, path: &[&str], quoted: bool) -> Vec<Value> {
    let Some((&key, tables)) = path.split_last() else {
        return Vec::new();
    };
    let known = &place.project;
    let owned: Vec<String> = path.iter().map(|name| name.to_string()).collect();
    let columns_file = known
        .manifest
        .as_ref()
        .and_then(|manifest| file_of_columns(manifest, &owned));
    let holds = MANIFEST
        .at(tables)
        .and_then(|group| group.key(key))
        .map(|key| key.kind);
    let names: Vec<String> = if let Some(file) = columns_file {
        columns(&file).into_iter().map(|(name, _)| name).collect()
    } else {
        match key {
            "predicate" => Section::Predicates.names(known),
            "function" => Section::Functions.names(known),
            "table" | "filter" => Section::Tables.names(known),
            "labels" if tables.first() == Some(&"evaluate") => Section::Sorts.names(known),
            "axioms" => Section::Axioms.names(known),
            "freeze" | "only" => {
                let mut names = Section::Predicates.names(known);
                names.extend(Section::Functions.names(known));
                names
            }
            _ => (holds.iter().flat_map(|kind| kind.choices()))
                .map(str::to_string)
                .collect(),
        }
    };
    let wrapped = |name: &str, kind: u32| {
        let mut item = item(name, kind, "");
        if !quoted {
            item["insertText"] = json!(format!("\"{name}\""));
        }
        item
    };
    let mut items: Vec<Value> = names.iter().map(|name| wrapped(name, VALUE)).collect();
    if holds.is_some_and(is_file) {
        let entries = std::fs::read_dir(folder(place.path)).into_iter().flatten();
        let mut files: Vec<String> = (entries.take(MOST_FILES).flatten())
            .filter(|entry| entry.path().is_file())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with('.') && (key == "theory") == name.ends_with(".ltn"))
            .collect();
        files.sort();
        items.extend(files.iter().map(|name| wrapped(name, FILE)));
    }
    if matches!(holds, Some(Holds::Flag)) {
        items.extend(["true", "false"].map(|word| item(word, VALUE, "")));
    }
    items
}

fn is_file(kind: Holds) -> bool {
    match kind {
        Holds::File => true,
        Holds::Either(kinds) => kinds.iter().any(|kind| is_file(*kind)),
        _ => false,
    }
}
