//! Instructions and terminators.

use crate::entities::{Block, Function, Global, Regex, Value};
use crate::format::Format;
use crate::intrinsics::Intrinsic;
use crate::types::{Const, Pos};

/// Operators on one long.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// Two's complement negation.
    Neg,
    /// Bitwise complement.
    Not,
}

/// Operators on two longs. Everything wraps; shift counts are taken modulo 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
    /// Division, towards zero; raises on a zero divisor; INT64_MIN / -1 = INT64_MIN.
    Div,
    /// Remainder with the sign of the dividend; raises on a zero divisor; INT64_MIN % -1 = 0.
    Rem,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Left shift.
    Shl,
    /// Arithmetic right shift.
    Shr,
    /// Logical right shift.
    Ushr,
    /// Division by what is known not to be zero: what comes before it has made sure.
    DivNonzero,
    /// Remainder of a division by what is known not to be zero.
    RemNonzero,
    /// Division as machines do it: the divisor is known not to be zero, and not -1 where the dividend
    /// may be INT64_MIN.
    DivPlain,
    /// Remainder of a division as machines do it, of what is known as for [`BinaryOp::DivPlain`].
    RemPlain,
}

/// Comparisons; of two longs (signed) or of two strings (bytewise). The result is 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CompareOp {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

/// A commutative in-place update of a long whose result is not used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UpdateOp {
    /// Add.
    Add,
    /// Replace by the smaller.
    Min,
    /// Replace by the larger.
    Max,
    /// Bitwise or.
    Or,
}

/// A write of a scalar long in one step with reading what it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FetchOp {
    /// Add to it.
    Add,
    /// Store another value.
    Exchange,
}

/// What is read from a statistic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StatField {
    /// Number of values. Zero if empty; every other field raises on an empty statistic but `Sum`.
    Count,
    /// Their sum; zero if empty.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The mean, rounded towards zero.
    Avg,
    /// The variance, computed with this many bits of fixed-point fraction.
    Variance(u32),
}

/// A global, or one element of an array: `@g` or `@g[k, …]`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The global.
    pub global: Global,
    /// One value per key; empty for a scalar.
    pub keys: Vec<Value>,
}

/// What a `foreach` sorts by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SortKey {
    /// The `n`th key, from 0.
    Key(u32),
    /// The value (integers and strings).
    Value,
    /// A field of the statistic.
    Stat(StatField),
}

/// How `foreach` walks an array. Equal sort keys are ordered by index.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IterSpec {
    /// The array.
    pub global: Global,
    /// Sort key and whether descending; unspecified order if absent.
    pub sort: Option<(SortKey, bool)>,
    /// For each key, the value that an element must have to be visited, or `None` for `*`.
    /// Empty if there is no slice.
    pub slice: Vec<Option<Value>>,
    /// Visit at most this many elements; none if it is zero or negative.
    pub limit: Option<Value>,
}

/// How a lock is taken. That of a sharded global is one for each CPU: its updates take their own
/// CPU's, which is called `Read`, since others may do the same meanwhile; `Write` is all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockMode {
    /// Shared with other readers.
    Read,
    /// Exclusive.
    Write,
}

