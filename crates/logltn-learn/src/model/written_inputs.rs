//! What the `inputs` of a network name, as pieces of what it reads.

use logltn::theory::{ArgumentSort, FunctionId};
use logltn::{ArgumentShape, Code, Diagnostic, Diagnostics};

use super::build::{Builder, Symbol, leaves};
use super::table::Table;
use super::unit::{BoxPlace, Piece};
use crate::input::InputExpr;
use crate::spanned::{Place, Spanned};

/// Where an input is written: what the arguments are called, what stands for them, and the place for messages.
#[derive(Clone, Copy)]
pub(super) struct Here<'h> {
    pub args: &'h [String],
    pub shape: &'h [ArgumentShape],
    pub place: &'h Place,
}

impl Here<'_> {
    fn wrong(&self, code: Code, message: String) -> Diagnostics {
        self.place.mark(Diagnostic::error(code, message)).into()
    }

    fn no_features(&self, name: &str) -> Diagnostics {
        self.wrong(Code::NoFeatures, format!("`{name}` has no features"))
    }

    /// Which argument a name means.
    fn argument(&self, name: &str) -> Result<usize, Diagnostics> {
        let found = self.args.iter().position(|a| a == name);
        found.filter(|i| *i < self.shape.len()).ok_or_else(|| {
            let what = format!("`{name}` is not an argument that can be read here");
            self.wrong(Code::UnknownVariable, what)
        })
    }
}

