//! NumPy's `.npy`: a magic string, a header that is a Python dictionary, then the numbers.
//!
//! Parsed by hand, since the header is small and every way in which a file can be wrong deserves its
//! own message.

use std::sync::Arc;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics};

use super::array::Array;
use super::elements::{ByteOrder, Element, Layout};
use super::number_storage::Mapped;
use super::problems::{cut_short, damaged, fatal, shown};
use super::sniff;

const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy's own headers take about a hundred bytes; this leaves room for any shape.
pub(super) const LONGEST_HEADER: usize = 1 << 20;

/// Reads the bytes of an `.npy` file, in memory or mapped; `name` stands for the file in messages.
pub(super) fn parse(
    bytes: &[u8],
    map: Option<&Arc<Mapped>>,
    name: &str,
) -> Result<Array, Diagnostics> {
    let header = header(bytes, name)?;
    let numbers = bytes.get(header.end..).unwrap_or_default();
    header.layout.decode_in(map, numbers, name)
}

/// What the header of an npy file says, and where it ends.
pub(super) struct Header {
    pub(super) layout: Layout,
    pub(super) end: usize,
}

/// How many bytes [`header`] needs, given the first few.
pub(super) fn header_length(start: &[u8]) -> Option<usize> {
    let (begin, length) = match *start {
        [_, _, _, _, _, _, 1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([a, b]))),
        [_, _, _, _, _, _, 2 | 3, _, a, b, c, d, ..] => {
            (12, u32::from_le_bytes([a, b, c, d]) as usize)
        }
        _ => return None,
    };
    Some(begin + length)
}

/// How many bytes [`header_length`] needs.
pub(super) const PREAMBLE: usize = 12;

/// Reads the header of an npy file that starts with `bytes`; the numbers may be missing.
pub(super) fn header(bytes: &[u8], place: &str) -> Result<Header, Diagnostics> {
    if !bytes.starts_with(MAGIC) {
        let format = "a NumPy array (npy)";
        return fatal(sniff::not_of_format(place, format, bytes, MAGIC.len()));
    }
    if let Some(&version) = bytes.get(MAGIC.len())
        && !(1..=3).contains(&version)
    {
        return fatal(Diagnostic::error(
            Code::WrongFormat,
            format!("{place}: npy format version {version} is not known; versions 1 to 3 are"),
        ));
    }
    let cut_short = || cut_short(format!("{place}: the file is cut short, within its header"));
    let end = header_length(bytes).ok_or_else(cut_short)?;
    if end > LONGEST_HEADER {
        return fatal(damaged(format!(
            "{place}: the file claims a header of {end} bytes; more than {LONGEST_HEADER} cannot be right"
        )));
    }
    let begin = if bytes.get(MAGIC.len()) == Some(&1) {
        10
    } else {
        12
    };
    let text = bytes.get(begin..end).ok_or_else(cut_short)?;
    let layout = std::str::from_utf8(text)
        .map_err(|_| Wrong::Syntax("text in UTF-8"))
        .and_then(Dictionary::parse)
        .and_then(Dictionary::layout)
        .map_err(|wrong| wrong.explain(place, text))?;
    Ok(Header { layout, end })
}

