//! Value ranges: drops checks that always pass, and decides comparisons whose outcome is known.
//!
//! Assumes SSA form; finds more once equal values are one. Finds an interval for every long, from
//! constants, operators, queries and the conditions of dominating branches. Guarantees that no
//! division checks a divisor, and no `str.at` an index, that is known to pass; that a comparison or
//! branch which is decided is gone; and that what is not negative is divided by powers of two with
//! shifts and masks. What is not checked any more relies on the branches before it, as its effect
//! summary says.

mod interval;
mod solver;

use xlate_ir::effects::may_raise;
use xlate_ir::entities::{Block, Inst, Value};
use xlate_ir::instructions::{BinaryOp, BlockCall, InstData, Op, Terminator};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::{Body, ValueData};
use xlate_ir::rewrite::Replacements;
use xlate_ir::types::{Const, Type};

use crate::changes::Changes;
use crate::manager::BodyContext;
use interval::Interval;
use solver::{Known, Site, solve};

/// What an instruction or the end of a block can be instead.
enum Change {
    /// Another operation.
    Op(Inst, Op),
    /// A division by a constant, which nobody would check; with whether it counted as one that may
    /// raise.
    Unchecked(Inst, Op, bool),
    /// An operator on the same value and a constant.
    Immediate(Inst, BinaryOp, Value, i64),
    /// A value that there is.
    Value(Inst, Value),
    /// A jump, for a condition that one before it decides if that is given.
    Jump(Block, BlockCall, Option<Value>),
    /// None: it may go wrong, and is checked.
    Missed(Inst),
}

impl Change {
    fn kind(&self) -> Changes {
        match self {
            Change::Missed(_) => Changes::empty(),
            // All divisions by constants change at once: none becomes equal to one that has not.
            Change::Unchecked(_, _, true) => Changes::FORMS | Changes::EFFECTS,
            Change::Unchecked(_, _, false) => Changes::FORMS,
            _ => Changes::all(),
        }
    }
}

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let mut changes = Vec::new();
    let graph = cx.graph();
    let body = &*cx.body;
    solve(body, &graph, |known, site| {
        changes.extend(match site {
            Site::Inst(inst, interval) => instruction(body, known, inst, interval),
            Site::End(block, feasible) => end(body, known, block, feasible),
        });
    });
    let mut done = changes.iter().map(Change::kind).fold(Changes::empty(), Changes::union);
    let mut replacements = Replacements::new(cx.body);
    for change in changes {
        apply(cx, change, &mut replacements);
    }
    replacements.apply(cx.body);
    if !done.is_empty() && drop_needless_tries(cx) {
        done = Changes::all();
    }
    done
}

