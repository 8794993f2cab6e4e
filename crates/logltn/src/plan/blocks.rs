//! Blocks of bindings. A level's block holds, for some bindings of its quantifier under the bindings of
//! its parent's block, the places of every literal inside; a cursor fills it chunk by chunk.

use std::ops::{Add, AddAssign};

use super::active::Active;
use crate::operators::Segment;
use crate::plan::Plan;
use crate::plan::physical::{Level, Physical, SlotSource};
use crate::plan::program::ResolveTable;

/// One level's bindings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub len: usize,
    pub segments: Vec<Segment>,
    /// Identifies this filling of the block.
    pub stamp: u64,
    arrays: Vec<Vec<u32>>,
    wide: Vec<Vec<u64>>,
    /// Where each run of the last component's tuples ends.
    run_ends: Vec<u32>,
    /// By array, if its places are evenly spaced in each run: by how much, and where each run begins. Such an array is
    /// not written.
    strides: Vec<Option<u32>>,
    run_starts: Vec<Vec<u32>>,
}

/// The places of a block's bindings in a table.
pub(crate) enum BlockPlaces<'a> {
    Listed(&'a [u32]),
    /// Evenly spaced in each of some runs.
    Spaced(Spaced<'a>),
}

/// Runs of evenly spaced places.
#[derive(Clone, Copy)]
pub(crate) struct Spaced<'a> {
    pub stride: u32,
    /// By run: where it ends in the block, and its first place.
    pub ends: &'a [u32],
    pub starts: &'a [u32],
}

impl<'a> Spaced<'a> {
    /// All places.
    pub fn listed(self) -> impl Iterator<Item = u32> + 'a {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let runs = self.starts.iter().zip(begins).zip(self.ends);
        runs.flat_map(move |((start, from), to)| {
            (0..to - from).map(move |i| start + i * self.stride)
        })
    }
}

/// With fewer bindings than this in a run, writing its places down is as quick.
const LONG_RUN: usize = 16;

impl Block {
    /// Places that were written down: see [`Level::read_by_literals`].
    pub fn array(&self, index: usize) -> &[u32] {
        debug_assert!(self.strides[index].is_none(), "not written down");
        &self.arrays[index][..self.len]
    }

    /// Where a literal's numbers are.
    pub fn places(&self, index: usize) -> BlockPlaces<'_> {
        match self.strides[index] {
            None => BlockPlaces::Listed(self.array(index)),
            Some(stride) => BlockPlaces::Spaced(Spaced {
                stride,
                ends: &self.run_ends,
                starts: &self.run_starts[index],
            }),
        }
    }

    /// Forgets the bindings, and sets which arrays will be written down.
    fn start(&mut self, level: &Level, active: &Active, stamp: u64) {
        self.len = 0;
        self.stamp = stamp;
        self.segments.clear();
        self.run_ends.clear();
        self.run_starts
            .resize_with(level.adds.len().max(self.run_starts.len()), Vec::new);
        self.strides.clear();
        let last = level.components.len() - 1;
        let component = &active.components[level.components[last].component];
        let keys = (component.offsets.len() - 1).max(1);
        let tuples = component.offsets.last().map_or(0, |end| *end as usize);
        let long = tuples / keys >= LONG_RUN;
        for (i, add) in level.adds.iter().enumerate() {
            self.run_starts[i].clear();
            let own = &add.maps[last];
            let spaced = long && level.read_by_literals.get(i) == Some(&true);
            let mut strides = own.iter().map(|&map| active.strides[map]);
            let sum = strides.try_fold(0_u32, |sum, stride| sum.checked_add(stride?));
            self.strides.push(sum.filter(|_| spaced));
        }
    }

    pub fn wide_array(&self, index: usize) -> &[u64] {
        &self.wide[index][..self.len]
    }
}

/// Where a quantifier is in its product of components.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cursor {
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

    /// The bindings from the `start`-th up to the `end`-th of a quantifier outside all others.
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
pub(crate) struct Blocks {
    blocks: Vec<Block>,
    cursors: Vec<Cursor>,
    stamps: u64,
}

