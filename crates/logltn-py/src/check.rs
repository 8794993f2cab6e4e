//! What `logltn check --json` says, of a knowledge base in memory.

use std::sync::Arc;
use std::time::Duration;

use logltn::theory::{ColumnSort, ConstantId, FunctionId, ParamId, SortId, SortKind, TableId};
use logltn::{ConstantData, Diagnostics, Engine, Number, OutputKind, Parameters, Plan, Severity};
use rayon::ThreadPool;
use serde_json::{Value, json};

/// What the numbers of a predicate mean, as users write it.
pub fn output_name(kind: OutputKind) -> &'static str {
    match kind {
        OutputKind::Softmax => "softmax",
        OutputKind::Sigmoid => "sigmoid",
        OutputKind::Truth => "truth",
        OutputKind::LogTruth => "log_truth",
    }
}

/// For how long steps are tried out, to say how long they take.
const BUDGET: Duration = Duration::from_millis(200);

/// What a step takes, about: networks are whoever's they are.
pub fn step(plan: &Arc<Plan>, pool: &Arc<ThreadPool>, defaults: Parameters) -> Value {
    // One of its own: the knowledge base's shall not know of this.
    let mut engine = Engine::<f32>::new(Arc::clone(plan));
    engine.run_in(Arc::clone(pool));
    let seconds = engine.estimate_seconds(&defaults, BUDGET);
    json!({"groundings": number(engine.groundings()), "seconds": seconds, "network_bytes": 0})
}

/// The document.
pub fn document(plan: &Plan, weights: &[f64], step: Option<Value>, found: &Diagnostics) -> Value {
    let data = plan.data();
    let theory = data.theory();
    let sorts = theory.sorts.iter().enumerate().map(|(i, sort)| {
        let kind = match sort.kind {
            SortKind::Data => "data",
            SortKind::Range(..) => "range",
            SortKind::Labels => "labels",
        };
        json!({"name": sort.name, "kind": kind, "size": data.size(SortId(i as u32))})
    });
    let params = theory.params.iter().enumerate().map(|(i, param)| {
        let value = match data.param(ParamId(i as u32)) {
            Some(Number::Int(n)) => json!(n),
            Some(Number::Real(x)) => json!(x),
            None => Value::Null,
        };
        json!({"name": param.name, "value": value})
    });
    let constants = theory.constants.iter().enumerate().map(|(i, constant)| {
        let mut entry = json!({"name": constant.name, "sort": theory[constant.sort].name});
        match data.constant(ConstantId(i as u32)) {
            Some(ConstantData::Row(row)) => entry["row"] = json!(row),
            Some(ConstantData::Learnable) => entry["learnable"] = json!(true),
            None => {}
        }
        entry
    });
    let tables = theory.tables.iter().enumerate().map(|(i, table)| {
        let rows = data.table(TableId(i as u32));
        let column = |sort: ColumnSort| theory.column_sort_name(sort);
        let columns: Vec<Value> = (table.columns.iter())
            .map(|c| json!({"name": c.name, "sort": column(c.sort)}))
            .collect();
        json!({
            "name": table.name, "columns": columns, "rows": rows.map_or(0, |r| r.rows), "batch": null,
        })
    });
    let functions = theory.functions.iter().enumerate().map(|(i, function)| {
        let grounding = match data.function(FunctionId(i as u32)) {
            Some(_) => "data",
            None => "host",
        };
        let arguments = function.arguments.iter();
        let arguments: Vec<String> = arguments.map(|s| theory.argument_sort_name(s)).collect();
        json!({
            "name": function.name, "arguments": arguments,
            "result": theory.argument_sort_name(&function.result), "grounding": grounding,
        })
    });
    let predicates = theory.predicates.iter().enumerate().map(|(i, predicate)| {
        let output = plan.output(logltn::theory::PredicateId(i as u32));
        let arguments = predicate.arguments.iter();
        let arguments: Vec<String> = arguments.map(|s| theory.argument_sort_name(s)).collect();
        json!({
            "name": predicate.name, "arguments": arguments, "grounding": "host",
            "output": output_name(output.kind), "per_class": output.per_class,
        })
    });
    let axioms = plan.axioms().iter().zip(weights).enumerate().map(|(place, (planned, weight))| {
        let axiom = &theory.axioms[planned.axiom];
        let nnf = axiom.formula.nnf().map(|nnf| theory.show(axiom, &nnf));
        let mut entry = json!({
            "name": planned.name, "weight": weight,
            "formula": theory.show(axiom, &axiom.formula), "nnf": nnf,
            "groundings_before": number(planned.groundings_before),
            "groundings": number(planned.groundings),
            "empty_exists": planned.empty_exists, "line": theory.source.line(planned.span.start),
        });
        if axiom.family.is_some() {
            entry["family"] = json!(axiom.name);
        }
        if planned.hard {
            entry["hard"] = json!(true);
        }
        if let Some(size) = plan.event_size(place) {
            entry["events"] = json!(size.events);
            entry["shapes"] = json!(size.shapes);
            entry["nodes"] = json!(size.nodes);
            entry["edges"] = json!(size.edges);
        }
        entry
    });
    let warnings = found.iter().chain(plan.warnings().iter()).map(|d| {
        let severity = match d.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        json!({
            "severity": severity, "code": d.code().name(), "message": d.message(), "file": d.file(),
            "line": d.line(), "column": d.column(), "notes": d.notes(), "help": d.help_text(),
        })
    });
    let mut document = json!({
        "theory": theory.source.name(),
        "manifest": null,
        "semantics": plan.semantics().to_string(),
        "sorts": sorts.collect::<Vec<_>>(),
        "params": params.collect::<Vec<_>>(),
        "constants": constants.collect::<Vec<_>>(),
        "tables": tables.collect::<Vec<_>>(),
        "functions": functions.collect::<Vec<_>>(),
        "predicates": predicates.collect::<Vec<_>>(),
        "axioms": axioms.collect::<Vec<_>>(),
        "memory_bytes": plan.memory_bytes(),
        "warnings": warnings.collect::<Vec<_>>(),
    });
    if let Some(step) = step {
        document["step"] = step;
    }
    document
}

/// There may be more bindings than fit into 64 bits.
fn number(n: u128) -> Value {
    match serde_json::to_string(&n)
        .ok()
        .and_then(|s| serde_json::from_str(&s).ok())
    {
        Some(value) => value,
        None => json!(n as f64),
    }
}
