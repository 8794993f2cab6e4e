//! Do the axioms fix the concepts? If a network knows all classes of a softmax but has them mixed up, so that where the
//! truth is class k it says β(k): with which maps β do all axioms hold?
//!
//! Every binding of an axiom, with the true classes of its individuals, is a relation between the values of these
//! classes under β ([`constraints`]). The maps that keep all of them are counted exactly ([`count`], [`bijections`]);
//! nothing is sampled.

mod bijections;
mod constraints;
mod count;
mod events;
mod joined;
mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::data::Data;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::natural::Natural;
use crate::output::{Output, OutputKind};
use crate::plan::Individual;
use crate::theory::{ArgumentSort, PredicateId, SortId, Theory};

use constraints::{Constraints, MOST_CLASSES, Set};
use count::{Count, Effort, GivenUp, Moves, Sums, members};

/// The question whether the axioms fix the classes of a softmax.
///
/// ```
/// use logltn::{ColumnData, Data, Identify, Output, Source, Theory};
/// let theory = Theory::parse(Source::new("t", "
///     sort Image  sort Digit = 0..4
///     table sums(x: Image, y: Image, n: Int)
///     predicate digit(Image, Digit)
///     axiom add: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)"))?;
/// let mut data = Data::new(&theory);
/// data.set_size("Image", 5)?;
/// data.set_rows("sums", vec![
///     ColumnData::Individuals(vec![0, 0, 2, 2].into()),
///     ColumnData::Individuals(vec![0, 1, 3, 4].into()),
///     ColumnData::Int(vec![0, 1, 5, 6].into()),
/// ])?;
/// let outputs = [Output::softmax()];
/// let digit = theory.predicate("digit").unwrap();
/// let mut question = Identify::new(&data, &outputs, digit);
/// question.labels = Some(&[0, 1, 2, 3, 4]);
/// let found = question.identify()?;
/// assert_eq!((found.maps.as_str(), found.bijective.as_deref()), ("3", Some("1")));
/// assert_eq!(found.labels[0].class, 2);
/// # Ok::<(), logltn::Diagnostics>(())
/// ```
pub struct Identify<'a> {
    /// The theory with its tables.
    pub data: &'a Data,
    /// What the numbers of each predicate mean, in the order of the theory.
    pub outputs: &'a [Output],
    /// The predicate whose classes are examined: a softmax.
    pub predicate: PredicateId,
    /// Which other predicates are not learnt, in the order of the theory; if absent, all are learnt.
    pub given: &'a [bool],
    /// Whether an atom of one of those, at these individuals (without the class, if it has classes) and this class, is
    /// true or false. Axioms with an atom of unknown truth are left out.
    pub known: &'a KnownAtom<'a>,
    /// The true class of each individual, by its place among the classes, if that is known.
    pub labels: Option<&'a [u32]>,
    /// Which true classes occur in single axioms.
    pub supports: &'a [Support],
    /// How many maps to list.
    pub list: usize,
    /// When to give up; by default after a minute.
    pub until: Option<Instant>,
}

/// Whether a predicate is true at some individuals and a class.
type KnownAtom<'a> = dyn Fn(PredicateId, &[u32], u32) -> Option<bool> + 'a;

/// Which true classes occur together in an axiom.
#[derive(Clone, Debug, Default)]
pub struct Support {
    /// An axiom, a family or a member of one.
    pub axiom: String,
    /// The variables that have these classes; several together if the predicate has several arguments before the class.
    pub columns: Vec<Vec<String>>,
    /// By place among the classes.
    pub rows: Vec<Vec<u32>>,
    /// Where they come from, for messages.
    pub name: String,
}

impl Support {
    /// The variables that a column's name means: `x`, or `x,y` in parentheses or not.
    pub fn variables(column: &str) -> Vec<String> {
        let inner = column.trim().trim_start_matches('(').trim_end_matches(')');
        inner.split(',').map(|v| v.trim().to_string()).collect()
    }
}

