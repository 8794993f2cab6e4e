//! Tables as a graph: individuals, and relations between two of them.

use logltn::theory::*;
use logltn::{Code, ColumnData, Data, Diagnostic, Diagnostics, Part};
use rustc_hash::FxHashMap;

/// The relations of some tables, walked in both directions.
pub(super) struct Graph {
    /// How many individuals there are; those of all sorts are numbered consecutively.
    pub nodes: usize,
    pub relations: Vec<Relation>,
    /// Where each relation leads: forwards at twice its number, backwards at one more.
    pub steps: Vec<Lists<u32>>,
    pub heads: Vec<Head>,
    /// From each individual: where facts of heads lead, and which.
    pub facts: Lists<(u32, u32)>,
}

/// Pairs of a table: all rows of one with two columns, or those of one individual in a table with a third column.
pub(super) struct Relation {
    pub table: TableId,
    /// The columns that it leads from and to.
    pub ends: [usize; 2],
    /// The third column, and its individual.
    pub label: Option<(usize, u32)>,
    pub sorts: [SortId; 2],
    /// Whether it leads from someone to himself.
    pub has_loops: bool,
    /// The head that its own facts are of.
    pub head: Option<usize>,
}

/// What rules conclude: a predicate, of one individual at its third argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub predicate: PredicateId,
    /// The arguments that x and y are.
    pub ends: [usize; 2],
    pub label: Option<(usize, u32)>,
    /// A relation whose rows are its facts.
    pub relation: usize,
    pub facts: u64,
}

