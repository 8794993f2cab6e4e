//! What the readers read: every type and layout, and back what was written.

use proptest::prelude::*;
use safetensors::tensor::Dtype;

use super::writers::{f32s, f64s, gzip, idx, npy, npy_with_header, npz, safetensors};
use crate::{
    Array, CsvFile, Field, Values, idx, npy, npz, parse_fields, parse_individuals,
    parse_safetensors,
};

fn array(shape: &[usize], values: Values) -> Array {
    Array {
        shape: shape.to_vec(),
        values,
    }
}

#[test]
fn npy_reads_every_type() {
    let cases: &[(&str, &[u8], Values)] = &[
        ("|b1", &[0, 1], Values::U8(vec![0, 1].into())),
        ("|u1", &[0, 255], Values::U8(vec![0, 255].into())),
        ("|i1", &[1, 255], Values::I64(vec![1, -1])),
        ("<u2", &[1, 0, 255, 255], Values::I64(vec![1, 65535])),
        ("<i2", &[1, 0, 255, 255], Values::I64(vec![1, -1])),
        (">i2", &[0, 1, 1, 0], Values::I64(vec![1, 256])),
        (
            "<u4",
            &[1, 0, 0, 0, 255, 255, 255, 255],
            Values::I64(vec![1, 4294967295]),
        ),
        (
            "<i4",
            &[1, 0, 0, 0, 255, 255, 255, 255],
            Values::I64(vec![1, -1]),
        ),
        (
            "<u8",
            &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0],
            Values::I64(vec![1, 2]),
        ),
        (
            "<i8",
            &[
                1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
            ],
            Values::I64(vec![1, -1]),
        ),
        (
            "<f2",
            &[0, 0x3c, 0, 0xc0],
            Values::F32(vec![1.0, -2.0].into()),
        ),
        (
            "<f4",
            &f32s(&[0.1, -2.5]),
            Values::F32(vec![0.1, -2.5].into()),
        ),
        (
            ">f4",
            &[0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0],
            Values::F32(vec![1.0, -1.0].into()),
        ),
        (
            "<f8",
            &f64s(&[0.1, -2.5]),
            Values::F64(vec![0.1, -2.5].into()),
        ),
    ];
    for (descr, bytes, values) in cases {
        let read = npy::parse(&npy(descr, false, &[2], bytes), None, "a.npy");
        assert_eq!(read.unwrap(), array(&[2], values.clone()), "{descr}");
    }
}

