//! Blocks of bindings. A level's block holds, for some bindings of its quantifier under the bindings of
//! its parent's block, the places of every literal inside; a cursor fills it chunk by chunk.

use std::ops::{Add, AddAssign};

use super::active::Active;
use crate::operators::Segment;
use crate::plan::Plan;
use crate::plan::physical::{Level, Physical, Place};
use crate::plan::program::ResolveTable;

/// One level's bindings.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub len: usize,
    pub segments: Vec<Segment>,
    /// Tells this filling of the block from others.
    pub stamp: u64,
    arrays: Vec<Vec<u32>>,
    wide: Vec<Vec<u64>>,
}

impl Block {
    pub fn array(&self, index: usize) -> &[u32] {
        &self.arrays[index][..self.len]
    }

    pub fn wide_array(&self, index: usize) -> &[u64] {
        &self.wide[index][..self.len]
    }
}

/// Where a quantifier is in its product of components.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    parent: usize,
    parents: usize,
    started: bool,
    ranges: Vec<(u32, u32)>,
    at: Vec<u32>,
    /// How many bindings to go at most.
    left: u64,
}

impl Cursor {
    /// All bindings under all bindings of the parent block.
    pub fn reset(&mut self, parents: usize) {
        self.parent = 0;
        self.parents = parents;
        self.started = false;
        self.left = u64::MAX;
    }

    /// The bindings from the `start`-th up to the `end`-th of a quantifier outside of all others.
    pub fn reset_to_range(&mut self, level: &Level, active: &Active, start: u64, end: u64) {
        self.reset(1);
        self.left = end - start;
        self.ranges.clear();
        self.at.clear();
        for component in &level.components {
            let offsets = &active.components[component.component].offsets;
            self.ranges.push((offsets[0], offsets[1]));
            self.at.push(offsets[0]);
        }
        let mut rest = start;
        for (at, range) in self.at.iter_mut().zip(&self.ranges).rev() {
            let size = u64::from(range.1 - range.0).max(1);
            *at = range.0 + (rest % size) as u32;
            rest /= size;
        }
        self.started = true;
    }
}

/// The blocks of all levels of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    cursors: Vec<Cursor>,
    stamps: u64,
}

impl Blocks {
    /// Makes room for a program. Rooms only grow, so that going through the same programs again asks for
    /// no memory.
    pub fn make_room(&mut self, exec: &Physical) {
        if self.blocks.len() < exec.levels.len() {
            self.blocks.resize_with(exec.levels.len(), Block::default);
            self.cursors.resize_with(exec.levels.len(), Cursor::default);
        }
        for (level, block) in exec.levels.iter().zip(&mut self.blocks) {
            grow(&mut block.arrays, level.adds.len(), level.capacity);
            grow(&mut block.wide, level.wide_adds.len(), level.capacity);
        }
        let root = &mut self.blocks[0];
        root.len = 1;
        self.stamps += 1;
        root.stamp = self.stamps;
    }

    pub fn for_collecting(exec: &Physical) -> Blocks {
        let mut blocks = Blocks::default();
        blocks.make_room(exec);
        blocks
    }

    pub fn block(&self, level: usize) -> &Block {
        &self.blocks[level]
    }

    pub fn take_cursor(&mut self, level: usize) -> Cursor {
        std::mem::take(&mut self.cursors[level])
    }

    pub fn put_cursor(&mut self, level: usize, cursor: Cursor) {
        self.cursors[level] = cursor;
    }

