//! `logltn help commands`: every command with its arguments, as Markdown. It is docs/commands.md.

use std::fmt::Write;

use clap::{Arg, Command};

/// The page.
pub fn page(mut program: Command) -> String {
    program.build();
    let mut out = String::from(
        "# Commands\n\n\
         Every command and its flags, as `logltn help commands` prints them. Exit status: 0 done, 1 the run failed, 2 the input is wrong. All commands\n\
         take `--memory SIZE`, `--help` and `--version`.\n",
    );
    for command in program.get_subcommands() {
        section(&mut out, command, "##", "logltn", &[]);
    }
    out
}

/// A command; what it shares with its siblings is at their parent.
fn section(out: &mut String, command: &Command, level: &str, before: &str, shared: &[&str]) {
    if command.get_name() == "help" || command.is_hide_set() {
        return;
    }
    let name = format!("{before} {}", command.get_name());
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let _ = write!(out, "\n{level} {name}\n\n{}\n", about.trim_end());
    let inner: Vec<&Command> = command
        .get_subcommands()
        .filter(|c| c.get_name() != "help")
        .collect();
    // Arguments that all subcommands share are listed once.
    let everywhere = |arg: &&Arg| {
        let takes = |c: &&Command| {
            c.get_arguments()
                .any(|other| other.get_id() == arg.get_id())
        };
        inner.iter().all(takes)
    };
    let common: Vec<&Arg> = (inner.first())
        .map(|first| first.get_arguments().filter(everywhere).collect())
        .unwrap_or_default();
    let hidden = |arg: &&&Arg| {
        let id = arg.get_id().as_str();
        arg.is_hide_set() || matches!(id, "help" | "version" | "memory") || shared.contains(&id)
    };
    let own: Vec<&Arg> = command.get_arguments().collect();
    let rows: Vec<String> = (own.iter().chain(&common))
        .filter(|arg| !hidden(arg))
        .map(|arg| row(arg))
        .collect();
    if !rows.is_empty() {
        let _ = write!(out, "\n| | |\n|---|---|\n{}", rows.concat());
    }
    let common: Vec<&str> = common.iter().map(|arg| arg.get_id().as_str()).collect();
    for inner in inner {
        section(out, inner, &format!("{level}#"), &name, &common);
    }
}

fn row(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default().join(" ");
    let takes = arg.get_action().takes_values();
    let written = match arg.get_long() {
        Some(long) if takes => format!("--{long} {values}"),
        Some(long) => format!("--{long}"),
        None => values,
    };
    let help = arg.get_long_help().or(arg.get_help());
    let mut help = help.map(ToString::to_string).unwrap_or_default();
    help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let defaults = arg.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    if takes && !defaults.is_empty() {
        let _ = write!(help, " [default: {}]", defaults.join(" "));
    }
    format!("| `{written}` | {} |\n", help.replace('|', "\\|"))
}