#[test]
fn npy_reads_fortran_order() {
    let bytes = npy("<f8", true, &[2, 3], &f64s(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    let read = npy::parse(&bytes, None, "a.npy").unwrap();
    assert_eq!(
        read.values,
        Values::F64(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0].into())
    );
}

#[test]
fn npy_reads_other_headers() {
    let python2 = "{\"shape\": (2L, 1L), \"fortran_order\": False, \"descr\": \"|u1\"}";
    let read = npy::parse(&npy_with_header(python2, &[3, 4]), None, "a.npy").unwrap();
    assert_eq!(read, array(&[2, 1], Values::U8(vec![3, 4].into())));
    // Versions 2 and 3 have a header length of four bytes.
    let first = npy("|u1", false, &[2], &[3, 4]);
    for version in [2, 3] {
        let mut bytes = first.clone();
        bytes[6] = version;
        bytes.splice(10..10, [0, 0]);
        let read = npy::parse(&bytes, None, "a.npy").unwrap();
        assert_eq!(read.values, Values::U8(vec![3, 4].into()));
    }
}

#[test]
fn npz_names_its_fields_in_the_order_of_the_archive() {
    let bytes = npz(&[
        ("roi.npy", npy("<f4", false, &[2, 3], &f32s(&[0.0; 6]))),
        ("box.npy", npy("|u1", false, &[2], &[7, 8])),
    ]);
    let fields = parse_fields(&bytes, "boxes.npz").unwrap();
    let names: Vec<_> = fields.iter().map(|f| f.name.as_deref()).collect();
    assert_eq!(names, [Some("roi"), Some("box")]);
    assert_eq!(fields[1].array, array(&[2], Values::U8(vec![7, 8].into())));
}

#[test]
fn npz_reads_a_header_shorter_than_the_preamble() {
    // 10 bytes and a header of 1: too short to be right, but nothing to stumble over.
    let bytes = npz(&[("a.npy", b"\x93NUMPY\x01\x00\x01\x00{abc".to_vec())]);
    assert!(npz::parse(&bytes, "a.npz").is_err());
}

#[test]
fn idx_reads_every_type_plain_and_gzipped() {
    let cases: &[(u8, &[u8], Values)] = &[
        (0x08, &[0, 255], Values::U8(vec![0, 255].into())),
        (0x09, &[0, 255], Values::I64(vec![0, -1])),
        (0x0b, &[1, 0, 255, 255], Values::I64(vec![256, -1])),
        (
            0x0c,
            &[0, 0, 1, 0, 255, 255, 255, 255],
            Values::I64(vec![256, -1]),
        ),
        (
            0x0d,
            &[0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0],
            Values::F32(vec![1.0, -1.0].into()),
        ),
        (
            0x0e,
            &[0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0],
            Values::F64(vec![1.0, -1.0].into()),
        ),
    ];
    for (element, bytes, values) in cases {
        let file = idx(*element, &[2, 1], bytes);
        let expected = array(&[2, 1], values.clone());
        assert_eq!(idx::parse_idx(&file, "a.idx").unwrap(), expected);
        assert_eq!(idx::parse_idx(&gzip(&file), "a.idx").unwrap(), expected);
    }
}

#[test]
fn idx_reads_a_gzip_of_several_members() {
    let file = idx(0x08, &[4], &[1, 2, 3, 4]);
    let bytes = [gzip(&file[..7]), gzip(&file[7..])].concat();
    let read = idx::parse_idx(&bytes, "a.gz").unwrap();
    assert_eq!(read.values, Values::U8(vec![1, 2, 3, 4].into()));
}

#[test]
fn safetensors_reads_every_type() {
    let one_and_two: &[(Dtype, &[u8], Values)] = &[
        (Dtype::BOOL, &[0, 1], Values::U8(vec![0, 1].into())),
        (Dtype::U8, &[1, 2], Values::U8(vec![1, 2].into())),
        (Dtype::I8, &[1, 255], Values::I64(vec![1, -1])),
        (Dtype::I16, &[1, 0, 255, 255], Values::I64(vec![1, -1])),
        (Dtype::U16, &[1, 0, 255, 255], Values::I64(vec![1, 65535])),
        (
            Dtype::I32,
            &[1, 0, 0, 0, 2, 0, 0, 0],
            Values::I64(vec![1, 2]),
        ),
        (
            Dtype::U32,
            &[1, 0, 0, 0, 2, 0, 0, 0],
            Values::I64(vec![1, 2]),
        ),
        (
            Dtype::I64,
            &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0],
            Values::I64(vec![1, 2]),
        ),
        (
            Dtype::U64,
            &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0],
            Values::I64(vec![1, 2]),
        ),
        (
            Dtype::F16,
            &[0, 0x3c, 0, 0x40],
            Values::F32(vec![1.0, 2.0].into()),
        ),
        (
            Dtype::BF16,
            &[0x80, 0x3f, 0, 0x40],
            Values::F32(vec![1.0, 2.0].into()),
        ),
        (
            Dtype::F32,
            &f32s(&[0.1, 2.0]),
            Values::F32(vec![0.1, 2.0].into()),
        ),
        (
            Dtype::F64,
            &f64s(&[0.1, 2.0]),
            Values::F64(vec![0.1, 2.0].into()),
        ),
    ];
    for (dtype, bytes, values) in one_and_two {
        let file = safetensors(&[("t", *dtype, &[2, 1], bytes)]);
        let read = parse_safetensors(&file, "a.safetensors").unwrap();
        let expected = Field {
            name: Some("t".to_string()),
            array: array(&[2, 1], values.clone()),
        };
        assert_eq!(read, [expected], "{dtype}");
    }
}

#[test]
fn safetensors_come_in_the_order_of_their_names() {
    let file = safetensors(&[
        ("roi", Dtype::F64, &[1, 2], &f64s(&[1.0, 2.0])),
        ("position", Dtype::U8, &[1, 4], &[1, 2, 3, 4]),
    ]);
    let fields = parse_fields(&file, "boxes.safetensors").unwrap();
    let names: Vec<_> = fields.iter().map(|f| f.name.as_deref()).collect();
    assert_eq!(names, [Some("position"), Some("roi")]);
    assert_eq!(fields[1].array.to_f64(), [1.0, 2.0]);
}

