//! The current batch: the tuples of each component that take part, the numbering of the requests'
//! rows, and what each map adds.
//!
//! Everything is kept in buffers that are refilled for each batch, so that nothing is allocated
//! after the first one.

use super::blocks::Blocks;
use crate::plan::Plan;
use crate::plan::physical::{LevelComponent, Physical};
use crate::plan::program::*;
use crate::theory::TableId;
use crate::vector::{Task, run_task};

/// The numbering of a request's rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbering {
    /// Sorted, each once; empty if the request is complete, where a row's number is its code.
    pub codes: Vec<u64>,
    complete: bool,
    /// Number by code, if there are not too many codes; only the entries of the current rows are
    /// valid.
    by_code: Vec<u32>,
    /// For a stratum, whose tuples have their own order: the number by the place among the codes.
    by_place: Vec<u32>,
    /// Finds the place among the codes of a stratum without a search.
    bits: Bits,
}

/// A set of codes as bits, with the number of codes before each word. Words come in pages, and pages without codes are left out.
#[derive(Clone, Debug, Default)]
struct Bits {
    /// By page: where its words begin.
    pages: Vec<u32>,
    words: Vec<u64>,
    before: Vec<u32>,
}

/// Words of a page.
const PAGE: u64 = 64;

impl Bits {
    /// `None` if that would take more memory than a search is worth.
    fn new(sorted: &[u64], grid: u64) -> Option<Bits> {
        let most = MAX_TABLE.max(sorted.len() as u64);
        let page = |code: &u64| code / (64 * PAGE);
        let used = sorted.chunk_by(|a, b| page(a) == page(b));
        if grid.div_ceil(64 * PAGE) > most || used.clone().count() as u64 * PAGE > 2 * most {
            return None;
        }
        let mut pages = vec![0; grid.div_ceil(64 * PAGE) as usize];
        let mut words = Vec::new();
        for codes in used {
            let start = words.len();
            pages[page(&codes[0]) as usize] = start as u32;
            words.resize(start + PAGE as usize, 0_u64);
            for code in codes {
                words[start + (code / 64 % PAGE) as usize] |= 1 << (code % 64);
            }
        }
        let mut count = 0;
        let before = |word: &u64| {
            let before = count;
            count += word.count_ones();
            before
        };
        let before = words.iter().map(before).collect();
        Some(Bits {
            pages,
            words,
            before,
        })
    }

    /// How many codes are smaller than one of the codes.
    #[inline(always)]
    fn place(&self, code: u64) -> Option<usize> {
        let page = *self.pages.get((code / (64 * PAGE)) as usize)? as usize;
        let word = page + (code / 64 % PAGE) as usize;
        let smaller = self.words.get(word)? & ((1 << (code % 64)) - 1);
        Some((self.before.get(word)? + smaller.count_ones()) as usize)
    }
}

/// Adds to each place the number of a code's row, times the width of a row.
struct AddNumbers<'a> {
    numbering: &'a Numbering,
    codes: &'a [u64],
    width: u32,
    places: &'a mut [u32],
}

impl Task for AddNumbers<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (place, code) in self.places.iter_mut().zip(self.codes) {
            *place += self.numbering.number_here(*code) * self.width;
        }
    }
}

/// Above this many possible rows a number is found by search instead of by table.
const MAX_TABLE: u64 = 1 << 20;

impl Numbering {
    pub fn number(&self, code: u64) -> u32 {
        self.number_here(code)
    }

    /// Adds to each place the number of its code's row, times the width of a row.
    pub fn add_numbers(&self, codes: &[u64], width: u32, places: &mut [u32]) {
        run_task(AddNumbers {
            numbering: self,
            codes,
            width,
            places,
        });
    }

    #[inline(always)]
    fn number_here(&self, code: u64) -> u32 {
        if self.complete {
            return code as u32;
        }
        match self.by_code.get(code as usize) {
            Some(number) => *number,
            None => {
                let place = self.bits.place(code);
                let place = place.unwrap_or_else(|| self.codes.partition_point(|c| *c < code));
                match self.by_place.is_empty() {
                    true => place as u32,
                    false => self.by_place.get(place).copied().unwrap_or(0),
                }
            }
        }
    }

