//! TensorBoard event files.
//!
//! An event file is a sequence of frames: a length, its checksum, an event in protocol buffer encoding, its checksum. Only
//! scalars are written, so the few fields needed are encoded by hand.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use logltn::Diagnostic;

use crate::run_directory::{Growing, StepRecord, explain, open};

/// TensorBoard takes every file that has `tfevents` in its name.
const FILE_NAME: &str = "events.out.tfevents.0.logltn";

/// Writes the records of a run to an event file.
///
/// ```
/// use logltn_train::run_directory::StepRecord;
/// use logltn_train::tensorboard::EventWriter;
/// use std::time::SystemTime;
/// let folder = tempfile::tempdir().unwrap();
/// let mut events = EventWriter::open(folder.path(), &["covered".into()], None)?;
/// let record = StepRecord { step: 1, loss: 0.5, axioms: vec![-0.1], ..StepRecord::default() };
/// events.append(&record, SystemTime::now())?;
/// events.sync()?;
/// # Ok::<(), logltn::Diagnostic>(())
/// ```
#[derive(Debug)]
pub struct EventWriter {
    file: Growing,
    axiom_tags: Vec<String>,
}

impl EventWriter {
    /// Opens the event file in `dir` to be continued after step `after` (later events are removed); `None` starts it
    /// afresh.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn open(
        dir: &Path,
        axiom_names: &[String],
        after: Option<u64>,
    ) -> Result<EventWriter, Diagnostic> {
        let path = dir.join(FILE_NAME);
        let wrong = |path: &Path, error: &io::Error| explain(path, "cannot be written", error);
        std::fs::create_dir_all(dir).map_err(|error| wrong(dir, &error))?;
        let (file, kept) = kept(&path, after).map_err(|error| wrong(&path, &error))?;
        let mut file = Growing::cut(&path, file, kept)?;
        // Every file begins with an event that holds its version.
        if kept == 0 {
            let mut first = event(SystemTime::now(), 0);
            put_bytes(&mut first, 3, b"brain.Event:2");
            file.append(&frame(&first))?;
        }
        Ok(EventWriter {
            file,
            axiom_tags: (axiom_names.iter())
                .map(|name| format!("axioms/{name}"))
                .collect(),
        })
    }

    /// Appends a record, made at `time`. Numbers that do not exist at this step (NaN) are left out.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&mut self, record: &StepRecord, time: SystemTime) -> Result<(), Diagnostic> {
        let mut summary = Vec::new();
        let fixed = [
            ("loss", record.loss),
            ("sat", record.sat),
            ("gradient_norm", record.gradient_norm),
            ("step_time", record.step_time),
        ];
        for (tag, value) in fixed {
            put_scalar(&mut summary, tag, value);
        }
        for (tag, truth) in self.axiom_tags.iter().zip(&record.axioms) {
            put_scalar(&mut summary, tag, *truth);
        }
        for (name, value) in &record.metrics {
            put_scalar(&mut summary, &format!("metrics/{name}"), *value);
        }
        let mut event = event(time, record.step);
        put_bytes(&mut event, 5, &summary);
        self.file.append(&frame(&event))
    }

    /// Brings all events to disk.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn sync(&mut self) -> Result<(), Diagnostic> {
        self.file.sync()
    }
}

/// The file, and how long it is up to the last whole event of a step up to `after`.
fn kept(path: &Path, after: Option<u64>) -> io::Result<(File, u64)> {
    let file = open(path)?;
    let (mut kept, mut frames) = (0, BufReader::new(&file));
    if let Some(after) = after {
        while let Some(event) = read_frame(&mut frames)?
            && step_of(&event).is_some_and(|step| step <= after)
        {
            kept += FRAME_BYTES + event.len() as u64;
        }
    }
    Ok((file, kept))
}

/// The bytes of a frame besides its event.
const FRAME_BYTES: u64 = 16;

fn frame(event: &[u8]) -> Vec<u8> {
    let length = (event.len() as u64).to_le_bytes();
    let sums = [&length[..], event].map(|bytes| masked_checksum(bytes).to_le_bytes());
    [&length[..], &sums[0], event, &sums[1]].concat()
}

/// The next event; `None` at the end, or if a frame is damaged or cut short.
fn read_frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    from.take(12).read_to_end(&mut head)?;
    let Some((length, checksum)) = head.split_first_chunk::<8>() else {
        return Ok(None);
    };
    if checksum != masked_checksum(length).to_le_bytes() {
        return Ok(None);
    }
    let length = u64::from_le_bytes(*length);
    let mut event = Vec::new();
    from.take(length.saturating_add(4))
        .read_to_end(&mut event)?;
    let Some((body, checksum)) = event.split_last_chunk::<4>() else {
        return Ok(None);
    };
    let whole = body.len() as u64 == length && *checksum == masked_checksum(body).to_le_bytes();
    Ok(whole.then(|| body.to_vec()))
}

/// The start of an event: field 1 is the time in seconds, field 2 the step.
fn event(time: SystemTime, step: u64) -> Vec<u8> {
    let seconds = (time.duration_since(UNIX_EPOCH)).map_or(0.0, |since| since.as_secs_f64());
    let mut out = vec![1 << 3 | 1];
    out.extend_from_slice(&seconds.to_le_bytes());
    out.push(2 << 3);
    put_varint(&mut out, step);
    out
}

