//! The theories and the messages on the pages of `docs/` are what the tool accepts and says.
//!
//! A block marked `ltn` must parse; `ltn Type=cat,dog` gives a data sort its labels. A block marked
//! `ltn-error` must fail, and if a `text` block follows, with exactly that text.
//!
//! The tables of operators are those of the list in `src/operators`: `LOGLTN_UPDATE_DOCS=1 cargo test --test
//! documentation` writes them anew.

use logltn::{Code, Diagnostics, Labels, Semantics, Source, Theory};

struct Block<'a> {
    /// The line of its fence, to find it.
    line: usize,
    /// What is after the fence.
    info: &'a str,
    text: String,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (i, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(info), None) => {
                open = Some(Block {
                    line: i + 1,
                    info,
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is never closed");
    found
}

fn labels(info: &str) -> Labels {
    let mut labels = Labels::default();
    for (sort, names) in info.split_whitespace().filter_map(|w| w.split_once('=')) {
        labels.insert(sort, names.split(','));
    }
    labels
}

#[test]
fn theories_on_the_pages() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let files = std::fs::read_dir(folder).expect("part of the repository");
    let (mut right, mut wrong) = (0, 0);
    for path in files.flatten().map(|file| file.path()) {
        if path.extension().is_none_or(|e| e != "md") {
            continue;
        }
        let page = std::fs::read_to_string(&path).expect("text");
        let (accepted, refused) = theories_of(&path.display().to_string(), &page);
        right += accepted;
        wrong += refused;
    }
    assert!(
        right >= 20 && wrong >= 3,
        "{right} theories, {wrong} mistakes"
    );
}

/// How many theories of a page are accepted, and how many refused, as they should be.
fn theories_of(name: &str, page: &str) -> (usize, usize) {
    let blocks = blocks(page);
    let (mut right, mut wrong) = (0, 0);
    for (i, block) in blocks.iter().enumerate() {
        let mut found = Diagnostics::new();
        let source = Source::new("theory.ltn", block.text.as_str());
        let kind = block.info.split_whitespace().next();
        if !matches!(kind, Some("ltn" | "ltn-error")) {
            continue;
        }
        let theory = Theory::parse_as_far_as_possible(source, &labels(block.info), &mut found);
        let place = format!("{name}, line {}", block.line);
        if kind == Some("ltn") {
            right += 1;
            // A page should not show what earns a warning, except for tables that only metrics read.
            let bad = found.iter().any(|d| d.code() != Code::UnusedDeclaration);
            assert!(!bad, "{place}:\n{found}");
            assert!(theory.axioms.iter().all(|a| a.formula.nnf().is_some()));
            continue;
        }
        wrong += 1;
        assert!(found.has_errors(), "{place}: no error");
        if let Some(message) = blocks.get(i + 1).filter(|b| b.info == "text") {
            assert_eq!(found.to_string(), message.text, "{place}");
        }
    }
    (right, wrong)
}

/// The normal forms in the table of the page.
#[test]
fn normal_forms() {
    for (formula, expected) in [
        ("a() and b() -> c()", "(not a() or not b()) or c()"),
        ("a() <-> b()", "(not a() or b()) and (not b() or a())"),
        (
            "not (a() <-> b())",
            "(a() and not b()) or (b() and not a())",
        ),
        ("not (a() and b() and c())", "not a() or not b() or not c()"),
        (
            "not (forall x: S where x < 3. P(x))",
            "exists x: S where x < 3. not P(x)",
        ),
        (
            "not (all x: S where x < 3. P(x))",
            "any x: S where x < 3. not P(x)",
        ),
        ("not not a()", "a()"),
    ] {
        let parse = |formula: &str| {
            let text = format!(
                "sort S = 0..9 predicate a() predicate b() predicate c() predicate P(S) axiom x: {formula}"
            );
            Theory::parse(Source::new("theory.ltn", text)).unwrap_or_else(|e| panic!("{e}"))
        };
        let mut theory = parse(formula);
        let normal = theory.axioms[0].formula.nnf();
        theory.axioms[0].formula = normal.expect("small");
        // Through the printer: the variables still remember the quantifier that was written.
        let printed = Theory::parse(Source::new("normal.ltn", theory.to_string()));
        let printed = printed.unwrap_or_else(|e| panic!("{e}"));
        assert!(printed.same_as(&parse(expected)), "{formula}: {theory}");
    }
}

/// The theories that ship with the program are without mistakes and warnings, apart from labels.
#[test]
fn shipped_theories() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../theories");
    let mut seen = 0;
    for file in std::fs::read_dir(folder)
        .expect("part of the repository")
        .flatten()
    {
        if file.path().extension().is_some_and(|e| e == "ltn") {
            let text = std::fs::read_to_string(file.path()).expect("readable");
            let mut found = Diagnostics::new();
            let source = Source::new(file.path().display().to_string(), text);
            Theory::parse_as_far_as_possible(source, &Labels::default(), &mut found);
            assert!(found.is_empty(), "{found}");
            seen += 1;
        }
    }
    assert!(seen >= 3);
}

/// The tables of operators stand in the pages, and in the docs of `Semantics`, as the list has them.
#[test]
fn tables_of_operators() {
    let [semantics, choices, operators] = Semantics::tables();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let update = std::env::var_os("LOGLTN_UPDATE_DOCS").is_some();
    let check = |file: &str, wanted: &dyn Fn(&str) -> String| {
        let path = format!("{root}{file}");
        let page = std::fs::read_to_string(&path).expect("part of the repository");
        let right = wanted(&page);
        if update {
            std::fs::write(&path, right).expect("writable");
        } else {
            assert!(
                page == right,
                "{file} is out of date: LOGLTN_UPDATE_DOCS=1 updates it"
            );
        }
    };
    check("crates/logltn/src/operators/choices.md", &|_| {
        choices.clone()
    });
    let tables = [
        ("docs/language.md", "semantics", &semantics),
        ("docs/language.md", "choices", &choices),
        ("docs/semantics.md", "operators", &operators),
    ];
    for (file, name, table) in tables {
        check(file, &|page| between_marks(page, name, table));
    }
}

/// The page with what is between `<!-- name -->` and `<!-- end -->` replaced.
fn between_marks(page: &str, name: &str, table: &str) -> String {
    let mark = format!("<!-- {name} -->\n");
    let (before, rest) = page.split_once(&mark).expect(name);
    let (_, after) = rest.split_once("<!-- end -->").expect(name);
    format!("{before}{mark}{table}<!-- end -->{after}")
}
