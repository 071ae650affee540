//! Types of results, as far as operands determine them.
//!
//! A string type is an upper bound of the length, never more than MAXSTRINGLEN-1. A declared type
//! may be wider than what stands here, for passes replace operands by narrower ones.

use crate::entities::{Global, Value};
use crate::format::{Conversion, ConversionKind, Count, Format, Piece};
use crate::instructions::Op;
use crate::intrinsics::{Intrinsic, Slot};
use crate::module::Module;
use crate::types::{Const, ElementType, Type};

/// What an operation gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// No result.
    Nothing,
    /// A result of this type.
    Value(Type),
    /// A result whose type stands with the instruction only: C of the script, record fields.
    Declared,
}

/// What an operation gives, in a module. `type_of` tells the type of an operand, `walked` which array
/// an iterator walks.
///
/// Operands that do not fit (the verifier refuses them) give some result of the right kind.
pub fn outcome(
    module: &Module,
    op: &Op,
    type_of: impl Fn(Value) -> Type,
    walked: impl Fn(Value) -> Option<Global>,
) -> Outcome {
    let longest = module.limits.longest_string();
    let bound = |value: Value| match type_of(value) {
        Type::Str(bound) => bound.min(longest),
        _ => longest,
    };
    match op {
        Op::Const(Const::Long(_))
        | Op::Unary(..)
        | Op::Binary(..)
        | Op::Compare(..)
        | Op::Match(..)
        | Op::Contains(_)
        | Op::Fetch(..)
        | Op::StatGet(..)
        | Op::Bucket(..)
        | Op::BucketCount(_)
        | Op::IterNext(_)
        | Op::IterStat(..) => Outcome::Value(Type::Long),
        Op::Const(Const::Str(bytes)) => Outcome::Value(Type::Str(length(bytes.len()))),
        Op::Record(_) | Op::CExpression(_) => Outcome::Declared,
        Op::Intrinsic(intrinsic, args) => match intrinsic.signature().result {
            None => Outcome::Nothing,
            Some(Slot::Long) => Outcome::Value(Type::Long),
            Some(Slot::Bounded(bound)) => Outcome::Value(Type::Str(bound.min(longest))),
            Some(Slot::Str) => {
                Outcome::Value(Type::Str(intrinsic_bound(*intrinsic, args, bound).min(longest)))
            }
        },
        Op::Call(function, _) => module
            .functions
            .get(*function)
            .and_then(|data| data.result)
            .map_or(Outcome::Nothing, Outcome::Value),
        Op::Load(place) => Outcome::Value(element_type(module, place.global)),
        Op::IterBegin(_) => Outcome::Value(Type::Iter),
        Op::IterKey(iter, n) => match walked(*iter) {
            Some(global) => Outcome::Value(key_type(module, global, *n)),
            None => Outcome::Declared,
        },
        Op::IterValue(iter) => match walked(*iter) {
            Some(global) => Outcome::Value(element_type(module, global)),
            None => Outcome::Declared,
        },
        Op::Format(format, args) => {
            Outcome::Value(Type::Str(format_bound(format, args, bound).min(longest)))
        }
        Op::Caught => Outcome::Value(Type::Str(longest)),
        Op::Store(..)
        | Op::Update(..)
        | Op::Delete(_)
        | Op::Clear(_)
        | Op::StatAdd(..)
        | Op::IterEnd(_)
        | Op::Print(..)
        | Op::PrintHistogram(_)
        | Op::Action
        | Op::CStatement(_)
        | Op::Lock(_)
        | Op::Unlock(_) => Outcome::Nothing,
    }
}

/// The type of the values that a global or its elements hold.
fn element_type(module: &Module, global: Global) -> Type {
    match module.globals.get(global).map(|data| data.element) {
        Some(ElementType::Str(bound)) => Type::Str(bound),
        _ => Type::Long,
    }
}

