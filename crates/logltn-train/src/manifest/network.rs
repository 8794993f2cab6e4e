//! Networks: `{ mlp = [16, 16], activation = "elu" }`, `{ cnn = "lenet" }`, `{ layers = [...] }`.

use logltn::{Code, Diagnostic, Source, Span};

use logltn_learn::{InputExpr, Place, Spanned};
use logltn_nn::{Activation, LayerSpec as Layer, Shape};

use super::phrase::read_input;
use super::reader::{Item, Problems, Table, quoted_list};

/// A network without its output layer, which the predicate or function adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its place.
    pub span: Span,
    /// Its hidden layers.
    pub layers: Vec<Layer>,
    /// What it is called if it is not written layer by layer: `mlp 16-16`, `linear`, `lenet`.
    pub shorthand: Option<String>,
    /// Its inputs in order; `None` means all features of all arguments.
    pub inputs: Option<Vec<Spanned<InputExpr>>>,
    /// `undecided = true`: the weights of the output layer start at 0, so that all classes are equally likely at first.
    /// By default the theory decides.
    pub undecided: Option<bool>,
}

/// The convolutional networks that have a name.
pub(super) const CNNS: [(&str, Cnn); 1] = [("lenet", ("lenet", logltn_learn::Network::lenet))];

type Cnn = (&'static str, fn() -> logltn_learn::Network);

pub(super) fn activations() -> [(&'static str, Activation); 4] {
    Activation::ALL.map(|activation| (activation.name(), activation))
}

/// The layers that are words.
pub(super) fn layer_words() -> Vec<(&'static str, Layer)> {
    let mut words = vec![("flatten", Layer::Flatten)];
    words.extend(activations().map(|(name, a)| (name, Layer::Activation(a))));
    words
}

/// Large enough for any CPU network, small enough that a typo does not exhaust memory.
pub(super) const MAX_WIDTH: u64 = 1 << 20;
pub(super) const MAX_SIDE: u64 = 1024;

/// A network of its own, or the name of one in `[networks]`.
#[derive(Clone, Debug, PartialEq)]
pub enum NetworkRef {
    /// `network = { … }`.
    Own(Network),
    /// `network = "trunk"`.
    Shared(Spanned<String>),
}

impl NetworkRef {
    pub(super) fn read_spanned(item: &Item<'_>) -> Option<Spanned<NetworkRef>> {
        let network = match () {
            _ if item.is_string() => NetworkRef::Shared(item.string("a network's name")?),
            _ if item.is_table() => NetworkRef::Own(Network::read(item)?),
            _ => item.expected(
                "a network such as { mlp = [16, 16] }, or the name of one in `[networks]`",
            )?,
        };
        Some(Spanned::new(network, item.span))
    }
}

impl Network {
    /// What it describes. The places of its messages are in the manifest's `source`.
    pub(crate) fn described(&self, source: &Source) -> logltn_learn::Network {
        let input = |input: &Spanned<InputExpr>| logltn_learn::Input {
            text: input.to_string(),
            place: Place::new(source, input.span),
        };
        let inputs = self.inputs.as_ref();
        logltn_learn::Network {
            layers: self.layers.clone(),
            inputs: inputs.map(|inputs| inputs.iter().map(input).collect()),
            undecided: self.undecided,
            place: Place::new(source, self.span),
        }
    }

    pub(super) fn read(item: &Item<'_>) -> Option<Network> {
        let mut table = item.table()?;
        let span = table.span;
        let [mlp, cnn, layers] = ["mlp", "cnn", "layers"].map(|key| table.take(key));
        if let (None, Some(activation)) = (&mlp, table.take("activation")) {
            let what = format!("`{}` goes with `mlp` only", activation.path);
            let help = "in `layers`, write activations as layers: [{ dense = 100 }, \"elu\"]";
            activation.misplaced("only for `mlp`", what, help);
        }
        let body = match (&mlp, &cnn, &layers) {
            (Some(_), ..) => read_mlp(&mut table),
            (_, Some(cnn), _) => cnn.one_of(&CNNS).map(|of| {
                let (name, network) = of.value;
                (network().layers, Some(name.to_string()))
            }),
            (.., Some(layers)) => read_layers(layers).map(|layers| (layers, None)),
            _ => {
                let what = format!("`{}` says nothing about layers", item.path);
                let error = Diagnostic::error(Code::MissingKey, what)
                    .help("give one of `mlp = [16, 16]`, `cnn = \"lenet\"` or `layers = [{ dense = 100 }, \"elu\"]`");
                item.problems.push(span, "no layers", error);
                None
            }
        };
        let inputs = table.read("inputs", |item| {
            if item.is_empty_array() {
                item.refuse_empty("a network must read something");
            }
            item.list(read_input)
        });
        let undecided = table
            .read("undecided", Item::boolean)
            .map(|flag| flag.value);
        table.end()?;
        let (layers, shorthand) = body?;
        Some(Network {
            span,
            layers,
            shorthand,
            inputs,
            undecided,
        })
    }
}

fn read_mlp(table: &mut Table<'_>) -> Option<(Vec<Layer>, Option<String>)> {
    let width = |width: &Item<'_>| width.size().map(|w| w.value);
    let widths = table.read("mlp", |mlp| mlp.list(width));
    let activation = table.read("activation", |item| item.one_of(&activations()));
    let widths = widths?;
    let activation = activation.map_or(Activation::Elu, |a| a.value);
    let shown: Vec<String> = widths.iter().map(usize::to_string).collect();
    let shorthand = match shown.is_empty() {
        true => "linear".to_string(),
        false => format!("mlp {}", shown.join("-")),
    };
    let layers = logltn_learn::Network::mlp(&widths, activation).layers;
    Some((layers, Some(shorthand)))
}

fn read_layers(item: &Item<'_>) -> Option<Vec<Layer>> {
    let layers = item.list(read_layer)?;
    check_order(&layers, item.problems);
    Some(layers.into_iter().map(|layer| layer.value).collect())
}

fn read_layer(item: &Item<'_>) -> Option<Spanned<Layer>> {
    if item.is_string() {
        return item.one_of(&layer_words());
    }
    let table = item.table()?;
    let kinds = ["conv", "pool", "dense", "dropout"];
    let [conv, pool, dense, dropout] = kinds.map(|key| table.take(key));
    table.end()?;
    let layer = if let Some(conv) = conv {
        read_convolution(&conv)?
    } else if let Some(pool) = pool {
        Layer::Pool(pool.size()?.value)
    } else if let Some(dense) = dense {
        Layer::Dense(dense.size()?.value)
    } else if let Some(dropout) = dropout {
        Layer::Dropout(dropout.number()?.value as f32)
    } else {
        let words = quoted_list(layer_words().iter().map(|(word, _)| *word));
        let error = Diagnostic::error(
            Code::InvalidLayers,
            format!("`{}` is not a layer", item.path),
        );
        let kinds = quoted_list(kinds);
        let note = format!("layers are tables with one of {kinds}, or one of the words {words}");
        item.wrong("not a layer", error.note(note));
        return None;
    };
    Some(Spanned::new(layer, item.span))
}

fn read_convolution(conv: &Item<'_>) -> Option<Layer> {
    let members = conv.items()?;
    let [filters, kernel] = members.as_slice() else {
        let (path, count) = (&conv.path, members.len());
        let expected = conv.array().0;
        let what = format!("`{path}`: expected {expected}, found {count} of them");
        conv.wrong("", Diagnostic::error(Code::WrongType, what));
        return None;
    };
    let (filters, kernel) = (filters.size(), kernel.size());
    Some(Layer::Conv {
        filters: filters?.value,
        kernel: kernel?.value,
    })
}

/// Convolution and pooling need an image, dense layers (also the output layer, which is added) a row.
fn check_order(layers: &[Spanned<Layer>], problems: &Problems<'_>) {
    let error = |what: &str| Diagnostic::error(Code::InvalidLayers, what);
    // The kind of value between two layers: an image, with the layer that made it, or a row.
    let mut image: Option<Span> = None;
    let mut row: Option<Span> = None;
    let picture = Shape::Image {
        channels: 1,
        height: MAX_SIDE as usize,
        width: MAX_SIDE as usize,
    };
    for layer in layers {
        let of_picture = layer.value.output(picture);
        if layer.value.needs_image() {
            if let Some(row) = row {
                let what = "a convolution or pooling cannot follow a dense layer or \"flatten\"";
                let error = error(what).mark(row, "from here on there is no image");
                return problems.push(layer.span, "needs an image", error);
            }
            image = Some(layer.span);
        } else if let (Err(_), Some(image)) = (of_picture, image) {
            let error = error("a dense layer cannot read an image")
                .mark(image, "this gives an image")
                .help("put \"flatten\" between the image layers and the dense ones");
            return problems.push(layer.span, "needs a row of numbers", error);
        } else if of_picture != Ok(picture) {
            (image, row) = (None, Some(layer.span));
        }
    }
    if let Some(image) = image {
        let what = "the layers end with an image, which the output layer cannot read";
        let error = error(what).help("put \"flatten\" at the end");
        problems.push(image, "this gives an image", error);
    }
}
