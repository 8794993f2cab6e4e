//! Per-call data: which rows of batched tables, the sizes of sorts, the rows of streamed tables.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use logltn::theory::{ColumnSort, SortId, SortKind, SymbolKind, TableId};
use logltn::{Code, ColumnData, Data, Diagnostic, Diagnostics};
use pyo3::buffer::PyBuffer;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyString};

use crate::dlpack::{Elements, Reader, Tensor};
use crate::error::Failure;
use crate::given::{Column, read_columns};

/// What a call is about, apart from values.
#[derive(Clone, Default, PartialEq)]
pub struct Setting {
    /// The rows of batched tables to use; all of them if not given.
    pub batch: Vec<(TableId, Vec<u32>)>,
    pub sizes: Vec<(SortId, usize)>,
    pub rows: Vec<(TableId, Vec<ColumnData>)>,
    /// Whether any data come with each call.
    pub streams: bool,
}

/// The data of a call, as Python keeps them. They are read once: changing the arrays afterwards does not change what a gradient is
/// computed from.
#[pyclass(frozen, eq, hash, module = "logltn._native")]
#[derive(PartialEq)]
pub struct Coming {
    setting: Arc<Setting>,
}

impl Hash for Coming {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Setting {
            batch, sizes, rows, ..
        } = &*self.setting;
        for (table, rows) in batch {
            (table.0, rows).hash(state);
        }
        for (sort, size) in sizes {
            (sort.0, size).hash(state);
        }
        for (table, columns) in rows {
            table.0.hash(state);
            for column in columns {
                match column {
                    ColumnData::Individuals(cells) => cells.hash(state),
                    ColumnData::Int(cells) => cells.hash(state),
                    // Equal numbers have equal bits, except for the two zeros.
                    ColumnData::Real(cells) => {
                        cells.iter().for_each(|x| (x + 0.0).to_bits().hash(state));
                    }
                }
            }
        }
    }
}

/// Names and their values.
pub type Named<T> = Vec<(String, T)>;

impl Coming {
    pub fn read(
        py: Python<'_>,
        data: &Data,
        batch: Named<PyBuffer<i64>>,
        sorts: Named<usize>,
        tables: Named<Vec<Column>>,
        question: Option<&str>,
    ) -> Result<Coming, Failure> {
        let setting = read(py, data, batch, sorts, tables, question)?;
        Ok(Coming {
            setting: Arc::new(setting),
        })
    }
}

/// The types of NumPy's arrays and PyTorch's tensors, since this links to neither: their classes, the dtype of integers, and
/// the layout of rows and columns.
pub struct Torch {
    tensor: Py<PyAny>,
    parameter: Py<PyAny>,
    int64: Py<PyAny>,
    strided: Py<PyAny>,
    /// Direct access to them, if this PyTorch offers it.
    reader: Option<Reader>,
}

static NDARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TORCH: PyOnceLock<Torch> = PyOnceLock::new();

/// Registers the types of arrays.
#[pyfunction]
pub fn know_numpy(py: Python<'_>, ndarray: Py<PyAny>) {
    NDARRAY.get_or_init(py, || ndarray);
}

/// Registers the types of tensors, once PyTorch is loaded. Returns whether values may be passed
/// without conversion.
#[pyfunction]
pub fn know_torch(
    py: Python<'_>,
    tensor: Py<PyAny>,
    parameter: Py<PyAny>,
    int64: Py<PyAny>,
    strided: Py<PyAny>,
) -> bool {
    let reader = Reader::of(tensor.bind(py));
    let known = Torch {
        tensor,
        parameter,
        int64,
        strided,
        reader,
    };
    TORCH.get_or_init(py, || known).reader.is_some()
}

/// A plain tensor or parameter on the CPU, if it is one and PyTorch offers direct access.
pub fn tensor(object: &Bound<'_, PyAny>) -> Option<Tensor> {
    let torch = TORCH.get(object.py())?;
    let class = object.get_type();
    let is_plain = class.is(&torch.tensor) || class.is(&torch.parameter);
    torch.reader.as_ref().filter(|_| is_plain)?.look(object)
}

