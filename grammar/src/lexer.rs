//! The lexer: bytes to tokens, without any context.

use crate::source::{FileId, SourceMap, Span};
use crate::token::{Tok, Token};
use std::ops::Range;

/// Splits a text into tokens; comments and white space are dropped.
pub(crate) struct Lexer<'a> {
    file: FileId,
    text: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer of the text of `file`, from its start.
    pub(crate) fn new(file: FileId, text: &'a [u8]) -> Self {
        Lexer { file, text, at: 0 }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The empty span behind the last byte.
    pub(crate) fn end(&self) -> Span {
        let end = self.text.len() as u32;
        Span::new(self.file, end, end)
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.byte(0) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'#' => self.skip_line(),
                b'/' if self.byte(1) == b'/' => self.skip_line(),
                b'/' if self.byte(1) == b'*' => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// A comment that is never closed reaches to the end of the file.
    fn skip_comment(&mut self) {
        self.at += 2;
        while self.at < self.text.len() {
            if self.byte(0) == b'*' && self.byte(1) == b'/' {
                self.at += 2;
                return;
            }
            self.at += 1;
        }
    }

    fn name(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|byte| !is_name(*byte)).unwrap_or(rest.len());
    }

    fn digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    /// From the opening quote; a backslash makes the next byte part of the string.
    fn string(&mut self) -> Tok {
        self.at += 1;
        while self.at < self.text.len() {
            match self.byte(0) {
                b'"' => {
                    self.at += 1;
                    return Tok::String;
                }
                b'\n' => return Tok::OpenString,
                b'\\' => self.at = (self.at + 2).min(self.text.len()),
                _ => self.at += 1,
            }
        }
        Tok::OpenString
    }

    fn embedded(&mut self) -> Tok {
        self.at += 2;
        while self.at < self.text.len() {
            if self.byte(0) == b'%' && self.byte(1) == b'}' {
                self.at += 2;
                return Tok::Embedded;
            }
            self.at += 1;
        }
        Tok::OpenEmbedded
    }

    /// A token that starts with `@`.
    fn at_sign(&mut self) -> Tok {
        self.at += 1;
        match self.byte(0) {
            b'#' => {
                self.at += 1;
                Tok::ArgCountString
            }
            b'0'..=b'9' => {
                self.digits();
                Tok::ArgString
            }
            _ => {
                let start = self.at;
                self.name();
                Tok::operator(&self.text[start..self.at]).unwrap_or(Tok::AtName)
            }
        }
    }

    /// A token that starts with `$`.
    fn dollar(&mut self) -> Tok {
        match self.byte(1) {
            b'#' => {
                self.at += 2;
                Tok::ArgCount
            }
            b'0'..=b'9' => {
                self.at += 1;
                self.digits();
                Tok::ArgNumber
            }
            _ => {
                self.name();
                Tok::Ident
            }
        }
    }

    fn scan(&mut self) -> Tok {
        let start = self.at;
        match self.byte(0) {
            b'a'..=b'z' => {
                self.name();
                Tok::keyword(&self.text[start..self.at]).unwrap_or(Tok::Ident)
            }
            b'A'..=b'Z' | b'_' => {
                self.name();
                Tok::Ident
            }
            b'0'..=b'9' => {
                while self.byte(0).is_ascii_alphanumeric() {
                    self.at += 1;
                }
                Tok::Number
            }
            b'$' => self.dollar(),
            b'@' => self.at_sign(),
            b'"' => self.string(),
            b'%' if self.byte(1) == b'{' => self.embedded(),
            _ => self.operator(),
        }
    }

    fn operator(&mut self) -> Tok {
        let (kind, length) = operator(self.byte(0), self.byte(1), self.byte(2));
        self.at += length;
        if kind == Tok::Junk {
            // All bytes of a character, not just the first.
            while self.byte(0) & 0xc0 == 0x80 {
                self.at += 1;
            }
        }
        kind
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    #[inline]
    fn next(&mut self) -> Option<Token> {
        self.skip_blanks();
        if self.at >= self.text.len() {
            return None;
        }
        let start = self.at as u32;
        let kind = self.scan();
        Some(Token { kind, span: Span::new(self.file, start, self.at as u32) })
    }
}

/// The byte ranges of the tokens of a text, in order, before preprocessing.
///
/// Comments and white space are in none of them. The text need not be a valid script.
pub fn token_ranges(text: &[u8]) -> Vec<Range<usize>> {
    let mut sources = SourceMap::new();
    let file = sources.add("tokens", text);
    Lexer::new(file, sources.bytes(file))
        .map(|token| token.span.start as usize..token.span.end as usize)
        .collect()
}

/// Whether the byte may be part of a name.
pub(crate) fn is_name(byte: u8) -> bool {
    NAME_BYTES[byte as usize]
}

/// What is looked up for each byte of a script, or nearly so.
const NAME_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] =
            (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' || byte as u8 == b'$';
        byte += 1;
    }
    table
};

