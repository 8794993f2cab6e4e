//! The program `logltn`.

fn main() {}
