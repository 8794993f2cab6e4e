//! How readers report problems of a file, and how many of them.

use logltn_diagnostics::{Code, Diagnostic, Diagnostics};

/// A file with the wrong format has something wrong in every row; this many messages make the point.
const MOST_SHOWN: usize = 10;

/// The problems of one file. Only the first few are reported.
#[derive(Default)]
pub struct Problems {
    shown: Vec<Diagnostic>,
    more: usize,
}

impl Problems {
    /// Nothing wrong yet.
    pub fn new() -> Problems {
        Problems::default()
    }

    /// Adds one. The message is built only if it will be shown, since there may be millions.
    pub fn push(&mut self, problem: impl FnOnce() -> Diagnostic) {
        if self.shown.len() < MOST_SHOWN {
            self.shown.push(problem());
        } else {
            self.more += 1;
        }
    }

    /// Adds everything that a part of the reader found.
    pub fn extend(&mut self, problems: Diagnostics) {
        for problem in problems {
            self.push(|| problem);
        }
    }

    /// Whether there is nothing wrong.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Adds to the first message a fact about the file rather than about a cell.
    pub fn note_first(&mut self, text: impl Into<String>) {
        if !self.shown.is_empty() {
            let first = self.shown.remove(0).note(text);
            self.shown.insert(0, first);
        }
    }

    /// `value` if nothing is wrong.
    pub fn finish<T>(mut self, value: T) -> Result<T, Diagnostics> {
        if self.shown.is_empty() {
            return Ok(value);
        }
        if self.more > 0
            && let Some(last) = self.shown.pop()
        {
            self.shown
                .push(last.note(format!("… and {} more in this file", self.more)));
        }
        Err(self.shown.into_iter().collect())
    }
}

/// One error that ends the reading of a file.
pub fn fatal<T>(problem: Diagnostic) -> Result<T, Diagnostics> {
    Err(problem.into())
}

/// That a file ends too early.
pub(crate) fn cut_short(what: String) -> Diagnostic {
    Diagnostic::error(Code::FileCutShort, what).help("copy or download the file again")
}

/// That a file is not what it says of itself.
pub(crate) fn damaged(what: String) -> Diagnostic {
    Diagnostic::error(Code::FileDamaged, what).help("the file is damaged: write it again")
}

/// A piece of a file as quoted in a message: on one line, in backticks, shortened.
pub fn shown(text: &str) -> String {
    const MOST_CHARACTERS: usize = 40;
    if text.is_empty() {
        return "an empty cell".to_string();
    }
    let mut out = String::from("`");
    for (i, character) in text.chars().enumerate() {
        if i == MOST_CHARACTERS {
            out.push('…');
            break;
        }
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out.push('`');
    out
}

/// `1 row`, `2 rows`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_ten_and_counts_the_rest() {
        let mut problems = Problems::new();
        for i in 0..25 {
            problems.push(|| {
                Diagnostic::error(
                    logltn_diagnostics::Code::FileDamaged,
                    format!("problem {i}"),
                )
            });
        }
        let Err(all) = problems.finish(()) else {
            panic!("there were problems");
        };
        assert_eq!(all.error_count(), 10);
        let last = all.iter().last().map(|d| d.notes().to_vec());
        assert_eq!(last, Some(vec!["… and 15 more in this file".to_string()]));
    }

    #[test]
    fn shows_long_and_odd_text_on_one_line() {
        assert_eq!(shown("a\nb"), "`a\\nb`");
        assert_eq!(shown(&"x".repeat(50)), format!("`{}…`", "x".repeat(40)));
        assert_eq!(shown(""), "an empty cell");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(0, "row"), "0 rows");
    }
}