/// The step of an event that [`event`] began.
fn step_of(event: &[u8]) -> Option<u64> {
    let rest = event.get(9..)?.strip_prefix(&[2 << 3])?;
    let mut step = 0;
    for (i, byte) in rest.iter().take(10).enumerate() {
        step |= u64::from(byte & 0x7f).checked_shl(7 * i as u32)?;
        if byte & 0x80 == 0 {
            return Some(step);
        }
    }
    None
}

/// A value of a summary (its field 1): field 1 is the tag, field 2 the number in single precision.
fn put_scalar(summary: &mut Vec<u8>, tag: &str, value: f64) {
    if value.is_nan() {
        return;
    }
    let mut scalar = Vec::with_capacity(tag.len() + 8);
    put_bytes(&mut scalar, 1, tag.as_bytes());
    scalar.push(2 << 3 | 5);
    scalar.extend_from_slice(&(value as f32).to_le_bytes());
    put_bytes(summary, 1, &scalar);
}

/// A field of bytes, text or another message.
fn put_bytes(out: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    out.push(field << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Seven bits to a byte, the lowest first; the eighth says whether more follow.
fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The format's checksum: CRC-32C, rotated and shifted so that it also works for data that contain checksums.
fn masked_checksum(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0u32; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut value = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                // The Castagnoli polynomial, lowest bit first.
                let carried = if value & 1 == 1 { 0x82f6_3b78 } else { 0 };
                value = value >> 1 ^ carried;
                bit += 1;
            }
            table[byte] = value;
            byte += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc: u32, byte| {
        crc >> 8 ^ TABLE[(crc as u8 ^ byte) as usize]
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    fn record(step: u64) -> StepRecord {
        StepRecord {
            step,
            loss: 0.5 * step as f64,
            sat: f64::NAN,
            axioms: vec![-1.5, f64::NAN],
            metrics: vec![("ari".into(), 0.25)],
            gradient_norm: 3.0,
            step_time: 0.125,
            ..StepRecord::default()
        }
    }

    fn written(folder: &Path, after: Option<u64>, steps: std::ops::Range<u64>) {
        let names = ["covered".to_string(), "smooth".to_string()];
        let mut events = EventWriter::open(folder, &names, after).unwrap();
        for step in steps {
            let time = UNIX_EPOCH + Duration::from_secs(1000 + step);
            events.append(&record(step), time).unwrap();
        }
        events.sync().unwrap();
    }

    /// The fields of a message: number and content, bytes for all kinds.
    fn fields(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                value |= u64::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            value
        }
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let content = match key & 7 {
                0 => varint(&mut bytes).to_le_bytes().to_vec(),
                kind => {
                    let length = match kind {
                        1 => 8,
                        5 => 4,
                        2 => varint(&mut bytes) as usize,
                        other => panic!("kind {other}"),
                    };
                    let (content, rest) = bytes.split_at(length);
                    bytes = rest;
                    content.to_vec()
                }
            };
            found.push(((key >> 3) as u8, content));
        }
        found
    }

    #[test]
    fn checksums_are_the_standards() {
        // The check value of CRC-32C, and one of RFC 3720.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn events_say_what_the_records_do() {
        let folder = tempfile::tempdir().unwrap();
        written(folder.path(), None, 300..302);
        let bytes = fs::read(folder.path().join(FILE_NAME)).unwrap();
        let mut rest = bytes.as_slice();
        let mut events = Vec::new();
        while let Some(event) = read_frame(&mut rest).unwrap() {
            events.push(fields(&event));
        }
        assert_eq!(events.len(), 3);
        assert_eq!(events[0][2], (3, b"brain.Event:2".to_vec()));
        let event = &events[2];
        assert_eq!(event[0], (1, 1301.0f64.to_le_bytes().to_vec()));
        assert_eq!(event[1], (2, 301u64.to_le_bytes().to_vec()));
        let scalars: Vec<(String, f32)> = fields(&event[2].1)
            .into_iter()
            .map(|(_, scalar)| {
                let parts = fields(&scalar);
                let value = f32::from_le_bytes(parts[1].1.clone().try_into().unwrap());
                (String::from_utf8(parts[0].1.clone()).unwrap(), value)
            })
            .collect();
        let expected = [
            ("loss", 150.5),
            ("gradient_norm", 3.0),
            ("step_time", 0.125),
            ("axioms/covered", -1.5),
            ("metrics/ari", 0.25),
        ];
        assert_eq!(
            scalars,
            expected.map(|(tag, value)| (tag.to_string(), value))
        );
    }

    #[test]
    fn resuming_forgets_later_and_torn_events() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        written(folder.path(), None, 1..20);
        let whole = fs::read(&path).unwrap();
        let ten = {
            written(folder.path(), Some(10), 0..0);
            fs::read(&path).unwrap()
        };
        assert_eq!(ten, whole[..ten.len()]);
        for cut in ten.len()..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            written(folder.path(), Some(10), 11..20);
            assert!(fs::read(&path).unwrap() == whole, "cut at {cut}");
        }
        // Without a checkpoint, or from a file of another kind, it starts again.
        for (content, after) in [
            (whole.as_slice(), None),
            (b"something else".as_slice(), Some(10)),
        ] {
            fs::write(&path, content).unwrap();
            written(folder.path(), after, 0..0);
            assert_eq!(fs::read(&path).unwrap().len(), 16 + 11 + 15);
        }
    }
}
