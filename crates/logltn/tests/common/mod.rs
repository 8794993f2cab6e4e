//! What several test files share.

#![allow(dead_code)] // each test file uses a part of this

pub mod compare;
pub mod conformance;
