//! The words that operators, fields and modes have in the text form.

use std::fmt;

use crate::instructions::{BinaryOp, CompareOp, FetchOp, LockMode, StatField, UnaryOp, UpdateOp};

macro_rules! mnemonics {
    ($($ty:ident { $($id:ident = $name:literal),* $(,)? })*) => { $(
        impl $ty {
            /// All of them, in the order of declaration.
            pub const ALL: &'static [$ty] = &[$($ty::$id),*];

            /// Its word in the text form.
            pub fn name(self) -> &'static str {
                match self { $($ty::$id => $name),* }
            }

            /// The one with this word in the text form.
            pub fn named(name: &str) -> Option<$ty> {
                match name { $($name => Some($ty::$id),)* _ => None }
            }
        }

        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    )* };
}

mnemonics! {
    UnaryOp { Neg = "neg", Not = "not" }
    BinaryOp {
        Add = "add", Sub = "sub", Mul = "mul", Div = "div", Rem = "rem", And = "and", Or = "or",
        Xor = "xor", Shl = "shl", Shr = "shr", Ushr = "ushr",
        DivNonzero = "div.nonzero", RemNonzero = "rem.nonzero", DivPlain = "div.plain",
        RemPlain = "rem.plain",
    }
    CompareOp { Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge" }
    UpdateOp { Add = "add", Min = "min", Max = "max", Or = "or" }
    FetchOp { Add = "add", Exchange = "exchange" }
    LockMode { Read = "read", Write = "write" }
}

impl BinaryOp {
    /// Whether it divides, with checks or without.
    pub fn divides(self) -> bool {
        use BinaryOp::{Div, DivNonzero, DivPlain, Rem, RemNonzero, RemPlain};
        matches!(self, Div | Rem | DivNonzero | RemNonzero | DivPlain | RemPlain)
    }

    /// Whether it divides and relies on what comes before it, so that it must not be done earlier.
    pub fn is_guarded(self) -> bool {
        self.divides() && !matches!(self, BinaryOp::Div | BinaryOp::Rem)
    }
}

impl CompareOp {
    /// The comparison that holds exactly where this one does not.
    pub fn negated(self) -> CompareOp {
        match self {
            CompareOp::Eq => CompareOp::Ne,
            CompareOp::Ne => CompareOp::Eq,
            CompareOp::Lt => CompareOp::Ge,
            CompareOp::Le => CompareOp::Gt,
            CompareOp::Gt => CompareOp::Le,
            CompareOp::Ge => CompareOp::Lt,
        }
    }

    /// The comparison that holds for `(b, a)` exactly where this one does for `(a, b)`.
    pub fn swapped(self) -> CompareOp {
        match self {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            CompareOp::Eq | CompareOp::Ne => self,
        }
    }
}

impl fmt::Display for StatField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatField::Count => f.write_str("count"),
            StatField::Sum => f.write_str("sum"),
            StatField::Min => f.write_str("min"),
            StatField::Max => f.write_str("max"),
            StatField::Avg => f.write_str("avg"),
            StatField::Variance(shift) => write!(f, "variance<{shift}>"),
        }
    }
}
