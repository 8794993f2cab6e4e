//! What a table leaves in its folder: `table.md`, `table.csv`, `table.json` and `report.html`.

use std::fmt::Write as _;
use std::path::Path;

use logltn::Diagnostics;
use logltn_data::read_bytes;
use logltn_report::data_url;

use super::{Section, Table, data_folders};

/// Writes them. The pictures, which are in the folder, become part of the page.
pub(super) fn write(
    table: &Table,
    pictures: &[(String, String)],
    folder: &Path,
) -> Result<(), Diagnostics> {
    let json = format!("{:#}\n", table.json());
    data_folders::write_files(
        folder,
        &[
            ("table.md", markdown(table).as_bytes()),
            ("table.csv", csv(table).as_bytes()),
            ("table.json", json.as_bytes()),
            ("report.html", html(table, pictures, folder)?.as_bytes()),
        ],
    )
}

fn markdown(table: &Table) -> String {
    let mut out = format!(
        "# {}\n\nData: {}.\n\nSettings: {}.\n",
        table.task.title(),
        table.data_title,
        table.settings_line()
    );
    for Section {
        title,
        header,
        rows,
    } in table.sections()
    {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let _ = write!(out, "\n**{title}**\n\n{}", line(&header));
        let rules: Vec<String> = header.iter().map(|_| "---".into()).collect();
        out += &line(&rules);
        rows.iter().for_each(|row| out += &line(row));
    }
    let _ = write!(out, "\n{}\n", table.legend());
    out
}

/// One line for each figure, in full precision.
fn csv(table: &Table) -> String {
    let mut out =
        "task,data,config,samples,metric,mean,sd,runs,published_mean,published_sd,sat,seconds_per_run\n"
            .to_string();
    for cell in &table.cells {
        let samples = cell
            .portion
            .samples
            .map_or(String::new(), |n| n.to_string());
        let [mean, sd] = cell.published.map_or([String::new(), String::new()], |p| {
            [p.mean.to_string(), p.sd.to_string()]
        });
        let runs: Vec<String> = cell.runs.iter().map(f64::to_string).collect();
        let _ = writeln!(
            out,
            "{},{},{},{samples},{},{},{},{},{mean},{sd},{},{}",
            table.task,
            table.data.name(),
            cell.configuration.name,
            cell.metric.name,
            cell.mean,
            cell.sd,
            runs.join(" "),
            cell.sat,
            cell.seconds
        );
    }
    out
}

const STYLE: &str = "body{margin:0;background:#f5f6f8;color:#1f2933;font:15px/1.5 system-ui,sans-serif}\
main{max-width:1180px;margin:0 auto;padding:28px 24px 60px}\
section{background:#fff;border:1px solid #e1e5ea;border-radius:10px;padding:18px 20px;margin-top:18px;overflow-x:auto}\
h1{font-size:26px;margin:0 0 8px}h2{font-size:17px;margin:0 0 10px}p{color:#5f6b7a;margin:4px 0}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:4px 14px 4px 0;text-align:right}\
th:first-child,td:first-child{text-align:left}th{color:#5f6b7a;font-weight:500;border-bottom:1px solid #e1e5ea}\
img{max-width:100%;height:auto}";

fn html(
    table: &Table,
    pictures: &[(String, String)],
    folder: &Path,
) -> Result<String, Diagnostics> {
    let title = format!("{}: ours beside the paper's", table.task.title());
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head><body><main>\n<h1>{title}</h1>\n\
         <p>Data: {}</p>\n<p>Settings: {}</p>\n",
        escaped(&table.data_title),
        escaped(&table.settings_line())
    );
    for section in table.sections() {
        let _ = write!(
            out,
            "<section><h2>{}</h2><table><thead>{}</thead><tbody>",
            escaped(&section.title),
            html_row("th", &section.header)
        );
        for row in &section.rows {
            out += &html_row("td", row);
        }
        out += "</tbody></table></section>\n";
    }
    let _ = writeln!(out, "<p>{}</p>", escaped(&table.legend()));
    for (title, name) in pictures {
        let title = escaped(title);
        let _ = writeln!(
            out,
            "<section><h2>{title}</h2><img alt=\"{title}\" src=\"{}\"></section>",
            data_url(&read_bytes(&folder.join(name))?)
        );
    }
    out += "</main></body></html>\n";
    Ok(out)
}

fn html_row(tag: &str, cells: &[String]) -> String {
    let cells: Vec<String> = (cells.iter())
        .map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell)))
        .collect();
    format!("<tr>{}</tr>\n", cells.concat())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
