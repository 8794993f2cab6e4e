//! Reading TOML without stopping at the first mistake.
//!
//! [`Problems`] collects errors. [`Item`] is one value with its path and place, with conversions to a number, a
//! string, a list. [`Table`] records every key that is requested, so that all other keys can be refused, and the list
//! of known keys always matches the keys that are read.
//!
//! Everything returns an `Option`: `None` means "reported, carry on with the rest of the file".

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use logltn::{Code, Diagnostic, Diagnostics, Number, Source, Span};
use logltn_learn::Spanned;
use toml::de::{DeTable, DeValue};

use super::Section;
use super::keys::MANIFEST;

/// All that was found wrong, put into the order of the file at the end.
///
/// Everything that is read knows where to report, so that readers need not hand it on.
pub(super) struct Problems<'s> {
    pub(super) source: &'s Source,
    found: RefCell<Vec<(u32, Diagnostic)>>,
}

impl<'s> Problems<'s> {
    pub(super) fn new(source: &'s Source) -> Problems<'s> {
        Problems {
            source,
            found: RefCell::default(),
        }
    }

    /// Reports `diagnostic` at `span`, with a few words under the marks.
    pub(super) fn push(&self, span: Span, label: &str, diagnostic: Diagnostic) {
        let found = (span.start, diagnostic.at(self.source, span, label));
        self.found.borrow_mut().push(found);
    }

    /// Reports an error whose message needs no help.
    pub(super) fn error(&self, code: Code, span: Span, message: impl Into<String>) {
        self.push(span, "", Diagnostic::error(code, message));
    }

    /// The number of problems so far.
    pub(super) fn count(&self) -> usize {
        self.found.borrow().len()
    }

    pub(super) fn finish(self) -> Diagnostics {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(start, _)| *start);
        found.into_iter().map(|(_, d)| d).collect()
    }
}

/// One value of the file.
#[derive(Clone)]
pub(super) struct Item<'d> {
    pub(super) problems: &'d Problems<'d>,
    /// As in `predicates.C.network.mlp[0]`.
    pub(super) path: String,
    /// The key that leads to it, or the value itself inside an array.
    pub(super) key: Span,
    /// The value; for a `[header]`, the header.
    pub(super) span: Span,
    pub(super) value: &'d DeValue<'d>,
}

/// The kind of a value, in words.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a decimal number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

impl<'d> Item<'d> {
    /// Reports an error in the value.
    pub(super) fn wrong(&self, label: &str, diagnostic: Diagnostic) {
        self.problems.push(self.span, label, diagnostic);
    }

    /// Reports that it should not be there.
    pub(super) fn misplaced(&self, label: &str, what: String, help: &str) {
        let error = Diagnostic::error(Code::ConflictingKeys, what);
        let help = Some(help.to_string()).filter(|help| !help.is_empty());
        self.problems.push(self.key, label, error.maybe_help(help));
    }

    /// Reports that there is nothing in it.
    pub(super) fn refuse_empty(&self, what: &str) {
        let message = format!("`{}` is empty: {what}", self.path);
        self.problems.error(Code::EmptyValue, self.span, message);
    }

    /// Reports that something else was expected here.
    pub(super) fn expected<T>(&self, what: &str) -> Option<T> {
        self.expected_with_help(what, None)
    }

    pub(super) fn expected_with_help<T>(&self, what: &str, help: Option<String>) -> Option<T> {
        let found = kind(self.value);
        let message = format!("`{}`: expected {what}, found {found}", self.path);
        self.problems.push(
            self.span,
            &format!("expected {what}"),
            Diagnostic::error(Code::WrongType, message).maybe_help(help),
        );
        None
    }