/// A list for each individual: where a relation leads, or the facts that begin there.
#[derive(Default)]
pub(super) struct Lists<T> {
    offsets: Vec<u32>,
    all: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// Of these individuals; each list in the order of the pairs.
    fn new(nodes: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Lists<T> {
        let mut offsets = vec![0_u32; nodes + 1];
        (pairs.clone()).for_each(|(a, _)| offsets[a as usize + 1] += 1);
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        let mut at = offsets.clone();
        let mut all = vec![T::default(); offsets[nodes] as usize];
        for (a, b) in pairs {
            all[at[a as usize] as usize] = b;
            at[a as usize] += 1;
        }
        Lists { offsets, all }
    }

    pub fn from(&self, node: usize) -> &[T] {
        &self.all[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

impl Graph {
    pub fn new(data: &Data, tables: &[TableId]) -> Result<Graph, Diagnostics> {
        let theory = data.theory();
        let mut bases = Vec::new();
        let mut nodes = 0;
        for sort in 0..theory.sorts.len() {
            bases.push(nodes as u32);
            nodes += data.size(SortId(sort as u32));
        }
        let claims = claims(theory);
        let mut graph = Graph {
            nodes,
            relations: Vec::new(),
            steps: Vec::new(),
            heads: Vec::new(),
            facts: Lists::default(),
        };
        for &table in tables {
            graph.add(data, table, &bases, &claims);
        }
        if graph.heads.is_empty() {
            return Err(nothing(theory, tables).into());
        }
        graph.list_facts();
        Ok(graph)
    }

    fn add(&mut self, data: &Data, table: TableId, bases: &[u32], claims: &[Claim]) {
        let theory = data.theory();
        let (Some(Columns { ends, third }), Some(rows)) =
            (columns(theory, table), data.table(table))
        else {
            return;
        };
        let cells = |column: usize| match &rows.columns[column] {
            ColumnData::Individuals(cells) => cells.as_slice(),
            ColumnData::Int(_) | ColumnData::Real(_) => &[],
        };
        let sort = |column: usize| theory[table].columns[column].sort.sort();
        let sorts = ends.map(|column| sort(column).unwrap_or(SortId(0)));
        let (from, to) = (cells(ends[0]), cells(ends[1]));
        let mut by_label: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        for row in 0..rows.rows {
            let label = third.map_or(0, |column| cells(column)[row]);
            let node = |sort: SortId, of: u32| bases[sort] + of;
            let pair = (node(sorts[0], from[row]), node(sorts[1], to[row]));
            by_label.entry(label).or_default().push(pair);
        }
        let mut labels: Vec<(u32, Vec<(u32, u32)>)> = by_label.into_iter().collect();
        labels.sort_unstable_by_key(|(label, _)| *label);
        for (label, mut pairs) in labels {
            pairs.sort_unstable();
            pairs.dedup();
            let relation = self.relations.len();
            let head = claims.iter().find(|c| c.table == table).map(|claim| {
                let head = Head {
                    predicate: claim.predicate,
                    ends: ends.map(|column| claim.arguments[column]),
                    label: third.map(|column| (claim.arguments[column], label)),
                    relation,
                    facts: 0,
                };
                // Several tables may say what one predicate is true of.
                let same = |h: &Head| {
                    Head {
                        relation,
                        facts: 0,
                        ..h.clone()
                    } == head
                };
                match self.heads.iter().position(same) {
                    Some(known) => known,
                    None => {
                        self.heads.push(head);
                        self.heads.len() - 1
                    }
                }
            });
            self.relations.push(Relation {
                table,
                ends,
                label: third.map(|column| (column, label)),
                sorts,
                has_loops: pairs.iter().any(|(a, b)| a == b),
                head,
            });
            let forwards = Lists::new(self.nodes, pairs.iter().copied());
            self.steps.push(forwards);
            let backwards = pairs.iter().map(|&(a, b)| (b, a));
            self.steps.push(Lists::new(self.nodes, backwards));
        }
    }

    fn list_facts(&mut self) {
        let mut facts: Vec<(u32, u32, u32)> = Vec::new();
        for (relation, forwards) in self.relations.iter().zip(self.steps.iter().step_by(2)) {
            let Some(head) = relation.head else { continue };
            for node in 0..self.nodes {
                let to = forwards.from(node).iter();
                facts.extend(to.map(|&to| (node as u32, to, head as u32)));
            }
        }
        facts.sort_unstable();
        facts.dedup();
        for &(_, _, head) in &facts {
            self.heads[head as usize].facts += 1;
        }
        let facts = facts.iter().map(|&(from, to, head)| (from, (to, head)));
        self.facts = Lists::new(self.nodes, facts);
    }
}

/// The columns of a table that can be a relation.
struct Columns {
    ends: [usize; 2],
    third: Option<usize>,
}

/// Two columns of individuals, or two and a third of another sort whose individuals can be written.
fn columns(theory: &Theory, table: TableId) -> Option<Columns> {
    let columns = theory[table].columns.iter();
    let sorts: Option<Vec<SortId>> = columns.map(|column| column.sort.sort()).collect();
    match sorts?.as_slice() {
        [_, _] => Some(Columns {
            ends: [0, 1],
            third: None,
        }),
        sorts @ [_, _, _] => {
            let odd = |at: usize| {
                let mut others = (0..3).filter(|o| *o != at);
                let ends = [others.next()?, others.next()?];
                let sort = &theory[sorts[at]];
                let written = sort.kind != SortKind::Data || !sort.labels.is_empty();
                let is_odd = sorts[ends[0]] == sorts[ends[1]] && sorts[at] != sorts[ends[0]];
                (is_odd && written).then_some(Columns {
                    ends,
                    third: Some(at),
                })
            };
            (0..3).find_map(odd)
        }
        _ => None,
    }
}

/// `forall (x, y) in T. P(x, y)`: the rows of a table are what a predicate is true of.
struct Claim {
    table: TableId,
    predicate: PredicateId,
    /// The place of each column among the arguments.
    arguments: Vec<usize>,
}

fn claims(theory: &Theory) -> Vec<Claim> {
    let claim = |axiom: &Axiom| {
        let FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            binding: Binding::Rows(table, variables),
            guard: None,
            body,
        } = &axiom.formula.kind
        else {
            return None;
        };
        let FormulaKind::Atom {
            predicate,
            arguments,
        } = &body.kind
        else {
            return None;
        };
        let place = |variable: &VarId| {
            let is_it = |term: &Term| term.kind == TermKind::Variable(*variable);
            arguments.iter().position(is_it)
        };
        let places: Option<Vec<usize>> = variables.iter().map(place).collect();
        (arguments.len() == variables.len() && axiom.family.is_none()).then_some(Claim {
            table: *table,
            predicate: *predicate,
            arguments: places?,
        })
    };
    theory.axioms.iter().filter_map(claim).collect()
}

/// Every table that a formula reads, rows and guards alike.
pub(super) fn tables_of(formula: &Formula, found: &mut impl FnMut(TableId)) {
    for formula in formula.parts() {
        if let FormulaKind::Quantified { binding, .. } = &formula.kind
            && let Binding::Rows(table, _) = binding
        {
            found(*table);
        }
        formula.visit_own(&mut |part| {
            if let Part::Guard(guard) = part
                && let GuardKind::Member(table, _) | GuardKind::Exists(Binding::Rows(table, _), ..) =
                    &guard.kind
            {
                found(*table);
            }
        });
    }
}

fn nothing(theory: &Theory, tables: &[TableId]) -> Diagnostic {
    let named: Vec<String> = (tables.iter())
        .map(|t| format!("`{}`", theory[*t].name))
        .collect();
    let of = match named.is_empty() {
        true => "no axiom reads a table".to_string(),
        false => format!("tables: {}", named.join(", ")),
    };
    let what = format!("there is nothing that rules could conclude ({of})");
    Diagnostic::error(Code::NothingToMine, what)
        .note("rules are mined from tables with two columns of individuals, or with a third of another, named sort")
        .help("add an axiom that says where a predicate is true: `axiom facts: forall (h, r, t) in train. linked(h, r, t)`")
}
