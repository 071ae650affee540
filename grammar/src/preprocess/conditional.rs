//! Conditions: `%( CONDITION %? TOKENS %: TOKENS %)`.

use super::{Conditional, Preprocessor, is_at_operator};
use crate::condition::{Comparison, compare_versions, has_wildcard, matches_wildcard};
use crate::diagnostic::Diagnostic;
use crate::literal;
use crate::source::Span;
use crate::token::{Tok, Token};

/// What ends a part of a condition.
enum After {
    And,
    Or,
    Then,
}

/// What is dropped of a conditional.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skip {
    /// The first branch.
    Then,
    /// The second.
    Else,
    /// Both: the condition could not be understood.
    All,
}

const OPERANDS: &str = "a condition compares `kernel_v`, `kernel_vr`, `arch`, `systemtap_v`, \
    `systemtap_privilege`, `guru_mode`, `runtime`, a `CONFIG_…`, a string or a number";

impl Preprocessor<'_> {
    pub(super) fn stray(&mut self, span: Span) {
        let text = String::from_utf8_lossy(self.sources.slice(span)).into_owned();
        self.report(Diagnostic::error(
            span,
            format!("`{text}` outside of a condition"),
            "no `%(` is open here",
        ));
    }

    pub(super) fn unclosed_conditional(&mut self, open: Span) {
        self.report(
            Diagnostic::error(open, "this condition is not closed", "opened here")
                .with_note("a condition ends with `%)`"),
        );
    }

    pub(super) fn open_conditional(&mut self, open: Span) {
        match self.condition(open) {
            Ok(true) => self.conditionals.push(Conditional { open, in_else: false }),
            Ok(false) => self.skip_branch(open, Skip::Then),
            Err(diagnostic) => {
                self.report(diagnostic);
                self.skip_branch(open, Skip::All);
            }
        }
    }

    pub(super) fn else_branch(&mut self, span: Span) {
        match self.conditionals.last() {
            None => self.stray(span),
            Some(Conditional { in_else: true, open }) => {
                let open = *open;
                self.second_else(span, open);
            }
            Some(Conditional { open, .. }) => {
                let open = *open;
                self.conditionals.pop();
                self.skip_branch(open, Skip::Else);
            }
        }
    }

    pub(super) fn close_conditional(&mut self, span: Span) {
        if self.conditionals.pop().is_none() {
            self.stray(span);
        }
    }

    fn second_else(&mut self, span: Span, open: Span) {
        self.report(
            Diagnostic::error(span, "this condition has two `%:`", "this is the second")
                .with_secondary(open, "the condition starts here"),
        );
    }

    /// Drops a branch: up to its `%:` or `%)`. Its macros are expanded all the same, so their
    /// arguments have to be right.
    fn skip_branch(&mut self, open: Span, skip: Skip) {
        let mut nested = 0;
        while let Some(token) = self.raw() {
            match token.kind {
                Tok::CondOpen => nested += 1,
                Tok::CondClose if nested == 0 => return,
                Tok::CondClose => nested -= 1,
                Tok::CondElse if nested == 0 => match skip {
                    Skip::Then => {
                        self.conditionals.push(Conditional { open, in_else: true });
                        return;
                    }
                    Skip::Else => self.second_else(token.span, open),
                    Skip::All => {}
                },
                Tok::CondThen if nested == 0 && skip != Skip::All => self.stray(token.span),
                kind if is_at_operator(kind) => {
                    if let Some(definition) = self.find_macro(token.span) {
                        self.invoke(token, &definition);
                    }
                }
                _ => {}
            }
        }
        self.unclosed_conditional(open);
    }

    /// Reads a condition and the `%?` behind it. `&&` binds tighter than `||`.
    fn condition(&mut self, open: Span) -> Result<bool, Diagnostic> {
        let mut any = false;
        let mut all = true;
        loop {
            let holds = self.comparison()?;
            all = all && holds;
            match self.after_comparison(open)? {
                After::And => {}
                After::Or => {
                    any = any || all;
                    all = true;
                }
                After::Then => return Ok(any || all),
            }
        }
    }

    fn after_comparison(&mut self, open: Span) -> Result<After, Diagnostic> {
        match self.next() {
            Some(Token { kind: Tok::AndAnd, .. }) => Ok(After::And),
            Some(Token { kind: Tok::OrOr, .. }) => Ok(After::Or),
            Some(Token { kind: Tok::CondThen, .. }) => Ok(After::Then),
            other => {
                let diagnostic = self.unexpected(other, "`%?`, `&&` or `||`");
                self.unread_end(other);
                Err(diagnostic.with_secondary(open, "the condition starts here"))
            }
        }
    }

    /// Leaves a token that ends the condition to be found by whoever skips the rest.
    fn unread_end(&mut self, token: Option<Token>) {
        if let Some(token) = token
            && matches!(token.kind, Tok::CondClose | Tok::CondElse | Tok::CondOpen)
        {
            self.unread(token);
        }
    }

    fn operand(&mut self, what: &str) -> Result<Token, Diagnostic> {
        let found = self.next();
        match found {
            Some(token)
                if !matches!(token.kind, Tok::CondThen | Tok::CondElse | Tok::CondClose) =>
            {
                Ok(token)
            }
            other => {
                let diagnostic = self.unexpected(other, what);
                self.unread_end(other);
                Err(diagnostic)
            }
        }
    }

    fn comparison(&mut self) -> Result<bool, Diagnostic> {
        let left = self
            .operand("something to compare")
            .map_err(|diagnostic| diagnostic.with_note(OPERANDS))?;
        let name = self.sources.slice(left.span).to_vec();
        match left.kind {
            Tok::String | Tok::RawString | Tok::Number => {}
            Tok::Ident if is_variable(&name) => {}
            _ => {
                let diagnostic = self.unexpected(Some(left), "something to compare");
                return Err(diagnostic.with_note(OPERANDS));
            }
        }
        let operator = self.operand("a comparison operator")?;
        let Some(comparison) = comparison_of(operator.kind) else {
            return Err(self.unexpected(Some(operator), "a comparison operator"));
        };
        let right = self.operand("the right operand of the comparison")?;
        match left.kind {
            Tok::Number => self.compare_numbers(left, comparison, right),
            Tok::Ident => self.compare_variable(&name, left, (operator, comparison), right),
            _ => self.compare_strings(left, comparison, right),
        }
    }

    fn number(&self, token: Token) -> Result<i64, Diagnostic> {
        if token.kind != Tok::Number {
            return Err(self.unexpected(Some(token), "a number"));
        }
        let text = self.sources.slice(token.span);
        if text.starts_with(b"$") {
            return Ok(0); // A missing argument, which is reported already.
        }
        literal::number(text).map_err(|message| Diagnostic::error(token.span, message, ""))
    }

    fn string(&self, token: Token) -> Result<Vec<u8>, Diagnostic> {
        let text = self.sources.slice(token.span);
        match token.kind {
            Tok::String => Ok(literal::string(text)),
            Tok::RawString => Ok(text.to_vec()),
            _ => Err(self.unexpected(Some(token), "a string")),
        }
    }

    fn compare_numbers(
        &self,
        left: Token,
        comparison: Comparison,
        right: Token,
    ) -> Result<bool, Diagnostic> {
        Ok(comparison.holds(self.number(left)?.cmp(&self.number(right)?)))
    }

    fn compare_strings(
        &self,
        left: Token,
        comparison: Comparison,
        right: Token,
    ) -> Result<bool, Diagnostic> {
        Ok(comparison.holds(self.string(left)?.cmp(&self.string(right)?)))
    }

    fn compare_variable(
        &self,
        name: &[u8],
        left: Token,
        (operator, comparison): (Token, Comparison),
        right: Token,
    ) -> Result<bool, Diagnostic> {
        let environment = self.options.environment;
        let release = &environment.kernel_release;
        let value = match name {
            b"kernel_v" => release.split('-').next().unwrap_or(release),
            b"kernel_vr" => release,
            b"systemtap_v" => &environment.systemtap_v,
            b"arch" => &environment.arch,
            b"runtime" => &environment.runtime,
            b"systemtap_privilege" => environment.privilege.name(),
            b"guru_mode" => {
                self.equality_only(operator, comparison)?;
                let guru = i64::from(environment.guru_mode);
                return Ok(comparison.holds(guru.cmp(&self.number(right)?)));
            }
            _ => return self.compare_option(left, (operator, comparison), right),
        };
        let pattern = self.string(right)?;
        if name.ends_with(b"_v") || name == b"kernel_vr" {
            return self.compare_version(value.as_bytes(), (operator, comparison), &pattern);
        }
        self.equality_only(operator, comparison)?;
        let matched = matches_wildcard(&pattern, value.as_bytes());
        Ok(matched == (comparison == Comparison::Equal))
    }

    fn compare_version(
        &self,
        value: &[u8],
        (operator, comparison): (Token, Comparison),
        pattern: &[u8],
    ) -> Result<bool, Diagnostic> {
        if !has_wildcard(pattern) {
            return Ok(comparison.holds(compare_versions(value, pattern)));
        }
        if !comparison.is_equality() {
            return Err(Diagnostic::error(
                operator.span,
                "a version with wildcards has no order",
                "only `==` and `!=` take wildcards",
            ));
        }
        Ok(matches_wildcard(pattern, value) == (comparison == Comparison::Equal))
    }

    /// A kernel option against a string, a number or another option.
    fn compare_option(
        &self,
        left: Token,
        (operator, comparison): (Token, Comparison),
        right: Token,
    ) -> Result<bool, Diagnostic> {
        let value = self.option(left);
        match right.kind {
            Tok::Number => {
                let number = self.option_number(left)?;
                Ok(comparison.holds(number.cmp(&self.number(right)?)))
            }
            Tok::Ident if self.sources.slice(right.span).starts_with(b"CONFIG_") => {
                let order = match comparison.is_equality() {
                    true => value.cmp(self.option(right)),
                    false => self.option_number(left)?.cmp(&self.option_number(right)?),
                };
                Ok(comparison.holds(order))
            }
            _ => {
                let pattern = self.string(right)?;
                self.equality_only(operator, comparison)?;
                let matched = matches_wildcard(&pattern, value.as_bytes());
                Ok(matched == (comparison == Comparison::Equal))
            }
        }
    }

    /// The option's value; empty if it is not set.
    fn option(&self, token: Token) -> &str {
        let name = std::str::from_utf8(self.sources.slice(token.span)).unwrap_or_default();
        self.options.environment.kconfig.get(name).map_or("", String::as_str)
    }

    fn option_number(&self, token: Token) -> Result<i64, Diagnostic> {
        let value = self.option(token);
        literal::number(value.as_bytes()).map_err(|_| {
            let label = match value {
                "" => "it is not set".to_owned(),
                value => format!("its value is `{value}`"),
            };
            Diagnostic::error(token.span, "this kernel option is not a number", label)
        })
    }

    fn equality_only(&self, operator: Token, comparison: Comparison) -> Result<(), Diagnostic> {
        match comparison.is_equality() {
            true => Ok(()),
            false => Err(self.unexpected(Some(operator), "`==` or `!=`")),
        }
    }
}

fn is_variable(name: &[u8]) -> bool {
    matches!(
        name,
        b"kernel_v"
            | b"kernel_vr"
            | b"systemtap_v"
            | b"arch"
            | b"runtime"
            | b"systemtap_privilege"
            | b"guru_mode"
    ) || name.starts_with(b"CONFIG_")
}

fn comparison_of(kind: Tok) -> Option<Comparison> {
    Some(match kind {
        Tok::Less => Comparison::Less,
        Tok::LessEqual => Comparison::LessEqual,
        Tok::Greater => Comparison::Greater,
        Tok::GreaterEqual => Comparison::GreaterEqual,
        Tok::EqualEqual => Comparison::Equal,
        Tok::NotEqual => Comparison::NotEqual,
        _ => return None,
    })
}
