//! Algebraic simplification of single instructions.
//!
//! Assumes SSA form. Uses identities that hold for all values: `x + 0`, `x - x`, a comparison of a
//! value with itself, a truth value compared with 0, a string joined with the empty one, `printf` of
//! nothing, a format that only copies. Guarantees that none of these is left.

use xlate_ir::arith;
use xlate_ir::entities::{Entity, Inst, Value};
use xlate_ir::format::{Conversion, ConversionKind, Format, Piece};
use xlate_ir::instructions::{BinaryOp, CompareOp, Op, Terminator, UnaryOp};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::Body;
use xlate_ir::rewrite::Replacements;
use xlate_ir::types::{Const, Type};

use crate::changes::Changes;
use crate::manager::BodyContext;

/// What an instruction can be instead.
enum Simpler {
    /// A value that there is.
    Value(Value),
    /// Another operation.
    Op(Op),
    /// Nothing at all.
    Nothing,
}

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let mut replacements = Replacements::new(cx.body);
    let mut definitions = definitions(cx.body);
    let mut simplified = 0;
    for (block, inst) in cx.body.iter_insts().collect::<Vec<_>>() {
        cx.body.insts[inst].op.for_each_operand_mut(|value| *value = replacements.resolve(*value));
        let data = &cx.body.insts[inst];
        match (simplify(cx.body, &definitions, &data.op), data.result) {
            (Some(Simpler::Value(value)), Some(result)) => {
                cx.log.detail(data.pos, || "this is a value that there is already");
                replacements.insert(result, value);
                definitions[result.index()] = None;
                cx.body.blocks[block].insts.retain(|&other| other != inst);
            }
            (Some(Simpler::Op(op)), result) => {
                cx.log.detail(data.pos, || match op {
                    Op::Const(_) => "this is a constant",
                    _ => "this is done in a simpler way",
                });
                if let (Op::Const(Const::Str(bytes)), Some(result)) = (&op, result) {
                    cx.body.values[result].ty = Type::Str(bytes.len() as u32);
                }
                cx.body.insts[inst].op = op;
            }
            (Some(Simpler::Nothing), None) => {
                cx.log.detail(data.pos, || "this prints nothing");
                cx.body.blocks[block].insts.retain(|&other| other != inst);
            }
            _ => continue,
        }
        simplified += 1;
    }
    replacements.apply(cx.body);
    simplified += simplify_branches(cx.body);
    cx.log.count("instructions simplified", simplified);
    Changes::any(simplified > 0)
}

/// For each value, the instruction that gives it.
fn definitions(body: &Body) -> Vec<Option<Inst>> {
    let mut definitions = vec![None; body.values.len()];
    for (_, inst) in body.iter_insts() {
        if let Some(result) = body.insts[inst].result {
            definitions[result.index()] = Some(inst);
        }
    }
    definitions
}

struct Facts<'a> {
    body: &'a Body,
    definitions: &'a [Option<Inst>],
}

impl Facts<'_> {
    fn op(&self, value: Value) -> Option<&Op> {
        self.definitions[value.index()].map(|inst| &self.body.insts[inst].op)
    }

    fn long(&self, value: Value) -> Option<i64> {
        match self.op(value) {
            Some(Op::Const(Const::Long(n))) => Some(*n),
            _ => None,
        }
    }

    /// Whether it is 0 or 1.
    fn is_truth(&self, value: Value) -> bool {
        matches!(self.op(value), Some(Op::Compare(..) | Op::Match(..) | Op::Contains(_)))
    }

    fn is_empty(&self, value: Value) -> bool {
        self.body.type_of(value) == Type::Str(0)
    }
}

