//! The messages of the readers, each beside the file that causes it.

use logltn_diagnostics::Diagnostics;
use safetensors::tensor::Dtype;

use super::writers::{
    f32s, f64s, gzip, idx, npy, npy_with_header, npz, safetensors, safetensors_with_header,
};
use crate::{CsvFile, parse_fields, parse_individuals};

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
    insta::assert_snapshot!(say(b""), @r#"
    error: points.csv: the file is empty
    "#);
    insta::assert_snapshot!(say(b"\r\n\n"), @r#"
    error: points.csv: the file is empty
    "#);
    insta::assert_snapshot!(say(b"x,y\n"), @r#"
    error: points.csv: the file has a header line but no rows
    "#);
    insta::assert_snapshot!(say(b"x,y\n1,2\n3\n4,5,6\n"), @r#"
    error: points.csv, row 1 (line 3): expected 2 cells as in the header, found 1

    error: points.csv, row 2 (line 4): expected 2 cells as in the header, found 3
     |
     = help: a cell that contains a comma must be in quotes `"…"`
    "#);
    insta::assert_snapshot!(say(b"x;y\n1;2\n3,5\n"), @r#"
    error: points.csv, row 1 (line 3): expected 2 cells as in the header, found 1
     |
     = help: separate cells with semicolons, as in the header
    "#);
    insta::assert_snapshot!(say(b"x,y\n1,\"2\n3,4\n5\",6\n"), @r#"
    error: points.csv, row 0 (line 2): expected 2 cells as in the header, found 3
     |
     = help: the row goes over several lines: look for a quote `"` too many
    "#);
    insta::assert_snapshot!(say(b"x,y\n1,\"2\n3,4\n5,6\n"), @r#"
    error: points.csv, line 2: a quote is opened but never closed
     |
     = help: close it with `"`, or write `""` for a quote within quotes
    "#);
    insta::assert_snapshot!(say(b"x,y,x,,\n1,2,3,4,5\n"), @r#"
    error: points.csv, header (line 1): columns 1 and 3 are both named `x`
     |
     = help: give every column a different name

    error: points.csv, header (line 1): columns 4 and 5 have no name; only one column may be without one
     |
     = help: give every column a different name
    "#);
    insta::assert_snapshot!(say(b"name\nAndr\xe9\n"), @r#"
    error: points.csv: expected text in UTF-8: line 2 is not UTF-8
     |
     = help: save the file as UTF-8 (it may be in Latin-1 or Windows-1252)
    "#);
    insta::assert_snapshot!(say(b"\xff\xfex\0"), @r#"
    error: points.csv: expected text in UTF-8: this looks like UTF-16 text
     |
     = help: save it as UTF-8
    "#);
    insta::assert_snapshot!(say(b"\x89PNG\r\n\x1a\n"), @r#"
    error: points.csv: expected text in UTF-8: this looks like a PNG picture
     |
     = help: convert the pictures to one array, for example an `.npy` file
    "#);
    insta::assert_snapshot!(say(b"x\n0.5\n\n0.7\n"), @r#"
    error: points.csv, line 3: expected a row, found a blank line
     |
     = help: remove the line, or write `""` for an empty cell
    "#);
    insta::assert_snapshot!(say(b"1,2\n3,4,5\n"), @r#"
    error: points.csv, row 0 (line 2): expected 2 cells as in the header, found 3
     |
     = note: the header line consists of numbers: every CSV file starts with a line of column names; is it missing?
     = help: a cell that contains a comma must be in quotes `"…"`
    "#);
}

#[test]
fn csv_cells() {
    let text = "x,y\n1,abc\n,\"1,5\"\nNaN,1e999\n-inf,-1e999\n";
    insta::assert_snapshot!(csv(text, CsvFile::matrix), @r#"
    error: points.csv, row 0 (line 2), column `y`: expected a number, found `abc`

    error: points.csv, row 1 (line 3), column `x`: expected a number, found an empty cell

    error: points.csv, row 1 (line 3), column `y`: expected a number, found `1,5`
     |
     = help: write the decimal point as a dot

    error: points.csv, row 2 (line 4), column `x`: expected a finite number, found `NaN`

    error: points.csv, row 2 (line 4), column `y`: the number `1e999` is too large
     |
     = help: the largest number is about 1.8e308

    error: points.csv, row 3 (line 5), column `x`: expected a finite number, found `-inf`

    error: points.csv, row 3 (line 5), column `y`: the number `-1e999` is too large
     |
     = help: the largest number is about 1.8e308
    "#);
    let text = "n\n1\n2.0\n2.5\n9223372036854775808\n\"\"\nseven\n";
    insta::assert_snapshot!(csv(text, |f| f.ints(0)), @r#"
    error: points.csv, row 1 (line 3), column `n`: expected an integer, found `2.0`
     |
     = help: write it without a decimal point

    error: points.csv, row 2 (line 4), column `n`: expected an integer, found `2.5`

    error: points.csv, row 3 (line 5), column `n`: the integer `9223372036854775808` does not fit into 64 bits

    error: points.csv, row 4 (line 6), column `n`: expected an integer, found an empty cell

    error: points.csv, row 5 (line 7), column `n`: expected an integer, found `seven`
    "#);
    insta::assert_snapshot!(csv("a,b\nx,\ny, \n", |f| f.labels(1)), @r#"
    error: points.csv, row 0 (line 2), column `b`: expected a label, found an empty cell

    error: points.csv, row 1 (line 3), column `b`: expected a label, found an empty cell
    "#);
    insta::assert_snapshot!(csv("1,cat\n2,dog\n", CsvFile::matrix), @r#"
    error: points.csv, row 0 (line 2), column `cat`: expected a number, found `dog`
    "#);
    insta::assert_snapshot!(csv("1.5\ncat\n", CsvFile::matrix), @r#"
    error: points.csv, row 0 (line 2), column `1.5`: expected a number, found `cat`
     |
     = note: the header line consists of numbers: every CSV file starts with a line of column names; is it missing?
    "#);
    let many = format!("x\n{}", "a\n".repeat(1000));
    let all = csv(&many, CsvFile::matrix);
    assert_eq!(all.matches("error:").count(), 10);
    assert!(all.ends_with("… and 990 more in this file\n"), "{all}");
}

#[test]
fn csv_columns() {
    let say = |text: &str, name: &str| csv(text, |f| Ok(f.column_index(name)?));
    insta::assert_snapshot!(say("x,label,\n1,2,3\n", "lable"), @r#"
    error: points.csv: there is no column `lable`
     |
     = note: its columns are `x`, `label`, (no name)
     = help: did you mean `label`?
    "#);
    insta::assert_snapshot!(say("1,2\n3,4\n", "x"), @r#"
    error: points.csv: there is no column `x`
     |
     = note: its columns are `1`, `2`
     = note: the header line consists of numbers: every CSV file starts with a line of column names; is it missing?
    "#);
    let wide: Vec<String> = (0..50).map(|i| format!("c{i}")).collect();
    assert!(say(&wide.join(","), "q").contains("`c19`, … and 30 more"));
}

#[test]
fn individuals() {
    let say = |text: &[u8]| {
        let labels = parse_individuals(text, "types.csv", "Type");
        labels.unwrap_err().to_string()
    };
    insta::assert_snapshot!(say(b""), @r#"
    error: types.csv: the file is empty
    "#);
    insta::assert_snapshot!(say(b"  \n \t\n"), @r#"
    error: types.csv: the file holds no labels for the sort `Type`
    "#);
    insta::assert_snapshot!(say(b"cat\ndog\n\ncat\ndog,animal\n"), @r#"
    error: types.csv: the label `cat` is on line 1 and again on line 4
     |
     = help: labels must differ: remove one of the lines

    error: types.csv, line 5: expected one label, found 2 columns
     |
     = help: write one label per line; a label that contains a comma must be in quotes
    "#);
}

#[test]
fn npy_files() {
    let say = |bytes: &[u8]| fields(bytes, "a.npy");
    insta::assert_snapshot!(say(b""), @r#"
    error: a.npy: not a NumPy array (npy): the file is empty
    "#);
    insta::assert_snapshot!(say(b"\x01\x02\x03\x04\x05\x06\x07"), @r#"
    error: a.npy: not a NumPy array (npy): found 01 02 03 04 05 06
    "#);
    insta::assert_snapshot!(say(&gzip(b"hello")), @r#"
    error: a.npy: not a NumPy array (npy): this looks like gzip
     |
     = help: unpack it with `gunzip`; only IDX files may stay gzipped
    "#);
    insta::assert_snapshot!(say(b"\x89HDF\r\n\x1a\n...."), @r#"
    error: a.npy: not a NumPy array (npy): this looks like HDF5
     |
     = help: convert it to `.npz` or `.safetensors`
    "#);
    insta::assert_snapshot!(say(b"x,y\n1,2\n"), @r#"
    error: a.npy: not a NumPy array (npy): this looks like CSV
     |
     = help: give the file the extension `.csv`
    "#);
    insta::assert_snapshot!(say(b"\x93NUMPY\x09\x00"), @r#"
    error: a.npy: npy format version 9 is not known; versions 1 to 3 are
    "#);
    insta::assert_snapshot!(say(b"\x93NUMPY\x01\x00\x76\x00{'descr'"), @r#"
    error: a.npy: the file is cut short, within its header
     |
     = help: copy or download the file again
    "#);
    insta::assert_snapshot!(say(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'"), @r#"
    error: a.npy: the file claims a header of 4294967307 bytes; more than 1048576 cannot be right
     |
     = help: the file is damaged: write it again
    "#);
    insta::assert_snapshot!(say(&npy("<f4", false, &[3, 2], &f32s(&[1.0; 5]))), @r#"
    error: a.npy: the file is cut short: the header claims shape `[3, 2]`, 24 bytes of numbers, but only 20 are there
     |
     = help: copy or download the file again
    "#);
    insta::assert_snapshot!(say(&npy("<f4", false, &[2, 2], &f32s(&[1.0; 5]))), @r#"
    error: a.npy: the header claims shape `[2, 2]`, 16 bytes of numbers, but more bytes follow
     |
     = help: the header or the numbers are damaged: write the file again
    "#);
    insta::assert_snapshot!(say(&npy("<f8", false, &[1000000000, 1000000000], &[0; 8])), @r#"
    error: a.npy: the file is cut short: the header claims shape `[1000000000, 1000000000]`, 8000000000000000000 bytes of numbers, but only 8 are there
     |
     = help: copy or download the file again
    "#);
    insta::assert_snapshot!(say(&npy("<f8", false, &[usize::MAX, 3], &[0; 8])), @r#"
    error: a.npy: the header claims an array of shape `[18446744073709551615, 3]`, which is more than any file can hold
     |
     = help: the file is damaged: write it again
    "#);
    insta::assert_snapshot!(say(&npy("<f8", false, &[], &[0; 8])), @r#"
    error: a.npy: expected rows of numbers, found a single number (shape `[]`)
     |
     = help: give it one dimension per row index, for example with `numpy.atleast_1d`
    "#);
    insta::assert_snapshot!(say(&npy("<f8", false, &[0, 4], &[])), @r#"
    error: a.npy: the array is empty (shape `[0, 4]`); at least one row with one number is needed
    "#);
    insta::assert_snapshot!(say(&npy("|u1", false, &[1; 65], &[0])), @r#"
    error: a.npy: the array has 65 dimensions; more than 64 cannot be read
    "#);
    let wrong = f64s(&[1.0, f64::NAN, 3.0, 4.0, f64::INFINITY, f64::NEG_INFINITY]);
    insta::assert_snapshot!(say(&npy("<f8", false, &[2, 3], &wrong)), @r#"
    error: a.npy, row 0, column 1 (index [0, 1]): expected a finite number, found NaN

    error: a.npy, row 1, column 1 (index [1, 1]): expected a finite number, found infinity

    error: a.npy, row 1, column 2 (index [1, 2]): expected a finite number, found -infinity
    "#);
    insta::assert_snapshot!(say(&npy("<f8", true, &[3, 2], &wrong)), @r#"
    error: a.npy, row 1, column 0 (index [1, 0]): expected a finite number, found NaN

    error: a.npy, row 1, column 1 (index [1, 1]): expected a finite number, found infinity

    error: a.npy, row 2, column 1 (index [2, 1]): expected a finite number, found -infinity
    "#);
    insta::assert_snapshot!(say(&npy("<u8", false, &[1], &[255; 8])), @r#"
    error: a.npy, row 0, column 0 (index [0]): the integer 18446744073709551615 is too large; the largest is 9223372036854775807
    "#);
    insta::assert_snapshot!(say(&npy("|b1", false, &[2], &[1, 2])), @r#"
    error: a.npy, row 1, column 0 (index [1]): expected a truth value (0 or 1), found 2
    "#);
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
    insta::assert_snapshot!(say("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}"), @r#"
    error: a.npy: expected an array of numbers, found a structured array (named columns)
     |
     = help: save each column as a separate array, with `numpy.savez`
    "#);
    insta::assert_snapshot!(say("{'descr': '<f4', 'shape': (1,)}"), @r#"
    error: a.npy: the npy header does not say `fortran_order`
    "#);
    insta::assert_snapshot!(say("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}"), @r#"
    error: a.npy: the npy header cannot be understood: expected `True` or `False`
     |
     = note: the header is `{'descr': '<f4', 'fortran_order': 0, 'sh…`
    "#);
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
    insta::assert_snapshot!(say(&good()), @r#"
    error: a.npz: not an npz archive: this looks like a NumPy array
     |
     = help: give the file the extension `.npy`
    "#);
    insta::assert_snapshot!(say(&npz(&[])), @r#"
    error: a.npz: the archive is empty
    "#);
    insta::assert_snapshot!(say(&npz(&[("a.npy", good()), ("readme.txt", b"hello".to_vec())])), @r#"
    error: a.npz: the archive holds `readme.txt`, which is not an npy array
     |
     = help: an npz archive holds `.npy` files only
    "#);
    insta::assert_snapshot!(say(&npz(&[("a.npy", good()), ("b.npy", npy("|u1", false, &[1], &[1]))])), @r#"
    error: a.npz: field `a` has 2 rows, field `b` has 1 row
     |
     = note: row i of every field belongs to the same individual
     = help: make the first dimension of all fields the same
    "#);
    insta::assert_snapshot!(say(&npz(&[("a.npy", npy("<f4", false, &[9], &[0; 4])), ("b.npy", b"x,y".to_vec())])), @r#"
    error: a.npz, field `a`: the file is cut short: the header claims shape `[9]`, 36 bytes of numbers, but only 4 are there
     |
     = help: copy or download the file again

    error: a.npz, field `b`: not a NumPy array (npy): this looks like CSV
     |
     = help: give the file the extension `.csv`
    "#);
    insta::assert_snapshot!(say(&npz(&[("a.npy", npy("|u1", false, &[1000000000], &[0]))])), @r#"
    error: a.npz, field `a`: the header claims shape `[1000000000]`, 1000000000 bytes of numbers, which a compressed file of 192 bytes cannot hold
     |
     = help: the file is damaged or cut short: copy or download it again
    "#);
    // A zip bomb in small: the header promises one byte, and no more than two are unpacked.
    insta::assert_snapshot!(say(&npz(&[("a.npy", npy("|u1", false, &[1], &[0; 1_000_000]))])), @r#"
    error: a.npz, field `a`: the header claims shape `[1]`, 1 byte of numbers, but more bytes follow
     |
     = help: the header or the numbers are damaged: write the file again
    "#);
    let whole = npz(&[("a.npy", good())]);
    assert!(say(&whole[..whole.len() - 30]).contains("a.npz: the zip archive cannot be read"));
    // The checksum in the archive's directory, 16 bytes after its magic string.
    let directory = whole.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    let mut damaged = whole;
    damaged[directory + 16] ^= 1;
    insta::assert_snapshot!(say(&damaged), @r#"
    error: a.npz, field `a`: the archive is damaged here: Invalid checksum
     |
     = help: copy or download the file again
    "#);
}

#[test]
fn idx_files() {
    let say = |bytes: &[u8]| fields(bytes, "a-idx1-ubyte");
    let good = idx(0x08, &[2, 3], &[1, 2, 3, 4, 5, 6]);
    insta::assert_snapshot!(say(b""), @r#"
    error: a-idx1-ubyte: not an IDX file: the file is empty
    "#);
    insta::assert_snapshot!(say(b"\x93NUMPY"), @r#"
    error: a-idx1-ubyte: not an IDX file: this looks like a NumPy array
     |
     = help: give the file the extension `.npy`
    "#);
    insta::assert_snapshot!(say(&gzip(b"x,y\n1,2\n")), @r#"
    error: a-idx1-ubyte: not an IDX file: unpacked, this looks like CSV
     |
     = help: unpack it with `gunzip`, then give the file the extension `.csv`
    "#);
    insta::assert_snapshot!(say(b"\0\0\x07\x01\0\0\0\x01\x01"), @r#"
    error: a-idx1-ubyte: not an IDX file: its third byte is 0x07, which is not an IDX type
     |
     = note: types are 0x08, 0x09, 0x0b, 0x0c, 0x0d and 0x0e
    "#);
    insta::assert_snapshot!(say(&good[..9]), @r#"
    error: a-idx1-ubyte: the file is cut short, within its header
     |
     = help: copy or download the file again
    "#);
    insta::assert_snapshot!(say(&good[..15]), @r#"
    error: a-idx1-ubyte: the file is cut short: the header claims shape `[2, 3]`, 6 bytes of numbers, but only 3 are there
     |
     = help: copy or download the file again
    "#);
    insta::assert_snapshot!(say(&[&good[..], b"!"].concat()), @r#"
    error: a-idx1-ubyte: the header claims shape `[2, 3]`, 6 bytes of numbers, but more bytes follow
     |
     = help: the header or the numbers are damaged: write the file again
    "#);
    insta::assert_snapshot!(say(&idx(0x08, &[], &[1])), @r#"
    error: a-idx1-ubyte: expected rows of numbers, found a single number (shape `[]`)
     |
     = help: give it one dimension per row index, for example with `numpy.atleast_1d`
    "#);
    insta::assert_snapshot!(say(&idx(0x08, &[0, 28, 28], &[])), @r#"
    error: a-idx1-ubyte: the array is empty (shape `[0, 28, 28]`); at least one row with one number is needed
    "#);
    insta::assert_snapshot!(say(&idx(0x0e, &[4294967295, 4294967295, 9], &[])), @r#"
    error: a-idx1-ubyte: the header claims an array of shape `[4294967295, 4294967295, 9]`, which is more than any file can hold
     |
     = help: the file is damaged: write it again
    "#);
    insta::assert_snapshot!(say(&idx(0x0d, &[1, 2], &[0, 0, 0, 0, 0x7f, 0xc0, 0, 0])), @r#"
    error: a-idx1-ubyte, row 0, column 1 (index [0, 1]): expected a finite number, found NaN
    "#);
}

#[test]
fn gzipped_idx_files() {
    let say = |bytes: &[u8]| fields(bytes, "a.gz");
    let good = idx(0x08, &[2, 3], &[1, 2, 3, 4, 5, 6]);
    let packed = gzip(&good);
    insta::assert_snapshot!(say(&packed[..packed.len() - 9]), @r#"
    error: a.gz: the gzip file is cut short
     |
     = help: copy or download the file again
    "#);
    let mut wrong_sum = packed.clone();
    let sum = wrong_sum.len() - 8;
    wrong_sum[sum] ^= 1;
    insta::assert_snapshot!(say(&wrong_sum), @r#"
    error: a.gz: the gzip file is damaged: corrupt gzip stream does not have a matching checksum
     |
     = help: copy or download the file again
    "#);
    insta::assert_snapshot!(say(&[&packed[..], b"garbage here"].concat()), @r#"
    error: a.gz: the gzip file is damaged: invalid gzip header
     |
     = help: copy or download the file again
    "#);
    insta::assert_snapshot!(say(&gzip(&good[..15])), @r#"
    error: a.gz: the file is cut short: the header claims shape `[2, 3]`, 6 bytes of numbers, but only 3 are there
     |
     = help: copy or download the file again
    "#);
    insta::assert_snapshot!(say(&gzip(&idx(0x08, &[1000000000], &[]))), @r#"
    error: a.gz: the header claims shape `[1000000000]`, 1000000000 bytes of numbers, which a compressed file of 28 bytes cannot hold
     |
     = help: the file is damaged or cut short: copy or download it again
    "#);
    // A gzip bomb in small: no more than one byte too many is unpacked.
    insta::assert_snapshot!(say(&gzip(&idx(0x08, &[2], &[0; 1_000_000]))), @r#"
    error: a.gz: the header claims shape `[2]`, 2 bytes of numbers, but more bytes follow
     |
     = help: the header or the numbers are damaged: write the file again
    "#);
}

#[test]
fn safetensors_files() {
    let say = |bytes: &[u8]| fields(bytes, "a.safetensors");
    let with = |header: &str, bytes: usize| say(&safetensors_with_header(header, &vec![0; bytes]));
    let good = safetensors(&[("roi", Dtype::F32, &[1, 2], &f32s(&[1.0, 2.0]))]);
    insta::assert_snapshot!(say(b"x,y\n1,2\n3,4\n"), @r#"
    error: a.safetensors: not a safetensors file: this looks like CSV
     |
     = help: give the file the extension `.csv`
    "#);
    insta::assert_snapshot!(say(b"\x01\0"), @r#"
    error: a.safetensors: not a safetensors file: found 01 00
    "#);
    insta::assert_snapshot!(say(&good[..20]), @r#"
    error: a.safetensors: the file is cut short: its header should have 64 bytes, but only 12 are there
     |
     = help: copy or download the file again
    "#);
    insta::assert_snapshot!(say(&good[..good.len() - 1]), @r#"
    error: a.safetensors, tensor `roi`: the file is cut short: its numbers should be the bytes 0 to 8 after the header, but only 7 bytes follow it
     |
     = help: copy or download the file again
    "#);
    insta::assert_snapshot!(say(&[&good[..], b"!"].concat()), @r#"
    error: a.safetensors: the bytes 8 to 9 after the header belong to no tensor
     |
     = help: the file is damaged: write it again
    "#);
    insta::assert_snapshot!(with("{}", 0), @r#"
    error: a.safetensors: the file holds no tensors
    "#);
    insta::assert_snapshot!(with("{\"a\": ", 0), @r#"
    error: a.safetensors: the safetensors header is not JSON: EOF while parsing a value at line 1 column 6
     |
     = help: the file is damaged: write it again
    "#);
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}"#, 4), @r#"
    error: a.safetensors, tensor `a`: the header cannot be understood: invalid value: integer `-1`, expected usize
    "#);
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F32", "shape": [1]}}"#, 4), @r#"
    error: a.safetensors, tensor `a`: the header cannot be understood: missing field `data_offsets`
    "#);
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}}"#, 1), @r#"
    error: a.safetensors, tensor `a`: elements of type `F8_E4M3` cannot be read
     |
     = help: convert the tensor first, for example to `F32`
    "#);
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}"#, 4), @r#"
    error: a.safetensors, tensor `a`: its shape `[2]` takes 8 bytes of `F32`, but the header says that they are the bytes 0 to 4
     |
     = help: the file is damaged: write it again
    "#);
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "U8", "shape": [1], "data_offsets": [2, 1]}}"#, 4), @r#"
    error: a.safetensors, tensor `a`: its shape `[1]` takes 1 byte of `U8`, but the header says that they are the bytes 2 to 1
     |
     = help: the file is damaged: write it again
    "#);
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}"#, 4), @r#"
    error: a.safetensors, tensor `a`: expected rows of numbers, found a single number (shape `[]`)
     |
     = help: give it one dimension per row index, for example with `numpy.atleast_1d`
    "#);
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}"#, 0), @r#"
    error: a.safetensors, tensor `a`: the array is empty (shape `[0]`); at least one row with one number is needed
    "#);
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}, "b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}}"#, 3), @r#"
    error: a.safetensors: the tensors `a` and `b` overlap
     |
     = help: the file is damaged: write it again
    "#);
    insta::assert_snapshot!(with(r#"{"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}, "b": {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]}}"#, 3), @r#"
    error: a.safetensors: the bytes 1 to 2 after the header belong to no tensor
     |
     = help: the file is damaged: write it again
    "#);
    let nan = safetensors(&[("roi", Dtype::BF16, &[2, 2], &[0, 0, 0, 0, 0xc0, 0x7f, 0, 0])]);
    insta::assert_snapshot!(say(&nan), @r#"
    error: a.safetensors, tensor `roi`, row 1, column 0 (index [1, 0]): expected a finite number, found NaN
    "#);
    let rows = safetensors(&[
        ("position", Dtype::U8, &[3], &[0; 3]),
        ("roi", Dtype::U8, &[1, 2], &[0; 2]),
    ]);
    insta::assert_snapshot!(say(&rows), @r#"
    error: a.safetensors: field `position` has 3 rows, field `roi` has 1 row
     |
     = note: row i of every field belongs to the same individual
     = help: make the first dimension of all fields the same
    "#);
    // Eight tensors that end just below 2^64: offsets at which careless sums overflow.
    let most = (1u64 << 61) - 1;
    let huge: Vec<String> = (0..8)
        .map(|i| {
            let (begin, end) = (i * most, (i + 1) * most);
            format!(
                r#""t{i}": {{"dtype": "U8", "shape": [{most}], "data_offsets": [{begin}, {end}]}}"#
            )
        })
        .collect();
    let text = with(&format!("{{{}}}", huge.join(", ")), 0);
    assert_eq!(text.matches("the file is cut short").count(), 8, "{text}");
}

#[test]
fn names() {
    insta::assert_snapshot!(fields(b"", "features.mat"), @r#"
    error: features.mat: unknown file extension
     |
     = note: the formats are `.csv` (or `.tsv`), `.npy`, `.npz`, `.safetensors`, `.idx`, and `.idx.gz`, `.gz`, `-ubyte` or `-ubyte.gz` for IDX
    "#);
    insta::assert_snapshot!(fields(b"", "boxes.csv.gz"), @r#"
    error: boxes.csv.gz: only IDX files may be gzipped
     |
     = help: unpack it with `gunzip`
    "#);
}

#[test]
fn names_that_are_there_twice() {
    let one = npy("<f4", false, &[1], &f32s(&[1.0]));
    let archive = npz(&[("ab.npy", one.clone()), ("cd.npy", one)]);
    // No writer would write it: the second gets the name of the first, in its own header and in the list.
    let twice: Vec<u8> = {
        let mut bytes = archive.clone();
        for at in 0..bytes.len() - 6 {
            if &bytes[at..at + 6] == b"cd.npy" {
                bytes[at..at + 2].copy_from_slice(b"ab");
            }
        }
        bytes
    };
    assert!(parse_fields(&archive, "a.npz").is_ok());
    let wrong = fields(&twice, "a.npz");
    assert!(
        wrong.contains("a.npz: the archive holds `ab.npy` twice"),
        "{wrong}"
    );

    let entry = r#"{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#;
    let header = format!(r#"{{"a":{entry},"a":{entry}}}"#);
    let wrong = fields(
        &safetensors_with_header(&header, &f32s(&[1.0])),
        "a.safetensors",
    );
    assert!(
        wrong.contains("a.safetensors: the header describes `a` twice"),
        "{wrong}"
    );
    let header = r#"{"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}}"#;
    let wrong = fields(
        &safetensors_with_header(header, &f32s(&[1.0])),
        "a.safetensors",
    );
    assert!(
        wrong.contains("tensor `a`: the header says `shape` twice"),
        "{wrong}"
    );
}
