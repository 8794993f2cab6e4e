//! Where the rows of requests are in arrays.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use logltn::Precision as Real;
use logltn::theory::{ArgumentSort, PredicateId, SortId};
use logltn::{ArgumentShape, Code, Diagnostic, Diagnostics, Request};

use super::{Places, State, Target, VERSIONS, Who};
use crate::array::{Rows, runs};

/// How many rows a run has on average that is worth its two numbers.
const LONG_RUN: usize = 8;

/// Where the rows of each request are.
#[derive(Default)]
pub(super) struct Layout {
    /// By predicate.
    pub predicates: Vec<Asked>,
    /// For each request: the rows in a dense array, `None` if they are the same.
    pub places: Vec<Option<Vec<usize>>>,
    /// The runs of these, if they are long.
    runs: Vec<Vec<(usize, usize)>>,
    /// For each request: the individuals of its rows, if the plan numbers them differently.
    pub individuals: Vec<Option<Vec<u32>>>,
    /// For each request, computed on demand: the positions of its rows among the distinct ones, and how many those are;
    /// `None` if all are distinct and in order.
    pub different: Vec<Option<(Vec<usize>, usize)>>,
}

#[derive(Default)]
pub(super) struct Asked {
    pub requests: Vec<usize>,
    /// The shape of an array with a number for each tuple, if such an array is possible.
    pub shape: Option<Vec<usize>>,
    /// The distinct rows of all requests, computed on demand.
    pub at_rows: OnceLock<AtRows>,
}

/// The distinct rows that a predicate is queried at, in the order of their arguments: independent of what else the plan was made for.
pub(super) struct AtRows {
    pub count: usize,
    /// For each request, the positions of its rows among all of them; `None` if there is only one request.
    pub among: Option<Vec<Vec<usize>>>,
}

impl Layout {
    /// The requests that an array holds the numbers for.
    pub fn requests<'a>(&'a self, target: &'a Target) -> &'a [usize] {
        match target {
            Target::Grid(p) | Target::AtRows(p) => &self.predicates[*p].requests,
            Target::Request(request) => std::slice::from_ref(request),
        }
    }

    /// Where the rows of one of them are in the array.
    pub fn rows<'a>(
        &'a self,
        target: Target,
        at: usize,
        request: usize,
        of: &'a Request,
    ) -> Rows<'a> {
        let among = |p: PredicateId| {
            let at_rows = self.predicates[p].at_rows.get();
            at_rows.and_then(|rows| rows.among.as_ref())
        };
        let runs = match target {
            Target::Grid(_) => &self.runs[request][..],
            _ => &[],
        };
        let (places, indexes) = match target {
            Target::Grid(_) => {
                let actual = self.individuals[request].as_deref();
                let indexes = Some((actual.unwrap_or(of.individuals()), of.arity));
                (self.places[request].as_deref(), indexes)
            }
            Target::AtRows(p) => (among(p).map(|among| &among[at][..]), None),
            Target::Request(_) => {
                let different = self.different.get(request).and_then(Option::as_ref);
                (different.map(|(places, _)| &places[..]), None)
            }
        };
        Rows {
            places,
            runs,
            indexes,
            width: of.width,
        }
    }
}

impl<T: Real> State<T> {
    /// Finds equal rows whose individuals differ in the plan, once per layout.
    pub(super) fn find_different(&mut self) {
        if !self.layout.different.is_empty() {
            return;
        }
        let requests = self.engine.requests().iter().zip(&self.layout.individuals);
        let different =
            requests.map(|(request, actual)| different(actual.as_ref()?, request.arity));
        self.layout.different = different.collect();
    }