fn simplify(body: &Body, definitions: &[Option<Inst>], op: &Op) -> Option<Simpler> {
    let facts = Facts { body, definitions };
    match op {
        Op::Unary(kind, a) => match facts.op(*a) {
            Some(Op::Unary(inner, b)) if inner == kind => Some(Simpler::Value(*b)),
            _ => None,
        },
        Op::Binary(kind, a, b) => binary(&facts, *kind, *a, *b),
        Op::Compare(kind, a, b) => compare(&facts, *kind, *a, *b),
        Op::Intrinsic(Intrinsic::StrConcat, args) => match args[..] {
            [a, b] if facts.is_empty(b) => Some(Simpler::Value(a)),
            [a, b] if facts.is_empty(a) => Some(Simpler::Value(b)),
            _ => None,
        },
        Op::Print(format, _) if format.pieces.is_empty() => Some(Simpler::Nothing),
        Op::Format(format, args) => copies(format, args),
        _ => None,
    }
}

fn binary(facts: &Facts<'_>, kind: BinaryOp, a: Value, b: Value) -> Option<Simpler> {
    use BinaryOp::{Add, And, Mul, Or, Shl, Shr, Sub, Ushr, Xor};
    let zero = || Some(Simpler::Op(Op::Const(Const::Long(0))));
    match (kind, facts.long(a), facts.long(b)) {
        (Add | Sub | Or | Xor | Shl | Shr | Ushr, _, Some(0)) => Some(Simpler::Value(a)),
        (Add | Or | Xor, Some(0), _) => Some(Simpler::Value(b)),
        (Sub, Some(0), _) => Some(Simpler::Op(Op::Unary(UnaryOp::Neg, b))),
        (Mul, _, Some(1)) | (And, _, Some(-1)) => Some(Simpler::Value(a)),
        (Mul, Some(1), _) | (And, Some(-1), _) => Some(Simpler::Value(b)),
        (Mul | And, _, Some(0)) | (Mul | And, Some(0), _) => zero(),
        (Sub | Xor, ..) if a == b => zero(),
        (And | Or, ..) if a == b => Some(Simpler::Value(a)),
        _ => None,
    }
}

fn compare(facts: &Facts<'_>, kind: CompareOp, a: Value, b: Value) -> Option<Simpler> {
    if a == b {
        let holds = arith::compare(kind, &0, &0);
        return Some(Simpler::Op(Op::Const(Const::Long(i64::from(holds)))));
    }
    match (kind, facts.long(b)) {
        (CompareOp::Ne, Some(0)) if facts.is_truth(a) => Some(Simpler::Value(a)),
        (CompareOp::Eq, Some(1)) if facts.is_truth(a) => Some(Simpler::Value(a)),
        (CompareOp::Eq, Some(0)) => match facts.op(a) {
            Some(Op::Compare(inner, c, d)) => {
                Some(Simpler::Op(Op::Compare(inner.negated(), *c, *d)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A format that gives its only argument, or text without arguments.
fn copies(format: &Format, args: &[Value]) -> Option<Simpler> {
    match (&format.pieces[..], args) {
        ([], []) => Some(Simpler::Op(Op::Const(Const::Str(Box::default())))),
        ([Piece::Conversion(conversion)], [arg])
            if *conversion == Conversion::plain(ConversionKind::Str) =>
        {
            Some(Simpler::Value(*arg))
        }
        _ => None,
    }
}

/// A branch on whether a value is not zero is one on the value; on whether it is zero, one that goes
/// the other way.
fn simplify_branches(body: &mut Body) -> usize {
    let definitions = definitions(body);
    let mut simplified = 0;
    for block in body.layout.clone() {
        let facts = Facts { body, definitions: &definitions };
        let Terminator::Branch(condition, then, other) = &body.blocks[block].terminator else {
            continue;
        };
        let (kind, value) = match facts.op(*condition) {
            Some(Op::Compare(kind @ (CompareOp::Eq | CompareOp::Ne), a, b))
                if facts.long(*b) == Some(0) =>
            {
                (*kind, *a)
            }
            _ => continue,
        };
        let (then, other) = (then.clone(), other.clone());
        body.blocks[block].terminator = match kind {
            CompareOp::Ne => Terminator::Branch(value, then, other),
            _ => Terminator::Branch(value, other, then),
        };
        simplified += 1;
    }
    simplified
}
