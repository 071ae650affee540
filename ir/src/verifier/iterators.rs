//! Iterators: begun once, ended on every path, not used when ended.

use std::collections::{BTreeMap, BTreeSet};

use super::Checker;
use crate::cfg::Cfg;
use crate::entities::{Block, Entity, Inst, Value};
use crate::instructions::{Op, Terminator};

/// The iterators that are open, and whether each must be ended: not where an error led since it began,
/// on all paths, for an error may abandon it.
type Open = BTreeMap<Value, bool>;

impl Checker<'_> {
    /// Walks the graph with the set of open iterators. Those that must be ended are open along all edges
    /// into a block, but those of errors.
    pub(super) fn check_iterators(&mut self, cfg: &Cfg) {
        let at_entry = self.open_at_entry(cfg);
        for &block in cfg.reverse_postorder() {
            let mut open = at_entry[block.index()].clone();
            for (inst, message) in self.walk_iterators(block, &mut open) {
                self.at_inst(block, inst, message);
            }
            let terminator = &self.body.blocks[block].terminator;
            let owed: BTreeSet<Value> =
                open.iter().filter(|(_, owed)| **owed).map(|(&value, _)| value).collect();
            if matches!(terminator, Terminator::Return(_)) && !owed.is_empty() {
                self.at_end(block, format!("{} is not ended", show(&owed)));
            }
            for (target, raised) in edges(terminator) {
                let kept = &at_entry[target.index()];
                let lost: BTreeSet<Value> =
                    owed.iter().copied().filter(|value| !kept.contains_key(value)).collect();
                if !raised && !lost.is_empty() {
                    let message = format!("{} is not open on all paths to {target}", show(&lost));
                    self.at_end(block, message);
                }
            }
        }
    }

    /// For each block, the iterators that are open on all paths to it.
    fn open_at_entry(&self, cfg: &Cfg) -> Vec<Open> {
        let mut at_entry: Vec<Option<Open>> = vec![None; self.body.blocks.len()];
        at_entry[self.body.entry().index()] = Some(Open::new());
        let mut changed = true;
        while changed {
            changed = false;
            for &block in cfg.reverse_postorder() {
                // Reverse postorder has a predecessor of each block before it.
                let mut open = at_entry[block.index()].clone().unwrap_or_default();
                self.walk_iterators(block, &mut open);
                for (target, raised) in edges(&self.body.blocks[block].terminator) {
                    let along: Open =
                        open.iter().map(|(&value, &owed)| (value, owed && !raised)).collect();
                    let state = &mut at_entry[target.index()];
                    let merged = match state {
                        None => along,
                        Some(other) => both(other, &along),
                    };
                    if state.as_ref() != Some(&merged) {
                        *state = Some(merged);
                        changed = true;
                    }
                }
            }
        }
        at_entry.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// Goes through a block with the set of open iterators; gives what is wrong.
    fn walk_iterators(&self, block: Block, open: &mut Open) -> Vec<(Inst, String)> {
        let mut wrong = Vec::new();
        for &inst in &self.body.blocks[block].insts {
            let data = &self.body.insts[inst];
            match &data.op {
                Op::IterBegin(_) => {
                    // It is not open here: a way back to it with the iterator open is an edge along
                    // which that is open, and along the way to it from the entry it is not.
                    open.extend(data.result.map(|result| (result, true)));
                }
                Op::IterNext(iter)
                | Op::IterKey(iter, _)
                | Op::IterValue(iter)
                | Op::IterStat(iter, _)
                    if !open.contains_key(iter) =>
                {
                    wrong.push((inst, format!("{iter} is not open")));
                }
                Op::IterEnd(iter) if open.remove(iter).is_none() => {
                    wrong.push((inst, format!("{iter} is not open")));
                }
                _ => {}
            }
        }
        wrong
    }
}

/// What is open where two paths meet.
fn both(a: &Open, b: &Open) -> Open {
    let meet =
        |(&value, &owed): (&Value, &bool)| b.get(&value).map(|&other| (value, owed || other));
    a.iter().filter_map(meet).collect()
}

/// The blocks that a terminator leads to, and whether by an error.
fn edges(terminator: &Terminator) -> Vec<(Block, bool)> {
    let raised = |index: usize| match terminator {
        Terminator::Try(..) => index == 1,
        Terminator::Raise { .. } => true,
        _ => false,
    };
    let calls = terminator.successors().enumerate();
    calls.map(|(index, call)| (call.block, raised(index))).collect()
}

fn show(values: &BTreeSet<Value>) -> String {
    values.iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}