    pub(super) fn lay_out(&mut self) {
        let plan = self.engine.plan();
        let (theory, requests) = (plan.data().theory(), self.engine.requests());
        let size = |sort: SortId| {
            let who = self.who.iter().find(|who| who.stand_ins.of == sort);
            who.and_then(|who| who.size)
                .unwrap_or_else(|| plan.data().extent(sort))
        };
        let mut predicates: Vec<Asked> = (theory.predicates.iter())
            .map(|p| Asked {
                shape: shape(&size, &p.arguments),
                ..Asked::default()
            })
            .collect();
        let mut places = Vec::with_capacity(requests.len());
        let mut individuals = Vec::with_capacity(requests.len());
        for (i, request) in requests.iter().enumerate() {
            let asked = &mut predicates[request.predicate];
            if request.rows() > 0 {
                asked.requests.push(i);
            }
            let actual = actual_individuals(request, &self.who);
            let rows = actual.as_deref().unwrap_or(request.individuals());
            let shape = asked.shape.as_deref();
            places.push(shape.and_then(|s| dense_places(request, rows, s)));
            individuals.push(actual);
        }
        let long_runs = |places: &Option<Vec<usize>>| {
            let places = places.as_deref().unwrap_or_default();
            let few = runs(places).count() * LONG_RUN <= places.len();
            runs(places).filter(|_| few).collect()
        };
        self.layout = Layout {
            predicates,
            runs: places.iter().map(long_runs).collect(),
            places,
            individuals,
            different: Vec::new(),
        };
        self.version = VERSIONS.fetch_add(1, Ordering::Relaxed) + 1;
    }

    /// For each request: its predicate, and the positions of its rows in an array with an axis for each argument,
    /// in an array of the queried rows, and among those that networks are asked about; `None` if they are its rows
    /// in order.
    pub fn places(&self) -> Vec<Places> {
        let requests = self.engine.requests().iter().enumerate();
        let places = requests.map(|(i, request)| {
            let asked = &self.layout.predicates[request.predicate];
            let at = asked.requests.iter().position(|r| *r == i);
            let among = self.at_rows(request.predicate).among.as_ref();
            let among = among.zip(at).map(|(all, at)| all[at].clone());
            let predicate = request.predicate.0 as usize;
            let different = self.layout.different.get(i).and_then(Option::as_ref);
            let different = different.map(|(places, _)| places.clone());
            (predicate, self.layout.places[i].clone(), among, different)
        });
        places.collect()
    }

    /// The rows that a predicate is queried at.
    pub fn rows(&self, predicate: PredicateId) -> Result<(Vec<u32>, usize), Diagnostics> {
        let asked = &self.layout.predicates[predicate];
        let requests = self.engine.requests();
        if asked.requests.iter().any(|&r| applies(&requests[r])) {
            return Err(self.applied(predicate));
        }
        let Some(arity) = asked.requests.first().map(|&r| requests[r].arity) else {
            let plan = self.engine.plan();
            let arguments = plan.data().theory()[predicate].arguments.len();
            let per_class = usize::from(plan.output(predicate).per_class);
            return Ok((Vec::new(), arguments.saturating_sub(per_class)));
        };
        let at_rows = self.at_rows(predicate);
        let mut rows = vec![0; at_rows.count * arity];
        for (at, &request) in asked.requests.iter().enumerate() {
            let own = self.individuals(request).chunks_exact(arity.max(1));
            for (row, individuals) in own.enumerate() {
                let among = at_rows.among.as_ref().map_or(row, |a| a[at][row]);
                rows[among * arity..(among + 1) * arity].copy_from_slice(individuals);
            }
        }
        Ok((rows, arity))
    }

    /// The individuals of a request's rows, as the call numbers them.
    pub(super) fn individuals(&self, request: usize) -> &[u32] {
        let actual = self.layout.individuals[request].as_deref();
        actual.unwrap_or(self.engine.requests()[request].individuals())
    }

    /// The distinct rows of all requests for a predicate.
    pub(super) fn at_rows(&self, predicate: PredicateId) -> &AtRows {
        let asked = &self.layout.predicates[predicate];
        asked.at_rows.get_or_init(|| {
            let requests = self.engine.requests();
            let numbered = |r: &Request| r.shape.contains(&ArgumentShape::Number);
            match asked.requests[..] {
                [only] if !numbered(&requests[only]) => {
                    let request = &requests[only];
                    let actual = self.layout.individuals[only].as_ref();
                    match actual.and_then(|rows| different(rows, request.arity)) {
                        Some((places, count)) => AtRows {
                            count,
                            among: Some(vec![places]),
                        },
                        None => AtRows {
                            count: request.rows(),
                            among: None,
                        },
                    }
                }
                ref own => {
                    let keys: Vec<Vec<Vec<u64>>> =
                        own.iter().map(|&r| self.keys(r).collect()).collect();
                    let mut all: Vec<&Vec<u64>> = keys.iter().flatten().collect();
                    all.sort_unstable();
                    all.dedup();
                    let place = |key: &Vec<u64>| all.partition_point(|known| *known < key);
                    let among = keys.iter().map(|keys| keys.iter().map(place).collect());
                    AtRows {
                        among: Some(among.collect()),
                        count: all.len(),
                    }
                }
            }
        })
    }

