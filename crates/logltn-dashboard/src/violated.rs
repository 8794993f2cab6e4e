//! What breaks axioms, as the page and the report show it.

use logltn::theory::{ArgumentSort, PredicateId, SortId};
use logltn::{Bound, Explanation, Semantics, Space, Violation, Witness};
use logltn_learn::{KnowledgeBase, largest};
use logltn_report::{Culprits, Picture, Violated, features_png};

/// The outputs of a predicate's network: a number for each class of each individual, if there are any.
pub type Predict<'a> = &'a mut dyn FnMut(PredicateId, &[u32]) -> Option<Vec<f32>>;

/// An explanation in words and pictures.
pub fn violated(
    knowledge: &KnowledgeBase,
    semantics: &Semantics,
    axiom: &Explanation,
    predict: Predict<'_>,
) -> Violated {
    Violated {
        axiom: axiom.name.clone(),
        truth: semantics.degree(axiom.truth),
        log: log(semantics, axiom.truth),
        groundings: axiom.groundings,
        worst: (axiom.worst.iter())
            .map(|violation| culprits(knowledge, semantics, violation, &mut *predict))
            .collect(),
    }
}

/// A truth that is a log; `None` if it is not finite.
pub fn log(semantics: &Semantics, truth: f64) -> Option<f64> {
    (semantics.sat_is_log() && truth.is_finite()).then_some(truth)
}

/// `x = ann, y = bob`
pub fn binding_text(binding: &[Bound]) -> String {
    let bound = |b: &Bound| format!("{} = {}", b.variable, b.to);
    binding.iter().map(bound).collect::<Vec<_>>().join(", ")
}

fn culprits(
    knowledge: &KnowledgeBase,
    semantics: &Semantics,
    violation: &Violation,
    predict: Predict<'_>,
) -> Culprits {
    let degree = |truth: f64| match semantics.space {
        Space::Log => truth.exp().min(1.0),
        Space::Truth | Space::Mixed => truth,
    };
    let witness = |Witness { formula, truest }: &Witness| match truest {
        Some((binding, _)) => format!("witness {}: {formula}", binding_text(binding)),
        None => format!("nothing to choose from: {formula}"),
    };
    Culprits {
        binding: binding_text(&violation.binding),
        truth: semantics.degree(violation.truth),
        log: log(semantics, violation.truth),
        pictures: (violation.binding.iter())
            .filter_map(|bound| picture(knowledge, violation, bound, &mut *predict))
            .collect(),
        literals: (violation.literals.iter())
            .map(|l| (l.text.clone(), degree(l.truth), l.blame))
            .collect(),
        witnesses: violation.witnesses.iter().map(witness).collect(),
    }
}

/// The picture of an individual that is one, with what was read in it and what the literals want.
fn picture(
    knowledge: &KnowledgeBase,
    violation: &Violation,
    bound: &Bound,
    predict: Predict<'_>,
) -> Option<Picture> {
    let (sort, index) = bound.individual?;
    let [field] = &knowledge.vectors[sort].fields[..] else {
        return None;
    };
    let bytes = features_png(&field.shape, &field.individual(index as usize)?)?;
    let mut title = format!("{} = {}", bound.variable, bound.to);
    let theory = knowledge.theory();
    // The predicate that gives one of several classes to the individuals of this sort.
    let classifiers: Vec<(PredicateId, &str, SortId)> = (theory.predicates.iter().enumerate())
        .filter(|(i, _)| knowledge.outputs[*i].per_class)
        .filter_map(|(i, predicate)| match predicate.arguments[..] {
            [ArgumentSort::Sort(of), ArgumentSort::Sort(class)] if of == sort => {
                Some((PredicateId(i as u32), &predicate.name[..], class))
            }
            _ => None,
        })
        .collect();
    for (id, predicate, class) in classifiers {
        let class = &theory[class];
        if let Some(numbers) = predict(id, &[index]) {
            let read = class.individual_name(largest(&numbers));
            title += &format!(": {predicate} {read}");
        }
        let wanted = violation.literals.iter().filter(|literal| {
            literal.predicate == Some(id)
                && !literal.text.starts_with("not ")
                && literal.individuals.first() == Some(&(sort, index))
        });
        let wanted: Vec<String> = wanted
            .filter_map(|literal| {
                Some(class.individual_name(literal.individuals.get(1)?.1 as usize))
            })
            .collect();
        if !wanted.is_empty() {
            title += &format!(", to satisfy it {}", wanted.join(" or "));
        }
    }
    Some(Picture { title, bytes })
}
