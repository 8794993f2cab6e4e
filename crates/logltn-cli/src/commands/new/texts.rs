//! The theory and the manifest of a project that is made of one CSV file.

use std::fmt::Write as _;

use logltn_data::{ColumnKind, CsvFile};

use super::columns::Task;

/// The parts of a project.
pub struct Plan<'f> {
    /// The name of the theory and the manifest.
    pub name: String,
    pub file: &'f CsvFile,
    /// The name of the copy.
    pub copy: String,
    pub target: usize,
    pub names: Option<usize>,
    /// The column that divides the rows.
    pub split: Option<usize>,
    /// The share of rows that is held out.
    pub test: f64,
    pub task: Task,
    pub features: Vec<(usize, ColumnKind)>,
    /// Columns that are not features, including the target, the names and the split.
    pub except: Vec<usize>,
}

/// Whether a word means something where a name may stand.
fn is_reserved(text: &str) -> bool {
    let mut words = logltn::reserved_words().chain(["define", "true", "false"]);
    words.any(|word| word == text)
}

/// A name of the language that is like `text` and not taken.
///
/// ```ignore
/// assert_eq!(name_like("house price ($)", &[]), "house_price");
/// ```
pub fn name_like(text: &str, taken: &[&str]) -> String {
    let mut name = String::new();
    for c in text.chars() {
        match c.is_alphanumeric() || c == '_' {
            true => name.push(c),
            false if name.is_empty() || name.ends_with('_') => {}
            false => name.push('_'),
        }
    }
    if name.len() > text.trim_end_matches('_').len() || !text.ends_with('_') {
        name.truncate(name.trim_end_matches('_').len());
    }
    if name.is_empty() {
        name.push_str("target");
    }
    if name.starts_with(char::is_numeric) {
        name.insert(0, '_');
    }
    while is_reserved(&name) || taken.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

impl Plan<'_> {
    fn column(&self, column: usize) -> &str {
        &self.file.columns()[column]
    }

    fn classes(&self) -> Vec<&str> {
        match &self.task {
            Task::Classes(classes) => classes.iter().map(String::as_str).collect(),
            Task::Number { .. } => Vec::new(),
        }
    }

    /// The name of the predicate or function that is learnt.
    pub fn symbol(&self) -> String {
        name_like(self.column(self.target), &["Row"])
    }

    /// The sort of the classes.
    fn class_sort(&self) -> String {
        name_like("Class", &[&self.symbol()])
    }

    /// The table of the rows to learn from.
    fn table(&self) -> String {
        name_like("labelled", &[&self.symbol()])
    }

    /// The predicate that compares numbers.
    fn equal(&self) -> String {
        name_like("eq", &[&self.symbol()])
    }

    /// Whether the theory can list the classes: none has the name of something else.
    fn lists_classes(&self) -> bool {
        let names = [
            "Row".to_string(),
            self.table(),
            self.symbol(),
            self.class_sort(),
        ];
        !self
            .classes()
            .iter()
            .any(|class| names.iter().any(|name| name == class))
    }

    /// Unused names for variables.
    fn variables(&self) -> [String; 2] {
        let symbol = self.symbol();
        let mut taken = self.classes();
        taken.push(&symbol);
        ["x", "y"].map(|name| name_like(name, &taken))
    }

    /// The text of the theory.
    pub fn theory(&self) -> String {
        let (symbol, table, equal) = (self.symbol(), self.table(), self.equal());
        let [x, y] = self.variables();
        let target = comment(self.column(self.target));
        let mut text = format!(
            "# {}: {target}, learnt from {}\n\n",
            comment(&self.name),
            comment(&self.copy)
        );
        text += "sort Row                                # a row of the file; a network reads its features\n";
        let example = match &self.task {
            Task::Classes(classes) => {
                let sort = self.class_sort();
                let (listed, first) = (labels(classes), label(&classes[0]));
                let listed = match self.lists_classes() {
                    true => format!("sort {sort} = {listed}"),
                    false => {
                        format!("sort {sort}                              # listed in the manifest")
                    }
                };
                let _ = writeln!(
                    text,
                    "{listed}\ntable {table}({x}: Row, {y}: {sort})        # the rows to learn from\npredicate {symbol}(Row, {sort})         # learnt\n"
                );
                let _ = writeln!(
                    text,
                    "axiom labels: forall ({x}, {y}) in {table}. {symbol}({x}, {y})"
                );
                format!("not {symbol}({x}, {first})")
            }
            Task::Number { mean, .. } => {
                let _ = writeln!(
                    text,
                    "table {table}({x}: Row, {y}: Real)      # the rows to learn from\nfunction {symbol}(Row): Real            # learnt\npredicate {equal}(Real, Real)                # how near two numbers are\n"
                );
                let _ = writeln!(
                    text,
                    "axiom labels: forall ({x}, {y}) in {table}. {equal}({symbol}({x}), {y})"
                );
                format!("{equal}({symbol}({x}), {})", short(*mean))
            }
        };
        text += "\n# Rules beside the labels. They hold for all rows, also for those whose label is not known. Remove the `#` and put in\n# what you know:\n";
        let guard = self.guard_example(&x);
        let _ = writeln!(text, "#\n# axiom rule: forall {x}: Row{guard}. {example}");
        text
    }

    /// ` where x.age > 40`, for a column of numbers that a theory can name.
    fn guard_example(&self, x: &str) -> String {
        let plain = |name: &str| {
            name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        let numbers = self
            .features
            .iter()
            .filter(|(column, kind)| *kind == ColumnKind::Number && plain(self.column(*column)));
        for (column, _) in numbers {
            let cells = (0..self.file.rows()).map(|row| self.file.cell(row, *column));
            let mut values: Vec<f64> = cells
                .filter_map(|cell| cell.parse().ok())
                .filter(|x: &f64| x.is_finite())
                .collect();
            // Numbers that are missing cannot be compared.
            if values.len() == self.file.rows() && !values.is_empty() {
                values.sort_by(f64::total_cmp);
                let high = values[values.len() * 9 / 10];
                return format!(" where {x}.{} > {}", self.column(*column), short(high));
            }
        }
        String::new()
    }

    /// The text of the manifest. `out` is the suggested folder for a run.
    pub fn manifest(&self, rows_to_learn: usize) -> String {
        let copy = quoted(&self.copy);
        let target = quoted(self.column(self.target));
        let mut text = format!(
            "# The data and networks of {0}.ltn; `logltn train` trains them.\n",
            comment(&self.name)
        );
        let _ = writeln!(
            text,
            "theory = {}\n\n[sorts.Row]",
            quoted(&format!("{}.ltn", self.name))
        );
        self.write_sorts(&mut text);
        let batch = match rows_to_learn {
            0..=64 => String::new(),
            n => format!(", batch = {}", if n > 2000 { 128 } else { 32 }),
        };
        let _ = writeln!(
            text,
            "\n[tables]\n{} = {{ rows = {copy}, column = {target}, part = \"train\"{batch} }}\n",
            self.table()
        );
        let metric = self.write_symbols(&mut text);
        let _ = writeln!(
            text,
            "\n[train]\n{}\noptimizer = \"adamw\"\nweight_decay = 0.01\nlearning_rate = {{ exponential = [0.005, 0.0002] }}\nseed = 0",
            length(rows_to_learn)
        );
        let _ = writeln!(
            text,
            "\n[evaluate]\nmetrics = [{metric}, rows = {copy}, column = {target}, part = \"test\" }}]"
        );
        text
    }

    /// The rest of `[sorts.Row]`, and the classes.
    fn write_sorts(&self, text: &mut String) {
        let copy = quoted(&self.copy);
        let target = quoted(self.column(self.target));
        for (kind, what) in [
            (ColumnKind::Number, "numbers, scaled"),
            (ColumnKind::Category, "categories, a number for each"),
            (ColumnKind::Date, "dates"),
        ] {
            let names: Vec<String> = (self.features.iter())
                .filter(|(_, k)| *k == kind)
                .map(|(column, _)| comment(self.column(*column)))
                .collect();
            if !names.is_empty() {
                *text += &wrapped(&format!("{what}: {}", names.join(", ")));
            }
        }
        let except: Vec<String> = self
            .except
            .iter()
            .map(|c| quoted(self.column(*c)))
            .collect();
        let names = self.names.map_or(String::new(), |c| {
            format!(", names = {}", quoted(self.column(c)))
        });
        let _ = writeln!(
            text,
            "features = {{ file = {copy}, except = [{}]{names}, prepare = true }}",
            except.join(", ")
        );
        let _ = match self.split {
            Some(column) => writeln!(
                text,
                "split = {{ column = {} }}",
                quoted(self.column(column))
            ),
            None => writeln!(
                text,
                "split = {{ test = {}, seed = 0, by = {target} }}",
                self.test
            ),
        };
        if let (Task::Classes(classes), false) = (&self.task, self.lists_classes()) {
            let listed: Vec<String> = classes.iter().map(|class| quoted(class)).collect();
            let _ = writeln!(
                text,
                "\n[sorts.{}]\nindividuals = [{}]",
                self.class_sort(),
                listed.join(", ")
            );
        }
    }

    /// What is learnt; returns the beginning of its metric.
    fn write_symbols(&self, text: &mut String) -> String {
        let symbol = self.symbol();
        let key = key(&symbol);
        match &self.task {
            Task::Classes(_) => {
                let _ = writeln!(
                    text,
                    "[predicates.{key}]\nargs = [\"row\", \"class\"]\nnetwork = {{ mlp = [64], activation = \"relu\" }}\noutput = \"softmax\""
                );
                format!("{{ metric = \"accuracy\", predicate = \"{symbol}\"")
            }
            Task::Number { mean, deviation } => {
                let (shift, scale) = (short(*mean), short(*deviation));
                let _ = writeln!(
                    text,
                    "[functions.{key}]\nargs = [\"row\"]\nnetwork = {{ mlp = [64], activation = \"relu\" }}\noutput = {{ shift = {shift}, scale = {scale} }}   # the mean and the standard deviation of {}\n",
                    comment(self.column(self.target))
                );
                let _ = writeln!(
                    text,
                    "[predicates.{}]                # 1 for equal numbers; the further apart, the less\nargs = [\"u\", \"v\"]\nclosed_form = {{ log_truth = \"-(u - v) / {scale} * (u - v) / {scale}\" }}",
                    self.equal()
                );
                format!("{{ metric = \"rmse\", function = \"{symbol}\"")
            }
        }
    }
}

/// How long to train: enough passes over small files, bounded for large ones.
fn length(rows: usize) -> String {
    match rows {
        0..=64 => "steps = 500".to_string(),
        65..=2000 => "epochs = 60".to_string(),
        2001..=20_000 => "epochs = 40".to_string(),
        20_001..=200_000 => "epochs = 15".to_string(),
        _ => "epochs = 3".to_string(),
    }
}

/// `{a, b}`, or `0..2` for integers without a gap.
fn labels(classes: &[String]) -> String {
    let integers: Option<Vec<i64>> = (classes.iter())
        .map(|class| {
            class
                .parse::<i64>()
                .ok()
                .filter(|n| n.to_string() == *class)
        })
        .collect();
    if let Some(integers) = integers
        && let (Some(first), Some(last)) = (integers.first(), integers.last())
        && last.checked_sub(*first) == Some(classes.len() as i64 - 1)
        && *first >= 0
    {
        return format!("{first}..{last}");
    }
    let listed: Vec<String> = classes.iter().map(|class| label(class)).collect();
    format!("{{{}}}", listed.join(", "))
}

/// A label as a theory writes it.
fn label(text: &str) -> String {
    let plain = !text.is_empty()
        && !text.starts_with(|c: char| c.is_numeric())
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !is_reserved(text);
    match plain {
        true => text.to_string(),
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// A key of TOML.
fn key(name: &str) -> String {
    match name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        true => name.to_string(),
        false => quoted(name),
    }
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Text that stays on the line of its comment.
fn comment(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// A comment over several lines.
fn wrapped(text: &str) -> String {
    let (mut out, mut line) = (String::new(), String::from("#"));
    for word in text.split(' ') {
        if line.chars().count() + word.chars().count() > 118 {
            out += &format!("{line}\n");
            line = String::from("#  ");
        }
        line += &format!(" {word}");
    }
    out + &format!("{line}\n")
}

/// A number with a few digits.
fn short(x: f64) -> String {
    let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(x);
    format!("{rounded}")
}
