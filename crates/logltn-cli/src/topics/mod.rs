//! `logltn help TOPIC` for topics that are not commands: the language on a page, its grammar, all flags, and every code of a mistake.

mod commands;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use clap::CommandFactory;
use logltn::Code;

/// The theory language on one page, with ten examples.
pub const LANGUAGE: &str = include_str!("language.md");

/// What each topic prints.
const TOPICS: [(&str, &str); 3] = [
    ("language", LANGUAGE),
    ("ebnf", include_str!("ltn.ebnf")),
    ("gbnf", include_str!("ltn.gbnf")),
];

/// The page, if the command line asks for one: `logltn help language`.
pub fn asked_for(arguments: &[OsString]) -> Option<Cow<'static, str>> {
    let [_, help, topic] = arguments else {
        return None;
    };
    if help != OsStr::new("help") {
        return None;
    }
    if topic == OsStr::new("commands") {
        return Some(commands::page(crate::Arguments::command()).into());
    }
    if let Some(code) = topic.to_str().and_then(Code::named) {
        return Some(code.describe().into());
    }
    (TOPICS.iter())
        .find(|(name, _)| topic == OsStr::new(name))
        .map(|(_, text)| Cow::Borrowed(*text))
}
