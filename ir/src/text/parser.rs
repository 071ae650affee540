//! The token stream, and what modules and bodies have in common: constants, types, names.

use indexmap::IndexMap;

use super::ParseError;
use super::lexer::{Spanned, Token};
use crate::entities::{Entity, File, Function, Global};
use crate::module::Module;
use crate::types::{Const, Pos, Type};

/// A parser over the tokens of one text, filling one module.
pub(super) struct Parser {
    pub(super) tokens: Vec<Spanned>,
    pub(super) at: usize,
    pub(super) module: Module,
    /// All globals of the text by name; ids are in order of declaration.
    pub(super) globals: IndexMap<String, ()>,
    /// All functions of the text by name; ids are in order of declaration.
    pub(super) functions: IndexMap<String, ()>,
}

pub(super) type Parse<T> = Result<T, ParseError>;

impl Parser {
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    /// Takes the next token; `End` is never passed.
    pub(super) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].token.clone();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    /// An error at a token.
    pub(super) fn error_at<T>(&self, at: usize, message: impl Into<String>) -> Parse<T> {
        let Spanned { line, column, .. } = self.tokens[at.min(self.tokens.len() - 1)];
        Err(ParseError { line, column, message: message.into() })
    }

    /// An error at the next token.
    pub(super) fn error<T>(&self, message: impl Into<String>) -> Parse<T> {
        self.error_at(self.at, message)
    }

    /// An error at the next token: something else should stand there.
    pub(super) fn expected<T>(&self, what: &str) -> Parse<T> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::At(name) => format!("`@{name}`"),
            Token::Hint(name) => format!("`'{name}`"),
            Token::Position(..) => "a position".into(),
            Token::Int(n) => format!("`{n}`"),
            Token::Str(_) => "a string".into(),
            Token::Arrow => "`->`".into(),
            Token::Punct(c) => format!("`{c}`"),
            Token::Newline => "the end of the line".into(),
            Token::End => "the end of the text".into(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// Takes a punctuation mark if it is next.
    pub(super) fn eat(&mut self, mark: char) -> bool {
        let found = *self.peek() == Token::Punct(mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, mark: char) -> Parse<()> {
        if self.eat(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    /// Takes a word if it is next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if w == word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn word(&mut self, what: &str) -> Parse<String> {
        match self.peek() {
            Token::Word(word) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    pub(super) fn end_of_line(&mut self) -> Parse<()> {
        match self.peek() {
            Token::End => Ok(()),
            Token::Newline => {
                self.at += 1;
                Ok(())
            }
            _ => self.expected("the end of the line"),
        }
    }

    /// A number that fits `T`.
    pub(super) fn int<T: TryFrom<i128>>(&mut self, what: &str) -> Parse<T> {
        match *self.peek() {
            Token::Int(n) => match T::try_from(n) {
                Ok(n) => {
                    self.at += 1;
                    Ok(n)
                }
                Err(_) => self.error(format!("{n} is out of range")),
            },
            _ => self.expected(what),
        }
    }

    pub(super) fn bytes(&mut self, what: &str) -> Parse<Vec<u8>> {
        match self.peek() {
            Token::Str(bytes) => {
                let bytes = bytes.clone();
                self.at += 1;
                Ok(bytes)
            }
            _ => self.expected(what),
        }
    }

    pub(super) fn text(&mut self, what: &str) -> Parse<String> {
        let at = self.at;
        String::from_utf8(self.bytes(what)?)
            .or_else(|_| self.error_at(at, "this text is not UTF-8"))
    }

    /// `(n)`.
    pub(super) fn int_argument<T: TryFrom<i128>>(&mut self) -> Parse<T> {
        self.expect('(')?;
        let n = self.int("a number")?;
        self.expect(')')?;
        Ok(n)
    }

    /// Items between two marks, separated by commas; the opening mark is next.
    pub(super) fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(',') {
                break;
            }
        }
        if self.eat(close) { Ok(items) } else { self.expected(&format!("`,` or `{close}`")) }
    }

    pub(super) fn constant(&mut self) -> Parse<Const> {
        match self.peek() {
            Token::Str(_) => Ok(Const::Str(self.bytes("a string")?.into())),
            _ => Ok(Const::Long(self.int("a number or a string")?)),
        }
    }

    /// `long`, `iter`, `str<n>`, or `str` for a string of any length that the limits allow.
    pub(super) fn ty(&mut self) -> Parse<Type> {
        if self.eat_word("long") {
            Ok(Type::Long)
        } else if self.eat_word("iter") {
            Ok(Type::Iter)
        } else if self.eat_word("str") {
            Ok(Type::Str(self.bound()?))
        } else {
            self.expected("a type")
        }
    }

    /// What follows `str`.
    pub(super) fn bound(&mut self) -> Parse<u32> {
        if self.eat('<') {
            let bound = self.int("a length")?;
            self.expect('>')?;
            Ok(bound)
        } else {
            Ok(self.module.limits.max_string_len.saturating_sub(1))
        }
    }

    /// A position, if one is next.
    pub(super) fn pos(&mut self) -> Parse<Option<Pos>> {
        let &Token::Position(file, line, column) = self.peek() else { return Ok(None) };
        if file >= self.module.files.len() {
            return self.error(format!("there is no file f{file}"));
        }
        self.at += 1;
        Ok(Some(Pos { file: File::from_index(file), line, column }))
    }

    /// `@name`, whatever it names.
    pub(super) fn at_name(&mut self, what: &str) -> Parse<String> {
        match self.peek() {
            Token::At(name) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    pub(super) fn global(&mut self) -> Parse<Global> {
        let at = self.at;
        let name = self.at_name("a global")?;
        match self.globals.get_index_of(&name) {
            Some(index) => Ok(Global::from_index(index)),
            None => self.error_at(at, format!("there is no global `@{name}`")),
        }
    }

    pub(super) fn function(&mut self) -> Parse<Function> {
        let at = self.at;
        let name = self.at_name("a function")?;
        match self.functions.get_index_of(&name) {
            Some(index) => Ok(Function::from_index(index)),
            None => self.error_at(at, format!("there is no function `@{name}`")),
        }
    }

    /// The index of an entity that is written as a prefix and a number, such as `b12`.
    pub(super) fn entity<T: Entity>(&mut self, prefix: &str, what: &str) -> Parse<T> {
        match self.entity_index(prefix) {
            Some(index) => {
                self.at += 1;
                Ok(T::from_index(index))
            }
            None => self.expected(what),
        }
    }

    /// The number after the prefix of the next token, if it is such an entity.
    pub(super) fn entity_index(&self, prefix: &str) -> Option<usize> {
        let Token::Word(word) = self.peek() else { return None };
        let digits = word.strip_prefix(prefix)?;
        // A limit keeps a typing error from making a table of gigabytes.
        digits.parse::<usize>().ok().filter(|&n| n < 1_000_000)
    }
}
