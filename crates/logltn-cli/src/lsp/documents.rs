//! The texts that the editor has open, which theory belongs to which manifest, and what is wrong with both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use logltn::{Diagnostic, Diagnostics, Labels, Source, Theory, Word, words};
use logltn_train::manifest::Manifest;
use logltn_train::project::{Project, check_texts, read_theory_file};
use serde_json::{Value, json};

use super::toml_place::TomlPlace;
use super::{message, uri};

/// How many manifests beside a theory are read, and their largest size.
const MOST_MANIFESTS: usize = 200;
const LARGEST_MANIFEST: u64 = 1 << 20;
/// Larger data is left to `logltn check`.
const MOST_DATA: u64 = 64 << 20;

/// All open documents.
#[derive(Default)]
pub struct Documents {
    open: BTreeMap<String, Document>,
}

struct Document {
    path: PathBuf,
    text: String,
    kind: Kind,
}

/// The kind of a document.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Theory,
    Manifest,
    /// TOML that names no theory.
    Other,
}

/// A theory with the manifest that grounds it, as far as both can be read.
pub struct Known {
    pub manifest: Option<Manifest>,
    pub theory: Theory,
    pub words: Vec<Word>,
    pub theory_path: PathBuf,
    pub manifest_path: Option<PathBuf>,
}

/// The place that an editor asks about.
pub struct Cursor<'d> {
    pub kind: Kind,
    pub text: &'d str,
    pub offset: usize,
    pub path: &'d Path,
    pub project: Known,
    /// In a manifest.
    pub toml: Option<TomlPlace>,
}

impl Documents {
    pub fn open(&mut self, uri: &str, text: &str, language: &str) {
        let path = uri::path(uri);
        let text = without_mark(text);
        let document = Document {
            kind: kind(&path, text, language == "logltn"),
            path,
            text: text.to_string(),
        };
        self.open.insert(uri.to_string(), document);
    }

    pub fn change(&mut self, uri: &str, text: &str) {
        let text = without_mark(text);
        if let Some(document) = self.open.get_mut(uri) {
            let theory = document.kind == Kind::Theory;
            document.kind = kind(&document.path, text, theory);
            document.text = text.to_string();
        }
    }

    pub fn close(&mut self, uri: &str) {
        self.open.remove(uri);
    }

    /// The text of a file: the editor's, if it is open there.
    fn text(&self, path: &Path) -> Option<&str> {
        let same = |document: &&Document| same_file(&document.path, path);
        self.open
            .values()
            .find(same)
            .map(|document| document.text.as_str())
    }

    fn source(&self, path: &Path) -> Result<Source, Diagnostics> {
        match self.text(path) {
            Some(text) => Ok(Source::new(path.display().to_string(), text)),
            None => read_theory_file(path),
        }
    }

