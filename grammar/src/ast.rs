//! The abstract syntax tree of a script.
//!
//! The tree is what is left after preprocessing: no `%( … %)`, macros or script arguments. Every
//! node has the [`Span`] of its text. Nothing is resolved here: a [`ExprKind::Name`] may turn out a
//! local, a global or an array, and a call may be to any overload.
//!
//! Trees are equal if their spans are, too; [`crate::print`] and the tests compare trees with all
//! spans erased by [`File::erase_spans`].

use crate::source::{FileId, Span};
use std::fmt;

pub use crate::format::{Conversion, Directive, Measure, Piece};

/// The items of one file, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// The file they were read from.
    pub file: FileId,
    /// Probes, aliases, globals, functions and embedded C, in the order of the text.
    pub items: Vec<Item>,
}

/// What a file consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `probe POINT, … { … }`
    Probe(Probe),
    /// `probe NAME = POINT, … { … }`
    Alias(Alias),
    /// `global NAME, …`
    Global(Global),
    /// `function NAME(…) { … }`
    Function(Function),
    /// `%{ … %}` at the top level: C declarations.
    EmbeddedC(EmbeddedC),
}

impl Item {
    /// The text of the item.
    pub fn span(&self) -> Span {
        match self {
            Item::Probe(probe) => probe.span,
            Item::Alias(alias) => alias.span,
            Item::Global(global) => global.span,
            Item::Function(function) => function.span,
            Item::EmbeddedC(code) => code.span,
        }
    }
}

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// The value of a string literal: bytes, since escapes may name any.
///
/// `Display` writes it as a script would, without the quotes.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteString(pub Vec<u8>);

impl ByteString {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The text, with a replacement character where it is not UTF-8.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl From<&str> for ByteString {
    fn from(text: &str) -> Self {
        ByteString(text.as_bytes().to_vec())
    }
}

impl fmt::Debug for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl fmt::Display for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '"' => f.write_str("\\\"")?,
                    '\\' => f.write_str("\\\\")?,
                    '\n' => f.write_str("\\n")?,
                    '\t' => f.write_str("\\t")?,
                    '\r' => f.write_str("\\r")?,
                    // Octal escapes end after three digits, whatever follows.
                    c if (c as u32) < 0x20 || c as u32 == 0x7f => write!(f, "\\{:03o}", c as u32)?,
                    c => write!(f, "{c}")?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\{byte:03o}")?;
            }
        }
        Ok(())
    }
}

/// A string literal; adjacent literals are one.
#[derive(Clone, Debug, PartialEq)]
pub struct StringLit {
    /// The value, escapes undone.
    pub value: ByteString,
    /// From the first quote to the last.
    pub span: Span,
}

/// A literal, as probe points take it and globals are initialized with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// The value.
    pub value: LiteralValue,
    /// Where it stands, sign included.
    pub span: Span,
}

/// The value of a literal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiteralValue {
    /// A 64-bit number, in two's complement.
    Number(i64),
    /// A string.
    String(ByteString),
}

/// `%{ … %}`
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedC {
    /// The code between the marks, verbatim (bytes that are not UTF-8 are replaced).
    pub code: String,
    /// The text, marks included.
    pub span: Span,
}

/// `{ … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The statements, in order.
    pub statements: Vec<Stmt>,
    /// The text, braces included.
    pub span: Span,
}

/// `probe POINT, … { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Where the handler is attached.
    pub points: Vec<ProbePoint>,
    /// The handler.
    pub body: Block,
    /// The text.
    pub span: Span,
}

/// `probe NAME = POINT, … { … }`, and the forms with an epilogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// The name that it defines: dotted, possibly with literal arguments, wildcards and a
    /// condition, but neither `?` nor `!`.
    pub name: ProbePoint,
    /// What they stand for.
    pub points: Vec<ProbePoint>,
    /// Runs before the handler of a probe that uses the alias: `= POINTS { … }`.
    pub prologue: Option<Block>,
    /// Runs after it: `+= POINTS { … }`, or the second block of `= POINTS { … }, { … }`.
    pub epilogue: Option<Block>,
    /// The text.
    pub span: Span,
}

/// One entry of a list of probe points: `NAME(ARG).NAME… ? if (…)`.
///
/// `{a, b}.c` is kept as written; [`ProbePoint::expand`] gives the points that it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbePoint {
    /// The components between the dots.
    pub components: Vec<Component>,
    /// `?` or `!`: no error if it does not resolve.
    pub optional: bool,
    /// `!`: if it resolves, later points of the list are not tried.
    pub sufficient: bool,
    /// `if (…)`: the handler runs only if it holds.
    pub condition: Option<Expr>,
    /// The text.
    pub span: Span,
}

/// A component of a probe point.
#[derive(Clone, Debug, PartialEq)]
pub enum Component {
    /// `NAME` or `NAME(ARG)`.
    Functor(Functor),
    /// `{POINT, …}`: one probe point for each.
    Alternatives {
        /// The alternatives; only in the last component may they have `?`, `!` and conditions.
        points: Vec<ProbePoint>,
        /// The text, braces included.
        span: Span,
    },
}

impl Component {
    /// The text.
    pub fn span(&self) -> Span {
        match self {
            Component::Functor(functor) => functor.span,
            Component::Alternatives { span, .. } => *span,
        }
    }
}