    /// Reports that the value is of the right kind but out of range.
    fn out_of_range<T>(&self, range: &str) -> Option<T> {
        let found = self.problems.source.slice(self.span);
        let message = format!("`{}` must be {range}, not {found}", self.path);
        self.problems.push(
            self.span,
            &format!("must be {range}"),
            Diagnostic::error(Code::ValueOutOfRange, message),
        );
        None
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.value, DeValue::String(_))
    }

    pub(super) fn is_empty_array(&self) -> bool {
        matches!(self.value, DeValue::Array(array) if array.is_empty())
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self.value, DeValue::Integer(_) | DeValue::Float(_))
    }

    /// A string that is not empty.
    pub(super) fn string(&self, what: &str) -> Option<Spanned<String>> {
        match self.value {
            DeValue::String(text) if text.trim().is_empty() => {
                self.refuse_empty(&format!("expected {what}"));
                None
            }
            DeValue::String(text) => Some(Spanned::new(text.clone().into_owned(), self.span)),
            _ => self.expected(what),
        }
    }

    /// The path of a file, as written.
    pub(super) fn file(&self) -> Option<Spanned<PathBuf>> {
        let text = self.string("the path of a file, as a string")?;
        Some(Spanned::new(PathBuf::from(text.value), text.span))
    }

    /// One of a few words.
    pub(super) fn one_of<T: Copy>(&self, choices: &[(&str, T)]) -> Option<Spanned<T>> {
        let names = || choices.iter().map(|(name, _)| *name);
        let list = quoted_list(names());
        let DeValue::String(text) = self.value else {
            return self.expected(&format!("one of {list}"));
        };
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text.as_ref()) {
            return Some(Spanned::new(*choice, self.span));
        }
        let message = format!("`{}`: `{text}` is not one of {list}", self.path);
        self.problems.push(
            self.span,
            "not known",
            Diagnostic::error(Code::UnknownChoice, message).maybe_help(did_you_mean(text, names())),
        );
        None
    }

    /// `true` or `false`.
    pub(super) fn boolean(&self) -> Option<Spanned<bool>> {
        match self.value {
            DeValue::Boolean(value) => Some(Spanned::new(*value, self.span)),
            _ => self.expected("`true` or `false`"),
        }
    }

    /// A finite number, whole or not.
    pub(super) fn number(&self) -> Option<Spanned<f64>> {
        let value = match self.value {
            DeValue::Integer(n) => i128::from_str_radix(n.as_str(), n.radix())
                .ok()
                .map(|n| n as f64),
            DeValue::Float(n) => n.as_str().parse().ok(),
            _ => return self.expected("a number"),
        };
        match value {
            Some(value) if value.is_finite() => Some(Spanned::new(value, self.span)),
            _ => self.out_of_range("a finite number"),
        }
    }

    /// A number of a guard: an integer stays exact.
    pub(super) fn exact_number(&self) -> Option<Number> {
        let DeValue::Integer(n) = self.value else {
            return self.number().map(|n| Number::Real(n.value));
        };
        match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Some(Number::Int(n)),
            Err(_) => {
                self.out_of_range("an integer of 64 bits, or a decimal number such as 1.0e20")
            }
        }
    }

    /// A finite number for which `fits` holds; `range` describes the condition.
    pub(super) fn number_where(
        &self,
        range: &str,
        fits: impl Fn(f64) -> bool,
    ) -> Option<Spanned<f64>> {
        let number = self.number()?;
        if fits(number.value) {
            Some(number)
        } else {
            self.out_of_range(range)
        }
    }

    /// A whole number from `least` to `most`.
    pub(super) fn whole(&self, least: u64, most: u64) -> Option<Spanned<u64>> {
        let DeValue::Integer(n) = self.value else {
            return self.expected("a whole number");
        };
        match i128::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) if (i128::from(least)..=i128::from(most)).contains(&n) => {
                Some(Spanned::new(n as u64, self.span))
            }
            // A number that does not fit 128 bits is too large, unless it is negative.
            _ if n.as_str().starts_with('-') || n.as_str().trim_start_matches('0').is_empty() => {
                self.out_of_range(&format!("at least {least}"))
            }
            _ => self.out_of_range(&format!("at least {least} and at most {most}")),
        }
    }

    /// [`Item::whole`] for sizes and counts of things in memory.
    pub(super) fn size(&self, most: u64) -> Option<Spanned<usize>> {
        let n = self.whole(1, most)?;
        Some(Spanned::new(n.value as usize, n.span))
    }

    /// The members of an array; `what` says what they should be.
    pub(super) fn items(&self, what: &str) -> Option<Vec<Item<'d>>> {
        let DeValue::Array(array) = self.value else {
            return self.expected(what);
        };
        let item = |(i, member): (usize, &'d toml::Spanned<DeValue<'d>>)| Item {
            problems: self.problems,
            path: format!("{}[{i}]", self.path),
            key: span(member.span()),
            span: span(member.span()),
            value: member.get_ref(),
        };
        Some(array.iter().enumerate().map(item).collect())
    }

    /// An array whose members are read one by one; bad members are reported and left out.
    pub(super) fn list<T>(
        &self,
        what: &str,
        read: impl FnMut(&Item<'d>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.items(what)?;
        Some(items.iter().filter_map(read).collect())
    }

    /// A list of different, non-empty strings.
    pub(super) fn names(&self, what: &str) -> Option<Vec<Spanned<String>>> {
        let names = self.list(what, |item| item.string("a name"))?;
        self.different(names)
    }

    /// A list of different strings, one of which may be empty.
    pub(super) fn names_or_empty(&self, what: &str) -> Option<Vec<Spanned<String>>> {
        let names = self.list(what, |item| match item.value {
            DeValue::String(text) if text.is_empty() => {
                Some(Spanned::new(String::new(), item.span))
            }
            _ => item.string("a name"),
        })?;
        self.different(names)
    }

    fn different(&self, names: Vec<Spanned<String>>) -> Option<Vec<Spanned<String>>> {
        let mut first = std::collections::BTreeMap::new();
        for name in &names {
            if let Some(earlier) = first.insert(name.as_str(), name.span) {
                self.problems.push(
                    name.span,
                    "again here",
                    Diagnostic::error(
                        Code::DuplicateName,
                        format!("`{}`: `{}` is listed twice", self.path, name.value),
                    )
                    .mark(earlier, "first here"),
                );
            }
        }
        Some(names)
    }

    /// The table with keys; `what` says what it should be.
    pub(super) fn table(&self, what: &str) -> Option<Table<'d>> {
        match self.value {
            DeValue::Table(table) => Some(Table::new(
                self.problems,
                self.path.clone(),
                self.place(),
                table,
            )),
            _ => self.expected(what),
        }
    }

    /// The place of the whole item: the name in a header, otherwise the value, which is easier to recognise than `{ …
    /// }`.
    fn place(&self) -> Span {
        if self.span.start <= self.key.start {
            self.key
        } else {
            self.span
        }
    }

    /// The names in a table, with values of any type.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'d str> + use<'d> {
        let table = match self.value {
            DeValue::Table(table) => Some(table),
            _ => None,
        };
        table
            .into_iter()
            .flat_map(|table| table.keys().map(|key| key.get_ref().as_ref()))
    }

    /// A table of named entries, each read by `read`; the paths of those that cannot be read go to
    /// `broken`, or the path of the section itself.
    pub(super) fn section<T>(
        &self,
        broken: &mut BTreeSet<String>,
        mut read: impl FnMut(&Item<'d>) -> Option<T>,
    ) -> Option<Section<T>> {
        let DeValue::Table(table) = self.value else {
            broken.insert(self.path.clone());
            return self.expected("a table");
        };
        let mut section = Section::new();
        for item in Table::new(self.problems, self.path.clone(), self.span, table).all() {
            let name = item.path.split_at(self.path.len() + 1).1.to_owned();
            if name.is_empty() {
                self.problems.error(
                    Code::EmptyValue,
                    item.key,
                    format!("a name in `{}` is empty", self.path),
                );
            }
            match read(&item) {
                Some(value) => {
                    section.insert(name, Spanned::new(value, item.key));
                }
                None => {
                    broken.insert(item.path);
                }
            }
        }
        Some(section)
    }
}

