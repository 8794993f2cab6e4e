//! Random theories around `exists` over conjunctions: what variable elimination is about.
//!
//! Many variables, literals that read few of them, guards of equations, comparisons and tables, with and
//! without variables of an enclosing quantifier, vacuous variables, repeated ones, and guards that keep
//! nothing.

use logltn::{ColumnData, Data, Output, Source, Theory};

use super::random_case::RandomCase;
use super::rng::Rng;
use crate::reference::Case;

const DECLARATIONS: &str = "\
sort D = 0..3
sort E = -1..1
sort Item
table likes(d: D, e: E)
table rows(x: Item, a: D, n: Int, m: Int)
predicate digit(Item, D)
predicate P(D)
predicate Q(D, E)
predicate R(E, Item)
predicate S()
";

struct Sentence<'r> {
    rng: &'r mut Rng,
    /// Names in scope with their sorts; `Int` for numbers.
    scope: Vec<(String, &'static str)>,
    next: usize,
}

impl Sentence<'_> {
    fn of(&mut self, sort: &str) -> Option<String> {
        let names: Vec<&(String, &str)> = self.scope.iter().filter(|(_, s)| *s == sort).collect();
        (!names.is_empty()).then(|| names[self.rng.below(names.len())].0.clone())
    }

    fn atom(&mut self) -> String {
        for _ in 0..8 {
            let (predicate, sorts): (&str, &[&str]) = *self.rng.pick(&[
                ("digit", &["Item", "D"] as &[&str]),
                ("digit", &["Item", "D"]),
                ("P", &["D"]),
                ("P", &["D"]),
                ("Q", &["D", "E"]),
                ("R", &["E", "Item"]),
                ("S", &[]),
            ]);
            let arguments: Option<Vec<String>> = sorts.iter().map(|s| self.of(s)).collect();
            if let Some(arguments) = arguments {
                let not = if self.rng.chance(0.2) { "not " } else { "" };
                return format!("{not}{predicate}({})", arguments.join(", "));
            }
        }
        "S()".to_string()
    }

    fn number(&mut self) -> String {
        for _ in 0..4 {
            let sort = *self.rng.pick(&["D", "D", "E", "Int"]);
            if let Some(name) = self.of(sort) {
                return name;
            }
        }
        self.rng.between(-1, 3).to_string()
    }

    fn condition(&mut self) -> String {
        match self.rng.below(10) {
            0..6 => {
                let terms: Vec<String> = (0..2 + self.rng.below(4))
                    .map(|_| match self.rng.below(4) {
                        0 => format!("{}*{}", self.rng.pick(&[2, 4, 10]), self.number()),
                        _ => self.number(),
                    })
                    .collect();
                let right = match self.of("Int") {
                    Some(n) if self.rng.chance(0.7) => n,
                    _ => self.rng.between(0, 8).to_string(),
                };
                let sign = if self.rng.chance(0.2) { " - " } else { " + " };
                format!("{} = {right}", terms.join(sign))
            }
            6 => format!("{} < {}", self.number(), self.number()),
            7 => format!("{} != {}", self.number(), self.number()),
            8 => match (self.of("D"), self.of("E")) {
                (Some(d), Some(e)) => format!("likes({d}, {e})"),
                _ => "1 < 2".to_string(),
            },
            _ => format!("({} or {})", self.comparison(), self.comparison()),
        }
    }

    fn comparison(&mut self) -> String {
        format!("{} <= {}", self.number(), self.number())
    }

    fn guard(&mut self, most: usize) -> String {
        let conditions: Vec<String> = (0..self.rng.below(most + 1))
            .map(|_| self.condition())
            .collect();
        match conditions.is_empty() {
            true => String::new(),
            false => format!(" where {}", conditions.join(" and ")),
        }
    }

    fn quantifier(&mut self, word: &str, variables: usize, depth: usize) -> String {
        let before = self.scope.len();
        let mut binders = Vec::new();
        for _ in 0..variables {
            let sort = *self.rng.pick(&["D", "D", "D", "E", "Item"]);
            let name = format!("v{}", self.next);
            self.next += 1;
            binders.push(format!("{name}: {sort}"));
            self.scope.push((name, sort));
        }
        let guard = self.guard(3);
        let body = match self.rng.below(5) {
            0 => self.members("or", depth),
            _ => self.members("and", depth),
        };
        self.scope.truncate(before);
        format!("{word} {}{guard}. {body}", binders.join(", "))
    }

    /// Variables and rows under a guard, of which the formula reads about half.
    fn unread(&mut self, depth: usize) -> String {
        let before = self.scope.len();
        let mut binders = Vec::new();
        for _ in 0..2 + self.rng.below(2) {
            let name = format!("v{}", self.next);
            self.next += 1;
            let sort = *self.rng.pick(&["D", "D", "E", "Item"]);
            binders.push(format!("{name}: {sort}"));
            self.scope.push((name, sort));
        }
        if self.rng.chance(0.3) {
            let names = ["Item", "D", "Int", "Int"].map(|sort| {
                self.next += 1;
                self.scope.push((format!("v{}", self.next - 1), sort));
                format!("v{}", self.next - 1)
            });
            binders.push(format!("({}) in rows", names.join(", ")));
        }
        let guard = self.guard(2);
        let word = *self.rng.pick(&["forall", "forall", "exists"]);
        let hidden = before + self.rng.below(self.scope.len() - before);
        let hidden = self.scope.split_off(hidden);
        let connective = *self.rng.pick(&["and", "or", "->", "<->"]);
        let inner = match depth > 1 && self.rng.chance(0.4) {
            true => self.unread(depth - 1),
            false => self.atom(),
        };
        let body = format!("{} {connective} ({inner})", self.atom());
        self.scope.extend(hidden);
        self.scope.truncate(before);
        format!("{word} {}{guard}. {body}", binders.join(", "))
    }

    fn members(&mut self, word: &str, depth: usize) -> String {
        let members: Vec<String> = (0..1 + self.rng.below(5))
            .map(|_| self.member(depth))
            .collect();
        members.join(&format!(" {word} "))
    }

    fn member(&mut self, depth: usize) -> String {
        match self.rng.below(10) {
            0 if depth > 0 => {
                let word = *self.rng.pick(&["exists", "exists", "forall"]);
                let variables = 1 + self.rng.below(2);
                format!("({})", self.quantifier(word, variables, depth - 1))
            }
            1 if depth > 0 => format!("({})", self.members("or", depth - 1)),
            2 if depth > 0 => format!("not ({} -> {})", self.member(depth - 1), self.atom()),
            _ => self.atom(),
        }
    }
}