    /// Fills the block of `level` with the next bindings; false if there are none.
    pub fn fill(
        &mut self,
        active: &Active,
        plan: &Plan,
        program: usize,
        exec: &Physical,
        level: usize,
        cursor: &mut Cursor,
    ) -> bool {
        let exec_level = &exec.levels[level];
        let bases = &active.bases[program];
        // Nothing left? Then the block stays as it is: the backward pass may still want it.
        let parent = &self.blocks[exec_level.parent];
        if !advance(cursor, exec_level, active, parent, bases) {
            return false;
        }
        let mut block = std::mem::take(&mut self.blocks[level]);
        let parent = &self.blocks[exec_level.parent];
        let wide_bases = &plan.programs[program].wide_slots;
        block.len = 0;
        block.segments.clear();
        self.stamps += 1;
        block.stamp = self.stamps;
        while advance(cursor, exec_level, active, parent, bases) {
            let left = usize::try_from(cursor.left).unwrap_or(usize::MAX);
            let room = (exec_level.capacity - block.len).min(left);
            if room == 0 {
                break;
            }
            let last = exec_level.components.len() - 1;
            let take = ((cursor.ranges[last].1 - cursor.at[last]) as usize).min(room);
            write_run(
                &mut block, exec_level, active, parent, bases, wide_bases, cursor, take,
            );
            cursor.left -= take as u64;
            match block.segments.last_mut() {
                Some(s) if s.parent == cursor.parent => s.end += take,
                _ => block.segments.push(Segment {
                    parent: cursor.parent,
                    start: block.len,
                    end: block.len + take,
                }),
            }
            block.len += take;
            cursor.at[last] += take as u32;
            if !carry(cursor) {
                cursor.parent += 1;
                cursor.started = false;
            }
        }
        resolve(&mut block, exec_level, active, plan, program);
        self.blocks[level] = block;
        true
    }

    /// Visits every filling of a level's block, going through the levels around it.
    pub fn visit(
        &mut self,
        active: &Active,
        plan: &Plan,
        program: usize,
        exec: &Physical,
        level: usize,
        visit: &mut dyn FnMut(&Block),
    ) {
        let mut path = vec![level];
        while exec.levels[path[path.len() - 1]].parent != 0 {
            path.push(exec.levels[path[path.len() - 1]].parent);
        }
        path.reverse();
        self.visit_path(active, plan, program, exec, &path, visit);
    }

    fn visit_path(
        &mut self,
        active: &Active,
        plan: &Plan,
        program: usize,
        exec: &Physical,
        path: &[usize],
        visit: &mut dyn FnMut(&Block),
    ) {
        let Some((&level, inner)) = path.split_first() else {
            return;
        };
        let mut cursor = self.take_cursor(level);
        cursor.reset(self.blocks[exec.levels[level].parent].len);
        while self.fill(active, plan, program, exec, level, &mut cursor) {
            if inner.is_empty() {
                visit(&self.blocks[level]);
            } else {
                self.visit_path(active, plan, program, exec, inner, visit);
            }
        }
        self.put_cursor(level, cursor);
    }
}

fn grow<V: Clone + Default>(arrays: &mut Vec<Vec<V>>, count: usize, capacity: usize) {
    if arrays.len() < count {
        arrays.resize_with(count, Vec::new);
    }
    for array in &mut arrays[..count] {
        if array.len() < capacity {
            array.resize(capacity, V::default());
        }
    }
}

fn value(place: Place, block: &Block, bases: &[u32], at: usize) -> u32 {
    match place {
        Place::Base(slot) => bases[slot],
        Place::Array(index) => block.arrays[index][at],
    }
}

/// Goes on to the next parent that has bindings; false if there is none.
fn advance(
    cursor: &mut Cursor,
    level: &Level,
    active: &Active,
    parent: &Block,
    bases: &[u32],
) -> bool {
    if cursor.left == 0 {
        return false;
    }
    while cursor.parent < cursor.parents {
        if cursor.started || start(cursor, level, active, parent, bases) {
            return true;
        }
        cursor.parent += 1;
    }
    false
}

/// Sets the ranges of a parent's bindings; false if it has none.
fn start(
    cursor: &mut Cursor,
    level: &Level,
    active: &Active,
    parent: &Block,
    bases: &[u32],
) -> bool {
    cursor.ranges.clear();
    cursor.at.clear();
    for component in &level.components {
        let offsets = &active.components[component.component].offsets;
        let key = component
            .key
            .map_or(0, |k| value(k, parent, bases, cursor.parent)) as usize;
        let (from, to) = (offsets[key], offsets[key + 1]);
        if from == to {
            return false;
        }
        cursor.ranges.push((from, to));
        cursor.at.push(from);
    }
    cursor.started = true;
    true
}

