//! The arithmetic of guards: exact 64-bit integers, reals, and errors instead of overflow.

use std::cmp::Ordering;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    Int(i64),
    Real(f64),
}

impl Num {
    pub fn real(self) -> f64 {
        match self {
            Num::Int(n) => n as f64,
            Num::Real(x) => x,
        }
    }

    fn both(
        self,
        other: Num,
        integers: fn(i128, i128) -> i128,
        reals: fn(f64, f64) -> f64,
    ) -> Result<Num, String> {
        match (self, other) {
            (Num::Int(a), Num::Int(b)) => integer(integers(a.into(), b.into())),
            (a, b) => finite(reals(a.real(), b.real())),
        }
    }

    pub fn add(self, other: Num) -> Result<Num, String> {
        self.both(other, |a, b| a + b, |a, b| a + b)
    }

    pub fn subtract(self, other: Num) -> Result<Num, String> {
        self.both(other, |a, b| a - b, |a, b| a - b)
    }

    pub fn multiply(self, other: Num) -> Result<Num, String> {
        self.both(other, |a, b| a * b, |a, b| a * b)
    }

    pub fn divide(self, other: Num) -> Result<Num, String> {
        if other.real() == 0.0 {
            return Err("division by zero".into());
        }
        finite(self.real() / other.real())
    }

    pub fn modulo(self, other: Num) -> Result<Num, String> {
        if other.real() == 0.0 {
            return Err("remainder by zero".into());
        }
        self.both(other, i128::rem_euclid, f64::rem_euclid)
    }

    pub fn negate(self) -> Result<Num, String> {
        Num::Int(0).subtract(self)
    }

    pub fn abs(self) -> Result<Num, String> {
        if self.real() < 0.0 {
            self.negate()
        } else {
            Ok(self)
        }
    }

    pub fn compare(self, other: Num) -> Ordering {
        match (self, other) {
            (Num::Int(a), Num::Int(b)) => a.cmp(&b),
            (a, b) => a.real().total_cmp(&(b.real() + 0.0)), // + 0.0: −0 equals 0
        }
    }
}

fn integer(n: i128) -> Result<Num, String> {
    i64::try_from(n)
        .map(Num::Int)
        .map_err(|_| "integer overflow".into())
}

fn finite(x: f64) -> Result<Num, String> {
    if x.is_finite() {
        Ok(Num::Real(x + 0.0))
    } else {
        Err("overflow".into())
    }
}
