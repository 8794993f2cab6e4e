//! What a model is, beside its weights: enough to see whether weights would mean something else elsewhere.

use std::collections::BTreeMap;

use logltn::theory::{ArgumentSort, FunctionId, SortId};
use logltn::{Code, Diagnostic, Diagnostics};

use crate::input::by_place;
use crate::knowledge::{Behind, Ground, KnowledgeBase, NetworkRef, Units};
use crate::network::Network;

/// The most names of individuals that are written out.
const MOST_NAMES: usize = 30;

impl KnowledgeBase {
    /// The groundings of the symbols of the theory, in words, by keys such as `predicates.C.layers`: layers with their
    /// activations and dropout, inputs, outputs and the classes in their order, the shapes of features, and whose the
    /// learnable vectors are. Weights of one description are nonsense under another, even where their shapes fit.
    pub fn description(&self) -> BTreeMap<String, String> {
        let mut out = BTreeMap::new();
        let theory = self.theory();
        for (i, (predicate, ground)) in theory.predicates.iter().zip(&self.predicates).enumerate() {
            let key = format!("predicates.{}", predicate.name);
            if let Ground::Learnable { .. } = ground {
                let sorts = predicate.arguments.iter().map(|argument| match argument {
                    ArgumentSort::Sort(sort) => self.names(*sort),
                    ArgumentSort::Vector(width) => format!("{width} numbers"),
                });
                let of = sorts.collect::<Vec<_>>().join(" × ");
                out.insert(format!("{key}.learnable"), of);
            }
            if let Ground::ClosedForm(form) = ground {
                let arity = predicate.arguments.len();
                let learns = !form.learnt().is_empty();
                // Weights of anything else mean the same under another form.
                if learns || predicate.arguments.iter().any(|a| self.is_learnt(*a)) {
                    out.insert(format!("{key}.closed_form"), form.canonical(arity));
                }
            }
            let (Ground::Network(_) | Ground::Learnable { .. }) = ground else {
                continue;
            };
            let output = self.outputs[i];
            out.insert(format!("{key}.output"), output.kind.name().to_string());
            if output.per_class
                && let Some(ArgumentSort::Sort(classes)) = predicate.arguments.last()
            {
                out.insert(format!("{key}.classes"), self.names(*classes));
            }
            if let Ground::Network(behind) = ground {
                self.describe_behind(&key, behind, &mut out);
            }
        }
        for (i, (function, behind)) in theory.functions.iter().zip(&self.functions).enumerate() {
            let key = format!("functions.{}", function.name);
            if self.data.function(FunctionId(i as u32)).is_some() {
                out.insert(format!("{key}.values"), "data".to_string());
            } else if let Some(behind) = behind {
                self.describe_behind(&key, behind, &mut out);
            }
        }
        for (name, network) in &self.networks {
            describe_network(&format!("networks.{name}"), network, &[], &mut out);
        }
        for (i, (sort, vectors)) in theory.sorts.iter().zip(&self.vectors).enumerate() {
            let key = format!("sorts.{}", sort.name);
            let fields: Vec<String> = (vectors.fields.iter())
                .map(|field| match &field.name {
                    Some(name) => format!("{name} {:?}", field.shape),
                    None => format!("{:?}", field.shape),
                })
                .collect();
            if !fields.is_empty() {
                out.insert(format!("{key}.features"), fields.join(", "));
            }
            if let Some(width) = vectors.learnable {
                out.insert(format!("{key}.learnable"), width.to_string());
                out.insert(format!("{key}.individuals"), self.names(SortId(i as u32)));
            }
        }
        for (constant, width) in theory.constants.iter().zip(&self.learnable_constants) {
            let width = width.map_or("no".to_string(), |width| width.to_string());
            out.insert(format!("constants.{}.learnable", constant.name), width);
        }
        out
    }

    /// Whether individuals that can be this argument are vectors that are learnt.
    fn is_learnt(&self, argument: ArgumentSort) -> bool {
        let Some(sort) = argument.sort() else {
            return false;
        };
        self.vectors[sort].learnable.is_some() || self.learnt_constants(sort).next().is_some()
    }

    fn describe_behind(&self, key: &str, behind: &Behind, out: &mut BTreeMap<String, String>) {
        if let Some(Units { scale, shift }) = behind.units {
            out.insert(
                format!("{key}.units"),
                format!("times {scale} plus {shift}"),
            );
        }
        match &behind.network {
            NetworkRef::Own(network) => {
                let args = behind.args.as_deref().unwrap_or_default();
                describe_network(key, network, args, out);
            }
            NetworkRef::Shared(name) => {
                out.insert(format!("{key}.network"), name.clone());
                // A trunk's inputs refer to these.
                if let (
                    Some(args),
                    Some(Network {
                        inputs: Some(_), ..
                    }),
                ) = (&behind.args, self.networks.get(name))
                {
                    out.insert(format!("{key}.args"), args.join(", "));
                }
            }
        }
    }

    /// The individuals of a sort in their order: a few by name, many by a checksum.
    fn names(&self, sort: SortId) -> String {
        let size = self.data.size(sort);
        let names = (0..size).map(|i| self.theory()[sort].individual_name(i));
        if size <= MOST_NAMES {
            return names.collect::<Vec<_>>().join(", ");
        }
        // FNV-1a.
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        for name in names {
            for byte in name.bytes().chain([b'\n']) {
                sum = (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        format!("{size} with the checksum {sum:016x}")
    }
}

fn describe_network(
    key: &str,
    network: &Network,
    args: &[String],
    out: &mut BTreeMap<String, String>,
) {
    let layers: Vec<String> = network.layers.iter().map(ToString::to_string).collect();
    let layers = match layers.is_empty() {
        true => "none".to_string(),
        false => layers.join(", "),
    };
    out.insert(format!("{key}.layers"), layers);
    if network.undecided == Some(true) {
        out.insert(format!("{key}.undecided"), "true".to_string());
    }
    let inputs = match &network.inputs {
        Some(inputs) => {
            let inputs = inputs.iter().map(|input| by_place(&input.text, args));
            inputs.collect::<Vec<_>>().join(", ")
        }
        None => "all features of all arguments".to_string(),
    };
    out.insert(format!("{key}.inputs"), inputs);
}

/// Compares what weights were learnt for with what they are to be used for. Symbols that only one side has are not
/// compared.
///
/// # Errors
/// With each difference.
pub fn same_model(
    learnt: &BTreeMap<String, String>,
    used: &BTreeMap<String, String>,
) -> Result<(), Diagnostics> {
    // `predicates.C` of `predicates.C.layers`.
    let symbol = |key: &str| key.rsplit_once('.').map(|(symbol, _)| symbol.to_string());
    let has = |side: &BTreeMap<String, String>, key: &str| {
        side.keys().any(|other| symbol(other) == symbol(key))
    };
    let mut keys: Vec<&String> = learnt.keys().chain(used.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut errors = Diagnostics::new();
    for key in keys {
        let (was, is) = (learnt.get(key), used.get(key));
        if was != is && has(learnt, key) && has(used, key) {
            let [was, is] = [was, is].map(|value| match value {
                Some(value) => format!("`{value}`"),
                None => "left out".to_string(),
            });
            errors.push(Diagnostic::error(
                Code::WeightsDoNotFit,
                format!("the weights were learnt with something else: `{key}` was {was} and is {is} here"),
            ));
        }
    }
    errors.into_result(()).map(drop)
}