/// The fast path for what most calls bring: rows of batches, numbers of individuals, and dicts of integers. `None` for anything else, which Python
/// handles.
pub fn in_a_hurry(
    py: Python<'_>,
    data: &Data,
    batch: Option<&Bound<'_, PyAny>>,
    sorts: Option<&Bound<'_, PyAny>>,
    tables: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Result<Coming, Failure>>> {
    let theory = data.theory();
    let mut batches = Vec::new();
    if let Some(batch) = batch {
        let Ok(batch) = batch.cast_exact::<PyDict>() else {
            return Ok(None);
        };
        for (name, rows) in batch {
            match (name.extract(), integers(py, &rows)?) {
                (Ok(name), Some((Column::Int(rows), _))) => batches.push((name, rows)),
                _ => return Ok(None),
            }
        }
    }
    let mut sizes = Vec::new();
    if let Some(sorts) = sorts {
        let Ok(sorts) = sorts.cast_exact::<PyDict>() else {
            return Ok(None);
        };
        for (name, given) in sorts {
            let size = match given.cast_exact::<PyInt>() {
                Ok(size) => size.extract::<u32>().ok(),
                Err(_) if is_tensor(py, &given) => {
                    let shape = given.getattr(intern!(py, "shape"))?;
                    shape.get_item(0).and_then(|n| n.extract()).ok()
                }
                Err(_) => None,
            };
            match (name.extract(), size) {
                (Ok(name), Some(size)) if size < u32::MAX => sizes.push((name, size as usize)),
                _ => return Ok(None),
            }
        }
    }
    let mut read = Vec::new();
    if let Some(tables) = tables {
        let Ok(tables) = tables.cast_exact::<PyDict>() else {
            return Ok(None);
        };
        for (name, given) in tables {
            let (Ok(name), Ok(given)) = (name.extract::<String>(), given.cast_exact::<PyDict>())
            else {
                return Ok(None);
            };
            let Some(declared) = theory.table(&name).map(|id| &theory[id].columns) else {
                return Ok(None);
            };
            if given.len() != declared.len() {
                return Ok(None);
            }
            let mut columns = Vec::with_capacity(declared.len());
            let mut rows = None;
            for column in declared {
                let Some(cells) = given.get_item(&column.name)? else {
                    return Ok(None);
                };
                let Some((column, count)) = integers(py, &cells)? else {
                    return Ok(None);
                };
                if *rows.get_or_insert(count) != count {
                    return Ok(None);
                }
                columns.push(column);
            }
            read.push((name, columns));
        }
    }
    Ok(Some(Coming::read(py, data, batches, sizes, read, None)))
}

fn is_tensor(py: Python<'_>, object: &Bound<'_, PyAny>) -> bool {
    (TORCH.get(py)).is_some_and(|torch| object.get_type().is(&torch.tensor))
}

/// A column of integers and its length, if it is a plain tensor or a contiguous array.
fn integers(py: Python<'_>, cells: &Bound<'_, PyAny>) -> PyResult<Option<(Column, usize)>> {
    if let Some(torch) = TORCH.get(py).filter(|_| is_tensor(py, cells)) {
        if let Some(tensor) = torch.reader.as_ref().and_then(|reader| reader.look(cells)) {
            let start = tensor.start.cast::<i64>().cast_const();
            return Ok(
                match (tensor.elements, &tensor.shape[..], &tensor.strides[..]) {
                    (Elements::Integers, &[count], &[step])
                        if start.is_aligned() && (!start.is_null() || count == 0) =>
                    {
                        Some((Column::Tensor(start, count, step), count))
                    }
                    _ => None,
                },
            );
        }
        let is = |name: &Bound<'_, PyString>, what: &Py<PyAny>| -> PyResult<bool> {
            Ok(cells.getattr(name)?.is(what))
        };
        if !is(intern!(py, "dtype"), &torch.int64)?
            || !is(intern!(py, "layout"), &torch.strided)?
            || !cells.getattr(intern!(py, "is_cpu"))?.is_truthy()?
        {
            return Ok(None);
        }
        let stride = cells.call_method0(intern!(py, "stride"))?;
        let Ok((step,)) = stride.extract::<(isize,)>() else {
            return Ok(None); // not one-dimensional
        };
        let count: usize = cells.call_method0(intern!(py, "numel"))?.extract()?;
        let start: usize = cells.call_method0(intern!(py, "data_ptr"))?.extract()?;
        let is_there = start.is_multiple_of(size_of::<i64>()) && (start != 0 || count == 0);
        let column = Column::Tensor(start as *const i64, count, step);
        return Ok(is_there.then_some((column, count)));
    }
    // A masked array, for example, has a buffer but means something else.
    if !(NDARRAY.get(py)).is_some_and(|ndarray| cells.get_type().is(ndarray)) {
        return Ok(None);
    }
    let buffer = PyBuffer::<i64>::get(cells).ok();
    // Arrays from other machines have another byte order.
    let is_ours = |b: &PyBuffer<i64>| matches!(b.format().to_bytes(), b"l" | b"q");
    let plain = buffer.filter(|b| b.dimensions() == 1 && b.is_c_contiguous() && is_ours(b));
    Ok(plain.map(|cells| {
        let count = cells.item_count();
        (Column::Int(cells), count)
    }))
}

