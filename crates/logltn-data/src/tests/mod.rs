//! The readers from outside: what they read, what they refuse and in which words.

mod files;
mod formats;
mod messages;
mod never_panic;
mod writers;
