//! CSV, asked for as everything a cell can be.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logltn_data::CsvFile;

fuzz_target!(|bytes: &[u8]| {
    let file = match CsvFile::parse(bytes, "a.csv") {
        Ok(file) => file,
        Err(wrong) => {
            assert!(wrong.has_errors());
            let _ = wrong.to_string();
            return;
        }
    };
    let _ = file.column_index("x").map_err(|error| error.to_string());
    let _ = file.matrix().map_err(|wrong| wrong.to_string());
    for column in 0..file.columns().len().min(20) {
        let ints = file.ints(column);
        let reals = file.reals(column);
        let labels = file.labels(column);
        // What is an integer is a number, and what is a number is a label.
        assert!(ints.is_err() || reals.is_ok());
        assert!(reals.is_err() || labels.is_ok());
        if let Ok(reals) = reals {
            assert_eq!(reals.len(), file.rows());
            assert!(reals.iter().all(|x| x.is_finite()));
        }
    }
});
