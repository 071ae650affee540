//! Locks: every access that wants a guard has one on every path, and locking is two-phase.
//!
//! What is held is a function of the place in the code: the same along all edges into a block. The
//! exits that are not in the graph (errors, limits) release whatever is held, so only `ret` must find
//! nothing held.

use std::collections::BTreeMap;

use super::{Checker, Owner};
use crate::cfg::Cfg;
use crate::entities::{Block, Entity, Global, Handler, Inst};
use crate::global_set::GlobalSet;
use crate::instructions::{LockMode, Op, Terminator};
use crate::module::Module;
use crate::types::Discipline;

/// The locks that are held.
type Held = BTreeMap<Global, LockMode>;

/// What is held, and what has happened, at a point.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct State {
    held: Held,
    /// A lock has been released.
    shrinking: bool,
    /// An effect that others can see has happened.
    effect: bool,
}

impl Module {
    /// The global whose lock guards this one, if its discipline wants a lock.
    pub fn lock_of(&self, global: Global) -> Option<Global> {
        match self.globals[global].discipline {
            Discipline::Locked | Discipline::ShardedLocked => Some(global),
            Discipline::LockedWith(leader) | Discipline::ShardedLockedWith(leader) => Some(leader),
            Discipline::Serial | Discipline::Lone | Discipline::Sharded => None,
        }
    }

    /// Whether accesses to a global have an order among those of other globals that other handlers can
    /// tell: they have none if nobody else can see them meanwhile.
    pub fn is_ordered(&self, global: Global) -> bool {
        !matches!(self.globals[global].discipline, Discipline::Serial | Discipline::Sharded)
    }

    /// Whether no other handler can run while this one does: all of its probe points are `begin`,
    /// `end`, `error` or `never`.
    pub fn is_exclusive(&self, handler: Handler) -> bool {
        let mut points = self.probes.iter().filter(|probe| probe.handler == handler).peekable();
        points.peek().is_some() && points.all(|probe| probe.kind.is_exclusive())
    }
}

impl Checker<'_> {
    pub(super) fn check_locks(&mut self, cfg: &Cfg) {
        let Owner::Handler(handler) = self.owner else { return };
        let guarded = !self.module.is_exclusive(handler);
        let cyclic = cfg.in_cycle();
        let mut at_entry: Vec<Option<Held>> = vec![None; self.body.blocks.len()];
        at_entry[self.body.entry().index()] = Some(BTreeMap::new());
        let effects = self.reached_from(cfg, |op| {
            !matches!(op, Op::Lock(_) | Op::Unlock(_))
                && self.summaries.op(self.module, op).is_observable()
        });
        let releases = self.reached_from(cfg, |op| matches!(op, Op::Unlock(_)));
        for &block in cfg.reverse_postorder() {
            let mut state = State {
                held: at_entry[block.index()].clone().unwrap_or_default(),
                shrinking: releases[block.index()],
                effect: effects[block.index()],
            };
            for &inst in &self.body.blocks[block].insts {
                match &self.body.insts[inst].op {
                    Op::Lock(locks) => {
                        if cyclic[block.index()] {
                            self.at_inst(block, inst, "no lock is taken in a loop");
                        }
                        self.check_acquire(block, inst, locks, &mut state);
                    }
                    Op::Unlock(globals) => self.check_release(block, inst, globals, &mut state),
                    op => {
                        let effects = self.summaries.op(self.module, op);
                        let is_observable = effects.is_observable();
                        if guarded {
                            let held = &state.held;
                            let mut reads = effects.reads;
                            reads.retain(|g| {
                                !self.module.globals[*g].discipline.is_sharded()
                                    || !effects.writes.contains(g)
                            });
                            self.check_guard(block, inst, &reads, LockMode::Read, held);
                            self.check_guard(block, inst, &effects.writes, LockMode::Write, held);
                        }
                        state.effect |= is_observable;
                    }
                }
            }
            self.check_lock_edges(block, &state.held, &mut at_entry);
        }
    }

    fn check_acquire(
        &mut self,
        block: Block,
        inst: Inst,
        locks: &[(Global, LockMode)],
        state: &mut State,
    ) {
        if state.shrinking {
            self.at_inst(block, inst, "a lock is taken after one has been released");
        }
        if !state.held.is_empty() {
            self.at_inst(block, inst, "locks are taken all at once");
        }
        if state.effect {
            self.at_inst(block, inst, "an effect comes before a lock that can fail");
        }
        if locks.is_empty() || !locks.is_sorted_by(|a, b| a.0 < b.0) {
            self.at_inst(block, inst, "locks stand in order of their globals, each once");
        }
        for &(global, mode) in locks {
            if self.module.lock_of(global) != Some(global) {
                let name = &self.module.globals[global].name;
                self.at_inst(block, inst, format!("@{name} has no lock of its own"));
            }
            state.held.insert(global, mode);
        }
    }

    fn check_release(&mut self, block: Block, inst: Inst, globals: &[Global], state: &mut State) {
        if globals.is_empty() {
            self.at_inst(block, inst, "it releases nothing");
        }
        for &global in globals {
            if state.held.remove(&global).is_none() {
                let name = &self.module.globals[global].name;
                self.at_inst(block, inst, format!("@{name} is not held"));
            }
        }
        state.shrinking = true;
    }

    fn check_guard(
        &mut self,
        block: Block,
        inst: Inst,
        accessed: &GlobalSet,
        mode: LockMode,
        held: &Held,
    ) {
        for &global in accessed {
            let Some(lock) = self.module.lock_of(global) else { continue };
            let mode = match self.owner {
                Owner::Handler(handler) if self.module.globals[global].discipline.is_sharded() => {
                    self.sharing.lock_mode(self.module, handler, global)
                }
                _ => mode,
            };
            if held.get(&lock).is_none_or(|held| *held < mode) {
                let (name, lock) =
                    (&self.module.globals[global].name, &self.module.globals[lock].name);
                let message = format!("@{name} is accessed without `lock @{lock}:{mode}`");
                self.at_inst(block, inst, message);
            }
        }
    }

    fn check_lock_edges(&mut self, block: Block, held: &Held, at_entry: &mut [Option<Held>]) {
        let terminator = &self.body.blocks[block].terminator;
        if let (Terminator::Return(_), Some(global)) = (terminator, held.keys().next()) {
            let name = &self.module.globals[*global].name;
            self.at_end(block, format!("@{name} is still held"));
        }
        for target in terminator.successors().map(|call| call.block) {
            let there = at_entry[target.index()].get_or_insert_with(|| held.clone());
            if there != held {
                let message = format!("the locks held differ among the paths to {target}");
                self.at_end(block, message);
            }
        }
    }

    /// For each block: whether a path from the entry to it passes an operation of a kind.
    fn reached_from(&self, cfg: &Cfg, is_meant: impl Fn(&Op) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.body.blocks.len()];
        let mut work: Vec<Block> = Vec::new();
        for &block in cfg.reverse_postorder() {
            let insts = &self.body.blocks[block].insts;
            if insts.iter().any(|&inst| is_meant(&self.body.insts[inst].op)) {
                work.extend(cfg.successors(block));
            }
        }
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut reached[block.index()], true) {
                work.extend(cfg.successors(block));
            }
        }
        reached
    }
}