/// Names with their places.
pub(super) type Names = Spanned<Vec<Spanned<String>>>;

/// A table that records which of its keys were requested.
pub(super) struct Table<'d> {
    problems: &'d Problems<'d>,
    /// As in `predicates.C`; empty for the whole file.
    pub(super) path: String,
    pub(super) span: Span,
    table: &'d DeTable<'d>,
    known: Vec<&'static str>,
    /// Whether everything so far could be read.
    sound: bool,
}

impl<'d> Table<'d> {
    pub(super) fn new(
        problems: &'d Problems<'d>,
        path: String,
        span: Span,
        table: &'d DeTable<'d>,
    ) -> Table<'d> {
        Table {
            problems,
            path,
            span,
            table,
            known: Vec::new(),
            sound: true,
        }
    }

    /// The value of `key`, if it is there. Every key must be requested before [`Table::finish`].
    pub(super) fn take(&mut self, key: &'static str) -> Option<Item<'d>> {
        if !self.known.contains(&key) {
            self.known.push(key);
            #[cfg(test)]
            asked::note(&self.path, key);
        }
        let (name, value) = self.table.get_key_value(key)?;
        Some(self.item(key, name.span(), value))
    }

    /// The value of `key`, which must be there; `hint` shows how it is written.
    pub(super) fn require(&mut self, key: &'static str, hint: &str) -> Option<Item<'d>> {
        let item = self.take(key);
        if item.is_none() {
            let place = if self.path.is_empty() {
                "the manifest".to_owned()
            } else {
                format!("`{}`", self.path)
            };
            self.problems.push(
                self.span,
                "missing here",
                Diagnostic::error(Code::MissingKey, format!("{place} has no `{key}`"))
                    .help(format!("add `{key} = {hint}`")),
            );
        }
        item
    }

    /// The value of `key`, converted by `read`; `None` if it is not there or could not be read; [`Table::end`] reports
    /// the latter.
    pub(super) fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Item<'d>) -> Option<T>,
    ) -> Option<T> {
        let item = self.take(key)?;
        self.value(&item, read)
    }

    /// The same for an item that was taken before.
    pub(super) fn value<T>(
        &mut self,
        item: &Item<'d>,
        read: impl FnOnce(&Item<'d>) -> Option<T>,
    ) -> Option<T> {
        let value = read(item);
        self.sound &= value.is_some();
        value
    }

    /// A text; `what` says of what.
    pub(super) fn text(&mut self, key: &'static str, what: &str) -> Option<Spanned<String>> {
        self.read(key, |item| item.string(what))
    }

    /// Names; `what` says of what.
    pub(super) fn names(&mut self, key: &'static str, what: &str) -> Option<Names> {
        self.read(key, |item| Some(Spanned::new(item.names(what)?, item.span)))
    }

    /// A count of things in memory.
    pub(super) fn size(&mut self, key: &'static str, most: u64) -> Option<Spanned<usize>> {
        self.read(key, |item| item.size(most))
    }

    /// A whole number.
    pub(super) fn whole(&mut self, key: &'static str, least: u64, most: u64) -> Option<u64> {
        self.read(key, |item| item.whole(least, most))
            .map(|n| n.value)
    }

    /// A number for which `fits` holds.
    pub(super) fn number(
        &mut self,
        key: &'static str,
        range: &str,
        fits: impl Fn(f64) -> bool,
    ) -> Option<f64> {
        self.read(key, |item| item.number_where(range, fits))
            .map(|n| n.value)
    }

    /// `true` or `false`, the default.
    pub(super) fn flag(&mut self, key: &'static str) -> bool {
        self.read(key, Item::boolean).is_some_and(|flag| flag.value)
    }

    /// Reports all but the first of `given`, where only one may be there.
    pub(super) fn at_most_one(&mut self, given: &[&Option<Item<'_>>]) {
        let mut given: Vec<&Item<'_>> = given.iter().filter_map(|item| item.as_ref()).collect();
        given.sort_by_key(|item| item.key.start);
        let [first, others @ ..] = given.as_slice() else {
            return;
        };
        let name = |item: &Item<'_>| item.path.rsplit('.').next().unwrap_or_default().to_owned();
        for other in others {
            let (path, one, two) = (&self.path, name(first), name(other));
            let what = format!("`{path}` has both `{one}` and `{two}`: only one of them can be");
            let error = Diagnostic::error(Code::ConflictingKeys, what).mark(first.key, "first");
            self.problems.push(other.key, "second", error);
        }
        self.sound &= others.is_empty();
    }

    /// Refuses unknown keys; `None` if something could not be read, or if several keys exclude each other.
    pub(super) fn end(self) -> Option<()> {
        let sound = self.sound;
        self.finish();
        sound.then_some(())
    }

    /// Refuses unknown keys.
    pub(super) fn finish(self) {
        for (name, _) in self.table.iter() {
            let key = name.get_ref().as_ref();
            if self.known.contains(&key) {
                continue;
            }
            let place = if self.path.is_empty() {
                String::new()
            } else {
                format!(" in `{}`", self.path)
            };
            let known = self.known_keys();
            let help = elsewhere(key, &known);
            let help = help.or_else(|| did_you_mean(key, known.iter().copied()));
            self.problems.push(
                span(name.span()),
                "unknown key",
                Diagnostic::error(Code::UnknownKey, format!("unknown key `{key}`{place}"))
                    .note(format!("known keys: {}", quoted_list(known)))
                    .maybe_help(help),
            );
        }
    }

    /// The requested keys, in the order of the table of all keys.
    fn known_keys(&self) -> Vec<&'static str> {
        let mut known = self.known.clone();
        if let Some(group) = MANIFEST.at_path(&self.path) {
            known.sort_by_key(|key| group.keys.iter().position(|one| one.name == *key));
        }
        known
    }

    fn item(
        &self,
        key: &str,
        name: std::ops::Range<usize>,
        value: &'d toml::Spanned<DeValue<'d>>,
    ) -> Item<'d> {
        Item {
            problems: self.problems,
            path: if self.path.is_empty() {
                key.to_owned()
            } else {
                format!("{}.{key}", self.path)
            },
            key: span(name),
            span: span(value.span()),
            value: value.get_ref(),
        }
    }

    fn all(&self) -> Vec<Item<'d>> {
        let item = |(name, value): (&toml::Spanned<_>, &'d _)| {
            let key: &std::borrow::Cow<'_, str> = name.get_ref();
            self.item(key, name.span(), value)
        };
        self.table.iter().map(item).collect()
    }
}

