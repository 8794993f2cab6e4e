//! Small projects in their own folders.
#![allow(dead_code)] // each test uses its part

use logltn::Diagnostics;
use logltn_train::project::Project;
use logltn_train::train::{TrainOptions, Trainer};
use tempfile::TempDir;

/// A folder with files, one of them a manifest `m.toml`.
pub struct Folder {
    pub dir: TempDir,
}

impl Folder {
    pub fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder {
            dir: TempDir::new().expect("a temporary folder"),
        };
        for (name, content) in files {
            folder.write(name, content.as_bytes());
        }
        folder
    }

    pub fn write(&self, name: &str, content: &[u8]) {
        std::fs::write(self.dir.path().join(name), content).expect("a file");
    }

    /// An array of floats in numpy's format.
    pub fn npy(&self, name: &str, shape: &[usize], values: &[f32]) {
        let sizes: Vec<String> = shape.iter().map(|n| format!("{n}, ")).collect();
        let mut header = format!(
            "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}",
            sizes.concat()
        );
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        self.write(name, &bytes);
    }

    pub fn project(&self) -> Project {
        let mut found = Diagnostics::new();
        let project = Project::load(&self.dir.path().join("m.toml"), &mut found);
        project.unwrap_or_else(|| panic!("{found}"))
    }

    pub fn trainer(&self) -> Trainer {
        let trainer = Trainer::new(self.project(), &TrainOptions::default());
        trainer.unwrap_or_else(|errors| panic!("{errors}"))
    }
}
