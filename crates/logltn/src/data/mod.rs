//! What a theory is grounded in: how many individuals each sort has, the rows of the tables, the params.
//!
//! Features are here only for the distances of guards; what networks read never passes through the
//! logic.

mod function;
mod number_pool;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::number::Number;
use crate::source::Source;
use crate::theory::*;

pub use function::FunctionData;
use number_pool::MOST_STREAMED;
pub(crate) use number_pool::NumberPool;

/// The cells of one column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Individuals, by their 0-based index in the sort.
    Individuals(Vec<u32>),
    /// The integers of an `Int` column.
    Int(Vec<i64>),
    /// The reals of a `Real` column.
    Real(Vec<f64>),
}

impl ColumnData {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            ColumnData::Individuals(cells) => cells.len(),
            ColumnData::Int(cells) => cells.len(),
            ColumnData::Real(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells of some rows, in their order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn some(&self, rows: &[u32]) -> ColumnData {
        fn chosen<T: Copy>(cells: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|row| cells[*row as usize]).collect()
        }
        match self {
            ColumnData::Individuals(cells) => ColumnData::Individuals(chosen(cells, rows)),
            ColumnData::Int(cells) => ColumnData::Int(chosen(cells, rows)),
            ColumnData::Real(cells) => ColumnData::Real(chosen(cells, rows)),
        }
    }

    /// The cells of rows that follow each other.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn slice(&self, rows: std::ops::Range<usize>) -> ColumnData {
        match self {
            ColumnData::Individuals(cells) => ColumnData::Individuals(cells[rows].to_vec()),
            ColumnData::Int(cells) => ColumnData::Int(cells[rows].to_vec()),
            ColumnData::Real(cells) => ColumnData::Real(cells[rows].to_vec()),
        }
    }
}

/// The rows of a table, column by column.
#[derive(Clone, Debug, PartialEq)]
pub struct TableData {
    /// One per declared column. Shared: tables may be large, and plans and engines keep the data.
    pub columns: Arc<[ColumnData]>,
    /// The number of rows.
    pub rows: usize,
    /// Whether a step may use only some of the rows. Such a table cannot shape a theory: the guards of `all`, `any`
    /// and `for` may not use it.
    pub batched: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SortData {
    pub size: Option<usize>,
    /// Row-major, `width` numbers per individual.
    pub features: Option<(usize, Vec<f64>)>,
    /// Its size comes with the call.
    pub streamed: bool,
}

/// Which individual a constant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantData {
    /// An individual of the data, by its index.
    Row(u32),
    /// A separate learnable vector: an individual that no quantifier ranges over.
    Learnable,
}

/// The data of a theory.
///
/// ```
/// use logltn::{ColumnData, Data, Source, Theory};
/// let theory = Theory::parse(Source::new("t", "
///     sort Point  param near  table edges(from: Point, weight: Real)  predicate P(Point)
///     axiom a: forall (x, w) in edges where w < near. P(x)")).unwrap();
/// let mut data = Data::new(&theory);
/// data.set_size("Point", 3)?;
/// data.set_param("near", 0.5)?;
/// data.set_rows("edges", vec![
///     ColumnData::Individuals(vec![0, 2]),
///     ColumnData::Real(vec![0.1, 0.9]),
/// ])?;
/// assert!(data.missing().is_empty());
/// # Ok::<(), logltn::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
pub struct Data {
    /// Shared: a plan and its engines keep the data, and a theory may be large.
    theory: Arc<Theory>,
    pub(crate) sorts: Vec<SortData>,
    pub(crate) tables: Vec<Option<TableData>>,
    pub(crate) params: Vec<Option<Number>>,
    pub(crate) constants: Vec<Option<ConstantData>>,
    pub(crate) functions: Vec<Option<Arc<FunctionData>>>,
    /// By table: whether its rows come with the call.
    streamed: Vec<bool>,
    /// Whether they have come.
    has_come: bool,
    /// The rows of the theory's products, made on demand.
    pub(crate) product_rows: OnceLock<Arc<[TableData]>>,
    /// The numbers that are arguments, collected on demand.
    numbers: OnceLock<Arc<NumberPool>>,
    /// The numbers that are known before any call.
    fixed_numbers: Option<Arc<NumberPool>>,
    /// Stops planning early.
    pub(crate) stop: Option<Arc<AtomicBool>>,
    /// Names of axioms, families or members of families that always hold.
    laws: Arc<[String]>,
    /// The time limit for compiling events.
    compile_time: Duration,
}

