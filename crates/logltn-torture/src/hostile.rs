//! Projects with one mutated file, given to the program: an answer in time and within the memory, with a documented status and
//! a message on refusal, and no NaN or infinite number.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::mutate;
use crate::program::{Attempt, Harm, run};
use crate::rng::Rng;
use crate::subject::Subject;

/// What plans, networks and data may take, and what the process may have in all: code, stacks and the allocator's reserves.
const BUDGET: &str = "256MB";
const ADDRESS_SPACE: u64 = 1 << 31;

struct Project {
    manifest: &'static str,
    /// Whether it has networks to train, or numbers to evaluate.
    trains: bool,
    files: Vec<(String, Vec<u8>)>,
}

/// One project.
pub fn attempt(rng: &mut Rng, _: u64) -> Attempt {
    let projects = projects();
    let project = rng.pick(projects);
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let hit = rng.below(project.files.len());
    let mut said = String::new();
    for (at, (name, bytes)) in project.files.iter().enumerate() {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder.path())).map_err(|e| e.to_string())?;
        let mutated = (at == hit).then(|| {
            // With pieces of files of the same kind, from all projects.
            let ending = name.rsplit('.').next().unwrap_or_default();
            let files = projects.iter().flat_map(|project| &project.files);
            let alike: Vec<Vec<u8>> = files
                .filter(|(other, _)| other.ends_with(ending))
                .map(|(_, bytes)| bytes.clone())
                .collect();
            match rng.chance(0.7) {
                true => mutate::words(rng, bytes, &alike),
                false => mutate::bytes(rng, bytes, &alike),
            }
        });
        if let Some(mutated) = &mutated {
            said = format!("{name}:\n{}", String::from_utf8_lossy(mutated));
        }
        fs::write(path, mutated.as_ref().unwrap_or(bytes)).map_err(|e| e.to_string())?;
    }
    let manifest = project.manifest;
    let train = [
        "train",
        manifest,
        "--steps",
        "2",
        "--out",
        "torture-run",
        "--memory",
        BUDGET,
    ];
    let command: &[&str] = match (rng.chance(0.3), project.trains) {
        (true, _) => &["check", manifest, "--memory", BUDGET],
        (false, true) => &train,
        (false, false) => &["eval", manifest, "--memory", BUDGET],
    };
    let harm = Harm {
        memory: Some(ADDRESS_SPACE),
        ..Harm::default()
    };
    let ended = run(folder.path(), command, &harm).map_err(|wrong| format!("{wrong}\n{said}"))?;
    let status = ended
        .documented()
        .map_err(|wrong| format!("{command:?}: {wrong}\n{said}"))?;
    let no_number = |word: &str| ["NaN", "nan", "-inf", "inf"].contains(&word);
    if status == 0
        && ended.stdout.split_whitespace().any(no_number)
        && !said.contains("nan")
        && !said.contains("inf")
    {
        return Err(format!(
            "{command:?}: no number, and status 0: {ended:?}\n{said}"
        ));
    }
    Ok(match status {
        0 => "done",
        1 => "failed",
        _ => "refused",
    })
}

/// Those of the conformance cases, and the subject of all other tortures.
fn projects() -> &'static [Project] {
    static READ: OnceLock<Vec<Project>> = OnceLock::new();
    READ.get_or_init(|| {
        let files = |folder: PathBuf| -> Vec<(String, Vec<u8>)> {
            let mut files: Vec<_> = (fs::read_dir(&folder).expect("a folder").flatten())
                .filter(|entry| entry.path().is_file())
                .map(|entry| {
                    (
                        entry.file_name().to_string_lossy().into_owned(),
                        fs::read(entry.path()).expect("a file"),
                    )
                })
                .filter(|(name, _)| name != "expected.json")
                .collect();
            files.sort();
            files
        };
        let subject = Subject::new();
        let mut projects = vec![Project {
            manifest: "m.toml",
            trains: true,
            files: files(subject.path().to_path_buf()),
        }];
        let mut cases: Vec<PathBuf> = (fs::read_dir(mutate::root().join("conformance"))
            .expect("cases")
            .flatten())
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
        cases.sort();
        for case in cases {
            projects.push(Project {
                manifest: "case.toml",
                trains: false,
                files: files(case),
            });
        }
        // As often as all others together.
        for _ in 1..projects.len() {
            projects.push(Project {
                manifest: "m.toml",
                trains: true,
                files: projects[0].files.clone(),
            });
        }
        projects
    })
}
