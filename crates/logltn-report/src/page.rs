//! The page that shows runs: one script, one style sheet. A server feeds it, or the data are inside.
//!
//! The scripts are modules of the language, each with one idea, which import each other; what is served is all of them in
//! one, so that a page with its data inside is the same page. No tool but this file is needed to make it.

use serde_json::Value;

use super::picture::base64;

/// What draws charts; see `uplot/LICENSE`.
const UPLOT: &str = include_str!("../uplot/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("../uplot/uPlot.min.css");

/// Each may use those before it.
const MODULES: [&str; 15] = [
    include_str!("page/numbers.js"),
    include_str!("page/elements.js"),
    include_str!("page/source.js"),
    include_str!("page/state.js"),
    include_str!("page/series.js"),
    include_str!("page/chart.js"),
    include_str!("page/curves.js"),
    include_str!("page/runs.js"),
    include_str!("page/explanation.js"),
    include_str!("page/axioms.js"),
    include_str!("page/query.js"),
    include_str!("page/judged.js"),
    include_str!("page/networks.js"),
    include_str!("page/told.js"),
    include_str!("page/main.js"),
];

/// The script: `import` lines fall away, since all is in one.
pub fn script() -> String {
    let mut script = format!("{UPLOT}\n(() => {{\n\"use strict\";\n");
    for module in MODULES {
        for line in module.lines().filter(|line| !line.starts_with("import ")) {
            script += line.strip_prefix("export ").unwrap_or(line);
            script.push('\n');
        }
    }
    script + "})();\n"
}

/// The style sheet.
pub fn style() -> String {
    format!("{UPLOT_STYLE}\n{}", include_str!("page/page.css"))
}

/// The page that a server feeds.
pub fn live() -> String {
    page(
        "logltn",
        "<link rel=\"stylesheet\" href=\"/page.css\">\n<script defer src=\"/page.js\"></script>",
        "",
    )
}

/// The page with its data inside: it needs no server, no other file and no network.
///
/// The data are what [`live`] asks its server for: `runs`, and by the names of the runs `details`, `curves`, `explained` and
/// `networks`.
pub fn with_data(title: &str, data: &Value) -> String {
    // Nothing in the data can end the element that they are in, nor begin another.
    let data = data.to_string().replace('<', "\\u003c");
    let (style, script) = (format!("\n{}", style()), format!("\n{}", script()));
    // This script and this style sheet may be used, and no other.
    let only = |text: &str| {
        format!(
            "'sha256-{}'",
            base64(&hmac_sha256::Hash::hash(text.as_bytes()))
        )
    };
    let policy = format!(
        "default-src 'none'; img-src data:; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        only(&style),
        only(&script)
    );
    page(
        title,
        &format!(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{style}</style>"
        ),
        &format!(
            "<script type=\"application/json\" id=\"data\">{data}</script>\n<script>{script}</script>\n"
        ),
    )
}

fn page(title: &str, head: &str, end: &str) -> String {
    let title = escaped(&logltn::harmless(title));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n{head}</head>\n<body>\n{}{end}</body></html>\n",
        include_str!("page/page.html")
    )
}

/// Text as HTML writes it.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All modules share one scope, so a name that two of them give would hide one from the other.
    #[test]
    fn no_two_modules_give_one_name() {
        let mut names = std::collections::BTreeSet::new();
        for line in MODULES.iter().flat_map(|module| module.lines()) {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let line = line.strip_prefix("async ").unwrap_or(line);
            let given = ["function ", "const ", "let ", "class "];
            let Some(rest) = given.iter().find_map(|word| line.strip_prefix(word)) else {
                continue;
            };
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let name = &rest[..end.unwrap_or(rest.len())];
            assert!(
                !name.is_empty(),
                "a name that this test cannot read: {line}"
            );
            assert!(names.insert(name.to_string()), "`{name}` is given twice");
        }
        assert!(names.len() > 50, "{}", names.len());
    }

    /// Names and messages come from runs, which anybody may have written: they are text, never markup.
    #[test]
    fn no_module_makes_markup_of_text() {
        for module in MODULES {
            for means in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
            ] {
                assert!(!module.contains(means), "{means}");
            }
        }
    }

    #[test]
    fn data_cannot_leave_their_element() {
        let page = with_data(
            "</title><script>",
            &serde_json::json!({"a": "</script><script>alert(1)"}),
        );
        assert!(!page.contains("</script><script>alert"), "data");
        assert!(!page.contains("</title><script>"), "title");
        assert_eq!(page.matches("<script").count(), 2, "data and script");
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        for text in [live(), style(), script()] {
            for outside in ["http://", "https://", "@import", "url("] {
                // Names, no addresses.
                let text = text.replace("http://www.w3.org/2000/svg", "");
                let text = text.replace("https://github.com/leeoniya/uPlot", "");
                assert!(!text.contains(outside), "{outside}");
            }
        }
    }
}