/// What is wrong with a header.
enum Wrong {
    /// What was expected.
    Syntax(&'static str),
    Missing(&'static str),
    Structured,
    Element(String),
}

impl Wrong {
    fn explain(self, place: &str, text: &[u8]) -> Diagnostic {
        match self {
            Wrong::Syntax(expected) => Diagnostic::error(Code::FileDamaged, format!(
                "{place}: the npy header cannot be understood: expected {expected}"
            ))
            .note(format!(
                "the header is {}",
                shown(String::from_utf8_lossy(text).trim_end())
            )),
            Wrong::Missing(key) => {
                Diagnostic::error(Code::FileDamaged, format!("{place}: the npy header does not say `{key}`"))
            }
            Wrong::Structured => Diagnostic::error(Code::UnsupportedElements, format!(
                "{place}: expected an array of numbers, found a structured array (named columns)"
            ))
            .help("save each column as a separate array, with `numpy.savez`"),
            Wrong::Element(descr) => Diagnostic::error(Code::UnsupportedElements, format!(
                "{place}: elements of type {} ({}) cannot be read",
                shown(&descr),
                kind_in_words(&descr)
            ))
            .help("convert it first, for example with `array.astype('float32')`"),
        }
    }
}

fn kind_in_words(descr: &str) -> &'static str {
    match descr
        .trim_start_matches(['<', '>', '|', '='])
        .chars()
        .next()
    {
        Some('c') => "complex numbers",
        Some('f') => "floating point of an unusual size",
        Some('i' | 'u') => "integers of an unusual size",
        Some('U' | 'S' | 'a') => "text",
        Some('O') => "pickled Python objects",
        Some('M') => "dates",
        Some('m') => "durations",
        Some('V') => "raw bytes",
        _ => "not a type of NumPy",
    }
}

fn element(descr: &str) -> Option<(Element, ByteOrder)> {
    let (order, rest) = match descr.split_at_checked(1)? {
        // NumPy writes `|` where the order does not matter and resolves `=` when it saves, so a
        // leftover `=` comes from another writer on a machine like this one.
        ("<" | "|" | "=", rest) => (ByteOrder::Little, rest),
        (">", rest) => (ByteOrder::Big, rest),
        _ => (ByteOrder::Little, descr),
    };
    let element = match rest {
        "b1" | "?" => Element::Bool,
        "u1" => Element::U8,
        "i1" => Element::I8,
        "u2" => Element::U16,
        "i2" => Element::I16,
        "u4" => Element::U32,
        "i4" => Element::I32,
        "u8" => Element::U64,
        "i8" => Element::I64,
        "f2" => Element::F16,
        "f4" => Element::F32,
        "f8" => Element::F64,
        _ => return None,
    };
    Some((element, order))
}

/// The three entries of a header, as far as they are present.
#[derive(Default)]
struct Dictionary {
    descr: Option<String>,
    fortran_order: Option<bool>,
    shape: Option<Vec<usize>>,
}

impl Dictionary {
    fn layout(self) -> Result<Layout, Wrong> {
        let descr = self.descr.ok_or(Wrong::Missing("descr"))?;
        let fortran = self.fortran_order.ok_or(Wrong::Missing("fortran_order"))?;
        let shape = self.shape.ok_or(Wrong::Missing("shape"))?;
        let (element, order) = element(&descr).ok_or(Wrong::Element(descr))?;
        Ok(Layout {
            shape,
            element,
            order,
            fortran,
        })
    }

    /// Reads the Python literal `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str) -> Result<Dictionary, Wrong> {
        let mut cursor = Cursor { rest: text };
        let mut found = Dictionary::default();
        cursor.expect("{", "`{`")?;
        while !cursor.skip("}") {
            let key = cursor.string()?;
            cursor.expect(":", "`:`")?;
            match key {
                "descr" => found.descr = Some(cursor.descr()?),
                "fortran_order" => found.fortran_order = Some(cursor.truth()?),
                "shape" => found.shape = Some(cursor.tuple()?),
                _ => return Err(Wrong::Syntax("`descr`, `fortran_order` or `shape`")),
            }
            if !cursor.skip(",") {
                cursor.expect("}", "`,` or `}`")?;
                break;
            }
        }
        if cursor.rest.trim().is_empty() {
            Ok(found)
        } else {
            Err(Wrong::Syntax("nothing after the closing `}`"))
        }
    }
}

/// Walks through a Python literal.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn skip(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str, words: &'static str) -> Result<(), Wrong> {
        if self.skip(token) {
            Ok(())
        } else {
            Err(Wrong::Syntax(words))
        }
    }

    fn string(&mut self) -> Result<&'a str, Wrong> {
        let wrong = Wrong::Syntax("a string in quotes");
        let quote = if self.skip("'") {
            '\''
        } else if self.skip("\"") {
            '"'
        } else {
            return Err(wrong);
        };
        let (text, rest) = self.rest.split_once(quote).ok_or(wrong)?;
        self.rest = rest;
        Ok(text)
    }

    fn descr(&mut self) -> Result<String, Wrong> {
        if self.skip("[") {
            return Err(Wrong::Structured);
        }
        self.string().map(str::to_string)
    }

    fn truth(&mut self) -> Result<bool, Wrong> {
        if self.skip("True") {
            Ok(true)
        } else if self.skip("False") {
            Ok(false)
        } else {
            Err(Wrong::Syntax("`True` or `False`"))
        }
    }

    fn tuple(&mut self) -> Result<Vec<usize>, Wrong> {
        self.expect("(", "a shape in parentheses")?;
        let mut numbers = Vec::new();
        while !self.skip(")") {
            self.rest = self.rest.trim_start();
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = self.rest.split_at(digits);
            let number = number
                .parse()
                .map_err(|_| Wrong::Syntax("a shape of integers"))?;
            numbers.push(number);
            self.rest = rest;
            self.skip("L"); // Python 2 wrote long integers this way
            if !self.skip(",") {
                self.expect(")", "`,` or `)`")?;
                break;
            }
        }
        Ok(numbers)
    }
}
