//! Uses that are written out before planning, since no tuple of individuals represents them.

use crate::data::{ConstantData, Data};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard_parts::Part;
use crate::operators::Space;
use crate::plan::compile::{Problem, compile};
use crate::recursion::deep;
use crate::semantics::Semantics;
use crate::theory::*;
use std::sync::Arc;

/// The same data with a theory in which such uses are written out; `None` if there are none.
pub(in crate::plan) fn write_out(problem: Problem, found: &mut Diagnostics) -> Option<Data> {
    let Problem {
        data, semantics, ..
    } = problem;
    let theory = data.theory();
    let mut changed = Theory::clone(theory);
    if semantics.exact {
        // An event is a whole formula.
        let circles = match circles_with_depths(problem) {
            Ok(circles) => circles,
            Err(errors) => {
                found.extend(errors);
                return None;
            }
        };
        for axiom in &mut changed.axioms {
            let mut all = Whole {
                theory,
                circles: &circles,
                left: MOST_WRITTEN,
            };
            if let Err(error) = all.write(&mut axiom.formula, &mut axiom.variables, None) {
                found.push(error);
            }
        }
        changed.definitions.clear();
        return Some(data.with_theory(Arc::new(changed)));
    }
    let mut any = false;
    let circles: Vec<DefinitionId> = theory.circles().into_iter().flatten().collect();
    let fix = theory.fix_parameters();
    let definitions = changed.definitions.iter_mut().map(|d| &mut d.body);
    for axiom in changed.axioms.iter_mut().chain(definitions) {
        let mut refused = None;
        let written = theory.written_out_where(axiom, &mut |definition, arguments| {
            let learnt = arguments.iter().find(|a| is_learnt(data, a));
            if let Some(argument) = learnt
                && circles.contains(&definition)
            {
                refused = Some((definition, argument.span));
            }
            (learnt.is_some() || fix[definition.index()]) && !circles.contains(&definition)
        });
        if let Some((definition, span)) = refused {
            let name = theory[definition].name();
            let what = format!(
                "definition `{name}` uses itself, so its arguments must be individuals, not learnt values"
            );
            found.push(
                Diagnostic::error(Code::LearntInGuard, what)
                    .at(
                        &theory.source,
                        span,
                        "a learnt function's value, or a learnable constant",
                    )
                    .help("use a variable, or a predicate that relates the two"),
            );
        }
        if written.formula != axiom.formula {
            any = true;
            *axiom = written;
        }
    }
    if semantics.space == Space::Mixed {
        for axiom in &mut changed.axioms {
            any |= lead(theory, &mut axiom.formula, &mut axiom.variables, &circles);
        }
    }
    any.then(|| data.with_theory(Arc::new(changed)))
}

/// Definitions that use each other, and how deep they go.
struct Deep {
    members: Vec<DefinitionId>,
    /// The definition whose uses count towards the depth; `None` if no depth is written, and then all count.
    counter: Option<DefinitionId>,
    depth: u32,
}

/// Without a written depth, the tuples that are asked for have an order, which is found as for the other semantics.
fn circles_with_depths(problem: Problem) -> Result<Vec<Deep>, Diagnostics> {
    let theory = problem.data.theory();
    let mut planned = None;
    let mut circles = Vec::new();
    for members in theory.circles() {
        let counter = members.iter().copied().find(|d| theory[*d].depth.is_some());
        let depth = match counter.and_then(|d| theory[d].depth) {
            Some(depth) => depth,
            None => {
                let plan = match &planned {
                    Some(plan) => plan,
                    None => planned.insert(compile(Problem {
                        semantics: &Semantics::default(),
                        ..problem
                    })?),
                };
                let depths = plan.definitions();
                let deepest = members.iter().map(|d| depths[d.index()].depth).max();
                u32::try_from(deepest.unwrap_or(0)).unwrap_or(u32::MAX)
            }
        };
        circles.push(Deep {
            members,
            counter,
            depth,
        });
    }
    Ok(circles)
}

/// The most uses that are written out in one axiom.
const MOST_WRITTEN: usize = 100_000;

/// Writes out all uses, those of definitions that use themselves to their depth.
struct Whole<'a> {
    theory: &'a Theory,
    circles: &'a [Deep],
    left: usize,
}

impl Whole<'_> {
    /// `within`: the cycle that the formula is in, and the depth at which its definition with a depth is used.
    fn write(
        &mut self,
        formula: &mut Formula,
        variables: &mut Vec<Variable>,
        within: Option<(usize, u32)>,
    ) -> Result<(), Diagnostic> {
        let FormulaKind::Use {
            definition,
            arguments,
        } = &formula.kind
        else {
            let mut children = formula.children_mut().into_iter();
            return deep(|| children.try_for_each(|child| self.write(child, variables, within)));
        };
        let (definition, span) = (*definition, formula.span);
        let refused = |what: String, help: &str| {
            let error = Diagnostic::error(Code::TooHard, what);
            Err(error.at(&self.theory.source, span, "").help(help))
        };
        let name = self.theory[definition].name();
        let circle = (self.circles.iter()).position(|c| c.members.contains(&definition));
        let inside = match circle {
            None => None,
            Some(circle) => {
                let Deep { counter, depth, .. } = self.circles[circle];
                let depth = match within {
                    Some((at, depth)) if at == circle => depth,
                    _ => depth,
                };
                let counts = counter.is_none_or(|counter| counter == definition);
                if counts && depth == 0 {
                    formula.kind = FormulaKind::Or(Vec::new());
                    return Ok(());
                }
                Some((circle, depth - u32::from(counts)))
            }
        };
        if self.left == 0 {
            return refused(
                format!(
                    "definition `{name}` is too long when it is written out, as `probability` needs it"
                ),
                "use a smaller depth, or the semantics `logltn`",
            );
        }
        self.left -= 1;
        *formula = self.theory.formula_of_use(definition, arguments, variables);
        deep(|| self.write(formula, variables, inside))
    }
}

/// The first `forall`s of a definition that is alone under leading `forall`s are leading, too.
fn lead(
    theory: &Theory,
    formula: &mut Formula,
    variables: &mut Vec<Variable>,
    circles: &[DefinitionId],
) -> bool {
    let (mut at, mut changed) = (formula, false);
    loop {
        match &at.kind {
            FormulaKind::Use {
                definition,
                arguments,
            } if !circles.contains(definition) && begins_with_forall(theory, *definition) => {
                *at = theory.formula_of_use(*definition, arguments, variables);
                changed = true;
            }
            FormulaKind::Quantified {
                quantifier: Quantifier::Forall,
                ..
            } => {
                let FormulaKind::Quantified { body, .. } = &mut at.kind else {
                    return changed;
                };
                at = body;
            }
            _ => return changed,
        }
    }
}

fn begins_with_forall(theory: &Theory, definition: DefinitionId) -> bool {
    let mut at = definition;
    // None of them depends on itself.
    loop {
        match &theory[at].body.formula.kind {
            FormulaKind::Quantified {
                quantifier: Quantifier::Forall,
                ..
            } => return true,
            FormulaKind::Use { definition, .. } if *definition != at => at = *definition,
            _ => return false,
        }
    }
}

fn is_learnt(data: &Data, term: &Term) -> bool {
    let mut found = false;
    term.visit(&mut |part| {
        if let Part::Term(term) = part {
            found |= match &term.kind {
                TermKind::Apply(function, _) => data.function(*function).is_none(),
                TermKind::Constant(constant) => matches!(
                    data.constants[constant.index()],
                    Some(ConstantData::Learnable)
                ),
                _ => false,
            };
        }
    });
    found
}
