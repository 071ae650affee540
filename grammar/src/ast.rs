//! The abstract syntax tree of a script.
//!
//! The tree is what is left after preprocessing: no `%( … %)`, macros or script arguments. Every
//! node has the [`Span`] of its text. Nothing is resolved here: a [`ExprKind::Name`] may turn out a
//! local, a global or an array, and a call may be to any overload.
//!
//! Trees are equal if their spans are, too. To compare what two scripts mean, erase the spans of
//! both first with [`File::erase_spans`].

use crate::source::{FileId, Span};
use std::fmt;

mod expr;
mod level;

pub use crate::format::{Conversion, Directive, Measure, Piece};
pub use expr::*;
pub(crate) use level::Level;

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

/// The kinds of statements. They are kept small: a block has a list of them.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `;` where a statement is due.
    Null,
    /// An expression whose value is not used.
    Expr(Box<Expr>),
    /// `{ … }`
    Block(Block),
    /// `if (condition) then else otherwise`
    If {
        /// Compared with zero.
        condition: Box<Expr>,
        /// Runs if it is not zero.
        then: Box<Stmt>,
        /// Runs if it is.
        otherwise: Option<Box<Stmt>>,
    },
    /// `while (condition) body`
    While {
        /// Compared with zero before each round.
        condition: Box<Expr>,
        /// The loop.
        body: Box<Stmt>,
    },
    /// `for (init; condition; step) body`
    For {
        /// Evaluated once, before.
        init: Option<Box<Expr>>,
        /// Compared with zero before each round; without it the loop is endless.
        condition: Option<Box<Expr>>,
        /// Evaluated after each round.
        step: Option<Box<Expr>>,
        /// The loop.
        body: Box<Stmt>,
    },
    /// `foreach (…) body`
    Foreach(Box<Foreach>),
    /// `return value`; without a value only in functions that have none.
    Return(Option<Box<Expr>>),
    /// `delete target`: an element, a slice, an array or a scalar.
    Delete(Box<Expr>),
    /// `next`: leaves the handler, or goes on with the function's next overload.
    Next,
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `try { … } catch (variable) { … }`
    Try(Box<Try>),
}

/// `try { … } catch (variable) { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// What may raise.
    pub body: Block,
    /// Receives the error's message.
    pub variable: Option<Ident>,
    /// Runs after an error.
    pub handler: Block,
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
