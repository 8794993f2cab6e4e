//! What `check` prints for people.

use logltn::theory::{Axiom, ParamId, SortId, SortKind, TableId};
use logltn::{EventSize, Pass, Plan, PlannedAxiom, memory};
use logltn_learn::{ClosedForm, StepWork, duration, large_tables};
use logltn_train::manifest::{Constant, Grounding, Individuals, Layer, Network, Param};
use logltn_train::project::Project;

use crate::text::{Align, bytes, counted, indented, percent, real, table, thousands};

/// Memory below this is not worth a line.
const WORTH_SAYING: u128 = 100_000_000;

/// The head, the axioms, and with `passes` the plan, or what one of them made of the axioms.
pub fn text(project: &Project, plan: &Plan, passes: Option<&[Pass]>, work: &StepWork) -> String {
    if let Some([pass]) = passes {
        return format!("after pass {pass}\n{}", plan.show_pass(*pass));
    }
    let mut out = head(project);
    let words = [Align::Left, Align::Left];
    section(&mut out, "definitions", &words, definitions(project, plan));
    out += &axioms(project, plan, passes.is_some());
    if passes.is_some() {
        out += &format!("plan\n{}\n", indented(&plan.to_string(), 2));
    }
    out += &format!(
        "{}, {}, about {} for the plan\n",
        counted(plan.axioms().len(), "axiom"),
        counted(sum(plan.axioms(), |a| a.groundings), "grounding"),
        bytes(plan.memory_bytes())
    );
    for name in names_of_large_tables(project) {
        out += &format!(
            "`{name}` is large: only the rows of a batch are planned, and groundings are counted for one batch\n"
        );
    }
    for (name, sort) in &project.manifest.sorts {
        if let Some(sample) = sort.sample {
            out += &format!(
                "a step sees a sample of sort `{name}`, {} at a time; groundings are counted for one sample\n",
                thousands(sample.value)
            );
        }
    }
    // Shorter times do not matter and vary from call to call.
    let time = match work.seconds < 0.1 {
        true => "less than 0.1 seconds".to_string(),
        false => format!("about {}", duration(work.seconds)),
    };
    let networks = match usize::try_from(work.network_bytes).unwrap_or(usize::MAX) {
        0 => String::new(),
        kept => format!(", about {} for networks", bytes(kept)),
    };
    out += &format!(
        "a step: {}, {time}{networks}\n",
        counted(work.groundings, "grounding")
    );
    // The program's own memory varies by machine and is not worth a line.
    if work.memory_bytes >= WORTH_SAYING {
        out += &format!(
            "training takes about {} of memory; {} are allowed\n",
            memory::shown(work.memory_bytes),
            memory::shown(memory::limit().into())
        );
    }
    out
}

/// Tables whose rows are not all planned.
fn names_of_large_tables(project: &Project) -> Vec<&str> {
    let tables = large_tables(&project.data);
    let names = tables
        .into_iter()
        .map(|table| &project.theory()[table].name);
    names.map(String::as_str).collect()
}

fn head(project: &Project) -> String {
    let manifest = &project.manifest;
    let mut out = table(
        &[Align::Left, Align::Left],
        &[
            vec!["theory".into(), project.theory().source.name().into()],
            vec!["manifest".into(), manifest.source.name().into()],
            vec!["semantics".into(), manifest.semantics.to_string()],
        ],
    )
    .lines()
    .map(|line| format!("{}\n", line.trim_start()))
    .collect::<String>();
    out.push('\n');
    let words = [Align::Left, Align::Left];
    let number = [Align::Left, Align::Right, Align::Left];
    section(&mut out, "sorts", &number, sorts(project));
    section(&mut out, "params", &number, params(project));
    section(&mut out, "constants", &words, constants(project));
    section(&mut out, "tables", &number, tables(project));
    section(&mut out, "functions", &words, functions(project));
    section(&mut out, "predicates", &words, predicates(project));
    out
}

fn section(out: &mut String, title: &str, align: &[Align], rows: Vec<Vec<String>>) {
    if !rows.is_empty() {
        *out += &format!("{title}\n{}\n", table(align, &rows));
    }
}

