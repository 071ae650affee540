//! The shaper: makes the token stream context free.
//!
//! Statements need no separators, so what a token means depends on what comes before it:
//! `a - b` is one expression, `if (a) -b` has another one behind the parenthesis. The shaper looks
//! at each token with what little state that takes (whether an operand came before, which
//! parentheses are open, whether a list of probe points is being read) and gives the grammar
//! tokens that say which of the two it is.

use crate::source::{SourceMap, Span};
use crate::token::{Tok, Token};

/// What the last token leaves behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Something that an operand must follow.
    Nothing,
    /// An operand, which operators, indexes and member accesses may follow.
    Operand,
    /// An operand with a trailing `++` or `--`, which only infix operators may follow.
    Crement,
}

/// An open parenthesis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paren {
    /// What is in it and its end form an operand.
    Operand,
    /// The end of a statement's header: a statement follows.
    Header,
    /// The header of a `for`, whose semicolons are separators.
    For,
    /// The header of a `foreach`, in which the array may be sliced.
    Foreach,
    /// `(…)` in a list of probe points, which goes on behind it.
    Point,
}

/// Where a list of probe points is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Points {
    /// Not in one, or in the condition or argument of a point.
    Outside,
    /// A component is due.
    Name,
    /// Behind a component.
    Rest,
}

/// How many levels of brackets, unary operators, right operands and statements without braces may
/// be open at once. This bounds the parser's stack, and what it costs to recover from an error.
pub(crate) const MAX_NESTING: u32 = 1000;

/// The tokens that the grammar wants.
pub(crate) struct Shaped {
    pub(crate) tokens: Vec<Token>,
    /// Where nesting got too deep; the text from there on is left out.
    pub(crate) too_deep: Option<Span>,
}

/// Makes the tokens those that the grammar wants.
pub(crate) fn shape(sources: &SourceMap, tokens: Vec<Token>) -> Shaped {
    let mut shaper = Shaper {
        sources,
        tokens,
        at: 0,
        made: 0,
        before: Before::Nothing,
        parens: Vec::new(),
        points: Points::Outside,
        alternatives: 0,
        open: Vec::new(),
        nesting: 0,
    };
    let mut too_deep = None;
    while let Some(token) = shaper.tokens.get(shaper.at).copied() {
        shaper.at += 1;
        shaper.token(token);
        if shaper.nesting > MAX_NESTING {
            too_deep = Some(token.span);
            break;
        }
    }
    let Shaper { mut tokens, made, .. } = shaper;
    tokens.truncate(made);
    Shaped { tokens, too_deep }
}

struct Shaper<'a> {
    sources: &'a SourceMap,
    /// First those that are shaped, which are at most as many as those they were made of. Then, from
    /// `at` on, those that are not.
    tokens: Vec<Token>,
    /// The token after the one that is being shaped.
    at: usize,
    /// How many are shaped.
    made: usize,
    before: Before,
    parens: Vec<Paren>,
    points: Points,
    /// How many braces of alternatives are open.
    alternatives: u32,
    /// The nesting before each open bracket.
    open: Vec<u32>,
    /// How many levels are open here, or more.
    nesting: u32,
}

