//! In-place updates: a load, an operation on what it gives, and a store to the same place become one
//! `update` where nothing else needs the values.
//!
//! Assumes that equal keys are one value (after value numbering). Knows `+`, `-` of what can be
//! negated, `|`, and the conditional stores `if (x > m) m = x` and `if (x < m) m = x`, which are a
//! maximum and a minimum. The update stands where the store stood and raises where it would have.
//! Guarantees nothing; what it makes costs one look-up instead of two, and later passes can make it an
//! atomic operation or an update of a shard.

use xlate_ir::arith;
use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::instructions::{
    BinaryOp, CompareOp, InstData, Op, Place, Terminator, UnaryOp, UpdateOp,
};
use xlate_ir::module::ValueData;
use xlate_ir::types::{Const, ElementType, Type};

use crate::changes::Changes;
use crate::manager::BodyContext;

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let mut made = 0;
    let mut uses = cx.body.use_counts();
    for block in cx.body.layout.clone() {
        while fold_one(cx, block, &uses) || fold_extreme(cx, block, &uses) {
            made += 1;
            uses = cx.body.use_counts();
        }
    }
    cx.log.count("updates made", made);
    Changes::any(made > 0)
}

/// An update that a block does in three steps.
struct Found {
    load: usize,
    operation: usize,
    store: usize,
    op: UpdateOp,
    place: Place,
    value: Value,
    negate: bool,
}

/// Makes one update in a block, if there is one to make.
fn fold_one(cx: &mut BodyContext<'_>, block: Block, uses: &[u32]) -> bool {
    let stores = 0..cx.body.blocks[block].insts.len();
    let Some(found) = stores.into_iter().find_map(|store| find(cx, block, store, uses)) else {
        return false;
    };
    let Found { load, operation, store, op, place, mut value, negate } = found;
    let insts = cx.body.blocks[block].insts.clone();
    let pos = cx.body.insts[insts[operation]].pos;
    let mut negation = None;
    if negate {
        let op = match constant(cx, value) {
            Some(n) => Op::Const(Const::Long(arith::unary(UnaryOp::Neg, n))),
            None => Op::Unary(UnaryOp::Neg, value),
        };
        value = cx.body.values.alloc(ValueData { ty: Type::Long, name: None });
        negation = Some(cx.body.insts.alloc(InstData { op, result: Some(value), pos }));
    }
    log(cx, insts[store], op, &place);
    cx.body.insts[insts[store]].op = Op::Update(op, place, value);
    let kept = insts.iter().enumerate().flat_map(|(index, &inst)| {
        let replaced = if index == operation { negation } else { Some(inst) };
        replaced.filter(|_| index != load)
    });
    cx.body.blocks[block].insts = kept.collect();
    true
}

fn log(cx: &mut BodyContext<'_>, store: Inst, op: UpdateOp, place: &Place) {
    let name = &cx.module.globals[place.global].name;
    let what = match op {
        UpdateOp::Add => "added to",
        UpdateOp::Or => "updated",
        UpdateOp::Max => "made the larger of two",
        UpdateOp::Min => "made the smaller of two",
    };
    let message = format!("`{name}` is {what} in place, not read and stored");
    cx.log.applied(cx.body.insts[store].pos, message);
}

fn constant(cx: &BodyContext<'_>, value: Value) -> Option<i64> {
    cx.body.iter_insts().find_map(|(_, inst)| match cx.body.insts[inst] {
        InstData { op: Op::Const(Const::Long(n)), result: Some(result), .. } if result == value => {
            Some(n)
        }
        _ => None,
    })
}

