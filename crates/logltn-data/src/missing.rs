//! Which cells are missing.

/// Whether a cell is missing: empty, or one of the words that programs write for a missing value.
///
/// ```
/// assert!(logltn_data::is_missing("NA") && logltn_data::is_missing(""));
/// assert!(!logltn_data::is_missing("None") && !logltn_data::is_missing("0"));
/// ```
pub fn is_missing(cell: &str) -> bool {
    matches!(
        cell,
        "" | "NA" | "N/A" | "n/a" | "#N/A" | "<NA>" | "NaN" | "nan" | "NAN" | "null" | "NULL" | "?"
    )
}

/// The same for a number or a date, where the word `None` also means missing. (It may be a
/// category.)
pub(super) fn is_missing_number(cell: &str) -> bool {
    is_missing(cell) || cell == "None"
}