impl Data {
    /// Only what the theory itself states: the sizes of integer and label sorts.
    pub fn new(theory: &Theory) -> Data {
        let sorts = theory.sorts.iter().map(|sort| SortData {
            size: sort
                .size()
                .or((!sort.labels.is_empty()).then_some(sort.labels.len())),
            features: None,
            streamed: false,
        });
        Data {
            sorts: sorts.collect(),
            tables: vec![None; theory.tables.len()],
            params: vec![None; theory.params.len()],
            constants: vec![None; theory.constants.len()],
            functions: vec![None; theory.functions.len()],
            streamed: vec![false; theory.tables.len()],
            has_come: false,
            numbers: OnceLock::new(),
            product_rows: OnceLock::new(),
            fixed_numbers: None,
            stop: None,
            laws: Arc::default(),
            compile_time: Duration::from_secs(60),
            theory: Arc::new(theory.clone()),
        }
    }

    /// Planning with these data, which may take long to list what guards keep, ends soon after this flag is set, with
    /// an error of the code [`Code::Interrupted`]. [`Engine::set_stop`](crate::Engine::set_stop) does the same for
    /// evaluations.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::AtomicBool};
    /// use logltn::{Code, Data, Output, Plan, Semantics, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort S = 0..999  predicate P(S)  axiom a: forall x, y: S where x * x % 7 = y * y % 5. P(x) -> P(y)"))?;
    /// let mut data = Data::new(&theory);
    /// data.set_stop(Arc::new(AtomicBool::new(true)));
    /// let stopped = Plan::new(&data, &[Output::sigmoid()], &Semantics::default()).unwrap_err();
    /// assert_eq!(stopped.iter().next().map(|e| e.code()), Some(Code::Interrupted));
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn set_stop(&mut self, flag: Arc<AtomicBool>) {
        self.stop = Some(flag);
    }

    /// Declares axioms to be laws, by name; a family's name means all its members. Under the semantics `probability`
    /// worlds that break one do not exist, and every value is conditional on all of them.
    ///
    /// ```
    /// use logltn::{Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     predicate cat()  predicate animal()
    ///     axiom isa: cat() -> animal()
    ///     axiom seen: animal()"))?;
    /// let mut data = Data::new(&theory);
    /// data.set_laws(["isa"]);
    /// let semantics = Semantics::named("probability").unwrap();
    /// let mut engine = Engine::<f64>::new(Plan::new(&data, &[Output::truth(); 2], &semantics)?);
    /// (0..2).for_each(|request| engine.numbers_mut(request)[0] = 0.5);
    /// // Three of the four worlds keep the law, in two of these there is an animal.
    /// let truth = engine.evaluate(&Parameters::default())?.axioms[1].truth;
    /// assert!((truth.exp() - 2.0 / 3.0).abs() < 1e-12);
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn set_laws<N: Into<String>>(&mut self, names: impl IntoIterator<Item = N>) {
        self.laws = names.into_iter().map(Into::into).collect();
    }

    /// Sets how long events may take to compile under the semantics `probability`; the default is a minute.
    pub fn set_compile_time(&mut self, time: Duration) {
        self.compile_time = time;
    }

    pub(crate) fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// The names that [`Data::set_laws`] was given.
    pub fn laws(&self) -> &[String] {
        &self.laws
    }

    /// Whether an axiom, or a member of a family, is a law.
    pub(crate) fn is_law(&self, axiom: &str) -> bool {
        let family = axiom.split('[').next();
        (self.laws.iter()).any(|law| law == axiom || Some(law.as_str()) == family)
    }

    /// Whether some members of an axiom of the theory are laws.
    pub fn has_laws_of(&self, axiom: &str) -> bool {
        (self.laws.iter()).any(|law| law == axiom || law.split('[').next() == Some(axiom))
    }