/// After a run of the last component: the next combination of the others; false if there is none.
fn carry(cursor: &mut Cursor) -> bool {
    let mut i = cursor.at.len() - 1;
    while cursor.at[i] >= cursor.ranges[i].1 {
        if i == 0 {
            return false;
        }
        cursor.at[i] = cursor.ranges[i].0;
        i -= 1;
        cursor.at[i] += 1;
    }
    true
}

/// Writes the places of the next `take` bindings, which differ in the last component only.
#[allow(clippy::too_many_arguments)] // the parts of two blocks, borrowed separately
fn write_run(
    block: &mut Block,
    level: &Level,
    active: &Active,
    parent: &Block,
    bases: &[u32],
    wide_bases: &[u64],
    cursor: &Cursor,
    take: usize,
) {
    let last = level.components.len() - 1;
    let from = cursor.at[last] as usize;
    let at = &cursor.at[..last];
    for (add, array) in level.adds.iter().zip(&mut block.arrays) {
        let base = value(add.from, parent, bases, cursor.parent);
        let out = &mut array[block.len..block.len + take];
        write_sums(&add.maps, &active.maps, base, at, from, out);
    }
    for (add, array) in level.wide_adds.iter().zip(&mut block.wide) {
        let base = match add.from {
            Place::Base(slot) => wide_bases[slot],
            Place::Array(index) => parent.wide[index][cursor.parent],
        };
        let out = &mut array[block.len..block.len + take];
        write_sums(&add.maps, &active.wide, base, at, from, out);
    }
}

/// `base` and what each component adds: the outer ones the same to all of `out`, the last one a run of
/// its maps.
fn write_sums<V: Copy + AddAssign + Add<Output = V>>(
    by_component: &[Vec<usize>],
    maps: &[Vec<V>],
    mut base: V,
    at: &[u32],
    from: usize,
    out: &mut [V],
) {
    for (own, &at) in by_component.iter().zip(at) {
        own.iter().for_each(|&map| base += maps[map][at as usize]);
    }
    let run = |map: usize| &maps[map][from..from + out.len()];
    match by_component[at.len()].as_slice() {
        [] => out.fill(base),
        [map] => {
            let values = run(*map);
            for (out, &value) in out.iter_mut().zip(values) {
                *out = base + value;
            }
        }
        several => {
            out.fill(base);
            for &map in several {
                let values = &maps[map][from..from + out.len()];
                for (out, &value) in out.iter_mut().zip(values) {
                    *out += value;
                }
            }
        }
    }
}

/// Look-ups whose parts are all there now.
fn resolve(block: &mut Block, level: &Level, active: &Active, plan: &Plan, program: usize) {
    for resolve in &level.resolves {
        let codes = &block.wide[resolve.wide][..block.len];
        let places = &mut block.arrays[resolve.array][..block.len];
        match resolve.table {
            ResolveTable::Request(request) => {
                let width = plan.requests[request].width as u32;
                let numbering = &active.numbering[request];
                for (place, code) in places.iter_mut().zip(codes) {
                    *place += numbering.number(*code) * width;
                }
            }
            ResolveTable::Applied { functions, request } => {
                let functions = &plan.programs[program].applied[functions];
                for (place, code) in places.iter_mut().zip(codes) {
                    let code = functions.code(*code);
                    *place += match request {
                        Some(r) => active.numbering[r].number(code) * plan.requests[r].width as u32,
                        None => code as u32,
                    };
                }
            }
            ResolveTable::Key(table) => {
                let table = &plan.programs[program].key_tables[table];
                for (place, code) in places.iter_mut().zip(codes) {
                    *place += table.get(code).copied().unwrap_or(0);
                }
            }
        }
    }
}
