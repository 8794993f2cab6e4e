//! The grammars of `logltn help ebnf` and `help gbnf` against the parser: they accept what it accepts, and refuse what it refuses.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use logltn::{Diagnostics, Labels, Source, Theory};

use crate::common::root;

/// A grammar's expression, whichever notation it was written in.
enum Node {
    Text(Vec<String>),
    /// Characters, or all others.
    Class(Vec<(char, char)>, bool),
    /// A rule, or a kind of word.
    Rule(String),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    /// At least so often, and more than once.
    Repeat(Box<Node>, usize, bool),
}

type Rules = BTreeMap<String, Node>;

/// Recognises symbols: characters for GBNF, words for EBNF. All ends of a rule at a place are found once.
struct Recogniser<'a> {
    rules: &'a Rules,
    input: &'a [String],
    known: HashMap<(&'a str, usize), Vec<usize>>,
}

impl<'a> Recogniser<'a> {
    fn accepts(rules: &'a Rules, start: &'a str, input: &'a [String]) -> bool {
        let mut recogniser = Recogniser {
            rules,
            input,
            known: HashMap::new(),
        };
        recogniser.rule(start, 0).contains(&input.len())
    }

    fn rule(&mut self, name: &'a str, at: usize) -> Vec<usize> {
        if let Some(ends) = self.known.get(&(name, at)) {
            return ends.clone();
        }
        let ends: Vec<usize> = match self.rules.get(name) {
            Some(node) => self.ends(node, at).into_iter().collect(),
            None => (self.input.get(at))
                .filter(|word| is_a(name, word))
                .map(|_| at + 1)
                .into_iter()
                .collect(),
        };
        self.known.insert((name, at), ends.clone());
        ends
    }

    fn ends(&mut self, node: &'a Node, at: usize) -> BTreeSet<usize> {
        match node {
            Node::Text(text) => {
                let there = self.input[at..].starts_with(text);
                there.then_some(at + text.len()).into_iter().collect()
            }
            Node::Class(ranges, others) => {
                let c = self.input.get(at).and_then(|s| s.chars().next());
                let fits =
                    c.is_some_and(|c| ranges.iter().any(|&(a, b)| a <= c && c <= b) != *others);
                fits.then_some(at + 1).into_iter().collect()
            }
            Node::Rule(name) => self.rule(name, at).into_iter().collect(),
            Node::Sequence(parts) => {
                parts
                    .iter()
                    .fold([at].into(), |from: BTreeSet<usize>, part| {
                        from.into_iter()
                            .flat_map(|at| self.ends(part, at))
                            .collect()
                    })
            }
            Node::Choice(parts) => parts.iter().flat_map(|part| self.ends(part, at)).collect(),
            Node::Repeat(part, least, many) => {
                let mut all = BTreeSet::new();
                let mut last: BTreeSet<usize> = [at].into();
                for count in 0.. {
                    if count >= *least {
                        all.extend(&last);
                    }
                    if count == 1 && !many {
                        break;
                    }
                    let next: BTreeSet<usize> =
                        last.iter().flat_map(|&at| self.ends(part, at)).collect();
                    last = next.difference(&all).copied().collect();
                    if last.is_empty() {
                        break;
                    }
                }
                all
            }
        }
    }
}

const RESERVED: &str = "sort table predicate function constant param axiom for in where not and or forall exists all any Int Real";

/// The kinds of words that the EBNF describes in words.
fn is_a(kind: &str, word: &str) -> bool {
    let first = word.chars().next().unwrap_or(' ');
    let is_word = first == '_' || first.is_alphabetic();
    match kind {
        "word" => is_word,
        "name" => is_word && !RESERVED.split(' ').any(|reserved| reserved == word),
        "digits" => word.chars().all(|c| c.is_ascii_digit()),
        "number" => first.is_ascii_digit(),
        "quoted" => first == '"',
        _ => panic!("no rule `{kind}`"),
    }
}

