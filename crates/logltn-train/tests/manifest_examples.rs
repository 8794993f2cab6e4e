//! The example manifests of the language's description, read in full.

use std::path::{Path, PathBuf};

use logltn::{Semantics, Source};
use logltn_train::manifest::*;

fn parse(name: &str, text: &str) -> Manifest {
    let result = Manifest::parse(Source::new(name, text), Path::new("some/dir"));
    let (manifest, warnings) = result.unwrap_or_else(|errors| panic!("{errors}"));
    assert!(warnings.is_empty(), "{warnings}");
    manifest
}

fn names(list: &[Spanned<String>]) -> Vec<&str> {
    list.iter().map(|name| name.as_str()).collect()
}

#[test]
fn clustering() {
    let m = parse("clustering.toml", include_str!("manifests/clustering.toml"));
    assert_eq!(m.theory.value, PathBuf::from("clustering.ltn"));
    assert_eq!(m.semantics, Semantics::default());
    assert_eq!(m.source.slice(m.theory.span), "\"clustering.ltn\"");

    let point = &m.sorts["Point"];
    assert_eq!(m.source.slice(point.span), "Point");
    let Some(Individuals::Features(from)) = &point.individuals else {
        panic!("{point:?}")
    };
    assert_eq!(m.resolve(&from.file), Path::new("some/dir/pca_16d.csv"));
    assert_eq!(point.learnable, None);
    let labels = point.labels.as_ref().expect("labels");
    assert_eq!(labels.file.value, PathBuf::from("labels.csv"));
    assert_eq!(labels.column.as_ref().map(|c| c.as_str()), Some("Class"));

    let Param::Percentile { percentile, sorts } = &m.params["near"].value else {
        panic!("{:?}", m.params)
    };
    assert_eq!(percentile.value, 2.5);
    assert_eq!(names(sorts), ["Point", "Point"]);
    // The places inside the string are those of the names, not of the string.
    assert_eq!(m.source.slice(sorts[1].span), "Point");
    assert!(sorts[1].span.start > sorts[0].span.end);

    let Grounding::Network { network, output } = &m.predicates["C"].grounding else {
        panic!("{:?}", m.predicates)
    };
    assert_eq!(output.value, Output::Softmax);
    let network = m.network(network).expect("its own network");
    assert_eq!(network.shorthand.as_deref(), Some("mlp 16-16-16"));
    let layers = logltn_learn::Network::mlp(&[16; 3], Activation::Elu).layers;
    assert_eq!(network.layers, layers);
    assert_eq!(network.inputs, None);

    assert_eq!(
        m.schedule.alpha,
        Some(Schedule::new(Curve::Linear { from: 1.0, to: 4.0 }))
    );
    assert_eq!(m.schedule.training().p, Schedule::from(2.0));
    assert_eq!(m.schedule.last(false).alpha, 4.0);

    let train = m.train.as_ref().expect("[train]");
    assert_eq!(train.phases.len(), 1);
    assert_eq!(train.phases[0].length, Length::Steps(1000));
    assert_eq!(train.phases[0].axioms, None);
    assert_eq!(train.settings.optimizer, Optimizer::Adam);
    assert_eq!(train.settings.learning_rate, Schedule::from(0.002));
    assert_eq!(train.settings.seed, 0);
    assert_eq!(m.evaluate, None);
}