/// The case of a seed.
pub fn random_exists(seed: u64) -> RandomCase {
    let mut rng = Rng::new(seed ^ 0xE11E);
    let axioms = (0..1 + rng.below(2))
        .map(|_| exists_axiom(&mut rng))
        .collect();
    random_data(axioms, rng, seed)
}

/// Quantifiers over several variables of which their formulas read few, but their guards others.
pub fn random_unread(seed: u64) -> RandomCase {
    let mut rng = Rng::new(seed ^ 0x0A11);
    let axioms = (0..1 + rng.below(2))
        .map(|_| unread_axiom(&mut rng))
        .collect();
    random_data(axioms, rng, seed)
}

fn unread_axiom(rng: &mut Rng) -> String {
    let mut sentence = Sentence {
        rng,
        scope: Vec::new(),
        next: 0,
    };
    sentence.unread(2)
}
fn exists_axiom(rng: &mut Rng) -> String {
    let mut sentence = Sentence {
        rng,
        scope: Vec::new(),
        next: 0,
    };
    let outer = match sentence.rng.below(5) {
        0 => "",
        1 => {
            sentence.scope.push(("o".into(), "D"));
            "forall o: D. "
        }
        2 => {
            sentence.scope.push(("o".into(), "D"));
            sentence.scope.push(("u".into(), "Item"));
            "forall o: D, u: Item. "
        }
        _ => {
            for (name, sort) in [("x", "Item"), ("a", "D"), ("n", "Int"), ("m", "Int")] {
                sentence.scope.push((name.into(), sort));
            }
            "forall (x, a, n, m) in rows. "
        }
    };
    let variables = 1 + sentence.rng.below(5);
    let word = *sentence.rng.pick(&["exists", "exists", "exists", "forall"]);
    let inner = match sentence.rng.below(4) {
        0 => format!(
            "{} and ({})",
            sentence.atom(),
            sentence.quantifier(word, variables, 2)
        ),
        _ => sentence.quantifier(word, variables, 2),
    };
    format!("{outer}{inner}")
}

fn random_data(axioms: Vec<String>, mut rng: Rng, seed: u64) -> RandomCase {
    let mut text = DECLARATIONS.to_string();
    for (at, axiom) in axioms.iter().enumerate() {
        text += &format!("axiom a{at}: {axiom}\n");
    }
    let theory = Theory::parse(Source::new("random.ltn", text.clone()))
        .unwrap_or_else(|errors| panic!("seed {seed}: {errors}\nin\n{text}"));
    let mut data = Data::new(&theory);
    data.set_size("Item", 3).unwrap();
    let individuals = |rng: &mut Rng, rows: usize, size: usize| {
        ColumnData::Individuals((0..rows).map(|_| rng.below(size) as u32).collect())
    };
    let columns = vec![individuals(&mut rng, 5, 4), individuals(&mut rng, 5, 3)];
    data.set_rows("likes", columns).unwrap();
    let ints = |rng: &mut Rng| ColumnData::Int((0..4).map(|_| rng.between(-2, 12)).collect());
    let columns = vec![
        individuals(&mut rng, 4, 3),
        individuals(&mut rng, 4, 4),
        ints(&mut rng),
        ints(&mut rng),
    ];
    data.set_rows("rows", columns).unwrap();
    let outputs = vec![
        Output::softmax(),
        Output::sigmoid(),
        Output::sigmoid().per_class(),
        Output::log_truth(),
        Output::sigmoid(),
    ];
    let mut case = Case {
        theory,
        data,
        params: Vec::new(),
        numbers: Vec::new(),
        outputs,
    };
    let scale: f64 = *rng.pick(&[2.0, 2.0, 30.0, 4000.0]);
    for predicate in 0..case.outputs.len() {
        let shape = case.shape(logltn::theory::PredicateId(predicate as u32));
        let numbers = (0..shape.iter().product()).map(|_| match predicate {
            3 => -rng.uniform() * scale.min(30.0),
            _ => (scale * rng.normal()).clamp(-1e4, 1e4),
        });
        case.numbers.push(numbers.collect());
    }
    RandomCase { text, case }
}