/// An operation. Operands are values of the same body.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A constant.
    Const(Const),
    /// A field of the constant record of the probe point that fired.
    Record(u32),
    /// An operator on one long.
    Unary(UnaryOp, Value),
    /// An operator on two longs.
    Binary(BinaryOp, Value, Value),
    /// A comparison of two values of like type.
    Compare(CompareOp, Value, Value),
    /// A string primitive, context query or control operation that the runtime provides.
    Intrinsic(Intrinsic, Vec<Value>),
    /// Whether the regular expression matches somewhere in the string: 0 or 1.
    Match(Regex, Value),
    /// Calls a function. Raises if it raises.
    Call(Function, Vec<Value>),
    /// Reads a scalar, or an array element (zero or "" if absent).
    Load(Place),
    /// Writes a scalar or an array element. The latter raises if the array is full.
    Store(Place, Value),
    /// Updates a scalar or an array element in place. The latter raises if the array is full.
    Update(UpdateOp, Place, Value),
    /// Reads a scalar long and writes it, in one step: gives what it was before.
    Fetch(FetchOp, Place, Value),
    /// Whether the array has the element: 0 or 1.
    Contains(Place),
    /// Deletes an array element, if present; empties a statistic scalar, zeroes a scalar.
    Delete(Place),
    /// Deletes all elements of an array.
    Clear(Global),
    /// `<<<`: adds a value to a statistic. Raises if an array is full.
    StatAdd(Place, Value),
    /// Reads a field of a statistic. Raises on an empty one where the field is not defined.
    StatGet(StatField, Place),
    /// Number of values in a bucket of the statistic's histogram; raises if there is no such bucket.
    Bucket(Place, Value),
    /// Number of buckets of the statistic's histogram.
    BucketCount(Place),
    /// Starts a walk over an array, over a snapshot of its keys and values.
    IterBegin(IterSpec),
    /// Moves to the next element: 1, or 0 when there is none.
    IterNext(Value),
    /// The `n`th key of the current element, from 0.
    IterKey(Value, u32),
    /// The value of the current element (as of the snapshot). Not for statistics.
    IterValue(Value),
    /// A field of the current element's statistic (as of the snapshot).
    IterStat(Value, StatField),
    /// Ends the walk. Every path from `iter.begin` passes one, but for raises.
    IterEnd(Value),
    /// Appends formatted text to the output of this handler run.
    Print(Format, Vec<Value>),
    /// Formats to a string, truncated to MAXSTRINGLEN-1 bytes.
    Format(Format, Vec<Value>),
    /// Appends the drawing of the statistic's histogram to the output.
    PrintHistogram(Place),
    /// Takes the message of the error being caught; first in a block that a `Try` names as catch.
    Caught,
    /// Pays one action of the handler's budget; ends the handler, past every catch, if none is left.
    Action,
    /// A C statement of the script (guru mode), as written.
    CStatement(String),
    /// A C expression of the script (guru mode), as written; of the type of its result.
    CExpression(String),
    /// Takes locks, all at once, in order of global id; a handler that does not get them within a
    /// bounded time ends here, counted as skipped.
    Lock(Vec<(Global, LockMode)>),
    /// Releases locks.
    Unlock(Vec<Global>),
}

/// An instruction: an operation, its result and its place in the script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// Its result, if it has one.
    pub result: Option<Value>,
    /// The script position that messages about it name.
    pub pos: Option<Pos>,
}

/// A block to go to, with the values of its parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BlockCall {
    /// The block.
    pub block: Block,
    /// One value per parameter of that block.
    pub args: Vec<Value>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Terminator {
    /// Goes to a block.
    Jump(BlockCall),
    /// Goes to the first block if the long is not zero, else to the second.
    Branch(Value, BlockCall, BlockCall),
    /// Ends the function with this result, or the handler.
    Return(Option<Value>),
    /// Raises an error with this message: to `catch` where one in the same body receives it, else out
    /// of the body.
    Raise {
        /// The message, a string.
        message: Value,
        /// The catch block, if one in this body receives the error.
        catch: Option<BlockCall>,
        /// The script position that the message names.
        pos: Option<Pos>,
    },
    /// The last instruction of the block may raise: goes to the first block if it does not (only
    /// there is its result defined), to the second if it does.
    Try(BlockCall, BlockCall),
    /// Never reached; the verifier accepts it only in blocks that cannot be reached from the entry.
    Unreachable,
}

impl BlockCall {
    /// A call of a block without parameters.
    pub fn plain(block: Block) -> Self {
        Self { block, args: Vec::new() }
    }
}

impl Place {
    /// A scalar global.
    pub fn scalar(global: Global) -> Self {
        Self { global, keys: Vec::new() }
    }
}

