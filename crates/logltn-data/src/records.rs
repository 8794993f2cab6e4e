//! Lines of cells, before they are interpreted.

use csv::{ByteRecord, ReaderBuilder};
use logltn_diagnostics::{Code, Diagnostic, Diagnostics};

use super::file::ask;
use super::problems::{counted, fatal};
use super::sniff;

/// The cells of a text, in one buffer: tables may have millions of rows, too many for a string per
/// cell. What all rows have in common is not stored per row.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    text: String,
    /// Where each cell ends in `text`.
    cell_ends: Ends,
    /// How many cells there are up to the end of each record.
    record_ends: Steady,
    /// The 1-based line where each record starts.
    lines: Steady,
    blank_line: Option<usize>,
}

/// Positions in a text, in the narrowest type that fits.
#[derive(Clone, Debug)]
enum Ends {
    Short(Vec<u32>),
    Long(Vec<usize>),
}

impl Default for Ends {
    fn default() -> Ends {
        Ends::Short(Vec::new())
    }
}

impl Ends {
    /// Room for the ends of this many cells of a text of this length.
    fn with_capacity(cells: usize, length: usize) -> Ends {
        let mut ends = match u32::try_from(length) {
            Ok(_) => Ends::Short(Vec::new()),
            Err(_) => Ends::Long(Vec::new()),
        };
        // Not by doubling, which could take twice the memory.
        match &mut ends {
            Ends::Short(ends) => ends.reserve_exact(cells),
            Ends::Long(ends) => ends.reserve_exact(cells),
        }
        ends
    }

    fn push(&mut self, end: usize) {
        match self {
            Ends::Short(ends) => ends.push(end as u32),
            Ends::Long(ends) => ends.push(end),
        }
    }

    fn len(&self) -> usize {
        match self {
            Ends::Short(ends) => ends.len(),
            Ends::Long(ends) => ends.len(),
        }
    }

    fn get(&self, cell: usize) -> usize {
        match self {
            Ends::Short(ends) => ends[cell] as usize,
            Ends::Long(ends) => ends[cell],
        }
    }
}

/// Numbers that mostly grow by a constant step: only the deviations are stored.
#[derive(Clone, Debug, Default)]
struct Steady {
    first: usize,
    step: usize,
    count: usize,
    others: Vec<usize>,
}

impl Steady {
    fn push(&mut self, number: usize) {
        match self.count {
            0 => self.first = number,
            1 => self.step = number.wrapping_sub(self.first),
            _ => {}
        }
        if !self.others.is_empty() || number != self.steady(self.count) {
            self.others.push(number);
        }
        self.count += 1;
    }

    fn steady(&self, place: usize) -> usize {
        self.first.wrapping_add(place.wrapping_mul(self.step))
    }

    fn get(&self, place: usize) -> usize {
        let kept = self.count - self.others.len();
        match place.checked_sub(kept) {
            Some(place) => self.others[place],
            None => self.steady(place),
        }
    }
}

