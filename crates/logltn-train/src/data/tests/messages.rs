//! The words of the readers, each next to the file that earns them.

use logltn::Diagnostics;
use safetensors::tensor::Dtype;

use super::writers::{
    f32s, f64s, gzip, idx, npy, npy_with_header, npz, safetensors, safetensors_with_header,
};
use crate::data::{CsvFile, parse_fields, parse_individuals};

fn fields(bytes: &[u8], name: &str) -> String {
    parse_fields(bytes, name).unwrap_err().to_string()
}

fn csv<T: std::fmt::Debug>(text: &str, ask: impl Fn(&CsvFile) -> Result<T, Diagnostics>) -> String {
    let file = CsvFile::parse(text.as_bytes(), "points.csv");
    file.and_then(|file| ask(&file)).unwrap_err().to_string()
}

#[test]
fn csv_files() {
    let say = |text: &[u8]| fields(text, "points.csv");
    insta::assert_snapshot!(say(b""), @"");
    insta::assert_snapshot!(say(b"\r\n\n"), @"");
    insta::assert_snapshot!(say(b"x,y\n"), @"");
    insta::assert_snapshot!(say(b"x,y\n1,2\n3\n4,5,6\n"), @"");
    insta::assert_snapshot!(say(b"x;y\n1;2\n3,5;4\n"), @"");
    insta::assert_snapshot!(say(b"x,y\n1,\"2\n3,4\n5\",6\n"), @"");
    insta::assert_snapshot!(say(b"x,y\n1,\"2\n3,4\n5,6\n"), @"");
    insta::assert_snapshot!(say(b"x,y,x,,\n1,2,3,4,5\n"), @"");
    insta::assert_snapshot!(say(b"name\nAndr\xe9\n"), @"");
    insta::assert_snapshot!(say(b"\xff\xfex\0"), @"");
    insta::assert_snapshot!(say(b"\x89PNG\r\n\x1a\n"), @"");
    insta::assert_snapshot!(say(b"1,2\n3,4,5\n"), @"");
}

#[test]
fn csv_cells() {
    let text = "x,y\n1,abc\n,\"1,5\"\nNaN,1e999\n-inf,-1e999\n";
    insta::assert_snapshot!(csv(text, CsvFile::matrix), @"");
    let text = "n\n1\n2.0\n2.5\n9223372036854775808\n\"\"\nseven\n";
    insta::assert_snapshot!(csv(text, |f| f.ints(0)), @"");
    insta::assert_snapshot!(csv("a,b\nx,\ny, \n", |f| f.labels(1)), @"");
    insta::assert_snapshot!(csv("1,cat\n2,dog\n", CsvFile::matrix), @"");
    insta::assert_snapshot!(csv("1.5\ncat\n", CsvFile::matrix), @"");
    let many = format!("x\n{}", "a\n".repeat(1000));
    let all = csv(&many, CsvFile::matrix);
    assert_eq!(all.matches("error:").count(), 10);
    assert!(all.ends_with("… and 990 more in this file\n"), "{all}");
}

#[test]
fn csv_columns() {
    let say = |text: &str, name: &str| csv(text, |f| Ok(f.column_index(name)?));
    insta::assert_snapshot!(say("x,label,\n1,2,3\n", "lable"), @"");
    insta::assert_snapshot!(say("1,2\n3,4\n", "x"), @"");
    let wide: Vec<String> = (0..50).map(|i| format!("c{i}")).collect();
    assert!(say(&wide.join(","), "q").contains("`c19`, … and 30 more"));
}

#[test]
fn individuals() {
    let say = |text: &[u8]| {
        let labels = parse_individuals(text, "types.csv", "Type");
        labels.unwrap_err().to_string()
    };
    insta::assert_snapshot!(say(b""), @"");
    insta::assert_snapshot!(say(b"type\n  \n"), @"");
    insta::assert_snapshot!(say(b"cat\ndog\n\ncat\ndog,animal\n"), @"");
}

