//! An example of each kind of mistake, which tests run.

use crate::severity::Severity;

/// A mistake of some kind, small enough to be read at a glance. Tests make each of them.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Whether it is an error here. Some kinds are errors in one place and warnings in another.
    pub severity: Severity,
    /// The mistake itself.
    pub mistake: Mistake,
}

/// What is done wrong in an [`Example`].
#[derive(Clone, Copy, Debug)]
pub enum Mistake {
    /// A theory; the mistake is found when it is read or planned.
    Theory(Text),
    /// Files in addition to those of [`SURROUNDINGS`], or replacing them, and the commands to run there. The last
    /// command finds the mistake.
    Files {
        /// The commands after `logltn`, one per line.
        commands: Text,
        /// Their names and contents.
        files: &'static [(&'static str, Text)],
    },
    /// A description in words: something done in a program, or to a run.
    Action(Text),
    /// It cannot be produced at will, for the reason given, so no test produces it.
    Unmakeable(Text),
}

/// The files available to the commands of an example unless it brings its own.
pub const SURROUNDINGS: &[(&str, Text)] = &[
    (
        "theory.ltn",
        Text(
            b"
            sort Point
            predicate good(Point)
            axiom some: exists x: Point. good(x)
            axiom few:  exists x: Point. not good(x)
            ",
        ),
    ),
    ("points.csv", Text(b"a,b\n0,1\n2,0\n1,2\n")),
    (
        "m.toml",
        Text(
            br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [train]
            steps = 3
            "#,
        ),
    ),
];

/// The contents of a file, which may be binary. If it begins with a line break, it is indented like the
/// surrounding source code, and the indentation is removed.
#[derive(Clone, Copy)]
pub struct Text(pub(crate) &'static [u8]);

impl Text {
    /// The exact contents of the file.
    pub fn bytes(self) -> Vec<u8> {
        let Some(block) = self.0.strip_prefix(b"\n") else {
            return self.0.to_vec();
        };
        let indentation = block.iter().take_while(|byte| **byte == b' ').count();
        let mut out = Vec::new();
        for line in block.split_inclusive(|byte| *byte == b'\n') {
            let spaces = line.iter().take_while(|byte| **byte == b' ').count();
            out.extend_from_slice(&line[spaces.min(indentation)..]);
        }
        // The line of the closing quote.
        while out.last() == Some(&b' ') {
            out.pop();
        }
        out
    }

    /// For people: bytes that are not text are escaped, such as `\xff`.
    pub fn shown(self) -> String {
        let bytes = self.bytes();
        match std::str::from_utf8(&bytes) {
            Ok(text) if !text.contains(|c: char| c.is_control() && c != '\n') => text.to_string(),
            _ => (bytes.split_inclusive(|byte| *byte == b'\n'))
                .map(|line| match line.strip_suffix(b"\n") {
                    Some(line) => format!("{}\n", line.escape_ascii()),
                    None => line.escape_ascii().to_string(),
                })
                .collect(),
        }
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lose_their_indentation_and_bytes_are_written_out() {
        let block = Text(b"\n    a\n      b\n\n    c\n    ");
        assert_eq!(block.shown(), "a\n  b\n\nc\n");
        assert_eq!(Text(b"x,y\n1,2\n").shown(), "x,y\n1,2\n");
        assert_eq!(Text(b"\xff\n\0").shown(), "\\xff\n\\x00");
    }
}