/// The definition of what an operand is, for visitors of references of either kind.
macro_rules! visit_operands {
    ($op:expr, $f:ident, $iter:ident) => {
        match $op {
            Op::Const(_)
            | Op::Record(_)
            | Op::Caught
            | Op::Action
            | Op::CStatement(_)
            | Op::CExpression(_)
            | Op::Lock(_)
            | Op::Unlock(_)
            | Op::Clear(_) => {}
            Op::Unary(_, a)
            | Op::Match(_, a)
            | Op::IterNext(a)
            | Op::IterKey(a, _)
            | Op::IterValue(a)
            | Op::IterStat(a, _)
            | Op::IterEnd(a) => $f(a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) => {
                $f(a);
                $f(b);
            }
            Op::Intrinsic(_, args)
            | Op::Call(_, args)
            | Op::Print(_, args)
            | Op::Format(_, args) => args.$iter().for_each($f),
            Op::Load(place)
            | Op::Contains(place)
            | Op::Delete(place)
            | Op::StatGet(_, place)
            | Op::BucketCount(place)
            | Op::PrintHistogram(place) => place.keys.$iter().for_each($f),
            Op::Store(place, value)
            | Op::Update(_, place, value)
            | Op::Fetch(_, place, value)
            | Op::StatAdd(place, value)
            | Op::Bucket(place, value) => {
                place.keys.$iter().for_each(&mut $f);
                $f(value);
            }
            Op::IterBegin(spec) => {
                spec.slice.$iter().flatten().for_each(&mut $f);
                spec.limit.$iter().for_each($f);
            }
        }
    };
}

impl Op {
    /// Calls `f` with every operand, in evaluation order.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        let mut f = |value: &Value| f(*value);
        visit_operands!(self, f, iter);
    }

    /// Calls `f` with every operand, in evaluation order.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        visit_operands!(self, f, iter_mut);
    }
}

/// The place that an operation names, borrowed as the operation is.
macro_rules! place_of {
    ($op:expr) => {
        match $op {
            Op::Load(place)
            | Op::Contains(place)
            | Op::Delete(place)
            | Op::StatGet(_, place)
            | Op::BucketCount(place)
            | Op::PrintHistogram(place)
            | Op::Store(place, _)
            | Op::Update(_, place, _)
            | Op::Fetch(_, place, _)
            | Op::StatAdd(place, _)
            | Op::Bucket(place, _) => Some(place),
            _ => None,
        }
    };
}

impl Op {
    /// The scalar or element that it reads or writes, if it does.
    pub fn place(&self) -> Option<&Place> {
        place_of!(self)
    }

    fn place_mut(&mut self) -> Option<&mut Place> {
        place_of!(self)
    }

    /// Calls `f` with every global that it names, those of `lock` and `unlock` left out.
    pub fn for_each_global_mut(&mut self, mut f: impl FnMut(&mut Global)) {
        match self {
            Op::Clear(global) => f(global),
            Op::IterBegin(spec) => f(&mut spec.global),
            _ => {
                if let Some(place) = self.place_mut() {
                    f(&mut place.global);
                }
            }
        }
    }

    /// The global that it names, if it names one; `lock` and `unlock` name none in this sense.
    pub fn global(&self) -> Option<Global> {
        match self {
            Op::Clear(global) => Some(*global),
            Op::IterBegin(spec) => Some(spec.global),
            _ => self.place().map(|place| place.global),
        }
    }
}

impl Terminator {
    /// The block calls, in the order of the text form.
    pub fn successors(&self) -> impl Iterator<Item = &BlockCall> {
        let (a, b) = match self {
            Terminator::Jump(a) => (Some(a), None),
            Terminator::Branch(_, a, b) | Terminator::Try(a, b) => (Some(a), Some(b)),
            Terminator::Raise { catch, .. } => (catch.as_ref(), None),
            Terminator::Return(_) | Terminator::Unreachable => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// The block calls, in the order of the text form.
    pub fn successors_mut(&mut self) -> impl Iterator<Item = &mut BlockCall> {
        let (a, b) = match self {
            Terminator::Jump(a) => (Some(a), None),
            Terminator::Branch(_, a, b) | Terminator::Try(a, b) => (Some(a), Some(b)),
            Terminator::Raise { catch, .. } => (catch.as_mut(), None),
            Terminator::Return(_) | Terminator::Unreachable => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// Calls `f` with every operand, block arguments included.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        match self {
            Terminator::Branch(value, ..)
            | Terminator::Return(Some(value))
            | Terminator::Raise { message: value, .. } => f(*value),
            _ => {}
        }
        for call in self.successors() {
            call.args.iter().copied().for_each(&mut f);
        }
    }

    /// Calls `f` with every operand, block arguments included.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Terminator::Branch(value, ..)
            | Terminator::Return(Some(value))
            | Terminator::Raise { message: value, .. } => f(value),
            _ => {}
        }
        for call in self.successors_mut() {
            call.args.iter_mut().for_each(&mut f);
        }
    }
}
