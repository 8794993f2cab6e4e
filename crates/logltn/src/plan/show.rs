//! The plan for people: what `logltn check --plan` prints.

use std::fmt::{self, Write};

use super::physical::{LevelComponent, Lookup, Physical};
use super::program::*;
use super::{Pass, Plan};
use crate::guard::with_names;
use crate::theory::VarId;

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
        for (i, request) in self
            .requests
            .iter()
            .enumerate()
            .skip(self.strata.strata.len())
        {
            writeln!(f, "  {}", self.request_line(i, request))?;
        }
        if !self.strata.strata.is_empty() {
            let of = match self.data.theory().definitions.is_empty() {
                true => "Shared parts of axioms",
                false if self.strata.strata.iter().any(|s| s.shared.is_some()) => {
                    "Definitions, and shared parts of axioms"
                }
                false => "Definitions",
            };
            writeln!(
                f,
                "\n{of}: computed in this order, for the tuples that are asked for"
            )?;
            let mut order: Vec<usize> = self.strata.steps.iter().map(|s| s.stratum).collect();
            order.extend(0..self.strata.strata.len());
            let mut shown = vec![false; self.strata.strata.len()];
            for stratum in order {
                if !std::mem::replace(&mut shown[stratum], true) {
                    self.stratum(f, stratum)?;
                }
            }
        }
        writeln!(f, "\nAxioms")?;
        self.each_family(f, |f, axiom| self.axiom(f, axiom))?;
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

impl Plan {
    /// The result of a pass for an axiom, by its place in [`Plan::axioms`]. The first four passes give a formula, which
    /// is kept if [`PlanOptions::keep_forms`](super::PlanOptions::keep_forms) said so.
    pub fn form(&self, axiom: usize, pass: Pass) -> Option<String> {
        let program = self.programs.get(axiom)?;
        let kept = |at: usize| self.forms.get(axiom)?.get(at).cloned();
        match pass {
            Pass::Normal => kept(0),
            Pass::Narrow => kept(1),
            Pass::Share => kept(2),
            Pass::Eliminate => kept(3),
            Pass::Ground => {
                let mut out = String::new();
                self.node(&mut out, program, program.root, 0).ok()?;
                Some(out)
            }
            Pass::Lower => Some(self.lowered_text(program)),
        }
    }

    /// The result of a pass for all axioms, for people.
    pub fn show_pass(&self, pass: Pass) -> String {
        let mut out = String::new();
        let written = self.each_family(&mut out, |out, axiom| {
            writeln!(out, "  {}", self.axioms[axiom].name)?;
            let form = self.form(axiom, pass).unwrap_or_default();
            form.lines()
                .try_for_each(|line| writeln!(out, "    {line}"))
        });
        written.map_or_else(|_| String::new(), |()| out)
    }

    /// The axioms, of each family the first member only.
    fn each_family<W: Write>(
        &self,
        out: &mut W,
        mut write: impl FnMut(&mut W, usize) -> fmt::Result,
    ) -> fmt::Result {
        let mut at = 0;
        for family in self.axioms.chunk_by(|a, b| a.axiom == b.axiom) {
            write(out, at)?;
            at += family.len();
            if family.len() > 1 {
                writeln!(out, "  … and {} more of the family", family.len() - 1)?;
            }
        }
        Ok(())
    }

