//! Requests that are answered for every possible row.

use crate::plan::ground::add_entry;
use crate::plan::program::*;

/// Where a request has every possible row, a row's number is its code, and a literal whose row several components
/// determine needs no look-up: each adds its part of the place directly.
pub(in crate::plan) fn places_in_complete_tables(
    programs: &mut [Program],
    maps: &mut [Map],
    requests: &[RequestPlan],
) {
    for program in programs {
        for at in 0..program.levels.len() {
            let resolves = std::mem::take(&mut program.levels[at].resolves);
            let (direct, looked_up) = resolves.into_iter().partition(|r| match r.table {
                ResolveTable::Key(_) | ResolveTable::Applied { .. } => false,
                ResolveTable::Request(request) => requests[request].complete,
            });
            program.levels[at].resolves = looked_up;
            let direct: Vec<Resolve> = direct;
            for resolve in direct {
                let ResolveTable::Request(request) = resolve.table else {
                    continue;
                };
                let width = requests[request].width as u64;
                let base = program.wide_slots[resolve.wide] * width;
                program.slots[resolve.slot].plain += base as u32;
                for level in &mut program.levels {
                    let Some(found) = level.wide_adds.iter().position(|a| a.slot == resolve.wide)
                    else {
                        continue;
                    };
                    let wide = level.wide_adds.remove(found);
                    let count = level.bound.len();
                    let add = add_entry(&mut level.adds, resolve.slot, count);
                    for (own, maps_of) in add.maps.iter_mut().zip(&wide.maps) {
                        own.extend_from_slice(maps_of);
                    }
                    for &map in wide.maps.iter().flatten() {
                        if let MapValues::Wide(values) = &maps[map].values {
                            let places = values.iter().map(|v| (v * width) as u32).collect();
                            maps[map].values = MapValues::Plain(places);
                        }
                    }
                }
            }
        }
    }
}