fn sorts(project: &Project) -> Vec<Vec<String>> {
    let sorts = project.theory().sorts.iter().enumerate();
    sorts
        .map(|(i, sort)| {
            let id = SortId(i as u32);
            let given = project.manifest.sorts.get(&sort.name);
            let what = match (sort.kind, given.and_then(|g| g.individuals.as_ref())) {
                (SortKind::Range(low, high), _) => format!("the integers {low} to {high}"),
                (SortKind::Labels, _) => some_of(&sort.labels),
                (_, Some(Individuals::Features(from))) => {
                    let file = from.file.display();
                    match sort.labels.is_empty() {
                        true => format!("{file}: {}", features(project, id)),
                        false => format!(
                            "{file}: {}; {}",
                            features(project, id),
                            some_of(&sort.labels)
                        ),
                    }
                }
                (_, Some(Individuals::LabelFile(file))) => {
                    format!("{}: {}", file.display(), some_of(&sort.labels))
                }
                _ => some_of(&sort.labels),
            };
            let learnable = given.and_then(|g| g.learnable);
            let what = match learnable {
                Some(length) => format!("{what}; {} learnt for each", length.value),
                None => what,
            };
            let what = match given.and_then(|g| g.sample) {
                Some(sample) => format!("{what}; {} a step", thousands(sample.value)),
                None => what,
            };
            vec![sort.name.clone(), thousands(project.data.size(id)), what]
        })
        .collect()
}

fn features(project: &Project, sort: SortId) -> String {
    let Some(file) = project.feature_file(sort) else {
        return String::new();
    };
    let shape = |shape: &[usize]| {
        if shape.is_empty() {
            return "1".to_string();
        }
        let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
        sides.join(" × ")
    };
    let fields: Vec<String> = (file.fields.iter())
        .map(|field| match &field.name {
            Some(name) => format!("{name} {}", shape(&field.shape)),
            None => shape(&field.shape),
        })
        .collect();
    format!("{} numbers each", fields.join(", "))
}

fn some_of(labels: &[String]) -> String {
    const MOST_SHOWN: usize = 6;
    let mut shown: Vec<&str> = (labels.iter().take(MOST_SHOWN))
        .map(String::as_str)
        .collect();
    if labels.len() > MOST_SHOWN {
        shown.push("…");
    }
    shown.join(", ")
}

fn params(project: &Project) -> Vec<Vec<String>> {
    let params = project.theory().params.iter().enumerate();
    params
        .map(|(i, param)| {
            let value = project.data.param(ParamId(i as u32));
            let given = project.manifest.params.get(&param.name);
            let what = match given.map(|g| &g.value) {
                Some(Param::Percentile { percentile, sorts }) => format!(
                    "percentile {} of dist({}, {})",
                    percentile.value, sorts[0].value, sorts[1].value
                ),
                _ => String::new(),
            };
            let value = value.map_or(String::new(), |value| match value {
                logltn::Number::Int(n) => n.to_string(),
                logltn::Number::Real(x) => real(x),
            });
            vec![param.name.clone(), value, what]
        })
        .collect()
}

fn constants(project: &Project) -> Vec<Vec<String>> {
    let theory = project.theory();
    let constants = theory.constants.iter();
    constants
        .map(|constant| {
            let given = project.manifest.constants.get(&constant.name);
            let what = match given.map(|g| &g.value) {
                Some(Constant::Row(row)) => format!("row {}", row.value),
                Some(Constant::Name(name)) => name.value.clone(),
                Some(Constant::Learnable(length)) => {
                    format!("a learnable vector of {}", length.value)
                }
                None => String::new(),
            };
            let name = format!("{}: {}", constant.name, theory[constant.sort].name);
            vec![name, what]
        })
        .collect()
}

fn tables(project: &Project) -> Vec<Vec<String>> {
    let tables = project.theory().tables.iter().enumerate();
    tables
        .map(|(i, declared)| {
            let rows = project.data.table(TableId(i as u32)).map_or(0, |t| t.rows);
            let given = project.manifest.tables.get(&declared.name);
            let file = given.map_or(String::new(), |g| g.rows.display().to_string());
            let what = match given.and_then(|g| g.batch) {
                Some(batch) => format!("{file}, {} a step", batch.value),
                None => file,
            };
            let columns: Vec<&str> = declared.columns.iter().map(|c| c.name.as_str()).collect();
            let name = format!("{}({})", declared.name, columns.join(", "));
            vec![name, counted(rows, "row"), what]
        })
        .collect()
}