    /// The numbering of a stratum's tuples, in this order.
    fn of_stratum(codes: &[u64], grid: u64) -> Numbering {
        if grid <= MAX_TABLE {
            let mut by_code = vec![0; grid as usize];
            for (number, code) in codes.iter().enumerate() {
                by_code[*code as usize] = number as u32;
            }
            return Numbering {
                by_code,
                ..Numbering::default()
            };
        }
        let mut by_place: Vec<u32> = (0..codes.len() as u32).collect();
        by_place.sort_unstable_by_key(|number| codes[*number as usize]);
        let codes: Vec<u64> = by_place.iter().map(|n| codes[*n as usize]).collect();
        Numbering {
            bits: Bits::new(&codes, grid).unwrap_or_default(),
            codes,
            by_place,
            ..Numbering::default()
        }
    }

    /// The code of a row.
    pub fn code(&self, row: usize) -> u64 {
        if self.complete {
            return row as u64;
        }
        self.codes.get(row).copied().unwrap_or(0)
    }

    pub fn rows(&self, request: &RequestPlan) -> usize {
        if self.complete {
            request.grid() as usize
        } else {
            self.codes.len()
        }
    }

    fn finish(&mut self) {
        self.codes.sort_unstable();
        self.codes.dedup();
        if !self.by_code.is_empty() {
            for (number, code) in self.codes.iter().enumerate() {
                self.by_code[*code as usize] = number as u32;
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveComponent {
    pub offsets: Vec<u32>,
    /// The tuples that take part, by place in the component's list; all of them if not batched.
    pub chosen: Vec<u32>,
    /// The places of a batched table's rows in the list, if the list leaves some out; from the first batch
    /// on.
    by_row: Option<ByRow>,
    /// Where runs of tuples begin in which maps step evenly, except for the starts of lists.
    runs: Vec<u32>,
}

impl ActiveComponent {
    /// Where the run of a tuple ends, unless its list ends before.
    pub fn run_end(&self, tuple: u32) -> u32 {
        let next = self.runs.partition_point(|start| *start <= tuple);
        self.runs.get(next).copied().unwrap_or(u32::MAX)
    }
}

/// By row of a table, its places in a list of rows.
#[derive(Clone, Debug)]
struct ByRow {
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl ByRow {
    fn new(list: &[u32], rows: usize) -> ByRow {
        let mut starts = vec![0; rows + 1];
        list.iter().for_each(|&row| starts[row as usize + 1] += 1);
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut places = vec![0; list.len()];
        let mut next = starts.clone();
        for (place, &row) in list.iter().enumerate() {
            places[next[row as usize] as usize] = place as u32;
            next[row as usize] += 1;
        }
        ByRow { starts, places }
    }

    fn places(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.places[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Active {
    pub components: Vec<ActiveComponent>,
    /// What each map adds per tuple that takes part. A wide map has its values in `wide`.
    pub maps: Vec<Vec<u32>>,
    pub wide: Vec<Vec<u64>>,
    /// By map: the difference from each tuple to the next of its run, if it is always the same.
    pub strides: Vec<Option<u32>>,
    pub numbering: Vec<Numbering>,
    /// The constant part of each program's slots.
    pub bases: Vec<Vec<u32>>,
}

impl Active {
    /// Everything takes part.
    pub fn new(plan: &Plan) -> Active {
        let mut active = Active::default();
        active.renew(plan, (0, 0, 0));
        active
    }

    /// Everything takes part again, after a new plan whose first few components, maps and requests are
    /// unchanged.
    pub fn renew(&mut self, plan: &Plan, (components, maps, requests): (usize, usize, usize)) {
        self.components.truncate(components);
        for (i, component) in plan.components.iter().enumerate() {
            let batched = component.batched.is_some();
            if i < components && !batched {
                continue;
            }
            if i == self.components.len() {
                self.components.push(ActiveComponent::default());
            }
            let active = &mut self.components[i];
            active.offsets.clone_from(&component.offsets);
            active.chosen.clear();
            if batched {
                active.chosen.extend(0..component.len() as u32);
            }
        }
        self.maps.truncate(maps);
        self.maps.resize(plan.maps.len(), Vec::new());
        self.wide.truncate(maps);
        self.wide.resize(plan.maps.len(), Vec::new());
        self.strides.truncate(maps);
        self.strides.resize(plan.maps.len(), None);
        self.numbering.truncate(requests);
        for request in &plan.requests[self.numbering.len()..] {
            self.numbering.push(Numbering {
                complete: request.complete,
                by_code: match request.grid() {
                    grid if !request.complete && grid <= MAX_TABLE => vec![0; grid as usize],
                    _ => Vec::new(),
                },
                ..Numbering::default()
            });
        }
        let strata = plan.strata.strata.iter().zip(&plan.requests);
        for ((stratum, request), numbering) in strata.zip(&mut self.numbering) {
            *numbering = Numbering::of_stratum(&stratum.codes, request.grid());
        }
        let slots = |p: Option<&Physical>| vec![0; p.map_or(0, |p| p.slots.len())];
        self.bases = plan.all_programs().map(slots).collect();
        self.number(plan, maps, requests);
        let mut by_component = vec![Vec::new(); plan.components.len()];
        for (map, of) in plan.maps.iter().enumerate() {
            by_component[of.component].push(map);
        }
        for (component, own) in by_component.into_iter().enumerate().skip(components) {
            self.find_runs(plan, component, own);
        }
    }

    /// Cuts the lists of a guard into runs in which most maps step evenly, if these are long: `x != y` leaves two of them for
    /// each x.
    fn find_runs(&mut self, plan: &Plan, component: usize, mut own: Vec<usize>) {
        let list = &plan.components[component];
        let active = &mut self.components[component];
        active.runs.clear();
        if list.batched.is_some() || !matches!(list.source, ComponentSource::Guarded { .. }) {
            return;
        }
        let fixed = |values: &MapValues| match values {
            MapValues::Plain(_) => true,
            MapValues::Rows { request, .. } => !plan.requests[*request].dynamic,
            MapValues::Wide(_) => false,
        };
        own.retain(|map| self.strides[*map].is_none() && fixed(&plan.maps[*map].values));
        let most = list.len() / LEAST_RUN;
        let (mut runs, mut found) = (Vec::new(), Vec::new());
        for map in own {
            let values = &self.maps[map];
            let Some(step) = commonest_step(values) else {
                continue;
            };
            let uneven = |(_, w): &(usize, &[u32])| w[1].wrapping_sub(w[0]) != step;
            let breaks = values.windows(2).enumerate().filter(uneven);
            let starts: Vec<u32> = breaks.map(|(at, _)| at as u32 + 1).take(most + 1).collect();
            if starts.len() <= most {
                runs.extend(starts);
                found.push((map, step));
            }
        }
        runs.sort_unstable();
        runs.dedup();
        if runs.len() <= most {
            self.components[component].runs = runs;
            found
                .into_iter()
                .for_each(|(map, step)| self.strides[map] = Some(step));
        }
    }

    /// Restricts a batched table to some rows. The cost grows with these rows and with the number of keys of keyed
    /// lists, not with the table. [`Active::number`] must be called afterwards.
    pub fn restrict(&mut self, plan: &Plan, table: TableId, rows: &[u32]) {
        let size = plan.data.table(table).map_or(0, |t| t.rows);
        for (component, active) in plan.components.iter().zip(&mut self.components) {
            if component.batched != Some(table) {
                continue;
            }
            active.chosen.clear();
            if let ComponentSource::Rows(_) = component.source {
                active.chosen.extend_from_slice(rows);
                active.offsets[1] = rows.len() as u32;
                continue;
            }
            let by_row = (active.by_row).get_or_insert_with(|| ByRow::new(&component.tuples, size));
            for &row in rows {
                active.chosen.extend_from_slice(by_row.places(row));
            }
            // In the order of the list, which is that of the keys.
            active.chosen.sort_unstable();
            let mut chosen = 0;
            for key in 0..component.keys() {
                let end = component.offsets[key + 1];
                while active.chosen.get(chosen).is_some_and(|&p| p < end) {
                    chosen += 1;
                }
                active.offsets[key + 1] = chosen as u32;
            }
        }
    }

    /// Whether a program has no binding about which it asks a predicate in the current batch, although it has some with
    /// all rows.
    pub fn leaves_nothing(&self, plan: &Plan, program: usize) -> bool {
        let empty = |c: &LevelComponent| {
            let list = &plan.components[c.component];
            let chosen = &self.components[c.component].chosen;
            list.batched.is_some() && list.len() > 0 && chosen.is_empty()
        };
        let exec = &plan.programs[program];
        // All levels but the outermost are inside another one.
        let reached = |mut level: usize| {
            while level > 0 {
                if exec.levels[level].components.iter().any(empty) {
                    return false;
                }
                level = exec.levels[level].parent;
            }
            true
        };
        let mut literals = (exec.nodes.iter())
            .filter(|node| matches!(node.kind, NodeKind::Literal { .. } | NodeKind::Use { .. }))
            .peekable();
        literals.peek().is_some() && !literals.any(|node| reached(node.level))
    }

    /// Whether a program has no binding about which it asks a predicate. Where lists depend on outer bindings, these
    /// are visited.
    pub fn is_about_nothing(&self, plan: &Plan, program: usize) -> bool {
        let exec = &plan.programs[program];
        let around = |mut level: usize| {
            std::iter::from_fn(move || {
                let here = (level > 0).then(|| &exec.levels[level])?;
                level = here.parent;
                Some(here)
            })
            .flat_map(|level| &level.components)
        };
        let is_empty = |c: &LevelComponent| {
            (self.components[c.component].offsets.last()).is_none_or(|end| *end == 0)
        };
        let reached = |level: usize| {
            if around(level).any(is_empty) {
                return false;
            }
            if around(level).all(|c| c.key.is_none()) {
                return true;
            }
            let mut reached = false;
            let mut blocks = Blocks::for_collecting(exec);
            blocks.visit(self, plan, program, exec, level, None, &mut |block| {
                reached |= block.len > 0;
            });
            reached
        };
        let nodes = (exec.nodes.iter())
            .filter(|node| matches!(node.kind, NodeKind::Literal { .. } | NodeKind::Use { .. }));
        let mut levels: Vec<usize> = nodes.map(|node| node.level).collect();
        levels.sort_unstable();
        levels.dedup();
        !levels.is_empty() && !levels.into_iter().any(reached)
    }

    /// Numbers the rows of the requests and fills in the maps. The first few maps and requests exist already, and
    /// change with the batch only.
    pub fn number(&mut self, plan: &Plan, maps: usize, requests: usize) {
        let concerned = |request: usize| {
            let is_stratum = request < plan.strata.strata.len();
            let plan = &plan.requests[request];
            (plan.dynamic || request >= requests) && !plan.complete && !is_stratum
        };
        for (map, plan_map) in plan.maps.iter().enumerate() {
            let component = &plan.components[plan_map.component];
            if map < maps && component.batched.is_none() {
                continue;
            }
            let chosen = (component.batched.is_some())
                .then_some(self.components[plan_map.component].chosen.as_slice());
            match &plan_map.values {
                MapValues::Plain(values) => {
                    choose(&mut self.maps[map], values, chosen);
                    self.strides[map] = stride(&self.maps[map]);
                }
                MapValues::Wide(values) => choose(&mut self.wide[map], values, chosen),
                MapValues::Rows { codes, .. } => {
                    let length = chosen.map_or(codes.len(), <[u32]>::len);
                    self.maps[map].resize(length, 0);
                }
            }
        }
        for request in (0..plan.requests.len()).filter(|r| concerned(*r)) {
            let codes = &mut self.numbering[request].codes;
            codes.clear();
            codes.extend_from_slice(&plan.requests[request].constant_codes);
        }
        for map in &plan.maps {
            let MapValues::Rows { request, codes } = &map.values else {
                continue;
            };
            if !concerned(*request) {
                continue;
            }
            let found = &mut self.numbering[*request].codes;
            match plan.components[map.component].batched {
                Some(_) => {
                    let chosen = &self.components[map.component].chosen;
                    found.extend(chosen.iter().map(|&t| codes[t as usize]));
                }
                None => found.extend_from_slice(codes),
            }
        }
        self.collect_looked_up_codes(plan, &concerned);
        for request in (0..plan.requests.len()).filter(|r| concerned(*r)) {
            self.numbering[request].finish();
        }
        self.fill_row_maps(plan, maps);
    }

    /// The codes of literals whose row several components determine: the codes that their blocks
    /// will look up.
    fn collect_looked_up_codes(&mut self, plan: &Plan, concerned: &dyn Fn(usize) -> bool) {
        for (program, exec) in plan.all_programs().enumerate() {
            let Some(exec) = exec else { continue };
            // Those for small clauses look up the same.
            let levels = exec.levels[..exec.quantifier_levels].iter();
            for (level, exec_level) in levels.enumerate() {
                for resolve in &exec_level.resolves {
                    let Some(request) = resolve.table.request() else {
                        continue;
                    };
                    let applied = match resolve.table {
                        ResolveTable::Applied { functions, .. } => Some(&exec.applied[functions]),
                        _ => None,
                    };
                    if !concerned(request) {
                        continue;
                    }
                    let mut blocks = Blocks::for_collecting(exec);
                    let mut found = std::mem::take(&mut self.numbering[request].codes);
                    let mut longest = 1 << 20;
                    blocks.visit(self, plan, program, exec, level, None, &mut |block| {
                        let codes = block.wide_array(resolve.wide);
                        match applied {
                            Some(functions) => {
                                found.extend(codes.iter().map(|c| functions.code(*c)))
                            }
                            None => found.extend_from_slice(codes),
                        }
                        // If many bindings ask for the same few rows, the list must not grow with the bindings; if
                        // they ask for many rows, sorting after every block would take quadratic time.
                        if found.len() > longest {
                            found.sort_unstable();
                            found.dedup();
                            longest = longest.max(2 * found.len());
                        }
                    });
                    self.numbering[request].codes = found;
                }
            }
        }
    }

    fn fill_row_maps(&mut self, plan: &Plan, maps: usize) {
        for (map, plan_map) in plan.maps.iter().enumerate() {
            let MapValues::Rows { request, codes } = &plan_map.values else {
                continue;
            };
            let (request, numbering) = (&plan.requests[*request], &self.numbering[*request]);
            let component = &plan.components[plan_map.component];
            if map < maps && !request.dynamic && component.batched.is_none() {
                continue;
            }
            let width = request.width as u32;
            let values = &mut self.maps[map];
            values.clear();
            match component.batched {
                Some(_) => {
                    let chosen = self.components[plan_map.component].chosen.iter();
                    values.extend(chosen.map(|&t| numbering.number(codes[t as usize]) * width));
                }
                None => values.extend(codes.iter().map(|c| numbering.number(*c) * width)),
            }
            self.strides[map] = stride(values);
        }
        for (program, bases) in plan.all_programs().zip(&mut self.bases) {
            let slots = program.map_or(&[][..], |program| &program.slots);
            for (slot, base) in slots.iter().zip(bases) {
                *base = slot.plain;
                if let Some((request, code)) = slot.row {
                    let width = plan.requests[request].width as u32;
                    *base += self.numbering[request].number(code) * width;
                }
            }
        }
    }
}

/// Shorter runs are not worth looking up.
const LEAST_RUN: usize = 24;

/// The difference from one value to the next that more than half of them have, if there is one.
fn commonest_step(values: &[u32]) -> Option<u32> {
    let steps = values.windows(2).map(|w| w[1].checked_sub(w[0]));
    let (mut commonest, mut votes) = (None, 0_usize);
    for step in steps {
        match votes {
            0 => (commonest, votes) = (step, 1),
            _ if step == commonest => votes += 1,
            _ => votes -= 1,
        }
    }
    commonest
}

/// The difference from each value to the next, if they are evenly spaced and ascending.
fn stride(values: &[u32]) -> Option<u32> {
    let stride = match values {
        [first, second, ..] => second.checked_sub(*first)?,
        _ => 0,
    };
    let even = values.windows(2).all(|w| w[1].wrapping_sub(w[0]) == stride);
    even.then_some(stride)
}

fn choose<V: Copy>(into: &mut Vec<V>, values: &[V], chosen: Option<&[u32]>) {
    into.clear();
    match chosen {
        Some(chosen) => into.extend(chosen.iter().map(|&t| values[t as usize])),
        None => into.extend_from_slice(values),
    }
}

#[cfg(test)]
mod tests {
    use super::Numbering;
    use crate::circuit::Random;

    /// Tuples close together and far apart, in any order, in grids that are numbered by a table, by bits and by search.
    #[test]
    fn strata_number_their_tuples() {
        let mut random = Random::new(7);
        let mut below = |n: u64| (random.unit() * n as f64) as u64;
        for grid in [1, 64, 4096, 1 << 20, (1 << 20) + 1, 100_000_000, 1 << 45] {
            for spread in [1, 3, 64, 5000, 1 << 30] {
                let mut code = below(grid);
                let mut codes = Vec::new();
                while code < grid && codes.len() < 20_000 {
                    codes.push(code);
                    code += 1 + below(spread);
                }
                let turn = below(codes.len() as u64) as usize;
                codes.rotate_left(turn);
                let numbering = Numbering::of_stratum(&codes, grid);
                let mut places = vec![1; codes.len()];
                numbering.add_numbers(&codes, 3, &mut places);
                for (number, (code, place)) in codes.iter().zip(places).enumerate() {
                    assert_eq!(numbering.number(*code), number as u32, "{code} of {grid}");
                    assert_eq!(place, 1 + 3 * number as u32);
                }
            }
        }
    }
}
