//! Safetensors: the length of a header, the header in JSON, then the numbers of all tensors.
//!
//! The header is read here rather than by the `safetensors` crate, whose errors do not say which tensor
//! is wrong and how, and whose offset arithmetic overflows on hostile headers. (That crate writes the
//! files that the tests read.)

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics};
use rustc_hash::FxHashSet;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::array::Field;
use super::elements::{ByteOrder, Element, Layout};
use super::file::ask;
use super::number_storage::Mapped;
use super::problems::{Problems, counted, cut_short, damaged, fatal, shown};
use super::sniff;

/// The format's own limit.
const LONGEST_HEADER: u64 = 100_000_000;

/// Where the length of the header ends.
const LENGTH_BYTES: usize = 8;

/// Reads the bytes of a `.safetensors` file; `name` stands for the file in messages.
///
/// The tensors are sorted by name, since the format defines no order.
pub fn parse_safetensors(bytes: &[u8], name: &str) -> Result<Vec<Field>, Diagnostics> {
    parse(bytes, None, name)
}

/// The same for a mapped file.
pub(super) fn parse(
    bytes: &[u8],
    map: Option<&Arc<Mapped>>,
    name: &str,
) -> Result<Vec<Field>, Diagnostics> {
    let (header, data) = split(bytes, name)?;
    let tensors = tensors(header, name)?;
    let mut problems = Problems::new();
    let mut fields = Vec::new();
    for (tensor, entry) in &tensors {
        let place = format!("{name}, tensor {}", shown(tensor));
        let array = entry.layout(&place).and_then(|layout| {
            let numbers = entry.slice(data, layout.bytes(&place)?, &place)?;
            layout.decode_in(map, numbers, &place)
        });
        match array {
            Ok(array) => fields.push(Field {
                name: Some(tensor.clone()),
                array,
            }),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        check_cover(&tensors, data.len(), name, &mut problems);
    }
    problems.finish(fields)
}

/// The header's JSON, and the bytes of the tensors.
fn split<'a>(bytes: &'a [u8], name: &str) -> Result<(&'a [u8], &'a [u8]), Diagnostics> {
    let not_safetensors =
        || sniff::not_of_format(name, "a safetensors file", bytes, LENGTH_BYTES + 1);
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else {
        return fatal(not_safetensors());
    };
    let length = u64::from_le_bytes(*length);
    if length > LONGEST_HEADER || rest.first().is_some_and(|&b| b != b'{') {
        return fatal(not_safetensors());
    }
    rest.split_at_checked(length as usize).ok_or_else(|| {
        let there = rest.len();
        cut_short(format!(
            "{name}: the file is cut short: its header should have {length} bytes, but only {there} are there"
        ))
        .into()
    })
}

fn tensors(header: &[u8], name: &str) -> Result<BTreeMap<String, Entry>, Diagnostics> {
    // A JSON value takes many times the memory of its text.
    ask(40 * header.len() as u128, || {
        format!("the header of {name}")
    })?;
    let Pairs(header): Pairs<Described> = serde_json::from_slice(header).map_err(|error| {
        damaged(format!(
            "{name}: the safetensors header is not JSON: {error}"
        ))
    })?;
    let mut problems = Problems::new();
    let mut tensors = BTreeMap::new();
    let mut seen = FxHashSet::default();
    for (tensor, described) in header {
        let twice = match (&described, seen.insert(tensor.clone())) {
            (_, false) => Some(format!(
                "{name}: the header describes {} twice",
                shown(&tensor)
            )),
            (Described::Entry(pairs), _) => pairs.twice().map(|key| {
                format!(
                    "{name}, tensor {}: the header says {} twice",
                    shown(&tensor),
                    shown(key)
                )
            }),
            (Described::Other(_), _) => None,
        };
        if let Some(twice) = twice {
            problems.push(|| {
                Diagnostic::error(Code::DuplicateName, twice)
                    .help("it is unclear which one is meant: write the file again")
            });
            continue;
        }
        if tensor == "__metadata__" {
            continue;
        }
        match Entry::deserialize(described.into_value()) {
            Ok(entry) => {
                tensors.insert(tensor, entry);
            }
            Err(error) => problems.push(|| {
                Diagnostic::error(
                    Code::FileDamaged,
                    format!(
                        "{name}, tensor {}: the header cannot be understood: {error}",
                        shown(&tensor)
                    ),
                )
            }),
        }
    }
    if tensors.is_empty() && problems.is_empty() {
        problems.push(|| {
            Diagnostic::error(
                Code::EmptyFile,
                format!("{name}: the file holds no tensors"),
            )
        });
    }
    problems.finish(tensors)
}

