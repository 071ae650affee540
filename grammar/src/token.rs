//! Tokens, as the lexer makes them and as the grammar wants them.

use crate::source::Span;

/// A token and where its text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Tok,
    /// Its text.
    pub(crate) span: Span,
}

/// The kinds of tokens.
///
/// The lexer makes those of the first groups. [`crate::shape`] then splits some of them by what
/// comes before, so that the grammar is context free: `-` after an operand is [`Tok::Minus`],
/// elsewhere [`Tok::Negate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Tok {
    // Keywords.
    Probe,
    Global,
    Function,
    Private,
    If,
    Else,
    For,
    Foreach,
    While,
    In,
    Limit,
    Return,
    Delete,
    Try,
    Catch,
    Next,
    Break,
    Continue,
    LongType,
    StringType,

    // Names and literals.
    Ident,
    Number,
    String,
    /// `%{ … %}`
    Embedded,
    /// `@name` that is no built-in operator.
    AtName,

    // Built-in operators that start with `@`.
    Stat,
    Variance,
    HistLog,
    HistLinear,
    Cast,
    Var,
    Defined,
    Entry,
    Perf,
    Const,
    Enum,
    EnumName,
    ProbeWrite,
    Register,
    Deref,

    // Punctuation and operators.
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Comma,
    Semicolon,
    Colon,
    Question,
    Dot,
    Arrow,
    Bang,
    Tilde,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Ampersand,
    Pipe,
    Caret,
    Increment,
    Decrement,
    ShiftLeft,
    ShiftRight,
    ShiftRightLogical,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    AndAnd,
    OrOr,
    Match,
    NotMatch,
    Aggregate,
    Assign,
    PlusAssign,
    MinusAssign,
    StarAssign,
    SlashAssign,
    PercentAssign,
    DotAssign,
    ShiftLeftAssign,
    ShiftRightAssign,
    AmpersandAssign,
    PipeAssign,
    CaretAssign,

    // For the preprocessor alone.
    /// `%(`
    CondOpen,
    /// `%?`
    CondThen,
    /// `%:`
    CondElse,
    /// `%)`
    CondClose,
    /// `@define`
    Define,
    /// `$1`
    ArgNumber,
    /// `@1`
    ArgString,
    /// `$#`
    ArgCount,
    /// `@#`
    ArgCountString,

    // What the lexer could not make sense of; reported when the parser or preprocessor gets there.
    /// A byte that starts no token.
    Junk,
    /// A string without closing quote on its line.
    OpenString,
    /// `%{` without `%}`.
    OpenEmbedded,

    // What the shaper makes.
    /// All of a script argument, as a string without quotes and escapes.
    RawString,
    /// A string literal right behind another one, which it continues.
    StringMore,
    /// Like `StringMore`, for a `RawString`.
    RawStringMore,
    /// `$name`
    Symbol,
    /// `$name$`, `$name$$`
    SymbolPretty,
    /// `$`, `$$` behind an operand.
    Pretty,
    /// A name behind `->`.
    Field,
    /// A name with trailing `$` behind `->`.
    FieldPretty,
    /// A component of a probe point: names and `*` without space between them.
    Component,
    /// `print`, `println`, `sprint`, `sprintln`.
    Print,
    /// `printd`, `printdln`, `sprintd`, `sprintdln`.
    PrintDelimited,
    /// `printf`, `sprintf`.
    PrintFormatted,
    /// `(` behind the name of a function.
    CallParen,
    /// `[` where no operand comes before.
    TupleBracket,
    /// `{` of alternatives in a probe point.
    LBraceAlternatives,
    /// `}` of alternatives in a probe point.
    RBraceAlternatives,
    /// `*` as an index.
    AnyKey,
    /// Unary `+`.
    UnaryPlus,
    /// Unary `-`.
    Negate,
    /// Unary `&`.
    AddressOf,
    /// `++` before its operand.
    PreIncrement,
    /// `--` before its operand.
    PreDecrement,
    /// `;` that ends a statement.
    Terminator,
    /// `;` between the parts of a `for`.
    ForSemicolon,
    /// `return` without a value.
    BareReturn,
}

impl Tok {
    /// Whether it is a keyword, which is a plain name in probe points and behind `->`.
    pub(crate) fn is_keyword(self) -> bool {
        (self as u8) <= (Tok::StringType as u8)
    }

    /// The keyword, if the name is one.
    pub(crate) fn keyword(name: &[u8]) -> Option<Tok> {
        Some(match name {
            b"probe" => Tok::Probe,
            b"global" => Tok::Global,
            b"function" => Tok::Function,
            b"private" => Tok::Private,
            b"if" => Tok::If,
            b"else" => Tok::Else,
            b"for" => Tok::For,
            b"foreach" => Tok::Foreach,
            b"while" => Tok::While,
            b"in" => Tok::In,
            b"limit" => Tok::Limit,
            b"return" => Tok::Return,
            b"delete" => Tok::Delete,
            b"try" => Tok::Try,
            b"catch" => Tok::Catch,
            b"next" => Tok::Next,
            b"break" => Tok::Break,
            b"continue" => Tok::Continue,
            b"long" => Tok::LongType,
            b"string" => Tok::StringType,
            _ => return None,
        })
    }

    /// The built-in operator, if the name behind `@` is one.
    pub(crate) fn operator(name: &[u8]) -> Option<Tok> {
        Some(match name {
            b"count" | b"sum" | b"min" | b"max" | b"avg" => Tok::Stat,
            b"variance" => Tok::Variance,
            b"hist_log" => Tok::HistLog,
            b"hist_linear" => Tok::HistLinear,
            b"cast" => Tok::Cast,
            b"var" => Tok::Var,
            b"defined" => Tok::Defined,
            b"entry" => Tok::Entry,
            b"perf" => Tok::Perf,
            b"const" => Tok::Const,
            b"enum" => Tok::Enum,
            b"enumname" => Tok::EnumName,
            b"probewrite" => Tok::ProbeWrite,
            b"kregister" | b"uregister" => Tok::Register,
            b"kderef" | b"uderef" => Tok::Deref,
            b"define" => Tok::Define,
            _ => return None,
        })
    }
}

/// The names of all built-in operators that start with `@`, for suggestions.
pub(crate) const OPERATORS: &[&str] = &[
    "avg",
    "cast",
    "const",
    "count",
    "defined",
    "entry",
    "enum",
    "enumname",
    "hist_linear",
    "hist_log",
    "kderef",
    "kregister",
    "max",
    "min",
    "perf",
    "probewrite",
    "sum",
    "uderef",
    "uregister",
    "var",
    "variance",
];
