//! Quantifiers that bind rows of tables and individuals of sorts together: their product as a table, whose rows are
//! made on demand.

use std::sync::Arc;

use crate::data::{ColumnData, Data, TableData};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::memory;
use crate::theory::{Product, ProductPart};

/// The most rows that a product may have.
const MOST_ROWS: usize = 1 << 27;

impl Data {
    /// The rows of the theory's products.
    pub(crate) fn products(&self) -> &[TableData] {
        self.product_rows.get_or_init(|| {
            let theory = self.theory();
            theory
                .products
                .iter()
                .map(|p| self.rows_of(p))
                .collect::<Arc<[TableData]>>()
        })
    }

    fn part_size(&self, part: &ProductPart) -> usize {
        match part {
            ProductPart::Rows(table) => self.table(*table).map_or(0, |t| t.rows),
            ProductPart::Sort(sort) => self.size(*sort),
        }
    }

    /// How many rows a product has, if they can be listed.
    fn product_size(&self, product: &Product) -> Option<usize> {
        let mut sizes = product.parts.iter().map(|part| self.part_size(part));
        let rows = sizes.try_fold(1, |rows: usize, n| rows.checked_mul(n));
        let bytes = |rows: usize| 16 * rows as u128 * product.table.columns.len() as u128;
        rows.filter(|rows| *rows <= MOST_ROWS && memory::ask(bytes(*rows)).is_ok())
    }

    fn rows_of(&self, product: &Product) -> TableData {
        // Products that are too large have been refused.
        let rows = self.product_size(product).unwrap_or(0);
        let mut columns = Vec::with_capacity(product.table.columns.len());
        let mut inner = rows;
        for part in &product.parts {
            let size = self.part_size(part);
            inner /= size.max(1);
            let chosen: Vec<u32> = (0..rows)
                .map(|row| (row / inner.max(1) % size.max(1)) as u32)
                .collect();
            match part {
                ProductPart::Sort(_) => columns.push(ColumnData::Individuals(chosen)),
                ProductPart::Rows(table) => {
                    let own = self.table(*table).map(|t| t.columns.iter());
                    columns.extend(own.into_iter().flatten().map(|column| column.some(&chosen)));
                }
            }
        }
        TableData {
            columns: columns.into(),
            rows,
            batched: false,
        }
    }

    /// The errors in the theory's products.
    pub(crate) fn check_products(&self, out: &mut Diagnostics) {
        let theory = self.theory();
        for product in &theory.products {
            let error = |code, message: String| {
                Diagnostic::error(code, message).at(&theory.source, product.table.span, "")
            };
            for part in &product.parts {
                if let ProductPart::Rows(table) = part
                    && self.table(*table).is_some_and(|t| t.batched)
                {
                    let message = format!(
                        "table `{}` has batches, but a quantifier binds its rows together with others",
                        theory[*table].name
                    );
                    let help = "nest the quantifiers, or let its rows come with each call";
                    out.push(error(Code::TableNotBatched, message).help(help));
                }
            }
            if self.product_size(product).is_none() {
                let sizes = product
                    .parts
                    .iter()
                    .map(|part| self.part_size(part).to_string());
                let sizes: Vec<String> = sizes.collect();
                let message = format!(
                    "a quantifier binds {} combinations at once, which are too many to list",
                    sizes.join(" × ")
                );
                let help = "nest the quantifiers, or give a table of those that are meant";
                out.push(error(Code::TooManyBindings, message).help(help));
            }
        }
    }
}
