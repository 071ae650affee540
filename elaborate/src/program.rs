//! The typed program: what pass 2 makes of a script and what pass 3 lowers.
//!
//! Names are resolved, overloads chosen, aliases and wildcards expanded, tapset functions pulled in,
//! and every expression has a type. Nothing here is an error any more: lowering cannot fail on it.

use id_arena::{Arena, Id};
use xlate_grammar::source::Span;

/// A global variable.
pub type GlobalId = Id<Global>;
/// A function.
pub type FunctionId = Id<Function>;
/// A handler.
pub type HandlerId = Id<Handler>;
/// A local variable of one function or handler.
pub type LocalId = Id<Local>;
/// A regular expression.
pub type RegexId = Id<Regex>;

/// A script with everything that it uses, typed.
#[derive(Debug, Default)]
pub struct Program {
    /// Globals, those of the script first, in the order of declaration.
    pub globals: Arena<Global>,
    /// Functions that something uses (and all that the script declares).
    pub functions: Arena<Function>,
    /// Handlers.
    pub handlers: Arena<Handler>,
    /// Regular expressions.
    pub regexes: Arena<Regex>,
    /// Probe points, expanded, in script order.
    pub probes: Vec<Probe>,
    /// C blocks outside functions, in the order in which they stand.
    pub embedded: Vec<EmbeddedC>,
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A 64-bit integer.
    Long,
    /// A string.
    Str,
}

/// What a global, or each element of an array, holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElementType {
    /// A value.
    Value(Type),
    /// A statistic.
    Stat,
}

/// A literal value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Literal {
    /// An integer.
    Long(i64),
    /// A string; no NUL bytes.
    Str(Vec<u8>),
}

/// A global variable: a scalar, a statistic, or an array of either.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Its name, unique in the program (`private` globals of several files are told apart).
    pub name: String,
    /// Key types, 1 to 9 for an array; empty for a scalar.
    pub keys: Vec<Type>,
    /// What it holds.
    pub element: ElementType,
    /// Initial value, if given.
    pub init: Option<Literal>,
    /// Size of an array, if given.
    pub size: Option<u32>,
    /// Whether the oldest element makes room when it is full.
    pub wrap: bool,
    /// Whether it is a module parameter (`-G name` without a value).
    pub parameter: bool,
    /// The histogram that is taken of it.
    pub histogram: Option<Histogram>,
    /// Its declaration.
    pub span: Span,
}

/// A histogram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Histogram {
    /// `@hist_log`.
    Log,
    /// `@hist_linear`; `low < high`, `width > 0`.
    Linear {
        /// Lowest value with a bucket of its own.
        low: i64,
        /// Highest value with a bucket of its own.
        high: i64,
        /// Width of a bucket.
        width: i64,
    },
}

/// A local variable. It starts as zero or the empty string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it is first named.
    pub span: Span,
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name, unique in the program (overloads and `private` functions are told apart).
    pub name: String,
    /// Its name as the script has it.
    pub written: String,
    /// Its parameters, which are also in `locals`.
    pub params: Vec<LocalId>,
    /// Its variables.
    pub locals: Arena<Local>,
    /// Type of its result; `None` if no `return` gives one.
    pub result: Option<Type>,
    /// What it does.
    pub code: FunctionCode,
    /// The overload that a `next` in it goes on with, called with the arguments that it was called
    /// with. It has parameters of the same types, and a result of the same type or none (then the
    /// value is zero or the empty string).
    pub next_overload: Option<FunctionId>,
    /// Its declaration.
    pub span: Span,
}

/// What a function does.
#[derive(Debug)]
pub enum FunctionCode {
    /// Statements. Falling off the end returns zero or the empty string.
    Script(Vec<Stmt>),
    /// An operation of the runtime, by its name in the IR's table.
    Intrinsic(String),
    /// C.
    C(EmbeddedC),
}

/// C of the script, as written between `%{` and `%}`, with what its pragmas say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmbeddedC {
    /// The text.
    pub text: String,
    /// `/* pure */`: no effect but its result, which depends only on arguments and memory.
    pub pure_: bool,
    /// `/* stable */`: the same result throughout one run of a handler.
    pub stable: bool,
    /// Whether it may raise: it names STAP_ERROR.
    pub raises: bool,
    /// `/* pragma:read:NAME */`.
    pub reads: Vec<GlobalId>,
    /// `/* pragma:write:NAME */`.
    pub writes: Vec<GlobalId>,
    /// Where it stands.
    pub span: Span,
}

/// The body that one or more probe points run.
#[derive(Debug)]
pub struct Handler {
    /// Its variables.
    pub locals: Arena<Local>,
    /// Its statements: alias prologues and epilogues, probe-point conditions included.
    pub body: Vec<Stmt>,
    /// The probe declaration in the script.
    pub span: Span,
}

/// A probe point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// What fires it.
    pub kind: ProbeKind,
    /// The point as resolved: the text of `pp()`.
    pub name: String,
    /// The point as the script wrote it: the text of `pn()`.
    pub written: String,
    /// What it runs.
    pub handler: HandlerId,
    /// Whether it is left out quietly where it cannot be registered (`?`, `!`).
    pub optional: bool,
    /// Where it stands.
    pub span: Span,
}