fn find(cx: &BodyContext<'_>, block: Block, store: usize, uses: &[u32]) -> Option<Found> {
    let insts = &cx.body.blocks[block].insts;
    let Op::Store(place, stored) = &cx.body.insts[insts[store]].op else { return None };
    if cx.module.globals[place.global].element != ElementType::Long || uses[stored.index()] != 1 {
        return None;
    }
    let defined_by =
        |value: Value| (0..store).find(|&index| cx.body.insts[insts[index]].result == Some(value));
    let operation = defined_by(*stored)?;
    let Op::Binary(kind, a, b) = cx.body.insts[insts[operation]].op else { return None };
    let is_load = |value: Value| {
        let load = defined_by(value)?;
        let same = cx.body.insts[insts[load]].op == Op::Load(place.clone());
        (same && uses[value.index()] == 1).then_some(load)
    };
    let (op, load, value, negate) = match (kind, is_load(a), is_load(b)) {
        (BinaryOp::Add, Some(load), _) => (UpdateOp::Add, load, b, false),
        (BinaryOp::Add, _, Some(load)) => (UpdateOp::Add, load, a, false),
        (BinaryOp::Or, Some(load), _) => (UpdateOp::Or, load, b, false),
        (BinaryOp::Or, _, Some(load)) => (UpdateOp::Or, load, a, false),
        (BinaryOp::Sub, Some(load), _) => (UpdateOp::Add, load, b, true),
        _ => return None,
    };
    let quiet = |inst: &Inst| {
        let effects = cx.summaries.op(cx.module, &cx.body.insts[*inst].op);
        !effects.writes.contains(&place.global)
    };
    let between = &insts[load + 1..store];
    between.iter().all(quiet).then(|| Found {
        load,
        operation,
        store,
        op,
        place: place.clone(),
        value,
        negate,
    })
}

/// Makes a maximum or minimum of a block that ends by comparing what it loads with a value and
/// branching round a block that stores that value.
fn fold_extreme(cx: &mut BodyContext<'_>, block: Block, uses: &[u32]) -> bool {
    let Some((store_block, store, load, op, after)) = find_extreme(cx, block, uses) else {
        return false;
    };
    let data = &cx.body.insts[store];
    let (Op::Store(place, value), pos) = (data.op.clone(), data.pos) else { return false };
    log(cx, store, op, &place);
    let update =
        cx.body.insts.alloc(InstData { op: Op::Update(op, place, value), result: None, pos });
    let condition = cx.body.blocks[block].insts.pop();
    debug_assert!(condition.is_some());
    let data = &mut cx.body.blocks[block];
    data.insts.retain(|&inst| inst != load);
    data.insts.push(update);
    data.terminator = after;
    cx.body.layout.retain(|&other| other != store_block);
    true
}

type Extreme = (Block, Inst, Inst, UpdateOp, Terminator);

/// The block of the store, the store, the load, the operation, and how the block goes on.
fn find_extreme(cx: &BodyContext<'_>, block: Block, uses: &[u32]) -> Option<Extreme> {
    let body = &*cx.body;
    let data = &body.blocks[block];
    let Terminator::Branch(condition, then, after) = &data.terminator else { return None };
    let inner = &body.blocks[then.block];
    let Terminator::Jump(leave) = &inner.terminator else { return None };
    let [store] = inner.insts[..] else { return None };
    let Op::Store(place, value) = &body.insts[store].op else { return None };
    let scalar =
        place.keys.is_empty() && cx.module.globals[place.global].element == ElementType::Long;
    let entered_once = body.edges_in()[then.block.index()].len() == 1;
    if !scalar || !entered_once || !inner.params.is_empty() || leave != after {
        return None;
    }
    let last = *data.insts.last()?;
    let Op::Compare(kind, a, b) = body.insts[last].op else { return None };
    if body.insts[last].result != Some(*condition) || uses[condition.index()] != 1 {
        return None;
    }
    // As `value OP loaded`.
    let (kind, loaded) = if a == *value { (kind, b) } else { (kind.swapped(), a) };
    if a != *value && b != *value {
        return None;
    }
    let op = match kind {
        CompareOp::Gt | CompareOp::Ge => UpdateOp::Max,
        CompareOp::Lt | CompareOp::Le => UpdateOp::Min,
        CompareOp::Eq | CompareOp::Ne => return None,
    };
    let at = data.insts.iter().position(|&inst| {
        let candidate = &body.insts[inst];
        candidate.result == Some(loaded) && candidate.op == Op::Load(place.clone())
    })?;
    let quiet = |inst: &Inst| {
        !cx.summaries.op(cx.module, &body.insts[*inst].op).writes.contains(&place.global)
    };
    let safe = uses[loaded.index()] == 1 && data.insts[at..].iter().all(quiet);
    safe.then(|| (then.block, store, data.insts[at], op, Terminator::Jump(after.clone())))
}