/// The pairs of a JSON object in order. A map would silently keep the last of two equal keys.
struct Pairs<T>(Vec<(String, T)>);

impl<T> Pairs<T> {
    /// The first duplicate key.
    fn twice(&self) -> Option<&str> {
        let mut seen = FxHashSet::default();
        let mut keys = self.0.iter().map(|(key, _)| key.as_str());
        keys.find(|key| !seen.insert(*key))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs<T>, D::Error> {
        struct Each<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Each<T> {
            type Value = Pairs<T>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Each(PhantomData))
    }
}

/// What a name in the header stands for.
#[derive(Deserialize)]
#[serde(untagged)]
enum Described {
    Entry(Pairs<Value>),
    Other(Value),
}

impl Described {
    fn into_value(self) -> Value {
        match self {
            Described::Entry(Pairs(pairs)) => Value::Object(pairs.into_iter().collect()),
            Described::Other(value) => value,
        }
    }
}

/// What the header says about a tensor.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl Entry {
    fn layout(&self, place: &str) -> Result<Layout, Diagnostics> {
        let element = match self.dtype.as_str() {
            "BOOL" => Element::Bool,
            "U8" => Element::U8,
            "I8" => Element::I8,
            "U16" => Element::U16,
            "I16" => Element::I16,
            "U32" => Element::U32,
            "I32" => Element::I32,
            "U64" => Element::U64,
            "I64" => Element::I64,
            "F16" => Element::F16,
            "BF16" => Element::BF16,
            "F32" => Element::F32,
            "F64" => Element::F64,
            other => {
                return fatal(
                    Diagnostic::error(
                        Code::UnsupportedElements,
                        format!("{place}: elements of type {} cannot be read", shown(other)),
                    )
                    .help("convert the tensor first, for example to `F32`"),
                );
            }
        };
        Ok(Layout {
            shape: self.shape.clone(),
            element,
            order: ByteOrder::Little,
            fortran: false,
        })
    }

    /// The bytes of the tensor's numbers; there must be `expected` of them for its shape.
    fn slice<'a>(
        &self,
        data: &'a [u8],
        expected: usize,
        place: &str,
    ) -> Result<&'a [u8], Diagnostics> {
        let (begin, end) = self.data_offsets;
        if end.checked_sub(begin) != Some(expected) {
            return fatal(damaged(format!(
                "{place}: its shape `{:?}` takes {} of `{}`, but the header says that they are the bytes {begin} to {end}",
                self.shape,
                counted(expected, "byte"),
                self.dtype
            )));
        }
        data.get(begin..end).ok_or_else(|| {
            let there = counted(data.len(), "byte");
            cut_short(format!(
                "{place}: the file is cut short: its numbers should be the bytes {begin} to {end} after the header, but only {there} follow it"
            ))
            .into()
        })
    }
}

/// The tensors must lie side by side and fill the file, as the format demands: otherwise part of the file would go
/// unread.
fn check_cover(
    tensors: &BTreeMap<String, Entry>,
    length: usize,
    name: &str,
    problems: &mut Problems,
) {
    let mut spans: Vec<(usize, usize, &str)> = tensors
        .iter()
        .map(|(tensor, entry)| (entry.data_offsets.0, entry.data_offsets.1, tensor.as_str()))
        .collect();
    spans.sort_unstable();
    let mut covered = 0;
    let mut before = "";
    let gap = |from: usize, to: usize, problems: &mut Problems| {
        problems.push(|| {
            damaged(format!(
                "{name}: the bytes {from} to {to} after the header belong to no tensor"
            ))
        });
    };
    for (begin, end, tensor) in spans {
        if begin < covered {
            problems.push(|| {
                damaged(format!(
                    "{name}: the tensors {} and {} overlap",
                    shown(before),
                    shown(tensor)
                ))
            });
        } else if begin > covered {
            gap(covered, begin, problems);
        }
        covered = covered.max(end);
        before = tensor;
    }
    if covered < length {
        gap(covered, length, problems);
    }
}
