//! Exported plans, read by a program that knows nothing but `crates/logltn/PLAN-FORMAT.md`: the same truths, loss and gradients as the
//! engine's.

use crate::cases::compare::{near, unambiguous_gradients};
use crate::cases::conformance;
use crate::cases::random_case::{random_case, random_parameters, random_semantics};
use crate::cases::random_exists::random_exists;
use crate::cases::rng::Rng;
use crate::reference::tape::{Tape, Ties, Var};
use crate::reference::{Case, literal, operators};
use logltn::{
    Aggregator, Engine, ExportedArray, Loss, Or, OutputKind, Parameters, Plan, PlanOptions,
    Semantics, Space,
};
use serde_json::Value;

const FLOOR: f64 = -1e5;

fn number(value: &Value) -> i64 {
    value.as_i64().expect("a whole number")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// What the plan has of a quantifier: logs are taken before.
fn aggregator(semantics: &Semantics, forall: bool) -> Aggregator {
    match (forall, semantics.forall) {
        (true, Aggregator::LogProduct) => Aggregator::Sum,
        (true, forall) => forall,
        (false, _) => semantics.exists,
    }
}

/// What is known about a binding of a level.
#[derive(Clone, Default)]
struct At {
    arrays: Vec<i64>,
    wide: Vec<i64>,
}

/// Reads a plan.
struct Reader<'a> {
    header: &'a Value,
    arrays: Vec<Vec<f64>>,
    semantics: &'a Semantics,
    tape: Tape,
    /// By request, the numbers behind its rows.
    numbers: Vec<Vec<Var>>,
    /// Of the axiom at hand.
    axiom: &'a Value,
    parameters: Parameters,
}

impl<'a> Reader<'a> {
    fn array(&self, of: &Value) -> &[f64] {
        &self.arrays[number(of) as usize]
    }

    fn entry(&self, of: &Value, at: i64) -> i64 {
        self.array(of)[at as usize] as i64
    }

    fn place(place: &Value, arrays: &[i64]) -> i64 {
        match place.get("base") {
            Some(base) => number(base),
            None => arrays[number(&place["array"]) as usize],
        }
    }

    /// The tuples of a component, by their numbers.
    fn tuples(&self, given: &Value, parent: &At) -> std::ops::Range<i64> {
        let component = &self.header["components"][number(&given["component"]) as usize];
        let Some(offsets) = component.get("offsets") else {
            return 0..number(&component["size"]);
        };
        let key = Self::place(&given["key"], &parent.arrays);
        self.entry(offsets, key)..self.entry(offsets, key + 1)
    }

    fn mapped(&self, map: &Value, tuple: i64) -> i64 {
        let map = &self.header["maps"][number(map) as usize];
        match map.get("range") {
            Some(range) => number(&range[0]) + number(&range[1]) * tuple,
            None => self.entry(&map["values"], tuple),
        }
    }

    /// The bindings of a level under one of its parent's.
    fn bindings(&self, level: usize, parent: &At) -> Vec<At> {
        let level = &self.axiom["levels"][level];
        let mut all: Vec<Vec<i64>> = vec![Vec::new()];
        for component in list(&level["components"]) {
            let tuples = self.tuples(component, parent);
            let longer = |known: &Vec<i64>| {
                let known = known.clone();
                tuples
                    .clone()
                    .map(move |tuple| [&known[..], &[tuple]].concat())
            };
            all = all.iter().flat_map(longer).collect();
        }
        let added = |adds: &Value, of_parent: &[i64], tuples: &[i64]| -> Vec<i64> {
            let sums = list(adds).iter().map(|add| {
                let start = Self::place(&add["from"], of_parent);
                let maps = list(&add["maps"]).iter().zip(tuples);
                let parts = maps.flat_map(|(own, &tuple)| {
                    list(own).iter().map(move |map| self.mapped(map, tuple))
                });
                parts.fold(start, |sum, part| sum + part)
            });
            sums.collect()
        };
        let at = all.iter().map(|tuples| {
            let mut at = At {
                arrays: added(&level["adds"], &parent.arrays, tuples),
                wide: added(&level["wide_adds"], &parent.wide, tuples),
            };
            for lookup in list(&level["lookups"]) {
                let code = at.wide[number(&lookup["wide"]) as usize];
                at.arrays[number(&lookup["array"]) as usize] += self.looked_up(lookup, code);
            }
            at
        });
        at.collect()
    }

