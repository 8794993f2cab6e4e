//! `logltn fmt`: nothing but the look changes, and nothing changes twice.

use crate::cases::random_case::random_case;
use crate::cases::rng::Rng;
use crate::common::random_theory::random_theory;
use logltn::{Source, Theory, format};

fn formatted(text: &str) -> String {
    format(&Source::new("t.ltn", text)).unwrap_or_else(|errors| panic!("{errors}\nin\n{text}"))
}

fn parse(text: &str) -> Theory {
    Theory::parse(Source::new("t.ltn", text))
        .unwrap_or_else(|errors| panic!("{errors}\nin\n{text}"))
}

/// The comments of a text, in order. No label here has a `#`.
fn comments(text: &str) -> Vec<&str> {
    (text
        .lines()
        .filter_map(|line| line.find('#').map(|at| line[at..].trim())))
    .collect()
}

fn check(text: &str) -> String {
    let once = formatted(text);
    assert_eq!(
        formatted(&once),
        once,
        "not the same twice:\n{text}\n---\n{once}"
    );
    // Some theories name individuals that only the manifest knows.
    if let Ok(theory) = Theory::parse(Source::new("t.ltn", text)) {
        assert!(theory.same_as(&parse(&once)), "{text}\n---\n{once}");
    }
    assert_eq!(comments(text), comments(&once), "{text}\n---\n{once}");
    let newlines = |text: &str| (text.matches("\r\n").count(), text.matches('\n').count());
    let (crlf, all) = newlines(&once);
    assert!(crlf == 0 || crlf == all, "mixed line ends:\n{once:?}");
    assert!(once.is_empty() || once.ends_with('\n') && !once.ends_with("\n\n"));
    assert!(once.lines().all(|line| line.trim_end() == line), "{once}");
    once
}

#[test]
fn the_standard_form() {
    let text = "\n\n  # clusters\n\n\nsort  Point sort Cluster=0 .. 4   # five\nsort Colour = { red,\"light blue\" }\nparam near # a number
predicate C( Point,Cluster )
table t (in:Point,n:Int)
    # of t


axiom covered:forall x:Point.∃c:Cluster.C(x,c)
axiom in (weight 2):¬ ¬C( 0 , 1 )∧C(0,- 1)→C(0,2)
axiom smooth: forall c: Cluster, x: Point, y: Point where dist(x, y)<near and 2 * (c - -1) / 3 % 4>= - c. C(x, c) -> C(y, c)
axiom f for c: Cluster where exists d: Cluster. d<c:
  C(0,c) and # one
  # two
  not(C(0,0)
or C(0,1))
# end";
    let expected = "# clusters

sort Point
sort Cluster = 0..4  # five
sort Colour = {red, \"light blue\"}
param near  # a number
predicate C(Point, Cluster)
table t(in: Point, n: Int)
    # of t

axiom covered:       forall x: Point. exists c: Cluster. C(x, c)
axiom in (weight 2): not not C(0, 1) and C(0, -1) -> C(0, 2)
axiom smooth:
    forall c: Cluster, x: Point, y: Point where dist(x, y) < near and 2*(c - -1) / 3 % 4 >= -c. C(x, c) -> C(y, c)
axiom f for c: Cluster where exists d: Cluster. d < c:
    C(0, c) and  # one
    # two
    not (C(0, 0)
        or C(0, 1))
# end
";
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected);
}

#[test]
fn small_texts() {
    for (text, expected) in [
        ("", ""),
        ("\n\n", ""),
        ("  # only this", "# only this\n"),
        ("sort S # a\r\n#b\r\n", "sort S  # a\r\n#b\r\n"),
        ("\u{feff}sort Größe", "sort Größe\n"),
        ("#\u{2028}x\nsort S", "#\u{2028}x\nsort S\n"),
    ] {
        assert_eq!(formatted(text), expected, "{text:?}");
        assert_eq!(formatted(expected), expected);
    }
    // What does not parse is left alone; what does not mean anything is formatted anyway.
    assert!(format(&Source::new("t", "sort S sort")).is_err());
    assert_eq!(formatted("axiom a:P(x)"), "axiom a: P(x)\n");
}

#[test]
fn long_declarations_are_broken_in_linear_time() {
    let labels: Vec<String> = (0..20_000).map(|i| format!("label_{i}")).collect();
    let members = vec!["P(red)"; 2_000].join(" and ");
    let text = format!(
        "sort S = {{red, {}}} predicate P(S) axiom a: {members}",
        labels.join(",")
    );
    let once = check(&text);
    assert!(
        once.lines().all(|line| line.chars().count() <= 120),
        "{once}"
    );
}

#[test]
fn theories_of_the_repository() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for folder in ["theories", "conformance", "crates/logltn-examples/projects"] {
        let mut folders = vec![root.join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "ltn") {
                    count += 1;
                    check(&std::fs::read_to_string(&path).unwrap());
                }
            }
        }
    }
    assert!(count > 30);
}

