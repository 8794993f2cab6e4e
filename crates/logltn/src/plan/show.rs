//! The plan for people: what `logltn check --plan` prints.

use std::fmt;

use super::Plan;
use super::physical::{LevelComponent, Lookup, Physical};
use super::program::*;
use crate::guard::with_names;
use crate::output::OutputKind;

/// `12,345,678`
fn grouped(n: u128) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(super) fn bytes(n: usize) -> String {
    match n {
        0..10_000 => format!("{n} bytes"),
        10_000..10_000_000 => format!("{} kB", grouped(n as u128 / 1000)),
        _ => format!("{} MB", grouped(n as u128 / 1_000_000)),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Requests: each row is asked for once per step, however many axioms need it"
        )?;
        for (i, request) in self.requests.iter().enumerate() {
            writeln!(f, "  {}", self.request_line(i, request))?;
        }
        writeln!(f, "\nAxioms")?;
        let mut shown = None;
        let mut alike = 0;
        for (axiom, program) in self.axioms.iter().zip(&self.programs) {
            if shown == Some(axiom.axiom) {
                alike += 1;
                continue;
            }
            more_like_it(f, alike)?;
            (shown, alike) = (Some(axiom.axiom), 0);
            write!(
                f,
                "  {}: {} groundings",
                axiom.name,
                grouped(axiom.groundings)
            )?;
            if axiom.groundings != axiom.groundings_before {
                write!(f, " of {}", grouped(axiom.groundings_before))?;
            }
            writeln!(f)?;
            for rewrite in &program.rewrites {
                writeln!(f, "    as written: {}", rewrite.before)?;
                writeln!(f, "    rewritten:  {}", rewrite.after)?;
                writeln!(
                    f,
                    "    cost:       about {} operations before, {} after, for each binding around it",
                    grouped(rewrite.cost_before.ceil() as u128),
                    grouped(rewrite.cost_after.ceil() as u128)
                )?;
            }
            self.node(f, program, program.root, 2)?;
        }
        more_like_it(f, alike)?;
        writeln!(
            f,
            "\nMemory of the lists and maps: {}",
            bytes(self.memory_bytes())
        )
    }
}

/// The mean, without overflow.
fn mean(counts: &[u128]) -> u128 {
    let n = counts.len().max(1) as u128;
    counts.iter().map(|c| c / n).sum::<u128>() + counts.iter().map(|c| c % n).sum::<u128>() / n
}

fn more_like_it(f: &mut fmt::Formatter<'_>, alike: usize) -> fmt::Result {
    match alike {
        0 => Ok(()),
        n => writeln!(f, "  … and {n} more of the family"),
    }
}

impl Plan {
    fn request_line(&self, index: usize, request: &RequestPlan) -> String {
        let theory = self.data.theory();
        let shape: Vec<_> = (request.shape.iter()).map(|s| self.shape_text(s)).collect();
        let kind = match self.outputs[request.predicate.index()].kind {
            OutputKind::Softmax => "softmax",
            OutputKind::Sigmoid => "sigmoid",
            OutputKind::Truth => "truth",
            OutputKind::LogTruth => "log truth",
        };
        let answers = match request.width {
            1 => String::new(),
            n => format!(" × {n}"),
        };
        let rows = if request.complete {
            match request.grid() {
                1 => "its one row".to_string(),
                n => format!("all {} rows", grouped(u128::from(n))),
            }
        } else {
            let of = grouped(u128::from(request.grid()));
            let rows = grouped(self.distinct_rows(index) as u128);
            let batch = match request.dynamic {
                true => ", fewer in a batch",
                false => "",
            };
            format!("at most {rows} of {of} rows{batch}")
        };
        format!(
            "{}({}){answers}: {rows}, {kind}",
            theory[request.predicate].name,
            shape.join(", ")
        )
    }

    /// An upper bound that needs no walk: the distinct codes of maps and constants, and of all
    /// combinations where several components name a row.
    fn distinct_rows(&self, request: usize) -> usize {
        let mut codes: Vec<u64> = self.requests[request].constant_codes.clone();
        for map in &self.maps {
            match &map.values {
                MapValues::Rows {
                    request: r,
                    codes: own,
                } if *r == request => codes.extend(own),
                _ => {}
            }
        }
        codes.sort_unstable();
        codes.dedup();
        let looked_up = self.programs.iter().flat_map(|p| &p.levels).any(|level| {
            let is_it = |r: &Lookup| matches!(r.table, ResolveTable::Request(q) if q == request);
            level.resolves.iter().any(is_it)
        });
        if looked_up {
            return self.requests[request].grid() as usize;
        }
        codes.len()
    }

