//! Where a name is declared: in the theory, in the manifest, or in the header of a CSV file.

use std::io::{BufRead, BufReader};
use std::path::Path;

use logltn::{Role, Span, Word};
use logltn_train::manifest::{Individuals, Manifest};
use serde_json::{Value, json};

use super::documents::{Cursor, Kind, Known};
use super::uri;

macro_rules! sections {
    ($($section:ident $key:ident $role:ident;)*) => {
        /// A section of the manifest whose names are those of the theory.
        #[derive(Clone, Copy, PartialEq)]
        pub enum Section {
            $($section,)*
            /// Which no manifest grounds.
            Definitions,
        }

        impl Section {
            pub fn named(name: &str) -> Option<Section> {
                let all = [$((stringify!($key), Section::$section)),*];
                all.into_iter().find(|(key, _)| *key == name).map(|(_, section)| section)
            }

            /// The kind of its names in the theory.
            pub fn role(self) -> Role {
                match self {
                    $(Section::$section => Role::$role,)*
                    Section::Definitions => Role::Symbol,
                }
            }

            /// The names of the theory that belong here.
            pub fn names(self, known: &Known) -> Vec<String> {
                let theory = &known.theory;
                match self {
                    $(Section::$section => theory.$key.iter().map(|s| s.name.clone()).collect(),)*
                    Section::Definitions => {
                        theory.definitions.iter().map(|d| d.name().to_string()).collect()
                    }
                }
            }

            /// Where the manifest names an entry.
            pub fn entry(self, manifest: &Manifest, name: &str) -> Option<Span> {
                match self {
                    $(Section::$section => manifest.$key.get(name).map(|entry| entry.span),)*
                    Section::Definitions => None,
                }
            }
        }
    };
}

sections! {
    Sorts sorts Sort;
    Tables tables Symbol;
    Params params Term;
    Predicates predicates Symbol;
    Functions functions Symbol;
    Constants constants Term;
    Axioms axioms Axiom;
}

/// The answer to `textDocument/definition`.
pub fn definition(place: &Cursor<'_>) -> Value {
    let found = match place.kind {
        Kind::Theory => place.word().and_then(|word| of_word(&place.project, word)),
        _ => of_manifest(place),
    };
    found.unwrap_or(Value::Null)
}

fn location(path: &Path, text: &str, span: Span) -> Value {
    json!({ "uri": uri::of(path), "range": uri::range(text, span) })
}

fn of_word(known: &Known, word: &Word) -> Option<Value> {
    if word.role == Role::Column {
        return of_column(known, word);
    }
    match word.declares {
        true => in_manifest(known, word),
        false => in_theory(known, word.role, &word.text, Some(word)),
    }
}

/// Where the theory declares a name; a variable where it is bound.
fn in_theory(known: &Known, role: Role, name: &str, used: Option<&Word>) -> Option<Value> {
    let same = |word: &&Word| word.role == role && word.text == name;
    let mut words = known.words.iter().filter(same);
    let declared = words.clone().find(|word| word.declares);
    let found = declared.or_else(|| {
        let used = used?;
        words.find(|word| word.declaration == used.declaration)
    })?;
    let text = known.theory.source.text();
    Some(location(&known.theory_path, text, found.span))
}

/// Where the manifest grounds what is declared.
fn in_manifest(known: &Known, word: &Word) -> Option<Value> {
    let manifest = known.manifest.as_ref()?;
    let sections: &[Section] = match word.role {
        Role::Sort => &[Section::Sorts],
        Role::Axiom => &[Section::Axioms],
        Role::Term => &[Section::Constants, Section::Params],
        _ => &[Section::Predicates, Section::Functions, Section::Tables],
    };
    let span = sections
        .iter()
        .find_map(|section| section.entry(manifest, &word.text))?;
    Some(location(
        known.manifest_path.as_ref()?,
        manifest.source.text(),
        span,
    ))
}

/// The column of a table or a feature in the header of its file.
fn of_column(known: &Known, word: &Word) -> Option<Value> {
    let manifest = known.manifest.as_ref()?;
    if word.declares {
        let same = |table: &&Word| table.declaration == word.declaration && table.declares;
        let table = known.words.iter().find(same)?;
        let rows = &manifest.tables.get(&table.text)?.rows;
        return in_header(&manifest.resolve(rows), &word.text);
    }
    let features = manifest
        .sorts
        .values()
        .filter_map(|sort| match &sort.individuals {
            Some(Individuals::Features(from)) => Some(manifest.resolve(&from.file)),
            _ => None,
        });
    features
        .into_iter()
        .find_map(|file| in_header(&file, &word.text))
}

/// The first line of a CSV file, if it is one of a sane length.
fn header(path: &Path) -> Option<String> {
    const LONGEST: u64 = 1 << 20;
    path.extension().filter(|extension| *extension == "csv")?;
    let file = std::fs::File::open(path).ok()?;
    let mut line = String::new();
    let mut reader = BufReader::new(std::io::Read::take(file, LONGEST));
    reader.read_line(&mut line).ok()?;
    Some(line.trim_start_matches('\u{feff}').trim_end().to_string())
}

/// The columns of a CSV file, each with its place in the header. Names in quotes are not looked into.
pub fn columns(path: &Path) -> Vec<(String, Span)> {
    let Some(header) = header(path) else {
        return Vec::new();
    };
    let mut at = 0;
    let column = |cell: &str| {
        let name = cell.trim();
        let start = at + cell.len() - cell.trim_start().len();
        at += cell.len() + 1;
        (
            name.trim_matches('"').to_string(),
            Span::new(start, start + name.len()),
        )
    };
    header.split(',').map(column).collect()
}

fn in_header(path: &Path, name: &str) -> Option<Value> {
    let (_, span) = columns(path)
        .into_iter()
        .find(|(column, _)| column == name)?;
    Some(location(path, &header(path)?, span))
}

/// The file whose columns are named at a place in the manifest.
pub fn file_of_columns(manifest: &Manifest, path: &[String]) -> Option<std::path::PathBuf> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let file = match path[..] {
        ["sorts", sort, "features", "columns" | "names"] => &manifest.features(sort)?.file,
        ["sorts", sort, "labels", "column"] => {
            &manifest.sorts.get(sort)?.labels.as_ref()?.value.file
        }
        _ => return None,
    };
    Some(manifest.resolve(file))
}

fn of_manifest(place: &Cursor<'_>) -> Option<Value> {
    let known = &place.project;
    let toml = place.toml.as_ref()?;
    if !toml.in_value {
        let section = Section::named(toml.path.first()?).filter(|_| toml.path.len() == 1)?;
        return in_theory(known, section.role(), &toml.word, None);
    }
    if let Some(manifest) = &known.manifest
        && let Some(file) = file_of_columns(manifest, &toml.path)
    {
        return in_header(&file, &toml.word);
    }
    let roles: &[Role] = match toml.path.last()?.as_str() {
        "predicate" | "function" | "table" | "filter" => &[Role::Symbol],
        "labels" => &[Role::Sort],
        "axioms" => &[Role::Axiom],
        "freeze" | "only" => &[Role::Symbol, Role::Sort, Role::Term],
        _ => {
            let file = super::documents::folder(place.path).join(&toml.word);
            let is_file = toml.quoted && file.is_file();
            return is_file.then(|| location(&file, "", Span::new(0, 0)));
        }
    };
    (roles.iter()).find_map(|role| in_theory(known, *role, &toml.word, None))
}