/// What fires a probe point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProbeKind {
    /// `begin(N)`; `oneshot` is one whose body ends in `exit()`.
    Begin(i64),
    /// `end(N)`.
    End(i64),
    /// `error(N)`.
    Error(i64),
    /// `never`.
    Never,
    /// `timer.*` but `timer.profile`.
    Timer {
        /// The period.
        period: Period,
        /// `.randomize(M)` in the unit of the period's variant; 0 if absent.
        randomize: u64,
    },
    /// `timer.profile`.
    Profile,
    /// `kernel.trace("NAME")`.
    Tracepoint(String),
    /// `kprobe.function("NAME")`; a function of a module is `MODULE:NAME`, as the kernel wants it.
    Kprobe(String),
    /// `kprobe.function("NAME").return`, with `.maxactive(N)` if given; names as for `Kprobe`.
    Kretprobe(String, Option<u32>),
}

/// The period of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Period {
    /// Kernel ticks.
    Jiffies(u64),
    /// Nanoseconds (`hz(N)` is 1e9 / N).
    Nanoseconds(u64),
}

/// A regular expression of `=~` or `!~`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Regex {
    /// The pattern, checked.
    pub pattern: Vec<u8>,
    /// Where it stands first.
    pub span: Span,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of statement. They are kept small: a body has a list of them.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// An expression whose result is not used.
    Expr(Expr),
    /// Statements.
    Block(Vec<Stmt>),
    /// `if`.
    If {
        /// A long.
        condition: Expr,
        /// If it is not zero.
        then: Vec<Stmt>,
        /// If it is zero.
        otherwise: Vec<Stmt>,
    },
    /// `for` and `while`.
    Loop(Box<Loop>),
    /// `foreach` over an array.
    Foreach(Box<Foreach>),
    /// `foreach (i in @hist_…(s))`: over the buckets of a histogram.
    ForeachBucket(Box<ForeachBucket>),
    /// Leaves the innermost loop.
    Break,
    /// Goes to the next turn of the innermost loop.
    Continue,
    /// Leaves the function. The result, if the function has one, is of its type.
    Return(Option<Expr>),
    /// Leaves the handler; in a function, goes on with its `next_overload`, or raises an error if
    /// it has none.
    Next,
    /// `delete` of an array element or a scalar (which becomes zero, empty, or an empty statistic).
    Delete(Place),
    /// `delete` of a whole array.
    Clear(GlobalId),
    /// `delete a[k, *]`: of all elements whose keys match. `None` stands for `*`.
    ClearSlice {
        /// The array.
        array: GlobalId,
        /// One per key.
        keys: Vec<Option<Expr>>,
    },
    /// `try` and `catch`.
    Try {
        /// The statements that are watched.
        body: Vec<Stmt>,
        /// The string that receives the message.
        message: Option<LocalId>,
        /// What runs after an error.
        catch: Vec<Stmt>,
    },
    /// C as a statement (guru mode).
    EmbeddedC(Box<EmbeddedC>),
}

/// `for`, and `while` without `init` and `step`.
#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    /// Evaluated once.
    pub init: Option<Expr>,
    /// A long; absent means true.
    pub condition: Option<Expr>,
    /// Evaluated after each turn, `continue` included.
    pub step: Option<Expr>,
    /// The body.
    pub body: Vec<Stmt>,
}

/// `foreach` over an array.
#[derive(Clone, PartialEq, Debug)]
pub struct Foreach {
    /// The array.
    pub array: GlobalId,
    /// One variable per key.
    pub keys: Vec<LocalId>,
    /// The variable that receives the value (`foreach (v = [k] in a)`); never for statistics.
    pub value: Option<LocalId>,
    /// What it sorts by.
    pub sort: Option<Sort>,
    /// For each key, the value to match, or `None` for `*`; empty if there is no slice.
    pub slice: Vec<Option<Expr>>,
    /// Most turns, a long.
    pub limit: Option<Expr>,
    /// The body.
    pub body: Vec<Stmt>,
}

/// `foreach` over the buckets of a histogram.
#[derive(Clone, PartialEq, Debug)]
pub struct ForeachBucket {
    /// The bucket's number, from 0.
    pub index: LocalId,
    /// The statistic.
    pub place: GlobalPlace,
    /// Whether from the last to the first (`-`).
    pub descending: bool,
    /// Most turns.
    pub limit: Option<Expr>,
    /// The body.
    pub body: Vec<Stmt>,
}

/// The order of a `foreach`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sort {
    /// What it sorts by.
    pub by: SortBy,
    /// Whether from large to small.
    pub descending: bool,
}

/// What a `foreach` sorts by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SortBy {
    /// The `n`th key, from 0.
    Key(usize),
    /// The value.
    Value,
    /// A field of the statistic.
    Stat(StatField),
}