/// A printed theory with its white space changed, comments put between tokens, and words for symbols.
fn disguised(rng: &mut Rng, text: &str) -> String {
    let newline = ["\n", "\r\n"][rng.below(2)];
    let often = rng.below(10);
    let mut out = String::new();
    let chars: Vec<char> = text.chars().collect();
    for (i, &c) in chars.iter().enumerate() {
        let beside = |other: Option<&char>, set: &str| other.is_some_and(|c| set.contains(*c));
        if c == ' ' || c == '\n' {
            match rng.below(20) {
                0 if often > 5 => out += &format!(" # 注 {i} \"(.{newline}"),
                1 if often > 3 => out += &format!("{newline}   #{i} -> ∀{newline}{newline}"),
                2 => out += newline,
                3 => out += "\t  ",
                _ if c == '\n' => out += newline,
                _ => out.push(' '),
            }
            continue;
        }
        // No two characters of one symbol are torn apart.
        if beside(Some(&c), "(),{}:") {
            match rng.below(12) {
                0 => out.push(' '),
                1 if often > 6 => out += &format!("# {i}{newline}"),
                2 if often > 4 => out += newline,
                _ => {}
            }
        }
        out.push(c);
        if beside(Some(&c), "(,{") && rng.below(6) == 0 {
            out += [" ", newline][rng.below(2)];
        }
    }
    let symbols = [
        ("forall ", "∀"),
        ("exists ", "∃ "),
        (" and ", "∧"),
        (" or ", " ∨ "),
        (" -> ", "→"),
        ("not ", "¬"),
    ];
    for (word, symbol) in symbols {
        // Not in comments, which have none of these words.
        if rng.below(3) == 0 {
            out = out.replace(word, symbol);
        }
    }
    out
}

#[test]
fn random_theories() {
    let mut rng = Rng::new(34);
    for seed in 0..400 {
        let text = random_case(seed).text;
        check(&disguised(&mut rng, &text));
    }
}

/// The words, signs and comments of a text, read without the program's own lexer.
fn pieces(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    let word = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(first) = rest.chars().next() {
        let until = |end: fn(char) -> bool| rest.find(end).unwrap_or(rest.len());
        let signs = ["<->", "->", "..", "!=", "<=", ">="];
        let length = match first {
            '#' => until(|c| c == '\n'),
            '"' => {
                let mut escaped = false;
                let closes = |(_, c): &(usize, char)| {
                    let closes = *c == '"' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    closes
                };
                2 + rest[1..].char_indices().find(closes).expect("closed").0
            }
            c if c.is_ascii_digit() => number(rest),
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            c => (signs.iter().find(|sign| rest.starts_with(**sign)))
                .map_or(c.len_utf8(), |sign| sign.len()),
        };
        found.push(rest[..length].trim_end());
        rest = rest[length..].trim_start();
    }
    found
}

/// The length of the number that a text begins with: a dot that no digit follows is not part of it.
fn number(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = &text[from..];
        from + rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len())
    };
    let mut end = digits(0);
    if text[end..].starts_with('.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        if digits(end + 1 + sign) > end + 1 + sign {
            end = digits(end + 1 + sign);
        }
    }
    end
}

fn in_words(piece: &str) -> &str {
    let words = [
        ("∀", "forall"),
        ("∃", "exists"),
        ("⋀", "all"),
        ("⋁", "any"),
        ("∧", "and"),
        ("∨", "or"),
        ("¬", "not"),
        ("→", "->"),
        ("↔", "<->"),
    ];
    (words.iter().find(|(symbol, _)| *symbol == piece)).map_or(piece, |(_, word)| word)
}

/// Comments at any place between two tokens, in theories with every construct: the tokens and the comments stay, in their order.
#[test]
fn comments_anywhere() {
    const COMMENTS: [&str; 6] = [
        "#",
        "# why",
        "#注 ∀x. \"(",
        "##  two  ",
        "# -> # again",
        "#\tsort S = {a",
    ];
    let mut rng = Rng::new(3400);
    let extra = "sort Extra predicate extra(Extra) define near(x, y: Extra) to depth 3: extra(x) or (∃z: Extra. near(z, y) ∧ ¬extra(z))";
    for seed in 0..600 {
        let text = random_theory(seed, seed as usize % 5) + "\n" + extra;
        let newline = ["\n", "\r\n"][rng.below(2)];
        let often = 2 + rng.below(30);
        let mut mixed = String::new();
        let tokens = pieces(&text)
            .into_iter()
            .filter(|piece| !piece.starts_with('#'));
        for token in tokens.chain([""]) {
            for _ in 0..rng.below(3) {
                mixed += [" ", "\t", newline][rng.below(3)];
            }
            while rng.below(often) == 0 {
                mixed += COMMENTS[rng.below(COMMENTS.len())];
                mixed += newline;
            }
            // Two words, or two signs, would become one.
            if !mixed.is_empty() && !mixed.ends_with(char::is_whitespace) {
                mixed.push(' ');
            }
            mixed += token;
        }
        assert!(parse(&text).same_as(&parse(&mixed)), "{mixed}");
        let once = formatted(&mixed);
        assert!(parse(&mixed).same_as(&parse(&once)), "{mixed}\n---\n{once}");
        assert_eq!(formatted(&once), once, "not the same twice:\n{mixed}");
        let [before, after] = [&mixed, &once].map(|text| pieces(text));
        let before: Vec<&str> = before.into_iter().map(in_words).collect();
        assert_eq!(before, after, "{mixed}\n---\n{once}");
    }
}
