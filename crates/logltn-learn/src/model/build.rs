//! From descriptions of networks to units.

use std::sync::Arc;

use logltn::theory::{ArgumentSort, FunctionId, PredicateId};
use logltn::{ArgumentShape, Code, Diagnostic, Diagnostics, FunctionData, Source, memory};
use logltn_nn::{LayerSpec, NetworkSpec, Shape};

use super::Model;
use super::gradients::Target;
use super::parameters::Parameters;
use super::table::{Given, Table};
use super::unit::{Feed, Piece, Unit};
use super::written_inputs::Here;
use crate::input::InputExpr;
use crate::knowledge::{Behind, KnowledgeBase, NetworkRef, Units};
use crate::network::Network;
use crate::spanned::Place;

/// What a learnt number takes: itself, its gradient, and two moments of the optimizer; and while a checkpoint is written,
/// number and moments twice more.
pub(super) const BYTES_LEARNT: usize = 40;

/// What a parameter of a network takes: it also is in two other orders, for the way forward and for the way back.
const BYTES_PER_PARAMETER: usize = BYTES_LEARNT + 8;

/// What a unit grounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Predicate(PredicateId),
    Function(FunctionId),
}

pub(super) struct Builder<'a> {
    pub knowledge: &'a KnowledgeBase,
    pub model: &'a mut Model,
    /// The units whose feeds are being built, innermost last: to find cycles.
    under_way: Vec<(Symbol, Vec<ArgumentShape>)>,
}

