//! Dead code elimination.
//!
//! Assumes SSA form. Guarantees that every instruction left has an effect that must stay, or a result
//! that such an instruction or the end of a block needs, and that the same holds for every block
//! parameter. Blocks and branches stay, so that a loop ends where it did. A handler locks nothing that
//! it does not touch any more.

use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::global_set::GlobalSet;
use xlate_ir::instructions::{FetchOp, Op, Terminator, UpdateOp};

use crate::changes::Changes;
use crate::manager::BodyContext;

/// What defines a value.
#[derive(Clone, Copy)]
enum Definition {
    Inst(Inst),
    Param(Block, usize),
}

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let unreachable = cx.body.remove_unreachable();
    let live = live_values(cx);
    let mut dropped = 0;
    let mut changes = Changes::empty();
    for block in cx.body.layout.clone() {
        let data = &cx.body.blocks[block];
        let tried = is_tried(&data.terminator);
        let last = data.insts.len();
        let keep: Vec<bool> = data
            .insts
            .iter()
            .enumerate()
            .map(|(index, &inst)| (tried && index + 1 == last) || is_needed(cx, inst, &live))
            .collect();
        let mut kept = keep.iter();
        for (&inst, _) in data.insts.iter().zip(&keep).filter(|(_, kept)| !**kept) {
            let data = &cx.body.insts[inst];
            if !matches!(data.op, Op::Const(_)) {
                cx.log.detail(data.pos, || "nothing needs the result of this: it is not computed");
            }
        }
        let insts = &mut cx.body.blocks[block].insts;
        insts.retain(|_| kept.next().copied().unwrap_or(true));
        if insts.len() < keep.len() {
            dropped += keep.len() - insts.len();
            changes |= Changes::DROPPED;
            if insts.is_empty() {
                changes |= Changes::EMPTIED;
            }
        }
    }
    let unfetched = drop_fetches(cx, &live);
    let params = drop_params(cx, &live);
    let locks = drop_locks(cx);
    cx.log.count("instructions dropped", dropped);
    cx.log.count("block parameters dropped", params);
    cx.log.count("unreachable blocks dropped", unreachable);
    cx.log.count("locks dropped", locks);
    cx.log.count("values not fetched", unfetched);
    changes | Changes::any(params + unreachable + locks + unfetched > 0)
}

fn is_tried(terminator: &Terminator) -> bool {
    matches!(terminator, Terminator::Try(..))
}

fn is_needed(cx: &BodyContext<'_>, inst: Inst, live: &[bool]) -> bool {
    let data = &cx.body.insts[inst];
    data.result.is_some_and(|result| live[result.index()])
        || !cx.summaries.op(cx.module, &data.op).is_removable()
}

/// Has what is fetched and written only be written where nothing needs it.
fn drop_fetches(cx: &mut BodyContext<'_>, live: &[bool]) -> usize {
    let mut count = 0;
    for inst in cx.body.iter_insts().map(|(_, inst)| inst).collect::<Vec<_>>() {
        let data = &mut cx.body.insts[inst];
        if data.result.is_none_or(|result| live[result.index()]) {
            continue;
        }
        data.op = match &data.op {
            Op::Fetch(FetchOp::Add, place, by) => Op::Update(UpdateOp::Add, place.clone(), *by),
            Op::Fetch(FetchOp::Exchange, place, new) => Op::Store(place.clone(), *new),
            _ => continue,
        };
        data.result = None;
        count += 1;
    }
    count
}

/// For each value: whether something that must stay needs it.
fn live_values(cx: &BodyContext<'_>) -> Vec<bool> {
    let body = &*cx.body;
    let edges = body.edges_in();
    let mut definitions = vec![None; body.values.len()];
    let mut live = vec![false; body.values.len()];
    let mut work: Vec<Value> = Vec::new();
    for &block in &body.layout {
        let data = &body.blocks[block];
        for (index, &param) in data.params.iter().enumerate() {
            definitions[param.index()] = Some(Definition::Param(block, index));
        }
        for &inst in &data.insts {
            if let Some(result) = body.insts[inst].result {
                definitions[result.index()] = Some(Definition::Inst(inst));
            }
            let tried = is_tried(&data.terminator) && data.insts.last() == Some(&inst);
            let op = &body.insts[inst].op;
            if tried || !cx.summaries.op(cx.module, op).is_removable() {
                op.for_each_operand(|value| work.push(value));
            }
        }
        match &data.terminator {
            Terminator::Branch(value, ..)
            | Terminator::Return(Some(value))
            | Terminator::Raise { message: value, .. } => work.push(*value),
            _ => {}
        }
    }
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut live[value.index()], true) {
            continue;
        }
        match definitions[value.index()] {
            Some(Definition::Inst(inst)) => {
                body.insts[inst].op.for_each_operand(|operand| work.push(operand));
            }
            Some(Definition::Param(block, index)) => {
                let args = edges[block.index()].iter().map(|&edge| body.edge_args(edge)[index]);
                work.extend(args);
            }
            None => {}
        }
    }
    live
}

/// Drops the block parameters that nothing needs; the entry's are the function's.
fn drop_params(cx: &mut BodyContext<'_>, live: &[bool]) -> usize {
    let entry = cx.body.entry();
    let mut keep: Vec<Vec<bool>> = vec![Vec::new(); cx.body.blocks.len()];
    let mut dropped = 0;
    for &block in cx.body.layout.iter().filter(|block| **block != entry) {
        let params = &cx.body.blocks[block].params;
        keep[block.index()] = params.iter().map(|param| live[param.index()]).collect();
        dropped += keep[block.index()].iter().filter(|kept| !**kept).count();
    }
    if dropped > 0 {
        cx.body.retain_params(&keep);
    }
    dropped
}

/// Drops the locks of globals that the handler does not touch; gives how many.
fn drop_locks(cx: &mut BodyContext<'_>) -> usize {
    let (mut touched, mut locked) = (GlobalSet::new(), GlobalSet::new());
    for (_, inst) in cx.body.iter_insts() {
        match &cx.body.insts[inst].op {
            Op::Lock(locks) => locked.extend(locks.iter().map(|(global, _)| *global)),
            Op::Call(function, _) => {
                let callee = cx.summaries.function(*function);
                touched.extend(callee.reads.iter().chain(&callee.writes).copied());
            }
            // Who knows what it touches.
            Op::CStatement(_) | Op::CExpression(_) => return 0,
            op => touched.extend(op.global()),
        }
    }
    let owners: Vec<_> = touched.iter().filter_map(|&g| cx.module.lock_of(g)).collect();
    touched.extend(owners);
    let mut needless = locked;
    needless.retain(|global| !touched.contains(global));
    if needless.is_empty() {
        return 0;
    }
    for block in cx.body.layout.clone() {
        for inst in cx.body.blocks[block].insts.clone() {
            match &mut cx.body.insts[inst].op {
                Op::Lock(locks) => locks.retain(|(global, _)| !needless.contains(global)),
                Op::Unlock(globals) => globals.retain(|global| !needless.contains(global)),
                _ => {}
            }
        }
        let (insts, blocks) = (&cx.body.insts, &mut cx.body.blocks);
        blocks[block].insts.retain(|&inst| match &insts[inst].op {
            Op::Lock(locks) => !locks.is_empty(),
            Op::Unlock(globals) => !globals.is_empty(),
            _ => true,
        });
    }
    needless.len()
}
