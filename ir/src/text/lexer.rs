//! Tokens of the text form.

use super::ParseError;
use super::escape::is_word_byte;

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A word: letters, digits, `_` and `.`; also `v0`, `b0`, `f0`.
    Word(String),
    /// `@name` or `@"name"`.
    At(String),
    /// `'name` or `'"name"`, the hint after a value.
    Hint(String),
    /// `@f0:1:2`: file, line and column.
    Position(usize, u32, u32),
    /// A number. Wide enough for anything that the form holds.
    Int(i128),
    /// A quoted string, unescaped.
    Str(Vec<u8>),
    /// `->`.
    Arrow,
    /// One of `( ) [ ] { } < > , : = *`.
    Punct(char),
    /// The end of a line that holds something.
    Newline,
    /// The end of the text.
    End,
}

/// A token and where it starts: line and column, from 1.
#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) line: u32,
    pub(super) column: u32,
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

/// Splits a text into tokens; the last is `End`, and no two `Newline` follow each other.
pub(super) fn tokenize(text: &str) -> Result<Vec<Spanned>, ParseError> {
    let mut lexer = Lexer { text: text.as_bytes(), at: 0, line: 1, line_start: 0 };
    let mut tokens: Vec<Spanned> = Vec::new();
    loop {
        lexer.skip_blanks();
        let (line, column) = lexer.place();
        let token = lexer.token()?;
        let repeats = token == Token::Newline
            && tokens.last().is_none_or(|last| last.token == Token::Newline);
        let end = token == Token::End;
        if !repeats {
            tokens.push(Spanned { token, line, column });
        }
        if end {
            return Ok(tokens);
        }
    }
}

impl Lexer<'_> {
    fn place(&self) -> (u32, u32) {
        (self.line, (self.at - self.line_start + 1) as u32)
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        let (line, column) = self.place();
        ParseError { line, column, message: message.into() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips blanks and comments, but not the end of a line.
    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
        if self.peek() == Some(b';') {
            while !matches!(self.peek(), None | Some(b'\n')) {
                self.at += 1;
            }
        }
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        let Some(byte) = self.peek() else { return Ok(Token::End) };
        match byte {
            b'\n' => {
                self.at += 1;
                self.line += 1;
                self.line_start = self.at;
                Ok(Token::Newline)
            }
            b'@' => {
                self.at += 1;
                self.position_or_name()
            }
            b'\'' => {
                self.at += 1;
                Ok(Token::Hint(self.name()?))
            }
            b'"' => Ok(Token::Str(self.string()?)),
            b'-' if self.text.get(self.at + 1) == Some(&b'>') => {
                self.at += 2;
                Ok(Token::Arrow)
            }
            b'-' | b'0'..=b'9' => self.int(),
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b':' | b'=' | b'*' => {
                self.at += 1;
                Ok(Token::Punct(byte as char))
            }
            _ if is_word_byte(byte) => Ok(Token::Word(self.word().to_owned())),
            _ => Err(self.error(format!("`{}` starts no token", byte.escape_ascii()))),
        }
    }

    fn word(&mut self) -> &str {
        let start = self.at;
        while self.peek().is_some_and(is_word_byte) {
            self.at += 1;
        }
        // Word bytes are ASCII.
        std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default()
    }

    fn name(&mut self) -> Result<String, ParseError> {
        if self.peek() == Some(b'"') {
            let bytes = self.string()?;
            return String::from_utf8(bytes).map_err(|_| self.error("this name is not UTF-8"));
        }
        let word = self.word().to_owned();
        if word.is_empty() { Err(self.error("expected a name")) } else { Ok(word) }
    }

    /// After `@`: `f0:1:2` or a name.
    fn position_or_name(&mut self) -> Result<Token, ParseError> {
        let start = self.at;
        if let Some(position) = self.position() {
            return Ok(position);
        }
        self.at = start;
        Ok(Token::At(self.name()?))
    }

    fn position(&mut self) -> Option<Token> {
        let file = self.word().strip_prefix('f')?.parse().ok()?;
        let mut number = || {
            self.at += usize::from(self.peek() == Some(b':'));
            let start = self.at;
            while self.peek().is_some_and(|b| b.is_ascii_digit()) {
                self.at += 1;
            }
            std::str::from_utf8(&self.text[start..self.at]).ok()?.parse::<u32>().ok()
        };
        let line = number()?;
        let column = number()?;
        Some(Token::Position(file, line, column))
    }

    fn int(&mut self) -> Result<Token, ParseError> {
        let start = self.at;
        self.at += 1;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        let digits = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        digits.parse().map(Token::Int).map_err(|_| self.error("this is not a number"))
    }

    fn string(&mut self) -> Result<Vec<u8>, ParseError> {
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let byte = self.peek().filter(|&b| b != b'\n');
            let byte = byte.ok_or_else(|| self.error("the string has no closing quote"))?;
            self.at += 1;
            match byte {
                b'"' => return Ok(bytes),
                b'\\' => bytes.push(self.escaped()?),
                _ => bytes.push(byte),
            }
        }
    }

    fn escaped(&mut self) -> Result<u8, ParseError> {
        let byte = self.peek().ok_or_else(|| self.error("the string has no closing quote"))?;
        self.at += 1;
        match byte {
            b'n' => Ok(b'\n'),
            b't' => Ok(b'\t'),
            b'"' | b'\\' => Ok(byte),
            b'x' => {
                let digits = self.text.get(self.at..self.at + 2).unwrap_or_default();
                let value = std::str::from_utf8(digits)
                    .ok()
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                    .ok_or_else(|| self.error("expected two hexadecimal digits after `\\x`"))?;
                self.at += 2;
                Ok(value)
            }
            _ => Err(self.error(format!("`\\{}` is no escape", byte.escape_ascii()))),
        }
    }
}
