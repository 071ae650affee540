//! What operators on longs and strings mean: the one definition that the constant folder and the
//! runtime share.
//!
//! Longs are 64-bit two's complement and wrap. `INT64_MIN / -1` is `INT64_MIN` and `INT64_MIN % -1` is
//! 0. Division by zero raises. Shift counts are taken modulo 64. Strings compare bytewise as unsigned
//! bytes, a prefix before what it starts.

use crate::instructions::{BinaryOp, CompareOp, UnaryOp, UpdateOp};

/// The result of an operator on one long.
pub fn unary(op: UnaryOp, a: i64) -> i64 {
    match op {
        UnaryOp::Neg => a.wrapping_neg(),
        UnaryOp::Not => !a,
    }
}

/// The result of an operator on two longs; `None` if it raises, or if it relies on something that
/// does not hold.
pub fn binary(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        op if op.divides() && b == 0 => return None,
        BinaryOp::DivPlain => return a.checked_div(b),
        BinaryOp::RemPlain => return a.checked_rem(b),
        BinaryOp::Div | BinaryOp::DivNonzero => a.wrapping_div(b),
        BinaryOp::Rem | BinaryOp::RemNonzero => a.wrapping_rem(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a.wrapping_shl(count(b)),
        BinaryOp::Shr => a.wrapping_shr(count(b)),
        BinaryOp::Ushr => (a as u64).wrapping_shr(count(b)) as i64,
    })
}

/// A shift count modulo 64.
fn count(b: i64) -> u32 {
    (b & 63) as u32
}

/// Whether a comparison holds for two values in this order.
pub fn compare<T: Ord + ?Sized>(op: CompareOp, a: &T, b: &T) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}

/// What an update makes of a stored long.
pub fn update(op: UpdateOp, stored: i64, value: i64) -> i64 {
    match op {
        UpdateOp::Add => stored.wrapping_add(value),
        UpdateOp::Min => stored.min(value),
        UpdateOp::Max => stored.max(value),
        UpdateOp::Or => stored | value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_wraps_and_only_zero_divisors_raise() {
        let min = i64::MIN;
        let cases = [
            (BinaryOp::Add, i64::MAX, 1, Some(min)),
            (BinaryOp::Sub, min, 1, Some(i64::MAX)),
            (BinaryOp::Mul, min, -1, Some(min)),
            (BinaryOp::Div, min, -1, Some(min)),
            (BinaryOp::Rem, min, -1, Some(0)),
            (BinaryOp::Div, -7, 2, Some(-3)),
            (BinaryOp::Rem, -7, 2, Some(-1)),
            (BinaryOp::Div, 5, 0, None),
            (BinaryOp::Rem, 5, 0, None),
            (BinaryOp::DivNonzero, min, -1, Some(min)),
            (BinaryOp::RemNonzero, min, -1, Some(0)),
            (BinaryOp::DivNonzero, 5, 0, None),
            (BinaryOp::DivPlain, -7, 2, Some(-3)),
            (BinaryOp::RemPlain, min, -1, None),
            (BinaryOp::DivPlain, min, -1, None),
            (BinaryOp::Shl, 1, 64, Some(1)),
            (BinaryOp::Shl, 1, -1, Some(min)),
            (BinaryOp::Shr, -8, 65, Some(-4)),
            (BinaryOp::Ushr, -1, 63, Some(1)),
        ];
        for (op, a, b, expected) in cases {
            assert_eq!(binary(op, a, b), expected, "{a} {op} {b}");
        }
        assert_eq!(unary(UnaryOp::Neg, min), min);
        assert_eq!(unary(UnaryOp::Not, 0), -1);
    }

    #[test]
    fn strings_compare_as_unsigned_bytes() {
        assert!(compare(CompareOp::Lt, &b"ab"[..], &b"abc"[..]));
        assert!(compare(CompareOp::Lt, &b"z"[..], &b"\x80"[..]));
        assert!(compare(CompareOp::Ge, &-1, &-1));
    }

    #[test]
    fn negated_and_swapped_comparisons_agree() {
        for &op in CompareOp::ALL {
            for (a, b) in [(1, 2), (2, 2), (3, 2)] {
                assert_eq!(compare(op.negated(), &a, &b), !compare(op, &a, &b));
                assert_eq!(compare(op.swapped(), &b, &a), compare(op, &a, &b));
            }
        }
    }
}
