//! Simplification of the control-flow graph.
//!
//! Assumes SSA form. Folds branches whose condition is a constant or whose ways are one, takes `try`
//! off what cannot raise, sends jumps past blocks that only pass them on or branch on what is known,
//! merges a block into its only predecessor where that goes nowhere else, and drops what cannot be
//! reached. Guarantees that none of this can be done any more.

use xlate_ir::effects::may_raise;
use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::instructions::{BlockCall, Op, Terminator};
use xlate_ir::module::Body;
use xlate_ir::rewrite::Replacements;
use xlate_ir::types::Const;

use crate::changes::Changes;
use crate::manager::BodyContext;

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let graph = Changes::GRAPH | Changes::EMPTIED | Changes::ENDS;
    if !cx.since.intersects(graph) && !depends_on_uses(cx.body) {
        return Changes::empty();
    }
    if cx.body.layout.len() == 1 {
        return Changes::empty();
    }
    let constants = constants(cx.body);
    let mut total = 0;
    loop {
        let folded = fold_branches(cx, &constants);
        let dropped = drop_unreachable(cx);
        let threaded = thread_jumps(cx, &constants);
        let merged = merge_blocks(cx.body);
        cx.log.count("branches folded", folded);
        cx.log.count("unreachable blocks dropped", dropped);
        cx.log.count("jumps threaded", threaded);
        cx.log.count("blocks merged", merged);
        let round = folded + dropped + threaded + merged;
        total += round;
        if round == 0 {
            return Changes::any(total > 0);
        }
    }
}

/// Whether more than blocks and what they end with counts: what is tried, and uses of parameters.
fn depends_on_uses(body: &Body) -> bool {
    body.layout.iter().any(|&block| {
        let data = &body.blocks[block];
        !data.params.is_empty() || matches!(data.terminator, Terminator::Try(..))
    })
}

/// For each value, the constant that it is, if it is an integer constant.
fn constants(body: &Body) -> Vec<Option<i64>> {
    let mut constants = vec![None; body.values.len()];
    for (_, inst) in body.iter_insts() {
        let data = &body.insts[inst];
        if let (Op::Const(Const::Long(n)), Some(result)) = (&data.op, data.result) {
            constants[result.index()] = Some(*n);
        }
    }
    constants
}

fn fold_branches(cx: &mut BodyContext<'_>, constants: &[Option<i64>]) -> usize {
    let mut folded = 0;
    for block in cx.body.layout.clone() {
        let data = &cx.body.blocks[block];
        let target = match &data.terminator {
            Terminator::Branch(_, a, b) if a == b => a.clone(),
            Terminator::Branch(value, a, b) => match constants[value.index()] {
                Some(0) => b.clone(),
                Some(_) => a.clone(),
                None => continue,
            },
            Terminator::Try(normal, _) => {
                let last = data.insts.last();
                if last.is_some_and(|&inst| may_raise_here(cx, inst)) {
                    continue;
                }
                normal.clone()
            }
            _ => continue,
        };
        let tried = matches!(data.terminator, Terminator::Try(..));
        let decides = |inst: &&Inst| tried || uses_result(&data.terminator, cx.body, **inst);
        let decider = data.insts.iter().rev().find(decides);
        let pos = decider.and_then(|&inst| cx.body.insts[inst].pos);
        cx.log.detail(pos, || match tried {
            true => "this cannot fail: there is nothing to catch",
            false => "a branch on this has one way to go",
        });
        cx.body.blocks[block].terminator = Terminator::Jump(target);
        folded += 1;
    }
    folded
}

/// Whether a block ends with a branch on what an instruction gives.
fn uses_result(terminator: &Terminator, body: &Body, inst: Inst) -> bool {
    match terminator {
        Terminator::Branch(condition, ..) => body.insts[inst].result == Some(*condition),
        _ => false,
    }
}

/// Drops what cannot be reached; gives the number of blocks.
fn drop_unreachable(cx: &mut BodyContext<'_>) -> usize {
    if cx.log.listens {
        let reachable = cx.body.reachable();
        for &block in cx.body.layout.iter().filter(|block| !reachable[block.index()]) {
            let insts = cx.body.blocks[block].insts.iter();
            let pos = insts.filter_map(|&inst| cx.body.insts[inst].pos).next();
            cx.log.detail(pos, || "nothing comes here");
        }
    }
    cx.body.remove_unreachable()
}

/// Whether an instruction may raise, what is known of called functions considered.
fn may_raise_here(cx: &BodyContext<'_>, inst: Inst) -> bool {
    let op = &cx.body.insts[inst].op;
    may_raise(cx.module, op) && cx.summaries.op(cx.module, op).raises
}

