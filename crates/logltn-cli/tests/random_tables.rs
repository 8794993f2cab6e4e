//! Random tables through `new`, `train` and `predict`: a table is refused with the reason, and nothing is left behind, or it
//! trains; and the same table written in another way gives the same weights and the same predictions.
//! `LOGLTN_RANDOM_CASES=500 cargo test --release -p logltn-cli --test all random_tables::` looks further.

use crate::common::{Folder, Random};

/// What a cell means.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Missing,
    Text(String),
    /// Hundredths.
    Number(i64),
    Huge(String),
}

const WORDS: [&str; 12] = [
    "a",
    "b",
    "grün",
    "новый",
    "x, y",
    "u;v",
    "p\tq",
    "l|m",
    "say \"no\"",
    "it's",
    "#1",
    "true",
];
const NAMES: [&str; 12] = [
    "age",
    "größe",
    "house price ($)",
    "forall",
    "Row",
    "a, b",
    "c;d",
    "",
    "2nd",
    "x",
    "labelled",
    "名前",
];
const MISSING: [&str; 8] = ["", "NA", "N/A", "NaN", "null", "?", "nan", "<NA>"];

/// Cells of one kind.
fn column(random: &mut Random, rows: usize) -> Vec<Cell> {
    let kind = random.below(12);
    let missing = *random.of(&[0, 0, 0, 8, 2]);
    let few = random.once_in(2);
    let mut cells = Vec::new();
    for row in 0..rows {
        let cell = match kind {
            0..=2 => Cell::Number(random.below(if few { 3 } else { 90_000 }) as i64 * 100 - 4000),
            3 | 4 => Cell::Number(random.below(2_000_000) as i64 - 1_000_000),
            5 | 6 => Cell::Text(
                random
                    .of(&WORDS[..if few { 3 } else { WORDS.len() }])
                    .to_string(),
            ),
            7 => Cell::Text(random.of(&["True", "False"]).to_string()),
            8 => Cell::Text(format!(
                "20{:02}-{:02}-17",
                random.below(30),
                1 + random.below(12)
            )),
            9 => Cell::Number(100 * row as i64),
            10 => Cell::Text(format!("name {row}")),
            _ => match random.below(3) {
                0 => Cell::Huge(format!("1e{}", random.below(400))),
                1 => Cell::Huge("123456789012345678901234567890".to_string()),
                _ => Cell::Number(random.below(100) as i64),
            },
        };
        cells.push(if missing > 0 && random.once_in(missing) {
            Cell::Missing
        } else {
            cell
        });
    }
    if random.once_in(10) && rows > 0 {
        // The same in every row.
        cells = vec![cells[0].clone(); rows];
    }
    cells
}

struct Table {
    names: Vec<String>,
    /// One after the other.
    columns: Vec<Vec<Cell>>,
    target: usize,
    rows: usize,
}

fn table(random: &mut Random) -> Table {
    let rows = match random.below(12) {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 3,
        _ => 8 + random.below(60),
    };
    let width = 1 + random.below(5) + random.below(3);
    let mut names = Vec::new();
    let mut columns = Vec::new();
    for i in 0..width {
        let name = random.of(&NAMES).to_string();
        // Names that occur twice are refused, which takes no more than a few tries to see.
        let taken = names.contains(&name) && !random.once_in(30);
        names.push(if taken { format!("{name}{i}") } else { name });
        columns.push(column(random, rows));
    }
    let target = random.below(width);
    if random.once_in(2) {
        // Two classes, one of them rare.
        columns[target] = (0..rows)
            .map(|row| match row % 7 {
                3 => Cell::Text("yes".to_string()),
                5 if random.once_in(3) => Cell::Missing,
                _ => Cell::Text("no".to_string()),
            })
            .collect();
    }
    Table {
        names,
        columns,
        target,
        rows,
    }
}

/// A way to write a table.
struct Style {
    separator: char,
    decimal_comma: bool,
    all_quoted: bool,
    line_end: &'static str,
    byte_order_mark: bool,
}

impl Style {
    const PLAIN: Style = Style {
        separator: ',',
        decimal_comma: false,
        all_quoted: false,
        line_end: "\n",
        byte_order_mark: false,
    };

    fn any(random: &mut Random) -> Style {
        let separator = *random.of(&[',', ',', ';', ';', '\t', '|']);
        Style {
            separator,
            decimal_comma: separator != ',' && random.once_in(2),
            all_quoted: random.once_in(3),
            line_end: ["\n", "\r\n"][random.below(2)],
            byte_order_mark: random.once_in(3),
        }
    }

    fn text(&self, text: &str) -> String {
        let special = text.contains([',', ';', '\t', '|', '"', '\n']);
        match self.all_quoted || special {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_string(),
        }
    }