    /// Whether the flag of [`Data::set_stop`] is set.
    pub(crate) fn is_stopped(&self) -> bool {
        (self.stop.as_ref()).is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// The same data with one formula instead of the axioms, which [`Theory::parse_formula`] has read from `source`.
    pub fn with_formula(&self, source: Source, formula: Axiom) -> Data {
        let mut theory = self.theory.without_places();
        theory.source = source;
        theory.products.extend(formula.products.iter().cloned());
        theory.axioms = vec![formula];
        self.with_theory(Arc::new(theory))
    }

    /// The same data for a part of the axioms: a phase of training.
    pub fn with_axioms(&self, keep: impl Fn(&Axiom) -> bool) -> Data {
        // The others, of which there may be very many, are not copied.
        let own = &self.theory;
        self.with_theory(Arc::new(Theory {
            source: own.source.clone(),
            sorts: own.sorts.clone(),
            tables: own.tables.clone(),
            predicates: own.predicates.clone(),
            functions: own.functions.clone(),
            constants: own.constants.clone(),
            params: own.params.clone(),
            definitions: own.definitions.clone(),
            axioms: own.axioms.iter().filter(|a| keep(a)).cloned().collect(),
            products: own.products.clone(),
        }))
    }

    /// The same data for a theory that has other axioms.
    pub(crate) fn with_theory(&self, theory: Arc<Theory>) -> Data {
        Data {
            theory,
            numbers: OnceLock::new(),
            product_rows: OnceLock::new(),
            fixed_numbers: None,
            ..self.clone()
        }
    }

    /// The same data with a question instead of the axioms.
    pub(crate) fn with_query(&self, query: &Query) -> Data {
        (self.with_formula(query.source.clone(), query.axiom.clone())).unbatched()
    }

    /// The same data with the axioms of another theory with the same symbols added after its own, which are renamed so
    /// that no law has their names.
    pub(crate) fn and_axioms(&self, laws: &Theory) -> Data {
        let mut theory = Theory::clone(&self.theory);
        for axiom in &mut theory.axioms {
            axiom.name = format!("the {}", axiom.name);
        }
        theory.axioms.extend(laws.without_places().axioms);
        self.with_theory(Arc::new(theory))
    }

    /// A question concerns all rows.
    pub(crate) fn unbatched(mut self) -> Data {
        self.tables
            .iter_mut()
            .flatten()
            .for_each(|t| t.batched = false);
        self
    }

    /// The same data for a theory that has more tables at the end of its list, whose rows come with each call.
    pub(crate) fn with_streamed_tables(&self, theory: Arc<Theory>) -> Data {
        let mut data = self.with_theory(theory);
        for table in data.tables.len()..data.theory.tables.len() {
            data.tables.push(None);
            data.streamed.push(true);
            data.empty_table(TableId(table as u32));
        }
        data
    }

    /// The same data for a theory that has one more table at the end of its list, with these columns.
    pub(crate) fn with_more_rows(&self, theory: Arc<Theory>, columns: Arc<[ColumnData]>) -> Data {
        let mut data = self.with_theory(theory);
        data.tables.push(Some(TableData {
            rows: columns.first().map_or(0, ColumnData::len),
            columns,
            batched: false,
        }));
        data.streamed.push(false);
        data
    }

    /// The theory that this is the data of.
    pub fn theory(&self) -> &Arc<Theory> {
        &self.theory
    }

    /// Sets the number of individuals of a data sort.
    pub fn set_size(&mut self, sort: &str, size: usize) -> Result<(), Diagnostics> {
        let id = self.data_sort(sort)?;
        if size >= u32::MAX as usize {
            return Err(Diagnostic::error(
                Code::TooManyIndividuals,
                format!("sort `{sort}` has {size} individuals: at most 4,294,967,294 are possible"),
            )
            .into());
        }
        match self.sorts[id.index()].size {
            Some(known) if known != size => Err(Diagnostic::error(
                Code::SizesDisagree,
                format!("sort `{sort}` has {known} individuals in one place and {size} in another"),
            )
            .into()),
            _ => {
                self.sorts[id.index()].size = Some(size);
                self.product_rows = OnceLock::new();
                Ok(())
            }
        }
    }

    /// Sets the features of a data sort, `width` numbers per individual, for the distances of guards.
    pub fn set_features(
        &mut self,
        sort: &str,
        width: usize,
        values: Vec<f64>,
    ) -> Result<(), Diagnostics> {
        let id = self.data_sort(sort)?;
        if width == 0 || !values.len().is_multiple_of(width) {
            return Err(Diagnostic::error(Code::WrongShape, format!(
                "the features of sort `{sort}` are {} numbers, not a multiple of the width {width}",
                values.len()
            ))
            .into());
        }
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            return Err(Diagnostic::error(
                Code::NotFinite,
                format!(
                    "feature {} of individual {} of sort `{sort}` is {}",
                    at % width,
                    at / width,
                    values[at]
                ),
            )
            .into());
        }
        self.set_size(sort, values.len() / width)?;
        self.sorts[id.index()].features = Some((width, values));
        Ok(())
    }

