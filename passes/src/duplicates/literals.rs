//! Where a literal may become a field of a record or a parameter, and what that costs.
//!
//! A body may get slower by one load for each use of a literal, no more. So literals stay where the C
//! compiler makes more of them than an immediate operand: divisors, shift counts, factors that are
//! powers of two, strings that are compared as text, numbers that are formatted when the script is
//! translated.

use xlate_ir::format::{ConversionKind, Count, Format, Piece};
use xlate_ir::instructions::{BinaryOp, Op};
use xlate_ir::module::Body;
use xlate_ir::types::{Const, Type};

use super::shape::{Likeness, Literal};

/// The longest string that is compared as words.
const WORDS: u32 = 15;

/// Whether an operand that is this literal may be loaded instead.
pub(super) fn may_vary(
    likeness: Likeness,
    body: &Body,
    op: &Op,
    index: usize,
    literal: &Literal,
) -> bool {
    match op {
        Op::Binary(op, ..) if op.divides() => index == 0,
        Op::Binary(BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Ushr, ..) => index == 0,
        Op::Binary(BinaryOp::Mul, ..) => match literal {
            Literal::Const(Const::Long(n)) => !n.unsigned_abs().is_power_of_two() && *n != 0,
            _ => true,
        },
        Op::Compare(_, a, b) => {
            let is_short = |ty| matches!(ty, Type::Str(bound) if bound <= WORDS);
            !body.type_of(*a).is_str() || [a, b].iter().all(|v| is_short(body.type_of(**v)))
        }
        // The number of a bucket is checked against its bounds.
        Op::Bucket(place, _) => index < place.keys.len(),
        Op::Print(format, _) => likeness == Likeness::Records && takes_text(format, index),
        Op::Format(format, _) => likeness == Likeness::Records && takes_text(format, index),
        _ => true,
    }
}

/// Whether an argument is printed as it is.
fn takes_text(format: &Format, index: usize) -> bool {
    let mut next = 0;
    for piece in &format.pieces {
        let Piece::Conversion(conversion) = piece else { continue };
        let counts = [conversion.width, conversion.precision];
        let taken = counts.iter().filter(|count| **count == Count::Argument).count();
        if index == next + taken {
            return conversion.kind == ConversionKind::Str && counts == [Count::None, Count::None];
        }
        next += taken + 1;
    }
    false
}

/// About how many bytes of machine code a body becomes.
pub(super) fn code_size(body: &Body) -> usize {
    let size = |op: &Op| match op {
        Op::Const(_) | Op::Record(_) | Op::Unlock(_) => 0,
        Op::Unary(..) | Op::Binary(..) | Op::Compare(..) => 4,
        Op::Load(place)
        | Op::Store(place, _)
        | Op::Update(_, place, _)
        | Op::Fetch(_, place, _)
            if place.keys.is_empty() =>
        {
            8
        }
        Op::Print(format, _) | Op::Format(format, _) => 16 * format.pieces.len(),
        _ => 24,
    };
    body.iter_insts().map(|(_, inst)| size(&body.insts[inst].op)).sum()
}

/// How many bytes a field takes in the record of each probe point.
pub(super) fn field_size(ty: Type) -> usize {
    if ty.is_str() { 16 } else { 8 }
}
