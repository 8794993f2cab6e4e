//! What rules say of a graph: which of them conclude a fact, and how much that counts.

use std::sync::{Arc, Mutex};

use logltn::theory::{
    Axiom, Binding, FormulaKind, Guard, GuardKind, Quantifier, Term, TermKind, ValueKind,
};
use logltn::{Code, Diagnostic, Diagnostics, Request, Theory, memory};
use rustc_hash::FxHashSet;

use super::softmax::one_each;
use super::{Facts, Triple, asked, held};
use logltn_learn::Grounding;

/// Pairs that a rule leads to are thinned out when there are this many of them.
const MANY: usize = 1 << 22;

/// How sure a rule is at most, when its confidence becomes its first weight.
const SUREST: f64 = 0.99;

/// A rule that was understood.
struct Horn {
    /// Which facts there must be.
    body: Vec<Literal>,
    /// Which variables must differ.
    different: Vec<[End; 2]>,
    head: Literal,
    variables: usize,
}

/// A relation between two.
#[derive(Clone, Copy)]
struct Literal {
    ends: [End; 2],
    relation: u32,
}

/// A variable, or someone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Variable(usize),
    Is(u32),
}

impl End {
    fn of(term: &Term) -> Option<End> {
        match term.kind {
            TermKind::Variable(at) => Some(End::Variable(at.0 as usize)),
            TermKind::Individual(_, who) => Some(End::Is(who)),
            _ => None,
        }
    }
}

/// What rules conclude from the facts that are told, each once for each rule, and in how many ways.
pub struct Conclusions {
    entities: usize,
    /// For each relation, also backwards, and each entity: where its entries begin.
    starts: Vec<u32>,
    /// In order.
    entries: Vec<Entry>,
    /// What each rule counts at first, forwards and backwards.
    first: Vec<f32>,
}

/// What a rule concludes of an entity and a relation.
#[derive(Clone, Copy)]
struct Entry {
    to: u32,
    /// Forwards at twice the number of the rule, backwards at one more.
    rule: u32,
    /// 1 + the log of the number of ways.
    times: f32,
}

/// The ways from one to another: whom, whom, and how many.
type Ways = (u32, u32, u32);

impl Conclusions {
    /// Those of all axioms of a theory over a table `train` and a predicate `linked`, both of entity, relation and entity. What a rule counts
    /// at first is by its weight, as if that were how often it is right: −log(1 − weight).
    ///
    /// # Errors
    /// If an axiom is no rule of this kind: `forall x, z, y: Entity where train(x, "a", z) and train(z, "b", y) and x != y.
    /// linked(x, "c", y)`. Or if there is too much to conclude.
    pub fn new(theory: &Theory, facts: Facts<'_>) -> Result<Conclusions, Diagnostics> {
        let relations = facts.relations;
        let walks = Walks::new(facts);
        let mut found = Diagnostics::new();
        let mut all: Vec<(u32, u32, u32, u32)> = Vec::new();
        let mut weights = Vec::new();
        let size = facts.entities;
        let place = |relation: u32, entity: u32| relation * size as u32 + entity;
        for axiom in &theory.axioms {
            let rule = match Horn::read(theory, axiom, relations as u32) {
                Ok(rule) => rule,
                Err(error) => {
                    found.push(error);
                    continue;
                }
            };
            let sure = axiom.weight.min(SUREST);
            let at = weights.len() as u32;
            weights.extend([-(1.0 - sure).ln() as f32; 2]);
            let pairs = walks.pairs(&rule);
            memory::ask((pairs.len() * 64) as u128)
                .map_err(|e| e.refuse(format_args!("what rule `{}` concludes", axiom.name)))?;
            for (x, y, ways) in pairs {
                all.push((place(rule.head.relation, x), y, at, ways));
                let back = rule.head.relation + relations as u32;
                all.push((place(back, y), x, at + 1, ways));
            }
        }
        if found.has_errors() {
            return Err(found);
        }
        all.sort_unstable();
        let mut starts = vec![0_u32; 2 * relations * size + 1];
        all.iter()
            .for_each(|(at, ..)| starts[*at as usize + 1] += 1);
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        Ok(Conclusions {
            entities: size,
            starts,
            entries: (all.into_iter())
                .map(|(_, to, rule, ways)| Entry {
                    to,
                    rule,
                    times: 1.0 + (ways as f32).ln(),
                })
                .collect(),
            first: weights,
        })
    }

