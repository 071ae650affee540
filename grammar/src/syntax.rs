//! Syntax errors: which of them to report, and how.

use crate::builder::{Builder, Index};
use crate::diagnostic::Diagnostic;
use crate::shape::MAX_NESTING;
use crate::source::Span;
use crate::token::{OPERATORS, Tok};
use lalrpop_util::{ErrorRecovery, ParseError};
use std::collections::BTreeSet;

/// A token that the grammar does not allow where it stands.
#[derive(Clone, Debug)]
pub(crate) struct SyntaxError {
    /// The token; behind the last one, the end of the file.
    pub(crate) at: Index,
    /// The terminals that would have been allowed, as the grammar names them.
    pub(crate) expected: Vec<String>,
}

impl SyntaxError {
    pub(crate) fn from_parse_error(error: ParseError<Index, Tok, ()>) -> Self {
        match error {
            ParseError::UnrecognizedToken { token: (at, ..), expected } => {
                SyntaxError { at, expected }
            }
            ParseError::UnrecognizedEof { location, expected } => {
                SyntaxError { at: location, expected }
            }
            ParseError::InvalidToken { location } => {
                SyntaxError { at: location, expected: Vec::new() }
            }
            ParseError::ExtraToken { token: (at, ..) } => SyntaxError { at, expected: Vec::new() },
            ParseError::User { .. } => SyntaxError { at: 0, expected: Vec::new() },
        }
    }
}

