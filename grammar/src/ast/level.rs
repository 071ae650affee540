//! How tightly operators bind.

use super::BinaryOp;

/// How tightly an expression holds together, from the loosest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    Assign,
    Ternary,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Membership,
    Comparison,
    Relational,
    Shift,
    Concat,
    Additive,
    Multiplicative,
    Unary,
    Crement,
    Address,
    Postfix,
}

impl Level {
    /// The level of what may stand to the right of an operator of this level.
    pub(crate) fn tighter(self) -> Level {
        match self {
            Level::Assign => Level::Ternary,
            Level::Ternary => Level::Or,
            Level::Or => Level::And,
            Level::And => Level::BitOr,
            Level::BitOr => Level::BitXor,
            Level::BitXor => Level::BitAnd,
            Level::BitAnd => Level::Membership,
            Level::Membership => Level::Comparison,
            Level::Comparison => Level::Relational,
            Level::Relational => Level::Shift,
            Level::Shift => Level::Concat,
            Level::Concat => Level::Additive,
            Level::Additive => Level::Multiplicative,
            Level::Multiplicative => Level::Unary,
            Level::Unary => Level::Crement,
            Level::Crement => Level::Address,
            Level::Address | Level::Postfix => Level::Postfix,
        }
    }
}

impl BinaryOp {
    /// The level of expressions with this operator.
    pub(crate) fn level(self) -> Level {
        match self {
            BinaryOp::Or => Level::Or,
            BinaryOp::And => Level::And,
            BinaryOp::BitOr => Level::BitOr,
            BinaryOp::BitXor => Level::BitXor,
            BinaryOp::BitAnd => Level::BitAnd,
            BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual => Level::Relational,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::ShiftRightLogical => {
                Level::Shift
            }
            BinaryOp::Concat => Level::Concat,
            BinaryOp::Add | BinaryOp::Subtract => Level::Additive,
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo => Level::Multiplicative,
        }
    }
}
