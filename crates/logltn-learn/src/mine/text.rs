//! Rules as axioms.

use std::collections::BTreeSet;

use logltn::theory::{SortId, SortKind, TableId, Theory};
use logltn::{Data, quoted_label};

use super::graph::Graph;
use super::{Mine, Rule};

pub(super) struct Writer<'a> {
    theory: &'a Theory,
    data: &'a Data,
    graph: &'a Graph,
    /// x, z, w and y, or what else no individual is called.
    variables: [String; 4],
    /// Numbers up to this one are taken.
    named: usize,
}

const PREFIX: &str = "mined_";

impl<'a> Writer<'a> {
    pub fn new(data: &'a Data, graph: &'a Graph) -> Writer<'a> {
        let theory = data.theory();
        let taken: BTreeSet<&str> = (theory.constants.iter().map(|c| c.name.as_str()))
            .chain(theory.params.iter().map(|p| p.name.as_str()))
            .chain(
                theory
                    .sorts
                    .iter()
                    .flat_map(|s| &s.labels)
                    .map(String::as_str),
            )
            .collect();
        let free = |name: &str| {
            let mut name = name.to_string();
            while taken.contains(name.as_str()) {
                name.push('_');
            }
            name
        };
        let numbers = theory.axioms.iter().map(|a| a.name.strip_prefix(PREFIX));
        let numbers = numbers.flatten().filter_map(|n| n.parse::<usize>().ok());
        Writer {
            theory,
            data,
            graph,
            variables: ["x", "z", "w", "y"].map(free),
            named: numbers.max().unwrap_or(0),
        }
    }

    pub fn head(&self, how: &Mine, tables: &[TableId], count: usize) -> String {
        let tables: Vec<String> = (tables.iter())
            .filter(|t| self.graph.relations.iter().any(|r| r.table == **t))
            .map(|t| {
                format!(
                    "{} ({} rows)",
                    self.theory[*t].name,
                    self.data.table(*t).map_or(0, |t| t.rows)
                )
            })
            .collect();
        format!(
            "# {count} Horn rules mined from {}: bodies of up to {}, support at least {}, confidence at least {}{}.\n\
             # A weight is a confidence{}: the share of the different pairs (x, y) of the body that are facts.\n",
            tables.join(", "),
            how.length,
            how.support,
            how.confidence,
            match how.top {
                0 => String::new(),
                top => format!(", the {top} best of each relation"),
            },
            match how.weight {
                None => String::new(),
                Some(weight) => format!(", scaled so that all add up to {weight}"),
            },
        )
    }

    /// The rule as an axiom; its weight is its confidence, or as many times that.
    pub fn axiom(&self, place: usize, rule: &Rule, times: Option<f64>) -> String {
        let [x, z, w, y] = &self.variables;
        let path: Vec<&String> = match rule.body.len() {
            1 => vec![x, y],
            2 => vec![x, z, y],
            _ => vec![x, z, w, y],
        };
        let sorts: Vec<SortId> = (rule.body.iter())
            .map(|step| self.graph.relations[step / 2].sorts[step % 2])
            .chain(
                rule.body
                    .last()
                    .map(|s| self.graph.relations[s / 2].sorts[(s + 1) % 2]),
            )
            .collect();
        let mut guard: Vec<String> = (rule.body.iter().zip(path.windows(2)))
            .map(|(step, ends)| self.member(*step, [ends[0], ends[1]]))
            .collect();
        for a in 0..path.len() {
            for b in a + 1..path.len() {
                // Next to each other they differ anyway, unless someone is related to himself.
                let may_be_same = b > a + 1 || self.graph.relations[rule.body[a] / 2].has_loops;
                if may_be_same && sorts[a] == sorts[b] {
                    guard.push(format!("{} != {}", path[a], path[b]));
                }
            }
        }
        // Names that share a sort are written before it.
        let mut binder = String::new();
        for (i, (name, sort)) in path.iter().zip(&sorts).enumerate() {
            binder += name;
            binder += &match sorts.get(i + 1) {
                Some(next) if next == sort => ", ".to_string(),
                Some(_) => format!(": {}, ", self.theory[*sort].name),
                None => format!(": {}", self.theory[*sort].name),
            };
        }
        // Cut off, not rounded up: 1 is for rules without exception.
        let weight = match times {
            None => (rule.confidence() * 1000.0).floor().max(1.0) / 1000.0,
            Some(times) => ((rule.confidence() * times * 1e9).round() / 1e9).max(1e-9),
        };
        format!(
            "\n# {} of {} pairs are facts, of {} in all\naxiom {PREFIX}{} (weight {weight}):\n    forall {binder} where {}. {}\n",
            rule.support,
            rule.pairs,
            rule.facts,
            self.named + place + 1,
            guard.join(" and "),
            self.conclusion(rule.head, [x, y]),
        )
    }

    /// A literal of the body: `train(x, "brother", z)`.
    fn member(&self, step: usize, [from, to]: [&String; 2]) -> String {
        let relation = &self.graph.relations[step / 2];
        let (from, to) = if step.is_multiple_of(2) {
            (from, to)
        } else {
            (to, from)
        };
        let columns = &self.theory[relation.table].columns;
        let cells: Vec<String> = (0..columns.len())
            .map(|column| match relation.label {
                Some((at, label)) if at == column => {
                    let logltn::theory::ColumnSort::Sort(sort) = columns[column].sort else {
                        return String::new(); // such a column is no relation's
                    };
                    self.individual(sort, label)
                }
                _ if column == relation.ends[0] => from.clone(),
                _ => to.clone(),
            })
            .collect();
        format!("{}({})", self.theory[relation.table].name, cells.join(", "))
    }

    fn conclusion(&self, head: usize, [x, y]: [&String; 2]) -> String {
        let head = &self.graph.heads[head];
        let predicate = &self.theory[head.predicate];
        let arguments: Vec<String> = (0..predicate.arguments.len())
            .map(|place| match head.label {
                Some((at, label)) if at == place => {
                    let logltn::theory::ArgumentSort::Sort(sort) = predicate.arguments[place]
                    else {
                        return String::new(); // the rows of a table go here
                    };
                    self.individual(sort, label)
                }
                _ if place == head.ends[0] => x.clone(),
                _ => y.clone(),
            })
            .collect();
        format!("{}({})", predicate.name, arguments.join(", "))
    }

    fn individual(&self, sort: SortId, index: u32) -> String {
        let sort = &self.theory[sort];
        match sort.kind {
            SortKind::Range(..) => sort.individual_name(index as usize),
            SortKind::Data | SortKind::Labels => {
                quoted_label(&sort.individual_name(index as usize))
            }
        }
    }
}