#[test]
fn npy_files() {
    let say = |bytes: &[u8]| fields(bytes, "a.npy");
    insta::assert_snapshot!(say(b""), @"");
    insta::assert_snapshot!(say(b"\x01\x02\x03\x04\x05\x06\x07"), @"");
    insta::assert_snapshot!(say(&gzip(b"hello")), @"");
    insta::assert_snapshot!(say(b"\x89HDF\r\n\x1a\n...."), @"");
    insta::assert_snapshot!(say(b"x,y\n1,2\n"), @"");
    insta::assert_snapshot!(say(b"\x93NUMPY\x09\x00"), @"");
    insta::assert_snapshot!(say(b"\x93NUMPY\x01\x00\x76\x00{'descr'"), @"");
    insta::assert_snapshot!(say(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'"), @"");
    insta::assert_snapshot!(say(&npy("<f4", false, &[3, 2], &f32s(&[1.0; 5]))), @"");
    insta::assert_snapshot!(say(&npy("<f4", false, &[2, 2], &f32s(&[1.0; 5]))), @"");
    insta::assert_snapshot!(say(&npy("<f8", false, &[1000000000, 1000000000], &[0; 8])), @"");
    insta::assert_snapshot!(say(&npy("<f8", false, &[usize::MAX, 3], &[0; 8])), @"");
    insta::assert_snapshot!(say(&npy("<f8", false, &[], &[0; 8])), @"");
    insta::assert_snapshot!(say(&npy("<f8", false, &[0, 4], &[])), @"");
    insta::assert_snapshot!(say(&npy("|u1", false, &[1; 65], &[0])), @"");
    let wrong = f64s(&[1.0, f64::NAN, 3.0, 4.0, f64::INFINITY, f64::NEG_INFINITY]);
    insta::assert_snapshot!(say(&npy("<f8", false, &[2, 3], &wrong)), @"");
    insta::assert_snapshot!(say(&npy("<f8", true, &[3, 2], &wrong)), @"");
    insta::assert_snapshot!(say(&npy("<u8", false, &[1], &[255; 8])), @"");
    insta::assert_snapshot!(say(&npy("|b1", false, &[2], &[1, 2])), @"");
    for (descr, words) in [
        ("<c16", "`<c16` (complex numbers)"),
        ("<U5", "`<U5` (text)"),
        ("|O", "`|O` (pickled Python objects)"),
        ("<M8[ns]", "`<M8[ns]` (dates)"),
        ("<f16", "`<f16` (floating point of an unusual size)"),
        ("é", "`é` (not a type of NumPy)"),
    ] {
        let text = say(&npy(descr, false, &[1], &[0; 16]));
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn npy_headers() {
    let say = |header: &str| fields(&npy_with_header(header, &[]), "a.npy");
    insta::assert_snapshot!(say("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}"), @"");
    insta::assert_snapshot!(say("{'descr': '<f4', 'shape': (1,)}"), @"");
    insta::assert_snapshot!(say("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}"), @"");
    for (header, expected) in [
        ("", "expected `{`"),
        ("{'descr", "expected a string in quotes"),
        ("{'descr' '<f4'", "expected `:`"),
        ("{'descr': '<f4' 'a'", "expected `,` or `}`"),
        (
            "{'color': 1}",
            "expected `descr`, `fortran_order` or `shape`",
        ),
        ("{'shape': 3}", "expected a shape in parentheses"),
        ("{'shape': (-3,)}", "expected a shape of integers"),
        (
            "{'shape': (99999999999999999999,)}",
            "expected a shape of integers",
        ),
        ("{'shape': (1 2)}", "expected `,` or `)`"),
        ("{} 1", "expected nothing after the closing `}`"),
    ] {
        let text = say(header);
        assert!(text.contains(expected), "{header}: {text}");
    }
}

#[test]
fn npz_files() {
    let say = |bytes: &[u8]| fields(bytes, "a.npz");
    let good = || npy("<f4", false, &[2], &f32s(&[1.0, 2.0]));
    insta::assert_snapshot!(say(&good()), @"");
    insta::assert_snapshot!(say(&npz(&[])), @"");
    insta::assert_snapshot!(say(&npz(&[("a.npy", good()), ("readme.txt", b"hello".to_vec())])), @"");
    insta::assert_snapshot!(say(&npz(&[("a.npy", good()), ("b.npy", npy("|u1", false, &[1], &[1]))])), @"");
    insta::assert_snapshot!(say(&npz(&[("a.npy", npy("<f4", false, &[9], &[0; 4])), ("b.npy", b"x,y".to_vec())])), @"");
    insta::assert_snapshot!(say(&npz(&[("a.npy", npy("|u1", false, &[1000000000], &[0]))])), @"");
    // A zip bomb in small: the header promises one byte, and no more than two are unpacked.
    insta::assert_snapshot!(say(&npz(&[("a.npy", npy("|u1", false, &[1], &[0; 1_000_000]))])), @"");
    let whole = npz(&[("a.npy", good())]);
    assert!(say(&whole[..whole.len() - 30]).contains("a.npz: the zip archive cannot be read"));
    let mut damaged = whole;
    damaged[60] ^= 0x55;
    assert!(
        say(&damaged).contains("a.npz, field `a`: the archive is damaged here"),
        "{}",
        say(&damaged)
    );
}

#[test]
fn idx_files() {
    let say = |bytes: &[u8]| fields(bytes, "a-idx1-ubyte");
    let good = idx(0x08, &[2, 3], &[1, 2, 3, 4, 5, 6]);
    insta::assert_snapshot!(say(b""), @"");
    insta::assert_snapshot!(say(b"\x93NUMPY"), @"");
    insta::assert_snapshot!(say(&gzip(b"x,y\n1,2\n")), @"");
    insta::assert_snapshot!(say(b"\0\0\x07\x01\0\0\0\x01\x01"), @"");
    insta::assert_snapshot!(say(&good[..9]), @"");
    insta::assert_snapshot!(say(&good[..15]), @"");
    insta::assert_snapshot!(say(&[&good[..], b"!"].concat()), @"");
    insta::assert_snapshot!(say(&idx(0x08, &[], &[1])), @"");
    insta::assert_snapshot!(say(&idx(0x08, &[0, 28, 28], &[])), @"");
    insta::assert_snapshot!(say(&idx(0x0e, &[4294967295, 4294967295, 9], &[])), @"");
    insta::assert_snapshot!(say(&idx(0x0d, &[1, 2], &[0, 0, 0, 0, 0x7f, 0xc0, 0, 0])), @"");
}

#[test]
fn gzipped_idx_files() {
    let say = |bytes: &[u8]| fields(bytes, "a.gz");
    let good = idx(0x08, &[2, 3], &[1, 2, 3, 4, 5, 6]);
    let packed = gzip(&good);
    insta::assert_snapshot!(say(&packed[..packed.len() - 9]), @"");
    let mut wrong_sum = packed.clone();
    let sum = wrong_sum.len() - 8;
    wrong_sum[sum] ^= 1;
    insta::assert_snapshot!(say(&wrong_sum), @"");
    insta::assert_snapshot!(say(&[&packed[..], b"garbage here"].concat()), @"");
    insta::assert_snapshot!(say(&gzip(&good[..15])), @"");
    insta::assert_snapshot!(say(&gzip(&idx(0x08, &[1000000000], &[]))), @"");
    // A gzip bomb in small: no more than one byte too many is unpacked.
    insta::assert_snapshot!(say(&gzip(&idx(0x08, &[2], &[0; 1_000_000]))), @"");
}

#[test]
fn safetensors_files() {
    let say = |bytes: &[u8]| fields(bytes, "a.safetensors");
    let with = |header: &str, bytes: usize| say(&safetensors_with_header(header, &vec![0; bytes]));
    let good = safetensors(&[("roi", Dtype::F32, &[1, 2], &f32s(&[1.0, 2.0]))]);
    insta::assert_snapshot!(say(b"x,y\n1,2\n3,4\n"), @"");
    insta::assert_snapshot!(say(b"\x01\0"), @"");
    insta::assert_snapshot!(say(&good[..20]), @"");
    insta::assert_snapshot!(say(&good[..good.len() - 1]), @"");
    insta::assert_snapshot!(say(&[&good[..], b"!"].concat()), @"");
    insta::assert_snapshot!(with("{}", 0), @"");
    insta::assert_snapshot!(with("{\"a\": ", 0), @"");
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}"#, 4), @"");
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F32", "shape": [1]}}"#, 4), @"");
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}}"#, 1), @"");
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}"#, 4), @"");
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "U8", "shape": [1], "data_offsets": [2, 1]}}"#, 4), @"");
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}"#, 4), @"");
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}"#, 0), @"");
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}, "b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}}"#, 3), @"");
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}, "b": {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]}}"#, 3), @"");
    let nan = safetensors(&[("roi", Dtype::BF16, &[2, 2], &[0, 0, 0, 0, 0xc0, 0x7f, 0, 0])]);
    insta::assert_snapshot!(say(&nan), @"");
    let rows = safetensors(&[
        ("position", Dtype::U8, &[3], &[0; 3]),
        ("roi", Dtype::U8, &[1, 2], &[0; 2]),
    ]);
    insta::assert_snapshot!(say(&rows), @"");
    // Offsets whose sum overflows: the reason why the header is read by hand.
    let edge = format!(
        r#"{{"a": {{"dtype": "U8", "shape": [{0}], "data_offsets": [0, {0}]}}}}"#,
        usize::MAX
    );
    insta::assert_snapshot!(with(&edge, 0), @"");
}

#[test]
fn names() {
    insta::assert_snapshot!(fields(b"", "features.mat"), @"");
    insta::assert_snapshot!(fields(b"", "boxes.csv.gz"), @"");
}
