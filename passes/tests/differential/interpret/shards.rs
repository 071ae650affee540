//! Sharded globals: updates wait, and are gathered in another order than the one they came in.

use std::collections::{BTreeMap, BTreeSet};

use xlate_ir::arith;
use xlate_ir::entities::Global;
use xlate_ir::instructions::{LockMode, UpdateOp};
use xlate_ir::module::Module;
use xlate_ir::sharing::{Sharing, Side};
use xlate_ir::types::Pos;

use super::state::Element;
use super::{Datum, Exit, Machine};

/// An update of a shard.
#[derive(Clone, Copy)]
pub(super) enum Update {
    Long(UpdateOp, i64),
    Stat(i64),
}

/// The updates that have not been gathered, in order.
pub(super) struct Shards {
    sharing: Sharing,
    waiting: BTreeMap<Global, Vec<(Vec<Datum>, Update)>>,
}

impl Shards {
    pub(super) fn of(module: &Module) -> Shards {
        Shards { sharing: Sharing::of(module), waiting: BTreeMap::new() }
    }
}

impl Machine<'_> {
    /// Whether the handler that runs updates a shard of a global.
    pub(super) fn is_on_shard(&self, global: Global) -> bool {
        self.module.globals[global].discipline.is_sharded()
            && self.shards.sharing.side(self.module, self.handler, global) == Side::Shard
    }

    /// Has an update wait. The array is full when all of it is: how it is divided must not show here.
    pub(super) fn update_shard(
        &mut self,
        global: Global,
        keys: Vec<Datum>,
        update: Update,
        pos: Option<Pos>,
    ) -> Result<Option<Datum>, Exit> {
        let data = &self.module.globals[global];
        let waiting = self.shards.waiting.entry(global).or_default();
        let is_new = self.state.get(global, &keys).is_none()
            && !waiting.iter().any(|(other, _)| *other == keys);
        if data.is_array() && is_new {
            let apart: BTreeSet<&Vec<Datum>> = waiting
                .iter()
                .map(|(keys, _)| keys)
                .filter(|keys| self.state.get(global, keys).is_none())
                .collect();
            if self.state.count(global) + apart.len() >= data.max_entries as usize {
                return Err(self.raise("array is full", pos));
            }
        }
        waiting.push((keys, update));
        Ok(None)
    }

    /// Gathers what the locks guard that are taken whole.
    pub(super) fn gather_locked(&mut self, locks: &[(Global, LockMode)]) {
        for &(lock, mode) in locks {
            if mode == LockMode::Write {
                self.gather(|module, global| module.lock_of(global) == Some(lock));
            }
        }
    }

    /// Gathers those of the sharded globals that are wanted.
    pub(super) fn gather(&mut self, wanted: impl Fn(&Module, Global) -> bool) {
        let globals: Vec<Global> = self.shards.waiting.keys().copied().collect();
        for global in globals.into_iter().filter(|&global| wanted(self.module, global)) {
            let updates = self.shards.waiting.remove(&global).unwrap_or_default();
            for (keys, update) in updates.into_iter().rev() {
                let element = match update {
                    Update::Long(op, value) => {
                        let old = match self.state.get(global, &keys) {
                            Some(Element::Datum(Datum::Long(old))) => *old,
                            _ => 0,
                        };
                        Element::Datum(Datum::Long(arith::update(op, old, value)))
                    }
                    Update::Stat(value) => {
                        let mut values = self.state.stat(global, &keys);
                        values.push(value);
                        Element::Stat(values)
                    }
                };
                self.state.set(self.module, global, keys, element).expect("there is room");
            }
        }
    }
}
