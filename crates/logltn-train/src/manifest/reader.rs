//! Reading TOML without stopping at the first mistake.
//!
//! [`Problems`] collects errors. [`Item`] is one value with its path and place, and what the table of keys says of it; it is read as a
//! number, a string, a list. [`Table`] has the keys of a [`Group`], refuses others, and those that exclude each other.
//!
//! Everything returns an `Option`: `None` means "reported, carry on with the rest of the file".

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use logltn::{Code, Diagnostic, Diagnostics, Number, Source, Span};
use logltn_learn::Spanned;
use toml::de::{DeTable, DeValue};

use super::Section;
use super::keys::{Group, Kind, Range};

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
    /// What it may be.
    kind: Kind,
}

/// The kind of a value, in words.
fn found(value: &DeValue<'_>) -> &'static str {
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
        let found = found(self.value);
        let message = format!("`{}`: expected {what}, found {found}", self.path);
        self.problems.push(
            self.span,
            &format!("expected {what}"),
            Diagnostic::error(Code::WrongType, message).maybe_help(help),
        );
        None
    }

    /// Reports that the value is of the right kind but out of range.
    pub(super) fn out_of_range<T>(&self, range: &str) -> Option<T> {
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

    /// The same, of what the table of keys says.
    pub(super) fn text(&self) -> Option<Spanned<String>> {
        let what = self.kind.find(|kind| match kind {
            Kind::Text(what) => Some(what),
            _ => None,
        });
        self.string(what.unwrap_or("a string"))
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
    fn finite(&self) -> Option<Spanned<f64>> {
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
            return self.finite().map(|n| Number::Real(n.value));
        };
        match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Some(Number::Int(n)),
            Err(_) => {
                self.out_of_range("an integer of 64 bits, or a decimal number such as 1.0e20")
            }
        }
    }

    /// A finite number in its range.
    pub(super) fn number(&self) -> Option<Spanned<f64>> {
        let range = self.kind.find(|kind| match kind {
            Kind::Number(range) => Some(range),
            _ => None,
        });
        let number = self.finite()?;
        match range {
            Some(Range { words, fits, .. }) if !fits(number.value) => self.out_of_range(words),
            _ => Some(number),
        }
    }

    /// A whole number in its range.
    pub(super) fn whole(&self) -> Option<Spanned<u64>> {
        let range = self.kind.find(|kind| match kind {
            Kind::Whole(least, most) => Some((least, most)),
            _ => None,
        });
        let (least, most) = range.unwrap_or((0, u64::MAX));
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
    pub(super) fn size(&self) -> Option<Spanned<usize>> {
        let n = self.whole()?;
        Some(Spanned::new(n.value as usize, n.span))
    }

    /// The array that it should be, in words, and the kinds of its members.
    pub(super) fn array(&self) -> (&'static str, &'static [Kind]) {
        let list = self.kind.find(|kind| match kind {
            Kind::List(what, each) => Some((what, std::slice::from_ref(each))),
            Kind::Tuple(what, kinds) => Some((what, kinds)),
            _ => None,
        });
        list.unwrap_or(("an array", &[]))
    }

    /// The members of an array.
    pub(super) fn items(&self) -> Option<Vec<Item<'d>>> {
        let (what, kinds) = self.array();
        let DeValue::Array(array) = self.value else {
            return self.expected(what);
        };
        let item = |(i, member): (usize, &'d toml::Spanned<DeValue<'d>>)| Item {
            kind: kinds.get(i).or(kinds.last()).copied().unwrap_or(self.kind),
            problems: self.problems,
            path: format!("{}[{i}]", self.path),
            key: span(member.span()),
            span: span(member.span()),
            value: member.get_ref(),
        };
        Some(array.iter().enumerate().map(item).collect())
    }

    /// An array whose members are read one by one; bad members are reported and left out.
    pub(super) fn list<T>(&self, read: impl FnMut(&Item<'d>) -> Option<T>) -> Option<Vec<T>> {
        let items = self.items()?;
        Some(items.iter().filter_map(read).collect())
    }

    /// A list of different, non-empty strings.
    pub(super) fn names(&self) -> Option<Names> {
        self.different(Item::text)
    }

    /// A list of different strings, one of which may be empty.
    pub(super) fn names_or_empty(&self) -> Option<Names> {
        self.different(|item| match item.value {
            DeValue::String(text) if text.is_empty() => {
                Some(Spanned::new(String::new(), item.span))
            }
            _ => item.text(),
        })
    }

    fn different(&self, read: fn(&Item<'d>) -> Option<Spanned<String>>) -> Option<Names> {
        let names = self.list(read)?;
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
        Some(Spanned::new(names, self.span))
    }

    /// The table with keys.
    pub(super) fn table(&self) -> Option<Table<'d>> {
        let group = self.kind.groups().into_iter().next()?;
        match self.value {
            DeValue::Table(table) => {
                let (problems, path) = (self.problems, self.path.clone());
                Some(Table::new(problems, path, self.place(), table, group))
            }
            _ => self.expected(group.expected),
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
        let each = self.kind.find(|kind| match kind {
            Kind::Named(each) => Some(*each),
            _ => None,
        });
        let mut section = Section::new();
        for (name, value) in table {
            let item = Item {
                problems: self.problems,
                path: format!("{}.{}", self.path, name.get_ref()),
                key: span(name.span()),
                span: span(value.span()),
                value: value.get_ref(),
                kind: each.unwrap_or(self.kind),
            };
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

/// A table with the keys of a group.
pub(super) struct Table<'d> {
    problems: &'d Problems<'d>,
    /// As in `predicates.C`; empty for the whole file.
    pub(super) path: String,
    pub(super) span: Span,
    table: &'d DeTable<'d>,
    pub(super) group: &'static Group,
    /// Whether everything so far could be read.
    sound: bool,
}

impl<'d> Table<'d> {
    pub(super) fn new(
        problems: &'d Problems<'d>,
        path: String,
        span: Span,
        table: &'d DeTable<'d>,
        group: &'static Group,
    ) -> Table<'d> {
        Table {
            problems,
            path,
            span,
            table,
            group,
            sound: true,
        }
    }

    /// The value of `key`, if it is there.
    pub(super) fn take(&self, key: &'static str) -> Option<Item<'d>> {
        #[cfg(test)]
        asked::note(self.group.title, key);
        self.given(key)
    }

    fn given(&self, key: &'static str) -> Option<Item<'d>> {
        let (name, value) = self.table.get_key_value(key)?;
        Some(Item {
            problems: self.problems,
            path: match self.path.as_str() {
                "" => key.to_owned(),
                path => format!("{path}.{key}"),
            },
            key: span(name.span()),
            span: span(value.span()),
            value: value.get_ref(),
            kind: self.group.key(key)?.kind,
        })
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

    pub(super) fn text(&mut self, key: &'static str) -> Option<Spanned<String>> {
        self.read(key, Item::text)
    }

    pub(super) fn names(&mut self, key: &'static str) -> Option<Names> {
        self.read(key, Item::names)
    }

    pub(super) fn size(&mut self, key: &'static str) -> Option<Spanned<usize>> {
        self.read(key, Item::size)
    }

    pub(super) fn whole(&mut self, key: &'static str) -> Option<u64> {
        self.read(key, Item::whole).map(|n| n.value)
    }

    pub(super) fn number(&mut self, key: &'static str) -> Option<f64> {
        self.read(key, Item::number).map(|n| n.value)
    }

    /// `true` or `false`, the default.
    pub(super) fn flag(&mut self, key: &'static str) -> bool {
        self.read(key, Item::boolean).is_some_and(|flag| flag.value)
    }

    /// Reports all but the first of keys of which only one may be there.
    fn at_most_one(&mut self, keys: &'static [&'static str]) {
        let mut given: Vec<Item<'_>> = keys.iter().filter_map(|key| self.given(key)).collect();
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
    pub(super) fn end(mut self) -> Option<()> {
        for keys in self.group.exclusive {
            self.at_most_one(keys);
        }
        for (name, _) in self.table.iter() {
            let key = name.get_ref().as_ref();
            if self.group.key(key).is_some() {
                continue;
            }
            let place = match self.path.as_str() {
                "" => String::new(),
                path => format!(" in `{path}`"),
            };
            let known: Vec<&str> = self.group.keys.iter().map(|key| key.name).collect();
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
        self.sound.then_some(())
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
        static ASKED: RefCell<Option<Vec<(&'static str, &'static str)>>> = const { RefCell::new(None) };
    }

    pub(in crate::manifest) fn start() {
        ASKED.set(Some(Vec::new()));
    }

    pub(in crate::manifest) fn note(group: &'static str, key: &'static str) {
        ASKED.with_borrow_mut(|asked| {
            if let Some(asked) = asked {
                asked.push((group, key));
            }
        });
    }

    pub(in crate::manifest) fn finish() -> Vec<(&'static str, &'static str)> {
        ASKED.take().unwrap_or_default()
    }
}