#[test]
fn pascal_part() {
    let m = parse(
        "pascal_part.toml",
        include_str!("manifests/pascal_part.toml"),
    );
    let Some(Individuals::LabelFile(file)) = &m.sorts["Type"].individuals else {
        panic!("{:?}", m.sorts)
    };
    assert_eq!(file.value, PathBuf::from("classes.csv"));
    assert_eq!(
        m.tables.keys().collect::<Vec<_>>(),
        ["labelled", "ontology", "pairs"]
    );
    assert_eq!(m.tables["ontology"].batch, None);
    assert_eq!(m.tables["pairs"].batch.map(|b| b.value), Some(32));

    let part_of = &m.predicates["part_of"];
    assert_eq!(names(part_of.args.as_ref().expect("args")), ["x", "y"]);
    assert_eq!(part_of.output().map(|o| o.value), Some(Output::Sigmoid));
    let network = m
        .network(part_of.network().expect("a network"))
        .expect("its own");
    let inputs = network.inputs.as_ref().expect("inputs");
    let shown: Vec<String> = inputs.iter().map(|input| input.to_string()).collect();
    assert_eq!(
        shown,
        [
            "stop(type(x))",
            "stop(type(y))",
            "x.position",
            "y.position",
            "containment(x.position, y.position)",
            "containment(y.position, x.position)",
        ]
    );
    assert!(matches!(inputs[0].value, InputExpr::Stop(_)));
    let (symbol, args) = inputs[0].call().expect("reads a predicate");
    assert_eq!((symbol.as_str(), names(args)), ("type", vec!["x"]));
    assert_eq!(m.source.slice(symbol.span), "type");
    assert_eq!(
        m.source.slice(inputs[4].span),
        "containment(x.position, y.position)"
    );

    let train = m.train.as_ref().expect("[train]");
    assert_eq!(train.phases.len(), 2);
    assert_eq!(train.phases[0].length, Length::Steps(100));
    assert_eq!(
        train.phases[0].axioms.as_deref().map(names),
        Some(vec!["types", "positives", "negatives"])
    );
    assert_eq!(train.phases[1].length, Length::Steps(900));
    assert_eq!(train.phases[1].axioms, None);

    let evaluate = m.evaluate.as_ref().expect("[evaluate]");
    assert_eq!(evaluate.every, Some(100));
    let labels: Vec<String> = evaluate.metrics.iter().map(MetricSpec::label).collect();
    assert_eq!(
        labels,
        ["balanced_accuracy(type)", "average_precision(part_of)"]
    );
    let MetricTruth::Rows(file) = &evaluate.metrics[1].truth else {
        panic!("{evaluate:?}")
    };
    assert_eq!(file.value, PathBuf::from("test_pairs.csv"));
}

