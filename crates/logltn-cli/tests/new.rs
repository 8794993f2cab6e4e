//! `logltn new`: how well projects from one CSV file train, and predictions for files like it; the rest is in `cases/new.case`.

use std::fmt::Write as _;

use crate::common::{Folder, Random};

/// About normal.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// Numbers only, of very different sizes, two classes.
fn cancer(random: &mut Random) -> String {
    let mut text = String::from("mean radius,mean texture,area (mm²),smoothness,diagnosis\n");
    for _ in 0..240 {
        let bad = random.unit() < 0.4;
        let radius = if bad { 17.5 } else { 12.1 } + 1.2 * normal(random);
        let texture = if bad { 21.6 } else { 17.9 } + 4.0 * normal(random);
        let (area, smooth) = (
            3.1 * radius * radius + 20.0 * normal(random),
            0.1 + 0.01 * normal(random),
        );
        let class = if bad { "malignant" } else { "benign" };
        let _ = writeln!(
            text,
            "{radius:.2},{texture:.2},{area:.1},{smooth:.4},{class}"
        );
    }
    text
}

/// Three classes that are integers.
fn wine(random: &mut Random) -> String {
    let mut text = String::from("alcohol,flavanoids,proline,cultivar\n");
    for i in 0..180 {
        let k = i % 3;
        let alcohol = [13.7, 12.3, 13.2][k] + 0.45 * normal(random);
        let flavanoids = [3.0, 2.1, 0.8][k] + 0.4 * normal(random);
        let proline = [1115.0, 520.0, 630.0][k] + 120.0 * normal(random);
        let _ = writeln!(text, "{alcohol:.2},{flavanoids:.2},{proline:.0},{k}");
    }
    text
}

/// Categories, one of them rare, `?` for what is missing, classes that are no names.
fn adult(random: &mut Random) -> String {
    let mut text = String::from("age,workclass,education,hours-per-week,income\n");
    for _ in 0..600 {
        let age = 18.0 + 50.0 * random.unit();
        let work = *random.of(&["Private", "Private", "Gov", "?", "Self-emp"]);
        let education = *random.of(&["HS-grad", "Bachelors", "Masters"]);
        let hours = 40.0 + 10.0 * normal(random);
        let score = 0.08 * (age - 40.0)
            + 0.05 * (hours - 40.0)
            + match education {
                "Masters" => 3.0,
                "Bachelors" => 1.0,
                _ => -3.0,
            };
        let rich = score + normal(random) * 0.5 > 0.0;
        let _ = writeln!(
            text,
            "{age:.0},{work},{education},{hours:.0},{}",
            if rich { ">50K" } else { "<=50K" }
        );
    }
    text
}

/// A number to predict; dates, an index, a column that is always missing.
fn houses(random: &mut Random) -> String {
    let mut text = String::from("Id,area,quality,sold,garage,alley,SalePrice\n");
    for i in 1..=300 {
        let (area, quality) = (
            500.0 + 2500.0 * random.unit(),
            (1.0 + 9.0 * random.unit()).floor(),
        );
        let garage = if random.unit() < 0.2 {
            String::new()
        } else {
            format!("{:.0}", 1930.0 + 80.0 * random.unit())
        };
        let price = 80.0 * area + 9000.0 * quality + 4000.0 * normal(random);
        let month = 1 + (random.unit() * 12.0) as u32;
        let _ = writeln!(
            text,
            "{i},{area:.0},{quality},2008-{month:02}-11,{garage},,{price:.0}"
        );
    }
    text
}

/// Names in quotes with commas, missing ages, categories and labels.
fn titanic(random: &mut Random) -> String {
    let mut text = String::from("PassengerId,Survived,Pclass,Name,Sex,Age,Cabin\n");
    for i in 1..=400 {
        let (sex, class) = (
            *random.of(&["male", "female"]),
            1 + (random.unit() * 3.0) as i32,
        );
        let age = if random.unit() < 0.2 {
            String::new()
        } else {
            format!("{:.1}", 70.0 * random.unit())
        };
        let cabin = if random.unit() < 0.8 {
            String::new()
        } else {
            format!("C{}", (random.unit() * 5.0) as i32)
        };
        let lives =
            (sex == "female") as i32 as f64 * 3.0 - f64::from(class) + normal(random) * 0.4 > 0.0;
        let label = if i % 20 == 0 {
            String::new()
        } else {
            i32::from(lives).to_string()
        };
        let _ = writeln!(
            text,
            "{i},{label},{class},\"Doe, Mr. \"\"Jo\"\" {i}\",{sex},{age},{cabin}"
        );
    }
    text
}

