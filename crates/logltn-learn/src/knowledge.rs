//! A theory with its data and with the groundings of its symbols.

use std::collections::BTreeMap;
use std::sync::Arc;

use logltn::theory::{PredicateId, SortId};
use logltn::{Data, Output, OutputKind, Theory};

use crate::closed_form::ClosedForm;
use crate::field::Field;
use crate::given_numbers::Numbers;
use crate::network::Network;
use crate::spanned::Place;

/// All that there is to know before anything runs. [`Session::builder`](crate::Session::builder) puts one together
/// and checks it; a reader of manifests may do so itself.
#[derive(Clone, Debug)]
pub struct KnowledgeBase {
    /// The theory, the sizes of its sorts, tables, params, constants, and the functions that are given by data.
    pub data: Data,
    /// What the numbers of each predicate mean, in the order of the theory.
    pub outputs: Vec<Output>,
    /// The grounding of each predicate, in the order of the theory.
    pub predicates: Vec<Ground>,
    /// The network of each function that has one, in the order of the theory.
    pub functions: Vec<Option<Behind>>,
    /// Networks with names, which several symbols can share.
    pub networks: BTreeMap<String, Network>,
    /// What networks read of the individuals of each sort, in the order of the theory.
    pub vectors: Vec<Vectors>,
    /// How many numbers each constant has that is a learnable vector, in the order of the theory.
    pub learnable_constants: Vec<Option<usize>>,
}

/// What networks read about a sort's individuals.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    /// Features.
    pub fields: Arc<[Field]>,
    /// Instead of features, a learnable vector of this length for each.
    pub learnable: Option<usize>,
}

impl Vectors {
    /// How many numbers an individual has.
    pub(crate) fn width(&self) -> usize {
        let fields = self.fields.iter().map(Field::width).sum();
        self.learnable.unwrap_or(fields)
    }
}

/// Where the truth of a predicate comes from.
#[derive(Clone, Debug)]
pub enum Ground {
    /// A network.
    Network(Behind),
    /// Numbers, which do not learn.
    Numbers(Arc<Numbers>),
    /// A number of its own for each tuple of individuals.
    Learnable {
        /// What each is before training.
        initial: f64,
        /// Where this is said.
        place: Place,
    },
    /// Arithmetic over its arguments.
    ClosedForm(Arc<ClosedForm>),
    /// A [`Grounding`](crate::Grounding) that the program gives.
    Host,
}

impl Ground {
    /// The network, if it is one.
    pub(crate) fn network(&self) -> Option<&Behind> {
        match self {
            Ground::Network(behind) => Some(behind),
            _ => None,
        }
    }
}

/// A network behind a predicate or a function.
#[derive(Clone, Debug)]
pub struct Behind {
    /// Which one.
    pub network: NetworkRef,
    /// Names for the arguments, to be used in the network's inputs.
    pub args: Option<Vec<String>>,
    /// The units of a function's values; without them, values are the network's output.
    pub units: Option<Units>,
    /// Where this is said.
    pub place: Place,
}

/// The units of a function's values: the network's output, around 0, times `scale`, plus `shift`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// What 1 stands for.
    pub scale: f32,
    /// What 0 stands for.
    pub shift: f32,
}

/// A network of its own, or the name of one that is shared.
#[derive(Clone, Debug)]
pub enum NetworkRef {
    /// Its own.
    Own(Network),
    /// One of [`KnowledgeBase::networks`].
    Shared(String),
}

impl Behind {
    /// The hidden layers of a network with a name, which other symbols may share.
    pub fn shared(name: impl Into<String>) -> Behind {
        Behind {
            network: NetworkRef::Shared(name.into()),
            args: None,
            units: None,
            place: Place::default(),
        }
    }

    /// Names for the arguments, to be used in the network's inputs.
    pub fn args<A: Into<String>>(self, args: impl IntoIterator<Item = A>) -> Behind {
        Behind {
            args: Some(args.into_iter().map(Into::into).collect()),
            ..self
        }
    }
}

impl From<Network> for Behind {
    fn from(network: Network) -> Behind {
        Behind {
            network: NetworkRef::Own(network),
            args: None,
            units: None,
            place: Place::default(),
        }
    }
}

impl KnowledgeBase {
    /// The theory.
    pub fn theory(&self) -> &Theory {
        self.data.theory()
    }

    /// A network, looked up if it is shared.
    pub fn network<'k>(&'k self, network: &'k NetworkRef) -> Option<&'k Network> {
        match network {
            NetworkRef::Own(network) => Some(network),
            NetworkRef::Shared(name) => self.networks.get(name),
        }
    }

    /// Whether training changes what a predicate says, learnable constants aside; what a host says may change.
    pub fn learns(&self, predicate: PredicateId) -> bool {
        let arguments = self.theory()[predicate].arguments.iter();
        match &self.predicates[predicate] {
            Ground::Numbers(_) => false,
            Ground::ClosedForm(form) => {
                let mut sorts = arguments.filter_map(|argument| argument.sort());
                !form.learnt().is_empty() || sorts.any(|s| self.vectors[s].learnable.is_some())
            }
            Ground::Network(_) | Ground::Learnable { .. } | Ground::Host => true,
        }
    }

    /// The constants of a sort that are learnable vectors, by name, each with how many numbers it has.
    pub(crate) fn learnt_constants(&self, sort: SortId) -> impl Iterator<Item = (&str, usize)> {
        let constants = self.theory().constants.iter();
        let of_sort = constants
            .zip(&self.learnable_constants)
            .filter(move |(c, _)| c.sort == sort);
        of_sort.filter_map(|(constant, width)| Some((constant.name.as_str(), (*width)?)))
    }

    /// Whether some predicate starts with an output layer of zeros.
    pub(crate) fn has_undecided_network(&self) -> bool {
        (0..)
            .map(PredicateId)
            .zip(&self.predicates)
            .any(|(id, ground)| {
                let network = ground
                    .network()
                    .and_then(|behind| self.network(&behind.network));
                network.is_some_and(|network| self.starts_undecided(id, network))
            })
    }

    /// Whether a predicate's network starts with an output layer of zeros.
    pub(crate) fn starts_undecided(&self, predicate: PredicateId, network: &Network) -> bool {
        network.undecided.unwrap_or_else(|| {
            let is_softmax = self.outputs[predicate].kind == OutputKind::Softmax;
            is_softmax && self.theory().classes_are_only_guarded(predicate)
        })
    }
}