/// The data of a call, if there are any.
pub fn setting(
    py: Python<'_>,
    data: &Data,
    coming: Option<&Bound<'_, Coming>>,
) -> Result<Arc<Setting>, Failure> {
    match coming {
        Some(coming) => Ok(Arc::clone(&coming.get().setting)),
        None => {
            let setting = read(py, data, Vec::new(), Vec::new(), Vec::new(), None)?;
            Ok(Arc::new(setting))
        }
    }
}

/// In the theory's terms.
fn read(
    py: Python<'_>,
    data: &Data,
    batch: Named<PyBuffer<i64>>,
    sorts: Named<usize>,
    tables: Named<Vec<Column>>,
    question: Option<&str>,
) -> Result<Setting, Failure> {
    let theory = data.theory();
    let mut found = Diagnostics::new();
    let mut setting = Setting::default();
    for (name, rows) in &batch {
        match batched(data, name, &rows.to_vec(py)?, &mut found) {
            Ok(chosen) => setting.batch.push(chosen),
            Err(error) => found.push(error),
        }
    }
    for (name, size) in &sorts {
        match streamed_sort(data, name) {
            Ok(id) => setting.sizes.push((id, *size)),
            Err(error) => found.push(error),
        }
    }
    for (name, columns) in &tables {
        match streamed_table(data, name) {
            Ok(id) => {
                if let Some(columns) = read_columns(py, theory, id, columns, &mut found)? {
                    setting.rows.push((id, columns));
                }
            }
            Err(error) => found.push(error),
        }
    }
    let sorts_given: Vec<&str> = sorts.iter().map(|(name, _)| name.as_str()).collect();
    let tables_given: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    missing(
        data,
        (&sorts_given, &tables_given),
        question,
        &mut setting,
        &mut found,
    );
    match found.has_errors() {
        true => Err(found.into()),
        false => Ok(setting),
    }
}

/// The rows of a batched table, up to the first that is not there.
fn batched(
    data: &Data,
    name: &str,
    rows: &[i64],
    found: &mut Diagnostics,
) -> Result<(TableId, Vec<u32>), Diagnostic> {
    let theory = data.theory();
    let id = theory.table(name);
    let id = id.ok_or_else(|| theory.unknown(SymbolKind::Table, name))?;
    let Some(table) = data.table(id).filter(|t| t.batched) else {
        let message = format!("table `{name}` is not batched");
        let help = format!("say `batched=[\"{name}\"]` when the knowledge base is made");
        return Err(Diagnostic::error(Code::TableNotBatched, message).help(help));
    };
    let there = |&row: &i64| {
        u32::try_from(row)
            .ok()
            .filter(|r| (*r as usize) < table.rows)
    };
    let chosen: Vec<u32> = rows.iter().map_while(there).collect();
    if let Some(row) = rows.get(chosen.len()) {
        let rows = table.rows;
        let message = format!("row {row} is not in table `{name}`, which has {rows} rows");
        found.push(Diagnostic::error(Code::RowOutOfRange, message));
    }
    Ok((id, chosen))
}

