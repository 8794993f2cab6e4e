//! Mutated data files: whatever the bytes, a reader answers, and what it accepts is what it promises.

use std::collections::HashSet;
use std::io::{Cursor, Read, Write};
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use logltn_data::{CsvFile, Values, parse_fields, parse_individuals};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::attempt::Attempt;
use crate::cases::rng::Rng;
use crate::mutate;

struct Format {
    /// Tells the reader the format.
    name: &'static str,
    seeds: Vec<Vec<u8>>,
}

fn formats() -> &'static [Format] {
    static READ: OnceLock<Vec<Format>> = OnceLock::new();
    READ.get_or_init(|| {
        let of = |name, folder: &str, ending: &str| Format {
            name,
            seeds: mutate::seeds(&[&format!("crates/logltn-torture/seeds/{folder}")], ending),
        };
        vec![
            of("a.csv", "csv", ""),
            of("a.npy", "npy", ""),
            of("a.npz", "npz", ""),
            of("a.idx", "idx", ".idx"),
            of("a.idx.gz", "idx", ".gz"),
            of("a.safetensors", "safetensors", ""),
            of("individuals", "individuals", ""),
        ]
    })
}

/// One file, read.
pub fn attempt(rng: &mut Rng, _: u64) -> Attempt {
    let formats = formats();
    let format = rng.pick(formats);
    let inside = rng.chance(0.5);
    let bytes = match format.name {
        // Packed again, so that the checksums are right and the mutation is met.
        "a.npz" if inside => repacked(rng, format),
        "a.idx.gz" if inside => {
            let idx = formats
                .iter()
                .find(|f| f.name == "a.idx")
                .expect("there is one");
            gzip(&mutate::one_of(rng, &idx.seeds))
        }
        _ => mutate::one_of(rng, &format.seeds),
    };
    let accepted = match format.name {
        "individuals" => individuals(&bytes),
        "a.csv" => csv(&bytes) | fields(&bytes, format.name),
        name => fields(&bytes, name),
    };
    Ok(match accepted {
        true => "read",
        false => "refused",
    })
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("into memory");
    encoder.finish().expect("into memory")
}

fn repacked(rng: &mut Rng, format: &Format) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(rng.pick(&format.seeds))).expect("a seed");
    let mut packed = ZipWriter::new(Cursor::new(Vec::new()));
    for member in 0..archive.len() {
        let mut member = archive.by_index(member).expect("a member");
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).expect("a member");
        let name = member.name().expect("a name").into_owned();
        packed
            .start_file(name, SimpleFileOptions::default())
            .expect("into memory");
        packed
            .write_all(&mutate::bytes(rng, &bytes, &format.seeds))
            .expect("into memory");
    }
    packed.finish().expect("into memory").into_inner()
}

/// What every reader of numbers promises.
fn fields(bytes: &[u8], name: &str) -> bool {
    let fields = match parse_fields(bytes, name) {
        Ok(fields) => fields,
        Err(wrong) => {
            assert!(
                wrong.has_errors() && wrong.to_string().contains(name),
                "{wrong}"
            );
            return false;
        }
    };
    assert!(!fields.is_empty(), "no fields");
    for field in &fields {
        let array = &field.array;
        assert_eq!(array.rows(), fields[0].array.rows());
        assert!(!array.values.is_empty(), "no values");
        assert_eq!(array.shape.iter().product::<usize>(), array.values.len());
        match &array.values {
            Values::F32(values) => assert!(values.iter().all(|v| v.is_finite()), "not finite"),
            Values::F64(values) => assert!(values.iter().all(|v| v.is_finite()), "not finite"),
            Values::U8(_) | Values::I64(_) => {}
        }
    }
    true
}

/// CSV, asked for as everything a cell can be.
fn csv(bytes: &[u8]) -> bool {
    let file = match CsvFile::parse(bytes, "a.csv") {
        Ok(file) => file,
        Err(wrong) => {
            assert!(wrong.has_errors() && !wrong.to_string().is_empty());
            return false;
        }
    };
    let _ = file.column_index("x").map_err(|error| error.to_string());
    for column in 0..file.columns().len().min(20) {
        let (ints, reals, labels) = (file.ints(column), file.reals(column), file.labels(column));
        // What is an integer is a number, and what is a number is a label.
        assert!(
            ints.is_err() || reals.is_ok(),
            "an integer that is no number"
        );
        assert!(
            reals.is_err() || labels.is_ok(),
            "a number that is no label"
        );
        if let Ok(reals) = reals {
            assert_eq!(reals.len(), file.rows());
            assert!(reals.iter().all(|x| x.is_finite()), "not finite");
        }
    }
    true
}

fn individuals(bytes: &[u8]) -> bool {
    match parse_individuals(bytes, "a.csv", "Type") {
        Ok(labels) => {
            let distinct: HashSet<&String> = labels.iter().collect();
            assert!(!labels.is_empty() && distinct.len() == labels.len());
            assert!(labels.iter().all(|label| !label.trim().is_empty()));
            true
        }
        Err(wrong) => {
            assert!(wrong.has_errors() && !wrong.to_string().is_empty());
            false
        }
    }
}