/// The longest operator that starts with these bytes, and its length.
fn operator(first: u8, second: u8, third: u8) -> (Tok, usize) {
    match (first, second, third) {
        (b'<', b'<', b'<') => (Tok::Aggregate, 3),
        (b'<', b'<', b'=') => (Tok::ShiftLeftAssign, 3),
        (b'>', b'>', b'>') => (Tok::ShiftRightLogical, 3),
        (b'>', b'>', b'=') => (Tok::ShiftRightAssign, 3),
        (b'<', b'<', _) => (Tok::ShiftLeft, 2),
        (b'>', b'>', _) => (Tok::ShiftRight, 2),
        (b'<', b'=', _) => (Tok::LessEqual, 2),
        (b'>', b'=', _) => (Tok::GreaterEqual, 2),
        (b'=', b'=', _) => (Tok::EqualEqual, 2),
        (b'=', b'~', _) => (Tok::Match, 2),
        (b'!', b'=', _) => (Tok::NotEqual, 2),
        (b'!', b'~', _) => (Tok::NotMatch, 2),
        (b'+', b'+', _) => (Tok::Increment, 2),
        (b'-', b'-', _) => (Tok::Decrement, 2),
        (b'-', b'>', _) => (Tok::Arrow, 2),
        (b'+', b'=', _) => (Tok::PlusAssign, 2),
        (b'-', b'=', _) => (Tok::MinusAssign, 2),
        (b'*', b'=', _) => (Tok::StarAssign, 2),
        (b'/', b'=', _) => (Tok::SlashAssign, 2),
        (b'%', b'=', _) => (Tok::PercentAssign, 2),
        (b'%', b'(', _) => (Tok::CondOpen, 2),
        (b'%', b'?', _) => (Tok::CondThen, 2),
        (b'%', b':', _) => (Tok::CondElse, 2),
        (b'%', b')', _) => (Tok::CondClose, 2),
        (b'&', b'&', _) => (Tok::AndAnd, 2),
        (b'|', b'|', _) => (Tok::OrOr, 2),
        (b'&', b'=', _) => (Tok::AmpersandAssign, 2),
        (b'|', b'=', _) => (Tok::PipeAssign, 2),
        (b'^', b'=', _) => (Tok::CaretAssign, 2),
        (b'.', b'=', _) => (Tok::DotAssign, 2),
        _ => (single(first), 1),
    }
}

fn single(byte: u8) -> Tok {
    match byte {
        b'(' => Tok::LParen,
        b')' => Tok::RParen,
        b'[' => Tok::LBracket,
        b']' => Tok::RBracket,
        b'{' => Tok::LBrace,
        b'}' => Tok::RBrace,
        b',' => Tok::Comma,
        b';' => Tok::Semicolon,
        b':' => Tok::Colon,
        b'?' => Tok::Question,
        b'.' => Tok::Dot,
        b'!' => Tok::Bang,
        b'~' => Tok::Tilde,
        b'+' => Tok::Plus,
        b'-' => Tok::Minus,
        b'*' => Tok::Star,
        b'/' => Tok::Slash,
        b'%' => Tok::Percent,
        b'&' => Tok::Ampersand,
        b'|' => Tok::Pipe,
        b'^' => Tok::Caret,
        b'<' => Tok::Less,
        b'>' => Tok::Greater,
        b'=' => Tok::Assign,
        _ => Tok::Junk,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Tok> {
        let mut sources = SourceMap::new();
        let file = sources.add("a.stp", text);
        Lexer::new(file, sources.bytes(file)).map(|token| token.kind).collect()
    }

    #[test]
    fn the_longest_operator_wins() {
        use Tok::*;
        assert_eq!(kinds("a<<<b<<c<d"), [Ident, Aggregate, Ident, ShiftLeft, Ident, Less, Ident]);
        assert_eq!(kinds("a+++b--->c"), [Ident, Increment, Plus, Ident, Decrement, Arrow, Ident]);
        assert_eq!(kinds("%( %? %: %)"), [CondOpen, CondThen, CondElse, CondClose]);
        assert_eq!(kinds("a%{ } %}b"), [Ident, Embedded, Ident]);
    }

    #[test]
    fn a_hash_starts_a_comment_unless_it_counts_arguments() {
        use Tok::*;
        assert_eq!(
            kinds("$# @# # $#\n$1 @23 x # y"),
            [ArgCount, ArgCountString, ArgNumber, ArgString, Ident]
        );
        assert_eq!(kinds("a // b\n/* c\n*/ d /* e"), [Ident, Ident]);
    }

    #[test]
    fn a_string_may_go_on_in_the_next_line_after_a_backslash() {
        use Tok::*;
        assert_eq!(kinds("\"a\\\nb\" \"c\\\"\" x"), [String, String, Ident]);
        assert_eq!(kinds("\"a\nb\""), [OpenString, Ident, OpenString]);
        assert_eq!(kinds("\"a\\"), [OpenString]);
    }

    #[test]
    fn dollars_are_parts_of_names() {
        use Tok::*;
        assert_eq!(kinds("$x$$ $ a$b @x$ 1_a"), [Ident, Ident, Ident, AtName, Number, Ident]);
        assert_eq!(kinds("é`\u{0}"), [Junk, Junk, Junk]);
    }
}