    fn looked_up(&self, lookup: &Value, mut code: i64) -> i64 {
        if let Some(codes) = lookup.get("codes") {
            let found = (self.array(codes).iter()).position(|c| *c as i64 == code);
            return found.map_or(0, |at| self.entry(&lookup["keys"], at as i64));
        }
        if let Some(applied) = lookup.get("applied") {
            let terms = list(applied).iter();
            code = terms
                .map(|term| self.tree(&term[0], code) * number(&term[1]))
                .sum();
        }
        let Some(request) = lookup.get("request") else {
            return code;
        };
        let request = &self.header["requests"][number(request) as usize];
        if let Some(codes) = request.get("codes") {
            let found = (self.array(codes).iter()).position(|c| *c as i64 == code);
            code = found.expect("every row that is asked for is listed") as i64;
        }
        code * number(&request["width"])
    }

    fn tree(&self, tree: &Value, code: i64) -> i64 {
        if let Some(digit) = tree.get("digit") {
            return code / number(&digit[0]) % number(&digit[1]);
        }
        if let Some(fixed) = tree.get("fixed") {
            return number(fixed);
        }
        let row = list(&tree["arguments"]).iter().fold(0, |row, argument| {
            row * number(&argument[1]) + self.tree(&argument[0], code)
        });
        tree.get("values")
            .map_or(row, |values| self.entry(values, row))
    }

