//! Reports of short, long and odd runs.

use std::fs;

use logltn_train::run_directory::{AxiomInfo, RunDirectory, RunInfo, RunStatus, StepRecord};
use serde_json::{Value, json};

use super::*;

fn summary(steps: u64, axioms: usize) -> RunSummary {
    let names: Vec<String> = (0..axioms)
        .map(|i| format!("axiom_{i}[</script>]"))
        .collect();
    RunSummary {
        name: "a <b> & \"c\"".into(),
        info: RunInfo {
            logs: Some(true),
            axioms: infos(&names),
            ..RunInfo::default()
        },
        theory: "axiom a: forall x: P. p(x) -> q(x)  # <script>".into(),
        axiom_names: names,
        steps: (1..=steps).map(|step| record(step, axioms)).collect(),
        pictures: vec![Picture {
            title: "points".into(),
            bytes: b"\x89PNG".to_vec(),
        }],
        ..RunSummary::default()
    }
}

fn infos(names: &[String]) -> Vec<AxiomInfo> {
    let info = |name: &String| AxiomInfo {
        left_out: 0,
        hard: false,
        name: name.clone(),
        weight: 0.25,
        groundings: Some(7),
    };
    names.iter().map(info).collect()
}

fn record(step: u64, axioms: usize) -> StepRecord {
    let loss = 1.0 / step as f64;
    StepRecord {
        left_out: Vec::new(),
        step,
        loss,
        sat: -loss,
        axioms: (0..axioms).map(|i| -loss * (i + 1) as f64).collect(),
        metrics: if step.is_multiple_of(10) {
            vec![("ari".into(), 1.0 - loss)]
        } else {
            vec![]
        },
        gradient_norm: loss * loss,
        step_time: 0.001,
    }
}

/// What a page holds.
fn data(page: &str) -> Value {
    let data = page.split("id=\"data\">").nth(1).expect("data");
    let data = data.split("</script>").next().expect("an end");
    serde_json::from_str(data).expect("JSON")
}

/// The curve of that key.
fn curve<'a>(curves: &'a Value, key: &str) -> &'a Value {
    let series = curves["series"].as_array().expect("a list");
    let found = series.iter().find(|one| one["key"] == key);
    found.unwrap_or_else(|| panic!("no {key}"))
}

#[test]
fn a_page_holds_its_run() {
    let page = Report::new(&summary(100, 3)).html();
    assert!(page.contains("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"));
    let data = data(&page);
    let name = "a <b> & \"c\"";
    assert_eq!(data["runs"][0]["id"], name);
    assert_eq!(data["runs"][0]["step"], 100);
    assert_eq!(data["runs"][0]["metrics"], json!([["ari", 0.99]]));
    let details = &data["details"][name];
    assert_eq!(
        details["pictures"][0]["source"],
        "data:image/png;base64,iVBORw=="
    );
    assert!(details["theory"].as_str().unwrap().ends_with("# <script>"));
    assert_eq!(details["axioms"][2]["weight"], 0.25);
    let curves = &data["curves"][name];
    for key in [
        "loss",
        "sat",
        "gradient norm",
        "step time",
        "axiom:axiom_2[</script>]",
    ] {
        let curve = curve(curves, key);
        assert_eq!(curve["x"].as_array().unwrap().len(), 100, "{key}");
        assert_eq!(curve["y"].as_array().unwrap().len(), 100, "{key}");
    }
    assert_eq!(
        curve(curves, "metric:ari")["x"].as_array().unwrap().len(),
        10
    );
    assert_eq!(curve(curves, "loss")["y"][3], 0.25);
    // The least satisfied come first.
    let order: Vec<&str> = (curves["series"].as_array().unwrap().iter())
        .filter_map(|one| one["key"].as_str()?.strip_prefix("axiom:"))
        .collect();
    assert_eq!(order[0], "axiom_2[</script>]");
}

#[test]
fn truths_are_logs_if_one_is_below_zero() {
    let mut summary = summary(0, 1);
    summary.info.logs = None;
    for (truth, logs) in [(0.25, false), (-0.25, true)] {
        summary.steps = vec![StepRecord {
            step: 1,
            sat: truth,
            axioms: vec![truth],
            ..StepRecord::default()
        }];
        let data = data(&Report::new(&summary).html());
        assert_eq!(data["runs"][0]["logs"], logs);
        assert_eq!(data["curves"][&summary.name]["logs"], logs);
    }
}

#[test]
fn a_long_run_of_many_axioms_makes_a_small_page() {
    let mut report = Report::new(&summary(0, 2000));
    for step in 1..=2000 {
        report.push(&record(step, 2000));
    }
    let page = report.html();
    let data = data(&page);
    let name = data["runs"][0]["id"].as_str().unwrap();
    let curves = &data["curves"][name];
    assert_eq!(
        curves["last"].as_array().unwrap().len(),
        2000,
        "all have their last truth"
    );
    let loss = curve(curves, "loss");
    assert!(loss["x"].as_array().unwrap().len() <= 512 && loss["low"].is_array());
    // No spike is lost.
    assert_eq!(loss["high"][0], 1.0);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}

#[test]
fn runs_with_little_in_them_have_a_report() {
    let nothing = Report::new(&RunSummary::default());
    assert_eq!(data(&nothing.html())["runs"][0]["loss"], Value::Null);
    assert!(nothing.plots().is_empty());

    let one = Report::new(&summary(1, 1));
    assert_eq!(data(&one.html())["runs"][0]["step"], 1);
    assert_eq!(one.plots().len(), 6);

    let mut odd = Report::new(&summary(0, 2));
    odd.push(&StepRecord {
        left_out: Vec::new(),
        step: 1,
        loss: f64::NAN,
        sat: f64::INFINITY,
        axioms: vec![f64::NAN, f64::NEG_INFINITY],
        metrics: vec![("ari".into(), f64::NAN)],
        gradient_norm: f64::MAX,
        step_time: 0.0,
    });
    assert_eq!(data(&odd.html())["runs"][0]["sat"], Value::Null);
    assert_eq!(odd.plots().len(), 2);
}