    /// Sets the rows of a table, one [`ColumnData`] per declared column.
    pub fn set_rows(&mut self, table: &str, columns: Vec<ColumnData>) -> Result<(), Diagnostics> {
        let id = self.table_named(table)?;
        self.fill_table(id, columns)
    }

    fn table_named(&self, table: &str) -> Result<TableId, Diagnostics> {
        let unknown = || self.theory.unknown(SymbolKind::Table, table).into();
        self.theory.table(table).ok_or_else(unknown)
    }

    fn fill_table(&mut self, id: TableId, columns: Vec<ColumnData>) -> Result<(), Diagnostics> {
        let declared = &self.theory[id];
        let table = &declared.name;
        let rows = columns.first().map_or(0, ColumnData::len);
        if columns.len() != declared.columns.len() || columns.iter().any(|c| c.len() != rows) {
            return Err(Diagnostic::error(
                Code::WrongShape,
                format!(
                    "table `{table}` needs {} columns of equal length",
                    declared.columns.len()
                ),
            )
            .into());
        }
        for (data, column) in columns.iter().zip(&declared.columns) {
            let fits = matches!(
                (data, column.sort),
                (ColumnData::Individuals(_), ColumnSort::Sort(_))
                    | (ColumnData::Int(_), ColumnSort::Int)
                    | (ColumnData::Real(_), ColumnSort::Real)
            );
            if !fits {
                return Err(Diagnostic::error(
                    Code::WrongSort,
                    format!(
                        "column `{}` of table `{table}` must hold `{}`",
                        column.name,
                        self.theory.column_sort_name(column.sort)
                    ),
                )
                .into());
            }
        }
        self.tables[id.index()] = Some(TableData {
            columns: columns.into(),
            rows,
            batched: false,
        });
        self.forget_numbers();
        Ok(())
    }

    /// Declares that the rows of a table come with each call: [`Engine::stream`](crate::Engine::stream). Until then it
    /// has none.
    ///
    /// Like one of which steps look at some rows only, such a table cannot shape a theory.
    pub fn set_streamed(&mut self, table: &str) -> Result<(), Diagnostics> {
        let id = self.table_named(table)?;
        self.streamed[id.index()] = true;
        self.empty_table(id);
        Ok(())
    }

    /// Likewise, declares that the number of individuals of a data sort comes with each call. Such a sort has neither
    /// features for guards nor labels.
    pub fn set_streamed_size(&mut self, sort: &str) -> Result<(), Diagnostics> {
        let id = self.data_sort(sort)?;
        let data = &mut self.sorts[id.index()];
        if data.features.is_some() || !self.theory[id].labels.is_empty() {
            return Err(Diagnostic::error(
                Code::SizesDisagree,
                format!("the individuals of sort `{sort}` are known, so their number cannot come with a call"),
            )
            .into());
        }
        data.size = Some(0);
        data.streamed = true;
        Ok(())
    }

    fn empty_table(&mut self, id: TableId) {
        let columns = self.theory[id].columns.iter().map(|c| match c.sort {
            ColumnSort::Sort(_) => ColumnData::Individuals(Vec::new()),
            ColumnSort::Int => ColumnData::Int(Vec::new()),
            ColumnSort::Real => ColumnData::Real(Vec::new()),
        });
        self.tables[id.index()] = Some(TableData {
            columns: columns.collect(),
            rows: 0,
            batched: false,
        });
    }

    /// The same without the rows of a table, which keeps its batches.
    pub(crate) fn leave_out_rows(&mut self, table: TableId) {
        self.empty_table(table);
        if let Some(data) = &mut self.tables[table.index()] {
            data.batched = true;
        }
        self.forget_numbers();
    }

