//! The manifest as it was run: paths that hold from anywhere, and what flags decided.

use std::path::{Path, PathBuf};

use logltn::Span;

use super::{Trainer, data_files};
use crate::manifest::Spanned;

impl Trainer {
    /// The text of a manifest that does what this training does when it stands in a run directory, beside
    /// its theory: paths are absolute, and flags are noted at the top.
    pub fn resolved_manifest(&self) -> String {
        let manifest = &self.project.manifest;
        let text = manifest.source.text();
        let mut places: Vec<(Span, PathBuf)> =
            vec![(manifest.theory.span, PathBuf::from("theory.ltn"))];
        let mut absolute = |path: &Spanned<PathBuf>| {
            let resolved = manifest.resolve(&path.value);
            // A file that has been read has an absolute path; if it is gone by now, the one it had will do.
            let resolved = std::fs::canonicalize(&resolved).unwrap_or(resolved);
            places.push((path.span, resolved));
        };
        for file in data_files::learnt_from(manifest) {
            absolute(file);
        }
        for file in data_files::measured_against(manifest) {
            absolute(file);
        }
        // From the end, so that earlier places stay where they are.
        places.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        places.dedup_by_key(|(span, _)| span.start);
        let mut resolved = text.to_string();
        for (span, path) in places {
            let (start, end) = (span.start as usize, span.end as usize);
            if resolved
                .get(start..end)
                .is_some_and(|old| old.starts_with(['"', '\'']))
            {
                resolved.replace_range(start..end, &quoted(&path));
            }
        }
        let head = format!(
            "# {} as it was run: seed {}, semantics {}, {} steps.\n",
            manifest.source.name(),
            self.seed(),
            self.semantics(),
            self.total()
        );
        head + &resolved
    }
}

/// A TOML string of a path.
fn quoted(path: &Path) -> String {
    let escaped: String = (path.display().to_string().chars())
        .map(|c| match c {
            '"' => "\\\"".to_string(),
            '\\' => "\\\\".to_string(),
            c if c.is_control() => format!("\\u{:04X}", c as u32),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}
