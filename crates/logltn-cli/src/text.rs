//! Numbers and tables as people like to read them.

use logltn::Semantics;

/// `1,234,567`.
pub fn thousands(number: impl ToString) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A log above this is not a rounding error.
const ABOVE: f64 = 1e-9;

/// A truth as a degree between 0 and 1. Values above 1, which some operators give, are marked.
pub fn degree(semantics: &Semantics, truth: f64) -> String {
    match semantics.sat_is_log() && truth > ABOVE {
        true => "1 (capped)".to_string(),
        false => real(semantics.degree(truth)),
    }
}

/// `1 row`, `1,500 rows`.
pub fn counted(count: impl ToString, noun: &str) -> String {
    let count = thousands(count);
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// A number of bytes, as people write it: `16GB`, `512 MiB`, `1e9`.
pub fn size(text: &str) -> Result<u64, String> {
    let expected = || "expected a size such as `16GB` or `512MiB`".to_string();
    let unit = text
        .trim_end()
        .trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let word = text[unit.len()..].trim().to_ascii_lowercase();
    let factor = match word.as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(expected()),
    };
    match unit.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * factor) as u64),
        _ => Err(expected()),
    }
}

/// A finite number that fits, for a flag.
pub fn number(text: &str, expected: &str, fits: fn(f64) -> bool) -> Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|x: &f64| x.is_finite() && fits(*x));
    number.ok_or_else(|| format!("expected {expected}"))
}

/// A number above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    number(text, "a positive number", |x| x > 0.0)
}

/// What share of `whole` the part is, `2.5 %`, in two or three digits that matter. Never 0 % or 100 % unless
/// it is exactly that.
pub fn percent(part: u128, whole: u128) -> String {
    if whole == 0 || part == whole {
        return "100 %".to_string();
    }
    if part == 0 {
        return "0 %".to_string();
    }
    let share = 100.0 * part as f64 / whole as f64;
    if share > 99.9 {
        return "> 99.9 %".to_string();
    }
    if share < 0.001 {
        return "< 0.001 %".to_string();
    }
    let digits = if share >= 10.0 {
        1
    } else if share >= 1.0 {
        2
    } else {
        3
    };
    format!("{share:.digits$} %")
}

/// `12.3 MB`.
pub fn bytes(count: usize) -> String {
    let mut value = count as f64;
    for unit in ["bytes", "kB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "bytes" {
                format!("{count} bytes")
            } else {
                format!("{value:.1} {unit}")
            };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// Six digits that matter: `-0.123457`, `1.5`, `-1.20000e-7`.
pub fn real(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..9.0).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let digits = (5.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// How a column of a table is aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the left: words.
    Left,
    /// To the right: numbers.
    Right,
}

/// Lines of cells in columns, two blanks before each column. At a terminal they are no wider than that.
pub fn table(align: &[Align], rows: &[Vec<String>]) -> String {
    table_within(align, rows, terminal_width())
}

/// Sentences with the end of their line, broken between words where they are wider than the terminal. Further lines begin
/// like the first.
pub fn sentence(text: &str) -> String {
    sentence_within(text, terminal_width().unwrap_or(usize::MAX))
}

fn sentence_within(text: &str, most: usize) -> String {
    let words = text.trim_start();
    let indent = &text[..text.len() - words.len()];
    let (mut out, mut width) = (indent.to_string(), indent.len());
    for (at, word) in words.split_whitespace().enumerate() {
        let long = word.chars().count();
        if at > 0 && width + 1 + long > most {
            out = out + "\n" + indent;
            width = indent.len();
        } else if at > 0 {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += long;
    }
    out + "\n"
}

/// The number of characters in a line: that of `COLUMNS`, or else of the terminal that standard output goes to, if any.
fn terminal_width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok();
    let said = said.and_then(|columns| columns.parse().ok());
    said.filter(|columns| *columns > 0).or_else(of_terminal)
}

fn of_terminal() -> Option<usize> {
    #[cfg(unix)]
    {
        // SAFETY: the call fills in what it is given, four numbers, or fails.
        let size = unsafe {
            let mut size: libc::winsize = std::mem::zeroed();
            let got = libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size);
            (got == 0).then_some(size)
        };
        size.map(|size| usize::from(size.ws_col))
            .filter(|width| *width > 0)
    }
    #[cfg(not(unix))]
    None
}

/// The same lines, further to the right.
pub fn indented(text: &str, by: usize) -> String {
    let blanks = " ".repeat(by);
    (text.lines())
        .map(|line| format!("{}\n", format!("{blanks}{line}").trim_end()))
        .collect()
}

/// No word is made shorter than this.
const SHORTEST: usize = 12;

