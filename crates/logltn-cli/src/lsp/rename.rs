//! Renaming a symbol in its theory and its manifest.

use logltn::{Role, Source, Span, Word, words};
use logltn_train::manifest::Manifest;
use serde_json::{Value, json};

use super::definition::Section;
use super::documents::{Cursor, Kind};
use super::toml_place::TomlPlace;
use super::uri;

/// What guards compute with.
const ARITHMETIC: [&str; 4] = ["abs", "min", "max", "dist"];

/// The renamed symbol: its name, and the role of the words to change.
struct Target {
    name: String,
    role: Role,
    /// Of a variable, the declaration that it is bound in.
    declaration: Option<usize>,
    span: Span,
}

/// The answer to `textDocument/prepareRename`: the range of the name, or why it cannot be renamed.
pub fn prepare(place: &Cursor<'_>) -> Result<Value, String> {
    let target = target(place)?;
    Ok(json!({ "range": uri::range(place.text, target.span), "placeholder": target.name }))
}

/// The answer to `textDocument/rename`: the edits of theory and manifest.
pub fn rename(place: &Cursor<'_>, new: &str) -> Result<Value, String> {
    let target = target(place)?;
    let known = &place.project;
    let as_words = words(&Source::new("name", format!("axiom a: P({new})")));
    let is_name = as_words.len() == 4 && as_words[3].text == new && as_words[3].role == Role::Term;
    if !is_name {
        return Err(format!("`{new}` is not a name, or is a reserved word"));
    }
    // A name that is already used would be ambiguous, also if it is a label of the data.
    let is_label = |sort: &logltn::theory::Sort| sort.labels.iter().any(|label| label == new);
    // The variables of other declarations are others.
    let taken = |word: &Word| {
        let other = target
            .declaration
            .is_some_and(|here| here != word.declaration);
        word.text == new && (!other || word.declares)
    };
    if known.words.iter().any(taken) || known.theory.sorts.iter().any(is_label) {
        return Err(format!("the theory has `{new}` already"));
    }
    for name in [new, &target.name] {
        if target.role == Role::Symbol && ARITHMETIC.contains(&name) {
            return Err(format!("`{name}` is arithmetic in guards"));
        }
    }
    let theory = known.theory.source.text();
    let in_theory: Vec<Value> = (known.words.iter().filter(|word| target.means(word)))
        .map(|word| {
            let quoted = theory[word.span.start as usize..].starts_with('"');
            let text = if quoted {
                format!("\"{new}\"")
            } else {
                new.to_string()
            };
            json!({ "range": uri::range(theory, word.span), "newText": text })
        })
        .collect();
    let mut changes = serde_json::Map::new();
    changes.insert(uri::of(&known.theory_path), json!(in_theory));
    if let (Some(manifest), Some(path)) = (&known.manifest, &known.manifest_path)
        && target.declaration.is_none()
    {
        let text = manifest.source.text();
        let edits: Vec<Value> = (target.in_manifest(manifest).into_iter())
            .map(|span| json!({ "range": uri::range(text, span), "newText": as_toml(text, span, new) }))
            .collect();
        if !edits.is_empty() {
            changes.insert(uri::of(path), json!(edits));
        }
    }
    Ok(json!({ "changes": changes }))
}

/// The new name as TOML writes it there: a bare key is ASCII.
fn as_toml(text: &str, span: Span, new: &str) -> String {
    let quoted = text[..span.start as usize].ends_with(['"', '\'']);
    match quoted || new.is_ascii() || TomlPlace::at(text, span.start as usize).in_value {
        true => new.to_string(),
        false => format!("\"{new}\""),
    }
}