/// The value of the only metric of a run.
fn metric(folder: &Folder, manifest: &str, run: &str, name: &str) -> f64 {
    let eval = folder.ok(&["eval", manifest, "--run", run, "--json"]);
    let document = eval.json();
    assert_eq!(document["metrics"][0]["name"], name, "{document}");
    document["metrics"][0]["value"].as_f64().expect("a number")
}

/// Each file becomes a project that trains at once to a held-out figure that a good learner reaches, and predicts the
/// original file, with and without its target and with its columns in another order.
#[test]
fn five_files() {
    let mut random = Random(7);
    let files: [(&str, String, &str, &str, f64); 5] = [
        (
            "cancer",
            cancer(&mut random),
            "diagnosis",
            "accuracy(diagnosis)",
            0.9,
        ),
        (
            "wine",
            wine(&mut random),
            "cultivar",
            "accuracy(cultivar)",
            0.9,
        ),
        (
            "adult",
            adult(&mut random),
            "income",
            "accuracy(income)",
            0.85,
        ),
        (
            "houses",
            houses(&mut random),
            "SalePrice",
            "rmse(SalePrice)",
            12_000.0,
        ),
        (
            "titanic",
            titanic(&mut random),
            "Survived",
            "accuracy(Survived)",
            0.85,
        ),
    ];
    for (name, text, target, metric_name, aim) in files {
        let folder = Folder::new(&[("data.csv", text.as_bytes())]);
        let new = folder.ok(&["new", name, "--from", "data.csv", "--target", target]);
        assert_eq!(new.stderr, "", "{name}");
        let manifest = format!("{name}/{name}.toml");
        let train = folder.ok(&["train", &manifest, "--out", "run"]);
        train.says(metric_name);
        let value = metric(&folder, &manifest, "run", metric_name);
        match metric_name.starts_with("rmse") {
            true => assert!(value < aim, "{name}: {value}"),
            false => assert!(value > aim, "{name}: {value}"),
        }
        let predict = |file: &str| {
            let features = format!("Row={file}");
            let run = folder.run(&[
                "predict",
                &manifest,
                "--run",
                "run",
                target,
                "--features",
                &features,
            ]);
            run.quiet();
            run.stdout
        };
        let whole = predict("data.csv");
        assert_eq!(whole.lines().count(), text.lines().count());
        // Without the target, and turned around.
        let rows: Vec<Vec<String>> = text.lines().map(cells).collect();
        let at = rows[0]
            .iter()
            .position(|c| c == target)
            .expect("the target");
        let written = |turn: bool| {
            let mut out = String::new();
            for row in &rows {
                let mut kept: Vec<&str> = (row.iter().enumerate())
                    .filter(|(i, _)| *i != at)
                    .map(|(_, c)| c.as_str())
                    .collect();
                if turn {
                    kept.reverse();
                }
                let _ = writeln!(out, "{}", kept.join(","));
            }
            out
        };
        folder.write("without.csv", written(false).as_bytes());
        folder.write("turned.csv", written(true).as_bytes());
        assert_eq!(predict("without.csv"), whole, "{name}");
        assert_eq!(predict("turned.csv"), whole, "{name}");
        // A single row is seen as it was among the others.
        let alone: String = written(false).split_inclusive('\n').take(2).collect();
        folder.write("alone.csv", alone.as_bytes());
        assert_eq!(
            predict("alone.csv"),
            whole.split_inclusive('\n').take(2).collect::<String>()
        );
        // What was found of the columns is the run's: the file need not be there any more, nor be the same.
        folder.remove(&format!("{name}/data.csv"));
        assert_eq!(predict("data.csv"), whole, "{name}");
    }
}

/// The cells of a line, as they stand there.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            ',' if !quoted => cells.push(String::new()),
            c => {
                quoted ^= c == '"';
                cells.last_mut().expect("one").push(c);
            }
        }
    }
    cells
}