/// The words of a theory, comments left out.
fn words(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut i = 0;
    let run = |from: usize, fits: &dyn Fn(char) -> bool| {
        (from..chars.len())
            .find(|&j| !fits(chars[j]))
            .unwrap_or(chars.len())
    };
    while i < chars.len() {
        let c = chars[i];
        let digit = |j: usize| chars.get(j).is_some_and(char::is_ascii_digit);
        let end = match c {
            _ if c.is_whitespace() => {
                i += 1;
                continue;
            }
            '#' => {
                i = run(i, &|c| c != '\n');
                continue;
            }
            '"' => (i + 1..chars.len())
                .find(|&j| chars[j] == '"')
                .map_or(chars.len(), |j| j + 1),
            _ if c == '_' || c.is_alphabetic() => run(i, &|c| c == '_' || c.is_alphanumeric()),
            _ if c.is_ascii_digit() => {
                let mut end = run(i, &|c| c.is_ascii_digit());
                if chars.get(end) == Some(&'.') && digit(end + 1) {
                    end = run(end + 1, &|c| c.is_ascii_digit());
                }
                let sign = usize::from(matches!(chars.get(end + 1), Some('+' | '-')));
                if matches!(chars.get(end), Some('e' | 'E')) && digit(end + 1 + sign) {
                    end = run(end + 1 + sign, &|c| c.is_ascii_digit());
                }
                end
            }
            _ => {
                let rest: String = chars[i..].iter().take(3).collect();
                let symbols = ["<->", "->", "..", "!=", "<=", ">="];
                let symbol = symbols.iter().find(|s| rest.starts_with(**s));
                i + symbol.map_or(1, |s| s.len())
            }
        };
        found.push(chars[i..end].iter().collect());
        i = end;
    }
    found
}

fn letters(text: &str) -> Vec<String> {
    text.chars().map(String::from).collect()
}

/// Reads either notation: they differ in `[ ]` and `{ }`, in how a rule ends and in what a text is made of.
struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    gbnf: bool,
}

impl Reader<'_> {
    fn blank(&mut self) {
        while self
            .chars
            .next_if(|c| matches!(c, ' ' | '\t') || (!self.gbnf && c.is_whitespace()))
            .is_some()
        {}
    }

    fn choice(&mut self) -> Node {
        let mut parts = vec![self.sequence()];
        self.blank();
        while self.chars.next_if_eq(&'|').is_some() {
            parts.push(self.sequence());
            self.blank();
        }
        Node::Choice(parts)
    }

    fn sequence(&mut self) -> Node {
        let mut parts = Vec::new();
        loop {
            self.blank();
            let Some(mut part) = self.part() else { break };
            if self.gbnf {
                let (least, many) = match self.chars.peek() {
                    Some('*') => (0, true),
                    Some('+') => (1, true),
                    Some('?') => (0, false),
                    _ => {
                        parts.push(part);
                        continue;
                    }
                };
                self.chars.next();
                part = Node::Repeat(Box::new(part), least, many);
            }
            parts.push(part);
        }
        Node::Sequence(parts)
    }

    fn until(&mut self, end: char, node: impl Fn(Node) -> Node) -> Option<Node> {
        self.chars.next();
        let inside = self.choice();
        self.blank();
        assert_eq!(self.chars.next(), Some(end));
        Some(node(inside))
    }

    fn part(&mut self) -> Option<Node> {
        match *self.chars.peek()? {
            '(' => self.until(')', |node| node),
            '[' if self.gbnf => Some(self.class()),
            '[' => self.until(']', |node| Node::Repeat(Box::new(node), 0, false)),
            '{' => self.until('}', |node| Node::Repeat(Box::new(node), 0, true)),
            '"' => {
                self.chars.next();
                let mut text = String::new();
                loop {
                    match self.character()? {
                        ('"', false) => break,
                        (c, _) => text.push(c),
                    }
                }
                Some(Node::Text(if self.gbnf {
                    letters(&text)
                } else {
                    vec![text]
                }))
            }
            c if c.is_alphanumeric() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self
                    .chars
                    .next_if(|&c| c.is_alphanumeric() || c == '_' || c == '-')
                {
                    name.push(c);
                }
                Some(Node::Rule(name))
            }
            _ => None,
        }
    }

    /// A character, and whether a backslash stood before it.
    fn character(&mut self) -> Option<(char, bool)> {
        Some(match self.chars.next()? {
            '\\' if self.gbnf => match self.chars.next()? {
                'n' => ('\n', true),
                't' => ('\t', true),
                'r' => ('\r', true),
                c => (c, true),
            },
            c => (c, false),
        })
    }

    fn class(&mut self) -> Node {
        self.chars.next();
        let others = self.chars.next_if_eq(&'^').is_some();
        let mut ranges: Vec<(char, char)> = Vec::new();
        loop {
            let (c, quoted) = self.character().expect("a class ends");
            match c {
                ']' if !quoted => return Node::Class(ranges, others),
                '-' if !quoted && !ranges.is_empty() && self.chars.peek() != Some(&']') => {
                    let (to, _) = self.character().expect("a range ends");
                    ranges.last_mut().expect("a range begins").1 = to;
                }
                _ => ranges.push((c, c)),
            }
        }
    }
}

