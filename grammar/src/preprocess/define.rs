//! Definitions and invocations of macros.

use super::{Macro, Preprocessor};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::token::{Tok, Token};
use std::sync::Arc;

impl Preprocessor<'_> {
    /// Reads what comes behind `@define`.
    pub(super) fn define(&mut self, keyword: Span) {
        if self.sources.expansion(keyword).is_some() {
            self.report(Diagnostic::error(
                keyword,
                "macros cannot define macros",
                "@define comes out of a macro here",
            ));
            self.skip_definition();
            return;
        }
        match self.definition(keyword) {
            Ok((name, definition)) => self.add_macro(name, definition),
            Err(diagnostic) => {
                self.report(diagnostic);
                self.skip_definition();
            }
        }
    }

    fn add_macro(&mut self, name: Vec<u8>, definition: Macro) {
        if let Some(first) = self.macros.get(&name) {
            let shown = String::from_utf8_lossy(&name).into_owned();
            let first = first.name;
            self.report(
                Diagnostic::error(
                    definition.name,
                    format!("macro @{shown} is defined twice"),
                    "defined again here",
                )
                .with_secondary(first, "first defined here"),
            );
        } else if Tok::operator(&name).is_some() {
            let shown = String::from_utf8_lossy(&name).into_owned();
            self.report(Diagnostic::warning(
                definition.name,
                format!("this macro hides the built-in operator @{shown}"),
                "from here on, the macro is used",
            ));
        }
        self.macros.insert(name, Arc::new(definition));
    }

    fn definition(&mut self, keyword: Span) -> Result<(Vec<u8>, Macro), Diagnostic> {
        let name = self.expect_raw(keyword, Tok::Ident, "the macro's name")?;
        let mut next = self.raw();
        let mut params = None;
        if next.is_some_and(|token| token.kind == Tok::LParen) {
            params = Some(self.parameters(name.span)?);
            next = self.raw();
        }
        let Some(open) = next.filter(|token| token.kind == Tok::CondOpen) else {
            return Err(self.unexpected(next, "`%(` in front of the macro's body"));
        };
        let body = self.body(open.span, name.span)?;
        let text = self.sources.slice(name.span).to_vec();
        Ok((text, Macro { name: name.span, params, body }))
    }

    fn parameters(&mut self, name: Span) -> Result<Vec<Vec<u8>>, Diagnostic> {
        let mut params = Vec::new();
        loop {
            let param = self.expect_raw(name, Tok::Ident, "the name of a parameter")?;
            params.push(self.sources.slice(param.span).to_vec());
            match self.raw() {
                Some(Token { kind: Tok::Comma, .. }) => {}
                Some(Token { kind: Tok::RParen, .. }) => return Ok(params),
                other => return Err(self.unexpected(other, "`,` or `)`")),
            }
        }
    }

    /// The tokens up to the `%)` that closes the body.
    fn body(&mut self, open: Span, name: Span) -> Result<Vec<Token>, Diagnostic> {
        let mut body = Vec::new();
        let mut nested = 0;
        while let Some(token) = self.raw() {
            match token.kind {
                Tok::CondOpen => nested += 1,
                Tok::CondClose if nested == 0 => return Ok(body),
                Tok::CondClose => nested -= 1,
                _ => {}
            }
            body.push(token);
        }
        Err(Diagnostic::error(name, "this macro's body is not closed", "the macro")
            .with_secondary(open, "its body starts here")
            .with_note("a macro's body ends with `%)`"))
    }

    /// Drops what is left of a definition that could not be read.
    fn skip_definition(&mut self) {
        while let Some(token) = self.raw() {
            match token.kind {
                Tok::CondOpen => {
                    self.skip_nested();
                    return;
                }
                Tok::Probe | Tok::Function | Tok::Global | Tok::Private | Tok::Define => {
                    self.unread(token);
                    return;
                }
                _ => {}
            }
        }
    }

    /// Drops everything up to the `%)` that closes the last `%(`.
    fn skip_nested(&mut self) {
        let mut nested = 0;
        while let Some(token) = self.raw() {
            match token.kind {
                Tok::CondOpen => nested += 1,
                Tok::CondClose if nested == 0 => return,
                Tok::CondClose => nested -= 1,
                _ => {}
            }
        }
    }

    fn expect_raw(&mut self, at: Span, kind: Tok, what: &str) -> Result<Token, Diagnostic> {
        match self.raw() {
            Some(token) if token.kind == kind => Ok(token),
            None => Err(Diagnostic::error(
                self.end,
                format!("expected {what}, found the end of the file"),
                "the file ends here",
            )
            .with_secondary(at, "needed because of this")),
            other => Err(self.unexpected(other, what)),
        }
    }

    pub(super) fn unexpected(&self, found: Option<Token>, what: &str) -> Diagnostic {
        match found {
            Some(token) => {
                let text = String::from_utf8_lossy(self.sources.slice(token.span)).into_owned();
                let message = format!("expected {what}, found `{text}`");
                Diagnostic::error(token.span, message, format!("expected {what}"))
            }
            None => {
                let message = format!("expected {what}, found the end of the file");
                Diagnostic::error(self.end, message, "the file ends here")
            }
        }
    }

    /// Puts the macro's body, with its parameters replaced, in front of the text.
    pub(super) fn invoke(&mut self, token: Token, definition: &Macro) {
        let mut call = token.span;
        let mut args = Vec::new();
        if let Some(params) = &definition.params {
            match self.arguments(token, params.len()) {
                Ok((found, close)) => {
                    args = found;
                    call = self.sources.join(call, close);
                }
                Err(diagnostic) => {
                    let named = diagnostic.with_secondary(definition.name, "the macro");
                    self.report(named);
                    return;
                }
            }
        }
        let Some(file) = self.expansion(definition.name.file, token, call) else { return };
        let mut tokens = Vec::with_capacity(definition.body.len());
        for inner in &definition.body {
            match self.parameter(inner, definition) {
                Some(index) => tokens.extend_from_slice(&args[index]),
                None => tokens.push(Token { span: Span { file, ..inner.span }, ..*inner }),
            }
        }
        self.push_frame(tokens);
    }

    /// Which parameter a token of a macro's body stands for: the last of that name.
    fn parameter(&self, token: &Token, definition: &Macro) -> Option<usize> {
        let params = definition.params.as_ref()?;
        if !super::is_at_operator(token.kind) {
            return None;
        }
        let name = self.sources.slice(token.span).get(1..)?;
        params.iter().rposition(|param| param == name)
    }

    /// The arguments of an invocation and its closing parenthesis.
    fn arguments(
        &mut self,
        token: Token,
        expected: usize,
    ) -> Result<(Vec<Vec<Token>>, Span), Diagnostic> {
        let name = String::from_utf8_lossy(self.sources.slice(token.span)).into_owned();
        let takes = if expected == 1 { "1 argument" } else { &format!("{expected} arguments") };
        match self.raw() {
            Some(Token { kind: Tok::LParen, .. }) => {}
            other => {
                let at = other.map_or(self.end, |token| token.span);
                other.into_iter().for_each(|token| self.unread(token));
                return Err(Diagnostic::error(at, format!("{name} takes {takes}"), "expected `(`"));
            }
        }
        let mut args = vec![Vec::new()];
        let mut nested = 0;
        while let Some(inner) = self.raw() {
            match inner.kind {
                Tok::LParen | Tok::LBracket | Tok::CondOpen => nested += 1,
                Tok::RParen if nested == 0 => {
                    return self.check_count(args, expected, inner, token);
                }
                Tok::RParen | Tok::RBracket | Tok::CondClose => nested -= 1,
                Tok::Comma if nested == 0 => {
                    if args.len() == expected {
                        self.skip_arguments();
                        let message = format!("too many arguments for {name}");
                        let label = format!("it takes {takes}");
                        return Err(Diagnostic::error(inner.span, message, label));
                    }
                    args.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(arg) = args.last_mut() {
                arg.push(inner);
            }
        }
        let message = format!("the arguments of {name} are not closed");
        Err(Diagnostic::error(token.span, message, "a `)` is missing"))
    }

    /// Drops everything up to the `)` of an invocation.
    fn skip_arguments(&mut self) {
        let mut nested = 0;
        while let Some(token) = self.raw() {
            match token.kind {
                Tok::LParen => nested += 1,
                Tok::RParen if nested == 0 => return,
                Tok::RParen => nested -= 1,
                _ => {}
            }
        }
    }

    fn check_count(
        &self,
        args: Vec<Vec<Token>>,
        expected: usize,
        close: Token,
        token: Token,
    ) -> Result<(Vec<Vec<Token>>, Span), Diagnostic> {
        if args.len() == expected {
            return Ok((args, close.span));
        }
        let name = String::from_utf8_lossy(self.sources.slice(token.span)).into_owned();
        let label = format!("it takes {expected} arguments, not {}", args.len());
        Err(Diagnostic::error(close.span, format!("too few arguments for {name}"), label))
    }
}
