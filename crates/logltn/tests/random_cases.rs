//! What the generator of random cases makes, so that the tests that use it are known to test something.

use crate::cases::random_case::{random_case, random_parameters, random_semantics};
use crate::cases::rng::Rng;
use logltn::Space;

#[test]
fn cases_are_varied_and_small() {
    let (mut refused, mut mixed, mut empty, mut guarded) = (0, 0, 0, 0);
    let mut constructs = std::collections::BTreeMap::new();
    let total = 400;
    for seed in 0..total {
        let random = random_case(seed);
        for construct in [
            "forall", "exists", "any v", " in T", " where ", " for ", "<->", "->", "dist(",
            "weight", "%", "/ ", "abs(", "min(", "T0(", "not (", ") or (", "!=",
        ] {
            let used = u64::from(random.text.contains(construct));
            *constructs.entry(construct).or_insert(0) += used;
        }
        let mut rng = Rng::new(seed);
        let semantics = random_semantics(&mut rng);
        let parameters = random_parameters(&mut rng);
        mixed += u64::from(semantics.space == Space::Mixed);
        match crate::reference::evaluate(&random.case, &semantics, &parameters) {
            Ok(value) => {
                empty += u64::from(value.axioms.iter().any(|a| a.empty_exists > 0));
                guarded += u64::from(value.axioms.iter().any(|a| a.groundings == 0));
            }
            Err(_) => refused += 1,
        }
    }
    println!(
        "{constructs:?}; {mixed} mixed, {refused} refused, {empty} with an empty exists, {guarded} without groundings"
    );
    for (construct, count) in constructs {
        assert!(count >= total / 50, "`{construct}` in {count} of {total}");
    }
    assert!(refused < total / 4, "{refused} of {total} refused");
    assert!(mixed > total / 20 && empty > total / 20 && guarded > total / 50);
}
