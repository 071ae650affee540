//! Takes globals, functions and handlers out of a module; the ids of those that stay are dense again.

use crate::effects::callees;
use crate::entities::{Entity, EntityArena, Function, Global, Handler};
use crate::global_set::GlobalSet;
use crate::instructions::Op;
use crate::module::{Body, FunctionCode, Module};
use crate::types::Discipline;

/// New ids of what stays, by old index.
struct Map<I>(Vec<Option<I>>);

impl<I: Entity> Map<I> {
    fn get(&self, id: I) -> I {
        self.0[id.index()].expect("internal error: something that is used has been removed")
    }
}

/// Moves what stays to a new arena.
fn retain<T, I: Entity>(
    arena: &mut EntityArena<T, I>,
    keep: impl Fn(I) -> bool,
) -> (Map<I>, usize) {
    let mut map = Vec::new();
    let mut kept = EntityArena::new();
    let mut removed = 0;
    for (index, item) in std::mem::take(arena).into_iter().map(|(_, item)| item).enumerate() {
        if keep(I::from_index(index)) {
            map.push(Some(kept.alloc(item)));
        } else {
            map.push(None);
            removed += 1;
        }
    }
    *arena = kept;
    (Map(map), removed)
}

impl Module {
    /// All bodies, those of functions first.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        let functions = self.functions.iter().filter_map(|(_, data)| match &data.code {
            FunctionCode::Body(body) => Some(body),
            FunctionCode::C { .. } => None,
        });
        functions.chain(self.handlers.iter().map(|(_, data)| &data.body))
    }

    /// All bodies, those of functions first.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Body> {
        let functions = self.functions.iter_mut().filter_map(|(_, data)| match &mut data.code {
            FunctionCode::Body(body) => Some(body),
            FunctionCode::C { .. } => None,
        });
        functions.chain(self.handlers.iter_mut().map(|(_, data)| &mut data.body))
    }

    /// Keeps only some globals; gives the number of those removed. Their locks go from `lock` and
    /// `unlock`. Nothing else may use them.
    ///
    /// # Panics
    /// If something does.
    pub fn retain_globals(&mut self, keep: impl Fn(Global) -> bool) -> usize {
        self.retain_locks(&keep);
        let (map, removed) = retain(&mut self.globals, keep);
        if removed == 0 {
            return 0;
        }
        for (_, data) in self.globals.iter_mut() {
            if let Discipline::LockedWith(leader) | Discipline::ShardedLockedWith(leader) =
                &mut data.discipline
            {
                *leader = map.get(*leader);
            }
        }
        for (_, data) in self.functions.iter_mut() {
            if let FunctionCode::C { effects, .. } = &mut data.code {
                let renamed = |set: &GlobalSet| set.iter().map(|&g| map.get(g)).collect();
                effects.reads = renamed(&effects.reads);
                effects.writes = renamed(&effects.writes);
            }
        }
        for body in self.bodies_mut() {
            for index in body.iter_insts().map(|(_, inst)| inst).collect::<Vec<_>>() {
                let op = &mut body.insts[index].op;
                op.for_each_global_mut(|global| *global = map.get(*global));
                match op {
                    Op::Lock(locks) => locks.iter_mut().for_each(|(g, _)| *g = map.get(*g)),
                    Op::Unlock(globals) => globals.iter_mut().for_each(|g| *g = map.get(*g)),
                    _ => {}
                }
            }
        }
        removed
    }

    /// Takes the locks of some globals out of all `lock` and `unlock`; empty ones go.
    pub fn retain_locks(&mut self, keep: impl Fn(Global) -> bool) {
        for body in self.bodies_mut() {
            for block in body.layout.clone() {
                let mut insts = std::mem::take(&mut body.blocks[block].insts);
                insts.retain(|&inst| match &mut body.insts[inst].op {
                    Op::Lock(locks) => {
                        locks.retain(|&(global, _)| keep(global));
                        !locks.is_empty()
                    }
                    Op::Unlock(globals) => {
                        globals.retain(|&global| keep(global));
                        !globals.is_empty()
                    }
                    _ => true,
                });
                body.blocks[block].insts = insts;
            }
        }
    }

    /// Keeps only some functions; gives the number of those removed. Nothing may call them.
    ///
    /// # Panics
    /// If something does.
    pub fn retain_functions(&mut self, keep: impl Fn(Function) -> bool) -> usize {
        let (map, removed) = retain(&mut self.functions, keep);
        if removed > 0 {
            self.rename_callees(|function| map.get(function));
        }
        removed
    }

    /// Has calls go to other functions.
    pub fn rename_callees(&mut self, rename: impl Fn(Function) -> Function) {
        for body in self.bodies_mut() {
            for inst in body.iter_insts().map(|(_, inst)| inst).collect::<Vec<_>>() {
                if let Op::Call(function, _) = &mut body.insts[inst].op {
                    *function = rename(*function);
                }
            }
        }
    }

    /// Keeps only some handlers; gives the number of those removed. No probe point may name them.
    ///
    /// # Panics
    /// If one does.
    pub fn retain_handlers(&mut self, keep: impl Fn(Handler) -> bool) -> usize {
        let (map, removed) = retain(&mut self.handlers, keep);
        for probe in &mut self.probes {
            probe.handler = map.get(probe.handler);
        }
        removed
    }

    /// For each function, by index: whether a handler may come to call it.
    pub fn called_functions(&self) -> Vec<bool> {
        let mut called = vec![false; self.functions.len()];
        let handlers = self.handlers.iter().map(|(_, data)| &data.body);
        let mut work: Vec<Function> = handlers.flat_map(callees).collect();
        while let Some(function) = work.pop() {
            if !std::mem::replace(&mut called[function.index()], true)
                && let FunctionCode::Body(body) = &self.functions[function].code
            {
                work.extend(callees(body));
            }
        }
        called
    }
}
