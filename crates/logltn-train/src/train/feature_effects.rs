//! Individuals of tables as people see them: their cells, and which columns moved the values of networks for them.
//!
//! How much a column moves a network is found by occlusion: the value of the network for the individual, less what it says with
//! the column at its mean. For a linear network that is exactly the column's part of the sum.

use std::collections::BTreeMap;

use logltn::theory::{ArgumentSort, SortId};
use logltn::{Diagnostics, OutputKind};
use logltn_learn::{Answers, Asked, Field, Ground, KnowledgeBase, Model, largest};
use serde::Serialize;

use super::ask::Questions;
use super::run_weights::RunWeights;

/// An individual with its columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Its cells as they stand in the file, by column.
    pub cells: Vec<(String, String)>,
    /// The values of networks for it, and why.
    pub moved: Vec<Moved>,
}

/// The value of a network for an individual.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moved {
    /// The predicate or function.
    pub symbol: String,
    /// The class, the truth or the value.
    pub said: String,
    /// How much each column moved it, the most important first: in logits, or in units of a function's value. Columns that
    /// moved nothing are left out.
    pub columns: Vec<(String, f64)>,
}

impl Questions<'_> {
    /// The cells of individuals whose features are columns of a file, and what moved the run's networks. Others are left out.
    ///
    /// # Errors
    /// If the run's weights cannot be read.
    pub fn seen(
        &self,
        individuals: &[(SortId, u32)],
    ) -> Result<BTreeMap<(SortId, u32), Seen>, Diagnostics> {
        let mut found = BTreeMap::new();
        let mut sorts: Vec<SortId> = individuals.iter().map(|(sort, _)| *sort).collect();
        sorts.sort_unstable();
        sorts.dedup();
        for sort in sorts {
            let table = self
                .project
                .feature_file(sort)
                .and_then(|file| file.table());
            let Some((file, columns)) = table else {
                continue;
            };
            let mut who: Vec<u32> = (individuals.iter())
                .filter(|(of, row)| *of == sort && (*row as usize) < file.rows())
                .map(|(_, row)| *row)
                .collect();
            who.sort_unstable();
            who.dedup();
            let widths: Vec<(String, usize)> = (columns.iter())
                .map(|(name, _, width)| (name.clone(), *width))
                .collect();
            let moved = self.moved(sort, &who, &widths)?;
            for (row, moved) in who.iter().zip(moved) {
                let cells = (columns.iter())
                    .map(|(name, place, _)| {
                        (name.clone(), file.cell(*row as usize, *place).to_string())
                    })
                    .collect();
                found.insert((sort, *row), Seen { cells, moved });
            }
        }
        Ok(found)
    }

    /// For each individual what moved each network.
    fn moved(
        &self,
        sort: SortId,
        who: &[u32],
        columns: &[(String, usize)],
    ) -> Result<Vec<Vec<Moved>>, Diagnostics> {
        let nothing = vec![Vec::new(); who.len()];
        let Some(run) = self.run else {
            return Ok(nothing);
        };
        let mut knowledge = self.project.knowledge()?;
        let fields = std::sync::Arc::clone(&knowledge.vectors[sort].fields);
        let [field] = &fields[..] else {
            return Ok(nothing);
        };
        let Some(occluded) = Occluded::new(field, columns) else {
            return Ok(nothing);
        };
        let says = saying(&knowledge, sort);
        let weights = RunWeights::read(self.project, run)?;
        let mut found = nothing;
        // As many at a time as there are individuals, whose places they take.
        let at_once = (occluded.rows / (columns.len() + 1)).max(1);
        for (block, some) in who.chunks(at_once).enumerate() {
            let Some(fields) = occluded.field(some) else {
                return Ok(found);
            };
            knowledge.vectors[sort].fields = [fields].into();
            let mut model = Model::new(&knowledge, 0)?;
            (says.iter()).try_for_each(|asked| asked.prepare(&knowledge, &mut model))?;
            weights.put_into(&mut model)?;
            for asked in &says {
                for i in 0..some.len() {
                    let first = (i * (columns.len() + 1)) as u32;
                    let rows: Vec<u32> = (first..=first + columns.len() as u32).collect();
                    if let Some(moved) = moved(asked, &knowledge, &mut model, &rows, columns)? {
                        found[block * at_once + i].push(moved);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// The features of a sort, from which rows with one column at its mean are made.
struct Occluded<'a> {
    field: &'a Field,
    rows: usize,
    means: Vec<f32>,
    columns: &'a [(String, usize)],
}

impl<'a> Occluded<'a> {
    /// `None` where the individuals are too few to take the places of one with each column at its mean.
    fn new(field: &'a Field, columns: &'a [(String, usize)]) -> Option<Occluded<'a>> {
        let width = field.width();
        let rows = field.len().checked_div(width)?;
        if rows <= columns.len() || columns.iter().map(|(_, w)| w).sum::<usize>() != width {
            return None;
        }
        let mut sums = vec![0.0_f64; width];
        for row in 0..rows {
            let numbers = field.individual(row)?;
            sums.iter_mut()
                .zip(&numbers)
                .for_each(|(sum, x)| *sum += f64::from(*x));
        }
        Some(Occluded {
            field,
            rows,
            means: sums.iter().map(|sum| (sum / rows as f64) as f32).collect(),
            columns,
        })
    }

    /// For each individual a row as it is, and one for each column; then whatever rows fill the places up.
    fn field(&self, individuals: &[u32]) -> Option<Field> {
        let width = self.field.width();
        let mut values = Vec::with_capacity(self.rows * width);
        for individual in individuals {
            let own = self.field.individual(*individual as usize)?;
            values.extend_from_slice(&own);
            let mut first = 0;
            for (_, wide) in self.columns {
                let mut row = own.clone();
                row[first..first + wide].copy_from_slice(&self.means[first..first + wide]);
                values.extend(row);
                first += wide;
            }
        }
        values.resize(self.rows * width, 0.0);
        Some(Field::new(None, self.field.shape.clone(), values))
    }
}

/// The networks that say one thing of each individual of a sort.
fn saying(knowledge: &KnowledgeBase, sort: SortId) -> Vec<Asked> {
    let theory = knowledge.theory();
    let predicates = theory.predicates.iter().zip(&knowledge.predicates);
    let predicates = predicates.filter(|(_, ground)| matches!(ground, Ground::Network(_)));
    let functions = theory.functions.iter().zip(&knowledge.functions);
    let functions =
        functions.filter(|(f, behind)| behind.is_some() && f.result == ArgumentSort::Vector(1));
    let names = (predicates.map(|(p, _)| &p.name)).chain(functions.map(|(f, _)| &f.name));
    names
        .filter_map(|name| Asked::new(knowledge, name).ok())
        .filter(|asked| asked.arguments() == [ArgumentSort::Sort(sort)])
        .collect()
}

/// What the first row is said to be, and how much it is so compared with each other row.
fn moved(
    asked: &Asked,
    knowledge: &KnowledgeBase,
    model: &mut Model,
    rows: &[u32],
    columns: &[(String, usize)],
) -> Result<Option<Moved>, Diagnostics> {
    let theory = knowledge.theory();
    let numbers: Vec<f64> = match (asked.predicate(), theory.function(asked.name())) {
        (Some((id, _)), _) => model
            .predict(id, rows, 1)?
            .into_iter()
            .map(f64::from)
            .collect(),
        (None, Some(id)) => (model.values(knowledge, id, rows, 1)?.into_iter())
            .map(f64::from)
            .collect(),
        (None, None) => return Ok(None),
    };
    let first = numbers.first().copied().unwrap_or(0.0);
    let (said, values): (String, Vec<f64>) = match (asked.answers(), asked.predicate()) {
        (Answers::Classes(class), Some((_, output))) => {
            let each = || numbers.chunks_exact(knowledge.data.size(class).max(1));
            let Some(picked) = each().next().map(largest) else {
                return Ok(None);
            };
            // A softmax does not see what all of its logits have in common.
            let common = |row: &[f64]| match output.kind {
                OutputKind::Softmax => row.iter().sum::<f64>() / row.len() as f64,
                _ => 0.0,
            };
            let values = each().map(|row| row[picked] - common(row)).collect();
            (theory[class].individual_name(picked), values)
        }
        (_, Some(_)) => (format!("{:.3}", 1.0 / (1.0 + (-first).exp())), numbers),
        _ => (format!("{}", first as f32), numbers),
    };
    let Some((own, others)) = values.split_first() else {
        return Ok(None);
    };
    let mut moved: Vec<(String, f64)> = (columns.iter().zip(others))
        .map(|((name, _), without)| (name.clone(), own - without))
        .filter(|(_, by)| *by != 0.0)
        .collect();
    moved.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    Ok(Some(Moved {
        symbol: asked.name().to_string(),
        said,
        columns: moved,
    }))
}
