//! The preprocessor: macros, conditions and script arguments, over tokens.
//!
//! Text is read once, from left to right. Macro bodies and script arguments are pushed back in
//! front of what is still to be read, so that they may hold macros, conditions and arguments
//! themselves. Of the branch that is not taken, only the macros are looked at.

mod conditional;
mod define;

use crate::diagnostic::Diagnostic;
use crate::lexer::Lexer;
use crate::options::ParseOptions;
use crate::source::{FileId, SourceMap, Span};
use crate::token::{Tok, Token};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A macro of a script or of the library.
#[derive(Debug)]
pub(crate) struct Macro {
    /// Where its name stands in the definition.
    name: Span,
    /// The names of its parameters, if it takes any.
    params: Option<Vec<Vec<u8>>>,
    /// The tokens between `%(` and `%)`.
    body: Vec<Token>,
}

/// How deep macros may expand to macros.
const MAX_EXPANSION_DEPTH: u32 = 200;

/// How many tokens may come out of the macros of one file.
const MAX_EXPANDED_TOKENS: usize = 4_000_000;

/// Tokens to be read before the rest of the file.
struct Frame {
    tokens: Vec<Token>,
    next: usize,
}

/// An open `%(`.
struct Conditional {
    open: Span,
    in_else: bool,
}

/// What is left of a file after preprocessing.
pub(crate) struct Preprocessed {
    /// Its tokens.
    pub(crate) tokens: Vec<Token>,
    /// The empty span behind its last byte.
    pub(crate) end: Span,
    /// The macros that it defines.
    pub(crate) macros: BTreeMap<Vec<u8>, Arc<Macro>>,
}

/// Reads a file.
pub(crate) fn preprocess(
    sources: &mut SourceMap,
    file: FileId,
    options: &ParseOptions<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Preprocessed {
    let text = sources.shared_bytes(file);
    let lexer = Lexer::new(file, &text);
    let end = lexer.end();
    let mut preprocessor = Preprocessor {
        sources,
        options,
        diagnostics,
        lexer,
        frames: Vec::new(),
        conditionals: Vec::new(),
        macros: BTreeMap::new(),
        depths: BTreeMap::new(),
        expanded: 0,
        end,
        // Most scripts have a token in more than three bytes; what is too much is not touched.
        tokens: Vec::with_capacity(text.len() / 3),
    };
    preprocessor.run();
    Preprocessed { tokens: preprocessor.tokens, end, macros: preprocessor.macros }
}

struct Preprocessor<'a> {
    sources: &'a mut SourceMap,
    options: &'a ParseOptions<'a>,
    diagnostics: &'a mut Vec<Diagnostic>,
    lexer: Lexer<'a>,
    frames: Vec<Frame>,
    conditionals: Vec<Conditional>,
    /// The macros of the file.
    macros: BTreeMap<Vec<u8>, Arc<Macro>>,
    /// How many expansions lead to each expansion.
    depths: BTreeMap<FileId, u32>,
    /// Tokens that came out of macros and arguments so far.
    expanded: usize,
    end: Span,
    tokens: Vec<Token>,
}

