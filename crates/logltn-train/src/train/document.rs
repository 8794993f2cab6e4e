//! A TOML document that can be changed and written back, in any notation.

use std::collections::BTreeMap;
use std::fmt::Write;

use toml::de::{DeArray, DeTable, DeValue};

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// A string, a number, a truth value, a time: as TOML writes it.
    Leaf(String),
    /// An array.
    List(Vec<Node>),
    /// Keys and values, in the order of the file.
    Table(Vec<(String, Node)>),
}

/// The sections whose entries have their own headers, `[predicates.C]`.
const OF_ENTRIES: [&str; 6] = [
    "axioms",
    "constants",
    "functions",
    "networks",
    "predicates",
    "sorts",
];

impl Node {
    /// Reads a document. Strings that begin at one of these places are replaced.
    pub fn parse(text: &str, strings: &BTreeMap<usize, String>) -> Option<Node> {
        let document = DeTable::parse(text).ok()?;
        Some(table(document.get_ref(), strings))
    }

    /// A string.
    pub fn string(text: &str) -> Node {
        let mut out = String::from("\"");
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                c if c.is_control() => {
                    let _ = write!(out, "\\u{:04X}", c as u32);
                }
                c => out.push(c),
            }
        }
        out.push('"');
        Node::Leaf(out)
    }

    /// A table with these entries.
    pub fn table<const N: usize>(entries: [(&str, Node); N]) -> Node {
        Node::Table(entries.map(|(key, value)| (key.to_string(), value)).into())
    }

    /// The entry of a table; a new empty table if it is missing.
    pub fn section(&mut self, key: &str) -> &mut Node {
        match self {
            Node::Table(entries) => {
                let known = entries.iter().position(|(name, _)| name == key);
                let at = known.unwrap_or_else(|| {
                    entries.push((key.to_string(), Node::Table(Vec::new())));
                    entries.len() - 1
                });
                &mut entries[at].1
            }
            // To which nothing can be added.
            other => other,
        }
    }

    /// Sets an entry of a table.
    pub fn set(&mut self, key: &str, value: Node) {
        if let Node::Table(entries) = self {
            match entries.iter_mut().find(|(name, _)| name == key) {
                Some((_, old)) => *old = value,
                None => entries.push((key.to_string(), value)),
            }
        }
    }

    /// Removes an entry of a table.
    pub fn remove(&mut self, key: &str) {
        if let Node::Table(entries) = self {
            entries.retain(|(name, _)| name != key);
        }
    }

    /// The text of a document: plain values first, then the sections under their headers.
    pub fn document(&self) -> String {
        let mut out = String::new();
        let Node::Table(entries) = self else {
            return out;
        };
        for (key, value) in entries {
            if !matches!(value, Node::Table(_)) || key == "semantics" {
                let _ = writeln!(out, "{} = {}", quoted_key(key), value.inline());
            }
        }
        for (key, value) in entries {
            let Node::Table(section) = value else {
                continue;
            };
            if key == "semantics" {
                continue;
            }
            let own = |value: &Node| {
                OF_ENTRIES.contains(&key.as_str()) && matches!(value, Node::Table(_))
            };
            if section.iter().any(|(_, value)| !own(value)) {
                let _ = writeln!(out, "\n[{}]", quoted_key(key));
            }
            for (name, value) in section.iter().filter(|(_, value)| !own(value)) {
                let _ = writeln!(out, "{} = {}", quoted_key(name), value.inline());
            }
            for (name, value) in section.iter().filter(|(_, value)| own(value)) {
                let _ = writeln!(out, "\n[{}.{}]", quoted_key(key), quoted_key(name));
                if let Node::Table(entries) = value {
                    for (name, value) in entries {
                        let _ = writeln!(out, "{} = {}", quoted_key(name), value.inline());
                    }
                }
            }
        }
        out
    }

    /// The value in one line.
    pub fn inline(&self) -> String {
        match self {
            Node::Leaf(text) => text.clone(),
            Node::List(members) => {
                let members: Vec<String> = members.iter().map(Node::inline).collect();
                format!("[{}]", members.join(", "))
            }
            Node::Table(entries) if entries.is_empty() => "{}".to_string(),
            Node::Table(entries) => {
                let entry = |(key, value): &(String, Node)| {
                    format!("{} = {}", quoted_key(key), value.inline())
                };
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }

    /// `train.learning_rate` → `0.002`, for all values of a document. Numbers that are equal are written alike.
    pub fn flat(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        self.each(String::new(), true, &mut |key, node| {
            let text = node.inline();
            // `1000` and `1e3` are the same; a seed of 64 bits is not its neighbour.
            let whole = text.parse::<i128>().ok().map(|n| n.to_string());
            let real = || text.parse::<f64>().ok().map(|n| n.to_string());
            found.insert(key, whole.or_else(real).unwrap_or(text));
        });
        found
    }

    /// Shows every value with its key; lists are values, or their members are.
    pub fn each(&self, key: String, members: bool, show: &mut impl FnMut(String, &Node)) {
        let inner = |name: &str| match key.is_empty() {
            true => name.to_string(),
            false => format!("{key}.{name}"),
        };
        match self {
            Node::Table(entries) => {
                for (name, value) in entries {
                    value.each(inner(name), members, show);
                }
            }
            Node::List(list) if members => {
                for (i, member) in list.iter().enumerate() {
                    member.each(inner(&i.to_string()), members, show);
                }
            }
            value => show(key, value),
        }
    }
}

fn table(entries: &DeTable<'_>, strings: &BTreeMap<usize, String>) -> Node {
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): &(&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        (key.to_string(), node(value, strings))
    };
    Node::Table(entries.iter().map(entry).collect())
}

