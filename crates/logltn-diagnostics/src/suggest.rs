//! "Did you mean": the known name nearest to an unknown one.

/// The candidate nearest to `name`, if it is near enough to be a typing error.
///
/// ```
/// use logltn_diagnostics::nearest;
/// assert_eq!(nearest("digti", ["image", "digit"]), Some("digit"));
/// assert_eq!(nearest("banana", ["image", "digit"]), None);
/// assert_eq!(nearest("y", ["x"]), None); // every short name is near to every other
/// assert_eq!(nearest("c", ["x", "C"]), Some("C"));
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > 100 {
        return None; // too long for a typing error, and the distance is quadratic
    }
    let allowed = length / 3;
    candidates
        .into_iter()
        .filter(|c| c.len() <= 4 * (length + allowed + 1) && *c != name)
        .map(|c| {
            // A difference in case alone is the most likely typing error.
            let distance = if c.to_lowercase() == name.to_lowercase() {
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

/// `did you mean `x`?` for the nearest candidate. Every short name is near every other, so for a one-letter name all
/// candidates of one letter are listed, if they are few.
///
/// ```
/// use logltn_diagnostics::did_you_mean;
/// let help = did_you_mean("Ponit", ["Point", "Cluster"]);
/// assert_eq!(help.as_deref(), Some("did you mean `Point`?"));
/// let help = did_you_mean("z", ["x", "y", "Point", "y"]);
/// assert_eq!(help.as_deref(), Some("did you mean `x` or `y`?"));
/// ```
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    const FEW: usize = 4;
    let is_short = |name: &str| name.chars().count() == 1 && name.chars().all(char::is_alphabetic);
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(near) = nearest(name, candidates.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let mut short: Vec<&str> = Vec::new();
    for candidate in candidates.into_iter().filter(|c| is_short(c) && *c != name) {
        if !short.contains(&candidate) {
            short.push(candidate);
        }
    }
    if !is_short(name) || !(1..=FEW).contains(&short.len()) {
        return None;
    }
    let short: Vec<String> = short.iter().map(|name| format!("`{name}`")).collect();
    Some(format!("did you mean {}?", short.join(" or ")))
}