    pub(crate) fn streams_anything(&self) -> bool {
        self.streamed.contains(&true) || self.sorts.iter().any(|s| s.streamed)
    }

    fn number_pool(&self) -> &Arc<NumberPool> {
        self.numbers.get_or_init(|| {
            let none = NumberPool::default();
            let before = self.fixed_numbers.as_deref().unwrap_or(&none);
            Arc::new(NumberPool::of(before, self))
        })
    }

    /// Their values depend on the data.
    pub(crate) fn forget_numbers(&mut self) {
        self.numbers = OnceLock::new();
        self.product_rows = OnceLock::new();
    }

    /// The distinct numbers that are arguments where a `Real` is expected: a leaf of an
    /// [`ArgumentShape::Number`](crate::ArgumentShape::Number) is a place in here.
    pub fn numbers(&self) -> &Arc<[f64]> {
        &self.number_pool().values
    }

    /// The place of a number among [`Data::numbers`].
    pub(crate) fn number_index(&self, x: f64) -> u32 {
        self.number_pool().index(x)
    }

    /// The greatest possible number of these.
    pub(crate) fn number_extent(&self) -> u64 {
        match self.streams_anything() {
            true => MOST_STREAMED,
            false => self.numbers().len() as u64,
        }
    }

    /// Whether the rows of a table come with each call.
    pub fn streams_table(&self, table: TableId) -> bool {
        match table.product() {
            None => self.streamed[table.index()],
            Some(product) => (self.theory.products[product].parts.iter()).any(|part| match part {
                ProductPart::Rows(table) => self.streamed[table.index()],
                ProductPart::Sort(sort) => self.streams_sort(*sort),
            }),
        }
    }

    /// Whether the size of a sort comes with each call.
    pub fn streams_sort(&self, sort: SortId) -> bool {
        self.sorts[sort.index()].streamed
    }

    /// Whether something comes with each call and has not come yet.
    pub(crate) fn waits_for_streams(&self) -> bool {
        self.streams_anything() && !self.has_come
    }

    /// Whether the size of a sort comes with each call and has not come yet.
    pub(crate) fn waits_for(&self, sort: SortId) -> bool {
        self.streams_sort(sort) && self.waits_for_streams()
    }

    /// Takes the data of a call. Tables and sorts that the call does not give keep their sizes.
    pub(crate) fn stream(
        &mut self,
        sizes: &[(SortId, usize)],
        rows: Vec<(TableId, Vec<ColumnData>)>,
    ) -> Result<(), Diagnostics> {
        // Existing plans refer to numbers by their places.
        if self.fixed_numbers.is_none() {
            self.fixed_numbers = Some(Arc::clone(self.number_pool()));
        }
        self.forget_numbers();
        let not_streamed = |what: String, help: &str| {
            let message = format!("{what} does not come with a call");
            Diagnostics::from(Diagnostic::error(Code::NotStreamed, message).help(help))
        };
        for &(sort, size) in sizes {
            let name = self.theory[sort].name.clone();
            if !self.streams_sort(sort) {
                let help = "call `Data::set_streamed_size` before planning";
                return Err(not_streamed(format!("the size of sort `{name}`"), help));
            }
            self.sorts[sort.index()].size = None;
            self.set_size(&name, size)?;
        }
        for (table, columns) in rows {
            if !self.streams_table(table) {
                let name = &self.theory[table].name;
                let help = "call `Data::set_streamed` before planning";
                return Err(not_streamed(format!("table `{name}`"), help));
            }
            self.fill_table(table, columns)?;
        }
        self.has_come = true;
        let mut found = Diagnostics::new();
        self.check_indexes(true, &mut found);
        if self.number_pool().values.len() as u64 > MOST_STREAMED {
            let most = format!("more than {MOST_STREAMED} different numbers in one call");
            found.push(Diagnostic::error(Code::TooManyBindings, most));
        }
        match found.has_errors() {
            true => Err(found),
            false => Ok(()),
        }
    }

    /// As before the first call.
    pub(crate) fn forget_streams(&mut self) {
        self.has_come = false;
        self.forget_numbers();
        self.sorts
            .iter_mut()
            .filter(|s| s.streamed)
            .for_each(|s| s.size = Some(0));
        for table in (0..self.tables.len())
            .filter(|t| self.streamed[*t])
            .collect::<Vec<_>>()
        {
            self.empty_table(TableId(table as u32));
        }
    }