impl Records {
    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.record_ends.count
    }

    /// The 1-based line where a record starts.
    pub(super) fn line(&self, record: usize) -> usize {
        self.lines.get(record)
    }

    /// The first blank line between two records, if there is one.
    pub(super) fn blank_line(&self) -> Option<usize> {
        self.blank_line
    }

    /// How many cells a record has.
    pub(super) fn width(&self, record: usize) -> usize {
        self.record_ends.get(record) - self.first_cell(record)
    }

    /// A cell, without the blanks around it.
    pub(super) fn cell(&self, record: usize, column: usize) -> &str {
        let (start, end) = self.place(record, column);
        self.text[start..end].trim()
    }

    /// Where a cell starts and ends in the text.
    fn place(&self, record: usize, column: usize) -> (usize, usize) {
        let cell = self.first_cell(record) + column;
        let start = if cell == 0 {
            0
        } else {
            self.cell_ends.get(cell - 1)
        };
        (start, self.cell_ends.get(cell))
    }

    fn first_cell(&self, record: usize) -> usize {
        if record == 0 {
            0
        } else {
            self.record_ends.get(record - 1)
        }
    }

    /// Splits a table into cells, with what separates them in its first record.
    pub(super) fn table(bytes: &[u8], name: &str) -> Result<(Records, u8), Diagnostics> {
        let separator = separator(utf8(bytes, name)?, name)?;
        Ok((Records::parse(bytes, name, separator)?, separator))
    }

    /// Replaces cells of a column by texts that are not longer, in the rows that are as long as the header.
    pub(super) fn rewrite(&mut self, column: usize, new: impl Fn(&str) -> Option<String>) {
        let mut text = std::mem::take(&mut self.text).into_bytes();
        for record in 1..self.len() {
            if self.width(record) != self.width(0) {
                continue;
            }
            let (start, end) = self.place(record, column);
            let old = String::from_utf8_lossy(&text[start..end]);
            if let Some(new) = new(old.trim()).filter(|new| new.len() <= end - start) {
                // Blanks around a cell are none of it.
                text[start..end].fill(b' ');
                text[end - new.len()..end].copy_from_slice(new.as_bytes());
            }
        }
        self.text = String::from_utf8_lossy(&text).into_owned();
    }

    /// Splits a text into cells. Records may differ in length; blank lines are skipped.
    pub(super) fn parse(bytes: &[u8], name: &str, separator: u8) -> Result<Records, Diagnostics> {
        let text = utf8(bytes, name)?;
        let ends = |&&b: &&u8| b == separator || matches!(b, b'\n' | b'\r');
        let cells = bytes.iter().filter(ends).count() + 1;
        // The text, where cells end, and the number that a cell may become, in both precisions.
        ask(bytes.len() as u128 + 16 * cells as u128, || {
            format!("the table of {}", counted(cells, "cell") + " in " + name)
        })?;
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .from_reader(text.as_bytes());
        let mut records = Records {
            cell_ends: Ends::with_capacity(cells, text.len()),
            ..Records::default()
        };
        records.text.reserve_exact(text.len());
        let mut record = ByteRecord::new();
        let mut lines = Lines {
            text,
            at: 0,
            line: 1,
        };
        let mut last_start = 0;
        loop {
            let position = reader.position().byte() as usize;
            match reader.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    return fatal(Diagnostic::error(
                        Code::MalformedCsv,
                        format!("{name}: {error}"),
                    ));
                }
            }
            let ended = lines.to(position);
            last_start = lines.past_breaks();
            if records.len() > 0 && lines.line > ended {
                records.blank_line.get_or_insert(ended);
            }
            records.push(&record, lines.line);
        }
        if records.len() == 0 {
            return fatal(Diagnostic::error(
                Code::EmptyFile,
                format!("{name}: the file is empty"),
            ));
        }
        if ends_inside_quotes(&text[last_start..], separator) {
            let line = lines.line;
            return fatal(
                Diagnostic::error(
                    Code::MalformedCsv,
                    format!("{name}, line {line}: a quote is opened but never closed"),
                )
                .help("close it with `\"`, or write `\"\"` for a quote within quotes"),
            );
        }
        Ok(records)
    }

    fn push(&mut self, record: &ByteRecord, line: usize) {
        for cell in record {
            // The whole text is UTF-8 and cells are cut out of it at ASCII characters.
            self.text.push_str(&String::from_utf8_lossy(cell));
            self.cell_ends.push(self.text.len());
        }
        self.record_ends.push(self.cell_ends.len());
        self.lines.push(line);
    }
}

/// Counts lines from record to record. The reader's own count lags behind where a line ends in CRLF or
/// blank lines follow.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    /// Advances to the reader's position, and past the second half of a CRLF if it stopped inside one;
    /// returns the line that starts there.
    fn to(&mut self, position: usize) -> usize {
        let bytes = self.text.as_bytes();
        while self.at < position || (self.at > 0 && bytes[self.at - 1..].starts_with(b"\r\n")) {
            self.step();
        }
        self.line
    }

    /// Skips blank lines; returns the position of the first byte of the next record.
    fn past_breaks(&mut self) -> usize {
        while let Some(b'\r' | b'\n') = self.text.as_bytes().get(self.at) {
            self.step();
        }
        self.at
    }

    fn step(&mut self) {
        let bytes = self.text.as_bytes();
        let byte = bytes.get(self.at);
        self.at += 1;
        let is_crlf = byte == Some(&b'\r') && bytes.get(self.at) == Some(&b'\n');
        let is_break = matches!(byte, Some(b'\r' | b'\n'));
        self.line += usize::from(is_break && !is_crlf);
    }
}