/// The type of the `n`th key of an array.
fn key_type(module: &Module, global: Global, n: u32) -> Type {
    let keys = module.globals.get(global).map(|data| data.keys.as_slice());
    keys.and_then(|keys| keys.get(n as usize)).copied().unwrap_or(Type::Long)
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The bound of what a string primitive gives for arguments of these bounds.
fn intrinsic_bound(intrinsic: Intrinsic, args: &[Value], bound: impl Fn(Value) -> u32) -> u32 {
    let of = |n: usize| args.get(n).map_or(u32::MAX, |&arg| bound(arg));
    match intrinsic {
        Intrinsic::StrConcat => of(0).saturating_add(of(1)),
        Intrinsic::StrSub => of(0),
        // An escaped byte takes up to four.
        Intrinsic::StrText => of(0).saturating_mul(4),
        _ => u32::MAX,
    }
}

/// The bound of a formatted text.
fn format_bound(format: &Format, args: &[Value], bound: impl Fn(Value) -> u32) -> u32 {
    let mut total = 0u32;
    let mut next = args.iter();
    for piece in &format.pieces {
        let more = match piece {
            Piece::Text(text) => length(text.len()),
            Piece::Conversion(conversion) => {
                let counts = [conversion.width, conversion.precision];
                for _ in counts.iter().filter(|count| **count == Count::Argument) {
                    next.next();
                }
                let argument = next.next().map_or(u32::MAX, |&arg| bound(arg));
                conversion_bound(conversion, argument)
            }
        };
        total = total.saturating_add(more);
    }
    total
}

/// The bound of one conversion, whose argument has this bound if it is a string.
fn conversion_bound(conversion: &Conversion, argument: u32) -> u32 {
    let precision = match conversion.precision {
        Count::None => None,
        Count::Fixed(n) => Some(n),
        Count::Argument => return u32::MAX,
    };
    // Digits, and what may stand before them.
    let number =
        |digits: u32, prefix: u32| digits.max(precision.unwrap_or(0)).saturating_add(prefix);
    let text = match conversion.kind {
        ConversionKind::Decimal | ConversionKind::Unsigned => number(20, 1),
        ConversionKind::Octal => number(22, 1),
        ConversionKind::Hex | ConversionKind::HexUpper | ConversionKind::Pointer => number(16, 2),
        ConversionKind::Binary => 8,
        ConversionKind::Char => 1,
        ConversionKind::Str => argument.min(precision.unwrap_or(u32::MAX)),
        ConversionKind::Memory | ConversionKind::MemoryHex => u32::MAX,
    };
    match conversion.width {
        Count::None => text,
        Count::Fixed(n) => text.max(n),
        Count::Argument => u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entities::Entity;

    fn bound_of(op: Op, args: &[Type]) -> Outcome {
        outcome(&Module::default(), &op, |value| args[value.index()], |_| None)
    }

    fn v(index: usize) -> Value {
        Value::from_index(index)
    }

    #[test]
    fn bounds_add_up_to_the_longest_string() {
        let concat = Op::Intrinsic(Intrinsic::StrConcat, vec![v(0), v(1)]);
        let short = [Type::Str(15), Type::Str(4)];
        assert_eq!(bound_of(concat.clone(), &short), Outcome::Value(Type::Str(19)));
        let long = [Type::Str(500), Type::Str(40)];
        assert_eq!(bound_of(concat, &long), Outcome::Value(Type::Str(511)));
    }

    #[test]
    fn formats_are_as_long_as_their_pieces() {
        let cases: [(&[u8], u32); 8] = [
            (b"abc", 3),
            (b"%d", 21),
            (b"<%s>", 17),
            (b"%.3s", 3),
            (b"%40s", 40),
            (b"%*s", 511),
            (b"%x%c", 19),
            (b"%m", 511),
        ];
        for (text, expected) in cases {
            let format = Format::from_bytes(text).expect("a format");
            let args = vec![v(0); format.argument_count()];
            let ty = bound_of(Op::Format(format, args), &[Type::Str(15)]);
            assert_eq!(ty, Outcome::Value(Type::Str(expected)), "{}", text.escape_ascii());
        }
    }
}
