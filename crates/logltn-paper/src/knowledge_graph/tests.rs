//! A small graph, from facts to pictures.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use flate2::Compression;
use flate2::write::GzEncoder;
use logltn::Source;

use super::super::Quiet;
use super::super::jobs::run_all;
use super::*;

#[test]
fn each_configuration_has_its_half_of_the_theory() {
    assert!(theory(BOTH, 0.5).contains("linked(h, r, t) and derived(h, r, t)"));
    for (configuration, kept, left_out) in [
        (EMBEDDINGS, "linked", "derived"),
        (RULES, "derived", "linked"),
    ] {
        let text = theory(configuration, 0.5);
        assert!(
            text.contains(&format!("in train. {kept}(h, r, t)")),
            "{text}"
        );
        assert!(
            text.contains(&format!("in backwards. {kept}(t, r, h)")),
            "{text}"
        );
        assert!(!text.contains(&format!("{left_out}(")), "{text}");
        assert!(logltn::Theory::parse(Source::new("t", text)).is_ok());
    }
    let axioms = Theory::parse(Source::new("t", theory(AXIOMS, 0.25))).expect("a theory");
    let weights: Vec<f64> = axioms.axioms.iter().map(|axiom| axiom.weight).collect();
    assert_eq!(weights, [1.0, 1.0, 0.25, 0.25]);
}

/// Families of three generations, of which each has a grandparent. The grandparents of the last are not told.
fn families() -> Graph {
    let count = 12;
    let who = |family: u32, generation: u32| 3 * family + generation;
    let mut train = Vec::new();
    let mut old = Vec::new();
    for f in 0..count {
        train.extend([[who(f, 0), 0, who(f, 1)], [who(f, 1), 0, who(f, 2)]]);
        old.push([who(f, 0), 1, who(f, 2)]);
    }
    let test = old.split_off(9);
    let valid = old.split_off(7);
    train.extend(old);
    Graph {
        entities: (0..3 * count).map(|e| format!("e{e}")).collect(),
        relations: vec!["parent".into(), "grandparent".into()],
        train,
        valid,
        test,
    }
}

#[test]
fn a_rule_finds_what_embeddings_cannot() {
    let graph = families();
    let options = Options {
        epochs: Some(5),
        data: Some(Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()),
        ..Options::default()
    };
    let mut task = KnowledgeGraph::new(&options).expect("a stand-in");
    let title = &task.about.data_title;
    assert!(title.contains("STAND-IN"), "{title}");
    task.known = [&graph.train, &graph.valid, &graph.test]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    task.graph = graph;
    let job = |configuration| Job {
        configuration,
        portion: Portion::default(),
        run: 0,
        seed: 0,
    };
    let jobs = ALL.map(job);
    let folder = tempfile::tempdir().expect("a folder");
    task.prepare(&jobs, folder.path()).expect("files");
    let mined = std::fs::read_to_string(folder.path().join("mined.ltn")).expect("rules");
    assert!(mined.contains("linked(x, \"grandparent\", y)"), "{mined}");
    let stop = AtomicBool::new(false);
    let records = run_all(&task, &jobs, folder.path(), &stop, &Quiet).expect("four runs");
    let mrr = |configuration| {
        let own = records
            .iter()
            .find(|(job, _)| job.configuration == configuration);
        own.expect("a record").1.metrics["mrr"]
    };
    assert_eq!(mrr(RULES), 1.0);
    assert!(mrr(EMBEDDINGS) < 0.9, "{records:?}");
    assert!(mrr(BOTH) > mrr(EMBEDDINGS), "{records:?}");
    // That the rules are asked for is in the truth of the whole.
    let sat = |configuration| {
        let own = records
            .iter()
            .find(|(job, _)| job.configuration == configuration);
        own.expect("a record").1.sat
    };
    assert_ne!(sat(AXIOMS), sat(EMBEDDINGS));
    let drawn = task.draw(&records, folder.path()).expect("a picture");
    assert_eq!(drawn[0].1, "curves.svg");
}

#[test]
fn others_are_named_with_where_they_were_read() {
    for graph in GraphName::ALL {
        let others = published::others(graph, "mrr");
        assert!(!others.is_empty());
        let sources = published::sources(graph);
        for other in others {
            let mark = other.name.split_whitespace().last().expect("a mark");
            assert!(
                sources.iter().any(|s| s.starts_with(mark)),
                "{}",
                other.name
            );
        }
        assert!(published::others(graph, "accuracy").is_empty());
    }
}

#[test]
fn a_file_of_facts_that_is_not_one_is_an_error_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    write("train.txt", "a\tlikes\tb\na likes c\n").expect("a file");
    let errors = Graph::read(folder.path())
        .err()
        .expect("an error")
        .to_string();
    assert!(errors.contains("train.txt:2"), "{errors}");
    write("train.txt", "a\tlikes\tb\n").expect("a file");
    write("facts.txt", "a\tlikes\tb\nb\tlikes\ta\n").expect("a file");
    write("valid.txt", "a\thates\tc\n").expect("a file");
    write("test.txt", "").expect("a file");
    let errors = Graph::read(folder.path())
        .err()
        .expect("an error")
        .to_string();
    assert!(errors.contains("test.txt"), "{errors}");
    write("test.txt", "c\tlikes\ta\n").expect("a file");
    let graph = Graph::read(folder.path()).expect("a graph");
    assert_eq!(graph.train, [[0, 0, 1], [1, 0, 0]]);
    assert_eq!((graph.entities.len(), graph.both_ways().len()), (3, 4));
    assert_eq!(graph.test, [[2, 0, 0]]);
    // Gzipped, it is the same graph.
    for name in ["facts.txt", "train.txt", "test.txt"] {
        let path = folder.path().join(name);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed
            .write_all(&std::fs::read(&path).expect("a file"))
            .expect("packed");
        let packed = packed.finish().expect("packed");
        std::fs::write(path.with_extension("txt.gz"), packed).expect("a file");
        std::fs::remove_file(path).expect("removed");
    }
    let unpacked = Graph::read(folder.path()).expect("a graph");
    assert_eq!(
        (unpacked.entities, unpacked.train, unpacked.test),
        (graph.entities, graph.train, graph.test)
    );
}
