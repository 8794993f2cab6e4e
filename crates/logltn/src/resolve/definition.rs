//! Definitions: formulas with a name.

use super::{Resolver, Symbol};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::{DefinitionSyntax, Expr, Name};
use crate::theory::*;

impl Resolver<'_> {
    /// Declares the name with the sorts of its parameters: earlier formulas may use it.
    pub(super) fn declare_definition(&mut self, syntax: &DefinitionSyntax) {
        let sorts = self.sorts_of(&syntax.parameters).into_iter();
        let Some(sorts) = sorts.collect::<Option<Vec<SortId>>>() else {
            return self.declare(&syntax.name, Symbol::Broken);
        };
        let id = DefinitionId(self.theory.definitions.len() as u32);
        self.declare(&syntax.name, Symbol::Definition(id));
        let parameter = |((name, _), sort): (&(Name, Option<Name>), SortId)| Variable {
            name: name.text.clone(),
            sort: ColumnSort::Sort(sort),
            bound_by: BoundBy::Definition,
            span: name.span,
        };
        let variables: Vec<Variable> = (syntax.parameters.iter().zip(sorts))
            .map(parameter)
            .collect();
        self.theory.definitions.push(Definition {
            arity: variables.len(),
            depth: syntax.depth,
            body: Axiom {
                name: syntax.name.text.clone(),
                weight: 1.0,
                variables,
                family: None,
                // A placeholder until the formula is read.
                formula: Formula::new(FormulaKind::And(Vec::new()), syntax.formula.span),
                products: Vec::new(),
                name_span: syntax.name.span,
                span: syntax.span,
            },
        });
    }

    /// Reads the formula of a definition. Returns whether that succeeded.
    pub(super) fn define(&mut self, syntax: DefinitionSyntax) -> bool {
        // If two have the same name, the first one counts.
        let declared = self.theory.definitions.iter();
        let Some(place) = (declared.clone()).position(|d| d.body.name_span == syntax.name.span)
        else {
            return false;
        };
        let errors = self.out.error_count();
        self.start_formula();
        let parameters = self.theory.definitions[place].parameters().to_vec();
        let mut whole = true;
        for ((name, _), parameter) in syntax.parameters.iter().zip(&parameters) {
            whole &= self.may_bind(name);
            self.bind(name, Some(parameter.sort), BoundBy::Definition);
        }
        let formula = self.formula(&syntax.formula);
        if self.out.error_count() == errors && formula.is_some() {
            self.warn_about_unused_variables();
        }
        let variables = std::mem::take(&mut self.variables);
        let Some(formula) = formula.filter(|_| whole) else {
            return false;
        };
        let body = &mut self.theory.definitions[place].body;
        body.variables = variables;
        body.formula = formula;
        true
    }

    pub(super) fn definition_use(
        &mut self,
        definition: DefinitionId,
        name: &Name,
        arguments: &[Expr],
        declared: Span,
        span: Span,
    ) -> Option<FormulaKind> {
        self.mark_used(&name.text);
        let parameters = self.theory[definition].parameters().iter();
        let wanted: Vec<ArgumentSort> = parameters
            .filter_map(|parameter| parameter.sort.sort().map(ArgumentSort::Sort))
            .collect();
        let arguments = self.arguments("definition", name, arguments, &wanted, declared, span)?;
        Some(FormulaKind::Use {
            definition,
            arguments,
        })
    }

    /// The names that can stand before parentheses in a formula.
    pub(super) fn known_atoms(&self) -> Vec<String> {
        let predicates = self.theory.predicates.iter().map(|p| p.name.clone());
        let definitions = self.theory.definitions.iter().map(|d| d.name().to_string());
        predicates.chain(definitions).collect()
    }

    /// At most one definition of a cycle has a depth.
    pub(super) fn check_depths(&mut self) {
        for circle in self.theory.circles() {
            let with_depth = |d: &&DefinitionId| self.theory[**d].depth.is_some();
            let deep: Vec<&DefinitionId> = circle.iter().filter(with_depth).collect();
            if let [first, second, ..] = deep[..] {
                let (first, second) = (&self.theory[*first], &self.theory[*second]);
                let what = format!(
                    "`{}` and `{}` use each other, and both have a depth",
                    first.name(),
                    second.name()
                );
                let error = Diagnostic::error(Code::DefinitionCycle, what)
                    .at(&self.theory.source, second.body.name_span, "has a depth")
                    .mark(first.body.name_span, "has a depth, too")
                    .help("leave out one of the two depths");
                self.out.push(error);
            }
        }
    }

    pub(super) fn warn_about_unused_definitions(&mut self) {
        let axioms = self.theory.axioms.iter().map(|axiom| &axiom.formula);
        let used = self.theory.definitions_under(axioms.collect());
        for (definition, used) in self.theory.definitions.iter().zip(used) {
            if !used {
                let what = format!("definition `{}` is never used", definition.name());
                let warning = Diagnostic::warning(Code::UnusedDeclaration, what);
                let span = definition.body.name_span;
                self.out.push(warning.at(&self.theory.source, span, ""));
            }
        }
    }
}