/// What an instruction can be instead.
fn instruction(body: &Body, known: &Known<'_>, inst: Inst, interval: Interval) -> Option<Change> {
    let data = &body.insts[inst];
    let result = data.result?;
    match &data.op {
        Op::Const(_) => None,
        Op::Binary(op, a, b) if op.divides() => division(known, inst, interval, *op, *a, *b),
        Op::Unary(..) | Op::Binary(..) | Op::Compare(..) => {
            let single = interval.single()?;
            Some(Change::Op(inst, Op::Const(Const::Long(single))))
        }
        Op::Intrinsic(Intrinsic::StrAt, args) => Some(match known.is_safe(&data.op) {
            true => Change::Op(inst, Op::Intrinsic(Intrinsic::StrByte, args.clone())),
            false => Change::Missed(inst),
        }),
        Op::Intrinsic(Intrinsic::StrSub, args) => match args[..] {
            [text, start, length] => {
                let (start, length) = (known.of(start), known.of(length));
                let longest = known.longest(text);
                if start.high() < 0 || start.low() >= longest || length.high() <= 0 {
                    return Some(Change::Op(inst, Op::Const(Const::Str(Box::default()))));
                }
                let fits = fits(body.type_of(text), body.type_of(result));
                let whole = start.single() == Some(0) && length.low() >= longest;
                (whole && fits).then_some(Change::Value(inst, text))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether a string of the first type can stand where one of the second did.
fn fits(text: Type, place: Type) -> bool {
    matches!((text, place), (Type::Str(a), Type::Str(b)) if a <= b)
}

/// What a division can be instead.
fn division(
    known: &Known<'_>,
    inst: Inst,
    result: Interval,
    op: BinaryOp,
    a: Value,
    b: Value,
) -> Option<Change> {
    let (dividend, divisor) = (known.of(a), known.of(b));
    let is_quotient = matches!(op, BinaryOp::Div | BinaryOp::DivNonzero | BinaryOp::DivPlain);
    if divisor.contains(0) {
        return (!op.is_guarded()).then_some(Change::Missed(inst));
    }
    if let Some(single) = result.single() {
        return Some(Change::Op(inst, Op::Const(Const::Long(single))));
    }
    if dividend.low() >= 0 && divisor.low() > 0 {
        if !is_quotient && dividend.high() < divisor.low() {
            return Some(Change::Value(inst, a));
        }
        if let Some(n) = divisor.single().filter(|&n| n > 1 && n.count_ones() == 1) {
            return Some(match is_quotient {
                true => Change::Immediate(inst, BinaryOp::Shr, a, i64::from(n.trailing_zeros())),
                false => Change::Immediate(inst, BinaryOp::And, a, n - 1),
            });
        }
    }
    let overflows = dividend.contains(i64::MIN) && divisor.contains(-1);
    let better = match (overflows, is_quotient) {
        (true, true) => BinaryOp::DivNonzero,
        (true, false) => BinaryOp::RemNonzero,
        (false, true) => BinaryOp::DivPlain,
        (false, false) => BinaryOp::RemPlain,
    };
    // What is known to be plain stays so.
    let is_plain = matches!(op, BinaryOp::DivPlain | BinaryOp::RemPlain);
    if better == op || is_plain {
        return None;
    }
    let unchecked = Op::Binary(better, a, b);
    Some(match known.op(b) {
        Some(Op::Const(_)) => Change::Unchecked(inst, unchecked, !op.is_guarded()),
        _ => Change::Op(inst, unchecked),
    })
}

/// The jump that a block can end with instead of a branch.
fn end(body: &Body, known: &Known<'_>, block: Block, feasible: [bool; 2]) -> Option<Change> {
    let Terminator::Branch(condition, then, other) = &body.blocks[block].terminator else {
        return None;
    };
    let by_itself = || known.op(*condition).is_some_and(|op| known.result(op).single().is_some());
    let decided = || (!by_itself()).then_some(*condition);
    match feasible.into() {
        (true, false) => Some(Change::Jump(block, then.clone(), decided())),
        (false, true) => Some(Change::Jump(block, other.clone(), decided())),
        _ => None,
    }
}

/// Makes a change, and tells of it.
fn apply(cx: &mut BodyContext<'_>, change: Change, replacements: &mut Replacements) {
    match change {
        Change::Op(inst, op) => {
            log_operation(cx, inst, &op);
            if let (Op::Const(Const::Str(_)), Some(result)) = (&op, cx.body.insts[inst].result) {
                cx.body.values[result].ty = Type::Str(0);
            }
            cx.body.insts[inst].op = op;
        }
        Change::Unchecked(inst, op, _) => {
            cx.body.insts[inst].op = op;
            cx.log.count("divisions by constants", 1);
        }
        Change::Immediate(inst, op, value, n) => {
            cx.log.applied(cx.body.insts[inst].pos, "what is not negative needs no division here");
            cx.log.count("divisions replaced", 1);
            let Some((block, at)) = place_of(cx.body, inst) else { return };
            let constant = cx.body.values.alloc(ValueData { ty: Type::Long, name: None });
            let data = InstData {
                op: Op::Const(Const::Long(n)),
                result: Some(constant),
                pos: cx.body.insts[inst].pos,
            };
            cx.body.insert_inst(block, at, data);
            cx.body.insts[inst].op = Op::Binary(op, value, constant);
        }
        Change::Value(inst, value) => {
            let what = match cx.body.insts[inst].op {
                Op::Intrinsic(..) => "this is the whole string",
                _ => "the remainder is the dividend, which is less than the divisor",
            };
            cx.log.applied(cx.body.insts[inst].pos, what);
            cx.log.count("values replaced", 1);
            if let (Some(result), Some((block, at))) =
                (cx.body.insts[inst].result, place_of(cx.body, inst))
            {
                untry(cx.body, block, at);
                cx.body.blocks[block].insts.remove(at);
                replacements.insert(result, value);
            }
        }
        Change::Jump(block, call, condition) => {
            let defines = |inst: &Inst| cx.body.insts[*inst].result == condition;
            let definition = cx.body.iter_insts().map(|(_, inst)| inst).find(defines);
            if let Some(inst) = definition.filter(|_| condition.is_some()) {
                let what = "a branch on this is decided by a condition before it";
                cx.log.applied(cx.body.insts[inst].pos, what);
            }
            cx.body.blocks[block].terminator = Terminator::Jump(call);
            cx.log.count("branches decided", 1);
        }
        Change::Missed(inst) => {
            let data = &cx.body.insts[inst];
            let what = match data.op {
                Op::Binary(..) => "the divisor is checked: it may be 0",
                _ => "the index is checked: it may lie outside the string",
            };
            cx.log.missed(data.pos, what);
        }
    }
}

fn log_operation(cx: &mut BodyContext<'_>, inst: Inst, op: &Op) {
    let data = &cx.body.insts[inst];
    let (counter, message) = match (&data.op, op) {
        (Op::Compare(..), Op::Const(constant)) => {
            let truth = *constant != Const::Long(0);
            ("values replaced", format!("this condition is always {truth}"))
        }
        (_, Op::Const(Const::Long(n))) => ("values replaced", format!("this is always {n}")),
        (_, Op::Const(_)) => ("values replaced", "this string is always empty".to_owned()),
        (Op::Binary(..), _) => ("checks dropped", "the divisor is never 0: no check".to_owned()),
        _ => ("checks dropped", "the index is always inside the string: no check".to_owned()),
    };
    cx.log.applied(data.pos, message);
    cx.log.count(counter, 1);
}

/// The block of an instruction, and its place there.
fn place_of(body: &Body, inst: Inst) -> Option<(Block, usize)> {
    body.layout.iter().find_map(|&block| {
        let at = body.blocks[block].insts.iter().position(|&other| other == inst)?;
        Some((block, at))
    })
}

/// Has a block go on without a `try` for its last instruction, which stands at `at`; gives whether
/// there was one.
fn untry(body: &mut Body, block: Block, at: usize) -> bool {
    let data = &mut body.blocks[block];
    if at + 1 == data.insts.len()
        && let Terminator::Try(normal, _) = &data.terminator
    {
        data.terminator = Terminator::Jump(normal.clone());
        return true;
    }
    false
}

/// Takes `try` off what cannot raise any more; gives whether there was one.
fn drop_needless_tries(cx: &mut BodyContext<'_>) -> bool {
    let mut dropped = false;
    for block in cx.body.layout.clone() {
        let data = &cx.body.blocks[block];
        let Some(&last) = data.insts.last() else { continue };
        if !may_raise(cx.module, &cx.body.insts[last].op) {
            let at = data.insts.len() - 1;
            dropped |= untry(cx.body, block, at);
        }
    }
    dropped
}
