//! What the current batch looks like: which tuples of each component take part, how the rows of the
//! requests are numbered, and what each map adds.
//!
//! Everything is kept in buffers that are filled anew for each batch, so that after the first one no
//! memory is asked for.

use super::lane::Blocks;
use crate::plan::Plan;
use crate::plan::program::*;
use crate::theory::TableId;

/// The numbering of a request's rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbering {
    /// Sorted, each once; empty if the request is complete, where a row's number is its code.
    pub codes: Vec<u64>,
    complete: bool,
    /// Number by code, where there are not too many codes; only the current rows' entries count.
    by_code: Vec<u32>,
}

/// Above this many possible rows a number is found by search instead of by table.
const MAX_TABLE: u64 = 1 << 20;

impl Numbering {
    pub fn number(&self, code: u64) -> u32 {
        if self.complete {
            return code as u32;
        }
        match self.by_code.get(code as usize) {
            Some(number) => *number,
            None => self.codes.partition_point(|c| *c < code) as u32,
        }
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
pub(super) struct ActiveComponent {
    pub offsets: Vec<u32>,
    /// The tuples that take part, by place in the component's list; all of them if not batched.
    pub chosen: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Active {
    pub components: Vec<ActiveComponent>,
    /// What each map adds per tuple that takes part. A wide map has its values in `wide`.
    pub maps: Vec<Vec<u32>>,
    pub wide: Vec<Vec<u64>>,
    pub numbering: Vec<Numbering>,
    /// The constant part of each program's slots.
    pub bases: Vec<Vec<u32>>,
    /// How often each row of a batched table is in the batch.
    times: Vec<u32>,
}

impl Active {
    /// Everything takes part.
    pub fn new(plan: &Plan) -> Active {
        let mut active = Active {
            components: (plan.components.iter())
                .map(|c| ActiveComponent {
                    offsets: c.offsets.clone(),
                    chosen: Vec::new(),
                })
                .collect(),
            maps: vec![Vec::new(); plan.maps.len()],
            wide: vec![Vec::new(); plan.maps.len()],
            numbering: (plan.requests.iter())
                .map(|r| Numbering {
                    codes: Vec::new(),
                    complete: r.complete,
                    by_code: match r.grid() {
                        grid if !r.complete && grid <= MAX_TABLE => vec![0; grid as usize],
                        _ => Vec::new(),
                    },
                })
                .collect(),
            bases: (plan.programs.iter())
                .map(|p| vec![0; p.slots.len()])
                .collect(),
            times: Vec::new(),
        };
        for (component, active) in plan.components.iter().zip(&mut active.components) {
            if component.batched.is_some() {
                active.chosen = (0..component.len() as u32).collect();
            }
        }
        active.number(plan, false);
        active
    }

    /// Restricts a batched table to some rows. [`Active::number`] must follow.
    pub fn restrict(&mut self, plan: &Plan, table: TableId, rows: &[u32]) {
        let size = plan.data.table(table).map_or(0, |t| t.rows);
        self.times.clear();
        self.times.resize(size, 0);
        rows.iter().for_each(|&r| self.times[r as usize] += 1);
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
            for key in 0..component.keys() {
                for place in component.offsets[key]..component.offsets[key + 1] {
                    let row = component.tuples[place as usize];
                    for _ in 0..self.times[row as usize] {
                        active.chosen.push(place);
                    }
                }
                active.offsets[key + 1] = active.chosen.len() as u32;
            }
        }
    }

    /// Numbers the rows of the requests and fills in the maps: all of them, or only what a batch changes.
    pub fn number(&mut self, plan: &Plan, only_dynamic: bool) {
        let concerned = |r: &RequestPlan| (r.dynamic || !only_dynamic) && !r.complete;
        for (map, plan_map) in plan.maps.iter().enumerate() {
            let component = &plan.components[plan_map.component];
            if only_dynamic && component.batched.is_none() {
                continue;
            }
            let chosen = (component.batched.is_some())
                .then_some(self.components[plan_map.component].chosen.as_slice());
            match &plan_map.values {
                MapValues::Plain(values) => choose(&mut self.maps[map], values, chosen),
                MapValues::Wide(values) => choose(&mut self.wide[map], values, chosen),
                MapValues::Rows { codes, .. } => {
                    let length = chosen.map_or(codes.len(), <[u32]>::len);
                    self.maps[map].resize(length, 0);
                }
            }
        }
        for (request, numbering) in plan.requests.iter().zip(&mut self.numbering) {
            if concerned(request) {
                numbering.codes.clear();
                numbering.codes.extend_from_slice(&request.constant_codes);
            }
        }
        for map in &plan.maps {
            let MapValues::Rows { request, codes } = &map.values else {
                continue;
            };
            if !concerned(&plan.requests[*request]) {
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
        for (request, numbering) in plan.requests.iter().zip(&mut self.numbering) {
            if concerned(request) {
                numbering.finish();
            }
        }
        self.fill_row_maps(plan, only_dynamic);
    }

    /// The codes of literals whose row several components determine: what their blocks will look up.
    fn collect_looked_up_codes(&mut self, plan: &Plan, concerned: &dyn Fn(&RequestPlan) -> bool) {
        for (program, exec) in plan.programs.iter().enumerate() {
            // Those for small clauses look up the same.
            let levels = exec.levels[..exec.quantifier_levels].iter();
            for (level, exec_level) in levels.enumerate() {
                for resolve in &exec_level.resolves {
                    let ResolveTable::Request(request) = resolve.table else {
                        continue;
                    };
                    if !concerned(&plan.requests[request]) {
                        continue;
                    }
                    let mut blocks = Blocks::for_collecting(exec);
                    let mut found = std::mem::take(&mut self.numbering[request].codes);
                    blocks.visit(self, plan, program, exec, level, &mut |block| {
                        found.extend_from_slice(block.wide_array(resolve.wide));
                        // Many bindings ask for the same few rows: do not let the list grow with them.
                        if found.len() > 1 << 20 {
                            found.sort_unstable();
                            found.dedup();
                        }
                    });
                    self.numbering[request].codes = found;
                }
            }
        }
    }

    fn fill_row_maps(&mut self, plan: &Plan, only_dynamic: bool) {
        for (map, plan_map) in plan.maps.iter().enumerate() {
            let MapValues::Rows { request, codes } = &plan_map.values else {
                continue;
            };
            let (request, numbering) = (&plan.requests[*request], &self.numbering[*request]);
            let component = &plan.components[plan_map.component];
            if only_dynamic && !request.dynamic && component.batched.is_none() {
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
        }
        for (program, bases) in plan.programs.iter().zip(&mut self.bases) {
            for (slot, base) in program.slots.iter().zip(bases) {
                *base = slot.plain;
                if let Some((request, code)) = slot.row {
                    let width = plan.requests[request].width as u32;
                    *base += self.numbering[request].number(code) * width;
                }
            }
        }
    }
}

fn choose<V: Copy>(into: &mut Vec<V>, values: &[V], chosen: Option<&[u32]>) {
    into.clear();
    match chosen {
        Some(chosen) => into.extend(chosen.iter().map(|&t| values[t as usize])),
        None => into.extend_from_slice(values),
    }
}