fn arguments(project: &Project, arguments: &[logltn::theory::ArgumentSort]) -> String {
    let names: Vec<String> = (arguments.iter())
        .map(|sort| project.theory().argument_sort_name(sort))
        .collect();
    names.join(", ")
}

fn functions(project: &Project) -> Vec<Vec<String>> {
    let functions = project
        .theory()
        .functions
        .iter()
        .filter(|function| function.field().is_none());
    functions
        .map(|function| {
            let given = project.manifest.functions.get(&function.name);
            let network = given.and_then(|f| f.network.as_ref());
            let values = given.and_then(|f| f.values.as_ref());
            let what = match (
                values,
                network.and_then(|n| project.manifest.network(&n.value)),
            ) {
                (Some(file), _) => format!("values of {}", file.value.display()),
                (None, Some(network)) => format!("network, {}", describe(network)),
                (None, None) => "host code".to_string(),
            };
            let result = project.theory().argument_sort_name(&function.result);
            let head = format!(
                "{}({}): {result}",
                function.name,
                arguments(project, &function.arguments)
            );
            vec![head, what]
        })
        .collect()
}

fn predicates(project: &Project) -> Vec<Vec<String>> {
    let predicates = project.theory().predicates.iter().zip(&project.outputs);
    predicates
        .map(|(predicate, output)| {
            let given = project.manifest.predicates.get(&predicate.name);
            let kind = output.kind.name();
            let kind = if output.per_class && kind == "sigmoid" {
                "sigmoid per class"
            } else {
                kind
            };
            let what = match given.map(|g| &g.grounding) {
                Some(Grounding::Network { network, .. }) => {
                    match project.manifest.network(&network.value) {
                        Some(network) => format!("{kind} of a network, {}", describe(network)),
                        None => format!("{kind} of a network"),
                    }
                }
                Some(Grounding::Learnable { initial, .. }) => {
                    format!("{kind} of learnable logits, {initial} at first")
                }
                Some(Grounding::ClosedForm(form)) => closed_form(form),
                Some(Grounding::Logits { file, .. }) => {
                    format!("{kind} of the logits in {}", file.display())
                }
                Some(Grounding::Truth(file)) => format!("truth degrees in {}", file.display()),
                Some(Grounding::LogTruth(file)) => {
                    format!("logs of truth degrees in {}", file.display())
                }
                Some(Grounding::Host { .. }) | None => format!("{kind}, from host code"),
            };
            let head = format!(
                "{}({})",
                predicate.name,
                arguments(project, &predicate.arguments)
            );
            vec![head, what]
        })
        .collect()
}

fn definitions(project: &Project, plan: &Plan) -> Vec<Vec<String>> {
    let theory = project.theory();
    let planned = plan.definitions();
    (theory.definitions.iter())
        .map(|definition| {
            let parameters = definition.parameters().iter();
            let sorts: Vec<&str> = parameters
                .map(|p| theory.column_sort_name(p.sort))
                .collect();
            let head = format!("{}({})", definition.name(), sorts.join(", "));
            let what = match planned.iter().find(|p| p.name == definition.name()) {
                Some(p) if p.tuples == 0 => "nothing is asked of it".to_string(),
                Some(p) => format!("{}, depth {}", counted(p.tuples, "tuple"), p.depth),
                None => "written out where it is used".to_string(),
            };
            vec![head, what]
        })
        .collect()
}

/// `log truth -rate * dist(u, v), learning rate (0.05 at first)`.
fn closed_form(form: &ClosedForm) -> String {
    let learnt = form.learnt().iter().map(|(name, first)| match &first[..] {
        [number] => format!("{name} ({number} at first)"),
        vector => format!("{name} ({} numbers)", vector.len()),
    });
    let learnt: Vec<String> = learnt.collect();
    let what = format!("{} {}", form.key().replace('_', " "), form.text());
    match learnt.is_empty() {
        true => what,
        false => format!("{what}, learning {}", learnt.join(", ")),
    }
}