#[test]
fn csv_reads_what_spreadsheets_and_pandas_write() {
    // A byte-order mark, CRLF, blanks, an unnamed index column, a quoted line break, no last newline.
    let text = "\u{feff},x, label \r\n0, 1.5 ,\"a,b\"\r\n\r\n1,-2e3,\"c\r\nd\"\r\n2,+3,é";
    let file = CsvFile::parse(text.as_bytes(), "a.csv").unwrap();
    assert_eq!(file.columns(), ["", "x", "label"]);
    assert_eq!(file.rows(), 3);
    assert_eq!(file.ints(0).unwrap(), [0, 1, 2]);
    assert_eq!(file.reals(1).unwrap(), [1.5, -2000.0, 3.0]);
    assert_eq!(file.labels(2).unwrap(), ["a,b", "c\r\nd", "é"]);
    assert_eq!(
        file.place(2, 0),
        "a.csv, row 2 (line 6), column 0 (no name)"
    );
    assert_eq!(file.place(1, 1), "a.csv, row 1 (line 4), column `x`");
}

#[test]
fn csv_may_have_no_rows_and_numbers_for_names() {
    let file = CsvFile::parse(b"x,y\n", "a.csv").unwrap();
    assert_eq!((file.rows(), file.ints(1).unwrap().len()), (0, 0));
    let file = CsvFile::parse(b"0,1\n2,3\n", "a.csv").unwrap();
    assert_eq!(
        file.matrix().unwrap(),
        array(&[1, 2], Values::F64(vec![2.0, 3.0].into()))
    );
}

#[test]
fn csv_integers_reach_both_ends() {
    let text = format!("n\n{}\n{}\n+7\n", i64::MIN, i64::MAX);
    let file = CsvFile::parse(text.as_bytes(), "a.csv").unwrap();
    assert_eq!(file.ints(0).unwrap(), [i64::MIN, i64::MAX, 7]);
}

/// A file of individuals has no header: nothing that it says is dropped.
#[test]
fn individuals_have_no_header() {
    let read = |text: &str| parse_individuals(text.as_bytes(), "t.csv", "Type").unwrap();
    assert_eq!(read("cat\n  \n dog \n"), ["cat", "dog"]);
    for first in [
        "type",
        "TYPE",
        "Label",
        "labels",
        "name",
        "individual",
        "Individuals",
    ] {
        let labels = read(&format!("\u{feff}{first}\r\ncat\r\n"));
        assert_eq!(labels, [first, "cat"]);
        let said = crate::header_among_individuals(&labels, "t.csv", "Type");
        assert!(said.is_some(), "{first}");
    }
    let labels = read("cat\nname\n");
    assert_eq!(labels, ["cat", "name"]);
    assert!(crate::header_among_individuals(&labels, "t.csv", "Type").is_none());
}

#[test]
fn the_name_tells_the_format() {
    let file = idx(0x08, &[1], &[5]);
    for name in ["a.idx", "A.IDX", "a-idx1-ubyte", "a.idx3-ubyte"] {
        assert!(parse_fields(&file, name).is_ok(), "{name}");
    }
    for name in ["a.gz", "a.idx.gz", "a-idx1-ubyte.gz"] {
        assert!(parse_fields(&gzip(&file), name).is_ok(), "{name}");
    }
    for name in ["a", "a.txt", "a.npy.gz", "csv", "a.csv.gz", "a.csv.bak"] {
        assert!(parse_fields(&file, name).is_err(), "{name}");
    }
}

/// A number as spreadsheets write it where the comma is the decimal mark.
fn with_comma(number: f64, thousands: bool) -> String {
    let text = format!("{:.2}", number.abs());
    let (whole, after) = text.split_once('.').expect("two digits behind the point");
    let mut out = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if thousands && i > 0 && (whole.len() - i) % 3 == 0 {
            out.push('.');
        }
        out.push(digit);
    }
    let sign = if number < 0.0 { "-" } else { "" };
    match after {
        "00" => format!("{sign}{out}"),
        after => format!("{sign}{out},{after}"),
    }
}

