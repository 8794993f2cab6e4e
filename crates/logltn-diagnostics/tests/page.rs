//! `docs/diagnostics.md` is the list of codes. `LOGLTN_WRITE=1 cargo test -p logltn-diagnostics --test page` writes it
//! anew; then read what changed as a user would, since codes are there to stay.

use std::fmt::Write;

use logltn_diagnostics::{Code, Mistake, SURROUNDINGS, Severity, Text, harmless};

const HEAD: &str = "<!-- Written by a test from the list in crates/logltn-diagnostics/src/code.rs. After a change there:
     LOGLTN_WRITE=1 cargo test -p logltn-diagnostics --test page -->

# Errors and warnings

Every error and warning has a code, a short name of what is wrong, by which programs tell mistakes apart. Messages may
be worded anew; codes stay. With `--json`, `check`, `eval` and `reproduce` give each of them as an object with
`severity` (`error` or `warning`), `code`, `message`, `file`, `line`, `column` (from 1, in characters), `notes` and
`help`; what there is none of is `null`. If there are errors the document is `{\"errors\": […]}` with everything found,
warnings included, and the status is 2, or 1 if the input was right and something failed later. Else the warnings are
in `warnings`.

In Rust, `Diagnostic::code` gives the `Code`:

```rust
let errors = Theory::parse(Source::new(\"theory.ltn\", text)).unwrap_err();
let misspelt = errors.iter().any(|error| error.code() == Code::UnknownPredicate);
```

A test makes every example on this page. Theories are complete. Other files lie beside these, or take their places:
";

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
}

fn page() -> String {
    let mut out = HEAD.to_string();
    for (name, content) in SURROUNDINGS {
        out.push('\n');
        file(&mut out, name, *content);
    }
    out += "\n";
    let mut section = "";
    let mut contents = String::new();
    let mut body = String::new();
    for code in Code::ALL {
        if code.section() != section {
            section = code.section();
            let _ = write!(body, "\n## {section}\n");
            let anchor = section.to_lowercase().replace(' ', "-");
            let start = if contents.is_empty() { "" } else { "\n" };
            let _ = write!(contents, "{start}- [{section}](#{anchor}):");
        }
        let example = code.example();
        let kind = match example.severity {
            Severity::Error => "",
            Severity::Warning => " (warning)",
        };
        let anchor = format!("{code}{kind}")
            .replace(' ', "-")
            .replace(['(', ')'], "");
        let _ = write!(contents, "\n  [`{code}`](#{anchor})");
        let _ = write!(body, "\n### `{code}`{kind}\n\n{}\n\n", code.meaning());
        match example.mistake {
            Mistake::Theory(text) => block(&mut body, "ltn", &text.shown()),
            Mistake::Files { commands, files } => {
                for (name, content) in files {
                    file(&mut body, name, *content);
                }
                let commands = commands.shown();
                let lines: String = (commands.lines())
                    .map(|line| format!("logltn {line}\n"))
                    .collect();
                block(&mut body, "console", &lines);
            }
            Mistake::Deed(words) => body += &format!("{}\n", words.shown()),
            Mistake::Unmakeable(why) => body += &format!("No example: {}.\n", why.shown()),
        }
    }
    out + &contents + "\n" + &body
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