    fn stratum(&self, out: &mut impl Write, index: usize) -> fmt::Result {
        let stratum = &self.strata.strata[index];
        let tuples = grouped(stratum.codes.len() as u128);
        let steps = self.strata.steps.iter().filter(|s| s.stratum == index);
        if let Some(part) = &stratum.shared {
            let (name, parameters) = (&stratum.name, part.parameters.join(", "));
            writeln!(out, "  {name}({parameters}): {}", part.formula)?;
            if let Some(of) = &stratum.contraction {
                let sides = [of.left, of.right].map(|s| &self.strata.strata[s].name);
                writeln!(
                    out,
                    "    as the product of matrices {} and {}",
                    sides[0], sides[1]
                )?;
            }
            return writeln!(
                out,
                "    {tuples} tuples instead of {} bindings; cost: about {} operations before, {} after",
                grouped(part.bindings.ceil() as u128),
                grouped(part.cost_before.ceil() as u128),
                grouped(part.cost_after.ceil() as u128)
            );
        }
        write!(
            out,
            "  {}: {tuples} tuples, depth {}",
            stratum.name, stratum.depth
        )?;
        writeln!(out, ", in {} steps", grouped(steps.count() as u128))?;
        for rewrite in &stratum.rewrites {
            writeln!(out, "    as written: {}", rewrite.before)?;
            writeln!(out, "    rewritten:  {}", rewrite.after)?;
        }
        Ok(())
    }

    /// Everything that is known about one axiom.
    fn axiom(&self, out: &mut impl Write, index: usize) -> fmt::Result {
        let (axiom, program) = (&self.axioms[index], &self.programs[index]);
        write!(
            out,
            "  {}: {} groundings",
            axiom.name,
            grouped(axiom.groundings)
        )?;
        if axiom.groundings != axiom.groundings_before {
            write!(out, " of {}", grouped(axiom.groundings_before))?;
        }
        writeln!(out)?;
        let mut last = None;
        for pass in Pass::ALL {
            if let Some(form) = self.forms.get(index).and_then(|f| f.get(pass as usize))
                && last != Some(form)
            {
                writeln!(out, "    {:<11} {form}", format!("{pass}:"))?;
                last = Some(form);
            }
        }
        for rewrite in &program.rewrites {
            writeln!(out, "    as written: {}", rewrite.before)?;
            writeln!(out, "    rewritten:  {}", rewrite.after)?;
            writeln!(
                out,
                "    cost:       about {} operations before, {} after, for each binding around it",
                grouped(rewrite.cost_before.ceil() as u128),
                grouped(rewrite.cost_after.ceil() as u128)
            )?;
        }
        self.node(out, program, program.root, 2)
    }

    /// The parts that the lanes divide, and the blocks that they visit.
    fn lowered_text(&self, program: &Physical) -> String {
        let mut lines = Vec::new();
        let counted = |n: usize, what: &str| match n {
            1 => format!("1 {what}"),
            n => format!("{} {what}s", grouped(n as u128)),
        };
        for (i, root) in program.roots.iter().enumerate() {
            let how = match (
                root.clause.map(|c| &program.clauses[c]),
                &program.nodes[root.node].kind,
            ) {
                (Some(clause), _) => {
                    let over = match clause.over_rows {
                        true => format!(", over rows of {} classes", clause.classes),
                        false => String::new(),
                    };
                    let literals = counted(clause.literals.len(), "literal");
                    format!(
                        "a small clause of {literals}{over}, by level {}",
                        clause.level
                    )
                }
                (None, NodeKind::Quantifier { level, .. }) => {
                    format!("a quantifier, by level {level}")
                }
                (None, _) => "outside all quantifiers".to_string(),
            };
            let parts = program.roots.len();
            lines.push(format!(
                "part {} of {parts}: {how}; about {} a binding",
                i + 1,
                counted(root.cost as usize, "operation")
            ));
        }
        for (i, level) in program.levels.iter().enumerate().skip(1) {
            let components = level.components.iter().map(|c| {
                match self.names(program, &c.bound.variables).as_slice() {
                    [] => "a condition".to_string(),
                    names => names.join(", "),
                }
            });
            lines.push(format!(
                "level {i} in level {}: {}; blocks of {}, {}, {}, {}",
                level.parent,
                components.collect::<Vec<_>>().join(" × "),
                counted(level.capacity, "binding"),
                counted(level.adds.len() + level.wide_adds.len(), "slot"),
                counted(level.buffers, "buffer"),
                counted(level.resolves.len(), "look-up"),
            ));
        }
        lines.join("\n") + "\n"
    }

