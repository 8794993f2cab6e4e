//! What breaks the axioms at the end of a training, for the report.

use logltn::theory::{ArgumentSort, PredicateId, SortId};
use logltn::{Bound, Space, Violation, Witness};
use logltn_learn::largest;
use logltn_report::{Culprits, Picture, Violated, features_png};
use logltn_train::train::Trainer;

use super::meaning::binding_text;

/// How many axioms, and bindings of each, a page has room for.
const MOST_AXIOMS: usize = 40;
const SHOWN: usize = 5;

/// The worst bindings of each axiom; none where there are too many, or where what was learnt cannot be asked. A run that
/// is finished does not fail for its report.
pub fn violated(trainer: &mut Trainer) -> Vec<Violated> {
    if !trainer.has_room_for_whole() {
        return Vec::new();
    }
    let parameters = trainer.project().manifest.schedule.last(true);
    let Ok(explained) = trainer.explain(None, &parameters, SHOWN) else {
        return Vec::new();
    };
    (explained.axioms.into_iter())
        .take(MOST_AXIOMS)
        .map(|axiom| Violated {
            axiom: axiom.name,
            groundings: axiom.groundings,
            worst: axiom.worst.iter().map(|v| culprits(trainer, v)).collect(),
        })
        .collect()
}

fn culprits(trainer: &mut Trainer, violation: &Violation) -> Culprits {
    let semantics = *trainer.semantics();
    let degree = |truth: f64| match semantics.space {
        Space::Log => truth.exp().min(1.0),
        Space::Truth | Space::Mixed => truth,
    };
    let witness = |Witness { formula, truest }: &Witness| match truest {
        Some((binding, _)) => format!("at best {}: {formula}", binding_text(binding)),
        None => format!("nothing to choose from: {formula}"),
    };
    Culprits {
        binding: binding_text(&violation.binding),
        truth: semantics.degree(violation.truth),
        pictures: (violation.binding.iter())
            .filter_map(|bound| picture(trainer, violation, bound))
            .collect(),
        literals: (violation.literals.iter())
            .map(|l| (l.text.clone(), degree(l.truth), l.blame))
            .collect(),
        witnesses: violation.witnesses.iter().map(witness).collect(),
    }
}

/// The picture of an individual that is one, with what was read in it and what the literals want.
fn picture(trainer: &mut Trainer, violation: &Violation, bound: &Bound) -> Option<Picture> {
    let (sort, index) = bound.individual?;
    let knowledge = trainer.knowledge();
    let [field] = &knowledge.vectors[sort.index()].fields[..] else {
        return None;
    };
    let png = features_png(&field.shape, &field.individual(index as usize)?)?;
    let mut title = format!("{} = {}", bound.variable, bound.to);
    let theory = knowledge.theory();
    // What gives one of several classes to the individuals of this sort.
    let classifiers: Vec<(PredicateId, String, SortId)> = (theory.predicates.iter().enumerate())
        .filter(|(i, _)| knowledge.outputs[*i].per_class)
        .filter_map(|(i, predicate)| match predicate.arguments[..] {
            [ArgumentSort::Sort(of), ArgumentSort::Sort(class)] if of == sort => {
                Some((PredicateId(i as u32), predicate.name.clone(), class))
            }
            _ => None,
        })
        .collect();
    for (id, predicate, class) in classifiers {
        let read = trainer.predict(&predicate, &[index]);
        let class = &trainer.knowledge().theory()[class];
        if let Ok(numbers) = read {
            let read = class.individual_name(largest(&numbers));
            title += &format!(": {predicate} {read}");
        }
        let wanted = violation.literals.iter().filter(|literal| {
            literal.predicate == id
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
    Some(Picture { title, png })
}