    /// Declares that each step will use only some rows of the table.
    pub fn set_batched(&mut self, table: &str) -> Result<(), Diagnostics> {
        let found = self.theory.table(table);
        match found.and_then(|id| self.tables[id.index()].as_mut()) {
            Some(data) => {
                data.batched = true;
                Ok(())
            }
            None => Err(self.theory.unknown(SymbolKind::Table, table).into()),
        }
    }

    /// Sets a param.
    pub fn set_param(&mut self, param: &str, value: impl Into<Number>) -> Result<(), Diagnostics> {
        let Some(at) = self.theory.params.iter().position(|p| p.name == param) else {
            return Err(self.theory.unknown(SymbolKind::Param, param).into());
        };
        let value = value.into();
        if !value.to_f64().is_finite() {
            return Err(Diagnostic::error(
                Code::NotFinite,
                format!("param `{param}` must be finite, but is {value}"),
            )
            .into());
        }
        self.params[at] = Some(value);
        Ok(())
    }

    /// Sets which individual a constant is.
    pub fn set_constant(&mut self, constant: &str, is: ConstantData) -> Result<(), Diagnostics> {
        let Some(at) = (self.theory.constants.iter()).position(|c| c.name == constant) else {
            return Err(self.theory.unknown(SymbolKind::Constant, constant).into());
        };
        self.constants[at] = Some(is);
        Ok(())
    }

    /// Everything that a plan needs and that has not been set, with the place of its declaration; also indexes out of
    /// range, which can only be checked when everything is set.
    pub fn missing(&self) -> Diagnostics {
        let mut out = Diagnostics::new();
        let theory = &self.theory;
        let mut report = |is_set: bool, code, kind: &str, (name, span): (&str, _), need: &str| {
            if !is_set {
                let what = format!("{kind} `{name}` has no {need}");
                out.push(Diagnostic::error(code, what).at(&theory.source, span, ""));
            }
        };
        let missing = Code::MissingData;
        for (sort, data) in theory.sorts.iter().zip(&self.sorts) {
            let place = (&*sort.name, sort.span);
            report(data.size.is_some(), missing, "sort", place, "individuals");
        }
        for (table, data) in theory.tables.iter().zip(&self.tables) {
            let place = (&*table.name, table.span);
            report(data.is_some(), missing, "table", place, "rows");
        }
        for (param, data) in theory.params.iter().zip(&self.params) {
            let place = (&*param.name, param.span);
            report(data.is_some(), missing, "param", place, "value");
        }
        for (constant, data) in theory.constants.iter().zip(&self.constants) {
            let (place, code) = ((&*constant.name, constant.span), Code::NotGrounded);
            report(data.is_some(), code, "constant", place, "individual");
        }
        if !out.has_errors() {
            self.check_indexes(false, &mut out);
            self.check_functions(&mut out);
        }
        out
    }

    /// Checks that every cell and constant names an individual; or only those that a call may have changed, since other
    /// tables may be too large to check each time.
    fn check_indexes(&self, changed: bool, out: &mut Diagnostics) {
        let theory = &self.theory;
        for ((table, data), came) in theory.tables.iter().zip(&self.tables).zip(&self.streamed) {
            let Some(data) = data else { continue };
            for (column, cells) in table.columns.iter().zip(&*data.columns) {
                let (ColumnSort::Sort(sort), ColumnData::Individuals(cells)) = (column.sort, cells)
                else {
                    continue;
                };
                if changed && !came && !self.streams_sort(sort) {
                    continue;
                }
                if self.waits_for(sort) {
                    continue;
                }
                let size = self.size(sort);
                if let Some(row) = cells.iter().position(|&c| c as usize >= size) {
                    out.push(Diagnostic::error(Code::UnknownIndividual, format!(
                        "table `{}`, row {row}, column `{}`: index {} is out of range, sort `{}` has {size} individuals",
                        table.name,
                        column.name,
                        cells[row],
                        theory[sort].name
                    )));
                }
            }
        }
        for (constant, data) in theory.constants.iter().zip(&self.constants) {
            if self.waits_for(constant.sort) {
                continue;
            }
            let size = self.size(constant.sort);
            if let Some(ConstantData::Row(row)) = data
                && *row as usize >= size
            {
                out.push(
                    Diagnostic::error(
                        Code::UnknownIndividual,
                        format!(
                            "constant `{}` is row {row}, but sort `{}` has {size} individuals",
                            constant.name, theory[constant.sort].name
                        ),
                    )
                    .at(&theory.source, constant.span, ""),
                );
            }
        }
    }