    fn cell(&self, cell: &Cell, random: &mut Random) -> String {
        match cell {
            Cell::Missing => random.of(&MISSING).to_string(),
            Cell::Text(text) => self.text(text),
            Cell::Huge(number) => number.clone(),
            Cell::Number(hundredths) => {
                let sign = if *hundredths < 0 { "-" } else { "" };
                let (whole, after) = (hundredths.abs() / 100, hundredths.abs() % 100);
                let number = match after {
                    0 => format!("{sign}{whole}"),
                    after => format!("{sign}{whole}.{after:02}"),
                };
                match self.decimal_comma {
                    true => self.text(&number.replace('.', ",")),
                    false => number,
                }
            }
        }
    }

    /// These columns, in this order.
    fn table(&self, table: &Table, columns: &[usize], random: &mut Random) -> String {
        let between = self.separator.to_string();
        let line = |cells: Vec<String>| cells.join(&between) + self.line_end;
        let mut text = String::from(if self.byte_order_mark { "\u{feff}" } else { "" });
        // A lone column without a name would be a blank line.
        text += &line(
            columns
                .iter()
                .map(|c| match table.names[*c].as_str() {
                    "" => "\"\"".to_string(),
                    name => self.text(name),
                })
                .collect(),
        );
        for row in 0..table.rows {
            text += &line(
                columns
                    .iter()
                    .map(|c| match self.cell(&table.columns[*c][row], random) {
                        cell if cell.is_empty() && columns.len() == 1 => "\"\"".to_string(),
                        cell => cell,
                    })
                    .collect(),
            );
        }
        text
    }
}

#[test]
fn each_is_refused_or_read_as_it_was_meant() {
    let cases: u64 =
        std::env::var("LOGLTN_RANDOM_CASES").map_or(24, |n| n.parse().expect("a number"));
    let (mut trained, mut refused) = (0, 0);
    for case in 0..cases {
        let mut random = Random(case.wrapping_mul(0x1234_5678_9abc_def1));
        let table = table(&mut random);
        let all: Vec<usize> = (0..table.names.len()).collect();
        let folder = Folder::new(&[]);
        let plain = Style::PLAIN.table(&table, &all, &mut random);
        folder.write("d.csv", plain.as_bytes());
        let target = table.names[table.target].as_str();
        let new = folder.run(&["new", "p", "--from", "d.csv", "--target", target]);
        let said = format!("case {case}\n{plain}\n{new}");
        if new.status != 0 {
            refused += 1;
            assert_eq!(new.status, 2, "{said}");
            assert!(new.stderr.contains("error: "), "{said}");
            assert!(!folder.has("p"), "{said}");
            continue;
        }
        trained += 1;
        let symbol = folder
            .read("p/p.toml")
            .lines()
            .find_map(|line| {
                let kind = ["[predicates.", "[functions."]
                    .iter()
                    .find_map(|k| line.strip_prefix(*k))?;
                let name = kind.split(']').next()?.trim_matches('"').to_string();
                (!name.starts_with("eq")).then_some(name)
            })
            .unwrap_or_else(|| panic!("no symbol: {said}"));
        let train = |project: &str, run: &str| {
            let manifest = format!("{project}/p.toml");
            let done = folder.run(&["train", &manifest, "--out", run, "--steps", "4"]);
            assert_eq!(done.status, 0, "{said}{done}");
        };
        let predict = |file: &str| {
            let features = format!("Row={file}");
            let arguments = [
                "predict",
                "p/p.toml",
                "--run",
                "run",
                &symbol,
                "--features",
                &features,
            ];
            let done = folder.run(&arguments);
            assert_eq!(done.status, 0, "{said}{done}");
            done
        };
        train("p", "run");
        let whole = predict("d.csv").stdout;
        assert_eq!(whole.lines().count(), table.rows + 1, "{said}{whole}");
        assert!(
            !whole.contains("NaN") && !whole.contains("inf"),
            "{said}{whole}"
        );
        // In another way, with the columns in another order, the target perhaps left out.
        let style = Style::any(&mut random);
        let mut columns = all.clone();
        for i in (1..columns.len()).rev() {
            columns.swap(i, random.below(i + 1));
        }
        if random.once_in(2) {
            columns.retain(|c| *c != table.target);
        }
        let other = style.table(&table, &columns, &mut random);
        folder.write("other.csv", other.as_bytes());
        let again = predict("other.csv").stdout;
        assert_eq!(again, whole, "{said}\nis read in another way from\n{other}");
        // A project from it learns the same.
        let style = Style::any(&mut random);
        let other = style.table(&table, &all, &mut random);
        folder.write("q/p.csv", other.as_bytes());
        let made = folder.run(&["new", "other/p", "--from", "q/p.csv", "--target", target]);
        assert_eq!(made.status, 0, "{said}\nbut in another way\n{other}{made}");
        train("other/p", "again");
        assert!(
            folder.bytes("run/weights.safetensors") == folder.bytes("again/weights.safetensors"),
            "{said}\nis learnt in another way from\n{other}"
        );
    }
    assert!(
        cases < 20 || (trained > cases / 3 && refused > 0),
        "{trained} {refused}"
    );
}