impl Builder<'_> {
    /// How many syntax errors there are so far.
    pub(crate) fn error_count(&self) -> usize {
        self.errors.borrow().len()
    }

    /// Takes note of an error after which the parser goes on.
    pub(crate) fn recovered(&self, recovery: ErrorRecovery<Index, Tok, ()>) {
        self.errors.borrow_mut().push(SyntaxError::from_parse_error(recovery.error));
    }

    /// Reports the errors that stand for themselves. An error is left out if it only follows from
    /// the one before: if no statement or item begins between the two.
    ///
    /// If nesting got too deep somewhere, the text ends there for the parser: that is reported
    /// instead of the end.
    pub(crate) fn report_syntax_errors(&self, last: Option<SyntaxError>, too_deep: Option<Span>) {
        let mut errors = self.errors.take();
        errors.extend(last);
        if let Some(span) = too_deep {
            errors.retain(|error| error.at < self.token_count());
            self.report(
                Diagnostic::error(span, "nested too many levels deep", "not read any further")
                    .with_note(format!("{MAX_NESTING} levels may be open at once")),
            );
        }
        errors.sort_by_key(|error| error.at);
        let mut previous: Option<Index> = None;
        for error in errors {
            let follows = previous.is_some_and(|at| !self.begins_anew(at, error.at));
            if !follows {
                let diagnostic = self.describe(&error);
                self.report(diagnostic);
                previous = Some(error.at);
            }
        }
    }

    /// Whether something begins behind token `from` and before token `to` that can be understood
    /// without what comes before it. That is also taken to be so a few tokens on in another line.
    fn begins_anew(&self, from: Index, to: Index) -> bool {
        let boundary = |at: Index| {
            matches!(
                self.token_kind(at),
                Some(
                    Tok::Semicolon
                        | Tok::Terminator
                        | Tok::LBrace
                        | Tok::RBrace
                        | Tok::Probe
                        | Tok::Function
                        | Tok::Global
                        | Tok::Private
                        | Tok::If
                        | Tok::While
                        | Tok::For
                        | Tok::Foreach
                        | Tok::Try
                        | Tok::Delete
                        | Tok::Return
                )
            )
        };
        let start = |at| self.position(self.token_span(at)).line;
        (from + 1..=to).any(boundary) || (to > from + 2 && start(from) != start(to))
    }

    fn describe(&self, error: &SyntaxError) -> Diagnostic {
        let span = self.token_span(error.at);
        if let Some(diagnostic) = self.describe_token(error, span) {
            return diagnostic;
        }
        let found = self.found(error.at);
        let expected: BTreeSet<&str> =
            error.expected.iter().map(|name| name.trim_matches('"')).collect();
        let what = summarize(&expected);
        let message = match &what {
            Some(what) => format!("expected {what}, found {found}"),
            None => format!("unexpected {}", found.trim_start_matches("the ")),
        };
        let label = match what {
            Some(what) => format!("expected {what}"),
            None => "not expected here".to_owned(),
        };
        let diagnostic = Diagnostic::error(span, message, label);
        self.add_hints(diagnostic, error.at, &expected)
    }

    /// The token as messages call it.
    fn found(&self, at: Index) -> String {
        match self.token_kind(at) {
            None => "the end of the file".to_owned(),
            Some(Tok::Embedded) => "embedded C".to_owned(),
            Some(kind) => {
                let text = self.text(at);
                let text = if text.chars().count() > 40 {
                    text.chars().take(39).chain(['…']).collect()
                } else {
                    text
                };
                match kind {
                    kind if kind.is_keyword() || kind == Tok::BareReturn => {
                        format!("the keyword `{text}`")
                    }
                    Tok::Ident | Tok::Component => format!("the name `{text}`"),
                    Tok::Number => format!("the number `{text}`"),
                    Tok::String | Tok::StringMore => format!("the string {text}"),
                    Tok::RawString | Tok::RawStringMore => format!("the string \"{text}\""),
                    _ => format!("`{text}`"),
                }
            }
        }
    }

    /// Errors that the token alone explains.
    fn describe_token(&self, error: &SyntaxError, span: Span) -> Option<Diagnostic> {
        match self.token_kind(error.at)? {
            Tok::OpenString => Some(
                Diagnostic::error(span, "this string is not closed", "no closing `\"` on its line")
                    .with_note(
                        "a quote inside a string is written `\\\"`; \
                         a backslash at the end of a line joins the next one to it",
                    ),
            ),
            Tok::OpenEmbedded => Some(
                Diagnostic::error(
                    Span { end: span.start + 2, ..span },
                    "this embedded C is not closed",
                    "opened here",
                )
                .with_note("embedded C ends with `%}`"),
            ),
            Tok::Junk => {
                let text = self.text(error.at);
                let message = format!(
                    "a script cannot contain `{}`",
                    text.escape_debug().collect::<String>().replace("\\'", "'")
                );
                let diagnostic = Diagnostic::error(span, message, "unknown character");
                Some(match text.as_str() {
                    "'" => diagnostic.with_note("strings are written in double quotes"),
                    _ => diagnostic,
                })
            }
            Tok::AtName => Some(self.unknown_operator(error.at, span)),
            _ => None,
        }
    }

    fn unknown_operator(&self, at: Index, span: Span) -> Diagnostic {
        let text = self.text(at);
        let message = format!("unknown operator or macro `{text}`");
        let diagnostic = Diagnostic::error(span, message, "neither built in nor defined");
        let name = text.trim_start_matches('@');
        let near = OPERATORS.iter().filter(|other| distance(name, other) <= 2);
        match near.min_by_key(|other| distance(name, other)) {
            Some(other) => diagnostic.with_note(format!("did you mean `@{other}`?")),
            None => {
                diagnostic.with_note("macros are defined before their use: @define name %( … %)")
            }
        }
    }

    /// Ways out of common mistakes.
    fn add_hints(&self, d: Diagnostic, at: Index, expected: &BTreeSet<&str>) -> Diagnostic {
        let kind = self.token_kind(at);
        let before = at.checked_sub(1).and_then(|at| self.token_kind(at));
        match (kind, before) {
            (None, _) if expected.contains("}") => {
                match self.unclosed(at, is_open_brace, is_close_brace) {
                    Some(open) => {
                        d.with_secondary(self.token_span(open), "this `{` is never closed")
                    }
                    None => d,
                }
            }
            (Some(Tok::Probe | Tok::Function | Tok::Global | Tok::Private), _)
                if expected.contains("}") =>
            {
                match self.unclosed(at, is_open_brace, is_close_brace) {
                    Some(open) => {
                        d.with_secondary(self.token_span(open), "this `{` may not be closed")
                    }
                    None => d,
                }
            }
            (_, _) if expected.contains(")") && kind != Some(Tok::Comma) => {
                match self.unclosed(at, is_open_paren, is_close_paren) {
                    Some(open) => d.with_secondary(self.token_span(open), "to close this `(`"),
                    None => d,
                }
            }
            (Some(Tok::Else), Some(Tok::Semicolon)) => {
                d.with_note("a `;` behind `}` is a statement of its own, and ends the `if`")
            }
            (Some(Tok::Else), _) => {
                d.with_note("there is no `if` that this `else` could belong to")
            }
            (Some(Tok::RBrace), _)
                if expected.contains("probe") && !expected.contains("number") =>
            {
                d.with_note("no `{` is open here: there is one `}` too many")
            }
            (_, Some(Tok::RParen)) if *expected == BTreeSet::from(["["]) => d.with_note(
                "a histogram is no value: it can be printed, indexed, and walked by `foreach`",
            ),
            (Some(Tok::LBrace), Some(Tok::Assign | Tok::PlusAssign)) => {
                d.with_note("an alias is written: probe NAME = POINT { … }")
            }
            (Some(kind), _) if kind.is_keyword() && expected.contains("identifier") => {
                d.with_note("keywords cannot be used as names")
            }
            _ => d,
        }
    }

    /// The last token before `at` that opens something which is not closed before `at`.
    fn unclosed(
        &self,
        at: Index,
        opens: fn(Tok) -> bool,
        closes: fn(Tok) -> bool,
    ) -> Option<Index> {
        let mut nested = 0;
        for before in (0..at.min(self.token_count())).rev() {
            match self.token_kind(before) {
                Some(kind) if closes(kind) => nested += 1,
                Some(kind) if opens(kind) && nested == 0 => return Some(before),
                Some(kind) if opens(kind) => nested -= 1,
                _ => {}
            }
        }
        None
    }
}

