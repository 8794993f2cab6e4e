//! `docs/diagnostics.md` is the list of codes. `LOGLTN_WRITE=1 cargo test -p logltn-diagnostics --test page` writes it
//! anew; then read what changed as a user would, since codes are there to stay.

use std::fmt::Write;

use logltn_diagnostics::{Code, Mistake, Severity};

const HEAD: &str = "<!-- Written by a test from the list in crates/logltn-diagnostics/src/code.rs. After a change there:
     LOGLTN_WRITE=1 cargo test -p logltn-diagnostics --test page -->

# Errors and warnings

Every error and warning has a code, by which programs tell mistakes apart. Messages may change; codes stay. `logltn help CODE`
prints an example of each (`logltn help unknown-predicate`); a test makes every one of them.

With `--json`, `check`, `eval` and `reproduce` give each as an object with `severity` (`error` or `warning`), `code`, `message`,
`file`, `line`, `column` (from 1, in characters), `notes` and `help`, or `null` where there is none. If there are errors the
document is `{\"errors\": […]}` with everything found, warnings included, and the status is 2, or 1 if the input was right and
something failed later. Otherwise warnings are in `warnings`. In Rust, `Diagnostic::code` gives the `Code`.
";

fn page() -> String {
    let mut out = HEAD.to_string();
    let mut section = "";
    for code in Code::ALL {
        if code.section() != section {
            section = code.section();
            let _ = write!(out, "\n## {section}\n\n| code | meaning |\n|---|---|\n");
        }
        let kind = match code.example().severity {
            Severity::Error => "",
            Severity::Warning => " (warning)",
        };
        let meaning = code.meaning().replace('|', "\\|");
        let _ = writeln!(out, "| `{code}`{kind} | {meaning} |");
    }
    out
}

#[test]
fn the_page_is_that_of_the_list() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnostics.md");
    let page = page();
    if std::env::var_os("LOGLTN_WRITE").is_some() {
        std::fs::write(path, &page).expect("docs/diagnostics.md can be written");
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    let differs = there.lines().zip(page.lines()).position(|(a, b)| a != b);
    assert!(
        there == page,
        "docs/diagnostics.md is not that of the list of codes, from line {}; write it with\n\
         LOGLTN_WRITE=1 cargo test -p logltn-diagnostics --test page",
        1 + differs.unwrap_or(there.lines().count().min(page.lines().count()))
    );
}

/// The only ones that no test makes: to add to them takes a better reason than that a test is hard to write.
#[test]
fn nearly_every_mistake_can_be_made() {
    let unmade = |code: &Code| matches!(code.example().mistake, Mistake::Unmakeable(_));
    let found: Vec<Code> = Code::ALL.iter().copied().filter(unmade).collect();
    assert_eq!(found, [Code::NoThreads, Code::Internal]);
}

/// What `logltn help CODE` prints has the meaning, and an example unless nobody can make one.
#[test]
fn every_code_is_described() {
    for code in Code::ALL {
        let text = code.describe();
        assert!(text.starts_with(&format!("# {code} (")), "{text}");
        assert!(text.contains(code.meaning()), "{text}");
        assert_eq!(text.matches("```").count() % 2, 0, "{text}");
    }
}
