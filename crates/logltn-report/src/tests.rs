//! Reports of short, long and odd runs.

use std::fs;

use logltn_train::run_directory::{
    AxiomInfo, RunDirectory, RunInfo, RunStatus, StepRecord, WholeInfo, WholeTruth,
};

use super::html::number;
use super::*;

fn summary(steps: u64, axioms: usize) -> RunSummary {
    RunSummary {
        title: "a <b> & \"c\"".into(),
        facts: vec![("seed".into(), "<0>".into())],
        theory: "axiom a: forall x: P. p(x) -> q(x)  # <script>".into(),
        axiom_names: (0..axioms)
            .map(|i| format!("axiom_{i}[</script>]"))
            .collect(),
        axiom_weights: vec![1.0; axioms],
        logs: Some(true),
        whole: None,
        steps: (1..=steps).map(|step| record(step, axioms)).collect(),
        pictures: vec![Picture {
            title: "points".into(),
            png: b"\x89PNG".to_vec(),
        }],
        ..RunSummary::default()
    }
}

fn record(step: u64, axioms: usize) -> StepRecord {
    let loss = 1.0 / step as f64;
    StepRecord {
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
        ..StepRecord::default()
    }
}

/// The names of a page's elements must be closed in the order they were opened.
fn check_nesting(page: &str) {
    const VOID: [&str; 3] = ["meta", "img", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let tag = &rest[at + 1..];
        let end = tag.find('>').expect("a tag ends");
        let (inside, after) = (&tag[..end], &tag[end + 1..]);
        let name = inside
            .split([' ', '/'])
            .find(|part| !part.is_empty())
            .unwrap();
        rest = after;
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !inside.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
            if name == "script" || name == "style" {
                let close = rest.find(&format!("</{name}>")).expect("it is closed");
                rest = &rest[close..];
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_page_is_whole_and_needs_nothing_else() {
    let report = Report::new(&summary(100, 3));
    let page = report.html();
    check_nesting(&page);
    for chart in [
        "loss",
        "sat",
        "axioms",
        "log_axioms",
        "metrics",
        "gradient_norm",
        "step_time",
    ] {
        assert!(page.contains(&format!("data-chart=\"{chart}\"")), "{chart}");
    }
    assert!(page.contains("<h1>a &lt;b&gt; &amp; &quot;c&quot;</h1>"));
    assert!(page.contains("data:image/png;base64,iVBORw=="));
    assert!(page.contains("# &lt;script&gt;"));
    for outside in ["http://", "https://", "src=\"/", "@import", "url("] {
        // The name of the SVG namespace is no address.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn the_data_for_hovering_is_json() {
    let page = Report::new(&summary(50, 2)).html();
    let mut found = 0;
    for part in page.split("<script type=\"application/json\">").skip(1) {
        let text = part.split("</script>").next().unwrap();
        let data: serde_json::Value = serde_json::from_str(text).unwrap();
        let series = data["series"].as_array().unwrap();
        for one in series {
            assert_eq!(
                one["x"].as_array().unwrap().len(),
                one["y"].as_array().unwrap().len()
            );
        }
        if series.len() == 2 {
            assert_eq!(series[1]["name"], "axiom_0[</script>]");
            assert_eq!(series[0]["x"].as_array().unwrap().len(), 50);
        }
        found += 1;
    }
    assert_eq!(found, 7);
}

#[test]
fn axioms_are_in_a_table_with_their_change() {
    let page = Report::new(&summary(4, 2)).html();
    // The log of axiom 1 goes from −2 to −0.5, its truth from 0.1353 to 0.6065, and it is the least satisfied.
    let row = "<tr><td class=\"name\">axiom_1[&lt;/script&gt;]</td><td>1</td><td>0.6065</td>\
               <td class=\"better\">+0.4712</td><td>−0.5</td><td class=\"better\">+1.5</td>";
    assert!(page.contains("<th>truth</th><th>change</th><th>log truth</th><th>change</th>"));
    assert!(
        page.contains("<b>0.7788</b><span title=\"satisfaction in the last step (log −0.25)\">")
    );
    assert!(page.contains(row));
    assert!(page.find("axiom_1[&lt;").unwrap() < page.find("axiom_0[&lt;").unwrap());
    assert!(!page.contains("All 2 axioms"));
}

#[test]
fn truth_degrees_are_shown_as_they_are() {
    let mut summary = summary(0, 1);
    summary.steps = vec![StepRecord {
        step: 1,
        sat: 0.25,
        axioms: vec![0.25],
        ..StepRecord::default()
    }];
    for logs in [Some(false), None] {
        summary.logs = logs;
        let page = Report::new(&summary).html();
        assert!(page.contains("<b>0.25</b><span title=\"satisfaction in the last step\">"));
        assert!(!page.contains("log truth") && !page.contains("log_axioms"));
    }
    // Logs that nobody calls so are told by their sign, and degrees too small to be seen have no chart.
    summary.logs = None;
    summary.steps[0].sat = -900.0;
    summary.steps[0].axioms[0] = -900.0;
    let page = Report::new(&summary).html();
    assert!(page.contains("log truth") && page.contains("Satisfaction of the theory (log)"));
    assert!(page.contains("data-chart=\"log_axioms\"") && !page.contains("data-chart=\"axioms\""));
}

#[test]
fn all_metrics_are_shown() {
    let mut summary = summary(0, 1);
    summary.steps = (1..=3)
        .map(|step| StepRecord {
            step,
            metrics: (0..20)
                .map(|i| (format!("metric_{i}"), if i == 7 { 987.0 } else { 0.5 }))
                .collect(),
            ..record(step, 1)
        })
        .collect();
    let report = Report::new(&summary);
    let page = report.html();
    check_nesting(&page);
    for i in 0..20 {
        let value = if i == 7 { "987" } else { "0.5" };
        let row = format!("<tr><td class=\"name\">metric_{i}</td><td>{value}</td><td>{value}</td>");
        assert!(page.contains(&row), "{i}");
        assert!(page.contains(&format!("\"name\":\"metric_{i}\"")), "{i}");
        let tile = format!("<b>{value}</b><span title=\"metric_{i}\">");
        assert!(page.contains(&tile), "{i}");
    }
    // No two of a chart look alike.
    let keys: Vec<&str> = (page.split("<path d=\"M2 2H32\"").skip(1))
        .map(|key| key.split("/>").next().unwrap_or_default())
        .collect();
    let mut different = keys.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!((keys.len(), different.len()), (19, 19));
    // An error of 987 does not flatten the others.
    assert!(
        page.contains("data-chart=\"metrics\"") && page.contains("data-chart=\"large_metrics\"")
    );
    let plots = report.plots().unwrap();
    let (_, png) = plots.iter().find(|(name, _)| *name == "metrics").unwrap();
    let read = tiny_skia::Pixmap::decode_png(png).unwrap();
    assert!(read.height() > 880, "{}", read.height());
}

#[test]
fn a_long_run_of_many_axioms_makes_a_small_page() {
    let mut report = Report::new(&summary(0, 2000));
    for step in 1..=2000 {
        report.push(&record(step, 2000));
    }
    let page = report.html();
    check_nesting(&page);
    assert!(page.contains("the 30 least satisfied of 2000"));
    assert!(page.contains("All 2000 axioms"));
    assert!(page.contains("axiom_1234["));
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

#[test]
fn runs_with_little_in_them_have_a_report() {
    let nothing = Report::new(&RunSummary::default());
    check_nesting(&nothing.html());
    assert!(nothing.html().contains("No step has been recorded yet"));
    assert!(nothing.plots().unwrap().is_empty());

    let one = Report::new(&summary(1, 1));
    check_nesting(&one.html());
    assert_eq!(one.plots().unwrap().len(), 6);

    let mut odd = Report::new(&summary(0, 2));
    odd.push(&StepRecord {
        step: 1,
        loss: f64::NAN,
        sat: f64::INFINITY,
        axioms: vec![f64::NAN, f64::NEG_INFINITY],
        metrics: vec![("ari".into(), f64::NAN)],
        gradient_norm: f64::MAX,
        step_time: 0.0,
        ..StepRecord::default()
    });
    check_nesting(&odd.html());
    assert_eq!(odd.plots().unwrap().len(), 2);
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
    let page = from_run_directory(&dir).unwrap().html();
    assert!(page.contains("<h1>clusters</h1>") && page.contains("smooth"));
    assert!(!page.contains("<th>weight</th>"));

    run.write_theory("sort Point\n").unwrap();
    run.write_info(&RunInfo {
        title: "clustering.toml".into(),
        seed: 7,
        status: RunStatus::Failed,
        reason: "the loss is not finite".into(),
        axioms: (names.iter())
            .map(|name| AxiomInfo {
                name: name.clone(),
                weight: 0.25,
                ..AxiomInfo::default()
            })
            .collect(),
        ..RunInfo::default()
    })
    .unwrap();
    fs::create_dir(dir.join("pictures")).unwrap();
    let picture = dir.join("pictures/the_clusters.png");
    scatter_png(&[(0.0, 0.0)], &[0], &[], "", &picture).unwrap();
    let report = from_run_directory(&dir).unwrap();
    let path = report.write(&dir).unwrap();
    let page = fs::read_to_string(path).unwrap();
    for expected in [
        "<h1>clustering.toml</h1>",
        "failed: the loss is not finite",
        "<td>0.25</td>",
        "sort Point",
        "the clusters</figcaption>",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    for plot in [
        "loss",
        "sat",
        "axioms",
        "log_axioms",
        "metrics",
        "gradient_norm",
        "step_time",
    ] {
        let png = fs::read(dir.join(format!("plots/{plot}.png"))).unwrap();
        let read = tiny_skia::Pixmap::decode_png(&png).unwrap();
        assert_eq!((read.width(), read.height()), (1800, 880));
    }
    assert!(from_run_directory(folder.path()).is_err());
}

#[test]
fn numbers_have_four_digits() {
    for (value, text) in [
        (0.0, "0"),
        (1.0, "1"),
        (-0.123_456, "−0.1235"),
        (123_456.7, "123457"),
        (99.999_99, "100"),
        (0.000_123_456, "0.000123"),
        (-1e-9, "−1.000e−9"),
        (1e12, "1.000e12"),
    ] {
        assert_eq!(number(Some(value)), text);
    }
    assert_eq!(number(None), "–");
    assert_eq!(number(Some(f64::NAN)), "–");
}

#[test]
fn violations_are_shown_with_their_pictures() {
    let grey: Vec<f32> = (0..64).map(|i| i as f32 / 63.0).collect();
    let png = crate::features_png(&[1, 8, 8], &grey).expect("a picture");
    assert!(png.starts_with(b"\x89PNG"));
    assert_eq!(crate::features_png(&[64], &grey), None);
    assert_eq!(crate::features_png(&[8, 9], &grey), None);
    let mut report = Report::new(&RunSummary::default());
    assert!(!report.html().contains("What breaks"));
    report.set_violated(vec![crate::Violated {
        axiom: "sums".into(),
        groundings: 12,
        worst: vec![crate::Culprits {
            binding: "x = <7>".into(),
            truth: 0.25,
            pictures: vec![Picture {
                title: "x = 7: digit 3, to satisfy it 5".into(),
                png,
            }],
            literals: vec![
                ("digit(7, 5)".into(), 0.1, 0.9),
                ("digit(8, 2)".into(), 0.8, 0.1),
            ],
            witnesses: vec!["at best d = 5: exists d: Digit. digit(x, d)".into()],
        }],
    }]);
    let page = report.html();
    for part in [
        "sums: down to 0.25",
        "x = &lt;7&gt;",
        "to satisfy it 5",
        "digit(8, 2)",
        "at best d = 5",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_metric_that_moves_is_seen_to() {
    let mut summary = summary(0, 1);
    summary.steps = [2.538_01, 2.537_92, 2.538_22, 2.538_11]
        .into_iter()
        .zip(1..)
        .map(|(value, step)| StepRecord {
            step,
            metrics: vec![("error".into(), value), ("still".into(), 0.5)],
            ..record(step, 1)
        })
        .collect();
    let page = Report::new(&summary).html();
    let numbers = "<td>2.538</td><td>2.5381</td><td>2.5379</td><td>2.5382</td>";
    assert!(page.contains(numbers), "{page}");
    assert!(page.contains("<td>0.5</td><td>0.5</td><td>0.5</td><td>0.5</td>"));
}

#[test]
fn what_a_run_came_to_is_the_whole_theory() {
    let truth = |sat: f64| WholeTruth {
        sat,
        loss: -sat,
        axioms: vec![sat, 2.0 * sat],
    };
    let mut summary = summary(3, 2);
    summary.whole = Some(WholeInfo {
        alpha: 4.0,
        p: 2.0,
        p_forall: 2.0,
        first: Some(truth(-2.0)),
        last: Some(truth(-0.25)),
    });
    let page = Report::new(&summary).html();
    assert!(page.contains("<span title=\"satisfaction of the whole theory (log −0.25)\">"));
    assert!(page.contains("<b>0.25</b><span title=\"loss of the whole theory\">"));
    assert!(page.contains("both at alpha 4, p 2, p_forall 2"));
    assert!(page.contains("<td>0.7788</td><td class=\"better\">+0.6435</td><td>−0.25</td><td class=\"better\">+1.75</td>"));
    // A run that does not say is shown by its last step.
    summary.whole.as_mut().expect("it").last = None;
    let page = Report::new(&summary).html();
    assert!(page.contains("satisfaction in the last step") && !page.contains("whole theory"));
}

#[test]
fn logs_above_0_are_called_capped_and_no_axis_of_degrees_goes_beyond_1() {
    let mut summary = summary(0, 1);
    summary.logs = Some(true);
    summary.steps = (1..4)
        .map(|step| StepRecord {
            step,
            sat: 1.5,
            axioms: vec![1.5],
            ..StepRecord::default()
        })
        .collect();
    let report = Report::new(&summary);
    let page = report.html();
    assert!(
        page.contains("<b>1</b><span title=\"satisfaction in the last step (capped, log 1.5)\">")
    );
    assert!(page.contains("<td>1 (capped)</td>") && page.contains("<td>1.5</td>"));
    assert!(page.contains("Satisfaction of the theory (0 to 1, logs above 0 capped)"));
    for named in report.charts().iter().filter(|named| named.chart.degrees) {
        let mut drawn = named.chart.clone();
        drawn.size = (540.0, 280.0);
        let marks = format!("{:?}", drawn.draw().drawing);
        assert!(
            !marks.contains("\"1.05\"") && !marks.contains("\"1.1"),
            "{marks}"
        );
    }
}