fn utf8<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str, Diagnostics> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => error,
    };
    let good = &bytes[..error.valid_up_to()];
    let line = good.iter().filter(|&&b| b == b'\n').count() + 1;
    let (found, help) = match sniff::guess(bytes) {
        Some(guess) if guess.what != "CSV" && guess.what != "plain text" => {
            (format!("this looks like {}", guess.what), guess.help)
        }
        _ => (
            format!("line {line} is not UTF-8"),
            "save the file as UTF-8 (it may be in Latin-1 or Windows-1252)",
        ),
    };
    fatal(
        Diagnostic::error(
            Code::NotUtf8,
            format!("{name}: expected text in UTF-8: {found}"),
        )
        .help(help),
    )
}

/// What may separate cells.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// What separates cells: of the characters that do, the one that is most often in the first record, outside of quotes.
fn separator(text: &str, name: &str) -> Result<u8, Diagnostics> {
    let mut counts = [0usize; SEPARATORS.len()];
    let mut quoted = false;
    for byte in text.trim_start_matches(['\r', '\n']).bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\r' | b'\n' if !quoted => break,
            byte if !quoted => {
                if let Some(i) = SEPARATORS.iter().position(|s| *s == byte) {
                    counts[i] += 1;
                }
            }
            _ => {}
        }
    }
    let most = counts.iter().copied().max().unwrap_or_default();
    let mut often = (SEPARATORS.iter().zip(counts)).filter(|(_, count)| *count == most);
    match (often.next(), often.next()) {
        (Some((first, _)), Some((second, _))) if most > 0 => {
            let line = 1 + text
                .bytes()
                .take_while(|b| matches!(b, b'\r' | b'\n'))
                .count();
            let [first, second] = [*first, *second].map(in_words);
            fatal(
                Diagnostic::error(
                    Code::MalformedCsv,
                    format!("{name}, header (line {line}): its columns may be separated by {first}s or by {second}s"),
                )
                .help("put names that contain one of them in quotes `\"…\"`"),
            )
        }
        (Some((first, _)), _) => Ok(*first),
        (None, _) => Ok(b','),
    }
}

/// A character that separates cells, as messages name it.
pub(super) fn in_words(separator: u8) -> &'static str {
    match separator {
        b';' => "semicolon",
        b'\t' => "tab",
        b'|' => "bar",
        _ => "comma",
    }
}

