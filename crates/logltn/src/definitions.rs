//! Definitions as formulas: which use which, which use themselves, and a formula with its uses written out.

use crate::guard::{free_variables, term_variables};
use crate::recursion::deep;
use crate::theory::*;

impl Theory {
    /// By definition: whether one of these formulas uses it, or a definition that they use does.
    pub(crate) fn definitions_under(&self, formulas: Vec<&Formula>) -> Vec<bool> {
        let mut found = vec![false; self.definitions.len()];
        let mut open = formulas;
        while let Some(formula) = open.pop() {
            if let FormulaKind::Use { definition, .. } = formula.kind
                && !std::mem::replace(&mut found[definition.index()], true)
            {
                open.push(&self[definition].body.formula);
            }
            open.extend(formula.children());
        }
        found
    }

    /// The definitions that a formula uses itself, each once, in order.
    pub(crate) fn used_directly(&self, formula: &Formula) -> Vec<DefinitionId> {
        let uses = formula.parts().filter_map(|part| match part.kind {
            FormulaKind::Use { definition, .. } => Some(definition),
            _ => None,
        });
        let mut found: Vec<DefinitionId> = uses.collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The definitions that use themselves, grouped by mutual use.
    pub(crate) fn circles(&self) -> Vec<Vec<DefinitionId>> {
        let reach: Vec<Vec<bool>> = (self.definitions.iter())
            .map(|d| self.definitions_under(vec![&d.body.formula]))
            .collect();
        let mut seen = vec![false; reach.len()];
        let mut circles = Vec::new();
        for a in 0..reach.len() {
            if seen[a] || !reach[a][a] {
                continue;
            }
            let circle: Vec<usize> = (0..reach.len())
                .filter(|&b| reach[a][b] && reach[b][a])
                .collect();
            circle.iter().for_each(|&b| seen[b] = true);
            circles.push(circle.into_iter().map(|b| DefinitionId(b as u32)).collect());
        }
        circles
    }

    /// By definition: whether the guard of an `all` or `any` reads one of its parameters, in its own formula or in that
    /// of a definition that it passes them to. The members are written out, so the value of the parameter must be
    /// known.
    pub(crate) fn fix_parameters(&self) -> Vec<bool> {
        let mut fix = vec![false; self.definitions.len()];
        loop {
            let before = fix.clone();
            for (at, definition) in self.definitions.iter().enumerate() {
                let is_parameter = |v: &VarId| v.index() < definition.arity;
                let mut parts = definition.body.formula.parts();
                fix[at] = fix[at]
                    || parts.any(|formula| match &formula.kind {
                        FormulaKind::Quantified {
                            quantifier,
                            guard: Some(guard),
                            ..
                        } if quantifier.is_big_connective() => {
                            free_variables(guard).iter().any(is_parameter)
                        }
                        FormulaKind::Use {
                            definition,
                            arguments,
                        } if before[definition.index()] => {
                            let mut read = Vec::new();
                            arguments.iter().for_each(|a| term_variables(a, &mut read));
                            read.iter().any(is_parameter)
                        }
                        _ => false,
                    });
            }
            if before == fix {
                return fix;
            }
        }
    }

    /// An axiom with the formulas of definitions in place of their uses. Uses of definitions that use themselves stay.
    ///
    /// ```
    /// use logltn::{Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort S = 0..9  predicate P(S, S)
    ///     define both(x, y: S): P(x, y) and P(y, x)
    ///     axiom a: forall v: S. not both(v, 3)")).unwrap();
    /// let written = theory.written_out(&theory.axioms[0]);
    /// assert_eq!(theory.show(&written, &written.formula), "forall v: S. not (P(v, 3) and P(3, v))");
    /// ```
    pub fn written_out(&self, axiom: &Axiom) -> Axiom {
        let circles: Vec<DefinitionId> = self.circles().into_iter().flatten().collect();
        self.written_out_where(axiom, &mut |definition, _| !circles.contains(&definition))
    }

    /// The same for selected uses.
    pub(crate) fn written_out_where(
        &self,
        axiom: &Axiom,
        wanted: &mut dyn FnMut(DefinitionId, &[Term]) -> bool,
    ) -> Axiom {
        let mut axiom = axiom.clone();
        self.write_out(&mut axiom.formula, &mut axiom.variables, wanted);
        axiom
    }

    fn write_out(
        &self,
        formula: &mut Formula,
        variables: &mut Vec<Variable>,
        wanted: &mut dyn FnMut(DefinitionId, &[Term]) -> bool,
    ) {
        while let FormulaKind::Use {
            definition,
            arguments,
        } = &formula.kind
            && wanted(*definition, arguments)
        {
            *formula = self.formula_of_use(*definition, arguments, variables);
        }
        let children = formula.children_mut().into_iter();
        deep(|| children.for_each(|child| self.write_out(child, variables, wanted)));
    }

    /// The meaning of a use: the definition's formula with the arguments in place of the parameters. Its bound
    /// variables are new.
    pub(crate) fn formula_of_use(
        &self,
        definition: DefinitionId,
        arguments: &[Term],
        variables: &mut Vec<Variable>,
    ) -> Formula {
        let definition = &self[definition];
        if definition.depth == Some(0) {
            return Formula::new(FormulaKind::Or(Vec::new()), definition.body.formula.span);
        }
        let first = variables.len() as u32;
        variables.extend_from_slice(&definition.body.variables[definition.arity..]);
        let mut formula = definition.body.formula.clone();
        let put = Put {
            arguments,
            first,
            arity: definition.arity as u32,
        };
        put.formula(&mut formula);
        formula
    }
}

/// Replaces parameters by arguments, and other variables by new ones.
struct Put<'a> {
    arguments: &'a [Term],
    first: u32,
    arity: u32,
}

