//! A checksum at the end of a JSON object, so that a flipped bit is seen.

use flate2::Crc;

/// How an object ends, and how its checksum is put before that end.
pub(super) struct Seal {
    pub(super) key: &'static str,
    end: &'static str,
}

/// Of an object on its own line.
pub(super) const LINE: Seal = Seal {
    key: ",\"check\":\"",
    end: "}\n",
};

/// Of an object on many lines.
pub(super) const PAGE: Seal = Seal {
    key: ",\n  \"check\": \"",
    end: "\n}\n",
};

impl Seal {
    /// The text, which must end as it should, with its checksum.
    pub(super) fn put(&self, text: &str) -> String {
        let body = text.strip_suffix(self.end).unwrap_or(text);
        let sum = crc32(&[text.as_bytes()]);
        format!("{body}{}{sum:08x}\"{}", self.key, self.end)
    }

    /// Whether a text is unchanged. Texts of older programs have no checksum and are accepted.
    pub(super) fn is_whole(&self, text: &[u8]) -> bool {
        self.fits(text).unwrap_or(true)
    }

    /// Whether the checksum matches, if a text ends with one.
    pub(super) fn fits(&self, text: &[u8]) -> Option<bool> {
        let (body, tail) = text.split_at(text.len().checked_sub(self.length())?);
        let sum = tail.strip_prefix(self.key.as_bytes())?;
        // Digit by digit, for speed: every record that is read passes through here.
        let is = crc32(&[body, self.end.as_bytes()]);
        let digit = |at: usize| b"0123456789abcdef"[(is >> (28 - 4 * at)) as usize & 15];
        let (digits, end) = sum.split_at(8);
        let same = (digits.iter().enumerate()).all(|(at, byte)| *byte == digit(at));
        Some(same && end.strip_prefix(b"\"") == Some(self.end.as_bytes()))
    }

    /// How many bytes a checksum takes, including the text around it.
    pub(super) fn length(&self) -> usize {
        self.key.len() + 9 + self.end.len()
    }
}

/// Over pieces, in order. It detects every accidental change; forgery is not a concern here.
pub(super) fn crc32(pieces: &[&[u8]]) -> u32 {
    let mut sum = Crc::new();
    pieces.iter().for_each(|piece| sum.update(piece));
    sum.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_what_is_said_is_sealed() {
        for (seal, text) in [(LINE, "{\"a\":1}\n"), (PAGE, "{\n  \"a\": 1\n}\n")] {
            let sealed = seal.put(text);
            assert!(seal.is_whole(sealed.as_bytes()), "{sealed}");
            assert!(seal.is_whole(text.as_bytes()), "an older program's");
            for bit in (0..8 * (text.len() - seal.end.len()))
                .chain(8 * (sealed.len() - seal.end.len() - 9)..8 * sealed.len())
            {
                let mut damaged = sealed.clone().into_bytes();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(!seal.is_whole(&damaged), "bit {bit}");
            }
        }
    }
}