    /// How many rules there are.
    pub fn rules(&self) -> usize {
        self.first.len() / 2
    }

    /// The facts that are not told and that all rules together conclude with a probability of at least a half, as if each were right as often as its
    /// weight says and independently of the others.
    pub fn likely(&self, facts: Facts<'_>) -> Vec<Triple> {
        let told: FxHashSet<Triple> = facts.told.iter().copied().collect();
        let mut likely = Vec::new();
        for relation in 0..facts.relations as u32 {
            for entity in 0..self.entities as u32 {
                let entries = self.of(entity, relation);
                for same in entries.chunk_by(|a, b| a.to == b.to) {
                    let sure: f32 = same.iter().map(|e| self.first[e.rule as usize]).sum();
                    let fact = [entity, relation, same[0].to];
                    if sure >= std::f32::consts::LN_2 && !told.contains(&fact) {
                        likely.push(fact);
                    }
                }
            }
        }
        likely
    }

    fn of(&self, entity: u32, relation: u32) -> &[Entry] {
        let at = relation as usize * self.entities + entity as usize;
        &self.entries[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

impl Horn {
    /// `forall x, z, y: Entity where train(x, "a", z) and train(z, "b", y) and x != y. linked(x, "c", y)`
    fn read(theory: &Theory, axiom: &Axiom, relations: u32) -> Result<Horn, Diagnostic> {
        let wrong = |span| {
            let what = format!("axiom `{}` is not a rule that concludes facts", axiom.name);
            Diagnostic::error(Code::NotARule, what)
                .at(&theory.source, span, "")
                .help(
                    "a rule is `forall x, z, y: Entity where train(x, \"a\", z) and train(z, \"b\", y) and x != y. \
                     linked(x, \"c\", y)`",
                )
        };
        let FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            binding: Binding::Sorts(_),
            guard: Some(guard),
            body,
        } = &axiom.formula.kind
        else {
            return Err(wrong(axiom.formula.span));
        };
        if axiom.family.is_some() {
            return Err(wrong(axiom.span));
        }
        let literal = |terms: [&Term; 3]| -> Option<Literal> {
            let [from, relation, to] = terms.map(End::of);
            let Some(End::Is(relation)) = relation else {
                return None;
            };
            (relation < relations).then_some(Literal {
                ends: [from?, to?],
                relation,
            })
        };
        let head = match &body.kind {
            FormulaKind::Atom {
                predicate,
                arguments,
            } if theory[*predicate].name == "linked" => match &arguments[..] {
                [a, b, c] => literal([a, b, c]),
                _ => None,
            },
            _ => None,
        };
        let mut rule = Horn {
            body: Vec::new(),
            different: Vec::new(),
            head: head.ok_or_else(|| wrong(body.span))?,
            variables: axiom.variables.len(),
        };
        let conjuncts: &[Guard] = match &guard.kind {
            GuardKind::And(all) => all,
            _ => std::slice::from_ref(guard),
        };
        for conjunct in conjuncts {
            match &conjunct.kind {
                GuardKind::Member(table, values) if theory[*table].name == "train" => {
                    let terms: Vec<&Term> = (values.iter())
                        .filter_map(|value| match &value.kind {
                            ValueKind::Individual(term) => Some(term),
                            _ => None,
                        })
                        .collect();
                    let found = match terms[..] {
                        [a, b, c] => literal([a, b, c]),
                        _ => None,
                    };
                    rule.body.push(found.ok_or_else(|| wrong(conjunct.span))?);
                }
                GuardKind::Same {
                    negated: true,
                    left,
                    right,
                } => {
                    let [Some(a), Some(b)] = [left, right].map(End::of) else {
                        return Err(wrong(conjunct.span));
                    };
                    rule.different.push([a, b]);
                }
                _ => return Err(wrong(conjunct.span)),
            }
        }
        // Whom no fact of the body names could be anyone.
        let named = |end: &End| match end {
            End::Is(_) => true,
            End::Variable(_) => rule.body.iter().any(|literal| literal.ends.contains(end)),
        };
        let all = (0..rule.variables).map(End::Variable);
        match all.chain(rule.head.ends).all(|end| named(&end)) {
            true => Ok(rule),
            false => Err(wrong(axiom.formula.span)),
        }
    }
}

/// Where relations lead.
struct Walks {
    /// For each relation: from whom to whom, and from whom to whom backwards.
    to: Vec<[Vec<Vec<u32>>; 2]>,
}

impl Walks {
    fn new(facts: Facts<'_>) -> Walks {
        let none = || vec![Vec::new(); facts.entities];
        let mut to: Vec<[Vec<Vec<u32>>; 2]> =
            (0..facts.relations).map(|_| [none(), none()]).collect();
        for &[head, relation, tail] in facts.told {
            let [out, back] = &mut to[relation as usize];
            out[head as usize].push(tail);
            back[tail as usize].push(head);
        }
        Walks { to }
    }

    /// The pairs that a rule concludes, each once, in order, and in how many ways.
    fn pairs(&self, rule: &Horn) -> Vec<Ways> {
        let mut pairs: Vec<Ways> = Vec::new();
        let mut limit = MANY;
        let mut bound = vec![None; rule.variables];
        let mut left: Vec<Literal> = rule.body.clone();
        self.walk(rule, &mut left, &mut bound, &mut |x, y| {
            pairs.push((x, y, 1));
            if pairs.len() >= limit {
                add_up(&mut pairs);
                limit = MANY.max(2 * pairs.len());
            }
        });
        add_up(&mut pairs);
        pairs
    }

    fn walk(
        &self,
        rule: &Horn,
        left: &mut Vec<Literal>,
        bound: &mut [Option<u32>],
        found: &mut impl FnMut(u32, u32),
    ) {
        let who = |end: End, bound: &[Option<u32>]| match end {
            End::Is(who) => Some(who),
            End::Variable(at) => bound[at],
        };
        let same = |[a, b]: &[End; 2], bound: &[Option<u32>]| matches!((who(*a, bound), who(*b, bound)), (Some(a), Some(b)) if a == b);
        if rule.different.iter().any(|pair| same(pair, bound)) {
            return;
        }
        if left.is_empty() {
            if let [Some(x), Some(y)] = rule.head.ends.map(|end| who(end, bound)) {
                found(x, y);
            }
            return;
        }
        // One whose ends are known first: that is a look, and then a step; otherwise all facts of a relation.
        let known = |literal: &Literal| {
            let ends = literal.ends.map(|end| who(end, bound).is_some());
            ends.into_iter().filter(|known| *known).count()
        };
        let best = (0..left.len()).max_by_key(|&at| (known(&left[at]), left.len() - at));
        let literal = left.remove(best.unwrap_or(0));
        let [from, to] = literal.ends;
        let [out, back] = &self.to[literal.relation as usize];
        match [who(from, bound), who(to, bound)] {
            [Some(a), Some(b)] => {
                if out[a as usize].contains(&b) {
                    self.walk(rule, left, bound, found);
                }
            }
            [Some(a), None] => self.each(&out[a as usize], to, rule, left, bound, found),
            [None, Some(b)] => self.each(&back[b as usize], from, rule, left, bound, found),
            [None, None] => {
                for (a, tails) in out.iter().enumerate() {
                    let End::Variable(at) = from else { continue };
                    bound[at] = Some(a as u32);
                    match from == to {
                        true if tails.contains(&(a as u32)) => self.walk(rule, left, bound, found),
                        true => {}
                        false => self.each(tails, to, rule, left, bound, found),
                    }
                    bound[at] = None;
                }
            }
        }
        left.insert(best.unwrap_or(0), literal);
    }

    fn each(
        &self,
        of: &[u32],
        end: End,
        rule: &Horn,
        left: &mut Vec<Literal>,
        bound: &mut [Option<u32>],
        found: &mut impl FnMut(u32, u32),
    ) {
        let End::Variable(at) = end else { return };
        for &who in of {
            bound[at] = Some(who);
            self.walk(rule, left, bound, found);
        }
        bound[at] = None;
    }
}

/// Each pair once, in order.
fn add_up(pairs: &mut Vec<Ways>) {
    pairs.sort_unstable();
    pairs.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 = kept.2.saturating_add(next.2);
        }
        same
    });
}

