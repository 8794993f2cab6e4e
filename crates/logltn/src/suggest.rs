//! "Did you mean": the nearest known name to one that is not known.

/// The candidate nearest to `name`, if it is near enough to be a slip of the fingers.
///
/// ```
/// use logltn::nearest;
/// assert_eq!(nearest("digti", ["image", "digit"]), Some("digit"));
/// assert_eq!(nearest("banana", ["image", "digit"]), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > 100 {
        return None; // no slip of the fingers, and the distance is quadratic
    }
    // One letter is as near to any other: only its case can be a slip.
    let allowed = if length < 2 { 0 } else { (length / 3).max(1) };
    candidates
        .into_iter()
        .filter(|c| c.len() <= 4 * (length + allowed) && *c != name)
        .map(|c| {
            // A different case only is the likeliest slip of all.
            let distance = if c.eq_ignore_ascii_case(name) {
                0
            } else {
                strsim::damerau_levenshtein(name, c)
            };
            (distance, c)
        })
        .filter(|&(d, c)| d <= allowed && d < c.chars().count().max(2))
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// `did you mean `x`?` for the nearest candidate.
///
/// ```
/// let help = logltn::did_you_mean("Ponit", ["Point", "Cluster"]);
/// assert_eq!(help.as_deref(), Some("did you mean `Point`?"));
/// ```
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(name, candidates).map(|c| format!("did you mean `{c}`?"))
}
