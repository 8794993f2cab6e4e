//! Parts of a model by the names that users know.

use std::ops::Range;

use logltn::{Code, Diagnostic, did_you_mean};

use crate::knowledge::{Ground, KnowledgeBase};
use crate::model::Model;

/// Whether a block of parameters, or a tensor of it, belongs to what users call `name`: a predicate or a function, a
/// sort whose individuals are learnt, `networks.trunk`.
pub(crate) fn belongs(block: &str, name: &str) -> bool {
    let is_it = |block: &str| {
        let rest = block.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let inside = |kind: &str| block.strip_prefix(kind).is_some_and(is_it);
    is_it(block) || inside("host.") || inside("embedding.")
}

/// The block and the numbers in it that a learnable constant is.
pub(crate) fn constant(knowledge: &KnowledgeBase, name: &str) -> Option<(String, Range<usize>)> {
    let name = name.strip_prefix("constants.").unwrap_or(name);
    let theory = knowledge.theory();
    let constants = theory.constants.iter().zip(&knowledge.learnable_constants);
    let (found, _) = { constants }.find(|(c, width)| c.name == name && width.is_some())?;
    let of_sort: Vec<(&str, usize)> = knowledge.learnt_constants(found.sort).collect();
    let row = of_sort.iter().position(|(c, _)| *c == name)?;
    // As long as the features of the sort, where it has some.
    let width = match knowledge.vectors[found.sort].width() {
        0 => of_sort[0].1,
        width => width,
    };
    let block = format!("constants.{}", theory[found.sort].name);
    Some((block, row * width..(row + 1) * width))
}

impl KnowledgeBase {
    /// What is learnt, by the names under which it can be frozen.
    fn learnt(&self) -> Vec<String> {
        let theory = self.theory();
        let predicates = theory.predicates.iter().zip(&self.predicates);
        let predicates = predicates.filter(|(_, ground)| match ground {
            Ground::Numbers(_) => false,
            Ground::ClosedForm(form) => !form.learnt().is_empty(),
            Ground::Network(_) | Ground::Learnable { .. } | Ground::Host => true,
        });
        let functions = theory.functions.iter().zip(&self.functions);
        let sorts = theory.sorts.iter().zip(&self.vectors);
        let constants = theory.constants.iter().zip(&self.learnable_constants);
        (predicates.map(|(p, _)| p.name.clone()))
            .chain(functions.filter_map(|(f, of)| of.as_ref().map(|_| f.name.clone())))
            .chain(self.networks.keys().map(|name| format!("networks.{name}")))
            .chain(sorts.filter_map(|(s, of)| of.learnable.map(|_| s.name.clone())))
            .chain(constants.filter_map(|(c, width)| width.map(|_| c.name.clone())))
            .collect()
    }
}

impl Model {
    /// Whether something that is learnt has this name: a predicate or a function with a network, `networks.NAME`, a
    /// sort with learnable vectors, a learnable constant, or what a tensor of the stored weights is called.
    ///
    /// # Errors
    /// If not.
    pub fn check_part(&mut self, knowledge: &KnowledgeBase, name: &str) -> Result<(), Diagnostic> {
        let learnt = knowledge.learnt();
        let mut known = learnt.iter().any(|l| l == name) || constant(knowledge, name).is_some();
        self.visit_parameters(&mut |block, _, _| known |= belongs(block, name));
        if known {
            return Ok(());
        }
        let names = learnt.iter().map(String::as_str);
        let error = Diagnostic::error(
            Code::NotLearnt,
            format!("nothing that is learnt is called `{name}`"),
        );
        let all: Vec<String> = names.clone().take(20).map(|n| format!("`{n}`")).collect();
        Err(match did_you_mean(name, names) {
            Some(guess) => error.help(guess),
            None if all.is_empty() => error.note("nothing is learnt here"),
            None => error.note(format!("what is learnt: {}", all.join(", "))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::belongs;

    #[test]
    fn names_of_parts() {
        for (block, name) in [
            ("C", "C"),
            ("C.0.weight", "C"),
            ("networks.trunk", "networks.trunk"),
            ("embedding.Entity", "Entity"),
            ("embedding.Entity", "embedding.Entity"),
            ("host.likes.w", "likes"),
        ] {
            assert!(belongs(block, name), "{block} {name}");
        }
        for (block, name) in [("Cat", "C"), ("networks.C", "C"), ("constants.C", "C")] {
            assert!(!belongs(block, name), "{block} {name}");
        }
    }
}