impl Preprocessor<'_> {
    fn run(&mut self) {
        while let Some(token) = self.next() {
            match token.kind {
                Tok::CondOpen => self.open_conditional(token.span),
                Tok::CondElse => self.else_branch(token.span),
                Tok::CondClose => self.close_conditional(token.span),
                Tok::CondThen => self.stray(token.span),
                Tok::Define => self.define(token.span),
                _ => self.tokens.push(token),
            }
        }
        // The others are open because this one is.
        if let Some(innermost) = self.conditionals.pop() {
            self.unclosed_conditional(innermost.open);
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The next token as it stands, without expanding it.
    fn raw(&mut self) -> Option<Token> {
        while let Some(frame) = self.frames.last_mut() {
            if let Some(token) = frame.tokens.get(frame.next) {
                frame.next += 1;
                return Some(*token);
            }
            self.frames.pop();
        }
        self.lexer.next()
    }

    /// Makes a token the next one again.
    fn unread(&mut self, token: Token) {
        self.frames.push(Frame { tokens: vec![token], next: 0 });
    }

    /// The next token after macros and arguments are expanded.
    fn next(&mut self) -> Option<Token> {
        loop {
            let token = self.raw()?;
            match token.kind {
                Tok::ArgNumber | Tok::ArgString | Tok::ArgCount | Tok::ArgCountString => {
                    if let Some(placeholder) = self.argument(token) {
                        return Some(placeholder);
                    }
                }
                kind if is_at_operator(kind) => match self.find_macro(token.span) {
                    Some(definition) => self.invoke(token, &definition),
                    None => return Some(token),
                },
                _ => return Some(token),
            }
        }
    }

    /// The macro that the token `@name` names, if there is one.
    fn find_macro(&self, span: Span) -> Option<Arc<Macro>> {
        let name = self.sources.slice(span).get(1..)?;
        let found = self.macros.get(name).or_else(|| self.options.macros.by_name.get(name))?;
        Some(Arc::clone(found))
    }

    fn depth(&self, span: Span) -> u32 {
        self.depths.get(&span.file).copied().unwrap_or(0)
    }

    /// Registers one more expansion of a text, unless there are too many of them already.
    fn expansion(&mut self, of: FileId, token: Token, call: Span) -> Option<FileId> {
        let depth = self.depth(call) + 1;
        let name = String::from_utf8_lossy(self.sources.slice(token.span)).into_owned();
        if depth > MAX_EXPANSION_DEPTH || self.expanded > MAX_EXPANDED_TOKENS {
            let message = format!("{name} expands without end");
            let call = self.sources.origin(call);
            self.report(Diagnostic::error(call, message, "expanded here"));
            // The rest of it would only expand some more.
            self.frames.clear();
            return None;
        }
        let expansion = self.sources.add_expansion(of, name, call);
        self.depths.insert(expansion, depth);
        Some(expansion)
    }

    fn push_frame(&mut self, tokens: Vec<Token>) {
        self.expanded += tokens.len();
        self.frames.push(Frame { tokens, next: 0 });
    }

    /// Replaces `$1` and its kind. A missing argument is reported; it leaves a token that lets the
    /// parser go on.
    fn argument(&mut self, token: Token) -> Option<Token> {
        let count = self.options.args.len();
        match token.kind {
            Tok::ArgCount => self.insert(token, count.to_string(), Tok::Number),
            Tok::ArgCountString => self.insert(token, count.to_string(), Tok::RawString),
            kind => {
                let digits = self.sources.slice(token.span).get(1..).unwrap_or_default();
                let number = std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok());
                let index: usize = number.unwrap_or(usize::MAX);
                let Some(text) = index.checked_sub(1).and_then(|at| self.options.args.get(at))
                else {
                    return Some(self.missing_argument(token));
                };
                let text = text.clone();
                if kind == Tok::ArgString {
                    self.insert(token, text, Tok::RawString);
                } else {
                    self.insert_tokens(token, text);
                }
            }
        }
        None
    }

    /// Reads one token with this text in place of the argument.
    fn insert(&mut self, token: Token, text: String, kind: Tok) {
        let length = text.len() as u32;
        let file = self.argument_file(token, text);
        if let Some(file) = self.expansion(file, token, token.span) {
            self.push_frame(vec![Token { kind, span: Span::new(file, 0, length) }]);
        }
    }

    /// Reads the tokens of this text in place of the argument.
    fn insert_tokens(&mut self, token: Token, text: String) {
        let file = self.argument_file(token, text);
        let bytes = self.sources.shared_bytes(file);
        if let Some(file) = self.expansion(file, token, token.span) {
            self.push_frame(Lexer::new(file, &bytes).collect());
        }
    }

    fn argument_file(&mut self, token: Token, text: String) -> FileId {
        let name = String::from_utf8_lossy(self.sources.slice(token.span)).into_owned();
        self.sources.add(format!("<script argument {name}>"), text)
    }

    fn missing_argument(&mut self, token: Token) -> Token {
        let name = String::from_utf8_lossy(self.sources.slice(token.span)).into_owned();
        let given = match self.options.args.len() {
            0 => "no arguments were given".to_owned(),
            1 => "only one argument was given".to_owned(),
            count => format!("only {count} arguments were given"),
        };
        self.report(
            Diagnostic::error(token.span, format!("missing script argument {name}"), given)
                .with_note(format!(
                    "arguments stand behind the script on the command line; \
                     a script can test for them: %( $# >= {} %? … %)",
                    &name[1..]
                )),
        );
        let kind = if token.kind == Tok::ArgString { Tok::RawString } else { Tok::Number };
        Token { kind, span: token.span }
    }
}

/// Whether the token is `@name`, which a macro may define or redefine.
fn is_at_operator(kind: Tok) -> bool {
    kind as u8 >= Tok::AtName as u8 && kind as u8 <= Tok::Deref as u8
}
