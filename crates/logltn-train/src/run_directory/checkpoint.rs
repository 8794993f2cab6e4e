//! Tensors and facts in one file whose bytes depend on nothing else.

use std::collections::BTreeMap;

use flate2::Crc;
use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::parse_safetensors;
use logltn_learn::{NamedTensor, State};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The bytes of a file with the state of a training, or its final weights. They depend on nothing else, and not on the
/// order of the tensors.
///
/// It is a safetensors file, the facts in the header's `__metadata__`, so that other programs can read it. One fact is
/// a checksum of everything else, so that [`decode`] detects every flipped bit:
///
/// ```
/// use logltn_learn::State;
/// use logltn_train::run_directory::{decode, encode};
/// let state = State {
///     tensors: vec![("layer.bias".into(), vec![3], vec![0.5, -1.0, 0.0])],
///     facts: [("step".to_string(), "12".to_string())].into(),
/// };
/// let bytes = encode(&state)?;
/// assert_eq!(decode(&bytes, "a.safetensors")?, state);
/// let mut damaged = bytes.clone();
/// damaged[100] ^= 1;
/// assert!(decode(&damaged, "a.safetensors").is_err());
/// # Ok::<(), logltn::Diagnostics>(())
/// ```
///
/// The `safetensors` crate is not used: it writes the metadata in the order of a hash map, which differs from process
/// to process.
///
/// # Errors
/// If there are no tensors, two of one name, one whose shape does not fit its numbers, or one with a number that is
/// not finite: what [`decode`] would refuse must not replace a checkpoint that can be read.
pub fn encode(state: &State) -> Result<Vec<u8>, Diagnostics> {
    let mut tensors: Vec<&NamedTensor> = state.tensors.iter().collect();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    check(&tensors)?;

    let mut facts = state.facts.clone();
    let mut sum = Crc::new();
    sum.update(header(&tensors, &facts).as_bytes());
    let checksum = |sum: u32| (CHECKSUM.to_string(), format!("CRC-32 {sum:08x}"));
    facts.extend([checksum(0)]);
    // The checksum always has the same length, so the numbers can be written before it is known.
    let begin = 8 + header(&tensors, &facts).len();
    let numbers: usize = tensors.iter().map(|(_, _, values)| values.len()).sum();
    let mut bytes = Vec::with_capacity(begin + size_of::<f32>() * numbers);
    bytes.resize(begin, 0);
    for (_, _, values) in &tensors {
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    sum.update(&bytes[begin..]);
    facts.extend([checksum(sum.sum())]);
    let header = header(&tensors, &facts);
    bytes[..8].copy_from_slice(&(header.len() as u64).to_le_bytes());
    bytes[8..begin].copy_from_slice(header.as_bytes());
    Ok(bytes)
}

/// The fact with the checksum of all others.
const CHECKSUM: &str = "checksum";

/// Names, shapes, places and facts, as safetensors writes them.
fn header(tensors: &[&NamedTensor], facts: &BTreeMap<String, String>) -> String {
    // `serde_json::Map` keeps its keys sorted.
    let mut header = Map::new();
    if !facts.is_empty() {
        header.insert("__metadata__".into(), json!(facts));
    }
    let mut end = 0;
    for (name, shape, values) in tensors {
        let begin = end;
        end += size_of_val(values.as_slice());
        header.insert(
            name.clone(),
            json!({ "dtype": "F32", "shape": shape, "data_offsets": [begin, end] }),
        );
    }
    let mut header = Value::Object(header).to_string();
    // The numbers start at a multiple of eight bytes, for readers that map the file into memory.
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    header
}

/// Reads the bytes of a file; `name` stands for it in messages. The tensors come in the order of their names.
///
/// # Errors
/// If they are not, to the last bit, what [`encode`] wrote.
pub fn decode(bytes: &[u8], name: &str) -> Result<State, Diagnostics> {
    let tensors = parse_safetensors(bytes, name)?
        .into_iter()
        .map(|field| {
            let values = field.array.to_f32();
            (field.name.unwrap_or_default(), field.array.shape, values)
        })
        .collect();
    let mut facts = metadata(bytes, name)?;
    facts.remove(CHECKSUM);
    let state = State { tensors, facts };
    // An undamaged file is identical when written again: the checksum covers the numbers, the comparison the header.
    match encode(&state) {
        Ok(again) if again == bytes => Ok(state),
        _ => Err(Diagnostic::error(
            Code::RunDamaged,
            format!("{name}: the file is damaged: its checksum does not fit its contents"),
        )
        .help("restore it from a copy, or train again")
        .into()),
    }
}

fn check(sorted: &[&NamedTensor]) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut wrong = |text: String| problems.push(Diagnostic::error(Code::RunDamaged, text));
    if sorted.is_empty() {
        wrong("the checkpoint holds no tensors".into());
    }
    for pair in sorted.windows(2) {
        if pair[0].0 == pair[1].0 {
            wrong(format!("the checkpoint holds two tensors `{}`", pair[0].0));
        }
    }
    for (name, shape, values) in sorted {
        if name == "__metadata__" {
            wrong(format!("a tensor cannot have the name `{name}`"));
        }
        let size = shape.iter().try_fold(1usize, |n, &m| n.checked_mul(m));
        if shape.is_empty() || size == Some(0) || size != Some(values.len()) {
            wrong(format!(
                "tensor `{name}`: its shape `{shape:?}` does not fit its {} numbers",
                values.len()
            ));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            wrong(format!(
                "tensor `{name}`: number {at} is {}, not a finite number",
                values[at]
            ));
        }
    }
    problems.into_result(()).map(|_| ())
}

/// The header's `__metadata__`. The bytes have been read once, so the header is there.
fn metadata(bytes: &[u8], name: &str) -> Result<BTreeMap<String, String>, Diagnostics> {
    #[derive(Deserialize)]
    struct Header {
        #[serde(default, rename = "__metadata__")]
        metadata: BTreeMap<String, String>,
    }
    let header = bytes
        .split_first_chunk::<8>()
        .and_then(|(length, rest)| rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?))
        .unwrap_or_default();
    let header: Header = serde_json::from_slice(header).map_err(|error| {
        Diagnostic::error(
            Code::RunDamaged,
            format!("{name}: the metadata in the header cannot be read: {error}"),
        )
        .help("the file is damaged: write it again")
    })?;
    Ok(header.metadata)
}