impl Blocks {
    /// Makes room for a program. Buffers only grow, so that running the same programs again allocates
    /// nothing.
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
        // If nothing is left, the block stays unchanged: the backward pass may still need it.
        let parent = &self.blocks[exec_level.parent];
        if !advance(cursor, exec_level, active, parent, bases) {
            return false;
        }
        let mut block = std::mem::take(&mut self.blocks[level]);
        let parent = &self.blocks[exec_level.parent];
        let wide_bases = &exec.wide_slots;
        self.stamps += 1;
        block.start(exec_level, active, self.stamps);
        while advance(cursor, exec_level, active, parent, bases) {
            let left = usize::try_from(cursor.left).unwrap_or(usize::MAX);
            let room = (exec_level.capacity - block.len).min(left);
            if room == 0 {
                break;
            }
            if let Some(parents) = whole_parents(cursor, exec_level, room) {
                write_parents(
                    &mut block, exec_level, active, parent, bases, wide_bases, cursor, parents,
                );
                continue;
            }
            let last = exec_level.components.len() - 1;
            let own = &active.components[exec_level.components[last].component];
            let end = own.run_end(cursor.at[last]).min(cursor.ranges[last].1);
            let take = ((end - cursor.at[last]) as usize).min(room);
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
        resolve(&mut block, exec_level, active, plan, exec);
        self.blocks[level] = block;
        true
    }

    /// Visits every filling of a level's block, for all bindings of the levels around it; of the outermost level only
    /// the bindings in a range.
    #[allow(clippy::too_many_arguments)] // a program and where it stands
    pub fn visit(
        &mut self,
        active: &Active,
        plan: &Plan,
        program: usize,
        exec: &Physical,
        level: usize,
        range: Option<(u64, u64)>,
        visit: &mut dyn FnMut(&Block),
    ) {
        let mut path = vec![level];
        while exec.levels[path[path.len() - 1]].parent != 0 {
            path.push(exec.levels[path[path.len() - 1]].parent);
        }
        path.reverse();
        self.visit_path(active, plan, program, exec, &path, range, visit);
    }

