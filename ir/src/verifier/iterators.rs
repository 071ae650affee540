//! Iterators: begun once, ended on every path, not used when ended.

use std::collections::BTreeSet;

use super::Checker;
use crate::cfg::Cfg;
use crate::entities::{Block, Entity, Inst, Value};
use crate::instructions::{Op, Terminator};

impl Checker<'_> {
    /// Walks the graph with the set of open iterators. It must be the same along all edges into a block
    /// but those of errors, which abandon the iterators that are not open on all of them.
    pub(super) fn check_iterators(&mut self, cfg: &Cfg) {
        let at_entry = self.open_at_entry(cfg);
        for &block in cfg.reverse_postorder() {
            let mut open = at_entry[block.index()].clone();
            for (inst, message) in self.walk_iterators(block, &mut open) {
                self.at_inst(block, inst, message);
            }
            let terminator = &self.body.blocks[block].terminator;
            if matches!(terminator, Terminator::Return(_)) && !open.is_empty() {
                self.at_end(block, format!("{} is not ended", show(&open)));
            }
            for (target, raised) in edges(terminator) {
                let lost: BTreeSet<_> =
                    open.difference(&at_entry[target.index()]).copied().collect();
                if !raised && !lost.is_empty() {
                    let message = format!("{} is not open on all paths to {target}", show(&lost));
                    self.at_end(block, message);
                }
            }
        }
    }

    /// For each block, the iterators that are open on all paths to it.
    fn open_at_entry(&self, cfg: &Cfg) -> Vec<BTreeSet<Value>> {
        let mut at_entry: Vec<Option<BTreeSet<Value>>> = vec![None; self.body.blocks.len()];
        at_entry[self.body.entry().index()] = Some(BTreeSet::new());
        let mut changed = true;
        while changed {
            changed = false;
            for &block in cfg.reverse_postorder() {
                // Reverse postorder has a predecessor of each block before it.
                let mut open = at_entry[block.index()].clone().unwrap_or_default();
                self.walk_iterators(block, &mut open);
                for (target, _) in edges(&self.body.blocks[block].terminator) {
                    let state = &mut at_entry[target.index()];
                    let merged = match state {
                        None => open.clone(),
                        Some(other) => other.intersection(&open).copied().collect(),
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
    fn walk_iterators(&self, block: Block, open: &mut BTreeSet<Value>) -> Vec<(Inst, String)> {
        let mut wrong = Vec::new();
        for &inst in &self.body.blocks[block].insts {
            let data = &self.body.insts[inst];
            match &data.op {
                Op::IterBegin(_) => {
                    // It is not open here: a way back to it with the iterator open is an edge along
                    // which that is open, and along the way to it from the entry it is not.
                    open.extend(data.result);
                }
                Op::IterNext(iter)
                | Op::IterKey(iter, _)
                | Op::IterValue(iter)
                | Op::IterStat(iter, _)
                    if !open.contains(iter) =>
                {
                    wrong.push((inst, format!("{iter} is not open")));
                }
                Op::IterEnd(iter) if !open.remove(iter) => {
                    wrong.push((inst, format!("{iter} is not open")));
                }
                _ => {}
            }
        }
        wrong
    }
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