/// The source of the true classes that are assumed to occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SupportKind {
    /// Labels of the individuals.
    Labels,
    /// A file or another list.
    File,
    /// All that satisfy a binding. This is optimistic, since the data may have fewer.
    Satisfying,
}

impl SupportKind {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            SupportKind::Labels => "labels",
            SupportKind::File => "file",
            SupportKind::Satisfying => "satisfying",
        }
    }
}

/// A class to label, and how many maps remain with its labels and those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelNext {
    /// By its place.
    pub class: u32,
    /// In decimal.
    pub maps: String,
}

/// Which maps of the classes all axioms allow. Classes are given by their places.
#[derive(Clone, Debug)]
pub struct Identified {
    /// The predicate.
    pub predicate: String,
    /// The classes.
    pub classes: Vec<Individual>,
    /// The source of the true classes; the weakest if axioms differ.
    pub support: SupportKind,
    /// How many maps there are, the identity included, in decimal.
    pub maps: String,
    /// How many of them are bijections; None if that takes too long to count.
    pub bijective: Option<String>,
    /// The classes that every map keeps.
    pub fixed: Vec<u32>,
    /// Maps other than the identity, those that move the fewest classes first.
    pub examples: Vec<Vec<u32>>,
    /// Which classes to label, in order.
    pub labels: Vec<LabelNext>,
    /// Axioms that involve other learnt symbols.
    pub left_out: Vec<String>,
    /// How many bindings the labels themselves break.
    pub contradicted: u64,
    /// What requires nothing, and should.
    pub warnings: Diagnostics,
    constraints: Arc<Constraints>,
}

impl Identified {
    /// Whether some map that all axioms allow has these values; `None` stands for any value.
    pub fn allows(&self, map: &[Option<u32>]) -> bool {
        if map.len() != self.classes.len() {
            return false;
        }
        let mut domains = self.constraints.domains.clone();
        for (domain, becomes) in domains.iter_mut().zip(map) {
            *domain &= becomes.map_or(Set::MAX, |c| 1_u128.checked_shl(c).unwrap_or(0));
        }
        let effort = Effort {
            steps: MOST_STEPS,
            until: None,
        };
        let mut sums = Sums::<Moves>::new(&self.constraints, effort);
        domains.iter().all(|d| *d != 0) && sums.over(&domains).is_ok_and(|moves| moves != 0)
    }

