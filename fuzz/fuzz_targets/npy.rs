//! NumPy's npy.
#![no_main]

mod fields;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fields::check(bytes, "a.npy"));