/// `derived`: of each individual, the sum of the weights of the rules that conclude it, and a softmax over all, of which a fact is asked for the
/// log ([`Output::log_truth`](logltn::Output::log_truth)). The weights are learnt. A rule that concludes something in n ways counts 1 + log n times.
#[derive(Clone)]
pub struct Evidence(Arc<Mutex<Weighed>>);

struct Weighed {
    conclusions: Arc<Conclusions>,
    weights: Vec<f32>,
    gradients: Vec<f32>,
}

impl Evidence {
    /// With the first weights of the rules.
    pub fn new(conclusions: &Arc<Conclusions>) -> Evidence {
        Evidence(Arc::new(Mutex::new(Weighed {
            weights: conclusions.first.clone(),
            gradients: vec![0.0; conclusions.first.len()],
            conclusions: Arc::clone(conclusions),
        })))
    }

    /// Adds what rules say, as many times, to the scores of all entities after each entity and relation.
    pub fn add(&self, questions: &[[u32; 2]], times: f32, scores: &mut [f32]) {
        let weighed = held(&self.0);
        let rows = scores.chunks_exact_mut(weighed.conclusions.entities);
        for (&[entity, relation], scores) in questions.iter().zip(rows) {
            for entry in weighed.conclusions.of(entity, relation) {
                scores[entry.to as usize] +=
                    times * entry.times * weighed.weights[entry.rule as usize];
            }
        }
    }
}