fn list(members: &DeArray<'_>, strings: &BTreeMap<usize, String>) -> Node {
    Node::List(members.iter().map(|member| node(member, strings)).collect())
}

fn node(value: &toml::Spanned<DeValue<'_>>, strings: &BTreeMap<usize, String>) -> Node {
    match value.get_ref() {
        DeValue::String(text) => Node::string(match strings.get(&value.span().start) {
            Some(other) => other,
            None => text,
        }),
        DeValue::Integer(number) => {
            let parsed = i128::from_str_radix(number.as_str(), number.radix());
            Node::Leaf(parsed.map_or_else(|_| number.to_string(), |n| n.to_string()))
        }
        DeValue::Float(number) => Node::Leaf(number.as_str().to_string()),
        DeValue::Boolean(value) => Node::Leaf(value.to_string()),
        DeValue::Datetime(time) => Node::Leaf(time.to_string()),
        DeValue::Array(members) => list(members, strings),
        DeValue::Table(entries) => table(entries, strings),
    }
}

/// A key, in quotes where it needs them.
fn quoted_key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !key.is_empty() && key.chars().all(bare) {
        true => key.to_string(),
        false => Node::string(key).inline(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_says_what_was_read() {
        let text = "# a remark
            theory = 't.ltn'
            semantics.base = \"logltn\"
            sorts.Point.features = \"a\\\"b\\\\c\\u0007.csv\"
            [predicates.C]
            network = { layers = [{ dense = 0x10 }, \"elu\"] }
            [predicates.\"été\"]
            truth = '''p.csv'''
            [train]
            seed = 18_446_744_073_709_551_615
            learning_rate = 1_0e-4
            phases = [ { steps = 3, axioms = [\"a[b.c]\"] },
                       { epochs = 2 } ]
            [empty]
            ";
        let read = Node::parse(text, &BTreeMap::new()).expect("TOML");
        let written = read.document();
        let again = Node::parse(&written, &BTreeMap::new()).unwrap_or_else(|| panic!("{written}"));
        assert_eq!(again.flat(), read.flat(), "{written}");
        let flat = read.flat();
        assert_eq!(flat["train.seed"], "18446744073709551615");
        assert_eq!(flat["train.learning_rate"], "0.001");
        assert_eq!(flat["predicates.C.network.layers.0.dense"], "16");
        assert!(written.contains("\n[predicates.C]\n"), "{written}");
        assert!(written.contains("\n[predicates.\"été\"]\n"), "{written}");
    }

    #[test]
    fn what_is_changed_is_changed() {
        let text = "theory = \"t.ltn\"\n[train]\nsteps = 3\nseed = 1\n";
        let place = BTreeMap::from([(9, "u.ltn".to_string())]);
        let mut read = Node::parse(text, &place).expect("TOML");
        let train = read.section("train");
        train.remove("steps");
        train.set("seed", Node::Leaf("2".to_string()));
        let schedule = read.section("schedule");
        schedule.set("alpha", Node::Leaf("4".to_string()));
        let expected = "theory = \"u.ltn\"\n\n[train]\nseed = 2\n\n[schedule]\nalpha = 4\n";
        assert_eq!(read.document(), expected);
    }
}