    /// The manifest that grounds a theory: an open one, or one in the same folder.
    fn manifest_of(&self, theory: &Path) -> Option<(PathBuf, String)> {
        let grounds = |path: &Path, text: &str| {
            let named = named_theory(text)?;
            same_file(&folder(path).join(named), theory).then(|| (path.to_owned(), text.to_owned()))
        };
        let open = self
            .open
            .values()
            .filter(|document| document.kind == Kind::Manifest);
        let mut open = open.filter_map(|document| grounds(&document.path, &document.text));
        if let Some(found) = open.next() {
            return Some(found);
        }
        let entries = std::fs::read_dir(folder(theory)).ok()?;
        let mut paths: Vec<PathBuf> = (entries.take(MOST_MANIFESTS).flatten())
            .map(|entry| entry.path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "toml")
            })
            .collect();
        paths.sort();
        paths.iter().find_map(|path| {
            let small = std::fs::metadata(path).is_ok_and(|m| m.len() <= LARGEST_MANIFEST);
            let text = small.then(|| std::fs::read_to_string(path).ok())??;
            grounds(path, &text)
        })
    }

    /// The diagnostics of a document, and of its theory or manifest if that is open too.
    pub fn check(&self, uri: &str, with_data: bool) -> Vec<(String, Vec<Value>)> {
        let Some(document) = self.open.get(uri) else {
            return Vec::new();
        };
        let mut found = Diagnostics::new();
        let manifest = match document.kind {
            Kind::Other => return vec![(uri.to_string(), Vec::new())],
            Kind::Manifest => Some((document.path.clone(), document.text.clone())),
            Kind::Theory => self.manifest_of(&document.path),
        };
        match manifest {
            None => {
                let source =
                    Source::new(document.path.display().to_string(), document.text.as_str());
                Theory::parse_as_far_as_possible(source, &Labels::default(), &mut found);
            }
            Some((path, text)) => self.check_project(&path, &text, with_data, &mut found),
        }
        let mut all: Vec<(String, Vec<Value>)> = Vec::new();
        for (uri, open) in &self.open {
            let name = open.path.display().to_string();
            let here = |d: &&Diagnostic| match d.span() {
                Some((source, _)) => source.name() == name,
                // Diagnostics without a place, or with one in a data file, are shown at the top of the document.
                None => std::ptr::eq(open, document),
            };
            let messages: Vec<Value> = (found.iter().filter(here))
                .map(|d| {
                    let range = d
                        .span()
                        .map(|(source, span)| uri::range(source.text(), span));
                    let start = json!({ "line": 0, "character": 0 });
                    message(
                        d,
                        range.unwrap_or_else(|| json!({ "start": start, "end": start })),
                    )
                })
                .collect();
            let other_is_concerned = open.kind != Kind::Other && !messages.is_empty();
            if std::ptr::eq(open, document) || other_is_concerned {
                all.push((uri.clone(), messages));
            }
        }
        all
    }

    fn check_project(&self, path: &Path, text: &str, with_data: bool, out: &mut Diagnostics) {
        let source = Source::new(path.display().to_string(), text);
        let parsed = Manifest::parse_as_far_as_possible(source, folder(path), out);
        let Some(manifest) = parsed else { return };
        let theory = manifest.resolve(&manifest.theory);
        match self.source(&theory) {
            Ok(source) => {
                // A project is read from disk, which lacks unsaved edits.
                let saved =
                    std::fs::read_to_string(&theory).is_ok_and(|text| text == source.text());
                if with_data && saved && data_size(&manifest) <= MOST_DATA {
                    Project::of(manifest, out);
                } else {
                    check_texts(&manifest, source, out);
                }
            }
            Err(errors) => {
                out.extend(errors.placed(&manifest.source, manifest.theory.span, "the theory"));
            }
        }
    }

    /// A position in a document with its project; `None` if there is no project.
    pub fn place(&self, uri: &str, position: &Value) -> Option<Cursor<'_>> {
        let document = self.open.get(uri)?;
        let offset = uri::offset(&document.text, position);
        let mut ignored = Diagnostics::new();
        let manifest = match document.kind {
            Kind::Other => return None,
            Kind::Manifest => Some((document.path.clone(), document.text.clone())),
            Kind::Theory => self.manifest_of(&document.path),
        };
        let manifest_path = manifest.as_ref().map(|(path, _)| path.clone());
        let manifest = manifest.and_then(|(path, text)| {
            let source = Source::new(path.display().to_string(), text);
            Manifest::parse_as_far_as_possible(source, folder(&path), &mut ignored)
        });
        let theory_path = match (document.kind, &manifest) {
            (Kind::Theory, _) => document.path.clone(),
            (_, Some(manifest)) => manifest.resolve(&manifest.theory),
            (_, None) => folder(&document.path).join(named_theory(&document.text)?),
        };
        let source = self.source(&theory_path);
        let source = source.unwrap_or_else(|_| Source::new(theory_path.display().to_string(), ""));
        let words = words(&source);
        let theory = match &manifest {
            Some(manifest) => check_texts(manifest, source, &mut ignored),
            None => Theory::parse_as_far_as_possible(source, &Labels::default(), &mut ignored),
        };
        Some(Cursor {
            kind: document.kind,
            text: &document.text,
            offset,
            path: &document.path,
            toml: (document.kind == Kind::Manifest).then(|| TomlPlace::at(&document.text, offset)),
            project: Known {
                manifest,
                theory,
                words,
                theory_path,
                manifest_path,
            },
        })
    }

    /// The edits that bring a theory into its standard form; empty if it does not parse.
    pub fn formatted(&self, uri: &str) -> Value {
        let document = self
            .open
            .get(uri)
            .filter(|document| document.kind == Kind::Theory);
        let Some(document) = document else {
            return Value::Null;
        };
        match logltn::format(&Source::new("theory", document.text.as_str())) {
            Ok(text) if text != document.text => json!([{
                "range": {
                    "start": { "line": 0, "character": 0 },
                    "end": uri::position(&document.text, document.text.len()),
                },
                "newText": text,
            }]),
            _ => json!([]),
        }
    }
}

impl Cursor<'_> {
    /// The word at this position of a theory.
    pub fn word(&self) -> Option<&Word> {
        let at = self.offset as u32;
        let touches = |word: &&Word| word.span.start <= at && at <= word.span.end;
        let mut words = self.project.words.iter().filter(touches);
        // Between `x` and `:` the word before counts.
        words.next_back().filter(|_| self.kind == Kind::Theory)
    }
}

/// A text without its byte-order mark, which no editor counts and [`Source`] drops.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn kind(path: &Path, text: &str, theory: bool) -> Kind {
    let is = |name: &str| path.extension().is_some_and(|extension| extension == name);
    match () {
        _ if theory || is("ltn") => Kind::Theory,
        _ if named_theory(text).is_some() => Kind::Manifest,
        _ => Kind::Other,
    }
}

/// The value of the key `theory` at the top of a manifest, even if the rest is invalid.
fn named_theory(text: &str) -> Option<&str> {
    let lines = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with('['));
    let mut values = lines.filter_map(|line| {
        let value = line
            .strip_prefix("theory")?
            .trim_start()
            .strip_prefix('=')?
            .trim_start();
        let quote = value.chars().next().filter(|c| "\"'".contains(*c))?;
        value[1..].split(quote).next()
    });
    values.next()
}

/// The folder of a file.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b
        || match (a.canonicalize(), b.canonicalize()) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        }
}

fn data_size(manifest: &Manifest) -> u64 {
    let size = |file: &PathBuf| std::fs::metadata(file).map_or(0, |m| m.len());
    manifest.data_files().iter().map(size).sum()
}
