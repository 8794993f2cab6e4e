//! Addresses of files, and places in text as editors count them.

use std::path::{Path, PathBuf};

use logltn::Span;
use serde_json::{Value, json};

/// The path of a `file:` URI; other URIs are kept as they are.
pub fn path(uri: &str) -> PathBuf {
    let Some(rest) = uri.strip_prefix("file://") else {
        return PathBuf::from(uri);
    };
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let Some((&byte, more)) = left.split_first() {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        match more.get(..2).filter(|_| byte == b'%').and_then(hex) {
            Some(byte) => {
                bytes.push(byte);
                left = &more[2..];
            }
            None => {
                bytes.push(byte);
                left = more;
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // `/c:/a` is Windows' `c:/a`.
    let drive = cfg!(windows) && text.as_bytes().get(2) == Some(&b':');
    PathBuf::from(if drive { &text[1..] } else { &text })
}

/// The `file:` address of a path.
pub fn of(path: &Path) -> String {
    let text = path.display().to_string().replace('\\', "/");
    let mut uri = String::from(if text.starts_with('/') {
        "file://"
    } else {
        "file:///"
    });
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

/// Where lines begin: after a line feed, and after a carriage return without one.
fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let ends = (0..bytes.len()).filter(|&at| match bytes[at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    std::iter::once(0).chain(ends.map(|at| at + 1))
}

/// A place as the protocol has it: line and UTF-16 unit, both from 0.
pub fn position(text: &str, offset: usize) -> Value {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = line_starts(text).take_while(|&start| start <= offset);
    let (line, start) = before.enumerate().last().unwrap_or_default();
    let character: usize = text[start..offset].chars().map(char::len_utf16).sum();
    json!({ "line": line, "character": character })
}

/// The byte at a place of the protocol; the end of the line, or of the text, if there is no such place.
pub fn offset(text: &str, position: &Value) -> usize {
    let number = |key: &str| position[key].as_u64().unwrap_or(0) as usize;
    let (line, mut left) = (number("line"), number("character"));
    let Some(start) = line_starts(text).nth(line) else {
        return text.len();
    };
    for (at, c) in text[start..].char_indices() {
        if left == 0 || c == '\n' || c == '\r' {
            return start + at;
        }
        left = left.saturating_sub(c.len_utf16());
    }
    text.len()
}

/// The range of a span.
pub fn range(text: &str, span: Span) -> Value {
    json!({
        "start": position(text, span.start as usize),
        "end": position(text, span.end as usize),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_places_come_back() {
        for name in ["/a b/ü#.ltn", "/x/%41.toml", "/"] {
            assert_eq!(path(&of(Path::new(name))), Path::new(name));
        }
        let text = "a𝄞b\r\n猫c\n";
        for (at, _) in text.char_indices() {
            // A carriage return belongs to the end of its line.
            if !text[at..].starts_with('\n') || !text[..at].ends_with('\r') {
                assert_eq!(offset(text, &position(text, at)), at);
            }
        }
        assert_eq!(position(text, 5), json!({ "line": 0, "character": 3 }));
        assert_eq!(
            offset(text, &json!({ "line": 9, "character": 9 })),
            text.len()
        );
        assert_eq!(
            offset(text, &json!({ "line": 1, "character": 99 })),
            text.len() - 1
        );
        assert_eq!(offset("", &json!({})), 0);
    }
}