/// A field of a statistic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatField {
    /// `@count`.
    Count,
    /// `@sum`.
    Sum,
    /// `@min`.
    Min,
    /// `@max`.
    Max,
    /// `@avg`.
    Avg,
    /// `@variance`, with its bit shift (0 if not given).
    Variance(u32),
}

/// A global scalar, or an array element.
#[derive(Clone, PartialEq, Debug)]
pub struct GlobalPlace {
    /// The global.
    pub global: GlobalId,
    /// One expression per key; empty for a scalar.
    pub keys: Vec<Expr>,
}

/// What can be assigned to.
#[derive(Clone, PartialEq, Debug)]
pub enum Place {
    /// A local variable.
    Local(LocalId),
    /// A global scalar or an array element.
    Global(GlobalPlace),
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type; `None` for calls that give no result and for output. Output that stands where a
    /// value is needed is a long, and the value is zero.
    pub ty: Option<Type>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expression. Operands are evaluated from left to right.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A literal.
    Literal(Literal),
    /// Reads a variable.
    Read(Place),
    /// `=` and the operators that assign: `place = place op value`. The result is the new value.
    Assign {
        /// What is assigned to.
        place: Place,
        /// The operator; `None` for `=`.
        op: Option<BinaryOp>,
        /// The right-hand side.
        value: Box<Expr>,
    },
    /// `++` and `--` of a long.
    Step {
        /// What is changed.
        place: Place,
        /// 1 or -1.
        by: i64,
        /// Whether the result is the value before (`x++`).
        post: bool,
    },
    /// `<<<`. The result is the value added.
    Accumulate {
        /// The statistic.
        place: GlobalPlace,
        /// A long.
        value: Box<Expr>,
    },
    /// An operator on one long.
    Unary(UnaryOp, Box<Expr>),
    /// An operator on two operands; both longs, or both strings for `Concat` and comparisons.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `&&`: 0 or 1; the right-hand side is evaluated only if the left is not zero.
    And(Box<Expr>, Box<Expr>),
    /// `||`: 0 or 1; the right-hand side is evaluated only if the left is zero.
    Or(Box<Expr>, Box<Expr>),
    /// `?:`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `[k, …] in a`: 0 or 1. `None` stands for `*`.
    In {
        /// The array.
        array: GlobalId,
        /// One per key.
        keys: Vec<Option<Expr>>,
    },
    /// `=~`, or `!~` if negated: 0 or 1.
    Match {
        /// The string.
        text: Box<Expr>,
        /// The pattern.
        regex: RegexId,
        /// Whether it is `!~`.
        negated: bool,
    },
    /// Calls a function (an overload that was chosen by its parameters).
    Call(FunctionId, Vec<Expr>),
    /// A field of a statistic.
    Stat(StatField, GlobalPlace),
    /// `@hist_…(s)[i]`: number of values in a bucket.
    Bucket(GlobalPlace, Box<Expr>),
    /// Output of formatted text.
    Print(Format, Vec<Expr>),
    /// `sprintf` and its kind.
    Format(Format, Vec<Expr>),
    /// `print(@hist_…(s))`.
    PrintHistogram(GlobalPlace),
    /// C as an expression (guru mode).
    EmbeddedC(Box<EmbeddedC>),
}

/// Operators on one long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `-`.
    Neg,
    /// `~`.
    Not,
    /// `!`: 1 if zero, else 0.
    LogicalNot,
}

/// Operators on two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
    /// `%`.
    Rem,
    /// `&`.
    And,
    /// `|`.
    Or,
    /// `^`.
    Xor,
    /// `<<`.
    Shl,
    /// `>>`, arithmetic.
    Shr,
    /// `>>>`, logical.
    Ushr,
    /// `.` of strings.
    Concat,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
}

/// An output format, parsed and checked against its arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Format {
    /// Its pieces.
    pub pieces: Vec<Piece>,
}

/// One piece of a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Bytes to copy.
    Text(Vec<u8>),
    /// A conversion of the next argument; `*` takes arguments of its own before it.
    Conversion(Conversion),
}

/// A conversion specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// What the argument is turned into.
    pub kind: ConversionKind,
    /// `-`.
    pub left: bool,
    /// `+`.
    pub plus: bool,
    /// ` `.
    pub space: bool,
    /// `#`.
    pub alternate: bool,
    /// `0`.
    pub zero: bool,
    /// Least width.
    pub width: Count,
    /// Precision.
    pub precision: Count,
}

/// A width or precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// Not given.
    None,
    /// Given.
    Fixed(u32),
    /// `*`: the next argument.
    Argument,
}

/// The kinds of conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConversionKind {
    /// `%d`, `%i`.
    Decimal,
    /// `%u`.
    Unsigned,
    /// `%o`.
    Octal,
    /// `%x`.
    Hex,
    /// `%X`.
    HexUpper,
    /// `%p`.
    Pointer,
    /// `%b`.
    Binary,
    /// `%c`.
    Char,
    /// `%s`.
    Str,
    /// `%m`.
    Memory,
    /// `%M`.
    MemoryHex,
}