    #[allow(clippy::too_many_arguments)] // as above
    fn visit_path(
        &mut self,
        active: &Active,
        plan: &Plan,
        program: usize,
        exec: &Physical,
        path: &[usize],
        range: Option<(u64, u64)>,
        visit: &mut dyn FnMut(&Block),
    ) {
        let Some((&level, inner)) = path.split_first() else {
            return;
        };
        let mut cursor = self.take_cursor(level);
        match range {
            Some((start, end)) => cursor.reset_to_range(&exec.levels[level], active, start, end),
            None => cursor.reset(self.blocks[exec.levels[level].parent].len),
        }
        while self.fill(active, plan, program, exec, level, &mut cursor) {
            if inner.is_empty() {
                visit(&self.blocks[level]);
            } else {
                self.visit_path(active, plan, program, exec, inner, None, visit);
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

fn value(place: SlotSource, block: &Block, bases: &[u32], at: usize) -> u32 {
    match place {
        SlotSource::Base(slot) => bases[slot],
        SlotSource::Array(index) => {
            debug_assert!(block.strides[index].is_none(), "not written down");
            block.arrays[index][at]
        }
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

/// How many parents fit with all their bindings, if these are the same few for each parent.
fn whole_parents(cursor: &Cursor, level: &Level, room: usize) -> Option<usize> {
    let ([component], [range]) = (&level.components[..], &cursor.ranges[..]) else {
        return None;
    };
    let each = (range.1 - range.0) as usize;
    let parents = (room / each.max(1)).min(cursor.parents - cursor.parent);
    let at_start = component.key.is_none() && cursor.at[0] == range.0;
    (at_start && parents > 1 && each < LONG_RUN).then_some(parents)
}

/// Writes all bindings of this many parents, array by array.
#[allow(clippy::too_many_arguments)] // the parts of two blocks, borrowed separately
fn write_parents(
    block: &mut Block,
    level: &Level,
    active: &Active,
    parent: &Block,
    bases: &[u32],
    wide_bases: &[u64],
    cursor: &mut Cursor,
    parents: usize,
) {
    let (from, to) = (cursor.ranges[0].0 as usize, cursor.ranges[0].1 as usize);
    let each = to - from;
    let (first, start) = (cursor.parent, block.len);
    let taken = start..start + parents * each;
    for (i, add) in level.adds.iter().enumerate() {
        let base = |p: usize| value(add.from, parent, bases, first + p);
        let out = &mut block.arrays[i][taken.clone()];
        write_same(&add.maps[0], &active.maps, from..to, base, out);
    }
    for (add, array) in level.wide_adds.iter().zip(&mut block.wide) {
        let base = |p: usize| match add.from {
            SlotSource::Base(slot) => wide_bases[slot],
            SlotSource::Array(index) => parent.wide[index][first + p],
        };
        write_same(
            &add.maps[0],
            &active.wide,
            from..to,
            base,
            &mut array[taken.clone()],
        );
    }
    for p in 0..parents {
        let start = start + p * each;
        block.segments.push(Segment {
            parent: first + p,
            start,
            end: start + each,
        });
    }
    block.len = taken.end;
    cursor.left -= (parents * each) as u64;
    cursor.parent += parents;
    cursor.started = false;
}

/// For each parent its `base` and what the same tuples add.
fn write_same<V: Copy + AddAssign + Add<Output = V>>(
    own: &[usize],
    maps: &[Vec<V>],
    tuples: std::ops::Range<usize>,
    base: impl Fn(usize) -> V,
    out: &mut [V],
) {
    for (p, out) in out.chunks_exact_mut(tuples.len()).enumerate() {
        out.fill(base(p));
        for &map in own {
            for (out, &value) in out.iter_mut().zip(&maps[map][tuples.clone()]) {
                *out += value;
            }
        }
    }
}

/// Writes the places of the next `take` bindings, which differ only in the last component.
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
    block.run_ends.push((block.len + take) as u32);
    for (i, add) in level.adds.iter().enumerate() {
        let base = value(add.from, parent, bases, cursor.parent);
        if block.strides[i].is_some() {
            let mut start = [0];
            write_sums(&add.maps, &active.maps, base, at, from, &mut start);
            block.run_starts[i].push(start[0]);
            continue;
        }
        let out = &mut block.arrays[i][block.len..block.len + take];
        write_sums(&add.maps, &active.maps, base, at, from, out);
    }
    for (add, array) in level.wide_adds.iter().zip(&mut block.wide) {
        let base = match add.from {
            SlotSource::Base(slot) => wide_bases[slot],
            SlotSource::Array(index) => parent.wide[index][cursor.parent],
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

/// Does the look-ups whose parts are now complete.
fn resolve(block: &mut Block, level: &Level, active: &Active, plan: &Plan, exec: &Physical) {
    for resolve in &level.resolves {
        let codes = &block.wide[resolve.wide][..block.len];
        let places = &mut block.arrays[resolve.array][..block.len];
        match resolve.table {
            ResolveTable::Request(request) => {
                let width = plan.requests[request].width as u32;
                active.numbering[request].add_numbers(codes, width, places);
            }
            ResolveTable::Applied { functions, request } => {
                let functions = &exec.applied[functions];
                for (place, code) in places.iter_mut().zip(codes) {
                    let code = functions.code(*code);
                    *place += match request {
                        Some(r) => active.numbering[r].number(code) * plan.requests[r].width as u32,
                        None => code as u32,
                    };
                }
            }
            ResolveTable::Key(table) => {
                let table = &exec.key_tables[table];
                for (place, code) in places.iter_mut().zip(codes) {
                    *place += table.get(code).copied().unwrap_or(0);
                }
            }
        }
    }
}
