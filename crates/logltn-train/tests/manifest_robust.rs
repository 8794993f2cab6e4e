//! No text makes the reader panic, overflow the stack or take forever.

use std::path::Path;

use logltn::{Source, Theory};
use logltn_train::manifest::{Manifest, check_against};
use proptest::prelude::*;

const EXAMPLES: [&str; 2] = [
    include_str!("manifests/clustering.toml"),
    include_str!("manifests/pascal_part.toml"),
];

/// Reads, checks and renders; returns whether it was accepted.
fn survive(text: &str) -> bool {
    match Manifest::parse(Source::new("m.toml", text), Path::new(".")) {
        Ok((manifest, warnings)) => {
            assert!(!warnings.has_errors());
            let theory = Theory::parse(Source::new("t.ltn", "")).expect("nothing");
            check_against(&manifest, &theory, &Default::default()).render(false, 20);
            true
        }
        Err(errors) => {
            assert!(errors.has_errors());
            for error in errors.iter() {
                let (_, line, column) = error.place().expect("every mistake has a place");
                assert!(line >= 1 && column >= 1);
            }
            assert!(!errors.render(true, 20).is_empty());
            false
        }
    }
}

/// Deep nesting, in a thread with the small stack that threads have by default.
#[test]
fn nesting_does_not_overflow_the_stack() {
    let deep = 100_000;
    let texts = [
        "[".repeat(deep),
        format!("theory = {}", "[".repeat(deep)),
        format!("theory = {}{}", "[".repeat(deep), "]".repeat(deep)),
        format!("theory = {}", "{a=".repeat(deep)),
        format!("[a{}]", ".a".repeat(deep)),
        format!("a{} = 1", ".a".repeat(deep)),
        format!(
            "theory = \"t\"\n[predicates.p]\nargs = [\"x\"]\noutput = \"sigmoid\"\nnetwork = {{ mlp = [], inputs = [\"{}x{}\"] }}",
            "stop(".repeat(deep),
            ")".repeat(deep)
        ),
    ];
    for text in texts {
        let accepted = std::thread::spawn(move || survive(&text)).join();
        assert_eq!(accepted.ok(), Some(false));
    }
}

/// Many mistakes take time in proportion to the file.
#[test]
fn many_mistakes_are_found_quickly() {
    let start = std::time::Instant::now();
    let keys: String = (0..50_000).map(|i| format!("key{i} = 1\n")).collect();
    assert!(!survive(&keys));
    let widths = "0, ".repeat(50_000);
    assert!(!survive(&format!(
        "theory = \"t\"\n[networks.n]\nmlp = [{widths}]"
    )));
    assert!(!survive(&"= 1\n".repeat(50_000)));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn a_manifest_of_impossible_size_is_refused() {
    let text = " ".repeat(Manifest::MAX_BYTES as usize + 1);
    let result = Manifest::parse(Source::new("m.toml", text), Path::new("."));
    assert!(
        result
            .expect_err("too large")
            .to_string()
            .contains("too large")
    );
}

proptest! {
    #[test]
    fn any_text(text in "\\PC{0,200}") {
        survive(&text);
    }

    #[test]
    fn text_of_toml_characters(text in "[a-c\\[\\]{}=\\.,\"'#\n\\\\ 0-9-]{0,200}") {
        survive(&text);
    }

    /// A piece of one example is cut out, doubled, or replaced by a piece of another or by something odd.
    #[test]
    fn mutated_examples(
        which in 0..2usize,
        from in any::<prop::sample::Index>(),
        length in 0..40usize,
        other in any::<prop::sample::Index>(),
        odd in prop::sample::select(vec!["", "{}", "[]", "\"\"", "-1", "nan", "1e400", "[", "=", "\u{0}", "é", "true", "'''", "1979-05-27"]),
        use_odd in any::<bool>(),
    ) {
        let text: Vec<char> = EXAMPLES[which].chars().collect();
        let donor: Vec<char> = EXAMPLES[1 - which].chars().collect();
        let from = from.index(text.len());
        let to = (from + length).min(text.len());
        let at = other.index(donor.len());
        let piece: String = if use_odd {
            odd.to_owned()
        } else {
            donor[at..(at + length).min(donor.len())].iter().collect()
        };
        let mutated: String = text[..from].iter().collect::<String>() + &piece + &text[to..].iter().collect::<String>();
        survive(&mutated);
    }

    /// One value of an example, whole, replaced by something of another kind.
    #[test]
    fn replaced_values(
        which in 0..2usize,
        line in any::<prop::sample::Index>(),
        value in prop::sample::select(vec!["{}", "[]", "\"\"", "\"x\"", "0", "-1", "1.5", "nan", "true", "[[]]", "[{}]", "{ a = 1 }", "99999999999999999999999999999999999999999999"]),
    ) {
        let mut lines: Vec<String> = EXAMPLES[which].lines().map(str::to_owned).collect();
        let with_value: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains(" = ")).collect();
        let i = with_value[line.index(with_value.len())];
        let (key, _) = lines[i].split_once(" = ").expect("has one");
        lines[i] = format!("{key} = {value}");
        survive(&lines.join("\n"));
    }
}