impl<'a> Builder<'a> {
    pub fn new(knowledge: &'a KnowledgeBase, model: &'a mut Model) -> Builder<'a> {
        Builder {
            knowledge,
            model,
            under_way: Vec::new(),
        }
    }

    /// A number for each tuple of individuals.
    pub(super) fn table(
        &self,
        id: PredicateId,
        initial: f64,
        place: &Place,
    ) -> Result<Parameters, Diagnostics> {
        let KnowledgeBase { data, outputs, .. } = self.knowledge;
        let theory = data.theory();
        let name = &theory[id].name;
        let wrong = |code, what: String| place.mark(Diagnostic::error(code, what));
        let mut shape = Vec::new();
        for argument in &theory[id].arguments {
            let ArgumentSort::Sort(sort) = argument else {
                let what = format!(
                    "predicate `{name}` cannot have a number for each tuple: it has an argument that is a number or a \
                     vector"
                );
                return Err(wrong(Code::VectorArgument, what)
                    .help("give it a `network`")
                    .into());
            };
            let learnt = self.knowledge.learnt_constants(*sort);
            shape.push(data.size(*sort) + learnt.count());
        }
        if let (true, Some(last), Some(ArgumentSort::Sort(sort))) = (
            outputs[id].per_class,
            shape.last_mut(),
            theory[id].arguments.last(),
        ) {
            *last = data.size(*sort); // a class is never a constant that is learnt
        }
        let numbers = shape.iter().try_fold(1_usize, |n, &m| n.checked_mul(m));
        let bytes = numbers.and_then(|n| n.checked_mul(BYTES_LEARNT));
        if bytes.is_none_or(|bytes| memory::ask(bytes as u128).is_err()) {
            let sizes: Vec<String> = (shape.iter().zip(&theory[id].arguments))
                .map(|(size, argument)| match argument {
                    ArgumentSort::Sort(sort) => format!("{size} of `{}`", theory[*sort].name),
                    ArgumentSort::Vector(_) => String::new(),
                })
                .collect();
            let gigabytes =
                shape.iter().map(|&n| n as f64).product::<f64>() * BYTES_LEARNT as f64 / 1e9;
            let what = format!(
                "predicate `{name}` would have a number for each of too many tuples ({}): about {gigabytes:.1} GB in training, of the {} allowed",
                sizes.join(" × "),
                memory::shown(memory::limit().into())
            );
            let help = "give it a network over learnable individuals";
            return Err(wrong(Code::TooMuchMemory, what).help(help).into());
        }
        let values = vec![initial as f32; numbers.unwrap_or(0)];
        if shape.is_empty() {
            shape.push(1);
        }
        Ok(Parameters::new(name.clone(), shape, values))
    }

    /// The unit and the feed for a symbol at arguments of some shape; both made if they are new.
    pub fn feed(
        &mut self,
        symbol: Symbol,
        shape: Vec<ArgumentShape>,
    ) -> Result<(usize, usize), Diagnostics> {
        if let Some(known) = self.model.feed_of(symbol, &shape) {
            return Ok(known);
        }
        let entry = (symbol, shape.clone());
        if self.under_way.contains(&entry) {
            return Err(Diagnostic::error(
                Code::NetworkReadsItself,
                format!(
                    "the inputs of `{}` depend on itself",
                    self.symbol_name(symbol)
                ),
            )
            .into());
        }
        self.under_way.push(entry);
        let built = self.new_feed(symbol, shape);
        self.under_way.pop();
        built
    }

    /// The unit of a symbol, and its twins.
    fn units_of(&self, symbol: Symbol) -> Vec<usize> {
        let of = self.model.symbols.iter().filter(|(s, _)| *s == symbol);
        of.map(|(_, unit)| *unit).collect()
    }

    /// The first of these units that a feed can go to without making it depend on itself, or a new twin of
    /// theirs; `None` if there are none.
    fn free_unit(
        &mut self,
        units: &[usize],
        feed: &Feed,
        place: &Place,
    ) -> Result<Option<usize>, Diagnostics> {
        let Some(&first) = units.first() else {
            return Ok(None);
        };
        let free = units.iter().find(|unit| !self.depends_on(feed, **unit));
        if let Some(&unit) = free {
            return Ok(Some(unit));
        }
        let model = &self.model.units[first];
        let (name, spec) = (model.name.clone(), model.network.spec().clone());
        let unit = self.new_unit(name, spec.input, spec.layers, place)?;
        self.model.units[unit].twin_of = Some(first);
        Ok(Some(unit))
    }

    /// Whether what a feed reads comes, perhaps in a roundabout way, from a unit.
    fn depends_on(&self, feed: &Feed, unit: usize) -> bool {
        let read_by = |feed: &Feed| -> Vec<usize> {
            let read = feed.pieces.iter().filter_map(Piece::reads);
            read.map(|(unit, ..)| unit).collect()
        };
        let mut seen = vec![false; self.model.units.len()];
        let mut open = read_by(feed);
        while let Some(next) = open.pop() {
            if next == unit {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) {
                open.extend(self.model.units[next].feeds.iter().flat_map(read_by));
            }
        }
        false
    }

    fn new_feed(
        &mut self,
        symbol: Symbol,
        shape: Vec<ArgumentShape>,
    ) -> Result<(usize, usize), Diagnostics> {
        let behind = self.network_of(symbol)?;
        let place = &behind.place;
        let wrong = |error: Diagnostic| Diagnostics::from(place.mark(error));
        let network = (self.knowledge.network(&behind.network)).ok_or_else(|| {
            wrong(Diagnostic::error(
                Code::UnknownNetwork,
                "this network is not declared",
            ))
        })?;
        let args = match &behind.args {
            Some(args) => args.clone(),
            None => (0..shape.len()).map(|i| format!("{i}")).collect(), // which cannot be written in a theory
        };
        let pieces = self.pieces(network, &args, &shape, place)?;
        let arity = shape.iter().map(leaves).sum();
        let width: usize = pieces.iter().map(Piece::width).sum();
        if width == 0 {
            return Err(wrong(self.nothing_to_read(symbol)));
        }
        let output_width = self.output_width(symbol);
        let feed = Feed {
            shape: shape.clone(),
            arity,
            pieces,
            ..Feed::default()
        };
        let (feed, input_shape) = match &behind.network {
            NetworkRef::Shared(trunk) => {
                let (unit, at, width) = self.trunk(trunk, network, feed, place)?;
                let whole = self.outputs((unit, at), (0..arity).collect(), false);
                let feed = Feed {
                    shape,
                    arity,
                    pieces: vec![whole],
                    ..Feed::default()
                };
                (feed, Shape::Flat(width))
            }
            NetworkRef::Own(_) => {
                let input = self.input_shape(&feed, &network.layers);
                (feed, input)
            }
        };
        let known = self.units_of(symbol);
        let unit = match self.free_unit(&known, &feed, place)? {
            Some(unit) => {
                if !known.contains(&unit) {
                    self.model.symbols.push((symbol, unit));
                }
                unit
            }
            None => {
                let mut layers = match &behind.network {
                    NetworkRef::Shared(_) => Vec::new(),
                    NetworkRef::Own(_) => network.layers.clone(),
                };
                layers.push(LayerSpec::Dense(output_width));
                if let Some(Units { scale, shift }) = behind.units {
                    layers.push(LayerSpec::Affine { scale, shift });
                }
                let name = self.symbol_name(symbol);
                let unit = self.new_unit(name, input_shape, layers, place)?;
                let undecided = match symbol {
                    Symbol::Predicate(id) => self.knowledge.starts_undecided(id, network),
                    Symbol::Function(_) => network.undecided == Some(true),
                };
                if undecided {
                    self.model.units[unit].network.silence_output();
                }
                self.model.symbols.push((symbol, unit));
                unit
            }
        };
        self.add_feed(unit, feed, place).map(|feed| (unit, feed))
    }

    /// What to say of a network without inputs.
    fn nothing_to_read(&self, symbol: Symbol) -> Diagnostic {
        let name = self.symbol_name(symbol);
        let arguments = self.arguments_of(symbol);
        let (why, help) = match arguments.is_empty() {
            true => (
                "it has no arguments",
                format!(
                    "what a proposition needs is one number that is learnt: make `{name}` learnable, without a network"
                ),
            ),
            false => (
                "none of its arguments has features",
                format!(
                    "give the individuals of {} features or learnable vectors; or make `{name}` learnable, without a network: a \
                     number for each tuple",
                    self.sorts_among(arguments)
                ),
            ),
        };
        let what = format!("the network of `{name}` has nothing to read: {why}");
        Diagnostic::error(Code::NoFeatures, what).help(help)
    }

    /// The shared hidden layers of a named network, as its own unit.
    fn trunk(
        &mut self,
        name: &str,
        network: &Network,
        feed: Feed,
        place: &Place,
    ) -> Result<(usize, usize, usize), Diagnostics> {
        let known: Vec<usize> = (self.model.trunks.iter())
            .filter(|(n, _)| n == name)
            .map(|(_, unit)| *unit)
            .collect();
        let same = |f: &Feed| {
            let pieces = || f.pieces.iter().zip(&feed.pieces);
            f.shape == feed.shape
                && f.pieces.len() == feed.pieces.len()
                && pieces().all(|(a, b)| a.reads_the_same(b))
        };
        for &unit in &known {
            let unit_of = &self.model.units[unit];
            if let Some(at) = unit_of.feeds.iter().position(same) {
                return Ok((unit, at, unit_of.output_width));
            }
        }
        let unit = match self.free_unit(&known, &feed, place)? {
            Some(unit) => unit,
            None => {
                let input = self.input_shape(&feed, &network.layers);
                let layers = network.layers.clone();
                self.new_unit(format!("networks.{name}"), input, layers, place)?
            }
        };
        if !known.contains(&unit) {
            self.model.trunks.push((name.to_string(), unit));
        }
        let width = self.model.units[unit].output_width;
        let at = self.add_feed(unit, feed, place)?;
        Ok((unit, at, width))
    }

    fn new_unit(
        &mut self,
        name: String,
        input: Shape,
        layers: Vec<LayerSpec>,
        place: &Place,
    ) -> Result<usize, Diagnostics> {
        let spec = NetworkSpec { input, layers };
        if let Some(error) = too_large(&spec, &name) {
            return Err(place.mark(error).into());
        }
        // Each unit draws from its own stream, so that adding one does not change the others.
        let seed = self.model.seed
            ^ (self.model.units.len() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let network = logltn_nn::Network::new(&spec, seed).map_err(|error| {
            let what = format!("the network of `{name}` cannot be built: {error}");
            place.mark(Diagnostic::error(Code::InvalidLayers, what))
        })?;
        self.model.units.push(Unit {
            name,
            twin_of: None,
            input_width: network.input_shape().len(),
            output_width: network.output_shape().len(),
            network,
            feeds: Vec::new(),
            passes_gradient: false,
            reads_data_only: true,
            inputs: Vec::new(),
            by_inputs: Vec::new(),
        });
        Ok(self.model.units.len() - 1)
    }

    fn add_feed(&mut self, unit: usize, feed: Feed, place: &Place) -> Result<usize, Diagnostics> {
        let width: usize = feed.pieces.iter().map(Piece::width).sum();
        if width != self.model.units[unit].input_width {
            let error = Diagnostic::error(
                Code::SizesDisagree,
                format!(
                    "the network of `{}` reads {} numbers in one place and {width} in another",
                    self.model.units[unit].name, self.model.units[unit].input_width
                ),
            )
            .help("a network that is shared must read the same number of numbers everywhere");
            return Err(place.mark(error).into());
        }
        for piece in &feed.pieces {
            let learnt = !Target::of(piece, &self.model.vectors).is_empty();
            let unit = &mut self.model.units[unit];
            unit.passes_gradient |= learnt && !piece.stops();
            unit.reads_data_only &= !learnt;
        }
        self.model.units[unit].feeds.push(feed);
        Ok(self.model.units[unit].feeds.len() - 1)
    }

    fn arguments_of(&self, symbol: Symbol) -> &'a [ArgumentSort] {
        let theory = self.knowledge.theory();
        match symbol {
            Symbol::Predicate(id) => &theory[id].arguments,
            Symbol::Function(id) => &theory[id].arguments,
        }
    }

    /// The sorts among some arguments.
    fn sorts_among(&self, arguments: &[ArgumentSort]) -> String {
        let theory = self.knowledge.theory();
        let sorts = arguments.iter().filter_map(|argument| argument.sort());
        let mut sorts: Vec<String> = sorts.map(|s| format!("`{}`", theory[s].name)).collect();
        sorts.dedup();
        sorts.join(" and ")
    }

    fn symbol_name(&self, symbol: Symbol) -> String {
        let theory = self.knowledge.theory();
        match symbol {
            Symbol::Predicate(id) => theory[id].name.clone(),
            Symbol::Function(id) => theory[id].name.clone(),
        }
    }

    pub(super) fn output_width(&self, symbol: Symbol) -> usize {
        let theory = self.knowledge.theory();
        match symbol {
            Symbol::Predicate(id) => match theory[id].arguments.last() {
                Some(ArgumentSort::Sort(sort)) if self.knowledge.outputs[id].per_class => {
                    self.knowledge.data.size(*sort)
                }
                _ => 1,
            },
            Symbol::Function(id) => match theory[id].result {
                ArgumentSort::Vector(width) => width,
                ArgumentSort::Sort(sort) => self.model.vectors[sort].width(),
            },
        }
    }

    /// The network of a symbol.
    fn network_of(&self, symbol: Symbol) -> Result<&'a Behind, Diagnostics> {
        let knowledge = self.knowledge;
        let behind = match symbol {
            Symbol::Predicate(id) => knowledge.predicates[id].network(),
            Symbol::Function(id) => knowledge.functions[id].as_ref(),
        };
        behind.ok_or_else(|| {
            let name = self.symbol_name(symbol);
            Diagnostic::error(
                Code::NotGrounded,
                format!("`{name}` has no network to be trained"),
            )
            .help("give it one")
            .into()
        })
    }

    // --- inputs ---------------------------------------------------------------------------------

    fn pieces(
        &mut self,
        network: &Network,
        args: &[String],
        shape: &[ArgumentShape],
        place: &Place,
    ) -> Result<Vec<Piece>, Diagnostics> {
        let mut pieces = Vec::new();
        let Some(inputs) = &network.inputs else {
            for argument in 0..shape.len() {
                pieces.extend(self.argument_vector(argument, shape)?);
            }
            return Ok(pieces);
        };
        for input in inputs {
            let place = input.place.or(place);
            let expr = InputExpr::parse(&input.text).map_err(|wrong| {
                let span = wrong.span;
                wrong.shown(&Source::new("an input", input.text.as_str()), span)
            })?;
            let here = Here { args, shape, place };
            pieces.extend(self.input(&expr, &here, false)?);
        }
        Ok(pieces)
    }

    /// All numbers of an argument; none if it has none.
    pub fn argument_vector(
        &mut self,
        argument: usize,
        shape: &[ArgumentShape],
    ) -> Result<Option<Piece>, Diagnostics> {
        let place: usize = shape[..argument].iter().map(leaves).sum();
        match &shape[argument] {
            ArgumentShape::Individual(sort) => {
                let Some(vectors) = self.model.vectors.get(sort.0 as usize) else {
                    return Ok(None);
                };
                let width = vectors.width();
                Ok((width > 0).then_some(Piece::Vector {
                    place,
                    sort: sort.0 as usize,
                    from: 0,
                    width,
                    stop: false,
                }))
            }
            ArgumentShape::Number => Ok(Some(Piece::Number { place })),
            ArgumentShape::Row(function) => {
                let width = self.given(*function);
                Ok(width.map(|width| Piece::Table {
                    table: Table::Given(function.0 as usize),
                    places: vec![place],
                    sizes: vec![usize::MAX], // there is but one digit
                    width,
                }))
            }
            ArgumentShape::Apply(function, arguments) => {
                let from = self.feed(Symbol::Function(*function), arguments.clone())?;
                let count: usize = arguments.iter().map(leaves).sum();
                let places = (place..place + count).collect();
                Ok(Some(self.outputs(from, places, false)))
            }
        }
    }

    /// The outputs of a unit's feed at some of a row's individuals.
    pub(super) fn outputs(
        &self,
        (unit, feed): (usize, usize),
        places: Vec<usize>,
        stop: bool,
    ) -> Piece {
        Piece::Unit {
            unit,
            feed,
            places,
            width: self.model.units[unit].output_width,
            stop,
            rows: Vec::new(),
        }
    }

    /// Keeps what a function given by data says for networks; how many numbers that are, if it is numbers.
    pub(super) fn given(&mut self, function: FunctionId) -> Option<usize> {
        let ArgumentSort::Vector(width) = self.knowledge.theory()[function].result else {
            return None;
        };
        let values = self.knowledge.data.function(function)?;
        self.model.given[function] = Given::Function(Arc::clone(values));
        matches!(**values, FunctionData::Reals(_)).then_some(width)
    }

    /// Convolutions read a picture: one argument whose vector is a single array of two or three dimensions.
    fn input_shape(&self, feed: &Feed, layers: &[LayerSpec]) -> Shape {
        let width: usize = feed.pieces.iter().map(Piece::width).sum();
        let same = Ok(Shape::Flat(0));
        let first = layers
            .iter()
            .find(|layer| layer.output(Shape::Flat(0)) != same);
        let wants_image = first.is_some_and(|layer| layer.needs_image());
        let shape = match feed.pieces.as_slice() {
            [
                Piece::Vector {
                    sort,
                    from: 0,
                    width: w,
                    ..
                },
            ] if *w == width => self.model.vectors[*sort].shape(),
            _ => None,
        };
        match (wants_image, shape) {
            (true, Some([height, width])) => Shape::Image {
                channels: 1,
                height: *height,
                width: *width,
            },
            (true, Some([channels, height, width])) => Shape::Image {
                channels: *channels,
                height: *height,
                width: *width,
            },
            _ => Shape::Flat(width),
        }
    }
}

/// How many individuals an argument is made of.
pub(super) fn leaves(shape: &ArgumentShape) -> usize {
    match shape {
        ArgumentShape::Individual(_) | ArgumentShape::Number | ArgumentShape::Row(_) => 1,
        ArgumentShape::Apply(_, arguments) => arguments.iter().map(leaves).sum(),
    }
}

/// Why a network takes too much memory, if it does.
fn too_large(spec: &NetworkSpec, name: &str) -> Option<Diagnostic> {
    let layers = spec.parameters().ok()?;
    let bytes = |parameters: usize| parameters as u128 * BYTES_PER_PARAMETER as u128;
    let error = memory::ask(layers.iter().copied().map(bytes).sum()).err()?;
    let (at, &most) = layers.iter().enumerate().max_by_key(|(_, n)| **n)?;
    Some(
        error
            .refuse(format_args!("training the network of `{name}`"))
            .note(format!(
                "layer {}, `{}`, has {most} parameters; with gradient, moments and checkpoint each takes {BYTES_PER_PARAMETER} bytes",
                at + 1,
                spec.layers[at]
            ))
            .help(format!("narrower layers; {}", memory::allow_more())),
    )
}