    /// The rows that a predicate is queried at, by their arguments, in the order of an array at rows.
    pub fn known_rows(&self, predicate: PredicateId) -> HashMap<Vec<u64>, usize> {
        let asked = &self.layout.predicates[predicate];
        let among = self.at_rows(predicate).among.as_ref();
        let mut known = HashMap::new();
        for (at, &request) in asked.requests.iter().enumerate() {
            for (row, key) in self.keys(request).enumerate() {
                known.insert(key, among.map_or(row, |a| a[at][row]));
            }
        }
        known
    }

    /// Declares that an array at rows has these rows; the requests may want some of them in another
    /// order.
    pub fn know_rows(
        &mut self,
        predicate: PredicateId,
        known: &HashMap<Vec<u64>, usize>,
    ) -> Result<(), Diagnostics> {
        let requests = &self.layout.predicates[predicate].requests;
        let places = requests.iter().map(|&r| {
            self.keys(r)
                .map(|key| known.get(&key).copied())
                .collect::<Option<Vec<_>>>()
        });
        let Some(among) = places.collect::<Option<Vec<_>>>() else {
            let name = &self.engine.plan().data().theory()[predicate].name;
            let message = format!(
                "predicate `{name}` is asked about rows that no axiom asks about, so there are no values for them"
            );
            let help = "give an array with an axis for each argument instead of `logltn.AtRows`";
            return Err(Diagnostic::error(Code::NotGrounded, message)
                .help(help)
                .into());
        };
        let asked = &mut self.layout.predicates[predicate];
        asked.at_rows = OnceLock::from(AtRows {
            count: known.len(),
            among: Some(among),
        });
        Ok(())
    }

    /// What identifies the arguments of each row of a request, so that rows have an order. Numbers have different positions in
    /// different plans, so they stand for themselves.
    fn keys(&self, request: usize) -> impl Iterator<Item = Vec<u64>> {
        let (individuals, request) = (self.individuals(request), &self.engine.requests()[request]);
        let numbers = self.engine.plan().data().numbers();
        (0..request.rows()).map(move |row| {
            let own = &individuals[row * request.arity..(row + 1) * request.arity];
            let key = |(shape, &i): (&ArgumentShape, &u32)| match shape {
                ArgumentShape::Number => ordered_bits(numbers[i as usize]),
                _ => u64::from(i),
            };
            request.shape.iter().zip(own).map(key).collect()
        })
    }
}

pub(super) fn applies(request: &Request) -> bool {
    let applied = |s: &ArgumentShape| matches!(s, ArgumentShape::Apply(..));
    request.shape.iter().any(applied)
}

/// The shape of an array with a number for each tuple of arguments.
fn shape(size: &dyn Fn(SortId) -> usize, arguments: &[ArgumentSort]) -> Option<Vec<usize>> {
    let axes = arguments.iter().map(|argument| argument.sort().map(size));
    axes.collect()
}