/// Whether the text ends inside a quoted cell of its last record, which starts at the start of `text`.
/// The reader allows that, and so takes the rest of a file for one cell.
fn ends_inside_quotes(text: &str, separator: u8) -> bool {
    #[derive(PartialEq)]
    enum At {
        Start,
        Plain,
        Quoted,
        /// After a quote within quotes: the end of the cell, or the first half of `""`.
        Quote,
    }
    let mut at = At::Start;
    for byte in text.bytes() {
        at = match (at, byte) {
            (At::Quoted, b'"') => At::Quote,
            (At::Quoted, _) => At::Quoted,
            (At::Start | At::Quote, b'"') => At::Quoted,
            (_, b'\r' | b'\n') => At::Start,
            (_, byte) if byte == separator => At::Start,
            _ => At::Plain,
        };
    }
    at == At::Quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let records = Records::parse(text.as_bytes(), "t.csv", b',').unwrap();
        (0..records.len()).map(|r| records.line(r)).collect()
    }

    #[test]
    fn lines_are_those_an_editor_shows() {
        assert_eq!(lines("a\nb\nc"), [1, 2, 3]);
        assert_eq!(lines("a\r\nb\r\nc\r\n"), [1, 2, 3]);
        assert_eq!(lines("a\rb\rc"), [1, 2, 3]);
        assert_eq!(lines("\n\na\n\n\nb\r\n\r\nc\n"), [3, 6, 8]);
        assert_eq!(lines("a\n\"b\nb\"\nc\n"), [1, 2, 4]);
        assert_eq!(lines("\u{feff}a\nb"), [1, 2]);
    }

    #[test]
    fn numbers_that_grow_steadily_and_others() {
        for numbers in [
            vec![],
            vec![7],
            vec![3, 3, 3],
            vec![2, 4, 6, 8, 9, 11, 13],
            vec![5, 4, 9, 14],
            vec![1, 2, 2, 3, 4],
        ] {
            let mut steady = Steady::default();
            numbers.iter().for_each(|n| steady.push(*n));
            let found: Vec<usize> = (0..steady.count).map(|i| steady.get(i)).collect();
            assert_eq!(found, numbers);
        }
    }

    #[test]
    fn records_of_other_widths() {
        let records = Records::parse(b"a,b\nc,d\ne\nf,g,h\ni,j\n", "t.csv", b',').unwrap();
        let widths: Vec<usize> = (0..5).map(|r| records.width(r)).collect();
        assert_eq!(widths, [2, 2, 1, 3, 2]);
        assert_eq!((records.cell(3, 2), records.cell(4, 0)), ("h", "i"));
    }

    #[test]
    fn sees_blank_lines_between_records_only() {
        let blank = |text: &str| {
            Records::parse(text.as_bytes(), "t.csv", b',')
                .unwrap()
                .blank_line()
        };
        assert_eq!(blank("a\n\nb\n"), Some(2));
        assert_eq!(blank("a\r\nb\r\n\r\n\r\nc\r\n"), Some(3));
        assert_eq!(blank("a\r\rb"), Some(2));
        for none in [
            "a\nb\n\n",
            "\n\na\nb",
            "a\r\nb\r\n\r\n",
            "a\rb\r",
            "\"a\n\nb\"\nc",
        ] {
            assert_eq!(blank(none), None, "{none:?}");
        }
    }

    #[test]
    fn cells_are_trimmed_and_unquoted() {
        let records =
            Records::parse(b" a , \"x\",\"b, \"\"c\"\"\"\n,\xc3\xa9", "t.csv", b',').unwrap();
        let cells: Vec<&str> = (0..3).map(|c| records.cell(0, c)).collect();
        assert_eq!(cells, ["a", "\"x\"", "b, \"c\""]);
        assert_eq!((records.width(1), records.cell(1, 0)), (2, ""));
        assert_eq!(records.cell(1, 1), "é");
    }

    #[test]
    fn the_header_says_what_separates() {
        let of = |text: &str| separator(text, "t.csv").map(char::from);
        for (text, separator) in [
            ("x", ','),
            ("x,y\n1;2;3;4", ','),
            ("\n\"a;b;c\",y\n", ','),
            ("x;y\n1,5;2,5\n", ';'),
            ("price, EUR;amount;town\n", ';'),
            ("x\ty", '\t'),
            ("x|y", '|'),
        ] {
            assert_eq!(of(text).ok(), Some(separator), "{text}");
        }
        let said = of("\nprice, EUR;amount\n")
            .expect_err("two ways")
            .to_string();
        assert!(
            said.contains("(line 2): its columns may be separated by commas or by semicolons"),
            "{said}"
        );
    }

    #[test]
    fn sees_an_open_quote() {
        for open in ["\"a", "a,\"b\n", "\"a\"\"", "a,\"\"\"\n"] {
            assert!(ends_inside_quotes(open, b','), "{open}");
            assert!(Records::parse(open.as_bytes(), "t.csv", b',').is_err());
        }
        for closed in ["\"a\"", "a\"", "a\"\"\n", "\"\"", "\"a\"\"\",b"] {
            assert!(!ends_inside_quotes(closed, b','), "{closed}");
            assert!(Records::parse(closed.as_bytes(), "t.csv", b',').is_ok());
        }
    }
}