/// Sends edges past blocks without instructions that pass them on, or that branch on a parameter which
/// is constant along the edge. Loop headers stay, so that loops keep their one entry.
fn thread_jumps(cx: &mut BodyContext<'_>, constants: &[Option<i64>]) -> usize {
    if cx.body.layout.iter().all(|&block| !cx.body.blocks[block].insts.is_empty()) {
        return 0;
    }
    let graph = cx.graph();
    let body = &mut *cx.body;
    let mut fixed = params_used_elsewhere(body);
    for natural in &graph.loops().loops {
        fixed[natural.header.index()] = true;
    }
    let uses = body.use_counts();
    for &block in &body.layout {
        // The result of what is tried is available from the block that only its success leads to.
        if let Terminator::Try(normal, _) = &body.blocks[block].terminator
            && let Some(result) = body.tried_result(block)
        {
            let mut passed_on = normal.args.iter().filter(|&&arg| arg == result).count();
            body.blocks[normal.block]
                .terminator
                .for_each_operand(|value| passed_on += usize::from(value == result));
            fixed[normal.block.index()] |= uses[result.index()] as usize > passed_on;
        }
    }
    let mut threaded = 0;
    for from in body.layout.clone() {
        for index in 0..body.blocks[from].terminator.successors().count() {
            // Each step goes past a block that is no loop header, so the steps end.
            while let Some(call) = find_thread(body, (from, index), constants, &fixed) {
                if let Some(edge) = body.blocks[from].terminator.successors_mut().nth(index) {
                    *edge = call;
                }
                threaded += 1;
            }
        }
    }
    threaded
}

/// Where an edge can go instead, if past a block.
fn find_thread(
    body: &Body,
    (from, index): (Block, usize),
    constants: &[Option<i64>],
    fixed: &[bool],
) -> Option<BlockCall> {
    let call = body.blocks[from].terminator.successors().nth(index)?;
    let data = &body.blocks[call.block];
    if !data.insts.is_empty() || fixed[call.block.index()] {
        return None;
    }
    let next = match &data.terminator {
        Terminator::Jump(next) => next,
        Terminator::Branch(condition, then, other) => {
            let n = data.params.iter().position(|param| param == condition)?;
            if constants[call.args[n].index()]? == 0 { other } else { then }
        }
        _ => return None,
    };
    let along = |value: &Value| match data.params.iter().position(|param| param == value) {
        Some(n) => call.args[n],
        None => *value,
    };
    Some(BlockCall { block: next.block, args: next.args.iter().map(along).collect() })
}

/// For each block, by index: whether a parameter of it is used outside of its terminator.
fn params_used_elsewhere(body: &Body) -> Vec<bool> {
    let mut home = vec![None; body.values.len()];
    for &block in &body.layout {
        for &param in &body.blocks[block].params {
            home[param.index()] = Some(block);
        }
    }
    let mut escaping = vec![false; body.blocks.len()];
    for &block in &body.layout {
        let data = &body.blocks[block];
        let mut used = |value: Value, at_end: bool| {
            if let Some(home) = home[value.index()]
                && !(at_end && home == block)
            {
                escaping[home.index()] = true;
            }
        };
        for &inst in &data.insts {
            body.insts[inst].op.for_each_operand(|value| used(value, false));
        }
        data.terminator.for_each_operand(|value| used(value, true));
    }
    escaping
}

/// Merges blocks into their only predecessor where that jumps to them.
fn merge_blocks(body: &mut Body) -> usize {
    let edges = body.edges_in();
    let mut replacements = Replacements::new(body);
    let mut merged_into: Vec<Option<Block>> = vec![None; body.blocks.len()];
    let mut merged = 0;
    for block in body.layout.clone() {
        let [(from, _)] = edges[block.index()][..] else { continue };
        // The predecessor may have been merged into another.
        let mut into = from;
        while let Some(next) = merged_into[into.index()] {
            into = next;
        }
        let Terminator::Jump(call) = &body.blocks[into].terminator else { continue };
        if call.block != block || into == block {
            continue;
        }
        let args = call.args.clone();
        let data = &mut body.blocks[block];
        let insts = std::mem::take(&mut data.insts);
        let terminator = std::mem::replace(&mut data.terminator, Terminator::Unreachable);
        for (param, arg) in data.params.clone().into_iter().zip(args) {
            replacements.insert(param, arg);
        }
        body.blocks[into].insts.extend(insts);
        body.blocks[into].terminator = terminator;
        merged_into[block.index()] = Some(into);
        merged += 1;
    }
    if merged > 0 {
        body.layout.retain(|block| merged_into[block.index()].is_none());
        replacements.apply(body);
    }
    merged
}