fn is_open_brace(kind: Tok) -> bool {
    matches!(kind, Tok::LBrace)
}

fn is_close_brace(kind: Tok) -> bool {
    matches!(kind, Tok::RBrace)
}

fn is_open_paren(kind: Tok) -> bool {
    matches!(kind, Tok::LParen | Tok::CallParen)
}

fn is_close_paren(kind: Tok) -> bool {
    matches!(kind, Tok::RParen)
}

/// What was expected, in words; nothing if that would be a long list.
fn summarize(expected: &BTreeSet<&str>) -> Option<String> {
    let has = |name| expected.contains(name);
    if has("{") && has("if") && has("?") && !has("number") {
        return Some("more of the probe point, or `{`".to_owned());
    }
    let mut parts: Vec<&str> = Vec::new();
    if has("while") && has("number") {
        parts.push("a statement");
    } else if has("number") && has("unary++") {
        parts.push("an expression");
    } else if has("probe") && has("function") && !has("number") && expected.len() <= 12 {
        return Some("`probe`, `global`, `private`, `function` or `%{`".to_owned());
    } else {
        if has("number") {
            parts.push("a number");
        }
        if has("literal") {
            parts.push("a string");
        }
        if has("embedded") {
            parts.push("`%{`");
        }
    }
    if has("identifier") && !has("number") {
        parts.push("a name");
    }
    if has("component") {
        parts.push("the name of a probe point");
    }
    if has("field") {
        parts.push("the name of a member");
    }
    let operators = has("&&");
    if operators {
        parts.push("an operator");
    }
    let statement = has("while");
    let punctuation = [
        ("(", "`(`"),
        ("call(", "`(`"),
        (")", "`)`"),
        ("]", "`]`"),
        ("{", "`{`"),
        ("}", "`}`"),
        ("point}", "`}`"),
        (",", "`,`"),
        (":", "`:`"),
        ("for;", "`;`"),
        ("in", "`in`"),
        ("=", "`=`"),
        ("+=", "`+=`"),
        ("catch", "`catch`"),
        ("long", "`long`"),
        ("string", "`string`"),
        ("global", "`global`"),
        ("function", "`function`"),
        ("limit", "`limit`"),
        (".", "`.`"),
        ("?", "`?`"),
        ("!", "`!`"),
        ("if", "`if`"),
        ("+", "`+`"),
        ("-", "`-`"),
        ("[", "`[`"),
        ("%", "`%`"),
    ];
    let expression = has("unary++");
    for (name, shown) in punctuation {
        let covered = match name {
            "(" => expression,
            "[" | "." | "?" | "+" | "-" | "%" | "=" | "+=" | "in" | "call(" if operators => true,
            "{" | "if" | "global" | "function" => statement,
            "!" => expression,
            _ => false,
        };
        if has(name) && !covered && !parts.contains(&shown) {
            parts.push(shown);
        }
    }
    match parts.as_slice() {
        [] => None,
        [one] => Some((*one).to_owned()),
        [first @ .., last] if parts.len() <= 7 => Some(format!("{} or {last}", first.join(", "))),
        _ => None,
    }
}

/// The number of single-character edits between two names (V. I. Levenshtein, "Binary codes
/// capable of correcting deletions, insertions, and reversals", 1966).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