/// The keys that the two examples show in comments only, and the optional ones.
#[test]
fn the_other_keys() {
    let m = parse(
        "other.toml",
        r#"
        theory = "t.ltn"
        semantics = { base = "prod", and = "min", over_axioms = "mean", stable_eps = 0 }
        [sorts]
        Person = { individuals = ["ann", "bob"], learnable = 8 }
        Image = { features = "images.idx.gz", labels = { file = "labels.idx.gz" } }
        [params]
        far = 3
        [networks.trunk]
        layers = [{ conv = [6, 5] }, "elu", { pool = 2 }, "flatten", { dense = 100 }, "tanh", { dropout = 0.25 }]
        [predicates]
        digit = { network = "trunk", output = "softmax" }
        odd = { network = { cnn = "lenet" }, output = "sigmoid" }
        linear = { network = { mlp = [] }, output = "sigmoid" }
        a = { logits = "a.csv", output = "softmax" }
        b = { truth = "b.csv" }
        c = { log_truth = "c.csv" }
        host = {}
        [functions.f]
        network = { mlp = [4], activation = "relu", inputs = ["x", "stop(g(x))"] }
        args = ["x"]
        output = "linear"
        [functions.g]
        [constants]
        alice = { row = 3 }
        carol = { learnable = 8 }
        [schedule]
        alpha = 2
        p = { exponential = [1, 16], by = "epoch" }
        p_forall = { linear = [2, 6] }
        [train]
        epochs = 10
        optimizer = "sgd"
        momentum = 0.9
        weight_decay = 1e-4
        learning_rate = { linear = [0.1, 0] }
        seed = 18446744073709551615
        clip_norm = 1.0
        checkpoint_every = 100
        early_stop = { metric = "accuracy", patience = 3 }
        [evaluate]
        metrics = [{ metric = "accuracy", predicate = "digit", labels = "Image" },
                   { metric = "row_accuracy", rows = "t.csv", table = "sums", name = "sums" },
                   { metric = "row_accuracy", table = "odds" },
                   { metric = "hits", k = 3, predicate = "likes", of = "y", filter = ["known"], rows = "l.csv" },
                   { metric = "rmse", function = "age", rows = "ages.csv" }]
        "#,
    );
    assert_eq!(
        m.semantics.to_string(),
        "prod with and = min, over_axioms = mean, stable_eps = 0"
    );
    let Some(Individuals::Names(people)) = &m.sorts["Person"].individuals else {
        panic!("{:?}", m.sorts)
    };
    assert_eq!(names(people), ["ann", "bob"]);
    assert_eq!(m.sorts["Person"].learnable.map(|n| n.value), Some(8));
    assert!(
        m.sorts["Image"]
            .labels
            .as_ref()
            .expect("labels")
            .column
            .is_none()
    );
    assert_eq!(m.params["far"].value, Param::Number(logltn::Number::Int(3)));

    let trunk = m
        .network(m.predicates["digit"].network().expect("shared"))
        .expect("trunk");
    assert_eq!(trunk.shorthand, None);
    assert_eq!(
        trunk.layers,
        [
            Layer::Conv {
                filters: 6,
                kernel: 5
            },
            Layer::Activation(Activation::Elu),
            Layer::Pool(2),
            Layer::Flatten,
            Layer::Dense(100),
            Layer::Activation(Activation::Tanh),
            Layer::Dropout(0.25),
        ]
    );
    let odd = m
        .network(m.predicates["odd"].network().expect("network"))
        .expect("own");
    assert_eq!(odd.shorthand.as_deref(), Some("lenet"));
    assert!(matches!(
        m.predicates["a"].grounding,
        Grounding::Logits { .. }
    ));
    assert!(matches!(m.predicates["b"].grounding, Grounding::Truth(_)));
    assert!(matches!(
        m.predicates["c"].grounding,
        Grounding::LogTruth(_)
    ));
    assert_eq!(
        m.predicates["host"].grounding,
        Grounding::Host { output: None }
    );
    assert!(m.functions["g"].network.is_none());
    assert!(matches!(&m.constants["alice"].value, Constant::Row(row) if row.value == 3));
    assert!(matches!(&m.constants["carol"].value, Constant::Learnable(k) if k.value == 8));

    let middle = m.schedule.training().now(Moment {
        step: 1,
        steps: 5,
        epoch: 1,
        epochs: 3,
    });
    assert_eq!((middle.alpha, middle.p, middle.p_forall), (2.0, 4.0, 3.0));

    let train = m.train.as_ref().expect("[train]");
    assert_eq!(train.phases[0].length, Length::Epochs(10));
    assert_eq!(
        train.settings.optimizer,
        Optimizer::Sgd {
            momentum: 0.9,
            weight_decay: 1e-4
        }
    );
    assert_eq!(train.settings.learning_rate.last(), 0.0);
    assert_eq!(train.settings.seed, u64::MAX);
    assert_eq!(train.settings.clip_norm, Some(1.0));
    assert_eq!(train.checkpoint_every, Some(100));
    assert_eq!(train.early_stop.as_ref().map(|stop| stop.patience), Some(3));
    let metrics = &m.evaluate.as_ref().expect("[evaluate]").metrics;
    assert!(matches!(&metrics[0].truth, MetricTruth::Labels(sort) if sort.value == "Image"));
    assert!(
        matches!(&metrics[1].truth, MetricTruth::Rows(file) if file.value.as_os_str() == "t.csv")
    );
    assert_eq!(metrics[1].of.value, "sums");
    assert_eq!(metrics[1].label(), "sums");
    assert!(matches!(&metrics[2].truth, MetricTruth::OwnRows));
    let ranking = metrics[3].ranking.as_ref().expect("how to rank");
    assert_eq!(ranking.k.map(|k| k.value), Some(3));
    assert_eq!(ranking.of.value, "y");
    assert_eq!(names(&ranking.filter), ["known"]);
    assert_eq!(metrics[4].label(), "rmse(age)");
}
