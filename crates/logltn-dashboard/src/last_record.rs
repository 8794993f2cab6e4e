//! The end of a run's records, which says where the run is.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use logltn_report::ListedRun;
use logltn_train::run_directory::RecordReader;

/// How much of the end is read at first, and at most.
const WINDOW: u64 = 16 << 10;
const LARGEST: u64 = 64 << 20;
/// How far back metrics are looked for, which most steps do not have.
const METRICS_WITHIN: u64 = 4 << 20;

/// Reads the last records, and returns the mean time of a step in seconds.
///
/// A record that is damaged, or not yet written to its end, is left out: the list shows what is known.
pub fn see_end(run: &mut ListedRun, file: &mut File, length: u64) -> io::Result<Option<f64>> {
    let mut window = WINDOW;
    let start = loop {
        let from = length.saturating_sub(window);
        match first_line(file, from, length)? {
            Some(start) => break start,
            None if from == 0 || window >= LARGEST => return Ok(None),
            None => window *= 16,
        }
    };
    let no_metrics = run.metrics.is_empty();
    let (mut time, mut steps) = (0.0, 0.0);
    file.seek(SeekFrom::Start(start))?;
    for record in RecordReader::new(file.try_clone()?, "metrics.jsonl".into()).flatten() {
        run.see(&record);
        if record.step_time.is_finite() {
            (time, steps) = (time + record.step_time, steps + 1.0);
        }
    }
    if no_metrics && run.metrics.is_empty() {
        see_metrics(run, file, start)?;
    }
    Ok((steps > 0.0).then(|| time / steps))
}

/// Where the first whole line after `from` begins, if there is one before `end`.
fn first_line(file: &mut File, from: u64, end: u64) -> io::Result<Option<u64>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(end - from).read_to_end(&mut bytes)?;
    let start = match from {
        0 => Some(0),
        _ => bytes.iter().position(|b| *b == b'\n').map(|at| at + 1),
    };
    let whole = |start: &usize| bytes[*start..].contains(&b'\n');
    Ok(start.filter(whole).map(|start| from + start as u64))
}

/// The newest metrics before `end`.
fn see_metrics(run: &mut ListedRun, file: &mut File, end: u64) -> io::Result<()> {
    const SOME: &[u8] = b"\"metrics\":{\"";
    let from = end.saturating_sub(METRICS_WITHIN);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    (&*file).take(end - from).read_to_end(&mut bytes)?;
    let Some(at) = bytes.windows(SOME.len()).rposition(|part| part == SOME) else {
        return Ok(());
    };
    let line = bytes[..at].iter().rposition(|b| *b == b'\n');
    let line = line.map_or(0, |before| before + 1);
    file.seek(SeekFrom::Start(from + line as u64))?;
    if let Some(Ok(record)) = RecordReader::new(file.try_clone()?, "metrics.jsonl".into()).next() {
        run.metrics = record.metrics;
    }
    Ok(())
}