    /// The classes that a map moves, and their values: `2 → 3, 3 → 2`.
    pub fn moved(&self, map: &[u32]) -> String {
        let moved = map.iter().enumerate().filter(|(k, to)| *k != **to as usize);
        let shown =
            moved.map(|(k, to)| format!("{} → {}", self.classes[k], self.classes[*to as usize]));
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// Steps of counting before it is given up: some seconds.
const MOST_STEPS: usize = 4_000_000;

/// The default time limit.
const MOST_TIME: Duration = Duration::from_secs(60);

impl<'a> Identify<'a> {
    /// The question without labels and supports, and without knowledge of other predicates.
    pub fn new(data: &'a Data, outputs: &'a [Output], predicate: PredicateId) -> Identify<'a> {
        Identify {
            data,
            outputs,
            predicate,
            given: &[],
            known: &|_, _, _| None,
            labels: None,
            supports: &[],
            list: 10,
            until: None,
        }
    }

    /// The places of a predicate's classes by name; `None` if it has no classes.
    pub fn classes(data: &Data, predicate: PredicateId) -> Option<BTreeMap<String, u32>> {
        let (sort, _) = Identify::sorts(data.theory(), predicate)?;
        let named = |i: u32| (Individual::of(data.theory(), sort, i).to_string(), i);
        Some((0..data.size(sort) as u32).map(named).collect())
    }

    /// The named predicate, or else the only learnt one with classes.
    ///
    /// # Errors
    /// If there is no such predicate, or more than one to choose from.
    pub fn choose(
        theory: &Theory,
        candidates: &[PredicateId],
        named: Option<&str>,
    ) -> Result<PredicateId, Diagnostics> {
        let names = |ids: &[PredicateId]| {
            let names = ids.iter().map(|id| format!("`{}`", theory[*id].name));
            names.collect::<Vec<_>>().join(", ")
        };
        let error = match (named, candidates) {
            (None, [one]) => return Ok(*one),
            (None, []) => Diagnostic::error(
                Code::NoClasses,
                "no predicate has classes that are learnt: a `softmax` is needed",
            ),
            (None, several) => Diagnostic::error(
                Code::NoClasses,
                format!(
                    "several predicates have classes that are learnt: {}",
                    names(several)
                ),
            )
            .help("name the predicate that is meant"),
            (Some(name), _) => match theory.predicate(name) {
                Some(id) if candidates.contains(&id) => return Ok(id),
                Some(_) => Diagnostic::error(
                    Code::NoClasses,
                    format!(
                        "predicate `{name}` is not a learnt softmax, so it has no classes to mix up"
                    ),
                ),
                None => {
                    let known = theory.predicates.iter().map(|p| p.name.as_str());
                    let what = format!("there is no predicate `{name}`");
                    Diagnostic::error(Code::UnknownPredicate, what)
                        .maybe_help(did_you_mean(name, known))
                }
            },
        };
        Err(error.into())
    }

    fn is_given(&self, predicate: PredicateId) -> bool {
        self.given.get(predicate.index()).copied().unwrap_or(false)
    }

    /// The sort of the classes, and that of the individuals if there is one argument before the class.
    pub fn sorts(theory: &Theory, predicate: PredicateId) -> Option<(SortId, Option<SortId>)> {
        let (last, before) = theory[predicate].arguments.split_last()?;
        let ArgumentSort::Sort(classes) = last else {
            return None;
        };
        let individuals = match before {
            [ArgumentSort::Sort(sort)] => Some(*sort),
            _ => None,
        };
        Some((*classes, individuals))
    }

    /// Answers it.
    ///
    /// # Errors
    /// If the predicate is not a softmax, a support does not fit its axiom, or there is too much to count.
    pub fn identify(&self) -> Result<Identified, Diagnostics> {
        let theory = self.data.theory();
        let name = theory[self.predicate].name.clone();
        let sorts = Identify::sorts(theory, self.predicate);
        let output = self.outputs[self.predicate.index()].kind;
        let (Some((sort, _)), OutputKind::Softmax) = (sorts, output) else {
            return Err(Diagnostic::error(
                Code::NoClasses,
                format!("predicate `{name}` is not a softmax, so its individuals do not have one class each"),
            )
            .help("name a predicate whose output is `softmax`")
            .into());
        };
        let size = self.data.size(sort);
        if size > MOST_CLASSES {
            return Err(too_hard(format!(
                "predicate `{name}` has {size} classes; maps of more than {MOST_CLASSES} are not counted"
            )));
        }
        let until = Some(self.until.unwrap_or_else(|| Instant::now() + MOST_TIME));
        let required = events::required(&Identify { until, ..*self }, size)?;
        let constraints = Arc::new(required.constraints);
        let given_up = |_| {
            too_hard(format!(
                "the maps of the {size} classes of `{name}` are too many to go through: the axioms tie too many classes \
                 together for counting them apart"
            ))
        };
        let effort = Effort {
            steps: MOST_STEPS,
            until,
        };
        let counted = Counted::new(&constraints, effort, self.list).map_err(given_up)?;
        let bijective = bijections::bijections(&constraints, effort);
        let class = |i: usize| Individual::of(theory, sort, i as u32);
        Ok(Identified {
            predicate: name,
            classes: (0..size).map(class).collect(),
            support: required.support,
            maps: counted.maps.decimal(),
            bijective: bijective.ok().map(Natural::decimal),
            fixed: counted.fixed,
            examples: counted.examples,
            labels: counted.labels,
            left_out: required.left_out,
            contradicted: required.contradicted,
            warnings: required.warnings,
            constraints,
        })
    }
}

fn too_hard(what: String) -> Diagnostics {
    Diagnostic::error(Code::TooHard, what)
        .help(
            "labels of the individuals, or a support that lists the true classes that occur in the axiom, leave fewer combinations to check",
        )
        .into()
}

/// What is counted, except for bijections.
struct Counted {
    maps: Natural,
    fixed: Vec<u32>,
    examples: Vec<Vec<u32>>,
    labels: Vec<LabelNext>,
}

impl Counted {
    fn new(constraints: &Constraints, effort: Effort, list: usize) -> Result<Counted, GivenUp> {
        let mut counts = Sums::<Count>::new(constraints, effort);
        let maps = counts.over(&constraints.domains)?;
        let mut moves = Sums::<Moves>::new(constraints, effort);
        let mut fixed = Vec::new();
        for class in 0..constraints.classes {
            let mut domains = constraints.domains.clone();
            domains[class] &= !(1 << class);
            if domains[class] == 0 || moves.over(&domains)? == 0 {
                fixed.push(class as u32);
            }
        }
        let labels = labels(&mut counts, constraints, &maps, &fixed)?;
        let examples = nearest(&mut moves, constraints, list)?;
        Ok(Counted {
            maps,
            fixed,
            examples,
            labels,
        })
    }
}

/// Greedily, the classes whose labels leave the fewest maps.
fn labels(
    counts: &mut Sums<Count>,
    constraints: &Constraints,
    maps: &Natural,
    fixed: &[u32],
) -> Result<Vec<LabelNext>, GivenUp> {
    let mut domains = constraints.domains.clone();
    let mut open: Vec<u32> = (0..constraints.classes as u32)
        .filter(|c| !fixed.contains(c))
        .collect();
    let (mut left, one) = (maps.clone(), Natural::one());
    let mut labels = Vec::new();
    while left > one {
        let mut best: Option<(Natural, u32)> = None;
        for &class in &open {
            let mut with = domains.clone();
            with[class as usize] = 1 << class;
            let count = counts.over(&with)?;
            if best.as_ref().is_none_or(|(least, _)| count < *least) {
                best = Some((count, class));
            }
        }
        let Some((count, class)) = best.filter(|(count, _)| *count < left) else {
            break;
        };
        domains[class as usize] = 1 << class;
        open.retain(|c| *c != class);
        labels.push(LabelNext {
            class,
            maps: count.clone().decimal(),
        });
        left = count;
    }
    Ok(labels)
}

/// Maps other than the identity, by how many classes they move, then in the order of their values.
fn nearest(
    moves: &mut Sums<Moves>,
    constraints: &Constraints,
    list: usize,
) -> Result<Vec<Vec<u32>>, GivenUp> {
    let mut found = Vec::new();
    let distances = moves.over(&constraints.domains)? & !1;
    for distance in members(distances) {
        if found.len() < list {
            go_on(moves, &constraints.domains, 0, distance, list, &mut found)?;
        }
    }
    Ok(found)
}

/// Lists the maps that move this many classes; every branch that is followed leads to one.
fn go_on(
    moves: &mut Sums<Moves>,
    domains: &[Set],
    class: usize,
    distance: u32,
    list: usize,
    found: &mut Vec<Vec<u32>>,
) -> Result<(), GivenUp> {
    if class == domains.len() {
        found.push(domains.iter().map(|d| d.trailing_zeros()).collect());
        return Ok(());
    }
    for value in members(domains[class]) {
        if found.len() >= list {
            break;
        }
        let mut with = domains.to_vec();
        with[class] = 1 << value;
        if moves.over(&with)? >> distance & 1 == 1 {
            go_on(moves, &with, class + 1, distance, list, found)?;
        }
    }
    Ok(())
}
