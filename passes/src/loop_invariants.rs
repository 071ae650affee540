//! Loop-invariant code motion.
//!
//! Assumes SSA form. Moves what neither raises nor has effects, and whose operands and globals a loop
//! does not change, in front of the loop. Guarantees that no such instruction is left in a loop. What
//! is moved may be computed where it was not before; it is cheap and cannot fail. What cannot fail
//! only because of a branch before it stays behind that.

use xlate_ir::cfg::Loop;
use xlate_ir::effects::{Effects, Invariance};
use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::instructions::{BlockCall, Op, Terminator};
use xlate_ir::module::Body;

use crate::changes::Changes;
use crate::manager::BodyContext;

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let mut total = 0;
    // The loops are found anew after each that something has left: there may be a new block in front
    // of it, which is in the loop around it.
    loop {
        let graph = cx.graph();
        let mut moves = graph.loops().loops.iter().rev().map(|natural| hoist(cx, natural));
        match moves.find(|moved| *moved > 0) {
            Some(moved) => total += moved,
            None => break,
        }
    }
    cx.log.count("instructions moved", total);
    Changes::any(total > 0)
}

/// Moves what it can out of one loop.
fn hoist(cx: &mut BodyContext<'_>, natural: &Loop) -> usize {
    let first = cx.body.blocks[natural.header].insts.first();
    if first.is_some_and(|&inst| cx.body.insts[inst].op == Op::Caught) {
        // Only errors lead there, so nothing can be put in front.
        return 0;
    }
    let mut inside = vec![false; cx.body.values.len()];
    let mut effects = Effects::default();
    for &block in &natural.blocks {
        let data = &cx.body.blocks[block];
        for &param in &data.params {
            inside[param.index()] = true;
        }
        for &inst in &data.insts {
            let data = &cx.body.insts[inst];
            data.result.iter().for_each(|result| inside[result.index()] = true);
            effects.join(&cx.summaries.op(cx.module, &data.op));
        }
    }
    let mut hoisted: Vec<Inst> = Vec::new();
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &natural.blocks {
            for inst in movable(cx.body, block) {
                if !is_invariant(cx, inst, &inside, &effects) {
                    continue;
                }
                cx.body.blocks[block].insts.retain(|&other| other != inst);
                cx.body.insts[inst].result.iter().for_each(|result| inside[result.index()] = false);
                hoisted.push(inst);
                changed = true;
            }
        }
    }
    log_missed(cx, natural, &inside, &effects);
    if hoisted.is_empty() {
        return 0;
    }
    for &inst in &hoisted {
        let data = &cx.body.insts[inst];
        // Constants become part of what uses them, wherever they stand.
        if !matches!(data.op, Op::Const(_)) {
            cx.log.applied(data.pos, "this is computed once, in front of the loop");
        }
    }
    let count = hoisted.len();
    let front = preheader(cx.body, natural);
    cx.body.blocks[front].insts.extend(hoisted);
    count
}

/// Tells of what is read in each round because the loop writes it.
fn log_missed(cx: &mut BodyContext<'_>, natural: &Loop, inside: &[bool], in_loop: &Effects) {
    for &block in &natural.blocks {
        for &inst in &cx.body.blocks[block].insts {
            let data = &cx.body.insts[inst];
            if let Op::Load(place) = &data.op
                && place.keys.iter().all(|key| !inside[key.index()])
                && in_loop.writes.contains(&place.global)
            {
                let name = &cx.module.globals[place.global].name;
                let message = format!("`{name}` is read in each round: the loop writes it");
                cx.log.missed(data.pos, message);
            }
        }
    }
}

/// The instructions of a block that could stand elsewhere: not the one that its `try` is about.
fn movable(body: &Body, block: Block) -> Vec<Inst> {
    let data = &body.blocks[block];
    let tried = usize::from(matches!(data.terminator, Terminator::Try(..)));
    data.insts[..data.insts.len().saturating_sub(tried)].to_vec()
}

fn is_invariant(cx: &BodyContext<'_>, inst: Inst, inside: &[bool], in_loop: &Effects) -> bool {
    let data = &cx.body.insts[inst];
    let effects = cx.summaries.op(cx.module, &data.op);
    let mut outside = true;
    data.op.for_each_operand(|value: Value| outside &= !inside[value.index()]);
    outside
        && effects.is_removable()
        && !effects.guarded
        && effects.invariance != Invariance::Volatile
        && effects.reads.is_disjoint(&in_loop.writes)
}

/// The block that leads to the header of a loop from outside, and nowhere else; made if there is none.
fn preheader(body: &mut Body, natural: &Loop) -> Block {
    let header = natural.header;
    let entering: Vec<Block> = body
        .layout
        .iter()
        .copied()
        .filter(|block| !natural.blocks.contains(block))
        .filter(|&block| body.blocks[block].terminator.successors().any(|c| c.block == header))
        .collect();
    if let [only] = entering[..]
        && matches!(body.blocks[only].terminator, Terminator::Jump(_))
    {
        return only;
    }
    let params: Vec<_> =
        body.blocks[header].params.iter().map(|&param| body.values[param].clone()).collect();
    let front = body.add_block();
    body.layout.pop();
    let at = body.layout.iter().position(|&block| block == header).unwrap_or(0);
    body.layout.insert(at, front);
    let args = params.into_iter().map(|data| body.add_param(front, data.ty, data.name)).collect();
    body.blocks[front].terminator = Terminator::Jump(BlockCall { block: header, args });
    for from in entering {
        for call in body.blocks[from].terminator.successors_mut() {
            if call.block == header {
                call.block = front;
            }
        }
    }
    front
}
