//! The plan for people: what `logltn check --plan` prints.

use std::fmt;

use super::Plan;
use super::program::*;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "requests: each predicate is asked once per row and step")?;
        for request in &self.requests {
            let theory = self.data.theory();
            let name = &theory[request.predicate].name;
            writeln!(f, "  {name}")?;
        }
        Ok(())
    }
}
