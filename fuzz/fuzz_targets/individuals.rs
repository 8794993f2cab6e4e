//! Labels, one per line.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use logltn_data::parse_individuals;

fuzz_target!(
    |bytes: &[u8]| match parse_individuals(bytes, "a.csv", "Type") {
        Ok(labels) => {
            let distinct: HashSet<&String> = labels.iter().collect();
            assert!(!labels.is_empty() && distinct.len() == labels.len());
            assert!(labels.iter().all(|label| !label.trim().is_empty()));
        }
        Err(wrong) => assert!(wrong.has_errors() && !wrong.to_string().is_empty()),
    }
);
