//! Any text: no panic, no overflow, and what is accepted prints as text that means the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use logltn::{Diagnostics, Labels, Source, Theory};

fuzz_target!(|text: &str| {
    let mut found = Diagnostics::new();
    let source = Source::new("fuzz.ltn", text);
    let theory = Theory::parse_as_far_as_possible(source, &Labels::new(), &mut found);
    // Rendering looks at places in the text: they must be inside of it.
    let _ = found.to_string();
    if found.has_errors() {
        return;
    }

    let printed = theory.to_string();
    let again = parse(&printed);
    assert!(theory.same_as(&again), "printed as\n{printed}");

    let mut normal = theory;
    for axiom in &mut normal.axioms {
        if let Some(nnf) = axiom.formula.nnf() {
            assert!(nnf.nnf().as_ref() == Some(&nnf), "not a normal form");
            axiom.formula = nnf;
        }
    }
    // An equivalence binds its variables twice, so only the texts can be compared.
    let printed = normal.to_string();
    assert_eq!(parse(&printed).to_string(), printed);
});

fn parse(text: &str) -> Theory {
    match Theory::parse(Source::new("printed.ltn", text)) {
        Ok(theory) => theory,
        Err(errors) => panic!("{errors}\nin\n{text}"),
    }
}
