//! Mutated theories and manifests, in process.

use std::path::Path;
use std::sync::OnceLock;

use logltn::{Diagnostics, Labels, Source, Theory};
use logltn_train::manifest::{Manifest, TheoryNames, check_against};

use crate::attempt::Attempt;
use crate::cases::rng::Rng;
use crate::mutate;
use crate::random_theory::random_theory;

/// A theory: no panic, no overflow, and what is accepted prints as text that means the same.
pub fn theory(rng: &mut Rng, number: u64) -> Attempt {
    static SEEDS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let seeds = SEEDS.get_or_init(|| {
        let folders = [
            "theories",
            "conformance",
            "crates/logltn-examples/projects",
            "crates/logltn-torture/seeds/parser",
        ];
        mutate::seeds(&folders, ".ltn")
    });
    let text = match rng.below(4) {
        0 => mutate::one_of(rng, seeds),
        1 => random_theory(number, 3).into_bytes(),
        2 => mutate::words(rng, random_theory(number, 3).as_bytes(), seeds),
        _ => {
            let base = rng.pick(seeds);
            mutate::words(rng, base, seeds)
        }
    };
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut found = Diagnostics::new();
    let source = Source::new("t.ltn", text);
    let theory = Theory::parse_as_far_as_possible(source, &Labels::new(), &mut found);
    // Rendering looks at places in the text: they must be inside it.
    let said = found.to_string();
    if found.has_errors() {
        assert!(said.contains("error"), "{said}");
        return Ok("refused");
    }
    let printed = theory.to_string();
    assert!(theory.same_as(&parse(&printed)), "printed as\n{printed}");
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
    Ok("accepted")
}

fn parse(text: &str) -> Theory {
    match Theory::parse(Source::new("printed.ltn", text)) {
        Ok(theory) => theory,
        Err(errors) => panic!("{errors}\nin\n{text}"),
    }
}

/// A manifest: read, checked, rendered.
pub fn manifest(rng: &mut Rng, _: u64) -> Attempt {
    static SEEDS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let seeds = SEEDS.get_or_init(|| {
        let folders = [
            "theories",
            "crates/logltn-examples/projects",
            "crates/logltn-torture/seeds/manifest",
            "crates/logltn-train/tests/manifests",
        ];
        mutate::seeds(&folders, ".toml")
    });
    let text = match rng.below(3) {
        0 => mutate::one_of(rng, seeds),
        _ => {
            let base = rng.pick(seeds);
            mutate::words(rng, base, seeds)
        }
    };
    let text = String::from_utf8_lossy(&text).into_owned();
    match Manifest::parse(Source::new("m.toml", text), Path::new(".")) {
        Ok((manifest, warnings)) => {
            warnings.render(false, 20);
            check_against(&manifest, &TheoryNames::default()).render(false, 20);
            Ok("accepted")
        }
        Err(errors) => {
            assert!(errors.has_errors());
            for error in errors.iter() {
                let place = error.place();
                assert!(
                    place.is_some_and(|(_, line, column)| line >= 1 && column >= 1),
                    "no place: {error}"
                );
            }
            assert!(!errors.render(true, 20).is_empty());
            Ok("refused")
        }
    }
}
