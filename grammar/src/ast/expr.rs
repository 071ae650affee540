//! Expressions.

use super::{ByteString, Ident, Indexable, Key, Literal, Piece, StringLit};
use crate::source::Span;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The text, without enclosing parentheses.
    pub span: Span,
}

impl Expr {
    /// An expression at a place.
    pub fn new(kind: ExprKind, span: Span) -> Self {
        Expr { kind, span }
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number; more than 63 bits wrap around.
    Number(i64),
    /// A string.
    String(ByteString),
    /// `%{ … %}` as a value.
    EmbeddedC(String),
    /// A variable, or an array in `delete` and statistics.
    Name(String),
    /// `name(arg, …)`
    Call {
        /// The function.
        name: Ident,
        /// The arguments, in order.
        args: Vec<Expr>,
    },
    /// `array[key, …]`, `@hist_log(x)[bucket]`
    Index {
        /// What is indexed.
        base: Indexable,
        /// The indexes; `*` makes it a slice.
        keys: Vec<Key>,
    },
    /// `key in array`, `[key, …] in array`
    In {
        /// The indexes; `*` matches every key.
        keys: Vec<Key>,
        /// The array.
        array: Indexable,
    },
    /// `-x` and its kind.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `++x`, `x--` and their kind.
    Crement {
        /// What it does.
        op: CrementOp,
        /// Whether the operator comes first, and the value is the new one.
        prefix: bool,
        /// The operand.
        target: Box<Expr>,
    },
    /// `x + y` and its kind, and the two logical operators.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand, evaluated first.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `x =~ "…"`, `x !~ "…"`
    Match {
        /// What is matched.
        subject: Box<Expr>,
        /// The regular expression.
        pattern: StringLit,
        /// `!~`: true if it does not match.
        negated: bool,
    },
    /// `condition ? then : otherwise`
    Ternary {
        /// Compared with zero.
        condition: Box<Expr>,
        /// The value if it is not zero.
        then: Box<Expr>,
        /// The value if it is.
        otherwise: Box<Expr>,
    },
    /// `x = y` and its kind, and `x <<< y`.
    Assign {
        /// The operator.
        op: AssignOp,
        /// What changes. The grammar takes any expression here.
        target: Box<Expr>,
        /// The right operand.
        value: Box<Expr>,
    },
    /// `$x->y[1]`, `@var("x")->y`, `@cast(p, "t")->y`, `(p)->y`
    Target(Box<Target>),
    /// `@defined(x)`: whether the target variable exists.
    Defined(Box<Expr>),
    /// `@entry(x)`: in a return probe, the value of `x` at entry.
    Entry(Box<Expr>),
    /// `@perf("name")`: the counter's value.
    Perf(StringLit),
    /// `@const("x")`: a C constant expression.
    Const(StringLit),
    /// `@enum("x")`: the value of an enumerator.
    Enum(StringLit),
    /// `@enumname(x, "type", "module")`: the name of the enumerator with this value.
    EnumName(Box<EnumName>),
    /// `@probewrite(x)`: whether the probe's handler writes the variable; target variables start
    /// with `$`.
    ProbeWrite(Ident),
    /// `@kregister(n)`, `@uregister(n)`: a register by number or name.
    Register {
        /// Whose register.
        space: Space,
        /// DWARF number, or name.
        register: Literal,
    },
    /// `@kderef(size, address)`, `@uderef(size, address)`
    Deref {
        /// Whose memory.
        space: Space,
        /// Bytes to read: 1, 2, 4 or 8; the grammar takes any number.
        size: i64,
        /// Where.
        address: Box<Expr>,
    },
    /// `@count(x)` and its kind; also `@variance(x, shift)`.
    Stat {
        /// The operator.
        op: StatOp,
        /// A statistics variable, or an element of an array of them.
        target: Box<Expr>,
        /// The bit shift of `@variance`.
        shift: Option<i64>,
    },
    /// `@hist_log(x)`, `@hist_linear(x, start, stop, interval)` as an argument of `print`.
    Histogram(Box<Histogram>),
    /// `print(…)` and its kind.
    Print(Box<Print>),
}

/// Kernel or user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// `@k…`
    Kernel,
    /// `@u…`
    User,
}

