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

/// If `name` differs from a known one only in look-alikes, says which.
pub(super) fn help<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let foreign = name.chars().find(|c| latin(*c).is_some())?;
    let plain: String = name.chars().map(|c| latin(c).unwrap_or(c)).collect();
    let meant = known.into_iter().find(|k| *k == plain)?;
    Some(format!(
        "`{foreign}` (U+{:04X}) only looks like the Latin `{}`: did you mean `{meant}`?",
        foreign as u32,
        latin(foreign)?,
    ))
}