impl Builder<'_> {
    /// What an input is read from; nothing of it comes back if it is to `stop`.
    pub(super) fn input(
        &mut self,
        input: &InputExpr,
        here: &Here<'_>,
        stop: bool,
    ) -> Result<Option<Piece>, Diagnostics> {
        match input {
            InputExpr::Features(variable) => {
                let argument = here.argument(&variable.value)?;
                let mut piece = self.argument_vector(argument, here.shape)?;
                if let Some(
                    Piece::Unit { stop: stopped, .. } | Piece::Vector { stop: stopped, .. },
                ) = &mut piece
                {
                    *stopped |= stop;
                }
                match piece {
                    Some(piece) => Ok(Some(piece)),
                    None => Err(here.no_features(&variable.value)),
                }
            }
            InputExpr::Field { variable, field } => {
                let (at, width) = self.field_of(&variable.value, field, here)?;
                Ok(Some(Piece::Vector {
                    place: at.place,
                    sort: at.sort,
                    from: at.from,
                    width,
                    stop,
                }))
            }
            InputExpr::Stop(inner) => self.input(inner, here, true),
            InputExpr::Containment(a, b) => {
                let boxes = [self.corners(a, here)?, self.corners(b, here)?];
                Ok(Some(Piece::Containment { boxes, stop }))
            }
            InputExpr::Call { symbol, args } => self.called(symbol, args, here, stop).map(Some),
        }
    }

    /// A field of an argument, and how many numbers it has.
    fn field_of(
        &self,
        variable: &str,
        field: &Spanned<String>,
        here: &Here<'_>,
    ) -> Result<(BoxPlace, usize), Diagnostics> {
        let argument = here.argument(variable)?;
        let at = self.field(argument, here.shape, field, here.place)?;
        let found = self.model.vectors[at.sort].field(&field.value);
        Ok((at, found.map_or(0, |(_, width)| width)))
    }

    /// One side of `containment`: four numbers.
    fn corners(&mut self, side: &InputExpr, here: &Here<'_>) -> Result<BoxPlace, Diagnostics> {
        let (corners, width) = match side {
            InputExpr::Field { variable, field } => self.field_of(&variable.value, field, here)?,
            InputExpr::Features(variable) => {
                let name = &variable.value;
                let argument = here.argument(name)?;
                match self.argument_vector(argument, here.shape)? {
                    Some(Piece::Vector {
                        place,
                        sort,
                        from,
                        width,
                        ..
                    }) => (BoxPlace { place, sort, from }, width),
                    Some(_) => {
                        let what =
                            format!("`{name}` is a number or a function's value here, not a box");
                        return Err(here.wrong(Code::WrongShape, what));
                    }
                    None => return Err(here.no_features(name)),
                }
            }
            _ => return Err(here.wrong(Code::WrongShape, "`containment` takes two boxes".into())),
        };
        if width != 4 {
            let what =
                format!("`{side}` has {width} numbers, but a box has four: xmin, ymin, xmax, ymax");
            return Err(here.wrong(Code::WrongShape, what));
        }
        Ok(corners)
    }

    /// What a predicate or function says of arguments.
    fn called(
        &mut self,
        symbol: &Spanned<String>,
        args: &[Spanned<String>],
        here: &Here<'_>,
        stop: bool,
    ) -> Result<Piece, Diagnostics> {
        let mut places = Vec::new();
        let mut inner = Vec::new();
        for name in args {
            let argument = here.argument(&name.value)?;
            let start: usize = here.shape[..argument].iter().map(leaves).sum();
            places.extend(start..start + leaves(&here.shape[argument]));
            inner.push(here.shape[argument].clone());
        }
        let theory = self.knowledge.theory();
        let function = theory.function(&symbol.value);
        let symbol = match (theory.predicate(&symbol.value), function) {
            (Some(id), _) => Symbol::Predicate(id),
            (None, Some(id)) => Symbol::Function(id),
            (None, None) => {
                let name = &symbol.value;
                let what = format!("the theory has no predicate or function `{name}`");
                return Err(here.wrong(Code::UnknownPredicate, what));
            }
        };
        if let Symbol::Function(function) = symbol
            && self.knowledge.data.function(function).is_some()
        {
            return self.given_input(function, places, &inner, here.place);
        }
        let from = self.feed(symbol, inner)?;
        Ok(self.outputs(from, places, stop))
    }

    /// A function given by data among the inputs of a network.
    fn given_input(
        &mut self,
        function: FunctionId,
        places: Vec<usize>,
        arguments: &[ArgumentShape],
        place: &Place,
    ) -> Result<Piece, Diagnostics> {
        let declared = &self.knowledge.theory()[function];
        let wrong = |code, what: String| place.mark(Diagnostic::error(code, what));
        let name = &declared.name;
        let mut sizes = Vec::new();
        for (argument, sort) in arguments.iter().zip(&declared.arguments) {
            match (argument, sort) {
                (ArgumentShape::Individual(found), ArgumentSort::Sort(sort)) if found == sort => {
                    let learnt = &self.model.vectors[*sort].constants;
                    if learnt.is_some() {
                        let what = format!(
                            "`{name}` is given by data, which have no value for the learnable constants of its sort, so it \
                             cannot be an input"
                        );
                        return Err(wrong(Code::LearntArgument, what).into());
                    }
                    sizes.push(self.knowledge.data.size(*sort));
                }
                _ => {
                    let what =
                        format!("`{name}` is given by data, which have no value for this argument");
                    return Err(wrong(Code::WrongSort, what).into());
                }
            }
        }
        let Some(width) = self.given(function) else {
            let what = format!("an input is numbers, but the value of `{name}` is an individual");
            let help = "use a `function` with `: Real` or `: Real[k]` for its numbers";
            return Err(wrong(Code::WrongShape, what).help(help).into());
        };
        Ok(Piece::Table {
            table: Table::Given(function.0 as usize),
            places,
            sizes,
            width,
        })
    }

    pub fn field(
        &self,
        argument: usize,
        shape: &[ArgumentShape],
        field: &Spanned<String>,
        place: &Place,
    ) -> Result<BoxPlace, Diagnostics> {
        let wrong =
            |code, message: String| Diagnostics::from(place.mark(Diagnostic::error(code, message)));
        let ArgumentShape::Individual(sort) = &shape[argument] else {
            return Err(wrong(
                Code::UnknownField,
                "a number or a function's value has no fields".into(),
            ));
        };
        let sort = sort.0 as usize;
        match self.model.vectors[sort].field(&field.value) {
            Some((from, _)) => Ok(BoxPlace {
                place: shape[..argument].iter().map(leaves).sum(),
                sort,
                from,
            }),
            None => Err(wrong(
                Code::UnknownField,
                format!(
                    "the features of sort `{}` have no field `{}`",
                    self.knowledge.theory().sorts[sort].name,
                    field.value
                ),
            )),
        }
    }
}
