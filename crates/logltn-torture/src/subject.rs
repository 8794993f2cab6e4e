//! The training that is tortured: small, with all that a checkpoint has to know (batches, dropout, moments, schedules,
//! metrics, early stopping).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::program::{Harm, run};
use crate::results::Results;

const FILES: [(&str, &str); 4] = [
    (
        "t.ltn",
        "sort Point
sort Colour = {red, green}
table labelled(x: Point, c: Colour)
predicate shows(Point, Colour)
predicate near(Point, Point)
axiom examples: forall (x, c) in labelled. shows(x, c)
axiom each for c: Colour: exists x: Point. shows(x, c)
axiom alike (weight 0.5): forall x, y: Point where dist(x, y) < 1.5. near(x, y) -> (shows(x, red) <-> shows(y, red))
",
    ),
    (
        "m.toml",
        "theory = 't.ltn'
[sorts.Point]
features = 'points.csv'
[tables]
labelled = { rows = 'labelled.csv', batch = 2 }
[predicates.shows]
args = ['x', 'c']
network = { layers = [{ dense = 4 }, 'tanh', { dropout = 0.3 }] }
output = 'softmax'
[predicates.near]
network = { mlp = [3], activation = 'elu' }
output = 'sigmoid'
[schedule]
alpha = { linear = [1, 4] }
[train]
steps = 9
checkpoint_every = 2
optimizer = 'adam'
learning_rate = { exponential = [0.05, 0.01] }
early_stop = { metric = 'right', patience = 50 }
seed = 7
[evaluate]
every = 3
metrics = [{ metric = 'accuracy', predicate = 'shows', rows = 'labelled.csv', name = 'right' }]
",
    ),
    ("points.csv", "a,b\n0.5,-1\n1.25,0.75\n-0.5,0.25\n0.1,1.5\n-1,-0.5\n"),
    ("labelled.csv", "x,c\n0,red\n1,green\n2,red\n3,green\n4,red\n"),
];

/// The project in its own folder, with a run in `run` or soon to be.
pub struct Subject {
    folder: TempDir,
}

impl Subject {
    /// Without a run.
    pub fn new() -> Subject {
        let folder = TempDir::new().expect("a temporary folder");
        for (name, text) in FILES {
            fs::write(folder.path().join(name), text).expect("a temporary file");
        }
        Subject { folder }
    }

    /// With a copy of a run.
    pub fn with_run(run: &Path) -> Subject {
        let subject = Subject::new();
        copy(run, &subject.run_folder());
        subject
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn run_folder(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// The words that train it, with whole paths, as the library of faults wants them.
    pub fn train(&self, resume: bool) -> Vec<String> {
        let (manifest, run) = (self.path().join("m.toml"), self.run_folder());
        let mut words = vec!["train".to_string(), manifest.display().to_string()];
        words.extend(["--out".to_string(), run.display().to_string()]);
        words.extend(["--threads", "2", "--tensorboard"].map(str::to_string));
        words.extend(resume.then(|| "--resume".to_string()));
        words
    }

    /// Whether the user's own files are as they were.
    pub fn untouched(&self) -> Result<(), String> {
        for (name, text) in FILES {
            if fs::read(self.path().join(name)).ok().as_deref() != Some(text.as_bytes()) {
                return Err(format!("{name} has changed"));
            }
        }
        Ok(())
    }
}

/// Copies a folder.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a temporary folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(fs::copy(&path, &to).expect("a temporary file")),
        }
    }
}

/// The same training, undisturbed.
pub struct Undisturbed {
    pub subject: Subject,
    pub results: Results,
    pub took: Duration,
}

/// It, made once in a process.
pub fn undisturbed() -> &'static Undisturbed {
    static MADE: OnceLock<Undisturbed> = OnceLock::new();
    MADE.get_or_init(|| {
        let subject = Subject::new();
        let words = subject.train(false);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let begun = Instant::now();
        let ended =
            run(subject.path(), &words, &Harm::default()).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(ended.status, Some(0), "{ended:?}");
        let took = begun.elapsed();
        let results = Results::of(&subject.run_folder()).unwrap_or_else(|wrong| panic!("{wrong}"));
        Undisturbed {
            subject,
            results,
            took,
        }
    })
}
