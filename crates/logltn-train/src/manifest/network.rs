//! Networks: `{ mlp = [16, 16], activation = "elu" }`, `{ cnn = "lenet" }`, `{ layers = [...] }`.

use logltn::{Code, Diagnostic, Source, Span};

use logltn_learn::{InputExpr, Place, Spanned};
use logltn_nn::{Activation, LayerSpec as Layer};

use super::phrase::read_input;
use super::reader::{Item, Problems, Table, at_most_one, quoted_list};

/// A network without its output layer, which the predicate or function adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its place.
    pub span: Span,
    /// Its layers.
    pub body: NetworkBody,
    /// What it reads, one after the other; `None` is all features of all arguments.
    pub inputs: Option<Vec<Spanned<InputExpr>>>,
    /// `undecided = true`: the weights of the output layer start at 0, so that all classes are equally likely at first.
    pub undecided: bool,
}

/// The hidden layers of a network.
#[derive(Clone, Debug, PartialEq)]
pub enum NetworkBody {
    /// Dense layers of these widths, each followed by the activation. No widths: a linear model.
    Mlp {
        /// The hidden widths.
        widths: Vec<usize>,
        /// After each of them.
        activation: Activation,
    },
    /// A known convolutional network.
    Cnn(Cnn),
    /// Layer by layer.
    Layers(Vec<Spanned<Layer>>),
}

/// The convolutional networks that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cnn {
    /// `lenet`.
    LeNet,
}

