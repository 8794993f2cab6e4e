//! Every theory among the examples of `Code` has the mistake that it is an example of.

use logltn::theory::{ColumnSort, SortKind};
use logltn::{
    ColumnData, ConstantData, Data, Diagnostics, Labels, Output, Plan, Semantics, Source, Theory,
};
use logltn_diagnostics::{Code, Mistake};

/// What is wrong with a theory, or else with planning it.
fn mistakes(text: &str) -> Diagnostics {
    let mut found = Diagnostics::new();
    let source = Source::new("theory.ltn", text);
    let theory = Theory::parse_as_far_as_possible(source, &Labels::default(), &mut found);
    if found.has_errors() {
        return found;
    }
    let outputs = vec![Output::sigmoid(); theory.predicates.len()];
    let semantics = Semantics::named("logltn").expect("the usual one");
    match Plan::new(&some_data(&theory), &outputs, &semantics) {
        Ok(plan) => found.extend(plan.warnings().clone()),
        Err(errors) => found.extend(errors),
    }
    found
}

/// Three individuals of each sort, the first of them in one row of each table, and 1 for every param.
fn some_data(theory: &Theory) -> Data {
    let mut data = Data::new(theory);
    for sort in theory.sorts.iter().filter(|s| s.kind == SortKind::Data) {
        let features = data.set_features(&sort.name, 1, vec![0.0, 1.0, 2.0]);
        features.expect("features");
    }
    for table in &theory.tables {
        let columns = table.columns.iter().map(|column| match column.sort {
            ColumnSort::Sort(_) => ColumnData::Individuals(vec![0]),
            ColumnSort::Int => ColumnData::Int(vec![0]),
            ColumnSort::Real => ColumnData::Real(vec![0.0]),
        });
        data.set_rows(&table.name, columns.collect()).expect("rows");
    }
    for param in &theory.params {
        data.set_param(&param.name, 1.0).expect("a number");
    }
    for constant in &theory.constants {
        let is = ConstantData::Row(0);
        data.set_constant(&constant.name, is).expect("a row");
    }
    data
}

#[test]
fn theories_have_the_mistakes_that_they_are_examples_of() {
    let (mut seen, mut wrong) = (0, String::new());
    for code in Code::ALL {
        let example = code.example();
        let Mistake::Theory(text) = example.mistake else {
            continue;
        };
        let found = mistakes(&text.shown());
        let right = |d: &logltn::Diagnostic| d.code() == *code && d.severity() == example.severity;
        let codes: Vec<Code> = found.iter().map(|d| d.code()).collect();
        if !found.iter().any(right) {
            wrong += &format!("{code}: {codes:?}\n{found}\n");
        }
        seen += 1;
    }
    assert!(wrong.is_empty(), "not as their examples say:\n{wrong}");
    assert!(seen > 30, "{seen}");
}
