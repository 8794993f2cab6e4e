//! Natural numbers of any size, for counting.

use std::cmp::Ordering;

/// A natural number of any size, the least significant digit (of base 2³²) first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Natural(Vec<u32>);

impl Natural {
    pub fn one() -> Natural {
        Natural(vec![1])
    }

    pub fn add(&mut self, other: &Natural) {
        let mut carry = 0_u64;
        for i in 0..self.0.len().max(other.0.len()) {
            if i == self.0.len() {
                self.0.push(0);
            }
            let sum =
                carry + u64::from(self.0[i]) + u64::from(other.0.get(i).copied().unwrap_or(0));
            self.0[i] = sum as u32;
            carry = sum >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    pub fn scale(&mut self, by: u32) {
        let mut carry = 0_u64;
        for digit in &mut self.0 {
            let product = carry + u64::from(*digit) * u64::from(by);
            *digit = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    pub fn times(&self, other: &Natural) -> Natural {
        let mut total = Natural::default();
        for (shift, digit) in other.0.iter().enumerate() {
            let mut part = self.clone();
            part.scale(*digit);
            part.0.splice(0..0, std::iter::repeat_n(0, shift));
            total.add(&part);
        }
        total
    }

    /// In decimal.
    pub fn decimal(mut self) -> String {
        let mut parts = Vec::new();
        while self.0.iter().any(|d| *d != 0) {
            let mut rest = 0_u64;
            for digit in self.0.iter_mut().rev() {
                let value = rest << 32 | u64::from(*digit);
                *digit = (value / 1_000_000_000) as u32;
                rest = value % 1_000_000_000;
            }
            parts.push(rest);
        }
        let Some(first) = parts.pop() else {
            return "0".into();
        };
        let rest = parts.iter().rev().map(|p| format!("{p:09}"));
        std::iter::once(first.to_string()).chain(rest).collect()
    }
}

/// By value: leading zeros do not count.
impl Ord for Natural {
    fn cmp(&self, other: &Natural) -> Ordering {
        let digits = |n: &Natural| n.0.iter().rposition(|d| *d != 0).map_or(0, |last| last + 1);
        let (own, others) = (digits(self), digits(other));
        own.cmp(&others).then_with(|| {
            let pairs = self.0[..own]
                .iter()
                .rev()
                .zip(other.0[..others].iter().rev());
            pairs
                .map(|(a, b)| a.cmp(b))
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal)
        })
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Natural) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Natural {
    fn eq(&self, other: &Natural) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Natural {}
