//! What the grammar's productions do: they make the syntax tree.
//!
//! The parser's locations are indexes of tokens; the builder knows the tokens' spans and texts.

// What the parser hands over is boxed because its stack is kept small.
#![allow(clippy::boxed_local)]

mod expr;
mod item;
mod stmt;

pub(crate) use expr::{Link, PrintHead};
pub(crate) use stmt::{KeyVar, S};

use crate::ast::{ByteString, Expr, ExprKind, Ident, Literal, LiteralValue, StringLit};
use crate::diagnostic::Diagnostic;
use crate::literal;
use crate::source::{Position, SourceMap, Span};
use crate::syntax::SyntaxError;
use crate::token::{Tok, Token};
use std::cell::RefCell;

/// The index of a token.
pub(crate) type Index = u32;

/// A node and the height of its tree.
#[derive(Clone, Debug)]
pub(crate) struct Deep<T> {
    pub(crate) node: T,
    pub(crate) depth: u32,
}

impl<T> Deep<T> {
    pub(crate) fn leaf(node: T) -> Self {
        Deep { node, depth: 1 }
    }
}

/// An expression and the height of its tree.
///
/// What the parser keeps on its stack is moved at each reduction, so it is kept small.
pub(crate) type E = Deep<Box<Expr>>;

/// How high a statement's or expression's tree may be.
///
/// All later stages recurse over the tree, so this is what keeps them from running out of stack.
pub(crate) const MAX_DEPTH: u32 = 500;

/// Makes the tree and collects what is wrong with it.
pub(crate) struct Builder<'a> {
    sources: &'a SourceMap,
    tokens: &'a [Token],
    /// Where the file ends, for errors there.
    end: Span,
    /// Whether embedded C is allowed.
    embedded: bool,
    diagnostics: RefCell<Vec<Diagnostic>>,
    /// The `return` statements since the last probe or function.
    returns: RefCell<Vec<Span>>,
    pub(crate) errors: RefCell<Vec<SyntaxError>>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(
        sources: &'a SourceMap,
        tokens: &'a [Token],
        end: Span,
        embedded: bool,
    ) -> Self {
        Builder {
            sources,
            tokens,
            end,
            embedded,
            diagnostics: RefCell::default(),
            returns: RefCell::default(),
            errors: RefCell::default(),
        }
    }

    /// What was found to be wrong.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics.into_inner()
    }

    pub(crate) fn report(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// The span of a token; behind the last one, that of the end of the file.
    pub(crate) fn token_span(&self, at: Index) -> Span {
        self.tokens.get(at as usize).map_or(self.end, |token| token.span)
    }

    pub(crate) fn token_count(&self) -> Index {
        self.tokens.len() as Index
    }

    pub(crate) fn token_kind(&self, at: Index) -> Option<Tok> {
        self.tokens.get(at as usize).map(|token| token.kind)
    }

    pub(crate) fn position(&self, span: Span) -> Position {
        self.sources.position(span)
    }

    /// The span of the tokens from `first` up to, but without, `end`.
    pub(crate) fn span(&self, first: Index, end: Index) -> Span {
        let from = self.token_span(first);
        if end <= first + 1 {
            return from;
        }
        let to = self.token_span(end - 1);
        if from.file == to.file { from.to(to) } else { self.sources.join(from, to) }
    }

    pub(crate) fn bytes(&self, at: Index) -> &'a [u8] {
        self.sources.slice(self.token_span(at))
    }

    pub(crate) fn text(&self, at: Index) -> String {
        String::from_utf8_lossy(self.bytes(at)).into_owned()
    }

    pub(crate) fn ident(&self, at: Index) -> Ident {
        Ident { name: self.text(at), span: self.token_span(at) }
    }

    /// The value of a number token; what is wrong with it is reported.
    pub(crate) fn number(&self, at: Index) -> i64 {
        let text = self.bytes(at);
        if text.starts_with(b"$") {
            return 0; // A missing script argument, which is reported already.
        }
        literal::number(text).unwrap_or_else(|message| {
            self.report(Diagnostic::error(self.token_span(at), message, "not a number"));
            0
        })
    }

    pub(crate) fn negated(&self, at: Index) -> i64 {
        self.number(at).wrapping_neg()
    }

    pub(crate) fn number_literal(&self, value: i64, first: Index, end: Index) -> Literal {
        Literal { value: LiteralValue::Number(value), span: self.span(first, end) }
    }

    pub(crate) fn string_literal(&self, string: StringLit) -> Literal {
        Literal { value: LiteralValue::String(string.value), span: string.span }
    }

    /// The string literals of the tokens, as one.
    pub(crate) fn string(&self, first: Index, end: Index) -> StringLit {
        let mut value = Vec::new();
        for at in first..end {
            let text = self.bytes(at);
            match self.token_kind(at) {
                Some(Tok::RawString | Tok::RawStringMore) => value.extend_from_slice(text),
                _ => literal::append_string(text, &mut value),
            }
        }
        StringLit { value: ByteString(value), span: self.span(first, end) }
    }

    /// The code of `%{ … %}`.
    pub(crate) fn code(&self, at: Index) -> String {
        let text = self.bytes(at);
        let inner = text.strip_prefix(b"%{").unwrap_or(text);
        let inner = inner.strip_suffix(b"%}").unwrap_or(inner);
        if !self.embedded {
            self.report(
                Diagnostic::error(
                    self.token_span(at),
                    "embedded C is not allowed here",
                    "C code in a script",
                )
                .with_note("C code can crash the kernel; -g (guru mode) allows it"),
            );
        }
        String::from_utf8_lossy(inner).into_owned()
    }

    /// A node above others, the highest of which has this depth.
    ///
    /// If that gets too high, it is reported and the node is replaced by a harmless one.
    pub(crate) fn nest(&self, kind: ExprKind, children: u32, first: Index, end: Index) -> E {
        let span = self.span(first, end);
        if children >= MAX_DEPTH {
            self.too_deep(span);
            return Deep::leaf(Box::new(Expr::new(ExprKind::Number(0), span)));
        }
        Deep { node: Box::new(Expr::new(kind, span)), depth: children + 1 }
    }

    pub(crate) fn too_deep(&self, span: Span) {
        self.report(
            Diagnostic::error(
                span,
                format!("nested more than {MAX_DEPTH} levels deep"),
                "too complex",
            )
            .with_note("split it into several statements or functions"),
        );
    }
}