fn target(place: &Cursor<'_>) -> Result<Target, String> {
    let nothing = || "there is nothing to rename here".to_string();
    let known = &place.project;
    if place.kind == Kind::Manifest {
        let toml = place.toml.as_ref().ok_or_else(nothing)?;
        let section = toml
            .path
            .first()
            .filter(|_| toml.path.len() == 1 && !toml.in_value);
        let section = section
            .and_then(|name| Section::named(name))
            .ok_or_else(nothing)?;
        let declared =
            |word: &&Word| word.declares && word.role == section.role() && word.text == toml.word;
        known.words.iter().find(declared).ok_or_else(nothing)?;
        return Ok(Target {
            name: toml.word.clone(),
            role: section.role(),
            declaration: None,
            span: Span::new(toml.start, toml.end),
        });
    }
    let word = place.word().ok_or_else(nothing)?;
    let declared = known
        .words
        .iter()
        .any(|other| other.declares && other.role == word.role && other.text == word.text);
    let declaration = match word.role {
        Role::Keyword => return Err(format!("`{}` is a word of the language", word.text)),
        Role::Column => return Err("a column is named by its file: rename it there".to_string()),
        Role::Term if !declared => {
            let is_label = known
                .theory
                .sorts
                .iter()
                .any(|sort| sort.labels.contains(&word.text));
            let is_bound = (known.theory.formulas().flat_map(|axiom| &axiom.variables))
                .any(|variable| variable.name == word.text);
            if is_label && !is_bound {
                return Err("this individual is named by the data: rename it there".to_string());
            }
            Some(word.declaration)
        }
        _ if !declared => return Err(format!("the theory does not declare `{}`", word.text)),
        _ => None,
    };
    Ok(Target {
        name: word.text.clone(),
        role: word.role,
        declaration,
        span: word.span,
    })
}

impl Target {
    fn means(&self, word: &Word) -> bool {
        word.role == self.role
            && word.text == self.name
            && self
                .declaration
                .is_none_or(|declaration| declaration == word.declaration)
    }

    /// The places of a manifest that name the symbol: keys of its section, strings that are its name, and expressions with it.
    fn in_manifest(&self, manifest: &Manifest) -> Vec<Span> {
        let text = manifest.source.text();
        let mut found = Vec::new();
        for (at, _) in text.match_indices(&self.name) {
            let place = TomlPlace::at(text, at);
            // Comments contain no words.
            if !(place.start <= at && at + self.name.len() <= place.end) {
                continue;
            }
            let whole = place.word == self.name && place.start == at;
            let path: Vec<&str> = place.path.iter().map(String::as_str).collect();
            let is_key = !place.in_value && path.len() == 1;
            let section = path.first().and_then(|name| Section::named(name));
            // A member of a family is its name with the individual in brackets.
            let member = place.start == at && place.word[self.name.len()..].starts_with('[');
            let named = match (self.role, path.last().copied()) {
                (Role::Axiom, _) if is_key && member => path[0] == "axioms",
                _ if is_key => whole && section.is_some_and(|section| section.role() == self.role),
                _ if !place.in_value || !place.quoted => false,
                (Role::Symbol, Some("predicate" | "function" | "table" | "filter")) => whole,
                (Role::Symbol | Role::Sort | Role::Term, Some("freeze" | "only")) => whole,
                (Role::Sort, Some("labels")) => whole,
                (Role::Sort, Some("of")) => self.is_word(text, at),
                (Role::Symbol, Some("inputs")) => {
                    let after = text[at + self.name.len()..].trim_start();
                    self.is_word(text, at) && after.starts_with('(')
                }
                (Role::Axiom, Some("axioms")) => whole || member,
                // `early_stop` may call a metric `accuracy(C)`.
                (Role::Symbol, Some("metric")) => {
                    self.is_word(text, at) && text[..at].ends_with('(')
                }
                _ => false,
            };
            // The same name can be a table and a symbol of two sections; the theory has it once.
            if named {
                found.push(Span::new(at, at + self.name.len()));
            }
        }
        found
    }

    fn is_word(&self, text: &str, at: usize) -> bool {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        !text[..at].ends_with(part) && !text[at + self.name.len()..].starts_with(part)
    }
}
