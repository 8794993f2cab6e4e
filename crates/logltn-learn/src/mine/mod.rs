//! Horn rules that the tables support, as axioms that one can read and edit.
//!
//! A rule is a path: `train(x, "brother", z) and train(z, "father_of", y)` leads from x to y, and where such pairs are mostly
//! rows of `uncle_of`, that is a rule. Its *support* is how many different pairs are, its *confidence* their share of
//! all pairs that the path leads to. All individuals on a path are different, so that no rule finds the fact that it starts
//! from.
//!
//! ```
//! use logltn::{ColumnData, Data, Source, Theory};
//! use logltn_learn::mine::{Mine, mine};
//!
//! let theory = Theory::parse(Source::new("t", "
//!     sort Person  table parents(x: Person, y: Person)  table old(x: Person, y: Person)
//!     predicate parent(Person, Person)  predicate grandparent(Person, Person)
//!     axiom a: forall (x, y) in parents. parent(x, y)
//!     axiom b: forall (x, y) in old. grandparent(x, y)
//! "))?;
//! let mut data = Data::new(&theory);
//! let pairs = |x: [u32; 2], y: [u32; 2]| vec![ColumnData::Individuals(x.into()), ColumnData::Individuals(y.into())];
//! data.set_size("Person", 4)?;
//! data.set_rows("parents", pairs([0, 1], [1, 2]))?;
//! data.set_rows("old", pairs([0, 0], [2, 2]))?;
//! let mined = mine(&data, &Mine { length: 2, support: 1, ..Mine::default() })?;
//! assert_eq!(mined.rules[0].confidence(), 1.0);
//! assert!(mined.to_string().contains("\
//!     forall x, z, y: Person where parents(x, z) and parents(z, y) and x != y. grandparent(x, y)"));
//! # Ok::<(), logltn::Diagnostics>(())
//! ```

mod graph;
mod paths;
mod text;

use logltn::theory::{ProductPart, SymbolKind, TableId};
use logltn::{Data, Diagnostics};

use graph::Graph;

/// What to look for.
#[derive(Clone, Debug)]
pub struct Mine {
    /// The most literals of a body, from 1 to 3.
    pub length: usize,
    /// How many facts a rule must find at least.
    pub support: u64,
    /// What share of the pairs of a body must be facts at least.
    pub confidence: f64,
    /// How many rules about one relation are kept, the best first; 0 for all.
    pub top: usize,
    /// Which tables are facts; all that some axiom reads, if none is named.
    pub tables: Vec<String>,
    /// What the weights of all rules add up to; each has its confidence for a weight if nothing is said.
    pub weight: Option<f64>,
}

impl Default for Mine {
    fn default() -> Mine {
        Mine {
            length: 2,
            support: 5,
            confidence: 0.3,
            top: 20,
            tables: Vec::new(),
            weight: None,
        }
    }
}

/// The rules that were found; as text, axioms.
#[derive(Clone, Debug)]
pub struct Mined {
    /// The best first: by support / (pairs + 5), which trusts many pairs more than few.
    pub rules: Vec<Rule>,
    /// Beside each rule, its text.
    axioms: Vec<String>,
    head: String,
}

/// A rule: from x along a path to y, where `head` should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Each step of the path: a relation by number, the odd ones backwards.
    body: Vec<usize>,
    head: usize,
    /// How many pairs of the body are facts.
    pub support: u64,
    /// How many pairs the body has.
    pub pairs: u64,
    /// How many facts of the head's relation there are.
    pub facts: u64,
}

impl Rule {
    /// Which share of the body's pairs are facts.
    pub fn confidence(&self) -> f64 {
        self.support as f64 / self.pairs as f64
    }

    /// A share that trusts many pairs more than few.
    fn merit(&self) -> f64 {
        self.support as f64 / (self.pairs as f64 + 5.0)
    }
}

impl Mined {
    /// Each rule with its axiom, the best first.
    pub fn axioms(&self) -> impl Iterator<Item = (&Rule, &str)> {
        let axioms = self.axioms.iter().map(|axiom| axiom.trim());
        self.rules.iter().zip(axioms)
    }
}

/// Finds rules.
///
/// # Errors
/// If a table is not there, or no table says what a predicate is true of: then there is nothing to conclude.
pub fn mine(data: &Data, how: &Mine) -> Result<Mined, Diagnostics> {
    let tables = tables(data, how)?;
    let graph = Graph::new(data, &tables)?;
    let mut rules = paths::find(&graph, how);
    rules.sort_by(|a, b| {
        let by_merit = b.merit().total_cmp(&a.merit());
        by_merit
            .then(a.body.len().cmp(&b.body.len()))
            .then((a.head, &a.body).cmp(&(b.head, &b.body)))
    });
    if how.top > 0 {
        let mut of_head = vec![0; graph.heads.len()];
        rules.retain(|rule| {
            of_head[rule.head] += 1;
            of_head[rule.head] <= how.top
        });
    }
    let writer = text::Writer::new(data, &graph);
    let sum: f64 = rules.iter().map(Rule::confidence).sum();
    let times = how.weight.map(|weight| weight / sum);
    Ok(Mined {
        axioms: (rules.iter().enumerate())
            .map(|(i, rule)| writer.axiom(i, rule, times))
            .collect(),
        head: writer.head(how, &tables, rules.len()),
        rules,
    })
}

/// The tables that are facts. Those that no axiom reads are there for measuring: rules that know them would know the
/// answers.
fn tables(data: &Data, how: &Mine) -> Result<Vec<TableId>, Diagnostics> {
    let theory = data.theory();
    if how.tables.is_empty() {
        let mut read = vec![false; theory.tables.len()];
        for axiom in theory.formulas() {
            graph::tables_of(&axiom.formula, &mut |table| match table.product() {
                None => read[table] = true,
                Some(product) => {
                    for part in &theory.products[product].parts {
                        if let ProductPart::Rows(table) = part {
                            read[*table] = true;
                        }
                    }
                }
            });
        }
        let ids = (0..theory.tables.len()).filter(|t| read[*t]);
        return Ok(ids.map(|t| TableId(t as u32)).collect());
    }
    let mut found = Diagnostics::new();
    let mut tables = Vec::new();
    for name in &how.tables {
        match theory.table(name) {
            Some(id) if !tables.contains(&id) => tables.push(id),
            Some(_) => {}
            None => found.push(theory.unknown(SymbolKind::Table, name)),
        }
    }
    found.into_result(tables).map(|(tables, _)| tables)
}

impl std::fmt::Display for Mined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.head)?;
        self.axioms.iter().try_for_each(|axiom| f.write_str(axiom))
    }
}
