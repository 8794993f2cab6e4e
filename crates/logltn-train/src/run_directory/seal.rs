//! A checksum at the end of a JSON object, so that a flipped bit is seen.

use flate2::Crc;

/// How an object ends, and how its checksum is put before that end.
pub(super) struct Seal {
    key: &'static str,
    end: &'static str,
}

/// Of an object on a line of its own.
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

    /// Whether a text is as it was written. Those of older programs have no checksum, and are believed.
    pub(super) fn is_whole(&self, text: &[u8]) -> bool {
        let length = self.key.len() + 9 + self.end.len();
        let Some((body, tail)) = (text.len().checked_sub(length)).map(|at| text.split_at(at))
        else {
            return true;
        };
        if !tail.starts_with(self.key.as_bytes()) {
            return true;
        }
        let sum = crc32(&[body, self.end.as_bytes()]);
        tail == format!("{}{sum:08x}\"{}", self.key, self.end).as_bytes()
    }
}

/// Of pieces, one after the other. It sees every slip; nobody need fear forgers here.
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
            for bit in 0..8 * (text.len() - seal.end.len()) {
                let mut damaged = sealed.clone().into_bytes();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(!seal.is_whole(&damaged), "bit {bit}");
            }
        }
    }
}
