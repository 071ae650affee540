//! `foreach (k in a) …; delete a`: empties the array where the walk begins.
//!
//! A walk works on what the array held when it began, so a `clear` that is certain to follow it may
//! as well come at once. Then nothing needs the array's lock while the loop runs. It is certain if
//! every path from the walk's start leads there and nothing on the way can end the handler: no error,
//! and fewer actions than the handler has. Nothing on the way may touch the array itself.

use std::collections::BTreeSet;

use xlate_ir::cfg::Cfg;
use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Block, Entity, Global, Inst, Value};
use xlate_ir::instructions::{IterSpec, Op, Terminator};
use xlate_ir::module::{Body, Module};
use xlate_ir::types::Const;

use crate::remarks::Log;

/// Moves what can be moved in a handler's body.
pub(crate) fn run(module: &Module, summaries: &Summaries, body: &mut Body, log: &mut Log) {
    let clears: Vec<(Block, Inst)> = body
        .iter_insts()
        .filter(|(_, inst)| matches!(body.insts[*inst].op, Op::Clear(_)))
        .collect();
    for (block, clear) in clears {
        let Op::Clear(array) = body.insts[clear].op else { continue };
        if module.lock_of(array).is_none() {
            continue;
        }
        let search = Search { module, summaries, body, cfg: Cfg::of(body), array, clear };
        let Some((start, begin)) = search.walk() else { continue };
        body.blocks[block].insts.retain(|&inst| inst != clear);
        let at = body.blocks[start].insts.iter().position(|&inst| inst == begin);
        body.blocks[start].insts.insert(at.map_or(0, |at| at + 1), clear);
        let name = &module.globals[array].name;
        let message = format!("`{name}` is emptied where the walk over it begins");
        log.applied(body.insts[clear].pos, message);
    }
}

/// The search for a walk that a `clear` may move to.
struct Search<'a> {
    module: &'a Module,
    summaries: &'a Summaries,
    body: &'a Body,
    cfg: Cfg,
    array: Global,
    clear: Inst,
}

/// What lies between the start of a walk and the `clear`.
#[derive(Default)]
struct Between {
    blocks: BTreeSet<Block>,
    /// The blocks that move the walk on.
    steps: BTreeSet<Block>,
    actions: u64,
}

impl Search<'_> {
    fn walk(&self) -> Option<(Block, Inst)> {
        let cyclic = self.cfg.in_cycle();
        self.body.iter_insts().find(|&(block, inst)| {
            let data = &self.body.insts[inst];
            match (&data.op, data.result) {
                (Op::IterBegin(spec), Some(walk)) if spec.global == self.array => {
                    !cyclic[block.index()] && self.is_certain(block, inst, spec, walk)
                }
                _ => false,
            }
        })
    }

    /// Whether the `clear` is certain to follow the start of a walk, with nothing in the way.
    fn is_certain(&self, start: Block, begin: Inst, spec: &IterSpec, walk: Value) -> bool {
        let Some(between) = self.between(start, begin, walk) else { return false };
        let [step] = between.steps.iter().copied().collect::<Vec<_>>()[..] else { return false };
        let limits = &self.module.limits;
        let budget = u64::from(limits.max_action.min(limits.max_action_interruptible));
        let turns = self.turns(spec).map(|turns| turns.saturating_add(1));
        turns.is_some_and(|turns| turns.saturating_mul(between.actions) <= budget)
            && !self.spends_before(start, begin)
            && !self.has_cycle_without(&between.blocks, step)
    }

    /// The most elements that a walk visits, if known.
    fn turns(&self, spec: &IterSpec) -> Option<u64> {
        let data = &self.module.globals[self.array];
        let size = (!data.discipline.is_sharded()).then_some(u64::from(data.max_entries));
        let limit = spec.limit.and_then(|limit| {
            self.body.iter_insts().find_map(|(_, inst)| match self.body.insts[inst] {
                ref data if data.result != Some(limit) => None,
                ref data => match data.op {
                    Op::Const(Const::Long(n)) => Some(u64::try_from(n).unwrap_or(0)),
                    _ => None,
                },
            })
        });
        match (size, limit) {
            (Some(size), Some(limit)) => Some(size.min(limit)),
            (size, limit) => size.or(limit),
        }
    }

    /// Follows all paths from the start of a walk to the `clear`; `None` if one does not lead there.
    fn between(&self, start: Block, begin: Inst, walk: Value) -> Option<Between> {
        let mut found = Between::default();
        let first = self.body.blocks[start].insts.iter().position(|&inst| inst == begin)?;
        let mut work = vec![(start, first + 1)];
        while let Some((block, from)) = work.pop() {
            let data = &self.body.blocks[block];
            let mut ends = false;
            for &inst in &data.insts[from..] {
                if inst == self.clear {
                    ends = true;
                    break;
                }
                match &self.body.insts[inst].op {
                    Op::Action => found.actions += 1,
                    Op::CStatement(_) | Op::CExpression(_) => return None,
                    op => {
                        let effects = self.summaries.op(self.module, op);
                        let touches = effects.reads.contains(&self.array)
                            || effects.writes.contains(&self.array);
                        if touches || effects.raises || effects.aborts {
                            return None;
                        }
                        if *op == Op::IterNext(walk) {
                            found.steps.insert(block);
                        }
                    }
                }
            }
            if ends {
                continue;
            }
            if !matches!(data.terminator, Terminator::Jump(_) | Terminator::Branch(..)) {
                return None;
            }
            for &next in self.cfg.successors(block) {
                if found.blocks.insert(next) {
                    work.push((next, 0));
                }
            }
        }
        Some(found)
    }

    /// Whether actions may be spent before a walk starts.
    fn spends_before(&self, start: Block, begin: Inst) -> bool {
        let mut seen = BTreeSet::from([start]);
        let mut work = vec![start];
        while let Some(block) = work.pop() {
            let insts = self.body.blocks[block].insts.iter();
            let mut before = insts.take_while(|&&inst| inst != begin);
            if before.any(|&inst| self.summaries.op(self.module, &self.body.insts[inst].op).aborts)
            {
                return true;
            }
            work.extend(self.cfg.predecessors(block).iter().filter(|&&p| seen.insert(p)));
        }
        false
    }

    /// Whether some of the blocks go in a circle that does not pass one of them.
    fn has_cycle_without(&self, blocks: &BTreeSet<Block>, step: Block) -> bool {
        let mut rest: BTreeSet<Block> = blocks.iter().copied().filter(|&b| b != step).collect();
        loop {
            let leaf = rest
                .iter()
                .copied()
                .find(|&block| self.cfg.successors(block).iter().all(|next| !rest.contains(next)));
            match leaf {
                Some(leaf) => rest.remove(&leaf),
                None => return !rest.is_empty(),
            };
        }
    }
}
