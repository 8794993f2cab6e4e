//! Features: the numbers of the individuals of a data sort.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use logltn::{Code, Diagnostic, Diagnostics, Points};
use logltn_data::{Array, CsvFile, Field, Preparation, Values, is_table, read_fields};
use logltn_learn::Spanned;

use super::feature_file_rows;
use super::magnitudes::{first_too_large, unscaled};
use crate::manifest::{FeatureSource, Manifest};

/// The feature columns of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// The columns that are features, in this order; without, all but that of the names.
    pub columns: Option<Vec<String>>,
    /// The column whose values name the individuals.
    pub names: Option<String>,
    /// The columns that are not features.
    pub except: Vec<String>,
    /// How its columns become numbers, if they are prepared.
    pub prepared: Option<Arc<Preparation>>,
}

impl Chosen {
    pub(super) fn of(source: &FeatureSource) -> Chosen {
        let listed = |names: &Spanned<Vec<Spanned<String>>>| {
            names.iter().map(|name| name.value.clone()).collect()
        };
        Chosen {
            columns: source.columns.as_ref().map(listed),
            names: source.names.as_ref().map(|n| n.value.clone()),
            except: source.except.as_ref().map(listed).unwrap_or_default(),
            prepared: None,
        }
    }

    /// Finds how the columns of a sort's file become numbers, with warnings.
    pub(super) fn prepare(
        &mut self,
        manifest: &Manifest,
        sort: &str,
        source: &FeatureSource,
        path: &Path,
    ) -> Result<Diagnostics, Diagnostics> {
        let Some(kinds) = &source.prepare else {
            return Ok(Diagnostics::new());
        };
        let file = self.csv(path)?;
        let columns = self.places(&file)?;
        let mut wrong = Diagnostics::new();
        for (column, kind) in &kinds.value {
            let at = |error: Diagnostic| error.at(&manifest.source, kind.span, "this column");
            match file.column_index(column) {
                Ok(place) if columns.contains(&place) => {}
                Ok(_) => wrong.push(at(Diagnostic::error(
                    Code::UnknownColumn,
                    format!("{}: column `{column}` is not a feature", file.name()),
                ))),
                Err(error) => wrong.push(at(error)),
            }
        }
        wrong.into_result(())?;
        let kinds = kinds.value.iter();
        let kinds = kinds
            .map(|(name, kind)| (name.clone(), kind.value))
            .collect();
        let learnt = feature_file_rows::learnt_from(manifest, sort, &file)?;
        let (prepared, warnings) = Preparation::fit(&file, &columns, &kinds, |row| learnt[row])?;
        self.prepared = Some(Arc::new(prepared));
        Ok(warnings)
    }

    /// The features of a file.
    pub(super) fn read(&self, path: &Path) -> Result<Vec<Field>, Diagnostics> {
        self.read_with_warnings(path).map(|(fields, _)| fields)
    }

    /// The same, with warnings.
    pub(super) fn read_with_warnings(
        &self,
        path: &Path,
    ) -> Result<(Vec<Field>, Diagnostics), Diagnostics> {
        let nothing = Diagnostics::new();
        if *self == Chosen::default() {
            return Ok((read_fields(path)?, nothing));
        }
        let file = self.csv(path)?;
        let (array, warnings) = match &self.prepared {
            Some(prepared) => {
                let ignored = self.names.iter().chain(&self.except).map(String::as_str);
                prepared.apply(&file, &ignored.collect::<Vec<_>>())?
            }
            None => (file.numbers(&self.places(&file)?)?, nothing),
        };
        Ok((vec![Field { name: None, array }], warnings))
    }

    /// The places of the features in a file.
    fn places(&self, file: &CsvFile) -> Result<Vec<usize>, Diagnostics> {
        let names = match &self.names {
            Some(names) => Some(file.column_index(names)?),
            None => None,
        };
        let columns: Vec<usize> = match &self.columns {
            None => (0..file.columns().len())
                .filter(|i| Some(*i) != names && !self.except.contains(&file.columns()[*i]))
                .collect(),
            Some(columns) => {
                let mut wrong = Diagnostics::new();
                let mut found = Vec::new();
                for column in columns {
                    match file.column_index(column) {
                        Ok(index) => found.push(index),
                        Err(unknown) => wrong.push(unknown),
                    }
                }
                wrong.into_result(found)?.0
            }
        };
        if columns.is_empty() {
            let what = match self.except.is_empty() {
                true => format!("{}: the only column is that of the names", file.name()),
                false => format!("{}: no column is left that could be a feature", file.name()),
            };
            return Err(Diagnostic::error(Code::NoFeatures, what)
                .help("individuals without features are given as `individuals`")
                .into());
        }
        Ok(columns)
    }

    /// The names of the individuals, if they have some.
    pub(super) fn read_names(&self, path: &Path) -> Result<Option<Vec<String>>, Diagnostics> {
        let Some(names) = &self.names else {
            return Ok(None);
        };
        let file = self.csv(path)?;
        file.names(file.column_index(names)?).map(Some)
    }

    fn csv(&self, path: &Path) -> Result<CsvFile, Diagnostics> {
        let name = path.display().to_string();
        if is_table(path) {
            return CsvFile::read(path);
        }
        let key = match (&self.columns, &self.names) {
            (Some(_), _) => "`columns` applies",
            (None, Some(_)) => "`names` applies",
            (None, None) => "`except` and `prepare` apply",
        };
        let what = format!("{name}: {key} to CSV files only");
        Err(Diagnostic::error(Code::UnknownFormat, what)
            .help("the arrays of a file are fields: `inputs = [\"x.position\"]` chooses among them")
            .into())
    }
}

