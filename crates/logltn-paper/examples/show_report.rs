//! Makes a report, the other kinds of pictures and TensorBoard events from a simulated run, to look at:
//! `cargo run -p logltn-paper --example show_report -- DIR [STEPS AXIOMS]`.

use std::f64::consts::TAU;
use std::path::Path;

use logltn::Diagnostics;
use logltn_paper::standin::{CLUSTERING_DIMENSIONS, clustering_points};
use logltn_report::{
    LinesOptions, Picture, Report, RunSummary, ScatterPanel, Series, lines_png, panels_png, pca_2d,
    scatter_png,
};
use logltn_train::run_directory::StepRecord;
use logltn_train::tensorboard::EventWriter;

fn main() -> Result<(), Diagnostics> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments
        .next()
        .unwrap_or_else(|| "runs/show_report".into());
    let mut number = |default| {
        arguments
            .next()
            .and_then(|a| a.parse().ok())
            .unwrap_or(default)
    };
    let (steps, axioms) = (number(1000), number(3));
    let dir = Path::new(&dir);
    std::fs::create_dir_all(dir).map_err(|error| {
        logltn::Diagnostic::error(
            logltn::Code::CannotWrite,
            format!("{}: {error}", dir.display()),
        )
    })?;
    let clusters = clusters(dir)?;
    times(dir)?;
    let mut names: Vec<String> = vec!["covered".into(), "inhabited".into(), "smooth".into()];
    names.extend((3..axioms).map(|i| format!("whole_to_parts[class_{i}]")));
    names.truncate(axioms);
    let mut events = EventWriter::open(dir, &names, None)?;
    let mut report = Report::new(&RunSummary {
        whole: None,
        title: "clustering.toml".into(),
        facts: [
            ("status", "finished"),
            ("semantics", "logltn"),
            ("seed", "0"),
            ("started", "2026-11-15T10:12:00Z"),
            ("logltn", "0.1.0"),
            (
                "command",
                "logltn train clustering.toml --out runs/clustering --seed 0",
            ),
        ]
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .to_vec(),
        theory: "sort Point\nsort Cluster = 0..4\npredicate C(Point, Cluster)\n\n\
                 axiom covered: forall x: Point. exists c: Cluster. C(x, c)\n"
            .into(),
        axiom_weights: vec![1.0; names.len()],
        logs: Some(true),
        axiom_names: names,
        pictures: vec![clusters],
        steps: Vec::new(),
    });
    // No real randomness is needed to look like noise.
    let noise = |step: usize, salt: usize| ((step * 7919 + salt * 104_729) as f64).sin();
    for step in 1..=steps {
        let done = step as f64 / steps as f64;
        let fall = (-6.0 * done).exp();
        let truths: Vec<f64> = (0..axioms)
            .map(|i| {
                let worst = 0.4 + (i * 37 % 101) as f64 / 60.0;
                let left = 0.02 + (i * 53 % 97) as f64 / 400.0;
                -(worst * fall + left) * (1.0 + 0.08 * noise(step, i))
            })
            .collect();
        let sat = truths.iter().sum::<f64>() / axioms.max(1) as f64;
        let metrics = if step % (steps / 20).max(1) == 0 {
            vec![
                (
                    "adjusted_rand_index".into(),
                    0.93 * (1.0 - fall) + 0.01 * noise(step, 1),
                ),
                ("accuracy".into(), 0.2 + 0.77 * (1.0 - fall)),
            ]
        } else {
            Vec::new()
        };
        let record = StepRecord {
            step: step as u64,
            loss: -sat,
            sat,
            axioms: truths,
            metrics,
            gradient_norm: 3.0 * fall * (1.0 + 0.5 * noise(step, 5)) + 0.004,
            step_time: 0.0021 + 0.0004 * noise(step, 9).abs(),
        };
        report.push(&record);
        events.append(&record, std::time::SystemTime::now())?;
    }
    events.sync()?;
    let page = report.write(dir)?;
    println!("{}", page.display());
    Ok(())
}

/// The stand-in points by their principal components: as they are, and as a clustering that is a little wrong sees them.
fn clusters(dir: &Path) -> Result<Picture, Diagnostics> {
    let sample = clustering_points(0);
    let points = pca_2d(&sample.features, CLUSTERING_DIMENSIONS)?;
    let mut class_names: Vec<String> = sample.labels.iter().map(|l| l.to_string()).collect();
    class_names.sort();
    class_names.dedup();
    let class: Vec<usize> = (sample.labels.iter())
        .map(|label| {
            class_names
                .iter()
                .position(|name| name == label)
                .unwrap_or(0)
        })
        .collect();
    let found = (class.iter().enumerate())
        .map(|(i, class)| {
            if i % 17 == 0 {
                (class + 1) % 5
            } else {
                (class + 2) % 5
            }
        })
        .collect();
    let panel = |title: &str, class, class_names| ScatterPanel {
        title: title.into(),
        points: points.clone(),
        class,
        class_names,
        names: Vec::new(),
        x_label: "first component".into(),
        y_label: "second component".into(),
    };
    let panels = [
        panel("Known classes", class.clone(), class_names.clone()),
        panel(
            "Clusters found",
            found,
            (0..5).map(|i| format!("cluster {i}")).collect(),
        ),
    ];
    let path = dir.join("panels.png");
    panels_png(&panels, 2, "Clustering of 801 tumours", &path)?;
    scatter_png(
        &points,
        &class,
        &class_names,
        "Tumours by principal components",
        &dir.join("scatter.png"),
    )?;
    // More classes than colours.
    let ring: Vec<(f64, f64)> = (0..200)
        .map(|i| (f64::from(i) * TAU / 200.0).sin_cos())
        .collect();
    let many: Vec<usize> = (0..200).map(|i| i / 10).collect();
    scatter_png(
        &ring,
        &many,
        &[],
        "Twenty classes",
        &dir.join("classes.png"),
    )?;
    Ok(Picture {
        title: "The points by their first two principal components".into(),
        png: logltn_data::read_bytes(&path)?,
    })
}

fn times(dir: &Path) -> Result<(), Diagnostics> {
    let series: Vec<Series> = [
        ("logltn", 0.4, 1.0),
        ("LTNtorch", 9.0, 1.6),
        ("LTN", 14.0, 1.9),
    ]
    .into_iter()
    .map(|(name, first, power)| Series {
        name: name.into(),
        points: (0..8)
            .map(|i| f64::from(1 << i))
            .map(|n| (n * 32.0, first * n.powf(power)))
            .collect(),
    })
    .collect();
    let options = LinesOptions {
        title: "Time of a step by batch size".into(),
        x_label: "rows in the batch".into(),
        y_label: "milliseconds".into(),
        log_x: true,
        log_y: true,
        markers: true,
    };
    lines_png(&series, &options, &dir.join("lines.png"))?;
    Ok(())
}