    fn node(&self, number: usize) -> &'a Value {
        &self.axiom["nodes"][number]
    }

    fn literal(&mut self, node: &Value, at: &At, opposite: bool) -> Var {
        let request = number(&node["request"]) as usize;
        let described = &self.header["requests"][request];
        let width = number(&described["width"]) as usize;
        let place = Self::place(&node["place"], &at.arrays) as usize;
        let kind = match described["output"].as_str() {
            Some("softmax") => OutputKind::Softmax,
            Some("sigmoid") => OutputKind::Sigmoid,
            Some("truth") => OutputKind::Truth,
            Some("log_truth") => OutputKind::LogTruth,
            other => panic!("output {other:?}"),
        };
        let negated = node["negated"].as_bool().expect("a bool") != opposite;
        let row = place - place % width;
        let numbers = &self.numbers[request][row..row + width];
        let space = match self.semantics.space {
            Space::Log => Space::Log,
            _ => Space::Truth,
        };
        literal::literal(&mut self.tape, space, kind, numbers, place - row, negated)
    }

    /// What an operator that wants complements takes of its members.
    fn complements(&mut self, members: &[(usize, At, Var)]) -> Vec<Var> {
        let mut found = Vec::new();
        for (member, at, value) in members {
            let node = self.node(*member);
            found.push(match node["kind"] == "literal" {
                _ if self.semantics.space != Space::Log => *value,
                true => self.literal(node, at, true),
                false => operators::complement(&mut self.tape, *value),
            });
        }
        found
    }

    fn value(&mut self, number_of: usize, at: &At) -> Var {
        let node = self.node(number_of);
        let (semantics, eps) = (self.semantics, self.semantics.stable_eps);
        let log = semantics.space == Space::Log;
        let kind = node["kind"].as_str().expect("a kind");
        let (least, most) = if log { (FLOOR, 0.0) } else { (0.0, 1.0) };
        match kind {
            "literal" => return self.literal(node, at, false),
            "constant" => {
                let truth = node["truth"] == true;
                return self.tape.constant(if truth { most } else { least });
            }
            "elimination" => return self.elimination(node, at),
            "forall" | "exists" => {
                let body = number(&node["body"]) as usize;
                let level = number(&node["inner"]) as usize;
                let weighed = self.axiom["levels"][level]
                    .get("weights")
                    .map_or(&[][..], |w| list(w));
                let (mut members, mut weights) = (Vec::new(), Vec::new());
                for binding in self.bindings(level, at) {
                    let value = self.value(body, &binding);
                    let own = weighed.iter().map(|w| binding.arrays[number(w) as usize]);
                    weights.push(own.product::<i64>() as f64);
                    members.push((body, binding, value));
                }
                let forall = kind == "forall";
                if members.is_empty() {
                    let truth = match (forall, semantics.space) {
                        (true, Space::Truth) => 1.0,
                        (false, Space::Log) => FLOOR,
                        _ => 0.0,
                    };
                    return self.tape.constant(truth);
                }
                let complements = self.complements(&members);
                let operator = aggregator(semantics, forall);
                let values = weights.into_iter().zip(members.iter().map(|m| m.2));
                let values: Vec<_> = values.collect();
                let (tape, parameters) = (&mut self.tape, &self.parameters);
                return operators::aggregate(
                    tape,
                    operator,
                    eps,
                    parameters,
                    &values,
                    &complements,
                );
            }
            _ => {}
        }
        let mut members = Vec::new();
        for member in list(&node["members"]) {
            let member = number(member) as usize;
            let value = self.value(member, at);
            members.push((member, at.clone(), value));
        }
        let values: Vec<Var> = members.iter().map(|m| m.2).collect();
        let complements = if kind == "or" {
            self.complements(&members)
        } else {
            Vec::new()
        };
        let tape = &mut self.tape;
        match kind {
            "and" => operators::and(tape, semantics.and, eps, &values),
            "or" => operators::or(
                tape,
                semantics.or,
                eps,
                &self.parameters,
                &values,
                &complements,
            ),
            "not" => operators::not(tape, semantics.not, values[0]),
            "implies" => operators::implies(tape, semantics.implies, eps, values[0], values[1]),
            "iff" => {
                let there = operators::implies(tape, semantics.implies, eps, values[0], values[1]);
                let back = operators::implies(tape, semantics.implies, eps, values[1], values[0]);
                operators::and(tape, semantics.and, eps, &[there, back])
            }
            "log" => {
                let x = operators::pi0(tape, eps, values[0]);
                tape.log(x)
            }
            other => panic!("a node of kind {other}"),
        }
    }

    fn elimination(&mut self, node: &Value, at: &At) -> Var {
        let of = &self.axiom["eliminations"][number(&node["elimination"]) as usize];
        let key = match of["keyed"] == true {
            true => Self::place(&node["key"], &at.arrays),
            false => 0,
        };
        let exists = aggregator(self.semantics, false);
        let or = if exists == Aggregator::Max {
            Or::Max
        } else {
            Or::LogSumExp
        };
        let mut factors = Vec::new();
        for factor in list(&of["factors"]) {
            let inner = self.bindings(number(&factor["level"]) as usize, at);
            assert_eq!(inner.len() as i64, number(&factor["size"]));
            let body = number(&factor["body"]) as usize;
            let values: Vec<Var> = inner.iter().map(|at| self.value(body, at)).collect();
            factors.push(values);
        }
        if self.array(&of["counts"])[key as usize] == 0.0 {
            return self.tape.constant(FLOOR);
        }
        let steps = list(&of["steps"]);
        let mut messages: Vec<Vec<Var>> = Vec::new();
        let mut terms = Vec::new();
        for (s, step) in steps.iter().enumerate() {
            let own = self.entry(&of["lists_of_key"], key * steps.len() as i64 + s as i64);
            if own < 0 {
                return self.tape.constant(FLOOR);
            }
            let first = self.entry(&step["combination_offsets"], own);
            let ends = self.entry(&step["message_offsets"], own)
                ..self.entry(&step["message_offsets"], own + 1);
            let mut message = Vec::new();
            let mut begin = 0;
            for end in ends {
                let end = self.entry(&step["ends"], end);
                let mut sums = Vec::new();
                for combination in first + begin..first + end {
                    let inputs = list(&step["inputs"]).iter().zip(list(&step["places"]));
                    let added: Vec<(f64, Var)> = inputs
                        .map(|(input, places)| {
                            let place = self.entry(places, combination) as usize;
                            let source = match input.get("message") {
                                Some(m) => &messages[number(m) as usize],
                                None => &factors[number(&input["factor"]) as usize],
                            };
                            (1.0, source[place])
                        })
                        .collect();
                    sums.push(self.tape.affine(0.0, &added));
                }
                // Of none, or of none that is possible.
                sums.retain(|sum| self.tape.value(*sum) > f64::NEG_INFINITY);
                begin = end;
                if sums.is_empty() {
                    message.push(self.tape.constant(f64::NEG_INFINITY));
                    continue;
                }
                let (tape, parameters) = (&mut self.tape, &self.parameters);
                message.push(operators::or(tape, or, 0.0, parameters, &sums, &[]));
            }
            if step["last"] == true {
                terms.push((1.0, message[0]));
            }
            messages.push(message);
        }
        for member in list(&of["common"]) {
            terms.push((1.0, self.value(number(member) as usize, at)));
        }
        let alpha = self.parameters.alpha;
        let shift = match exists {
            Aggregator::LogMeanExp => -self.array(&of["log_counts"])[key as usize] / alpha,
            Aggregator::LogSumExp => of["log_unread"].as_f64().expect("a number") / alpha,
            _ => 0.0,
        };
        self.tape.affine(shift, &terms)
    }
}