fn rules(notation: &str, gbnf: bool) -> Rules {
    let mut text = notation.to_string();
    if !gbnf {
        while let (Some(from), Some(to)) = (text.find("(*"), text.find("*)")) {
            text.replace_range(from..to + 2, "");
        }
    }
    let parts: Vec<&str> = match gbnf {
        true => text.lines().filter(|line| !line.starts_with('#')).collect(),
        false => text.split(" ;").collect(),
    };
    let sign = if gbnf { "::=" } else { "=" };
    (parts.iter().filter_map(|part| part.split_once(sign)))
        .map(|(name, body)| {
            let mut reader = Reader {
                chars: body.chars().peekable(),
                gbnf,
            };
            let node = reader.choice();
            assert!(
                reader.chars.all(char::is_whitespace),
                "the rule `{name}` is read to its end"
            );
            (name.trim().to_string(), node)
        })
        .collect()
}

struct Grammars {
    ebnf: Rules,
    gbnf: Rules,
}

impl Grammars {
    fn new() -> Grammars {
        let folder = root().join("crates/logltn-cli/src/topics");
        let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a grammar");
        Grammars {
            ebnf: rules(&read("ltn.ebnf"), false),
            gbnf: rules(&read("ltn.gbnf"), true),
        }
    }

    /// Whether the two accept a text.
    fn accept(&self, text: &str) -> [bool; 2] {
        [
            Recogniser::accepts(&self.ebnf, "theory", &words(text)),
            Recogniser::accepts(&self.gbnf, "root", &letters(text)),
        ]
    }
}

/// Rows and sorts in one quantifier, columns, definitions and last commas, which few of the others have.
const MIXED: &str = "sort S\nsort C = {a, b,}\ntable t(x: S, in: C,)\npredicate p(S, C,)\ndefine d(x, y: S) to depth 2: p(x, a) or (exists z: S. d(z, y))
axiom m: forall (x, c) in t, y, z: S, (w, e) in t, k: C where c != e and x.age > y.age and (exists (v, f) in t, u: S where f = k. u = v). p(z, k) -> d(x, w)\n";

/// The conformance cases, the program's own theories and the card's examples.
fn theories() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["conformance", "theories", "crates/logltn-examples/projects"] {
        let mut folders = vec![root().join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "ltn") {
                    found.push(fs::read_to_string(path).expect("text"));
                }
            }
        }
    }
    found.sort();
    found.extend(card());
    found
}

/// The examples of `logltn help language`.
fn card() -> Vec<String> {
    let page = crate::common::run_in(root(), &["help", "language"]);
    assert_eq!(page.status, 0);
    let blocks = page.stdout.split("```ltn\n").skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap_or_default().to_string())
        .collect()
}

fn found(text: &str) -> Diagnostics {
    let mut found = Diagnostics::new();
    Theory::parse_as_far_as_possible(
        Source::new("theory.ltn", text),
        &Labels::default(),
        &mut found,
    );
    found
}

#[test]
fn the_card_has_ten_examples_without_a_mistake() {
    let examples = card();
    assert_eq!(examples.len(), 10);
    for example in examples {
        let found = found(&example);
        assert!(found.is_empty(), "{example}\n{found}");
    }
}

#[test]
fn the_grammars_accept_every_theory() {
    let grammars = Grammars::new();
    let theories = theories();
    assert!(theories.len() >= 40);
    for theory in theories.into_iter().chain([MIXED.to_string()]) {
        assert_eq!(grammars.accept(&theory), [true, true], "{theory}");
    }
}

/// Mutants of short theories: a word removed, doubled, exchanged with its neighbour, or replaced by another.
#[test]
fn the_grammars_refuse_what_the_parser_refuses() {
    let grammars = Grammars::new();
    let theories: Vec<String> = theories().into_iter().filter(|t| t.len() < 700).collect();
    let others: Vec<String> = words("sort x . , : ( ) forall and -> = 3 where in")
        .into_iter()
        .collect();
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below.max(1)
    };
    let written = [
        "unexpected-token",
        "unexpected-character",
        "unclosed-parenthesis",
        "reserved-name",
        "does-not-chain",
    ];
    let (mut refused, mut accepted) = (0, 0);
    while refused < 1_000 {
        let mut all = words(&theories[random(theories.len())]);
        let length = all.len();
        let at = random(length);
        match random(4) {
            0 => drop(all.remove(at)),
            1 => all.insert(at, all[at].clone()),
            2 => all.swap(at, (at + 1) % length),
            _ => all[at] = others[random(others.len())].clone(),
        }
        let text = all.join(" ");
        let found = found(&text);
        let wrong = found.iter().any(|d| written.contains(&d.code().name()));
        if wrong {
            refused += 1;
            assert_eq!(grammars.accept(&text), [false, false], "{text}\n{found}");
        } else if !found.has_errors() {
            accepted += 1;
            assert_eq!(grammars.accept(&text), [true, true], "{text}");
        }
    }
    assert!(accepted > 20, "{accepted}");
}
