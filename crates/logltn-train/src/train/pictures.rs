//! Pictures of what was learnt: individuals in two dimensions, coloured by the class they were given.

use logltn::Diagnostics;
use logltn::theory::{ArgumentSort, PredicateId};

use super::Trainer;
use crate::project::Features;
use crate::report::{pca_2d, scatter_png};
use crate::run_directory::RunDirectory;

/// More points than these are a blot, and more dimensions take longer than they are worth.
const MOST_POINTS: usize = 20_000;
const MOST_DIMENSIONS: usize = 256;

impl Trainer {
    /// A picture for each predicate that gives one of several classes to individuals with features:
    /// `pictures/P.png`. Returns their paths.
    pub fn draw(
        &mut self,
        directory: &RunDirectory,
    ) -> Result<Vec<std::path::PathBuf>, Diagnostics> {
        let mut drawn = Vec::new();
        for (i, predicate) in self.project.theory().predicates.clone().iter().enumerate() {
            let id = PredicateId(i as u32);
            let [ArgumentSort::Sort(sort), ArgumentSort::Sort(class)] = predicate.arguments[..]
            else {
                continue;
            };
            let few = self.project.data.size(sort) <= MOST_POINTS;
            let width = self.project.feature_file(sort).map_or(0, |f| f.width());
            if !self.project.outputs[i].per_class || !few || !(2..=MOST_DIMENSIONS).contains(&width)
            {
                continue;
            }
            let features = Features::of(&self.project.features_of(sort)?);
            let individuals: Vec<u32> = (0..features.rows() as u32).collect();
            let Ok(logits) = self.model.predict(id, &individuals, 1) else {
                continue; // no network of ours
            };
            self.attached = None;
            let classes = self.project.data.size(class);
            let given: Vec<usize> = logits
                .chunks_exact(classes)
                .map(super::measure::largest)
                .collect();
            let names: Vec<String> = (0..classes)
                .map(|c| self.project.theory()[class].individual_name(c))
                .collect();
            let points = pca_2d(&features.values, features.width)?;
            let folder = directory.file("pictures");
            let path = folder.join(format!("{}.png", predicate.name));
            std::fs::create_dir_all(&folder).map_err(|error| {
                logltn::Diagnostic::error(
                    logltn::Code::CannotWrite,
                    format!("{}: {error}", folder.display()),
                )
            })?;
            let title = format!(
                "{}: {} in two principal components",
                predicate.name,
                self.project.theory()[sort].name
            );
            scatter_png(&points, &given, &names, &title, &path)?;
            drawn.push(path);
        }
        Ok(drawn)
    }
}