impl Shaper<'_> {
    fn shaped(&self) -> &[Token] {
        &self.tokens[..self.made]
    }

    fn last(&self) -> Option<Tok> {
        self.shaped().last().map(|token| token.kind)
    }

    fn push(&mut self, kind: Tok, token: Token, before: Before) {
        self.count_nesting(kind);
        debug_assert!(self.made < self.at, "each token is made of one or more");
        self.tokens[self.made] = Token { kind, ..token };
        self.made += 1;
        self.before = before;
    }

    fn count_nesting(&mut self, kind: Tok) {
        match kind {
            Tok::LParen
            | Tok::CallParen
            | Tok::LBracket
            | Tok::TupleBracket
            | Tok::LBrace
            | Tok::LBraceAlternatives => {
                self.open.push(self.nesting);
                self.nesting += 1;
            }
            Tok::RParen | Tok::RBracket | Tok::RBraceAlternatives => {
                self.nesting = self.open.pop().unwrap_or(0);
            }
            Tok::RBrace => {
                self.nesting = self.open.pop().unwrap_or(0);
                self.statement_ends();
            }
            Tok::Terminator | Tok::Semicolon => self.statement_ends(),
            // A new statement begins where one operand follows another.
            kind if begins_operand(kind) && self.before != Before::Nothing => {
                self.statement_ends();
            }
            Tok::Break | Tok::Continue | Tok::Next => self.statement_ends(),
            // So it does with a keyword behind an operand.
            kind if begins_statement(kind) && self.before != Before::Nothing => {
                self.statement_ends();
                self.nesting += u32::from(opens_level(kind));
            }
            kind if opens_level(kind) => self.nesting += 1,
            _ => {}
        }
    }

    fn statement_ends(&mut self) {
        let goes_on = self.tokens.get(self.at).is_some_and(|token| token.kind == Tok::Else);
        if !goes_on {
            self.nesting = self.open.last().map_or(0, |before| before + 1);
        }
    }

    fn token(&mut self, token: Token) {
        match self.points {
            Points::Outside => self.ordinary(token),
            Points::Name => self.component(token),
            Points::Rest => self.behind_component(token),
        }
    }

    /// A token where a component of a probe point is due.
    fn component(&mut self, token: Token) {
        match token.kind {
            Tok::Ident | Tok::Star => self.glue(token),
            kind if kind.is_keyword() => self.glue(token),
            // A missing script argument: it is reported already.
            Tok::Number if self.sources.slice(token.span).starts_with(b"$") => self.glue(token),
            Tok::LBrace => {
                self.alternatives += 1;
                self.push(Tok::LBraceAlternatives, token, Before::Nothing);
            }
            _ => self.behind_component(token),
        }
    }

    /// Makes one token of a component's names and stars, which have no space between them.
    fn glue(&mut self, first: Token) {
        let mut span = first.span;
        while let Some(next) = self.tokens.get(self.at) {
            let adjacent = next.span.file == span.file && next.span.start == span.end;
            let name = matches!(next.kind, Tok::Ident | Tok::Star) || next.kind.is_keyword();
            if !adjacent || !name || self.sources.expansion(next.span).is_some() {
                break;
            }
            span.end = next.span.end;
            self.at += 1;
        }
        self.push(Tok::Component, Token { span, ..first }, Before::Nothing);
        self.points = Points::Rest;
    }

    fn behind_component(&mut self, token: Token) {
        match token.kind {
            Tok::Dot | Tok::Comma | Tok::Assign | Tok::PlusAssign => {
                self.push(token.kind, token, Before::Nothing);
                self.points = Points::Name;
            }
            Tok::LParen => {
                self.push(Tok::LParen, token, Before::Nothing);
                self.parens.push(Paren::Point);
                self.points = Points::Outside;
            }
            Tok::If => self.push(Tok::If, token, Before::Nothing),
            Tok::RBrace if self.alternatives > 0 => {
                self.alternatives -= 1;
                self.push(Tok::RBraceAlternatives, token, Before::Nothing);
                self.points = Points::Rest;
            }
            Tok::Question | Tok::Bang => self.push(token.kind, token, Before::Nothing),
            Tok::Ident | Tok::Star | Tok::Number | Tok::String if self.points == Points::Rest => {
                self.push(token.kind, token, Before::Nothing);
            }
            _ => {
                self.alternatives = 0;
                self.points = Points::Outside;
                self.ordinary(token);
            }
        }
    }

    fn ordinary(&mut self, token: Token) {
        match token.kind {
            Tok::Ident => self.name(token),
            Tok::Number | Tok::Embedded => self.push(token.kind, token, Before::Operand),
            Tok::String => self.string(token, Tok::StringMore),
            Tok::RawString => self.string(token, Tok::RawStringMore),
            Tok::LParen => self.open_paren(token),
            Tok::RParen => self.close_paren(token),
            Tok::LBracket => {
                let index = self.before == Before::Operand && !self.behind_membership();
                let kind = if index { Tok::LBracket } else { Tok::TupleBracket };
                self.push(kind, token, Before::Nothing);
            }
            Tok::RBracket => self.push(Tok::RBracket, token, Before::Operand),
            Tok::LBrace | Tok::RBrace => {
                self.parens.clear();
                self.push(token.kind, token, Before::Nothing);
            }
            Tok::Semicolon => self.semicolon(token),
            Tok::Increment => self.crement(token, Tok::PreIncrement),
            Tok::Decrement => self.crement(token, Tok::PreDecrement),
            Tok::Plus => self.sign(token, Tok::UnaryPlus),
            Tok::Minus => self.sign(token, Tok::Negate),
            Tok::Ampersand => self.sign(token, Tok::AddressOf),
            Tok::Star => self.sign(token, Tok::AnyKey),
            kind if kind.is_keyword() => self.keyword(token),
            kind => self.push(kind, token, Before::Nothing),
        }
    }

    /// Whether `in` and an array come before, which ends an expression: `x in a [1] in b` is two.
    fn behind_membership(&self) -> bool {
        matches!(
            self.shaped(),
            [.., Token { kind: Tok::In, .. }, Token { kind: Tok::Ident | Tok::Symbol, .. }]
        ) && self.parens.last() != Some(&Paren::Foreach)
    }

    /// An operator that means something else before an operand than behind one.
    fn sign(&mut self, token: Token, unary: Tok) {
        let kind = if self.before == Before::Nothing { unary } else { token.kind };
        // `*` as an index is an operand of its own.
        let before = if kind == Tok::AnyKey { Before::Operand } else { Before::Nothing };
        self.push(kind, token, before);
    }

    fn crement(&mut self, token: Token, prefix: Tok) {
        match self.before {
            Before::Operand => self.push(token.kind, token, Before::Crement),
            _ => self.push(prefix, token, Before::Nothing),
        }
    }

    fn string(&mut self, token: Token, more: Tok) {
        let continues = matches!(
            self.last(),
            Some(Tok::String | Tok::RawString | Tok::StringMore | Tok::RawStringMore)
        );
        self.push(if continues { more } else { token.kind }, token, Before::Operand);
    }

    fn name(&mut self, token: Token) {
        let text = self.sources.slice(token.span);
        let only_dollars = text.iter().all(|byte| *byte == b'$');
        let ends_in_dollar = text.ends_with(b"$") && !only_dollars;
        if self.last() == Some(Tok::Arrow) {
            let kind = if ends_in_dollar { Tok::FieldPretty } else { Tok::Field };
            return self.push(kind, token, Before::Operand);
        }
        if only_dollars && self.before == Before::Operand && self.takes_pretty() {
            return self.push(Tok::Pretty, token, Before::Operand);
        }
        let kind = match text {
            [b'$', ..] if ends_in_dollar => Tok::SymbolPretty,
            [b'$', ..] => Tok::Symbol,
            b"print" | b"println" | b"sprint" | b"sprintln" => Tok::Print,
            b"printd" | b"printdln" | b"sprintd" | b"sprintdln" => Tok::PrintDelimited,
            b"printf" | b"sprintf" => Tok::PrintFormatted,
            _ => Tok::Ident,
        };
        self.push(kind, token, Before::Operand);
    }

    /// Whether the operand before does not have a `$` yet.
    fn takes_pretty(&self) -> bool {
        !matches!(self.last(), Some(Tok::Pretty | Tok::SymbolPretty | Tok::FieldPretty))
    }

    fn keyword(&mut self, token: Token) {
        if self.last() == Some(Tok::Arrow) {
            return self.push(Tok::Field, token, Before::Operand);
        }
        match token.kind {
            Tok::Probe => {
                self.push(Tok::Probe, token, Before::Nothing);
                self.parens.clear();
                self.points = Points::Name;
                self.alternatives = 0;
            }
            Tok::Return => {
                let next = self.tokens.get(self.at).map(|token| token.kind);
                let bare = matches!(next, Some(Tok::Semicolon | Tok::RBrace));
                let kind = if bare { Tok::BareReturn } else { Tok::Return };
                self.push(kind, token, Before::Nothing);
            }
            kind => self.push(kind, token, Before::Nothing),
        }
    }

    fn open_paren(&mut self, token: Token) {
        let (kind, paren) = match self.last() {
            Some(Tok::Ident | Tok::Print | Tok::PrintDelimited | Tok::PrintFormatted) => {
                (Tok::CallParen, Paren::Operand)
            }
            Some(Tok::For) => (Tok::LParen, Paren::For),
            Some(Tok::Foreach) => (Tok::LParen, Paren::Foreach),
            Some(Tok::If | Tok::While | Tok::Catch) => (Tok::LParen, Paren::Header),
            _ => (Tok::LParen, Paren::Operand),
        };
        self.parens.push(paren);
        self.push(kind, token, Before::Nothing);
    }

    fn close_paren(&mut self, token: Token) {
        let before = match self.parens.pop() {
            Some(Paren::Header | Paren::For | Paren::Foreach) => Before::Nothing,
            Some(Paren::Point) => {
                self.points = Points::Rest;
                Before::Nothing
            }
            Some(Paren::Operand) | None => Before::Operand,
        };
        self.push(Tok::RParen, token, before);
    }

    fn semicolon(&mut self, token: Token) {
        let ends_statement = self.before != Before::Nothing
            || matches!(
                self.last(),
                Some(Tok::Next | Tok::Break | Tok::Continue | Tok::BareReturn)
            );
        let kind = match self.parens.last() {
            Some(Paren::For) => Tok::ForSemicolon,
            _ if ends_statement => Tok::Terminator,
            _ => Tok::Semicolon,
        };
        self.push(kind, token, Before::Nothing);
    }
}

