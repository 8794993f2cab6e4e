//! The numbers that operators take: α, p and p_forall.

use crate::diagnostic::{Code, Diagnostic};

/// α of LogMeanExp and LogSumExp, p of pMean, and p_forall of pMeanError.
///
/// ```
/// use logltn::Parameters;
/// let parameters = Parameters { alpha: 4.0, ..Parameters::default() };
/// assert!(Parameters::check("alpha", parameters.alpha).is_ok());
/// assert!(Parameters::check("alpha", 0.0).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// How close LogMeanExp is to the maximum: α → ∞ is the maximum, α → 0 the mean.
    pub alpha: f64,
    /// How close pMean is to the maximum; 1 is the mean.
    pub p: f64,
    /// How close pMeanError is to the minimum; 1 is the mean.
    pub p_forall: f64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            alpha: 1.0,
            p: 2.0,
            p_forall: 2.0,
        }
    }
}

impl Parameters {
    /// The names of the three, as in manifests.
    pub const NAMES: [&'static str; 3] = ["alpha", "p", "p_forall"];

    /// Whether all three are finite and in range.
    pub(crate) fn validate(&self) -> Result<(), Diagnostic> {
        Parameters::check("alpha", self.alpha)?;
        Parameters::check("p", self.p)?;
        Parameters::check("p_forall", self.p_forall)
    }

    /// Whether `value` is a value for the parameter called `name`: α and p from 0.001 to 1,000,000, p_forall from 1.
    ///
    /// Towards 0, exp(αx) and x^p differ from 1 by so little that values are lost to rounding: they are right to
    /// about 6e-8/α in single precision, in which training computes, and 1e-16/α in double. Beyond a million, the
    /// greatest member's own rounding would decide.
    ///
    /// pMean with p < 1 still makes sense as `exists` (towards the geometric mean). pMeanError with
    /// p_forall < 1 does not as `forall`: a single satisfied grounding would outweigh the violated ones.
    ///
    /// ```
    /// use logltn::Parameters;
    /// let error = Parameters::check("p_forall", 0.5).unwrap_err();
    /// assert_eq!(error.message(), "`p_forall` must be between 1 and 1000000, not 0.5");
    /// ```
    pub fn check(name: &str, value: f64) -> Result<(), Diagnostic> {
        let least = if name == "p_forall" { 1.0 } else { 1e-3 };
        if (least..=1e6).contains(&value) {
            return Ok(());
        }
        // Without an exponent 1e-300 would have 300 zeros.
        let is_usual = value == 0.0 || (1e-6..1e15).contains(&value.abs()) || !value.is_finite();
        let shown = match is_usual {
            true => value.to_string(),
            false => format!("{value:e}"),
        };
        let what = format!(
            "`{name}` must be {}, not {shown}",
            Parameters::expected(name)
        );
        Err(Diagnostic::error(Code::ValueOutOfRange, what))
    }

    /// What a value of the parameter called `name` should be.
    pub fn expected(name: &str) -> &'static str {
        match name {
            "p_forall" => "between 1 and 1000000",
            _ => "between 0.001 and 1000000",
        }
    }
}

/// Parameters of a single axiom, which override those of the call inside that axiom only.
///
/// ```
/// use logltn::{AxiomParameters, Parameters};
/// let own = AxiomParameters { alpha: Some(8.0), ..AxiomParameters::default() };
/// assert_eq!(own.over(&Parameters::default()), Parameters { alpha: 8.0, ..Parameters::default() });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AxiomParameters {
    /// α, if it has its own.
    pub alpha: Option<f64>,
    /// p, if it has its own.
    pub p: Option<f64>,
    /// p_forall, if it has its own.
    pub p_forall: Option<f64>,
}

impl AxiomParameters {
    /// The parameters inside the axiom, given those of the call.
    pub fn over(&self, call: &Parameters) -> Parameters {
        Parameters {
            alpha: self.alpha.unwrap_or(call.alpha),
            p: self.p.unwrap_or(call.p),
            p_forall: self.p_forall.unwrap_or(call.p_forall),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let bad = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.0,
            -1.0,
            1e-4,
            1e7,
        ];
        for name in Parameters::NAMES {
            for value in bad {
                assert!(Parameters::check(name, value).is_err(), "{name} = {value}");
            }
            assert!(Parameters::check(name, 1.0).is_ok());
        }
        assert!(Parameters::check("p", 0.5).is_ok());
        assert!(Parameters::check("p_forall", 0.5).is_err());
        assert!(Parameters::default().validate().is_ok());
    }

    #[test]
    fn tiny_values_are_not_written_out() {
        let error = Parameters::check("p_forall", 1e-300).unwrap_err();
        let message = "`p_forall` must be between 1 and 1000000, not 1e-300";
        assert_eq!(error.message(), message);
        let error = Parameters::check("alpha", -2.0).unwrap_err();
        assert!(error.message().ends_with("not -2"));
    }
}
