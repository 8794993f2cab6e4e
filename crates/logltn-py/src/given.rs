//! Arguments from Python as the data of a theory.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use logltn::theory::{ArgumentSort, ColumnSort, Sort as Declared, SortKind, SymbolKind, TableId};
use logltn::{
    Code, ColumnData, ConstantData, Data, Diagnostic, Diagnostics, FunctionData, Labels, Number,
    Output, Points, Semantics, Theory, did_you_mean, memory, percentile,
};
use logltn_learn::{AxiomSettings, Schedule, parse_distance};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// The individuals of a sort.
#[derive(FromPyObject)]
pub enum Sort {
    /// This many.
    Size(usize),
    /// With names.
    Labels(Vec<String>),
    /// With features, one row per individual: the rows one after another, and how many numbers each has.
    Features(PyBuffer<f64>, usize),
    /// With both.
    Named(Vec<String>, PyBuffer<f64>, usize),
}

impl Sort {
    fn names(&self) -> Option<&Vec<String>> {
        match self {
            Sort::Labels(names) | Sort::Named(names, ..) => Some(names),
            Sort::Size(_) | Sort::Features(..) => None,
        }
    }

    fn features(&self) -> Option<(&PyBuffer<f64>, usize)> {
        match self {
            Sort::Features(values, width) | Sort::Named(_, values, width) => Some((values, *width)),
            Sort::Size(_) | Sort::Labels(_) => None,
        }
    }
}