#[test]
fn a_large_metric_does_not_flatten_the_others() {
    let mut summary = summary(0, 1);
    let metrics = (0..20).map(|i| (format!("metric_{i}"), if i == 7 { 987.0 } else { 0.5 }));
    let metrics: Vec<(String, f64)> = metrics.collect();
    summary.steps = (1..=3)
        .map(|step| StepRecord {
            step,
            metrics: metrics.clone(),
            ..record(step, 1)
        })
        .collect();
    let plots = Report::new(&summary).plots();
    let (_, large) = plots
        .iter()
        .find(|(name, _)| *name == "large_metrics")
        .unwrap();
    assert!(large.contains(">metric_7</text>"));
    let (_, small) = plots.iter().find(|(name, _)| *name == "metrics").unwrap();
    assert!(small.contains(">metric_8</text>") && !small.contains(">metric_7</text>"));
}

#[test]
fn a_report_is_made_from_a_run_directory() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("clusters");
    let run = RunDirectory::create(&dir).unwrap();
    let names: Vec<String> = vec!["covered".into(), "smooth".into()];
    let mut log = run.metrics_log(&names, &["ari".into()], None).unwrap();
    for step in 1..=20 {
        log.append(&record(step, 2)).unwrap();
    }
    log.sync().unwrap();
    // From the metrics alone.
    let page = data(&from_run_directory(&dir).unwrap().html());
    assert_eq!(page["runs"][0]["id"], "clusters");
    assert_eq!(page["curves"]["clusters"]["last"][1][0], "smooth");

    run.write_theory("sort P\npredicate p(P)\naxiom covered: not forall x: P. p(x)\n")
        .unwrap();
    run.write_info(&RunInfo {
        title: "clustering.toml".into(),
        seed: u64::MAX,
        status: RunStatus::Failed,
        reason: "the loss is not finite".into(),
        axioms: infos(&names),
        ..RunInfo::default()
    })
    .unwrap();
    fs::create_dir(dir.join("pictures")).unwrap();
    let picture = dir.join("pictures/the_clusters.svg");
    write_scatter(&[ScatterPanel::default()], 1, "", &picture).unwrap();
    let report = from_run_directory(&dir).unwrap();
    let path = report.write(&dir).unwrap();
    let page = fs::read_to_string(path).unwrap();
    assert!(page.contains("<title>clustering.toml</title>"));
    let page = data(&page);
    let (listed, details) = (&page["runs"][0], &page["details"]["clusters"]);
    assert_eq!(
        (&listed["state"], &listed["reason"]),
        (&json!("failed"), &json!("the loss is not finite"))
    );
    assert_eq!(listed["seed"], u64::MAX.to_string());
    assert_eq!(
        details["axioms"][0],
        json!({"name": "covered", "family": "covered", "weight": 0.25, "groundings": 7})
    );
    assert_eq!(
        details["formulas"]["covered"]["written"],
        "not forall x: P. p(x)"
    );
    assert_eq!(
        details["formulas"]["covered"]["normal"],
        "exists x: P. not p(x)"
    );
    let picture = &details["pictures"][0];
    assert_eq!(picture["title"], "the clusters");
    let source = picture["source"].as_str().unwrap();
    assert!(source.starts_with("data:image/svg+xml;base64,"), "{source}");
    for plot in [
        "loss",
        "sat",
        "axioms",
        "log_axioms",
        "metrics",
        "gradient_norm",
        "step_time",
    ] {
        let svg = fs::read_to_string(dir.join(format!("plots/{plot}.svg"))).unwrap();
        assert!(
            svg.contains("width=\"900\"") && svg.contains("<polyline"),
            "{plot}"
        );
    }
    assert!(from_run_directory(folder.path()).is_err());
}

#[test]
fn violations_come_with_their_pictures() {
    let grey: Vec<f32> = (0..64).map(|i| i as f32 / 63.0).collect();
    let png = crate::features_png(&[1, 8, 8], &grey).expect("a picture");
    assert!(png.starts_with(b"\x89PNG"));
    assert_eq!(crate::features_png(&[64], &grey), None);
    assert_eq!(crate::features_png(&[8, 9], &grey), None);
    let mut report = Report::new(&RunSummary::default());
    report.violated = vec![crate::Violated {
        axiom: "sums".into(),
        truth: 0.5,
        log: Some(-0.7),
        groundings: 12,
        worst: vec![crate::Culprits {
            binding: "x = <7>".into(),
            truth: 0.25,
            log: None,
            pictures: vec![Picture {
                title: "x = 7: digit 3, to satisfy it 5".into(),
                bytes: png,
            }],
            literals: vec![("digit(7, 5)".into(), 0.1, 0.9)],
            witnesses: vec!["witness d = 5: exists d: Digit. digit(x, d)".into()],
        }],
    }];
    let data = data(&report.html());
    let told = &data["explained"][""]["sums"];
    assert_eq!(
        (&told["truth"], &told["groundings"]),
        (&json!(0.5), &json!(12))
    );
    let worst = &told["worst"][0];
    assert_eq!(worst["literals"], json!([["digit(7, 5)", 0.1, 0.9]]));
    assert!(
        worst["pictures"][0]["source"]
            .as_str()
            .unwrap()
            .starts_with("data:image/png")
    );
}