/// A sort whose size comes with calls.
fn streamed_sort(data: &Data, name: &str) -> Result<SortId, Diagnostic> {
    let theory = data.theory();
    let id = theory.sort(name);
    let id = id.ok_or_else(|| theory.unknown(SymbolKind::Sort, name))?;
    if data.streams_sort(id) {
        return Ok(id);
    }
    let message = format!("the size of sort `{name}` is known already");
    let help = match theory[id].kind {
        SortKind::Data => {
            "leave it out of `sorts` of the knowledge base, if it is to come with each call"
        }
        _ => "the theory lists its individuals",
    };
    Err(Diagnostic::error(Code::NotStreamed, message).help(help))
}

/// A table whose rows come with calls.
fn streamed_table(data: &Data, name: &str) -> Result<TableId, Diagnostic> {
    let theory = data.theory();
    let id = theory.table(name);
    let id = id.ok_or_else(|| theory.unknown(SymbolKind::Table, name))?;
    if data.streams_table(id) {
        return Ok(id);
    }
    let message = format!("the rows of table `{name}` are known already");
    let help =
        format!("say `streamed=[\"{name}\"]` when the knowledge base is made, and not its rows");
    Err(Diagnostic::error(Code::NotStreamed, message).help(help))
}

/// Reports what should have come with the call. Streamed tables that a question does not use are empty.
fn missing(
    data: &Data,
    (sorts, tables): (&[&str], &[&str]),
    question: Option<&str>,
    setting: &mut Setting,
    found: &mut Diagnostics,
) {
    let theory = data.theory();
    for (id, sort) in (0..).map(SortId).zip(&theory.sorts) {
        if !data.streams_sort(id) {
            continue;
        }
        setting.streams = true;
        if !sorts.contains(&sort.name.as_str()) {
            let message = format!("sort `{}` has no individuals", sort.name);
            let help = format!(
                "say how many there are in this call, `sorts={{\"{0}\": …}}`, or once and for all when the knowledge base is made",
                sort.name
            );
            let error = Diagnostic::error(Code::MissingData, message).help(help);
            found.push(error.at(&theory.source, sort.span, ""));
        }
    }
    for (id, table) in (0..).map(TableId).zip(&theory.tables) {
        if !data.streams_table(id) {
            continue;
        }
        setting.streams = true;
        if tables.contains(&table.name.as_str()) {
            continue;
        }
        if question.is_some_and(|text| !speaks_of(data, text, &table.name)) {
            let empty = |column: &logltn::theory::Column| match column.sort {
                ColumnSort::Sort(_) => ColumnData::Individuals(Vec::new()),
                ColumnSort::Int => ColumnData::Int(Vec::new()),
                ColumnSort::Real => ColumnData::Real(Vec::new()),
            };
            (setting.rows).push((id, table.columns.iter().map(empty).collect()));
            continue;
        }
        let message = format!("table `{}` has no rows", table.name);
        let help = format!(
            "it is `streamed`: give its rows with each call, `tables={{\"{}\": …}}`",
            table.name
        );
        let error = Diagnostic::error(Code::MissingData, message).help(help);
        found.push(error.at(&theory.source, table.span, ""));
    }
}

/// Whether a question may depend on the rows of a table: its text, or the axiom that it names, contains the table's name as a word; or it
/// uses definitions; or there are laws, which may involve any table.
fn speaks_of(data: &Data, text: &str, table: &str) -> bool {
    let theory = data.theory();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let has = |name: &str| text.split(|c| !is_word(c)).any(|word| word == name);
    !data.laws().is_empty() || has(table) || theory.definitions.iter().any(|d| has(d.name()))
}