/// A column of a table.
pub enum Column {
    Int(PyBuffer<i64>),
    /// The integers of a tensor, without making a buffer of it first: where they begin, how many there are, and their
    /// distance. The caller keeps the tensor alive until they are read.
    Tensor(*const i64, usize, isize),
    Real(PyBuffer<f64>),
    Names(Vec<String>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Column {
    type Error = PyErr;
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Column> {
        if let Ok(tensor) = object.cast::<PyTuple>() {
            let (start, count, (step,)): (usize, usize, (isize,)) = tensor.extract()?;
            return Ok(Column::Tensor(start as *const i64, count, step));
        }
        if let Ok(names) = object.cast::<PyList>() {
            return names.extract().map(Column::Names);
        }
        match PyBuffer::<i64>::get(&object) {
            Ok(integers) => Ok(Column::Int(integers)),
            Err(_) => PyBuffer::<f64>::get(&object).map(Column::Real),
        }
    }
}

impl Column {
    /// Its integers, if it holds integers.
    fn integers(&self, py: Python<'_>) -> PyResult<Option<Cow<'_, [i64]>>> {
        Ok(match *self {
            Column::Int(ref cells) => Some(Cow::Owned(numbers(py, cells)?)),
            Column::Tensor(_, 0, _) => Some(Cow::Owned(Vec::new())),
            // SAFETY: the tensor is alive and has this many, contiguous.
            Column::Tensor(start, count, 1) => Some(Cow::Borrowed(unsafe {
                std::slice::from_raw_parts(start, count)
            })),
            Column::Tensor(start, count, step) => {
                // SAFETY: likewise, at this distance.
                let cell = |i| unsafe { *start.offset(i as isize * step) };
                Some(Cow::Owned((0..count).map(cell).collect()))
            }
            Column::Real(_) | Column::Names(_) => None,
        })
    }
}

/// The value of a param.
#[derive(FromPyObject)]
pub enum Param {
    Int(i64),
    Real(f64),
    Percentile(f64, String),
}

/// The individual that a constant is, if it is not a vector of its own.
#[derive(FromPyObject)]
pub enum Constant {
    Index(i64),
    Name(String),
}

/// Everything known before the first call.
#[derive(FromPyObject)]
pub struct Given {
    #[pyo3(item)]
    pub sorts: Vec<(String, Sort)>,
    #[pyo3(item)]
    pub tables: Vec<(String, Vec<Column>)>,
    #[pyo3(item)]
    pub params: Vec<(String, Param)>,
    #[pyo3(item)]
    pub constants: Vec<(String, Option<Constant>)>,
    /// Shape and values, row by row.
    #[pyo3(item)]
    pub functions: Vec<(String, Vec<usize>, Column)>,
    #[pyo3(item)]
    pub outputs: Vec<(String, String)>,
    #[pyo3(item)]
    pub semantics: (String, Vec<(String, String)>, Option<f64>),
    #[pyo3(item)]
    pub weights: Vec<(String, f64)>,
    #[pyo3(item)]
    pub parameters: Vec<(String, Vec<(String, f64)>)>,
    #[pyo3(item)]
    pub batched: Vec<String>,
    #[pyo3(item)]
    pub streamed: Vec<String>,
    /// Axioms, families and members of families that hold in every world.
    #[pyo3(item)]
    pub laws: Vec<String>,
}

fn wrong(found: &mut Diagnostics, code: Code, message: String) {
    found.push(Diagnostic::error(code, message));
}

fn check(found: &mut Diagnostics, set: Result<(), Diagnostics>) {
    if let Err(errors) = set {
        found.extend(errors);
    }
}

pub fn numbers<T: pyo3::buffer::Element>(py: Python<'_>, buffer: &PyBuffer<T>) -> PyResult<Vec<T>> {
    // As given, and as data.
    let bytes = 2 * (buffer.item_count() * buffer.item_size()) as u128;
    memory::ask(bytes).map_err(|error| {
        let refused = error.refuse("an array of what was given");
        PyMemoryError::new_err(refused.message().to_string())
    })?;
    buffer.to_vec(py)
}

impl Given {
    /// The labels needed to read the theory.
    pub fn labels(&self) -> Labels {
        let mut labels = Labels::default();
        for (name, sort) in &self.sorts {
            if let Some(names) = sort.names() {
                labels.insert(name, names.clone());
            }
        }
        labels
    }

    /// The data of the theory, which was read with these labels: with and without marking what comes with each call.
    pub fn data(
        &self,
        py: Python<'_>,
        pool: &rayon::ThreadPool,
        theory: &Theory,
        found: &mut Diagnostics,
    ) -> PyResult<(Data, Data)> {
        let mut data = Data::new(theory);
        check(found, logltn_learn::check_laws(&data, &self.laws));
        data.set_laws(&self.laws);
        self.set_sorts(py, theory, &mut data, found)?;
        self.set_params(py, pool, &mut data, found)?;
        for (name, constant) in &self.constants {
            set_constant(name, constant.as_ref(), theory, &mut data, found);
        }
        for (name, shape, values) in &self.functions {
            let sized = |sort: &str| self.sorts.iter().any(|(name, _)| name == sort);
            set_function(py, name, (shape, values), sized, &mut data, found)?;
        }
        for (name, columns) in &self.tables {
            let Some(id) = theory.table(name) else {
                found.push(theory.unknown(SymbolKind::Table, name));
                continue;
            };
            if self.streamed.contains(name) {
                let what =
                    format!("table `{name}` is given, but is declared to come with each call");
                wrong(found, Code::ConflictingKeys, what);
                continue;
            }
            if let Some(columns) = read_columns(py, theory, id, columns, found)? {
                check(found, data.set_rows(name, columns));
            }
        }
        for name in &self.batched {
            let known = theory.table(name);
            if known.is_none() {
                found.push(theory.unknown(SymbolKind::Table, name));
            } else if self.streamed.contains(name) {
                let what = format!(
                    "table `{name}` cannot both come with each call (`streamed`) and have some of its rows chosen (`batched`)"
                );
                wrong(found, Code::ConflictingKeys, what);
            } else if known.is_some_and(|id| data.table(id).is_some()) {
                check(found, data.set_batched(name));
            }
        }
        let known = data.clone();
        // What is not given comes with each call.
        for sort in theory.sorts.iter().filter(|s| s.kind == SortKind::Data) {
            if !self.sorts.iter().any(|(name, _)| *name == sort.name) {
                check(found, data.set_streamed_size(&sort.name));
            }
        }
        for name in &self.streamed {
            match theory.table(name) {
                Some(_) => check(found, data.set_streamed(name)),
                None => {
                    found.push(theory.unknown(SymbolKind::Table, name));
                }
            }
        }
        Ok((data, known))
    }

    fn set_sorts(
        &self,
        py: Python<'_>,
        theory: &Theory,
        data: &mut Data,
        found: &mut Diagnostics,
    ) -> PyResult<()> {
        let measured: Vec<_> = (logltn_learn::distances(theory).iter())
            .flat_map(|d| d.sorts)
            .collect();
        for (name, sort) in &self.sorts {
            // Guards read features; some features are needed only for a percentile.
            let is_measured = theory.sort(name).is_some_and(|id| measured.contains(&id));
            let set = match (sort, sort.features()) {
                (_, Some((values, width))) if is_measured => {
                    data.set_features(name, width, numbers(py, values)?)
                }
                (Sort::Size(size), _) => data.set_size(name, *size),
                (Sort::Labels(names) | Sort::Named(names, ..), _) => {
                    data.set_size(name, names.len())
                }
                (Sort::Features(values, width), _) => {
                    data.set_size(name, values.item_count() / (*width).max(1))
                }
            };
            check(found, set);
        }
        Ok(())
    }

    fn set_params(
        &self,
        py: Python<'_>,
        pool: &rayon::ThreadPool,
        data: &mut Data,
        found: &mut Diagnostics,
    ) -> PyResult<()> {
        for (name, param) in &self.params {
            let value = match param {
                Param::Int(value) => Number::from(*value),
                Param::Real(value) => Number::from(*value),
                Param::Percentile(percent, of) => match self.percentile(py, pool, *percent, of)? {
                    Ok(value) => Number::from(value),
                    Err((code, what)) => {
                        wrong(found, code, format!("param `{name}`: {what}"));
                        continue;
                    }
                },
            };
            check(found, data.set_param(name, value));
        }
        Ok(())
    }

    fn percentile(
        &self,
        py: Python<'_>,
        pool: &rayon::ThreadPool,
        percent: f64,
        of: &str,
    ) -> PyResult<Result<f64, (Code, String)>> {
        if !(0.0..=100.0).contains(&percent) {
            let what = format!("a percentile is between 0 and 100, not {percent}");
            return Ok(Err((Code::ValueOutOfRange, what)));
        }
        let sorts = match parse_distance(of) {
            Ok(sorts) => sorts,
            Err(unexpected) => return Ok(Err((Code::MalformedExpression, unexpected.message))),
        };
        let mut points = Vec::new();
        for sort in &sorts {
            let given = self.sorts.iter().find(|(name, _)| *name == sort.value);
            match given.map(|(_, given)| given.features()) {
                Some(Some((values, width))) => {
                    points.push((width, numbers(py, values)?));
                }
                Some(None) => {
                    let what = format!("sort `{}` has no features to measure in", sort.value);
                    return Ok(Err((Code::NoFeatures, what)));
                }
                None => {
                    let known = self.sorts.iter().map(|(name, _)| name.as_str());
                    let help = did_you_mean(&sort.value, known).unwrap_or_default();
                    let what = format!("nothing is given for a sort `{}` {help}", sort.value);
                    return Ok(Err((Code::UnknownSort, what.trim_end().to_string())));
                }
            }
        }
        let [a, b] = &points[..] else {
            return Ok(Err((Code::Internal, "two sorts".into())));
        };
        if a.0 != b.0 {
            let what = format!(
                "features of {} and of {} numbers have no distance",
                a.0, b.0
            );
            return Ok(Err((Code::SizesDisagree, what)));
        }
        let [a, b] = [a, b].map(|(width, values)| Points {
            width: *width,
            values,
        });
        let b = (sorts[0].value != sorts[1].value).then_some(b);
        let found = py.detach(|| pool.install(|| percentile(a, b, percent)));
        Ok(found.ok_or((
            Code::NotEnoughData,
            "there are no distances to measure".into(),
        )))
    }

    /// What the numbers of each predicate mean, in the order of the theory.
    pub fn outputs(&self, theory: &Theory, found: &mut Diagnostics) -> Vec<Output> {
        let mut outputs = vec![Output::sigmoid(); theory.predicates.len()];
        for (name, output) in &self.outputs {
            let Some(id) = theory.predicate(name) else {
                found.push(theory.unknown(SymbolKind::Predicate, name));
                continue;
            };
            outputs[id] = match output.as_str() {
                "softmax" => Output::softmax(),
                "sigmoid" => Output::sigmoid(),
                "truth" => Output::truth(),
                "log_truth" => Output::log_truth(),
                // Set by `logltn.torch.sigmoid(net, classes=True)` and similar calls.
                "sigmoid of classes" => Output::sigmoid().per_class(),
                "truth of classes" => Output::truth().per_class(),
                "log_truth of classes" => Output::log_truth().per_class(),
                other => {
                    let kinds = ["softmax", "sigmoid", "truth", "log_truth"];
                    let what = format!(
                        "the output of predicate `{name}` is one of softmax, sigmoid, truth and log_truth, not `{other}`"
                    );
                    let error = Diagnostic::error(Code::UnknownChoice, what);
                    found.push(error.maybe_help(did_you_mean(other, kinds)));
                    continue;
                }
            };
        }
        outputs
    }

    pub fn semantics(&self, found: &mut Diagnostics) -> Semantics {
        let (base, operators, eps) = &self.semantics;
        let Some(mut semantics) = Semantics::named(base) else {
            let error = Diagnostic::error(
                Code::UnknownSemantics,
                format!("there is no semantics `{base}`"),
            );
            let known = format!("one of: {}", Semantics::NAMES.join(", "));
            let help = did_you_mean(base, Semantics::NAMES).unwrap_or(known);
            found.push(error.help(help));
            return Semantics::default();
        };
        for (key, operator) in operators {
            match semantics.with(key, operator) {
                Ok(changed) => semantics = changed,
                Err(error) => found.push(error),
            }
        }
        if let Some(eps) = eps {
            match semantics.with_stable_eps(*eps) {
                Ok(changed) => semantics = changed,
                Err(error) => found.push(error),
            }
        }
        semantics
    }

    /// Settings of single axioms.
    pub fn axioms(&self, found: &mut Diagnostics) -> BTreeMap<String, AxiomSettings> {
        let mut settings: BTreeMap<String, AxiomSettings> = BTreeMap::new();
        for (name, weight) in &self.weights {
            settings.entry(name.clone()).or_default().weight = Some(*weight);
        }
        for (name, parameters) in &self.parameters {
            let own = settings.entry(name.clone()).or_default();
            for (parameter, value) in parameters {
                let slot = match parameter.as_str() {
                    "alpha" => &mut own.alpha,
                    "p" => &mut own.p,
                    "p_forall" => &mut own.p_forall,
                    other => {
                        let what = format!(
                            "axiom `{name}` has no parameter `{other}`: there are alpha, p and p_forall"
                        );
                        wrong(found, Code::UnknownKey, what);
                        continue;
                    }
                };
                *slot = Some(Schedule::from(*value));
            }
        }
        settings
    }
}

fn set_constant(
    name: &str,
    constant: Option<&Constant>,
    theory: &Theory,
    data: &mut Data,
    found: &mut Diagnostics,
) {
    let Some(at) = theory.constants.iter().find(|c| c.name == name) else {
        return found.push(theory.unknown(SymbolKind::Constant, name));
    };
    let sort = &theory[at.sort];
    let is = match constant {
        None => ConstantData::Learnable,
        Some(Constant::Index(index)) => match place(sort, *index) {
            Some(row) => ConstantData::Row(row),
            None => {
                let what = format!("constant `{name}`: {}", not_in(sort, &index.to_string()));
                return wrong(found, Code::UnknownIndividual, what);
            }
        },
        Some(Constant::Name(label)) => match sort.labels.iter().position(|l| l == label) {
            Some(row) => ConstantData::Row(row as u32),
            None => {
                let known = sort.labels.iter().map(String::as_str);
                let what = format!("constant `{name}`: {}", not_in(sort, &format!("`{label}`")));
                let error = Diagnostic::error(Code::UnknownIndividual, what);
                return found.push(error.maybe_help(did_you_mean(label, known)));
            }
        },
    };
    check(found, data.set_constant(name, is));
}

/// A function given by data: one axis for each argument and, for a vector, one for its numbers. `sized` says whether
/// the size of a sort is known.
fn set_function(
    py: Python<'_>,
    name: &str,
    (shape, values): (&[usize], &Column),
    sized: impl Fn(&str) -> bool,
    data: &mut Data,
    found: &mut Diagnostics,
) -> PyResult<()> {
    let theory = data.theory();
    let Some(id) = theory.function(name) else {
        found.push(theory.unknown(SymbolKind::Function, name));
        return Ok(());
    };
    let declared = &theory[id];
    let mut expected: Vec<usize> = Vec::new();
    for sort in &declared.arguments {
        if let ArgumentSort::Sort(sort) = sort {
            let of = &theory[*sort];
            if of.kind == SortKind::Data && !sized(&of.name) {
                let what = format!(
                    "function `{name}`: it cannot be given by data, since the individuals of sort `{}` come with a call",
                    of.name
                );
                let help = format!(
                    "give the sort too, or the function in each call: `functions={{\"{name}\": …}}`"
                );
                found.push(Diagnostic::error(Code::NotStreamed, what).help(help));
                return Ok(());
            }
            expected.push(data.size(*sort));
        }
    }
    let integers = values.integers(py)?;
    let read = match (declared.result, values) {
        (ArgumentSort::Vector(width), Column::Real(_) | Column::Int(_) | Column::Tensor(..)) => {
            if width != 1 || shape.len() > expected.len() {
                expected.push(width);
            }
            FunctionData::Reals(match values {
                Column::Real(cells) => numbers(py, cells)?,
                _ => integers
                    .iter()
                    .flat_map(|c| c.iter())
                    .map(|&n| n as f64)
                    .collect(),
            })
        }
        (ArgumentSort::Sort(sort), Column::Int(_) | Column::Tensor(..) | Column::Names(_)) => {
            let sort = &theory[sort];
            let (mut places, mut wrong_one) = (Vec::new(), None);
            for &cell in integers.iter().flat_map(|c| c.iter()) {
                match place(sort, cell) {
                    Some(place) => places.push(place),
                    None => wrong_one = wrong_one.or(Some(cell.to_string())),
                }
            }
            if let Column::Names(cells) = values {
                for cell in cells {
                    match sort.labels.iter().position(|l| l == cell) {
                        Some(place) => places.push(place as u32),
                        None => wrong_one = wrong_one.or(Some(format!("`{cell}`"))),
                    }
                }
            }
            if let Some(one) = wrong_one {
                let what = format!("function `{name}`: {}", not_in(sort, &one));
                wrong(found, Code::UnknownIndividual, what);
                return Ok(());
            }
            FunctionData::Individuals(places)
        }
        (result, _) => {
            let what = format!(
                "function `{name}`: its values should be of type `{}`",
                theory.argument_sort_name(&result)
            );
            wrong(found, Code::WrongSort, what);
            return Ok(());
        }
    };
    // A transposed array has as many values.
    if shape != expected && declared.arguments.len() <= expected.len() {
        let what = format!(
            "function `{name}`: its values have shape {shape:?}, but must have {expected:?}: an axis for each argument"
        );
        wrong(found, Code::WrongShape, what);
        return Ok(());
    }
    check(found, data.set_function(name, read));
    Ok(())
}

fn not_in(sort: &Declared, what: &str) -> String {
    let help = match sort.kind {
        SortKind::Range(low, high) => format!(", which is {low}..{high}"),
        _ => String::new(),
    };
    format!("{what} is not an individual of sort `{}`{help}", sort.name)
}

/// The position of an individual written as a number: in an integer sort the integer itself, in others counted from 0.
fn place(sort: &Declared, number: i64) -> Option<u32> {
    let index = match sort.kind {
        SortKind::Range(low, high) if (low..=high).contains(&number) => number - low,
        SortKind::Range(..) => return None,
        _ => number,
    };
    let index = u32::try_from(index).ok()?;
    let named = !sort.labels.is_empty();
    (!named || (index as usize) < sort.labels.len()).then_some(index)
}

/// The individuals of a column of numbers, up to the first that is none; `None` if numbers cannot say which.
fn numbered(
    sort: &Declared,
    cells: &[i64],
    what: &str,
    found: &mut Diagnostics,
) -> Option<Vec<u32>> {
    if sort.labels.iter().any(|l| l.parse::<i64>().is_ok()) {
        let what = format!(
            "{what}: the labels of sort `{}` look like numbers, so it is not clear which individual a number means",
            sort.name
        );
        let help = "write the individuals by name, as strings";
        found.push(Diagnostic::error(Code::WrongSort, what).help(help));
        return None;
    }
    // Most are numbers from 0; all are small enough if the OR of them has no high bit set.
    let bits = cells.iter().fold(0, |bits, cell| bits | cell);
    if matches!(sort.kind, SortKind::Data) && sort.labels.is_empty() && u32::try_from(bits).is_ok()
    {
        return Some(cells.iter().map(|&cell| cell as u32).collect());
    }
    let places = cells.iter().map_while(|&cell| place(sort, cell));
    let places: Vec<u32> = places.collect();
    if let Some(cell) = cells.get(places.len()) {
        let why = not_in(sort, &cell.to_string());
        let what = format!("{what}: row {}: {why}", places.len());
        wrong(found, Code::UnknownIndividual, what);
    }
    Some(places)
}

/// The individuals of a column of names, up to the first that is none.
fn named(sort: &Declared, cells: &[String], what: &str, found: &mut Diagnostics) -> Vec<u32> {
    let by_name: HashMap<&str, u32> = (sort.labels.iter().map(String::as_str)).zip(0..).collect();
    let places = cells.iter().map_while(|cell| by_name.get(cell.as_str()));
    let places: Vec<u32> = places.copied().collect();
    if let Some(cell) = cells.get(places.len()) {
        let why = not_in(sort, &format!("`{cell}`"));
        let what = format!("{what}: row {}: {why}", places.len());
        let labels = sort.labels.iter().map(String::as_str);
        let error = Diagnostic::error(Code::UnknownIndividual, what);
        found.push(error.maybe_help(did_you_mean(cell, labels)));
    }
    places
}

/// The columns of a table in the theory's terms; `None` if something is wrong.
pub fn read_columns(
    py: Python<'_>,
    theory: &Theory,
    id: TableId,
    columns: &[Column],
    found: &mut Diagnostics,
) -> PyResult<Option<Vec<ColumnData>>> {
    let table = &theory[id];
    let before = found.error_count();
    let mut read = Vec::with_capacity(columns.len());
    for (given, column) in columns.iter().zip(&table.columns) {
        let what = || format!("table `{}`, column `{}`", table.name, column.name);
        let integers = given.integers(py)?;
        let data = match (&integers, given, column.sort) {
            (Some(cells), _, ColumnSort::Int) => ColumnData::Int(cells.to_vec()),
            (_, Column::Real(cells), ColumnSort::Real) => {
                let cells = numbers(py, cells)?;
                if let Some(row) = cells.iter().position(|x| !x.is_finite()) {
                    let what = format!("{}: row {row} is {}", what(), cells[row]);
                    wrong(found, Code::NotFinite, what);
                }
                ColumnData::Real(cells)
            }
            (Some(cells), _, ColumnSort::Real) => {
                ColumnData::Real(cells.iter().map(|&n| n as f64).collect())
            }
            (Some(cells), _, ColumnSort::Sort(sort)) => {
                match numbered(&theory[sort], cells, &what(), found) {
                    Some(places) => ColumnData::Individuals(places),
                    None => continue,
                }
            }
            (_, Column::Names(cells), ColumnSort::Sort(sort))
                if !theory[sort].labels.is_empty() =>
            {
                ColumnData::Individuals(named(&theory[sort], cells, &what(), found))
            }
            (_, given, sort) => {
                let holds = match given {
                    Column::Names(_) => "strings",
                    Column::Int(_) | Column::Tensor(..) => "integers",
                    Column::Real(_) => "floating-point numbers",
                };
                let what = format!(
                    "{}: it holds `{}`, but {holds} are given",
                    what(),
                    theory.column_sort_name(sort)
                );
                let help = match (given, sort) {
                    (Column::Names(_), ColumnSort::Sort(sort)) => Some(format!(
                        "the individuals of sort `{}` have no names: number them from 0",
                        theory[sort].name
                    )),
                    (Column::Real(_), _) => {
                        Some("give integers, such as `column.astype(int)`".into())
                    }
                    _ => None,
                };
                found.push(Diagnostic::error(Code::WrongSort, what).maybe_help(help));
                continue;
            }
        };
        read.push(data);
    }
    Ok((found.error_count() == before).then_some(read))
}