/// `` `a`, `b`, `c` ``.
pub(super) fn quoted_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    quoted.join(", ")
}

/// A place as the TOML parser gives it.
pub(super) fn span(range: std::ops::Range<usize>) -> Span {
    Span::new(range.start, range.end)
}

/// Names of keys in other programs, or misplaced keys, with the right form.
fn elsewhere(key: &str, known: &[&str]) -> Option<String> {
    let has = |name: &str| known.contains(&name);
    let text = match key {
        "lr" | "rate" if has("learning_rate") => "did you mean `learning_rate`?",
        "batch_size" | "batch" if has("learning_rate") => {
            "a batch is taken of a table: `[tables]` with `T = { rows = \"t.csv\", batch = 32 }`"
        }
        "file" | "path" | "csv" | "data" if has("rows") => "did you mean `rows`?",
        "file" | "path" | "csv" | "data" if has("features") => "did you mean `features`?",
        "mlp" | "cnn" | "layers" | "activation" | "inputs" | "undecided" if has("network") => {
            "it belongs to the network: `network = { mlp = [16, 16], activation = \"elu\" }`"
        }
        "learn" if has("log_truth") => {
            "put it next to `closed_form`, not in it: `learn = { rate = 0.05 }`"
        }
        "semantics" if has("learning_rate") => "put it at the top, before all sections",
        "size" | "count" if has("individuals") => {
            "individuals have names, or rows of `features`: `individuals = [\"ann\", \"bob\"]`, or a file with one name per line"
        }
        _ => return None,
    };
    Some(text.to_string())
}