/// A target variable or a cast, and what it leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Where it starts.
    pub base: TargetBase,
    /// `->field` and `[index]` steps.
    pub path: Vec<Access>,
    /// `&`: the address instead of the value.
    pub address_of: bool,
    /// A trailing `$` or `$$`: the value as text.
    pub pretty: Option<Pretty>,
}

/// Where a target variable starts.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetBase {
    /// `$name`: the name is without the first `$`, so `$$vars` is `$vars`.
    Symbol(Ident),
    /// `@var("name@file", "module")`
    Var {
        /// Variable, possibly with `@` and its file.
        name: StringLit,
        /// Where to look for it.
        module: Option<StringLit>,
    },
    /// `@cast(operand, "type", "module")`
    Cast {
        /// The pointer.
        operand: Box<Expr>,
        /// What it points to.
        type_name: StringLit,
        /// Where to look for the type.
        module: Option<StringLit>,
    },
    /// An expression whose type is inferred: `x->field`.
    Expr(Box<Expr>),
}

/// A step from a target variable to what is inside or behind it.
#[derive(Clone, Debug, PartialEq)]
pub enum Access {
    /// `->name`
    Field(Ident),
    /// `[index]`
    Index(Expr),
}

/// How deep a target variable is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pretty {
    /// `$x$`: members, but not theirs.
    Shallow,
    /// `$x$$`: all of it.
    Deep,
}

/// `@enumname(x, "type", "module")`: the name of the enumerator with this value.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumName {
    /// The value to be named.
    pub value: Expr,
    /// The enumeration, unless the value's type tells.
    pub type_name: Option<StringLit>,
    /// Where to look for the enumeration.
    pub module: Option<StringLit>,
}

/// A histogram of a statistics variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Its buckets.
    pub kind: HistogramKind,
    /// A statistics variable, or an element of an array of them.
    pub target: Expr,
    /// The text.
    pub span: Span,
}

/// The buckets of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistogramKind {
    /// `@hist_linear(x, start, stop, interval)`
    Linear {
        /// Low end of the first bucket.
        start: i64,
        /// Low end of the last bucket.
        stop: i64,
        /// Width of each; more than zero.
        interval: i64,
    },
    /// `@hist_log(x)`: powers of two.
    Log,
}

/// `print(…)` and its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Print {
    /// `s…`: the text is the value instead of being printed.
    pub to_string: bool,
    /// `…ln`: a line feed comes after the last argument.
    pub newline: bool,
    /// How the arguments are put together.
    pub style: PrintStyle,
    /// The arguments, without format and delimiter.
    pub args: Vec<Expr>,
}

/// How `print` and its kind put arguments together.
#[derive(Clone, Debug, PartialEq)]
pub enum PrintStyle {
    /// `print`: one after the other.
    Plain,
    /// `printd`: with a delimiter between them.
    Delimited(StringLit),
    /// `printf`: by a format.
    Formatted {
        /// The format as written.
        format: StringLit,
        /// What it consists of.
        pieces: Vec<Piece>,
    },
}

/// Operators before their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Negate,
    /// `!`
    Not,
    /// `~`
    Complement,
}

/// `++` and `--`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CrementOp {
    /// `++`
    Increment,
    /// `--`
    Decrement,
}

/// Operators between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `.` of strings
    Concat,
    /// `<<`
    ShiftLeft,
    /// `>>`, which keeps the sign
    ShiftRight,
    /// `>>>`, which shifts in zeros
    ShiftRightLogical,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Operators that change their left operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AssignOp {
    /// `=`
    Set,
    /// `*=`
    Multiply,
    /// `/=`
    Divide,
    /// `%=`
    Modulo,
    /// `+=`
    Add,
    /// `-=`
    Subtract,
    /// `.=` of strings
    Concat,
    /// `<<=`
    ShiftLeft,
    /// `>>=`
    ShiftRight,
    /// `&=`
    BitAnd,
    /// `^=`
    BitXor,
    /// `|=`
    BitOr,
    /// `<<<`: adds a value to statistics
    Aggregate,
}

/// What statistics are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatOp {
    /// `@count`
    Count,
    /// `@sum`
    Sum,
    /// `@min`
    Min,
    /// `@max`
    Max,
    /// `@avg`
    Avg,
    /// `@variance`
    Variance,
}
