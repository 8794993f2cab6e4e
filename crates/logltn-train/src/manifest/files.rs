//! The files that a manifest names.

use std::path::PathBuf;

use super::{Individuals, Manifest, MetricTruth, Spanned, Start};

impl Manifest {
    /// The data files that it names, relative to the working directory.
    pub fn data_files(&self) -> Vec<PathBuf> {
        let files = learnt_from(self).into_iter().chain(measured_against(self));
        files.map(|file| self.resolve(&file.value)).collect()
    }

    /// The run that training begins with, if it begins with one.
    pub(crate) fn start(&self) -> Option<&Start> {
        self.train.as_ref()?.start.as_ref()
    }
}

/// The files that training reads.
pub(crate) fn learnt_from(manifest: &Manifest) -> Vec<&Spanned<PathBuf>> {
    let mut files = Vec::new();
    for sort in manifest.sorts.values() {
        match &sort.individuals {
            Some(Individuals::Features(from)) => files.push(&from.file),
            Some(Individuals::LabelFile(path)) => files.push(path),
            Some(Individuals::Names(_)) | None => {}
        }
    }
    files.extend(manifest.tables.values().map(|table| &table.rows));
    let predicates = manifest.predicates.values();
    files.extend(predicates.filter_map(|p| Some(p.grounding.numbers()?.0)));
    files.extend((manifest.functions.values()).filter_map(|f| f.values.as_ref()));
    files.extend(manifest.start().map(|start| &start.run));
    files
}

/// The files that only metrics read.
pub(crate) fn measured_against(manifest: &Manifest) -> Vec<&Spanned<PathBuf>> {
    let labels = (manifest.sorts.values()).filter_map(|sort| Some(&sort.labels.as_ref()?.file));
    let metrics = manifest.evaluate.iter().flat_map(|e| &e.metrics);
    let rows = metrics.filter_map(|metric| match &metric.truth {
        MetricTruth::Rows(file) => Some(file),
        MetricTruth::OwnRows | MetricTruth::Labels(_) => None,
    });
    labels.chain(rows).collect()
}