/// `did you mean …?` for a typo, or for the only choice that the word abbreviates or extends: `acc`, `auc`, `product`.
pub(super) fn did_you_mean<'a>(
    text: &str,
    choices: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    const SHORTEST: usize = 3;
    let choices: Vec<&str> = choices.into_iter().collect();
    let near = logltn::did_you_mean(text, choices.iter().copied());
    near.or_else(|| {
        let word = text.to_lowercase();
        let stands_for = |choice: &&&str| {
            let (short, long) = match word.len() < choice.len() {
                true => (word.as_str(), **choice),
                false => (**choice, word.as_str()),
            };
            short.len() >= SHORTEST && (long.starts_with(short) || long.ends_with(short))
        };
        let mut fitting = choices.iter().filter(stands_for);
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(format!("did you mean `{only}`?")),
            _ => None,
        }
    })
}

/// The requested keys, for the test that compares them with the table of keys.
#[cfg(test)]
pub(super) mod asked {
    use std::cell::RefCell;

    thread_local! {
        static ASKED: RefCell<Option<Vec<(String, &'static str)>>> = const { RefCell::new(None) };
    }

    pub(in crate::manifest) fn start() {
        ASKED.set(Some(Vec::new()));
    }

    pub(in crate::manifest) fn note(path: &str, key: &'static str) {
        ASKED.with_borrow_mut(|asked| {
            if let Some(asked) = asked {
                asked.push((path.to_string(), key));
            }
        });
    }

    pub(in crate::manifest) fn finish() -> Vec<(String, &'static str)> {
        ASKED.take().unwrap_or_default()
    }
}
