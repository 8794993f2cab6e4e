//! Whether two theories are equal, apart from places in their texts.

use crate::recursion::deep;
use crate::source::Span;
use crate::theory::*;

impl Theory {
    /// Equality except for places: what a round trip through the printer keeps.
    ///
    /// ```
    /// use logltn::{Source, Theory};
    /// let a = Theory::parse(Source::new("a", "predicate p() axiom x: not p()")).unwrap();
    /// let b = Theory::parse(Source::new("b", "predicate p()\n\naxiom x:\n    ¬p()")).unwrap();
    /// assert!(a.same_as(&b));
    /// ```
    pub fn same_as(&self, other: &Theory) -> bool {
        let (a, b) = (self.without_places(), other.without_places());
        a.sorts == b.sorts
            && a.tables == b.tables
            && a.predicates == b.predicates
            && a.functions == b.functions
            && a.constants == b.constants
            && a.params == b.params
            && a.definitions == b.definitions
            && a.axioms == b.axioms
            && a.products == b.products
    }

    /// The same theory with every span empty.
    pub(crate) fn without_places(&self) -> Theory {
        let mut theory = self.clone();
        theory.sorts.iter_mut().for_each(|x| forget(&mut x.span));
        let products = theory.products.iter_mut().map(|p| &mut p.table);
        for table in theory.tables.iter_mut().chain(products) {
            forget(&mut table.span);
            table.columns.iter_mut().for_each(|x| forget(&mut x.span));
        }
        (theory.predicates.iter_mut()).for_each(|x| forget(&mut x.span));
        (theory.functions.iter_mut()).for_each(|x| forget(&mut x.span));
        (theory.constants.iter_mut()).for_each(|x| forget(&mut x.span));
        theory.params.iter_mut().for_each(|x| forget(&mut x.span));
        let definitions = theory.definitions.iter_mut().map(|d| &mut d.body);
        for axiom in theory.axioms.iter_mut().chain(definitions) {
            forget(&mut axiom.span);
            forget(&mut axiom.name_span);
            axiom.variables.iter_mut().for_each(|v| forget(&mut v.span));
            if let Some(guard) = axiom.family.as_mut().and_then(|f| f.guard.as_mut()) {
                forget_guard(guard);
            }
            forget_formula(&mut axiom.formula);
        }
        theory
    }
}

fn forget(span: &mut Span) {
    *span = Span::default();
}

fn forget_formula(formula: &mut Formula) {
    forget(&mut formula.span);
    match &mut formula.kind {
        FormulaKind::Atom { arguments, .. } | FormulaKind::Use { arguments, .. } => {
            arguments.iter_mut().for_each(forget_term);
        }
        FormulaKind::Quantified { guard, .. } => guard.iter_mut().for_each(forget_guard),
        _ => {}
    }
    let children = formula.children_mut().into_iter();
    deep(|| children.for_each(forget_formula));
}

fn forget_term(term: &mut Term) {
    term.visit_mut(&mut |mut part| part.forget_place());
}

fn forget_guard(guard: &mut Guard) {
    guard.visit_mut(&mut |mut part| part.forget_place());
}
