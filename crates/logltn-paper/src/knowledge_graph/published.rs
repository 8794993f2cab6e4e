//! What others report of the same graphs, and where that was read.

use super::graph::GraphName;
use crate::published::{Other, cited};

/// Where figures were read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Collection,
    Safran,
    RnnLogic,
    /// As the collection has them; tails alone.
    Tails,
    Codex,
}

impl Source {
    fn text(self) -> &'static str {
        match self {
            Source::Collection => {
                "[1] github.com/irokin/Link-Prediction-Experiment-Results, README.md, which collects filtered figures from Neural-LP (Yang et al. 2017), \
                 NTP-lambda (Rocktäschel and Riedel 2017), ComplEx-N3 (Lacroix et al. 2018), RotatE (Sun et al. 2019), DRUM (Sadeghian et al. 2019; \
                 WN18RR also on paperswithcode.com, with rules of length 3) and later papers; they may be of other splits of UMLS and Kinship than these"
            }
            Source::Safran => {
                "[2] github.com/OpenBioLink/SAFRAN, docs/source/results.rst (Ott et al. 2021)"
            }
            Source::RnnLogic => {
                "[3] wizwand.com/paper/68fa6a611e209131cea27dca, of RNNLogic (Qu et al. 2021), whose authors split UMLS and Kinship in their own way"
            }
            Source::Tails => {
                "[4] from [1] too: MINERVA (Das et al. 2018) and Multi-Hop (Lin et al. 2018), which answer (h, r, ?): the ranks are those of tails alone \
                 (github.com/salesforce/MultiHopKG, src/eval.py, hits_and_ranks)"
            }
            Source::Codex => "[5] CoDEx (Safavi and Koutra 2020), github.com/tsafavi/codex",
        }
    }
}

/// A system, and its MRR and hits@1, 3 and 10 as far as they were found.
struct Line(GraphName, &'static str, Source, [Option<f64>; 4]);

use GraphName::{Family, Kinship, Umls, Wn18rr};
use Source::{Codex, Collection, RnnLogic, Safran, Tails};

const fn all(mrr: f64, one: f64, three: f64, ten: f64) -> [Option<f64>; 4] {
    [Some(mrr), Some(one), Some(three), Some(ten)]
}

const CODEX_S: GraphName = GraphName::Other("codex-s");
const FB15K_237: GraphName = GraphName::Other("fb15k237");

#[rustfmt::skip] // a table reads better than a column
const LINES: [Line; 23] = [
    Line(Umls, "Neural-LP [1]", Collection, all(0.778, 0.643, 0.869, 0.962)),
    Line(Umls, "DRUM [1]", Collection, all(0.81, 0.67, 0.94, 0.98)),
    Line(Umls, "MINERVA, tails [4]", Tails, all(0.825, 0.728, 0.9, 0.968)),
    Line(Umls, "NTP-lambda [1]", Collection, all(0.912, 0.843, 0.983, 1.0)),
    Line(Umls, "Multi-Hop, tails [4]", Tails, [Some(0.94), Some(0.902), None, Some(0.992)]),
    Line(Umls, "RNNLogic [3]", RnnLogic, [Some(0.847), None, None, None]),
    Line(Kinship, "Neural-LP [1]", Collection, all(0.619, 0.475, 0.707, 0.912)),
    Line(Kinship, "DRUM [1]", Collection, all(0.61, 0.46, 0.71, 0.92)),
    Line(Kinship, "MINERVA, tails [4]", Tails, all(0.72, 0.605, 0.812, 0.924)),
    Line(Kinship, "NTP-lambda [1]", Collection, all(0.793, 0.759, 0.798, 0.878)),
    Line(Kinship, "Multi-Hop, tails [4]", Tails, [Some(0.878), Some(0.811), None, Some(0.982)]),
    Line(Kinship, "RNNLogic [3]", RnnLogic, [Some(0.714), None, None, None]),
    Line(Family, "RNNLogic [3]", RnnLogic, [Some(0.98), None, None, None]),
    Line(Wn18rr, "RotatE [1]", Collection, all(0.476, 0.428, 0.492, 0.571)),
    Line(Wn18rr, "ComplEx-N3 [1]", Collection, [Some(0.48), None, None, Some(0.57)]),
    Line(Wn18rr, "DRUM [1]", Collection, all(0.486, 0.425, 0.513, 0.586)),
    Line(Wn18rr, "MINERVA, tails [4]", Tails, all(0.448, 0.413, 0.456, 0.513)),
    Line(Wn18rr, "Multi-Hop, tails [4]", Tails, [Some(0.472), Some(0.437), None, Some(0.542)]),
    Line(Wn18rr, "AnyBURL, greatest confidence [2]", Safran, [Some(0.494), Some(0.452), None, Some(0.572)]),
    Line(Wn18rr, "SAFRAN [2]", Safran, [Some(0.502), Some(0.459), None, Some(0.578)]),
    Line(Wn18rr, "RNNLogic [3]", RnnLogic, [Some(0.513), None, None, None]),
    Line(CODEX_S, "ComplEx [5]", Codex, [Some(0.465), None, None, None]),
    Line(FB15K_237, "ComplEx-N3 [1]", Collection, [Some(0.37), None, None, None]),
];

const METRICS: [&str; 4] = ["mrr", "hits1", "hits3", "hits10"];

/// What others report of a metric. Those that rank tails alone are beside that.
pub fn others(graph: GraphName, metric: &str) -> Vec<Other> {
    let (column, tails) = match metric {
        "mrr_last" => (Some(0), true),
        _ => (METRICS.iter().position(|name| *name == metric), false),
    };
    let Some(column) = column else {
        return Vec::new();
    };
    let lines = LINES.iter().filter(|line| line.0 == graph);
    lines
        .filter(|line| (line.2 == Tails) == tails || column > 0)
        .filter_map(|line| Some(cited(line.1, 0, line.3[column]?, 3)))
        .collect()
}

/// Where that was read.
pub fn sources(graph: GraphName) -> Vec<String> {
    let all = [Collection, Safran, RnnLogic, Tails, Codex].into_iter();
    let used = |source: &Source| LINES.iter().any(|l| l.0 == graph && l.2 == *source);
    all.filter(used).map(|s| s.text().to_string()).collect()
}