fn activations() -> [(&'static str, Activation); 4] {
    Activation::ALL.map(|activation| (activation.name(), activation))
}

/// Large enough for any CPU network, small enough that a slip of the finger does not exhaust memory.
pub(super) const MAX_WIDTH: u64 = 1 << 20;
const MAX_SIDE: u64 = 1024;

/// A network of its own, or the name of one in `[networks]`.
#[derive(Clone, Debug, PartialEq)]
pub enum NetworkRef {
    /// `network = { … }`.
    Own(Network),
    /// `network = "trunk"`.
    Shared(Spanned<String>),
}

impl NetworkRef {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<NetworkRef> {
        if item.is_string() {
            return Some(NetworkRef::Shared(
                item.string(problems, "a network's name")?,
            ));
        }
        if item.is_table() {
            return Some(NetworkRef::Own(Network::read(item, problems)?));
        }
        item.expected(
            problems,
            "a network such as { mlp = [16, 16] }, or the name of one in `[networks]`",
        )
    }
}

impl Network {
    /// What it describes. The places of its messages are in the manifest's `source`.
    pub(crate) fn described(&self, source: &Source) -> logltn_learn::Network {
        let network = match &self.body {
            NetworkBody::Mlp { widths, activation } => {
                logltn_learn::Network::mlp(widths, *activation)
            }
            NetworkBody::Cnn(Cnn::LeNet) => logltn_learn::Network::lenet(),
            NetworkBody::Layers(layers) => {
                let layers: Vec<Layer> = layers.iter().map(|layer| layer.value).collect();
                logltn_learn::Network::layers(layers)
            }
        };
        let input = |input: &Spanned<InputExpr>| logltn_learn::Input {
            text: input.to_string(),
            place: Place::new(source, input.span),
        };
        let inputs = self.inputs.as_ref();
        logltn_learn::Network {
            inputs: inputs.map(|inputs| inputs.iter().map(input).collect()),
            undecided: self.undecided,
            place: Place::new(source, self.span),
            ..network
        }
    }

    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Network> {
        let mut table = item.table(problems, "a table such as { mlp = [16, 16] }")?;
        let span = table.span;
        let (mlp, cnn, layers) = (table.take("mlp"), table.take("cnn"), table.take("layers"));
        let activation = table.take("activation");
        let inputs = table.take("inputs").map(|item| {
            let inputs = item.list(
                problems,
                "an array of strings such as [\"x.position\"]",
                read_input,
            );
            if item.is_empty_array() {
                problems.error(
                    Code::EmptyValue,
                    item.span,
                    format!("`{}` is empty: a network must read something", item.path),
                );
            }
            inputs
        });
        let undecided = table.take("undecided");
        table.finish(problems);
        let undecided = match undecided {
            Some(item) => item.boolean(problems)?.value,
            None => false,
        };
        let one = at_most_one(problems, &item.path, &[&mlp, &cnn, &layers]);
        if let (None, Some(activation)) = (&mlp, &activation) {
            problems.push(
                activation.key,
                "only for `mlp`",
                Diagnostic::error(
                    Code::ConflictingKeys,
                    format!("`{}` goes with `mlp` only", activation.path),
                )
                .help("in `layers`, write activations as layers: [{ dense = 100 }, \"elu\"]"),
            );
        }
        let body = match (&mlp, &cnn, &layers) {
            (Some(mlp), ..) => read_mlp(mlp, activation, problems),
            (_, Some(cnn), _) => Some(NetworkBody::Cnn(
                cnn.one_of(problems, &[("lenet", Cnn::LeNet)])?.value,
            )),
            (.., Some(layers)) => read_layers(layers, problems),
            _ => {
                problems.push(
                    span,
                    "no layers",
                    Diagnostic::error(Code::MissingKey, format!("`{}` says nothing about layers", item.path))
                        .help("give one of `mlp = [16, 16]`, `cnn = \"lenet\"` or `layers = [{ dense = 100 }, \"elu\"]`"),
                );
                None
            }
        };
        // A list of inputs that could not be read was reported.
        let inputs = match inputs {
            Some(inputs) => Some(inputs?),
            None => None,
        };
        Some(Network {
            span,
            body: body.filter(|_| one)?,
            inputs,
            undecided,
        })
    }
}

fn read_mlp(
    mlp: &Item<'_>,
    activation: Option<Item<'_>>,
    problems: &mut Problems<'_>,
) -> Option<NetworkBody> {
    let widths = mlp.list(
        problems,
        "an array of hidden widths such as [16, 16]",
        |width, problems| width.size(problems, MAX_WIDTH).map(|w| w.value),
    );
    let activation = match activation {
        Some(item) => item.one_of(problems, &activations()).map(|a| a.value),
        None => Some(Activation::Elu),
    };
    Some(NetworkBody::Mlp {
        widths: widths?,
        activation: activation?,
    })
}

fn read_layers(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<NetworkBody> {
    let layers = item.list(
        problems,
        "an array of layers such as [{ dense = 100 }, \"elu\"]",
        read_layer,
    )?;
    check_order(&layers, problems);
    Some(NetworkBody::Layers(layers))
}

fn read_layer(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Spanned<Layer>> {
    if item.is_string() {
        let mut words = vec![("flatten", Layer::Flatten)];
        words.extend(activations().map(|(name, a)| (name, Layer::Activation(a))));
        return item.one_of(problems, &words);
    }
    let what =
        "a layer such as { dense = 100 }, { conv = [6, 5] }, { pool = 2 }, \"flatten\" or \"elu\"";
    let mut table: Table<'_> = item.table(problems, what)?;
    let (conv, pool, dense) = (table.take("conv"), table.take("pool"), table.take("dense"));
    let dropout = table.take("dropout");
    table.finish(problems);
    if !at_most_one(problems, &item.path, &[&conv, &pool, &dense, &dropout]) {
        return None;
    }
    let layer = if let Some(conv) = conv {
        let what = "two whole numbers: [filters, kernel]";
        let members = conv.items(problems, what)?;
        let [filters, kernel] = members.as_slice() else {
            problems.error(
                Code::WrongType,
                conv.span,
                format!(
                    "`{}`: expected {what}, found {} of them",
                    conv.path,
                    members.len()
                ),
            );
            return None;
        };
        let (filters, kernel) = (
            filters.size(problems, MAX_WIDTH),
            kernel.size(problems, MAX_SIDE),
        );
        Layer::Conv {
            filters: filters?.value,
            kernel: kernel?.value,
        }
    } else if let Some(pool) = pool {
        Layer::Pool(pool.size(problems, MAX_SIDE)?.value)
    } else if let Some(dense) = dense {
        Layer::Dense(dense.size(problems, MAX_WIDTH)?.value)
    } else if let Some(dropout) = dropout {
        let share = |n: f64| (0.0..1.0).contains(&(n as f32));
        Layer::Dropout(
            dropout
                .number_where(problems, "at least 0 and below 1", share)?
                .value as f32,
        )
    } else {
        problems.push(
            item.span,
            "not a layer",
            Diagnostic::error(
                Code::InvalidLayers,
                format!("`{}` is not a layer", item.path),
            )
            .note(format!(
                "layers are tables with one of {}, or one of the words {}",
                quoted_list(["conv", "pool", "dense", "dropout"]),
                quoted_list(["flatten", "elu", "relu", "tanh", "sigmoid"]),
            )),
        );
        return None;
    };
    Some(Spanned::new(layer, item.span))
}

/// Convolution and pooling need an image, dense layers (also the output layer, which is added) a row.
fn check_order(layers: &[Spanned<Layer>], problems: &mut Problems<'_>) {
    // What is known of the value between two layers: the last layer that made an image, or a row.
    let mut image: Option<Span> = None;
    let mut row: Option<Span> = None;
    let flatten = "put \"flatten\" between the image layers and the dense ones";
    for layer in layers {
        match layer.value {
            Layer::Conv { .. } | Layer::Pool(_) => {
                if let Some(row) = row {
                    problems.push(
                        layer.span,
                        "needs an image",
                        Diagnostic::error(
                            Code::InvalidLayers,
                            "a convolution or pooling cannot follow a dense layer or \"flatten\"",
                        )
                        .mark(row, "from here on there is no image"),
                    );
                    return;
                }
                image = Some(layer.span);
            }
            Layer::Dense(_) => {
                if let Some(image) = image {
                    problems.push(
                        layer.span,
                        "needs a row of numbers",
                        Diagnostic::error(
                            Code::InvalidLayers,
                            "a dense layer cannot read an image",
                        )
                        .mark(image, "this gives an image")
                        .help(flatten),
                    );
                    return;
                }
                row = Some(layer.span);
            }
            Layer::Flatten => {
                image = None;
                row = Some(layer.span);
            }
            Layer::Activation(_) | Layer::Dropout(_) => {}
        }
    }
    if let Some(image) = image {
        problems.push(
            image,
            "this gives an image",
            Diagnostic::error(
                Code::InvalidLayers,
                "the layers end with an image, which the output layer cannot read",
            )
            .help("put \"flatten\" at the end"),
        );
    }
}
