//! Whatever the bytes, a reader answers: it does not panic, and what it accepts is as it promises.

use proptest::prelude::*;
use safetensors::tensor::Dtype;

use super::writers::{f32s, f64s, gzip, idx, npy, npz, safetensors};
use crate::{Array, CsvFile, Field, Values, parse_fields, parse_individuals};

/// What [`Array`] promises.
fn check(array: &Array) {
    assert!(!array.values.is_empty());
    assert_eq!(array.shape.iter().product::<usize>(), array.values.len());
    assert_eq!(array.rows() * array.row_width(), array.values.len());
    match &array.values {
        Values::F32(values) => assert!(values.iter().all(|v| v.is_finite())),
        Values::F64(values) => assert!(values.iter().all(|v| v.is_finite())),
        Values::U8(_) | Values::I64(_) => {}
    }
}

fn check_fields(fields: &[Field]) {
    assert!(!fields.is_empty());
    for field in fields {
        check(&field.array);
        assert_eq!(field.array.rows(), fields[0].array.rows());
    }
}

/// Reads the bytes in every format. Messages are made too: they are code like any other.
fn read_all_ways(bytes: &[u8]) {
    for name in ["a.csv", "a.npy", "a.npz", "a.safetensors", "a.idx"] {
        match parse_fields(bytes, name) {
            Ok(fields) => check_fields(&fields),
            Err(wrong) => {
                assert!(wrong.has_errors());
                assert!(wrong.to_string().contains(name));
            }
        }
    }
    match CsvFile::parse(bytes, "a.csv") {
        Ok(file) => {
            let _ = file.column_index("x").map_err(|e| e.to_string());
            for column in 0..file.columns().len() {
                for wrong in [
                    file.ints(column).err(),
                    file.reals(column).err(),
                    file.labels(column).err(),
                ] {
                    let _ = wrong.map(|w| w.to_string());
                }
            }
        }
        Err(wrong) => assert!(wrong.has_errors()),
    }
    match parse_individuals(bytes, "a.csv", "Type") {
        Ok(labels) => assert!(!labels.is_empty()),
        Err(wrong) => assert!(wrong.has_errors()),
    }
}

fn valid_files() -> Vec<Vec<u8>> {
    vec![
        b"x,y\n1,2\n\"3\",4.5\n".to_vec(),
        b"x;y\n1;2,5\n\"3\";-4,5e3\n".to_vec(),
        b"cat\ndog\n".to_vec(),
        npy("<f4", true, &[2, 2], &f32s(&[1.0, 2.0, 3.0, 4.0])),
        npy("<u8", false, &[1, 2], &[7; 16]),
        npz(&[
            ("a.npy", npy("<f8", false, &[2], &f64s(&[1.0, 2.0]))),
            ("b.npy", npy("|b1", false, &[2], &[0, 1])),
        ]),
        idx(0x0d, &[2, 2], &[0; 16]),
        gzip(&idx(0x08, &[2, 2], &[1, 2, 3, 4])),
        safetensors(&[
            ("a", Dtype::F32, &[2], &f32s(&[1.0, 2.0])),
            ("b", Dtype::BF16, &[2, 1], &[0; 4]),
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(1000),
        ..ProptestConfig::default()
    })]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all_ways(&bytes);
    }

    #[test]
    fn arbitrary_text(text in "[-0-9a-z,;|\t\"\r\n .é]{0,100}") {
        read_all_ways(text.as_bytes());
    }

    #[test]
    fn damaged_files(
        which in 0usize..9,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        tail in prop::collection::vec(any::<u8>(), 0..3),
    ) {
        let mut bytes = valid_files().swap_remove(which);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        bytes.extend(tail);
        read_all_ways(&bytes);
    }

    /// A piece becomes one of another file, or a number that nobody expects.
    #[test]
    fn spliced_files(
        which in 0usize..8,
        other in 0usize..8,
        places in prop::array::uniform3(any::<prop::sample::Index>()),
        number in prop::option::of(prop::sample::select(vec![0, 1, 1 << 31, u64::from(u32::MAX), 1 << 40, i64::MAX as u64, u64::MAX])),
        big_endian: bool,
    ) {
        let mut bytes = valid_files().swap_remove(which);
        let other = valid_files().swap_remove(other);
        let [at, from, length] = places;
        let (at, from) = (at.index(bytes.len()), from.index(other.len()));
        let piece = match number {
            Some(number) if big_endian => number.to_be_bytes().to_vec(),
            Some(number) => number.to_le_bytes().to_vec(),
            None => other[from..other.len().min(from + length.index(40))].to_vec(),
        };
        let end = bytes.len().min(at + piece.len());
        bytes.splice(at..end, piece);
        read_all_ways(&bytes);
    }

    #[test]
    fn any_gzip_content(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        read_all_ways(&gzip(&bytes));
    }

    #[test]
    fn any_npy_in_a_zip(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        read_all_ways(&npz(&[("a.npy", bytes)]));
    }
}

#[test]
fn valid_files_are_valid() {
    let names = [
        "a.csv",
        "a.csv",
        "",
        "a.npy",
        "a.npy",
        "a.npz",
        "a.idx",
        "a.gz",
        "a.safetensors",
    ];
    for (bytes, name) in valid_files().iter().zip(names) {
        if !name.is_empty() {
            assert!(parse_fields(bytes, name).is_ok(), "{name}");
        }
    }
}