/// Whether an operand begins with the token.
fn begins_operand(kind: Tok) -> bool {
    use Tok::*;
    let operator = kind as u8 >= Stat as u8 && kind as u8 <= Deref as u8;
    let other = matches!(
        kind,
        Ident
            | Symbol
            | SymbolPretty
            | Number
            | String
            | RawString
            | Embedded
            | Print
            | PrintDelimited
            | PrintFormatted
    );
    operator || other
}

/// Whether a statement begins with the keyword.
fn begins_statement(kind: Tok) -> bool {
    use Tok::*;
    matches!(kind, If | While | For | Foreach | Return | BareReturn | Delete | Try)
}

/// Whether what follows the token is one level further down, without brackets.
fn opens_level(kind: Tok) -> bool {
    use Tok::*;
    matches!(
        kind,
        UnaryPlus
            | Negate
            | Bang
            | Tilde
            | AddressOf
            | PreIncrement
            | PreDecrement
            | Question
            | Colon
            | If
            | Else
            | While
            | For
            | Foreach
            | Assign
            | PlusAssign
            | MinusAssign
            | StarAssign
            | SlashAssign
            | PercentAssign
            | DotAssign
            | ShiftLeftAssign
            | ShiftRightAssign
            | AmpersandAssign
            | PipeAssign
            | CaretAssign
            | Aggregate
    )
}