    fn request_line(&self, index: usize, request: &RequestPlan) -> String {
        let theory = self.data.theory();
        let shape: Vec<_> = (request.shape.iter()).map(|s| self.shape_text(s)).collect();
        let kind = self.outputs[request.predicate.index()].kind.name();
        let kind = kind.replace('_', " ");
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

    /// An upper bound that visits no bindings: the distinct codes of maps and constants, and of all
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
        let programs = self.all_programs().flatten();
        let looked_up = programs.flat_map(|p| &p.levels).any(|level| {
            let is_it = |r: &Lookup| r.table.request() == Some(request);
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
            ArgumentShape::Number => "Real".to_string(),
            ArgumentShape::Row(function) => theory[*function].name.clone(),
            ArgumentShape::Apply(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(|a| self.shape_text(a)).collect();
                format!("{}({})", theory[*function].name, arguments.join(", "))
            }
        }
    }

    fn node(
        &self,
        f: &mut impl Write,
        program: &Physical,
        node: usize,
        depth: usize,
    ) -> fmt::Result {
        let indent = "  ".repeat(depth.min(20));
        let kind = &program.nodes[node].kind;
        let mut inside = depth;
        match kind {
            NodeKind::Constant(truth) => writeln!(f, "{indent}always {truth}")?,
            NodeKind::Quantifier { forall, level, .. } => {
                inside += 1;
                let word = if *forall { "forall" } else { "exists" };
                let components = &program.levels[*level].components;
                let mut components: Vec<&LevelComponent> = components.iter().collect();
                components.sort_by_key(|c| c.position);
                match components.as_slice() {
                    [only] => writeln!(f, "{indent}{word} {}", self.component_text(program, only))?,
                    several => {
                        writeln!(f, "{indent}{word}, all combinations of")?;
                        for one in several {
                            writeln!(f, "{indent}  {}", self.component_text(program, one))?;
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
            }
            NodeKind::Elimination(index) => {
                inside += 1;
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
            }
            _ => {}
        }
        let mut children = kind.children(&program.eliminations).into_iter();
        children.try_for_each(|child| self.node(f, program, child, inside))
    }

    /// The names of an axiom's variables.
    fn names(&self, program: &Physical, variables: &[VarId]) -> Vec<&str> {
        let axiom = &self.data.theory().axioms[program.axiom];
        let name = |v: &VarId| axiom[*v].name.as_str();
        variables.iter().map(name).collect()
    }

    fn component_text(&self, program: &Physical, used: &LevelComponent) -> String {
        let component = &self.components[used.component];
        let theory = self.data.theory();
        let count = grouped(component.len() as u128);
        let own = self.names(program, &used.bound.variables);
        let names = match own.as_slice() {
            [only] => (*only).to_string(),
            several => format!("({})", several.join(", ")),
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
            ComponentSource::Guarded { .. } | ComponentSource::Bindings => {
                let lists = match self.names(program, &used.bound.keys).as_slice() {
                    [] => String::new(),
                    keys => format!(
                        " in {} lists, one for each {}",
                        grouped(component.keys() as u128),
                        keys.join(", ")
                    ),
                };
                let what = match own.is_empty() {
                    true => "a condition on outer variables only".to_string(),
                    false => names,
                };
                let counted = match component.weights.is_empty() {
                    true => String::new(),
                    false => {
                        let all = component.bindings(0..component.len() as u32);
                        let all = grouped(all);
                        format!(
                            "; for {all} bindings, counted beforehand, since what is inside does not tell them apart"
                        )
                    }
                };
                let method = match component.method.as_str() {
                    "" => String::new(),
                    method => format!("; {}", with_names(method, &own)),
                };
                format!(
                    "{what}: {count} of {} kept{lists}{method}{counted}",
                    grouped(component.candidates),
                )
            }
        }
    }
}
