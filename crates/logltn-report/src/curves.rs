//! The curves of a run, in the form that the page reads: all, or what is new.

use serde_json::{Value, json};

use super::summary::Report;
use super::thinning::{Bucket, Thinned};

/// The most axioms that have a curve on the page: the least satisfied.
const MOST_AXIOMS: usize = 60;

impl Report {
    /// The curves. With `after`, of each curve only what is later than that step: `from` says how many of its points stay as
    /// they are.
    pub fn curves(&self, after: Option<u64>) -> Value {
        let mut series = vec![
            one("loss", &self.loss, after),
            one("sat", &self.sat, after),
            one("gradient norm", &self.gradient_norm, after),
            one("step time", &self.step_time, after),
        ];
        for axiom in self.worst_axioms().into_iter().take(MOST_AXIOMS) {
            series.push(one(&format!("axiom:{}", axiom.name), &axiom.truth, after));
        }
        for (name, curve) in &self.metrics {
            series.push(one(&format!("metric:{name}"), curve, after));
        }
        if let Some(schedule) = &self.schedule {
            let steps = self.loss.from(after);
            let new = &self.loss.buckets()[steps..];
            for (name, at) in schedule.curves() {
                let values: Vec<f64> = new.iter().map(|b| rounded(at(b.last_step()))).collect();
                series.push(json!({
                    "key": name, "from": steps, "y": values,
                    "x": new.iter().map(Bucket::last_step).collect::<Vec<_>>(),
                }));
            }
        }
        json!({
            "step": self.last_step,
            "records": self.records,
            "axioms": self.axioms.len(),
            "logs": self.logs(),
            // What the last truths are of: the whole theory at these parameters, or else the last step.
            "whole": (self.whole()).and(self.info.whole.as_ref()).map(|whole| whole.parameters()),
            "left_out": self.left_out,
            "rules": (self.whole()).and(self.info.whole.as_ref()).map(|whole| {
                let rules = whole.rules.iter();
                rules.map(|r| (&r.name, [r.groundings, r.premises, r.broken])).collect::<Vec<_>>()
            }),
            "series": series,
            "last": (self.axioms.iter().enumerate())
                .map(|(at, axiom)| (&axiom.name, self.end(at)))
                .collect::<Vec<_>>(),
        })
    }
}

fn one(key: &str, curve: &Thinned, after: Option<u64>) -> Value {
    let from = curve.from(after);
    let new = &curve.buckets()[from..];
    let of = |part: fn(&Bucket) -> f64| new.iter().map(|b| rounded(part(b))).collect::<Vec<_>>();
    let mut x: Vec<f64> = new.iter().map(Bucket::step).collect();
    let [mut y, mut low, mut high] = [of(Bucket::mean), of(|b| b.low), of(|b| b.high)];
    // The newest value is a separate point, since the mean of a stretch is not a real value. The next part begins
    // before it.
    if let (true, Some(bucket), Some(value)) =
        (curve.is_thinned(), curve.buckets().last(), curve.last())
        && bucket.last_step() > bucket.step()
    {
        x.push(bucket.last_step());
        for values in [&mut y, &mut low, &mut high] {
            values.push(rounded(value));
        }
    }
    let mut series = json!({ "key": key, "from": from, "x": x, "y": y });
    if curve.is_thinned() {
        series["low"] = json!(low);
        series["high"] = json!(high);
    }
    series
}

/// Six digits are more than a chart shows, and half as long.
fn rounded(value: f64) -> f64 {
    // Powers of ten up to 22 are exact, and so whole numbers divided by them are what their digits say.
    let power = 5.0 - value.abs().log10().floor();
    if !(0.0..=22.0).contains(&power) {
        return format!("{value:.5e}").parse().unwrap_or(value);
    }
    let scale = 10f64.powi(power as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn numbers_of_charts_have_six_digits() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.123456789, "-0.123457"),
            (123456.789, "123457.0"),
            (1234567.89, "1234570.0"),
            (9.9999996, "10.0"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0 * 1e-9, "3.33333e-10"),
            (-6.02214076e23, "-6.02214e23"),
            (1.23456789e-300, "1.23457e-300"),
            (1e-5, "1e-5"),
        ] {
            assert_eq!(format!("{:?}", rounded(value)), text);
        }
        // As written with six digits and read again, but where both are as near.
        let mut value = 1.234567891e-18f64;
        while value < 1e7 {
            let written: f64 = format!("{value:.5e}").parse().unwrap();
            assert_eq!(rounded(value), written, "{value}");
            value *= 1.0372913;
        }
    }
}