fn describe(network: &Network) -> String {
    let names = || {
        (network.layers.iter()).filter_map(|layer| match layer {
            Layer::Conv { filters, kernel } => Some(format!("conv {filters}@{kernel}")),
            Layer::Flatten | Layer::Activation(_) | Layer::Affine { .. } => None,
            other => Some(other.to_string()),
        })
    };
    let shorthand = network.shorthand.clone();
    shorthand.unwrap_or_else(|| names().collect::<Vec<_>>().join(", "))
}

fn axioms(project: &Project, plan: &Plan, with_members: bool) -> String {
    let theory = project.theory();
    let mut out = String::from("axioms\n");
    let mut planned = plan.axioms();
    let mut place = 0;
    for (index, axiom) in theory.axioms.iter().enumerate() {
        let count = planned.iter().take_while(|p| p.axiom == index).count();
        let (members, rest) = planned.split_at(count);
        planned = rest;
        let places = place..place + count;
        place += count;
        out += &format!("  {}\n", theory.show_head(axiom));
        let formula = theory.show(axiom, &axiom.formula);
        let nnf = axiom.formula.nnf().map(|nnf| theory.show(axiom, &nnf));
        let mut rows = vec![vec!["formula".to_string(), formula.clone()]];
        rows.push(vec![
            "nnf".to_string(),
            match nnf {
                Some(nnf) if nnf == formula => "the same".to_string(),
                Some(nnf) => nnf,
                None => "too long to write".to_string(),
            },
        ]);
        if axiom.family.is_some() {
            rows.push(vec!["members".to_string(), thousands(members.len())]);
        }
        rows.push(vec!["groundings".to_string(), groundings(members)]);
        if let Some(circuits) = circuits(plan, places) {
            rows.push(circuits);
        }
        let empty: u128 = sum(members, |m| u128::from(m.empty_exists));
        if empty > 0 {
            rows.push(vec!["empty exists".to_string(), thousands(empty)]);
        }
        out += &indented(&table(&[Align::Left, Align::Left], &rows), 2);
        if with_members && axiom.family.is_some() {
            out += &family(axiom, members);
        }
        out.push('\n');
    }
    out
}

/// `events: 1,000, of 1 shape with 1,520 nodes and 2,002 edges`, where formulas have exact probabilities.
fn circuits(plan: &Plan, places: std::ops::Range<usize>) -> Option<Vec<String>> {
    let hard = plan.axioms()[places.clone()].iter().any(|axiom| axiom.hard);
    let mut sizes = places.filter_map(|place| plan.event_size(place));
    let first = sizes.next()?;
    // For laws they belong to all laws together.
    let others: Vec<_> = if hard { Vec::new() } else { sizes.collect() };
    let total = |of: fn(&EventSize) -> usize| of(&first) + others.iter().map(of).sum::<usize>();
    let text = format!(
        "{}, of {} with {} and {}",
        thousands(total(|s| s.events)),
        counted(total(|s| s.shapes), "shape"),
        counted(total(|s| s.nodes), "node"),
        counted(total(|s| s.edges), "edge")
    );
    Some(match hard {
        true => vec!["law, of all".to_string(), format!("groups {text}")],
        false => vec!["events".to_string(), text],
    })
}

/// `16,040 of 3,208,005 (0.500 %)`.
fn groundings(members: &[PlannedAxiom]) -> String {
    let before = sum(members, |m| m.groundings_before);
    let after = sum(members, |m| m.groundings);
    if before == after {
        return thousands(after);
    }
    format!(
        "{} of {} ({})",
        thousands(after),
        thousands(before),
        percent(after, before)
    )
}

fn family(axiom: &Axiom, members: &[PlannedAxiom]) -> String {
    let rows: Vec<Vec<String>> = (members.iter())
        .map(|member| {
            let name = member
                .name
                .strip_prefix(&axiom.name)
                .unwrap_or(&member.name);
            vec![name.to_string(), groundings(std::slice::from_ref(member))]
        })
        .collect();
    indented(&table(&[Align::Left, Align::Left], &rows), 4)
}

fn sum(members: &[PlannedAxiom], count: impl Fn(&PlannedAxiom) -> u128) -> u128 {
    (members.iter()).fold(0, |total: u128, member| total.saturating_add(count(member)))
}