    fn shape_text(&self, shape: &ArgumentShape) -> String {
        let theory = self.data.theory();
        match shape {
            ArgumentShape::Individual(sort) => theory[*sort].name.clone(),
            ArgumentShape::Apply(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(|a| self.shape_text(a)).collect();
                format!("{}({})", theory[*function].name, arguments.join(", "))
            }
        }
    }

    fn node(
        &self,
        f: &mut fmt::Formatter<'_>,
        program: &Physical,
        node: usize,
        depth: usize,
    ) -> fmt::Result {
        let indent = "  ".repeat(depth.min(20));
        match &program.nodes[node].kind {
            NodeKind::Constant(truth) => writeln!(f, "{indent}always {truth}"),
            NodeKind::Literal { .. } => Ok(()),
            NodeKind::Not(a) | NodeKind::Log(a) => self.node(f, program, *a, depth),
            NodeKind::And(members) | NodeKind::Or(members) => members
                .iter()
                .try_for_each(|m| self.node(f, program, *m, depth)),
            NodeKind::Implies(a, b) | NodeKind::Iff(a, b) => {
                self.node(f, program, *a, depth)?;
                self.node(f, program, *b, depth)
            }
            NodeKind::Quantifier {
                forall,
                level,
                body,
            } => {
                let word = if *forall { "forall" } else { "exists" };
                let components = &program.levels[*level].components;
                let mut components: Vec<&LevelComponent> = components.iter().collect();
                components.sort_by_key(|c| c.position);
                match components.as_slice() {
                    [only] => writeln!(f, "{indent}{word} {}", self.component_text(only))?,
                    several => {
                        writeln!(f, "{indent}{word}, all combinations of")?;
                        for one in several {
                            writeln!(f, "{indent}  {}", self.component_text(one))?;
                        }
                    }
                }
                let clause = (program.roots.iter())
                    .find(|r| r.node == node)
                    .and_then(|r| r.clause);
                if let Some(clause) = clause.map(|c| &program.clauses[c])
                    && clause.literals.len() > 1
                {
                    writeln!(
                        f,
                        "{indent}  a clause of {} literals: value and derivatives in one pass",
                        clause.literals.len()
                    )?;
                }
                self.node(f, program, *body, depth + 1)
            }
            NodeKind::Elimination(index) => {
                let elimination = &program.eliminations[*index];
                let keys = elimination.counts.len().max(1) as u128;
                writeln!(
                    f,
                    "{indent}exists, by elimination in {}: about {} combinations instead of {}",
                    match elimination.steps.len() {
                        1 => "1 step".to_string(),
                        n => format!("{n} steps"),
                    },
                    grouped(elimination.combinations.div_ceil(keys)),
                    grouped(mean(&elimination.counts)),
                )?;
                for member in &elimination.common {
                    self.node(f, program, *member, depth + 1)?;
                }
                for factor in &elimination.factors {
                    self.node(f, program, factor.body, depth + 1)?;
                }
                Ok(())
            }
        }
    }

    fn component_text(&self, used: &LevelComponent) -> String {
        let component = &self.components[used.component];
        let theory = self.data.theory();
        let count = grouped(component.len() as u128);
        let names = match used.names.len() {
            1 => used.names[0].clone(),
            _ => format!("({})", used.names.join(", ")),
        };
        match &component.source {
            ComponentSource::Sort(sort) => {
                format!("{names}: all {count} of {}", theory[*sort].name)
            }
            ComponentSource::Rows(table) => {
                let batch = match component.batched {
                    Some(_) => ", a batch of them at a time",
                    None => "",
                };
                format!(
                    "{names}: the {count} rows of {}{batch}",
                    theory[*table].name
                )
            }
            ComponentSource::Guarded { .. } => {
                let lists = match used.key_names.as_slice() {
                    [] => String::new(),
                    keys => format!(
                        " in {} lists, one for each {}",
                        grouped(component.keys() as u128),
                        keys.join(", ")
                    ),
                };
                let what = match used.names.is_empty() {
                    true => "a condition on outer variables only".to_string(),
                    false => names,
                };
                format!(
                    "{what}: {count} of {} kept{lists}; {}",
                    grouped(component.candidates),
                    with_names(&component.method, &used.names)
                )
            }
        }
    }
}