proptest! {
    /// What is read is what was meant, or the file is refused.
    #[test]
    fn other_separators_and_decimal_commas(
        numbers in prop::collection::vec(-9_000_000i64..9_000_000, 2..30), round: bool, thousands: bool, bar in 0usize..3,
    ) {
        let separator = [";", "\t", "|"][bar];
        // Elsewhere points are decimal points, unless there are decimal commas.
        let thousands = thousands && separator == ";";
        let number = |n: i64| if round { n as f64 * 10.0 } else { n as f64 / 100.0 };
        let numbers: Vec<f64> = numbers.into_iter().map(number).collect();
        let rows = |write: &dyn Fn(f64) -> String, between: &str| -> String {
            let rows = numbers.iter().enumerate().map(|(i, n)| format!("{}{between}{i}\n", write(*n)));
            format!("x{between}n\n{}", rows.collect::<String>())
        };
        let plain = rows(&|n| n.to_string(), ",");
        let meant = parse_fields(plain.as_bytes(), "a.csv").unwrap()[0].array.to_f64();
        let points = rows(&|n| n.to_string(), separator);
        prop_assert_eq!(parse_fields(points.as_bytes(), "a.csv").unwrap()[0].array.to_f64(), meant.clone());
        let commas = rows(&|n| with_comma(n, thousands), separator);
        match parse_fields(commas.as_bytes(), "a.csv") {
            Ok(fields) => prop_assert_eq!(fields[0].array.to_f64(), meant),
            Err(refused) => prop_assert!(thousands, "{commas}{refused}"),
        }
    }

    #[test]
    fn npy_gives_back_what_was_written(
        rows in 1usize..5, columns in 1usize..5, fortran: bool, seed in prop::collection::vec(-1e300f64..1e300, 16),
    ) {
        let at = |r: usize, c: usize| seed[(r * 4 + c) % 16];
        let mut row_major = Vec::new();
        let mut written = Vec::new();
        for r in 0..rows {
            for c in 0..columns {
                row_major.push(at(r, c));
            }
        }
        if fortran {
            for c in 0..columns {
                for r in 0..rows {
                    written.push(at(r, c));
                }
            }
        } else {
            written.clone_from(&row_major);
        }
        let bytes = npy("<f8", fortran, &[rows, columns], &f64s(&written));
        let read = npy::parse(&bytes, None, "a.npy").unwrap();
        prop_assert_eq!(read, array(&[rows, columns], Values::F64(row_major.into())));
    }

    #[test]
    fn idx_gives_back_what_was_written(values in prop::collection::vec(any::<u8>(), 1..200), packed: bool) {
        let mut bytes = idx(0x08, &[values.len(), 1, 1], &values);
        if packed {
            bytes = gzip(&bytes);
        }
        let read = idx::parse_idx(&bytes, "a.idx").unwrap();
        prop_assert_eq!(read, array(&[values.len(), 1, 1], Values::U8(values.into())));
    }

    #[test]
    fn safetensors_gives_back_what_was_written(values in prop::collection::vec(-1e30f32..1e30, 1..50)) {
        let bytes = safetensors(&[("a", Dtype::F32, &[values.len()], &f32s(&values))]);
        let read = parse_safetensors(&bytes, "a.safetensors").unwrap();
        prop_assert_eq!(&read[0].array.values, &Values::F32(values.into()));
    }

    #[test]
    fn npz_gives_back_what_was_written(values in prop::collection::vec(any::<i32>(), 1..50)) {
        let numbers: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let bytes = npz(&[("a.npy", npy("<i4", false, &[values.len()], &numbers))]);
        let read = npz::parse(&bytes, "a.npz").unwrap();
        let values = values.into_iter().map(i64::from).collect();
        prop_assert_eq!(&read[0].array.values, &Values::I64(values));
    }

    #[test]
    fn csv_gives_back_what_was_written(
        rows in prop::collection::vec((any::<i64>(), any::<f64>().prop_filter("finite", |x| x.is_finite()), "[^ \t]?[ -~\n\"é]{0,8}x"), 0..20),
        crlf: bool,
    ) {
        let mut writer = csv::WriterBuilder::new()
            .terminator(if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') })
            .from_writer(Vec::new());
        writer.write_record(["n", "x", "label"]).unwrap();
        for (n, x, label) in &rows {
            writer.write_record([n.to_string(), format!("{x:e}"), label.clone()]).unwrap();
        }
        let file = CsvFile::parse(&writer.into_inner().unwrap(), "a.csv").unwrap();
        prop_assert_eq!(file.ints(0).unwrap(), rows.iter().map(|r| r.0).collect::<Vec<_>>());
        prop_assert_eq!(file.reals(1).unwrap(), rows.iter().map(|r| r.1).collect::<Vec<_>>());
        prop_assert_eq!(file.labels(2).unwrap(), rows.iter().map(|r| r.2.trim().to_string()).collect::<Vec<_>>());
    }
}
