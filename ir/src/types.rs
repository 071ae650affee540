//! Types of values and of globals.

use std::fmt;

use crate::entities::{File, Global};

/// The type of an SSA value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A 64-bit two's complement integer that wraps.
    Long,
    /// A string of at most this many bytes, the terminating NUL not counted.
    Str(u32),
    /// A position in a `foreach`; made by `iter.begin` and used by the other `iter` operations only.
    Iter,
}

impl Type {
    /// Whether this is a string, of any bound.
    pub fn is_str(self) -> bool {
        matches!(self, Type::Str(_))
    }

    /// Whether a value of this type may stand where `other` is expected: equal up to string bounds.
    pub fn is_like(self, other: Type) -> bool {
        match (self, other) {
            (Type::Str(_), Type::Str(_)) => true,
            (a, b) => a == b,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Long => f.write_str("long"),
            Type::Str(bound) => write!(f, "str<{bound}>"),
            Type::Iter => f.write_str("iter"),
        }
    }
}

/// What one element of a global holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElementType {
    /// An integer.
    Long,
    /// A string of at most this many bytes.
    Str(u32),
    /// A statistic, the target of `<<<`.
    Stat,
}

impl ElementType {
    /// The type of a value read from such an element; `None` for a statistic.
    pub fn value_type(self) -> Option<Type> {
        match self {
            ElementType::Long => Some(Type::Long),
            ElementType::Str(bound) => Some(Type::Str(bound)),
            ElementType::Stat => None,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementType::Long => f.write_str("long"),
            ElementType::Str(bound) => write!(f, "str<{bound}>"),
            ElementType::Stat => f.write_str("stat"),
        }
    }
}

/// A constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Const {
    /// An integer.
    Long(i64),
    /// A string, without NUL bytes and shorter than MAXSTRINGLEN.
    Str(Box<[u8]>),
}

/// The histogram that a statistic keeps, if any.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Histogram {
    /// Powers of two, `@hist_log`.
    Log,
    /// `@hist_linear(low, high, width)`.
    Linear {
        /// Lowest value with a bucket of its own.
        low: i64,
        /// Highest value with a bucket of its own.
        high: i64,
        /// Width of a bucket, positive.
        width: i64,
    },
}

/// How accesses to a global are kept atomic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Discipline {
    /// A reader/writer lock. `None`: its own; `Some(g)`: that of `g`, shared.
    #[default]
    Locked,
    /// A reader/writer lock shared with, and named after, another global that is itself `Locked`.
    LockedWith(Global),
    /// No two conflicting accesses can overlap: plain memory.
    Serial,
    /// One atomic operation per handler run.
    Lone,
    /// Per-CPU storage without a lock, gathered before `end` handlers run.
    Sharded,
    /// Per-CPU storage with a lock for each CPU, gathered when a timer has taken all of them.
    ShardedLocked,
    /// The same, with the locks of another global that is itself `ShardedLocked`.
    ShardedLockedWith(Global),
}

impl Discipline {
    /// Whether storage is per CPU.
    pub fn is_sharded(self) -> bool {
        use Discipline::{Sharded, ShardedLocked, ShardedLockedWith};
        matches!(self, Sharded | ShardedLocked | ShardedLockedWith(_))
    }

    /// The other global whose lock is used, if it is another's.
    pub fn leader(self) -> Option<Global> {
        match self {
            Discipline::LockedWith(leader) | Discipline::ShardedLockedWith(leader) => Some(leader),
            _ => None,
        }
    }
}

/// A global variable: a scalar, a statistic, or an array of either.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GlobalData {
    /// The script's name for it, made unique where `private` globals of several files collide.
    pub name: String,
    /// Key types of an array, 1 to 9; empty for a scalar.
    pub keys: Vec<crate::types::Type>,
    /// What the scalar, or each element, holds.
    pub element: ElementType,
    /// Initial value of a scalar; zero or the empty string if absent.
    pub init: Option<Const>,
    /// Most elements of an array. Meaningless for scalars.
    pub max_entries: u32,
    /// Whether a full array gives up its oldest element instead of raising (`%`).
    pub wrap: bool,
    /// Whether it is a module parameter, so that its initial value is not known here (bare `-G`).
    pub parameter: bool,
    /// Histograms that the script takes of it; statistics only.
    pub histogram: Option<Histogram>,
    /// How accesses are kept atomic; set by the concurrency passes.
    pub discipline: Discipline,
    /// Where it is declared.
    pub pos: Option<Pos>,
}

impl GlobalData {
    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Whether it holds statistics.
    pub fn is_stat(&self) -> bool {
        self.element == ElementType::Stat
    }
}

/// A place in a script: lines and columns count from 1, columns in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pos {
    /// The script.
    pub file: File,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in bytes.
    pub column: u32,
}

impl fmt::Display for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}:{}:{}", self.file, self.line, self.column)
    }
}
