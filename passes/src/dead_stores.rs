//! Dead store elimination: stores to scalar globals that are overwritten before anything can tell.
//!
//! Assumes that handlers are atomic, so that nobody else sees a value between two stores of one run.
//! Guarantees that no store to a scalar is overwritten on every path after it, without a read in
//! between and without an error or limit that could end the handler there: a raise keeps the stores
//! before it.

use xlate_ir::entities::{Block, Entity, Inst};
use xlate_ir::global_set::GlobalSet;
use xlate_ir::instructions::{Op, Terminator};

use crate::changes::Changes;
use crate::manager::BodyContext;

/// Globals that are overwritten on all paths from a point; `None` before anything is known, which is
/// all of them.
type Overwritten = Option<GlobalSet>;

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    if !stores_twice(cx) {
        return Changes::empty();
    }
    let graph = cx.graph();
    let cfg = &graph.cfg;
    let mut at_start: Vec<Overwritten> = vec![None; cx.body.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in cfg.reverse_postorder().iter().rev() {
            let mut set = at_end(cx, block, &at_start);
            walk(cx, block, &mut set, |_| {});
            let set = Some(set);
            if set != at_start[block.index()] {
                at_start[block.index()] = set;
                changed = true;
            }
        }
    }
    let mut dropped = 0;
    for &block in cfg.reverse_postorder() {
        let mut set = at_end(cx, block, &at_start);
        let mut dead = Vec::new();
        walk(cx, block, &mut set, |index| dead.push(index));
        dropped += dead.len();
        for index in dead {
            let inst = cx.body.blocks[block].insts.remove(index);
            log(cx, inst);
        }
    }
    cx.log.count("stores dropped", dropped);
    Changes::any(dropped > 0)
}

/// Whether there are two stores to one scalar. A store alone is overwritten by nothing, or by itself in
/// a loop that nothing leaves.
fn stores_twice(cx: &BodyContext<'_>) -> bool {
    let mut stored = GlobalSet::new();
    let mut insts = cx.body.iter_insts().map(|(_, inst)| &cx.body.insts[inst].op);
    insts.any(|op| matches!(op, Op::Store(place, _) if place.keys.is_empty() && !stored.insert(place.global)))
}

fn log(cx: &mut BodyContext<'_>, store: Inst) {
    let data = &cx.body.insts[store];
    if let Op::Store(place, _) = &data.op {
        let name = &cx.module.globals[place.global].name;
        let message = format!("`{name}` is not stored here: no handler can see it before the next");
        cx.log.applied(data.pos, message);
    }
}

/// What is overwritten after a block.
fn at_end(cx: &BodyContext<'_>, block: Block, at_start: &[Overwritten]) -> GlobalSet {
    let terminator = &cx.body.blocks[block].terminator;
    if matches!(terminator, Terminator::Raise { catch: None, .. }) {
        return GlobalSet::new();
    }
    let mut common: Overwritten = None;
    for call in terminator.successors() {
        let Some(next) = &at_start[call.block.index()] else { continue };
        common = Some(match common {
            None => next.clone(),
            Some(set) => set.intersection(next),
        });
    }
    common.unwrap_or_default()
}

/// Goes through a block backwards; tells the places of dead stores, last first.
fn walk(
    cx: &BodyContext<'_>,
    block: Block,
    overwritten: &mut GlobalSet,
    mut dead: impl FnMut(usize),
) {
    for (index, &inst) in cx.body.blocks[block].insts.iter().enumerate().rev() {
        let op = &cx.body.insts[inst].op;
        let effects = cx.summaries.op(cx.module, op);
        if effects.raises || effects.aborts || effects.exits {
            overwritten.clear();
        }
        if let Op::Store(place, _) = op
            && place.keys.is_empty()
            && !overwritten.insert(place.global)
        {
            dead(index);
        }
        overwritten.retain(|global| !effects.reads.contains(global));
    }
}