/// How many of values and gradients were compared.
fn compare(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
) -> Result<(u32, u32), String> {
    // Strata are tested with what runs them, `crates/logltn-py/tests/test_device.py`.
    let options = PlanOptions {
        share: false,
        ..PlanOptions::default()
    };
    let Ok(plan) = Plan::new_with(&case.data, &case.outputs, semantics, &options) else {
        return Ok((0, 0));
    };
    let mut engine = Engine::<f64>::new(plan);
    for request in 0..engine.requests().len() {
        let of = engine.requests()[request].clone();
        let per_class = case.outputs[of.predicate].per_class;
        let mut numbers = Vec::new();
        for row in 0..of.rows() {
            let mut individuals = of.row(row).to_vec();
            if per_class {
                individuals.push(0);
            }
            let first = case.position(of.predicate, &individuals);
            numbers.extend_from_slice(&case.numbers[of.predicate][first..first + of.width]);
        }
        engine.numbers_mut(request).copy_from_slice(&numbers);
    }
    let exported = engine.export().map_err(|e| e.to_string())?;
    let header: Value = serde_json::from_str(&exported.header).map_err(|e| e.to_string())?;
    assert_eq!(header["format"], "logltn-plan");
    assert_eq!(header["version"], 4);
    let arrays = exported.arrays.iter().map(|array| match array {
        ExportedArray::Int32(values) => values.iter().map(|v| f64::from(*v)).collect(),
        ExportedArray::Int64(values) => values.iter().map(|v| *v as f64).collect(),
        ExportedArray::Float64(values) => values.clone(),
    });
    let mut reader = Reader {
        header: &header,
        arrays: arrays.collect(),
        semantics,
        tape: Tape::new(Ties::default()),
        numbers: Vec::new(),
        axiom: &Value::Null,
        parameters: *parameters,
    };
    for request in 0..engine.requests().len() {
        let described = &header["requests"][request];
        let own = engine.numbers_mut(request);
        let length = number(&described["rows"]) * number(&described["width"]);
        assert_eq!(length as usize, own.len());
        let leaves = own.iter().map(|x| reader.tape.leaf(*x)).collect();
        reader.numbers.push(leaves);
    }
    let found = engine.evaluate_with_gradients(parameters);
    let found = found.map_err(|e| e.to_string())?.clone();
    let mut truths = Vec::new();
    for (axiom, expected) in list(&header["axioms"]).iter().zip(&found.axioms) {
        reader.axiom = axiom;
        let mut parts = Vec::new();
        for root in list(&axiom["roots"]) {
            parts.push((1.0, reader.value(number(root) as usize, &At::default())));
        }
        let truth = reader.tape.affine(0.0, &parts);
        let value = reader.tape.value(truth);
        let both_nan = value.is_nan() && expected.truth.is_nan();
        if !both_nan && !near(value, expected.truth, 1e-9) {
            let name = &axiom["name"];
            return Err(format!(
                "{name}: read {value:e}, engine {:e}",
                expected.truth
            ));
        }
        truths.push((axiom["weight"].as_f64().expect("a weight"), truth));
    }
    let complements: Vec<Var> = (truths.iter())
        .map(|t| operators::complement(&mut reader.tape, t.1))
        .collect();
    let (over, eps) = (semantics.over_axioms, semantics.stable_eps);
    let tape = &mut reader.tape;
    let sat = operators::aggregate(tape, over, eps, parameters, &truths, &complements);
    let loss = match semantics.loss {
        Loss::MinusSat => tape.affine(0.0, &[(-1.0, sat)]),
        Loss::OneMinusSat => tape.affine(1.0, &[(-1.0, sat)]),
    };
    let value = tape.value(loss);
    if !near(value, found.loss, 1e-9) {
        return match found.loss.is_finite() {
            true => Err(format!("loss: read {value:e}, engine {:e}", found.loss)),
            false => Ok((0, 0)),
        };
    }
    let unambiguous = unambiguous_gradients(case, semantics, parameters, 1e-10, 1e-9);
    if unambiguous.is_none_or(|g| g.iter().flatten().any(|x| !x.is_finite())) {
        return Ok((1, 0));
    }
    let by = reader.tape.backward(loss);
    for (request, leaves) in reader.numbers.iter().enumerate() {
        for (leaf, engine) in leaves.iter().zip(engine.gradient(request)) {
            let read = by[leaf.index()];
            if !near(read, *engine, 1e-9) {
                return Err(format!(
                    "gradient of request {request}: {read:e}, engine {engine:e}"
                ));
            }
        }
    }
    Ok((1, 1))
}

