//! The page on training lists the metrics that there are.

use logltn_learn::MetricKind;
use logltn_learn::metrics::{Against, Better};

#[test]
fn the_page_lists_all_metrics() {
    let page = include_str!("../../../docs/metrics.md");
    let start = page.find("<!-- metrics -->\n").expect("a table") + "<!-- metrics -->\n".len();
    let end = start + page[start..].find("<!-- end -->").expect("its end");
    let mut expected = "| metric | of a | compares with | says |\n|---|---|---|---|\n".to_string();
    for (name, kind) in MetricKind::ALL {
        let with = match kind.against() {
            Against::Classes => "the right classes",
            Against::TruthsOrClasses => "`truth`, or the right classes",
            Against::Truths => "`truth`",
            Against::Ranks => "true rows",
            Against::Values => "`value`",
            Against::Axioms => "the axioms over the table",
        };
        let (of, says) = (kind.subject().key(), kind.says());
        expected += &format!("| `{name}` | `{of}` | {with} | {says} |\n");
    }
    assert_eq!(&page[start..end], expected);
    let smaller: Vec<String> = (MetricKind::ALL.iter())
        .filter(|(_, kind)| kind.better() == Better::Smaller)
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    let (last, others) = smaller.split_last().expect("some");
    let said = format!(
        "a smaller one for {} and {last}, a greater",
        others.join(", ")
    );
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&said), "{said}");
}