impl Put<'_> {
    fn formula(&self, formula: &mut Formula) {
        match &mut formula.kind {
            FormulaKind::Atom { arguments, .. } | FormulaKind::Use { arguments, .. } => {
                arguments.iter_mut().for_each(|a| self.term(a));
            }
            FormulaKind::Quantified { binding, guard, .. } => {
                self.binding(binding);
                guard.iter_mut().for_each(|g| self.guard(g));
            }
            _ => {}
        }
        let children = formula.children_mut().into_iter();
        deep(|| children.for_each(|child| self.formula(child)));
    }

    fn binding(&self, binding: &mut Binding) {
        let (Binding::Sorts(variables) | Binding::Rows(_, variables)) = binding;
        for id in variables {
            *id = self.moved(*id);
        }
    }

    /// A variable that is not a parameter.
    fn moved(&self, id: VarId) -> VarId {
        VarId(id.0 - self.arity + self.first)
    }

    fn argument(&self, id: VarId) -> Option<&Term> {
        self.arguments.get(id.index())
    }

    fn guard(&self, guard: &mut Guard) {
        deep(|| match &mut guard.kind {
            GuardKind::Compare(_, a, b) => {
                self.value(a);
                self.value(b);
            }
            GuardKind::Same { left, right, .. } => {
                self.term(left);
                self.term(right);
            }
            GuardKind::Member(_, cells) => cells.iter_mut().for_each(|c| self.value(c)),
            GuardKind::Not(inner) => self.guard(inner),
            GuardKind::And(members) | GuardKind::Or(members) => {
                members.iter_mut().for_each(|m| self.guard(m));
            }
            GuardKind::Exists(binding, guard, body) => {
                self.binding(binding);
                guard.iter_mut().for_each(|g| self.guard(g));
                self.guard(body);
            }
        });
    }

    /// Inserted terms are not visited again.
    fn value(&self, value: &mut Value) {
        deep(|| match &mut value.kind {
            ValueKind::Number(id) => {
                let put = self.argument(*id).map(|term| match &term.kind {
                    TermKind::Variable(v) => ValueKind::Number(*v),
                    _ => ValueKind::Individual(term.clone()),
                });
                value.kind = put.unwrap_or_else(|| ValueKind::Number(self.moved(*id)));
            }
            ValueKind::Individual(term) => self.term(term),
            ValueKind::Dist(a, b) => {
                self.term(a);
                self.term(b);
            }
            ValueKind::Int(_) | ValueKind::Real(_) | ValueKind::Param(_) => {}
            ValueKind::Negative(inner) | ValueKind::Abs(inner) => self.value(inner),
            ValueKind::Sum(members) => members.iter_mut().for_each(|(_, m)| self.value(m)),
            ValueKind::Product(members) => members.iter_mut().for_each(|(_, m)| self.value(m)),
            ValueKind::Min(values) | ValueKind::Max(values) => {
                values.iter_mut().for_each(|v| self.value(v));
            }
        });
    }

    fn term(&self, term: &mut Term) {
        match &mut term.kind {
            TermKind::Variable(id) => match self.argument(*id) {
                Some(argument) => term.kind = argument.kind.clone(),
                None => *id = self.moved(*id),
            },
            TermKind::Apply(_, arguments) => {
                deep(|| arguments.iter_mut().for_each(|a| self.term(a)));
            }
            TermKind::Individual(..) | TermKind::Constant(_) | TermKind::Number(_) => {}
        }
    }
}