/// The same within a width: words are cut, the longest first; numbers never are. Columns that do not fit go below, each
/// time with the first one repeated.
fn table_within(align: &[Align], rows: &[Vec<String>], most: Option<usize>) -> String {
    let mut widths = vec![0; align.len()];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let words = |at: &usize| align[*at] == Align::Left;
    while most.is_some_and(|most| widths.iter().map(|width| width + 2).sum::<usize>() > most) {
        let longest = (0..widths.len()).filter(words).max_by_key(|&at| widths[at]);
        match longest {
            Some(at) if widths[at] > SHORTEST => widths[at] -= 1,
            _ => break,
        }
    }
    let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
    let mut taken = 0;
    for (at, width) in widths.iter().enumerate() {
        let last = parts.len() - 1;
        if most.is_some_and(|most| taken + width + 2 > most) && parts[last].len() > 1 {
            parts.push(vec![0]);
            taken = widths[0] + 2;
        }
        let last = parts.len() - 1;
        parts[last].push(at);
        taken += width + 2;
    }
    let parts = parts.iter().map(|part| {
        let lines = rows.iter().map(|row| {
            let cells = part.iter().filter(|at| **at < row.len());
            let cells = cells.map(|&at| padded(&row[at], widths[at], align[at]));
            cells.collect::<String>().trim_end().to_string() + "\n"
        });
        lines.collect::<String>()
    });
    parts.collect::<Vec<String>>().join("\n")
}

/// A cell after two blanks; words that are too long are cut.
fn padded(cell: &str, width: usize, align: Align) -> String {
    let long = cell.chars().count();
    let padding = " ".repeat(width.saturating_sub(long));
    match align {
        Align::Left if long > width => {
            let cut: String = cell.chars().take(width - 1).collect();
            format!("  {cut}…")
        }
        Align::Left => format!("  {cell}{padding}"),
        Align::Right => format!("  {padding}{cell}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("16GB"), Ok(16_000_000_000));
        assert_eq!(size("4 GiB"), Ok(4 << 30));
        assert_eq!(size("1e9"), Ok(1_000_000_000));
        for wrong in ["", "GB", "-1GB", "1XB", "NaN", "1GB2"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(123), "123");
        assert_eq!(thousands(1234), "1,234");
        assert_eq!(thousands(u128::MAX).len(), 39 + 12);
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(1500, "row"), "1,500 rows");
        assert_eq!(counted(1_u128, "grounding"), "1 grounding");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1_234_567), "1.2 MB");
    }

    #[test]
    fn shares() {
        assert_eq!(percent(5, 5), "100 %");
        assert_eq!(percent(0, 0), "100 %");
        assert_eq!(percent(0, 5), "0 %");
        assert_eq!(percent(1, 40), "2.50 %");
        assert_eq!(percent(67, 10_000), "0.670 %");
        assert_eq!(percent(1, 1_000_000_000), "< 0.001 %");
        assert_eq!(percent(999_999, 1_000_000), "> 99.9 %");
    }

    #[test]
    fn reals() {
        assert_eq!(real(0.0), "0");
        assert_eq!(real(1.5), "1.5");
        assert_eq!(real(-0.123456789), "-0.123457");
        assert_eq!(real(-100000.0), "-100000");
        assert_eq!(real(123456789.0), "123456789");
        assert_eq!(real(1.2e-7), "1.20000e-7");
        assert_eq!(real(f64::NEG_INFINITY), "-inf");
    }

    #[test]
    fn columns_line_up() {
        let rows = [
            vec!["a".into(), "1,000".into()],
            vec!["bcd".into(), "7".into()],
        ];
        let text = table(&[Align::Left, Align::Right], &rows);
        assert_eq!(text, "  a    1,000\n  bcd      7\n");
    }

    #[test]
    fn words_are_cut_where_a_table_is_too_wide() {
        let long = "a_very_long_name_of_an_axiom";
        let rows = [vec![long.into(), "1,000".into()]];
        let align = [Align::Left, Align::Right];
        let whole = format!("  {long}  1,000\n");
        assert_eq!(table_within(&align, &rows, None), whole);
        assert_eq!(table_within(&align, &rows, Some(37)), whole);
        assert_eq!(
            table_within(&align, &rows, Some(25)),
            "  a_very_long_nam…  1,000\n"
        );
        assert_eq!(
            table_within(&align, &rows, Some(3)),
            "  a_very_long…  1,000\n"
        );
    }

    #[test]
    fn sentences_are_broken_between_words() {
        let text = "  one two three";
        assert_eq!(sentence_within(text, 80), "  one two three\n");
        assert_eq!(sentence_within(text, 9), "  one two\n  three\n");
        assert_eq!(sentence_within(text, 1), "  one\n  two\n  three\n");
    }

    #[test]
    fn columns_that_do_not_fit_stand_below() {
        let row = |cells: [&str; 4]| cells.map(String::from).to_vec();
        let rows = [row(["", "a", "b", "c"]), row(["loss", "11", "22", "33"])];
        let align = [Align::Left, Align::Right, Align::Right, Align::Right];
        let whole = "         a   b   c\n  loss  11  22  33\n";
        assert_eq!(table_within(&align, &rows, Some(18)), whole);
        let parts = "         a   b\n  loss  11  22\n\n         c\n  loss  33\n";
        assert_eq!(table_within(&align, &rows, Some(17)), parts);
        let single = table_within(&align, &rows, Some(1));
        assert_eq!(single.matches("loss").count(), 3);
    }
}