/// `NAME` or `NAME(ARG)` in a probe point.
#[derive(Clone, Debug, PartialEq)]
pub struct Functor {
    /// The name, possibly with `*` and `**` wildcards.
    pub name: Ident,
    /// The argument.
    pub arg: Option<Literal>,
    /// The text.
    pub span: Span,
}

/// A probe point with all its alternatives chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatPoint {
    /// The components between the dots.
    pub components: Vec<Functor>,
    /// `?` or `!`: no error if it does not resolve.
    pub optional: bool,
    /// `!`: if it resolves, later points of the list are not tried.
    pub sufficient: bool,
    /// All of them must hold for the handler to run.
    pub conditions: Vec<Expr>,
    /// The text of the probe point as written.
    pub span: Span,
}

/// `global NAME, …`; `private global NAME, …`; `private NAME, …`
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Whether only the file that declares them sees them.
    pub private: bool,
    /// The variables.
    pub variables: Vec<GlobalVariable>,
    /// The text.
    pub span: Span,
}

/// `NAME % [SIZE] = INIT` in a declaration of globals.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalVariable {
    /// The name.
    pub name: Ident,
    /// `%`: when the array is full, its oldest elements make room.
    pub wrap: bool,
    /// `[SIZE]`: the most elements that the array holds.
    pub size: Option<u32>,
    /// The value at start.
    pub init: Option<Literal>,
    /// The text.
    pub span: Span,
}

/// A type as functions declare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// `long`: 64 bits.
    Long,
    /// `string`
    String,
}

/// `function NAME:TYPE(PARAM, …):PRIORITY { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name.
    pub name: Ident,
    /// Whether only its file sees it.
    pub private: bool,
    /// The type of its value, if it is declared.
    pub result: Option<Type>,
    /// The parameters.
    pub params: Vec<Param>,
    /// Of overloads with as many parameters, the one with the least priority runs first.
    pub priority: Option<i64>,
    /// What it does.
    pub body: FunctionBody,
    /// The text.
    pub span: Span,
}

/// `NAME` or `NAME:TYPE` of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name.
    pub name: Ident,
    /// The type, if it is declared.
    pub ty: Option<Type>,
    /// The text.
    pub span: Span,
}

/// What a function does.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionBody {
    /// `{ … }`
    Block(Block),
    /// `%{ … %}`
    EmbeddedC(EmbeddedC),
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// The text.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `;` where a statement is due.
    Null,
    /// An expression whose value is not used.
    Expr(Expr),
    /// `{ … }`
    Block(Block),
    /// `if (condition) then else otherwise`
    If {
        /// Compared with zero.
        condition: Expr,
        /// Runs if it is not zero.
        then: Box<Stmt>,
        /// Runs if it is.
        otherwise: Option<Box<Stmt>>,
    },
    /// `while (condition) body`
    While {
        /// Compared with zero before each round.
        condition: Expr,
        /// The loop.
        body: Box<Stmt>,
    },
    /// `for (init; condition; step) body`
    For {
        /// Evaluated once, before.
        init: Option<Expr>,
        /// Compared with zero before each round; without it the loop is endless.
        condition: Option<Expr>,
        /// Evaluated after each round.
        step: Option<Expr>,
        /// The loop.
        body: Box<Stmt>,
    },
    /// `foreach (…) body`
    Foreach(Box<Foreach>),
    /// `return value`; without a value only in functions that have none.
    Return(Option<Expr>),
    /// `delete target`: an element, a slice, an array or a scalar.
    Delete(Expr),
    /// `next`: leaves the handler, or goes on with the function's next overload.
    Next,
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `try { … } catch (variable) { … }`
    Try {
        /// What may raise.
        body: Block,
        /// Receives the error's message.
        variable: Option<Ident>,
        /// Runs after an error.
        handler: Block,
    },
}

/// `foreach (value = [key+, …] in array[slice] @op+ limit n) body`
#[derive(Clone, Debug, PartialEq)]
pub struct Foreach {
    /// Receives the element's value.
    pub value: Option<Ident>,
    /// Receive the element's keys.
    pub keys: Vec<Ident>,
    /// What is walked.
    pub over: Indexable,
    /// Only elements with these keys are walked, if any are given.
    pub slice: Option<Vec<Key>>,
    /// The order, if one is asked for.
    pub sort: Option<Sort>,
    /// The most rounds.
    pub limit: Option<Expr>,
    /// The loop.
    pub body: Stmt,
}

/// The order of a `foreach`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// What is compared.
    pub by: SortBy,
    /// `-`: the greatest comes first.
    pub descending: bool,
}

/// What a `foreach` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// The key at this position, counted from zero: `foreach ([a, b+] in x)`.
    Key(usize),
    /// The value: `foreach (a in x+)`, `foreach (v+ = a in x)`. Of statistics, the operator's
    /// result, by default the count: `foreach (a in x @sum-)`.
    Value(Option<StatOp>),
}

/// What can be indexed and walked.
#[derive(Clone, Debug, PartialEq)]
pub enum Indexable {
    /// A global array.
    Array(Ident),
    /// The buckets of a histogram.
    Histogram(Box<Histogram>),
}

/// An index of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// The elements whose key this is.
    Expr(Expr),
    /// `*`: all of them.
    Any(Span),
}

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
    EnumName {
        /// The value to be named.
        value: Box<Expr>,
        /// The enumeration, unless the value's type tells.
        type_name: Option<StringLit>,
        /// Where to look for the enumeration.
        module: Option<StringLit>,
    },
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