/// The softmax of one question, without those of whom no rule says anything: they have the score 0.
#[derive(Default)]
struct Said {
    /// Who, with the score, and then its exponential over the largest.
    scores: Vec<(u32, f32)>,
    sum: f32,
}

impl Said {
    /// Answers the log of the probability of the fact.
    fn ask(&mut self, conclusions: &Conclusions, weights: &[f32], [h, r, t]: Triple) -> f32 {
        self.scores.clear();
        for entry in conclusions.of(h, r) {
            let score = entry.times * weights[entry.rule as usize];
            match self.scores.last_mut() {
                Some((to, sum)) if *to == entry.to => *sum += score,
                _ => self.scores.push((entry.to, score)),
            }
        }
        let own = self.scores.binary_search_by_key(&t, |(to, _)| *to);
        let own = own.map_or(0.0, |at| self.scores[at].1);
        let others = conclusions.entities - self.scores.len();
        let top = self.scores.iter().map(|(_, score)| *score);
        let top = top.fold(if others > 0 { 0.0 } else { f32::NEG_INFINITY }, f32::max);
        self.sum = if others > 0 {
            others as f32 * (-top).exp()
        } else {
            0.0
        };
        for (_, score) in &mut self.scores {
            *score = (*score - top).exp();
            self.sum += *score;
        }
        own - top - self.sum.ln()
    }
}

impl Grounding for Evidence {
    fn forward(&mut self, request: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics> {
        one_each(request)?;
        let weighed = held(&self.0);
        let mut said = Said::default();
        for (number, fact) in numbers.iter_mut().zip(asked(request)) {
            *number = said.ask(&weighed.conclusions, &weighed.weights, fact);
        }
        Ok(())
    }

    fn backward(&mut self, request: &Request, by_numbers: &[f32]) {
        let mut weighed = held(&self.0);
        let Weighed {
            conclusions,
            gradients,
            weights,
        } = &mut *weighed;
        let mut said = Said::default();
        for (fact, by) in asked(request).zip(by_numbers) {
            said.ask(conclusions, weights, fact);
            let mut at = 0;
            for entry in conclusions.of(fact[0], fact[1]) {
                // Both are in the order of whom they lead to.
                while said.scores[at].0 != entry.to {
                    at += 1;
                }
                let own = if entry.to == fact[2] { 1.0 } else { 0.0 };
                let likely = said.scores[at].1 / said.sum;
                gradients[entry.rule as usize] += by * entry.times * (own - likely);
            }
        }
    }

    fn visit_parameters(&mut self, visit: &mut dyn FnMut(&str, &mut [f32], &mut [f32])) {
        let mut weighed = held(&self.0);
        let Weighed {
            weights, gradients, ..
        } = &mut *weighed;
        visit("rules", weights, gradients);
    }
}
