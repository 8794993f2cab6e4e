//! The list of operators as tables in Markdown, for the documents.

use super::{ALL, Key, Space};

/// What each operator computes.
pub(crate) fn operators() -> String {
    let mut table = String::from("| operator | in | is | remarks |\n|---|---|---|---|\n");
    for entry in ALL {
        for formula in entry.formulas {
            let roles = match formula.roles {
                "" => String::new(),
                roles => format!(" ({roles})"),
            };
            table += &format!(
                "| `{}`{roles} | {} | {} | {} |\n",
                entry.name, formula.of, formula.is, formula.remarks
            );
        }
    }
    table.replace("|  |", "| |")
}

/// What an operator computes, a line for each space.
pub(crate) fn formulas(name: &str) -> Vec<String> {
    let entries = ALL.iter().filter(|entry| entry.name == name);
    let formulas = entries.flat_map(|entry| entry.formulas);
    let line = |formula: &super::Formula| {
        let roles = match formula.roles {
            "" => String::new(),
            roles => format!(" ({roles})"),
        };
        let remarks = match formula.remarks {
            "" => String::new(),
            remarks => format!(" ({remarks})"),
        };
        format!("`{name}`{roles} of {}: {}{remarks}", formula.of, formula.is)
    };
    formulas.map(line).collect()
}

/// Which operators each key can have in each space.
pub(crate) fn choices() -> String {
    let mut table =
        String::from("| | log space | truth space | mixed (`prod`) |\n|---|---|---|---|\n");
    for key in Key::ALL {
        let cells = [Space::Log, Space::Truth, Space::Mixed].map(|space| {
            let names = key.allowed(space);
            let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            quoted.join(" ")
        });
        table += &format!("| `{}` | {} |\n", key.name(), cells.join(" | "));
    }
    table
}
