//! Text from input, made safe to display.

use std::borrow::Cow;

/// Replaces the characters that a terminal obeys instead of showing, control characters other than line breaks and
/// tabs, and those that change the direction of writing, by escapes.
///
/// ```
/// use logltn_diagnostics::harmless;
/// assert_eq!(harmless("ann\n"), "ann\n");
/// assert_eq!(harmless("\u{1b}]0;title\u{7}"), "\\u{1b}]0;title\\u{7}");
/// assert_eq!(harmless("a\u{202e}b\u{9b}2J"), "a\\u{202e}b\\u{9b}2J");
/// ```
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_obeyed(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal would do anything other than show a character.
pub fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || turns_direction(c)
}

/// Whether a character changes the direction of what follows, so that text can look like something
/// else.
pub fn turns_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The same for an excerpt in which positions are counted in bytes: each character is replaced by one of the same
/// length.
pub(crate) fn harmless_in_place(text: &str) -> String {
    (text.chars())
        .map(|c| match c.len_utf8() {
            1 if is_obeyed(c) => '?',
            2 if is_obeyed(c) => '¿',
            3 if is_obeyed(c) => '\u{fffd}',
            _ => c,
        })
        .collect()
}