/// The features of all individuals of a sort, every field of an individual after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// How many numbers an individual has.
    pub width: usize,
    /// Row-major.
    pub values: Vec<f64>,
}

impl Features {
    /// Puts the fields of a file side by side. Bytes are scaled, see [`scaled`].
    ///
    /// ```
    /// use logltn_data::parse_fields;
    /// use logltn_train::project::Features;
    /// let fields = parse_fields(b"x,y\n1,2\n3,4\n", "points.csv")?;
    /// assert_eq!(Features::of(&fields).row(1), [3.0, 4.0]);
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn of(fields: &[Field]) -> Features {
        let rows = fields.first().map_or(0, |f| f.array.rows());
        if let [only] = fields {
            return Features {
                width: only.array.row_width(),
                values: scaled(&only.array),
            };
        }
        let arrays: Vec<(usize, Vec<f64>)> = fields
            .iter()
            .map(|f| (f.array.row_width(), scaled(&f.array)))
            .collect();
        let width = arrays.iter().map(|(width, _)| width).sum();
        let mut values = Vec::with_capacity(rows * width);
        for row in 0..rows {
            for (width, array) in &arrays {
                values.extend(array.iter().skip(row * width).take(*width));
            }
        }
        Features { width, values }
    }

    /// As points in a space.
    pub fn points(&self) -> Points<'_> {
        Points {
            width: self.width,
            values: &self.values,
        }
    }

    /// How many individuals there are.
    pub fn rows(&self) -> usize {
        self.points().rows()
    }

    /// The numbers of one individual.
    ///
    /// # Panics
    /// If there is no such individual.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.width..(index + 1) * self.width]
    }
}

/// The numbers of an array as networks and distances see them: bytes, which are pictures, are scaled from 0..255 to
/// 0..1. If no byte is above 1, they are truth values and stay unchanged.
pub fn scaled(array: &Array) -> Vec<f64> {
    match &array.values {
        Values::U8(bytes) if bytes.iter().any(|&b| b > 1) => {
            bytes.iter().map(|&b| f64::from(b) / 255.0).collect()
        }
        _ => array.to_f64(),
    }
}

/// A column of a file: its name, its place, and how many numbers it becomes.
pub type TableColumn = (String, usize, usize);

/// A description of a file of features, without its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its feature columns.
    pub chosen: Chosen,
    /// How many individuals it has.
    pub rows: usize,
    /// The fields; a file without names has one.
    pub fields: Vec<FieldShape>,
}

/// A field of a file of features.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldShape {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The shape of one individual, for example `[28, 28]`.
    pub shape: Vec<usize>,
    /// The first number that is too large to learn from: its row and column, and what it is.
    pub too_large: Option<((usize, usize), f64)>,
    /// A column whose numbers are far from 1, and how large they are.
    pub unscaled: Option<(usize, f64)>,
}

impl FieldShape {
    /// How many numbers an individual has in this field.
    pub fn width(&self) -> usize {
        self.shape.iter().product()
    }
}

impl FeatureFile {
    pub(super) fn of(path: PathBuf, chosen: Chosen, fields: &[Field]) -> FeatureFile {
        FeatureFile {
            path,
            chosen,
            rows: fields.first().map_or(0, |f| f.array.rows()),
            fields: fields
                .iter()
                .map(|f| FieldShape {
                    name: f.name.clone(),
                    shape: f.array.shape.iter().skip(1).copied().collect(),
                    too_large: first_too_large(&f.array),
                    unscaled: unscaled(&f.array),
                })
                .collect(),
        }
    }

    /// How many numbers an individual has in all fields together.
    pub fn width(&self) -> usize {
        self.fields.iter().map(FieldShape::width).sum()
    }

    /// The file itself and its columns that are features, each with its place and with how many numbers it becomes; `None` if the
    /// file has no columns with names.
    pub fn table(&self) -> Option<(CsvFile, Vec<TableColumn>)> {
        let file = self.chosen.csv(&self.path).ok()?;
        let place = |name: &str| file.column_index(name).ok();
        let columns = match &self.chosen.prepared {
            Some(prepared) => (prepared.widths())
                .map(|(name, width)| Some((name.to_string(), place(name)?, width)))
                .collect::<Option<Vec<_>>>()?,
            None => (self.chosen.places(&file).ok()?.into_iter())
                .map(|at| (file.columns()[at].clone(), at, 1))
                .collect(),
        };
        let whole: usize = columns.iter().map(|(.., width)| width).sum();
        (whole == self.width()).then_some((file, columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(shape: &[usize], values: Values) -> Field {
        Field {
            name: Some("f".into()),
            array: Array {
                shape: shape.to_vec(),
                values,
            },
        }
    }

    #[test]
    fn fields_stand_side_by_side() {
        let fields = [
            field(&[2, 1, 2], Values::U8(vec![0, 255, 51, 0].into())),
            field(&[2], Values::F64(vec![-1.0, 7.5].into())),
        ];
        let features = Features::of(&fields);
        assert_eq!((features.width, features.rows()), (3, 2));
        assert_eq!(features.values, [0.0, 1.0, -1.0, 0.2, 0.0, 7.5]);
        let file = FeatureFile::of(PathBuf::from("x.npz"), Chosen::default(), &fields);
        assert_eq!((file.width(), file.rows), (3, 2));
        assert_eq!(file.fields[0].shape, [1, 2]);
    }

    #[test]
    fn truth_values_are_not_scaled() {
        let features = Features::of(&[field(&[2, 2], Values::U8(vec![0, 1, 1, 0].into()))]);
        assert_eq!(features.values, [0.0, 1.0, 1.0, 0.0]);
    }
}
