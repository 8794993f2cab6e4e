//! Letters of other scripts that look like Latin ones. Names may be of any script, so a Cyrillic `С`
//! is a letter like any other, and a user who pasted one sees two equal names called different.

#[rustfmt::skip] // a table reads better than a column
const LOOKALIKES: &[(char, char)] = &[
    ('А', 'A'), ('В', 'B'), ('С', 'C'), ('Е', 'E'), ('Н', 'H'), ('І', 'I'), ('Ј', 'J'), ('К', 'K'),
    ('М', 'M'), ('О', 'O'), ('Р', 'P'), ('Ѕ', 'S'), ('Т', 'T'), ('Х', 'X'), ('У', 'Y'), ('а', 'a'),
    ('с', 'c'), ('ԁ', 'd'), ('е', 'e'), ('һ', 'h'), ('і', 'i'), ('ј', 'j'), ('о', 'o'), ('р', 'p'),
    ('ԛ', 'q'), ('ѕ', 's'), ('х', 'x'), ('у', 'y'), ('Α', 'A'), ('Β', 'B'), ('Ε', 'E'), ('Ζ', 'Z'),
    ('Η', 'H'), ('Ι', 'I'), ('Κ', 'K'), ('Μ', 'M'), ('Ν', 'N'), ('Ο', 'O'), ('Ρ', 'P'), ('Τ', 'T'),
    ('Υ', 'Y'), ('Χ', 'X'), ('ο', 'o'), ('ν', 'v'), ('ρ', 'p'), ('υ', 'u'),
];

fn latin(c: char) -> Option<char> {
    LOOKALIKES.iter().find(|(l, _)| *l == c).map(|(_, a)| *a)
}

/// If `name` differs from a known name only in look-alikes, returns that name.
pub(super) fn help<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(meant) = known.iter().find(|k| differ_in_accents(name, k)) {
        return Some(format!(
            "`{meant}` is written with other characters that look the same (a combining accent, or a \
             letter with an accent): copy the name from its declaration"
        ));
    }
    let foreign = name.chars().find(|c| latin(*c).is_some())?;
    let plain: String = name.chars().map(|c| latin(c).unwrap_or(c)).collect();
    let meant = known.into_iter().find(|k| *k == plain)?;
    Some(format!(
        "`{foreign}` (U+{:04X}) only looks like the Latin `{}`: did you mean `{meant}`?",
        foreign as u32,
        latin(foreign)?,
    ))
}

/// Whether two names would look the same although one has a combining accent where the other has a
/// letter with that accent. Without the tables of Unicode: the plain letters agree, one name has
/// accents of its own, and as many as the other has letters outside ASCII in their place.
fn differ_in_accents(a: &str, b: &str) -> bool {
    let combining = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    if a == b || a.contains(combining) == b.contains(combining) {
        return false;
    }
    let (composed, decomposed) = if a.contains(combining) {
        (b, a)
    } else {
        (a, b)
    };
    let mut rest = decomposed.chars().peekable();
    composed.chars().all(|c| {
        let Some(base) = rest.next() else {
            return false;
        };
        let mut accented = false;
        while rest.next_if(|c| combining(*c)).is_some() {
            accented = true;
        }
        if accented { !c.is_ascii() } else { c == base }
    }) && rest.next().is_none()
}