    /// The number of individuals of a sort that quantifiers range over.
    pub fn size(&self, sort: SortId) -> usize {
        self.sorts[sort.index()].size.unwrap_or(0)
    }

    /// [`Data::size`] and the learnable constants, which are numbered after the individuals.
    pub fn extent(&self, sort: SortId) -> usize {
        let learnable = (self.theory.constants.iter().zip(&self.constants))
            .filter(|(c, d)| c.sort == sort && **d == Some(ConstantData::Learnable))
            .count();
        let size = match self.waits_for(sort) {
            true => self.least_size(sort),
            false => self.size(sort),
        };
        size + learnable
    }

    /// The least number of individuals of a sort, given those that tables and constants name.
    fn least_size(&self, sort: SortId) -> usize {
        let mut least = self.size(sort);
        for (table, data) in self.theory.tables.iter().zip(&self.tables) {
            let Some(data) = data else { continue };
            for (column, cells) in table.columns.iter().zip(&*data.columns) {
                if let ColumnData::Individuals(cells) = cells
                    && column.sort == ColumnSort::Sort(sort)
                {
                    let largest = cells.iter().max();
                    least = least.max(largest.map_or(0, |&cell| cell as usize + 1));
                }
            }
        }
        for (constant, data) in self.theory.constants.iter().zip(&self.constants) {
            if let Some(ConstantData::Row(row)) = data
                && constant.sort == sort
            {
                least = least.max(*row as usize + 1);
            }
        }
        least
    }

    /// Which individual a constant is, if set.
    pub fn constant(&self, constant: ConstantId) -> Option<ConstantData> {
        self.constants[constant.index()]
    }

    /// The index of a constant in its sort: a row, or, if it is learnable, one after the last.
    pub fn constant_index(&self, id: ConstantId) -> u32 {
        match self.constants[id.index()] {
            Some(ConstantData::Row(row)) => row,
            _ => {
                let sort = self.theory[id].sort;
                let before = (self.theory.constants.iter().zip(&self.constants))
                    .take(id.index())
                    .filter(|(c, d)| c.sort == sort && **d == Some(ConstantData::Learnable))
                    .count();
                (self.size(sort) + before) as u32
            }
        }
    }

    /// The value of a param, if set.
    pub fn param(&self, param: ParamId) -> Option<Number> {
        self.params[param.index()]
    }

    /// The rows of a table, if set.
    pub fn table(&self, table: TableId) -> Option<&TableData> {
        match table.product() {
            None => self.tables[table.index()].as_ref(),
            Some(product) => self.products().get(product),
        }
    }

    /// The features of an individual.
    pub(crate) fn features(&self, (sort, index): (SortId, u32)) -> Option<&[f64]> {
        let (width, values) = self.sorts[sort.index()].features.as_ref()?;
        values.get(index as usize * width..(index as usize + 1) * width)
    }

    /// The Euclidean distance of two individuals' features.
    pub fn distance(&self, a: (SortId, u32), b: (SortId, u32)) -> Option<f64> {
        let (a, b) = (self.features(a)?, self.features(b)?);
        (a.len() == b.len()).then(|| euclidean(a, b))
    }

    fn data_sort(&self, name: &str) -> Result<SortId, Diagnostics> {
        match self.theory.sort(name) {
            Some(id) if self.theory[id].kind == SortKind::Data => Ok(id),
            Some(_) => Err(Diagnostic::error(
                Code::DefinedByTheory,
                format!("sort `{name}` is defined in the theory and takes no data"),
            )
            .into()),
            None => Err(self.theory.unknown(SymbolKind::Sort, name).into()),
        }
    }
}

/// The one definition of distance: guards and percentiles must agree to the last bit.
pub(crate) fn euclidean(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y));
    squares.sum::<f64>().sqrt()
}
