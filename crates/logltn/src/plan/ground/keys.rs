//! Which of its lists a quantifier uses: a slot holds the number of the key, computed from the components around it.

use rustc_hash::FxHashMap;

use super::literal::MapKey;
use super::{Bound, Ground, KeyIds, codes};
use crate::plan::program::*;
use crate::theory::VarId;

impl Ground<'_> {
    /// The key of a component's lists. Axioms that share both components share the map.
    pub(super) fn key_slot_of(&mut self, bound: &Bound) -> usize {
        let owners = self.owners(&bound.keys);
        let keys = self.shared.lists.keys(bound.component);
        let [owner] = owners.as_slice() else {
            return self.key_slot(&bound.keys, &keys);
        };
        let name = MapKey::Key {
            component: self.around[*owner].component,
            keyed: bound.component,
        };
        let slot = self.new_slot();
        let map = match self.shared.map_index.get(&name) {
            Some(&known) => known,
            None => {
                let ids = self.key_ids(&bound.keys, &keys, *owner);
                let map = self.add_map(*owner, MapValues::Plain(ids));
                self.shared.map_index.insert(name, map);
                map
            }
        };
        self.use_map(slot, *owner, map);
        slot
    }

    /// The key that these outer variables make.
    pub(super) fn key_slot(&mut self, variables: &[VarId], keys: &KeyIds) -> usize {
        let slot = self.new_slot();
        let owners = self.owners(variables);
        if let [owner] = owners.as_slice() {
            let ids = self.key_ids(variables, keys, *owner);
            let map = self.add_map(*owner, MapValues::Plain(ids));
            self.use_map(slot, *owner, map);
            return slot;
        }
        // Several components: each numbers its own part, and the sum is looked up.
        let mut parts = Vec::new();
        let wide = self.new_wide_slot(0);
        let mut radix = 1_u64;
        for &owner in &owners {
            let bound = &self.around[owner];
            let is_own = |i: &usize| bound.variables.contains(&variables[*i]);
            let places: Vec<usize> = (0..variables.len()).filter(is_own).collect();
            let own: Vec<VarId> = places.iter().map(|&i| variables[i]).collect();
            let mut numbers = FxHashMap::default();
            let values = self.shared.lists.per_tuple(self.scope, bound, |env| {
                let next = numbers.len() as u64;
                radix * *numbers.entry(codes(&own, env)).or_insert(next)
            });
            self.use_wide_map(wide, owner, values);
            let scale = radix;
            radix = radix.saturating_mul(numbers.len().max(1) as u64);
            numbers.values_mut().for_each(|n| *n *= scale);
            parts.push((places, numbers));
        }
        let mut table = FxHashMap::default();
        for (key, id) in keys {
            let sum = parts.iter().try_fold(0_u64, |sum, (places, numbers)| {
                let part: Box<[u64]> = places.iter().map(|&i| key[i]).collect();
                Some(sum + numbers.get(&part)?)
            });
            if let Some(sum) = sum {
                table.insert(sum, *id);
            }
        }
        self.program.key_tables.push(table);
        let table = ResolveTable::Key(self.program.key_tables.len() - 1);
        self.resolve(&owners, Resolve { wide, slot, table });
        slot
    }

    /// The key of each tuple of the one component that determines it. Tuples that no outer binding reaches have no key;
    /// it is never read.
    fn key_ids(&self, variables: &[VarId], keys: &KeyIds, owner: usize) -> Vec<u32> {
        let owner = &self.around[owner];
        self.shared.lists.per_tuple(self.scope, owner, |env| {
            keys.get(&codes(variables, env)).copied().unwrap_or(0)
        })
    }
}
