//! TEMPORARY: stands in for `logltn::Engine` until they land.
#![allow(missing_docs, dead_code)]
use logltn::theory::*;
use logltn::*;

pub struct Request {
    pub predicate: PredicateId,
    pub width: usize,
}
impl Request {
    pub fn rows(&self) -> usize {
        0
    }
    pub fn row(&self, _: usize) -> &[u32] {
        &[]
    }
}
pub struct AxiomValue {
    pub truth: f64,
}
pub struct Evaluation {
    pub sat: f64,
    pub loss: f64,
    pub axioms: Vec<AxiomValue>,
}
pub struct Engine<T> {
    plan: Plan,
    value: Evaluation,
    none: Vec<T>,
}
impl<T> Engine<T> {
    pub fn new(plan: Plan) -> Engine<T> {
        Engine {
            plan,
            value: Evaluation {
                sat: -1.5,
                loss: 1.5,
                axioms: vec![],
            },
            none: vec![],
        }
    }
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    pub fn requests(&self) -> &[Request] {
        &[]
    }
    pub fn numbers_mut(&mut self, _: usize) -> &mut [T] {
        &mut self.none
    }
    pub fn gradient(&self, _: usize) -> &[T] {
        &self.none
    }
    pub fn evaluate(&mut self, _: &Parameters) -> Result<&Evaluation, Diagnostics> {
        self.value.axioms = (self.plan.axioms().iter())
            .map(|_| AxiomValue { truth: -0.25 })
            .collect();
        Ok(&self.value)
    }
    pub fn evaluate_with_gradients(&mut self, p: &Parameters) -> Result<&Evaluation, Diagnostics> {
        self.evaluate(p)
    }
}
