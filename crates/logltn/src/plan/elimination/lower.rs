//! Elimination to nodes: a level for each factor, and the node that brings them together.

use super::{Builder, Factor, Found};
use crate::diagnostic::Diagnostic;
use crate::plan::component::{InScope, KeyIds};
use crate::plan::program::*;
use crate::theory::*;

impl Builder<'_> {
    pub(super) fn lower_elimination(
        &mut self,
        found: Found,
        formula: &Formula,
    ) -> Result<usize, Diagnostic> {
        let Found {
            factors,
            combinations,
            common,
            keys,
            mut elimination,
        } = found;
        let key_slot = (!keys.variables.is_empty()).then(|| self.key_slot(&keys, None));
        elimination.key_slot = key_slot;
        for (member, negate) in common {
            let node = self.formula(member, negate)?;
            elimination.common.push(node);
        }
        for (factor, combinations) in factors.into_iter().zip(combinations) {
            elimination
                .factors
                .push(self.factor(factor, combinations, formula)?);
        }
        let index = self.program.eliminations.len();
        self.program.eliminations.push(elimination);
        // Inner ones have been numbered before.
        self.elimination_keys.push(keys);
        Ok(self.node(NodeKind::Elimination(index), formula))
    }

    /// A level that runs through the combinations of a factor, and the factor's formula there.
    fn factor(
        &mut self,
        factor: Factor,
        combinations: Vec<Vec<u32>>,
        formula: &Formula,
    ) -> Result<EliminationFactor, Diagnostic> {
        let Factor { variables, members } = factor;
        let size = combinations.len();
        let sizes: Vec<u32> = variables
            .iter()
            .map(|v| self.guard_scope().size_of(*v))
            .collect();
        let component = match variables.as_slice() {
            [only] if size == sizes[0] as usize => self.all_individuals(*only)?,
            _ => {
                self.components.push(Component {
                    source: ComponentSource::Guarded {
                        variables: variables.clone(),
                        rows_of: None,
                    },
                    offsets: vec![0, size as u32],
                    tuples: combinations.into_iter().flatten().collect(),
                    arity: variables.len(),
                    candidates: sizes.iter().map(|s| u128::from(*s)).product(),
                    method: "those that some binding uses".to_string(),
                    batched: None,
                });
                self.key_ids.push(KeyIds::default());
                self.components.len() - 1
            }
        };
        let outer = self.level;
        let level = self.program.levels.len();
        let names = variables
            .iter()
            .map(|v| self.variables[v.index()].name.as_str());
        self.program.levels.push(Level {
            parent: outer,
            components: vec![ComponentUse {
                component,
                key_slot: None,
                names: names.collect::<Vec<_>>().join(", "),
                key_names: String::new(),
            }],
            ..Level::default()
        });
        let in_scope = InScope {
            component,
            level,
            position: 0,
            variables,
        };
        self.level_scopes.push(vec![in_scope.clone()]);
        self.scope.push(in_scope);
        self.level = level;
        let nodes: Result<Vec<usize>, Diagnostic> = (members.into_iter())
            .map(|(member, negate)| self.formula(member, negate))
            .collect();
        let body = nodes.map(|nodes| match nodes.as_slice() {
            [only] => *only,
            _ => self.node(NodeKind::And(nodes), formula),
        });
        self.level = outer;
        self.scope.pop();
        Ok(EliminationFactor {
            level,
            body: body?,
            size,
        })
    }
}
