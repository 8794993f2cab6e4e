//! Small files in every format, for the tests to read.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use safetensors::tensor::{Dtype, TensorView};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An npy file of version 1 with the header that NumPy writes.
pub(super) fn npy(descr: &str, fortran: bool, shape: &[usize], numbers: &[u8]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let fortran = if fortran { "True" } else { "False" };
    npy_with_header(
        &format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({shape}), }}"),
        numbers,
    )
}

/// An npy file of version 1 with any header.
pub(super) fn npy_with_header(header: &str, numbers: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(((header.len() + 1) as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.push(b'\n');
    bytes.extend(numbers);
    bytes
}

/// An npz archive, as `numpy.savez_compressed` writes it.
pub(super) fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// An IDX file.
pub(super) fn idx(element: u8, shape: &[usize], numbers: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, element, shape.len() as u8];
    for &n in shape {
        bytes.extend((n as u32).to_be_bytes());
    }
    bytes.extend(numbers);
    bytes
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A safetensors file from the format's own writer.
pub(super) fn safetensors(tensors: &[(&str, Dtype, &[usize], &[u8])]) -> Vec<u8> {
    let views = tensors.iter().map(|&(name, dtype, shape, bytes)| {
        (
            name.to_string(),
            TensorView::new(dtype, shape.to_vec(), bytes).unwrap(),
        )
    });
    safetensors::serialize(views, None).unwrap()
}

/// A safetensors file with any header.
pub(super) fn safetensors_with_header(header: &str, numbers: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend(numbers);
    bytes
}

pub(super) fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub(super) fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}
