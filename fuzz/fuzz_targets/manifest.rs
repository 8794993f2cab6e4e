//! No text, however broken, makes the manifest reader or its messages panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use logltn::Source;
use logltn_train::manifest::{Manifest, TheoryNames, check_against};

fuzz_target!(|text: &str| {
    match Manifest::parse(Source::new("fuzz.toml", text), Path::new(".")) {
        Ok((manifest, warnings)) => {
            warnings.render(false, 20);
            check_against(&manifest, &TheoryNames::default()).render(false, 20);
        }
        Err(errors) => {
            assert!(errors.has_errors());
            errors.render(true, 20);
        }
    }
});
