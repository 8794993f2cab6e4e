//! A kind of mistake in words, with its example, as Markdown: what `logltn help CODE` prints.

use std::fmt::Write;

use crate::{Code, Mistake, SURROUNDINGS, Severity, Text, harmless};

impl Code {
    /// The code, what it means, and an example, with the files that the example needs.
    ///
    /// ```
    /// use logltn_diagnostics::Code;
    /// assert!(Code::UnknownPredicate.describe().contains("There is no predicate of that name."));
    /// ```
    pub fn describe(self) -> String {
        let example = self.example();
        let kind = match example.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut out = format!("# {self} ({kind})\n\n{}\n\n", self.meaning());
        match example.mistake {
            Mistake::Theory(text) => {
                out += "For example, the theory\n\n";
                block(&mut out, "ltn", &text.shown());
            }
            Mistake::Files { commands, files } => {
                out += "For example, with the files\n\n";
                let own = |name: &str| files.iter().any(|(other, _)| *other == name);
                let others = SURROUNDINGS.iter().filter(|(name, _)| !own(name));
                for (name, content) in files.iter().chain(others) {
                    file(&mut out, name, *content);
                }
                let commands = commands.shown();
                let lines = commands.lines().map(|line| format!("logltn {line}\n"));
                block(&mut out, "console", &lines.collect::<String>());
            }
            Mistake::Action(words) => out += &format!("{}\n", words.shown()),
            Mistake::Unmakeable(why) => out += &format!("No example: {}.\n", why.shown()),
        }
        out
    }
}

/// A block of Markdown; what has no line break at its end gets one.
fn block(out: &mut String, kind: &str, text: &str) {
    let text = harmless(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let _ = write!(out, "```{kind}\n{text}{end}```\n");
}

fn file(out: &mut String, name: &str, content: Text) {
    let kind = match name.rsplit_once('.') {
        Some((_, "ltn")) => "ltn",
        Some((_, "toml")) => "toml",
        _ => "text",
    };
    let _ = writeln!(out, "`{name}`:");
    block(out, kind, &content.shown());
    out.push('\n');
}
