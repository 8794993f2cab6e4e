//! The manifest as it was run: with what flags and defaults decided, and with paths that hold from its run directory.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use logltn::Semantics;
use logltn_learn::Training;

use super::Trainer;
use super::document::Node;
use crate::manifest::{Manifest, learnt_from, measured_against, papers_alpha};

impl Trainer {
    /// The text of a manifest that does what this training does, to the last bit, when it is in the directory of a
    /// run, beside its theory.
    ///
    /// Paths are relative to that directory, so that they hold when it is moved together with the project; where the
    /// two have no folder in common but the root, they are absolute.
    pub fn resolved_manifest(&self, run: &Path) -> String {
        let manifest = &self.project.manifest;
        let mut strings = BTreeMap::new();
        strings.insert(
            manifest.theory.span.start as usize,
            "theory.ltn".to_string(),
        );
        let learnt_from = learnt_from(manifest);
        for file in learnt_from.into_iter().chain(measured_against(manifest)) {
            let path = seen_from(run, manifest, &file.value);
            strings.insert(file.span.start as usize, path);
        }
        // It has been read once, so it is TOML.
        let document = Node::parse(manifest.source.text(), &strings);
        let mut document = document.unwrap_or_else(|| Node::Table(Vec::new()));
        if let Some(semantics) = &self.options.semantics {
            document.set("semantics", described(semantics));
        }
        let train = document.section("train");
        if let Some(steps) = self.options.steps {
            for key in ["steps", "epochs", "phases"] {
                train.remove(key);
            }
            train.set("steps", Node::Leaf(steps.to_string()));
        }
        train.set("seed", Node::Leaf(self.training().seed.to_string()));
        let given = manifest
            .train
            .as_ref()
            .and_then(|train| train.learning_rate);
        if given.is_none() {
            // Written down since another version may take another.
            let rate = Training::LEARNING_RATE.to_string();
            train.set("learning_rate", Node::Leaf(rate));
        }
        if manifest.schedule.alpha.is_none() {
            // The paper's, for the same reason.
            let line = papers_alpha();
            let [from, to] = [line.first(), line.last()].map(|x| Node::Leaf(x.to_string()));
            let line = Node::table([("linear", Node::List(vec![from, to]))]);
            document.section("schedule").set("alpha", line);
        }
        let head = format!(
            "# {} as it was run: seed {}, semantics {}, {} steps.\n",
            // On one line: whatever a path holds, this is a comment.
            logltn::harmless(manifest.source.name()).replace('\n', "\\n"),
            self.training().seed,
            self.training().semantics,
            self.total()
        );
        head + &document.document()
    }
}

/// A semantics as a manifest writes it.
fn described(semantics: &Semantics) -> Node {
    let shown = semantics.to_string();
    let Some((base, changes)) = shown.split_once(" with ") else {
        return Node::string(&shown);
    };
    let mut table = Node::table([("base", Node::string(base))]);
    for change in changes.split(", ") {
        if let Some((key, operator)) = change.split_once(" = ") {
            let value = match key {
                "stable_eps" => Node::Leaf(operator.to_string()),
                _ => Node::string(operator),
            };
            table.set(key, value);
        }
    }
    table
}

/// A path of a manifest, as it is written in the directory of a run.
pub(super) fn seen_from(run: &Path, manifest: &Manifest, path: &Path) -> String {
    // What has been read has such a path; if it is gone by now, the one it had will do.
    let whole = |path: &Path| {
        let path = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
        path.unwrap_or_default()
    };
    let file = whole(&manifest.resolve(path));
    relative(&whole(run), &file).display().to_string()
}

/// The way from one folder to a file. Both paths are absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = (from.components().zip(to.components()))
        .take_while(|(a, b)| a == b)
        .count();
    let is_name = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !to.components().take(shared).any(is_name) {
        return to.to_path_buf();
    }
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(
            way("/p/runs/a", "/p/data/x.csv"),
            Path::new("../../data/x.csv")
        );
        assert_eq!(way("/p", "/p/data/x.csv"), Path::new("data/x.csv"));
        assert_eq!(way("/p/runs/a", "/p/x.csv"), Path::new("../../x.csv"));
        assert_eq!(way("/runs/a", "/data/x.csv"), Path::new("/data/x.csv"));
    }

    #[test]
    fn a_semantics_with_other_operators() {
        let changed = Semantics::default().with("or", "max").expect("it fits");
        let changed = changed.with("exists", "max").expect("it fits");
        let expected = "semantics = { base = \"logltn\", or = \"max\", exists = \"max\" }\n";
        let document = Node::table([("semantics", described(&changed))]);
        assert_eq!(document.document(), expected);
    }
}