/// The individuals of a request's rows, if the plan numbers them differently. Function values have none.
fn actual_individuals(request: &Request, who: &[Who]) -> Option<Vec<u32>> {
    fn leaves<'w>(shape: &ArgumentShape, who: &'w [Who], columns: &mut Vec<Option<&'w Who>>) {
        match shape {
            ArgumentShape::Individual(sort) => {
                columns.push(who.iter().find(|w| w.stand_ins.sort == *sort));
            }
            ArgumentShape::Number | ArgumentShape::Row(_) => columns.push(None),
            ArgumentShape::Apply(_, inner) => inner.iter().for_each(|s| leaves(s, who, columns)),
        }
    }
    if who.is_empty() {
        return None;
    }
    let mut columns = Vec::with_capacity(request.arity);
    request
        .shape
        .iter()
        .for_each(|s| leaves(s, who, &mut columns));
    if columns.iter().all(Option::is_none) {
        return None;
    }
    let mut actual = request.individuals().to_vec();
    for row in actual.chunks_exact_mut(request.arity) {
        for (cell, who) in row.iter_mut().zip(&columns) {
            if let Some(who) = who {
                *cell = who.individuals[*cell as usize];
            }
        }
    }
    Some(actual)
}

/// Replaces the sort of stand-ins by the sort that they stand for.
pub(super) fn name(shape: &mut ArgumentShape, who: &[Who]) {
    match shape {
        ArgumentShape::Individual(sort) => {
            if let Some(who) = who.iter().find(|w| w.stand_ins.sort == *sort) {
                *sort = who.stand_ins.of;
            }
        }
        ArgumentShape::Number | ArgumentShape::Row(_) => {}
        ArgumentShape::Apply(_, inner) => inner.iter_mut().for_each(|s| name(s, who)),
    }
}

/// The positions of rows among the distinct ones in order, and how many those are; `None` if they
/// are the same.
pub fn different(rows: &[u32], arity: usize) -> Option<(Vec<usize>, usize)> {
    let row = |i: usize| &rows[i * arity..(i + 1) * arity];
    let count = rows.len() / arity.max(1);
    if (1..count).all(|i| row(i - 1) < row(i)) {
        return None;
    }
    let mut order: Vec<usize> = (0..count).collect();
    match packed(rows, arity) {
        // Sorting contiguous numbers is many times faster than sorting rows elsewhere.
        Some(keys) => {
            let mut keyed: Vec<(u64, usize)> = keys.into_iter().zip(0..).collect();
            keyed.sort_unstable();
            order.iter_mut().zip(keyed).for_each(|(to, (_, i))| *to = i);
        }
        None => order.sort_unstable_by(|&a, &b| row(a).cmp(row(b))),
    }
    let (mut places, mut next) = (vec![0; count], 0);
    for (at, &i) in order.iter().enumerate() {
        if at > 0 && row(order[at - 1]) != row(i) {
            next += 1;
        }
        places[i] = next;
    }
    Some((places, next + 1))
}

/// Each row as one number, in their order, if that fits.
fn packed(rows: &[u32], arity: usize) -> Option<Vec<u64>> {
    let mut most = vec![0; arity];
    for row in rows.chunks_exact(arity) {
        most.iter_mut().zip(row).for_each(|(m, cell)| *m |= cell);
    }
    let bits: Vec<u32> = most.iter().map(|m| u32::BITS - m.leading_zeros()).collect();
    if bits.iter().sum::<u32>() > u64::BITS {
        return None;
    }
    let key = |row: &[u32]| {
        let cells = row.iter().zip(&bits);
        cells.fold(0, |key, (&cell, &bits)| (key << bits) | u64::from(cell))
    };
    Some(rows.chunks_exact(arity).map(key).collect())
}

/// The positions of a request's rows in a dense array; `None` if they are its rows in order.
fn dense_places(request: &Request, individuals: &[u32], shape: &[usize]) -> Option<Vec<usize>> {
    if applies(request) || shape.len() < request.arity {
        return None;
    }
    let (arity, axes) = (request.arity, &shape[..request.arity]);
    let place = |row: usize| {
        let indexes = individuals[row * arity..(row + 1) * arity].iter().zip(axes);
        indexes.fold(0, |place, (&i, &size)| place * size + i as usize)
    };
    let rows = request.rows();
    // All rows, in order.
    let all = axes.iter().product::<usize>() == rows && (0..rows).all(|row| place(row) == row);
    (!all).then(|| (0..rows).map(place).collect())
}

/// Bits that sort like the numbers.
fn ordered_bits(x: f64) -> u64 {
    let bits = x.to_bits();
    match x.is_sign_negative() {
        true => !bits,
        false => bits | 1 << 63,
    }
}
