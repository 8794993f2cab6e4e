//! Reads lines that differ only in their numbers, as those of a run do, without parsing JSON, since following a
//! training reads all of them.

use super::record::StepRecord;
use super::seal::LINE;

/// The text between the numbers of such lines.
#[derive(Debug)]
pub(super) struct LinePattern {
    /// Before each number, and after the last.
    between: Vec<String>,
}

impl LinePattern {
    /// Lines of these axioms, without metrics, as [`StepRecord::to_json_line`] writes them.
    pub(super) fn new(axiom_names: &[String]) -> LinePattern {
        let fixed = ["{\"step\"", ",\"loss\"", ",\"sat\""];
        let mut between: Vec<String> = (fixed.into_iter())
            .chain([",\"gradient_norm\"", ",\"step_time\""])
            .map(|key| format!("{key}:"))
            .collect();
        let mut after = ",\"axioms\":{".to_string();
        for name in axiom_names {
            // Text can always be written.
            let name = serde_json::to_string(name).unwrap_or_default();
            between.push(format!("{after}{name}:"));
            after = ",".to_string();
        }
        let end = if axiom_names.is_empty() { &after } else { "" };
        between.push(format!("{end}}},\"metrics\":{{}}{}", LINE.key));
        LinePattern { between }
    }

    /// The record of a line; `None` if the line has another form or its checksum does not match.
    pub(super) fn record(&self, line: &str) -> Option<StepRecord> {
        let (last, before) = self.between.split_last()?;
        let mut rest = line;
        let mut number = |before: &String| {
            rest = rest.strip_prefix(before.as_str())?;
            let (number, after) = rest.split_at(end_of_number(rest.as_bytes()));
            rest = after;
            Some(number)
        };
        let step = number(&before[0])?;
        let step = step
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(step)?;
        let mut record = StepRecord {
            step: step.parse().ok()?,
            loss: value(number(&before[1])?)?,
            sat: value(number(&before[2])?)?,
            gradient_norm: value(number(&before[3])?)?,
            step_time: value(number(&before[4])?)?,
            axioms: Vec::with_capacity(before.len() - 5),
            ..StepRecord::default()
        };
        for before in &before[5..] {
            record.axioms.push(value(number(before)?)?);
        }
        // The checksum must be there: lines without one are read with more care.
        let sum = rest.strip_prefix(last.as_str())?;
        let sealed = sum.len() == LINE.length() - LINE.key.len() && LINE.is_whole(line.as_bytes());
        sealed.then_some(record)
    }
}

/// How many bytes look like part of a number, or of `null`.
fn end_of_number(bytes: &[u8]) -> usize {
    if bytes.first() == Some(&b'n') && bytes.starts_with(b"null") {
        return 4;
    }
    // A plain loop: half of the time that is spent on a record would be spent here.
    let mut at = 0;
    while at < bytes.len() && IN_NUMBERS[bytes[at] as usize] {
        at += 1;
    }
    at
}

/// The bytes that can occur in JSON numbers.
const IN_NUMBERS: [bool; 256] = {
    let mut found = [false; 256];
    let bytes = b"0123456789+-.eE";
    let mut at = 0;
    while at < bytes.len() {
        found[bytes[at] as usize] = true;
        at += 1;
    }
    found
};

/// A number of JSON, or `null` for none.
fn value(text: &str) -> Option<f64> {
    if text == "null" {
        return Some(f64::NAN);
    }
    let begins = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
    text.as_bytes().first().filter(|byte| begins(byte))?;
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>(),
            -10.0..10.0f64,
            Just(-0.0),
            Just(f64::NAN),
            (-5i32..5).prop_map(f64::from)
        ]
    }

    proptest! {
        /// Both ways to read a line agree; a damaged line is never read this way.
        #[test]
        fn quick_and_careful_agree(
            names in prop::collection::vec("\\PC{0,6}", 0..5),
            numbers in prop::collection::vec(number(), 9),
            step: u64,
            metric in prop::option::of(-1.0..1.0f64),
            (at, bit) in (any::<prop::sample::Index>(), 0..8u32),
        ) {
            let mut record = StepRecord {
                step,
                loss: numbers[0],
                sat: numbers[1],
                gradient_norm: numbers[2],
                step_time: numbers[3],
                axioms: numbers[4..4 + names.len()].to_vec(),
                ..StepRecord::default()
            };
            record.metrics.extend(metric.map(|value| ("accuracy".to_string(), value)));
            let line = record.to_json_line(&names);
            let alike = LinePattern::new(&names);
            let quick = alike.record(&line);
            let (careful, _) = StepRecord::from_json_line(&line).unwrap();
            prop_assert_eq!(quick.is_some(), metric.is_none(), "{}", line);
            if let Some(quick) = quick {
                let bits = |record: &StepRecord| -> Vec<u64> {
                    let four = [record.loss, record.sat, record.gradient_norm, record.step_time];
                    four.iter().chain(&record.axioms).map(|x| x.to_bits()).collect()
                };
                prop_assert_eq!(bits(&quick), bits(&careful));
                prop_assert_eq!(quick.step, step);
            }
            let mut damaged = line.clone().into_bytes();
            damaged[at.index(line.len())] ^= 1 << bit;
            if let Ok(damaged) = String::from_utf8(damaged) {
                prop_assert!(alike.record(&damaged).is_none(), "{}", damaged);
            }
            let mut others = names.clone();
            others.push("one more".to_string());
            prop_assert!(LinePattern::new(&others).record(&line).is_none());
        }
    }

    #[test]
    fn lines_that_others_have_written_are_left_to_the_careful_reader() {
        let alike = LinePattern::new(&["a".into()]);
        let line = "{\"step\":1,\"loss\":1,\"sat\":1,\"gradient_norm\":1,\"step_time\":1,\"axioms\":{\"a\":1},\"metrics\":{}}\n";
        assert!(alike.record(line).is_none(), "no checksum");
        assert!(alike.record(&LINE.put(line)).is_some());
        for odd in ["+1", ".5", "inf", "1e999", "", "1 ", "-", "1-"] {
            let odd = line.replace("\"sat\":1", &format!("\"sat\":{odd}"));
            assert!(alike.record(&LINE.put(&odd)).is_none(), "{odd}");
        }
        assert!(alike.record("").is_none());
    }
}
