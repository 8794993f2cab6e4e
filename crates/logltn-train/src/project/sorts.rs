//! The individuals of data sorts: labels, or rows of features.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use logltn::{Code, Diagnostic, Diagnostics, Labels};
use logltn_data::{
    CsvFile, Field, Preparation, header_among_individuals, index_column, read_individuals,
};

use super::features::{Chosen, FeatureFile, Features};
use super::report::Report;
use crate::manifest::{FeatureSource, Individuals};

/// How the columns of sorts became numbers in training.
pub(super) type Prepared = BTreeMap<String, Arc<Preparation>>;

/// The labels of the sorts that have them.
pub(super) fn read_labels(report: &mut Report<'_>) -> Labels {
    let manifest = report.manifest;
    let mut labels = Labels::default();
    for (name, sort) in &manifest.sorts {
        match &sort.individuals {
            Some(Individuals::LabelFile(file)) => {
                let read = read_individuals(&manifest.resolve(file), name);
                match report.read(file.span, read) {
                    Some(found) => {
                        let path = manifest.resolve(file).display().to_string();
                        if let Some(warning) = header_among_individuals(&found, &path, name) {
                            report.push(file.span, "read from here", warning);
                        }
                        labels.insert(name, found);
                    }
                    None => labels.insert_unreadable(name),
                }
            }
            Some(Individuals::Names(names)) => {
                labels.insert(name, names.iter().map(|n| &*n.value));
            }
            Some(Individuals::Features(from)) => {
                let read = Chosen::of(from).read_names(&manifest.resolve(&from.file));
                match read {
                    Ok(Some(found)) => labels.insert(name, found),
                    Ok(None) => {}
                    // Errors in the file are reported when its features are read.
                    Err(found) => {
                        labels.insert_unreadable(name);
                        if is_readable(from, &manifest.resolve(&from.file)) {
                            let place = from.names.as_ref().map_or(from.file.span, |n| n.span);
                            report.file(place, found);
                        }
                    }
                }
            }
            None => {}
        }
    }
    for path in &manifest.broken {
        match path.strip_prefix("sorts.") {
            Some(name) => labels.insert_unreadable(name),
            None => continue,
        }
    }
    labels
}

/// Whether the features of a file can be read, regardless of its names.
fn is_readable(from: &FeatureSource, path: &Path) -> bool {
    match &from.prepare {
        Some(_) => CsvFile::read(path).is_ok(),
        None => Chosen::of(from).read(path).is_ok(),
    }
}

/// The features of the sorts that have them.
#[derive(Default)]
pub(super) struct FeatureSorts {
    /// All files that could be read.
    pub(super) files: BTreeMap<String, FeatureFile>,
    /// The numbers of the sorts that were requested.
    pub(super) values: BTreeMap<String, Features>,
    /// Everything that was read, if requested.
    pub(super) fields: BTreeMap<String, Vec<Field>>,
}

/// Reads the files of features, keeping the numbers of the sorts in `keep` only: those of the others are for
/// networks, which read them when they train, unless all are kept for them.
pub(super) fn read_features(
    report: &mut Report<'_>,
    keep: &BTreeSet<String>,
    keep_all: bool,
    prepared: &Prepared,
) -> FeatureSorts {
    let manifest = report.manifest;
    let mut found = FeatureSorts::default();
    for (name, sort) in &manifest.sorts {
        let Some(Individuals::Features(from)) = &sort.individuals else {
            continue;
        };
        let path = manifest.resolve(&from.file);
        let mut chosen = Chosen::of(from);
        let mut odd = Diagnostics::new();
        if let (Some(_), Some(known)) = (&from.prepare, prepared.get(name)) {
            chosen.prepared = Some(Arc::clone(known));
        } else {
            let found = chosen.prepare(manifest, name, from, &path);
            match report.read(from.file.span, found) {
                Some(found) => odd.extend(found),
                None => continue,
            }
        }
        let read = chosen.read_with_warnings(&path).map_err(|found| {
            let chosen = from.columns.is_some() || from.prepare.is_some();
            with_help(found, (!chosen).then_some(TEXT_AMONG_FEATURES))
        });
        let Some((fields, also_odd)) = report.read(from.file.span, read) else {
            continue;
        };
        // Held-out rows may have categories that the others lack.
        let is_own = from.prepare.is_some() && !prepared.contains_key(name);
        if !is_own {
            odd.extend(also_odd);
        }
        for warning in odd {
            report.push(from.file.span, "read from here", warning);
        }
        // Columns that were listed are intended.
        if let ([only], None, None, None) =
            (fields.as_slice(), &from.columns, &from.names, &from.except)
            && chosen.prepared.is_none()
            && let Some(warning) = index_column(&path, &only.array)
        {
            report.push(from.file.span, "read from here", warning);
        }
        if keep.contains(name) {
            found.values.insert(name.clone(), Features::of(&fields));
        }
        let file = FeatureFile::of(path, chosen, &fields);
        found.files.insert(name.clone(), file);
        if keep_all {
            found.fields.insert(name.clone(), fields);
        }
    }
    found
}

const TEXT_AMONG_FEATURES: &str = "features are numbers: choose the columns that are, `features = { file = …, columns = [\"a\", \
     \"b\"] }`, or add `prepare = true`, which makes numbers of categories, dates and missing cells; a column that names the individuals is `names`, a column of classes goes into a table or `labels`";

/// Adds this help if the first cell of a column is not a number and there is no better help. In a later row it is a
/// typo.
fn with_help(found: Diagnostics, help: Option<&str>) -> Diagnostics {
    let mut help = help.map(str::to_string);
    let with_help = |diagnostic: Diagnostic| {
        let text = diagnostic.code() == Code::MalformedNumber
            && diagnostic.help_text().is_none()
            && diagnostic.message().contains(", row 1 (");
        match text {
            true => diagnostic.maybe_help(help.take()),
            false => diagnostic,
        }
    };
    found.into_iter().map(with_help).collect()
}