fn compare_all<'c>(
    cases: impl Iterator<Item = (String, Case, Semantics, Parameters)> + 'c,
) -> [u32; 3] {
    let mut total = [0; 3];
    for (what, case, semantics, parameters) in cases {
        match compare(&case, &semantics, &parameters) {
            Ok((values, gradients)) => {
                total[0] += 1;
                total[1] += values;
                total[2] += gradients;
            }
            Err(error) => panic!("{error}\nunder {semantics} with {parameters:?}:\n{what}"),
        }
    }
    total
}

#[test]
fn random_theories() {
    for make in [random_case, random_exists] {
        let cases = (0..150_u64).map(|seed| {
            let random = make(seed);
            let mut rng = Rng::new(!seed);
            let semantics = random_semantics(&mut rng);
            (
                random.text,
                random.case,
                semantics,
                random_parameters(&mut rng),
            )
        });
        let [all, values, gradients] = compare_all(cases);
        // It must not pass by leaving everything out.
        assert!(values * 10 > all * 7, "{values} of {all}");
        assert!(gradients * 10 > values * 7, "{gradients} of {values}");
    }
}

#[test]
fn conformance_cases() {
    let cases = conformance::cases()
        .into_iter()
        .flat_map(|(name, case, expected)| {
            expected
                .into_iter()
                .filter(|e| e.outcome.is_some())
                .map(move |expected| {
                    (
                        name.clone(),
                        case.clone(),
                        expected.semantics,
                        expected.parameters,
                    )
                })
        });
    let [all, values, gradients] = compare_all(cases);
    assert!(
        values == all && gradients * 10 > values * 5,
        "{all} {values} {gradients}"
    );
}
