//! Where in a manifest a place is: which tables lead to it, and whether it is a key or a value. It reads unfinished text,
//! which a TOML parser would refuse.

/// The place of a cursor.
#[derive(Debug, Default, PartialEq)]
pub struct TomlPlace {
    /// The tables that lead here: `["predicates", "C", "network"]`; of a value, also its key.
    pub path: Vec<String>,
    /// Whether this is the place of a value.
    pub in_value: bool,
    /// The word or string here, without quotes.
    pub word: String,
    /// Where it begins, without quotes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Whether it is in quotes.
    pub quoted: bool,
}

struct Scan {
    header: Vec<String>,
    /// The open brackets, each with the keys before it.
    open: Vec<(char, Vec<String>)>,
    keys: Vec<String>,
    in_value: bool,
    in_header: bool,
}

impl Scan {
    fn here(&self) -> TomlPlace {
        let tables = self.open.iter().flat_map(|(_, keys)| keys);
        let header = if self.in_header {
            &[]
        } else {
            &self.header[..]
        };
        TomlPlace {
            path: header
                .iter()
                .chain(tables)
                .chain(&self.keys)
                .cloned()
                .collect(),
            in_value: self.in_value,
            ..TomlPlace::default()
        }
    }

    fn word(&mut self, word: &str) {
        if !self.in_value {
            self.keys.push(word.to_string());
        }
    }

    fn sign(&mut self, c: char) {
        match c {
            '\n' if self.open.is_empty() => {
                if self.in_header {
                    self.header = std::mem::take(&mut self.keys);
                }
                self.keys.clear();
                (self.in_value, self.in_header) = (false, false);
            }
            '[' if !self.in_value && self.open.is_empty() => {
                self.in_header = true;
                self.keys.clear();
            }
            ']' if self.in_header => {
                self.header = std::mem::take(&mut self.keys);
                self.in_header = false;
            }
            '=' if !self.in_value => self.in_value = true,
            '[' | '{' => {
                self.open.push((c, std::mem::take(&mut self.keys)));
                self.in_value = c == '[';
            }
            ']' | '}' => {
                if let Some((_, keys)) = self.open.pop() {
                    self.keys = keys;
                    self.in_value = true;
                }
            }
            ',' if self.open.last().is_some_and(|(c, _)| *c == '{') => {
                self.keys.clear();
                self.in_value = false;
            }
            _ => {}
        }
    }
}

impl TomlPlace {
    /// The key or value at a byte of a manifest.
    pub fn at(text: &str, offset: usize) -> TomlPlace {
        let mut scan = Scan {
            header: Vec::new(),
            open: Vec::new(),
            keys: Vec::new(),
            in_value: false,
            in_header: false,
        };
        let bare = |c: char| c.is_alphanumeric() || "_-+.".contains(c);
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            if at > offset {
                break;
            }
            let rest = &text[at..];
            let key = |c: char| bare(c) && (c != '.' || scan.in_value);
            let (start, end, next) = match c {
                '#' => {
                    at += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
                '"' | '\'' => {
                    let closed = closing(&rest[1..], c);
                    let end = at + 1 + closed.unwrap_or_else(|line_end| line_end);
                    (at + 1, end, end + usize::from(closed.is_ok()))
                }
                c if key(c) => {
                    let length = rest.find(|c| !key(c)).unwrap_or(rest.len());
                    (at, at + length, at + length)
                }
                _ => {
                    if at == offset {
                        break;
                    }
                    scan.sign(c);
                    at += c.len_utf8();
                    continue;
                }
            };
            let word = &text[start..end];
            if (start..=end).contains(&offset) {
                return TomlPlace {
                    word: word.to_string(),
                    start,
                    end,
                    quoted: start > at,
                    ..scan.here()
                };
            }
            scan.word(word);
            at = next;
        }
        TomlPlace {
            start: offset,
            end: offset,
            ..scan.here()
        }
    }
}

/// Where a string ends, or its line if it has no end.
fn closing(text: &str, quote: char) -> Result<usize, usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return Err(at),
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return Ok(at),
            _ => {}
        }
    }
    Err(text.len())
}

#[cfg(test)]
mod tests {
    use super::TomlPlace;

    /// The place of `|` in a text: its path, joined, whether a value is there, and the word.
    fn at(text: &str) -> (String, bool, String) {
        let offset = text.find('|').unwrap();
        let place = TomlPlace::at(&text.replacen('|', "", 1), offset);
        (place.path.join("/"), place.in_value, place.word)
    }

    #[test]
    fn places() {
        for (text, path, in_value, word) in [
            ("|", "", false, ""),
            ("the|", "", false, "the"),
            ("theory = |", "theory", true, ""),
            ("theory = \"a.l|tn\"\n", "theory", true, "a.ltn"),
            ("theory = \"a.l|", "theory", true, "a.l"),
            ("[predicates.C]\nnet|", "predicates/C", false, "net"),
            ("[predicates.|C]\nnet", "predicates", false, "C"),
            ("[a]\n[predicates.|", "predicates", false, ""),
            (
                "[p.C]\nnetwork = { ml|p = [16, 16] }",
                "p/C/network",
                false,
                "mlp",
            ),
            (
                "[p.C]\nnetwork = { mlp = [16, 1|6] }",
                "p/C/network/mlp",
                true,
                "16",
            ),
            (
                "[p.C]\nnetwork = { mlp = [16], activation = \"e|\" }",
                "p/C/network/activation",
                true,
                "e",
            ),
            (
                "[p.C]\nnetwork = { mlp = [\n16\n],\n| }",
                "p/C/network",
                false,
                "",
            ),
            (
                "[e]\nmetrics = [ # {\n { metric = \"f|1\" } ]",
                "e/metrics/metric",
                true,
                "f1",
            ),
            ("[e]\nmetrics = []\nev|ery = 1", "e", false, "every"),
            ("sorts.\"a b\".fea|", "sorts/a b", false, "fea"),
            ("x = 2.5\ny|", "", false, "y"),
        ] {
            assert_eq!(
                at(text),
                (path.to_string(), in_value, word.to_string()),
                "{text}"
            );
        }
    }
}
