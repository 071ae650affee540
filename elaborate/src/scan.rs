//! A quick look at a library file: which names it defines.
//!
//! Parsing the whole library for every script would take longer than all else in passes 1 to 3.
//! This reads only what stands at the top level and knows just enough to skip the rest. It sees
//! both branches of preprocessor conditionals, so it may name more than the file turns out to
//! define, never less.

/// What a file may define.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// Functions, `private` ones too.
    pub(crate) functions: Vec<String>,
    /// Globals, `private` ones too.
    pub(crate) globals: Vec<String>,
    /// First components of the names of probe aliases.
    pub(crate) aliases: Vec<String>,
}

/// The names that a file may define.
pub(crate) fn names(text: &[u8]) -> Names {
    let mut tokens = Tokens { text, at: 0 };
    let mut names = Names::default();
    let mut token = tokens.next();
    while let Some(current) = token {
        token = match current {
            Token::Word(b"function") => function(&mut tokens, &mut names),
            Token::Word(b"global") => globals(tokens.next(), &mut tokens, &mut names),
            Token::Word(b"private") => match tokens.next() {
                next @ Some(Token::Word(b"function" | b"global")) => next,
                next => globals(next, &mut tokens, &mut names),
            },
            Token::Word(b"probe") => alias(&mut tokens, &mut names),
            Token::Mark(b'{') => {
                tokens.skip_block();
                tokens.next()
            }
            _ => tokens.next(),
        };
    }
    names
}

fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

fn function<'a>(tokens: &mut Tokens<'a>, names: &mut Names) -> Option<Token<'a>> {
    let next = tokens.next();
    if let Some(Token::Word(name)) = next {
        names.functions.push(text(name));
        return tokens.next();
    }
    next
}

/// Names separated by commas, each with `%`, `[SIZE]` and `= INIT` if it has them. A name that
/// follows none of these belongs to the next declaration.
fn globals<'a>(
    first: Option<Token<'a>>,
    tokens: &mut Tokens<'a>,
    names: &mut Names,
) -> Option<Token<'a>> {
    let mut token = first;
    let mut due = true;
    loop {
        match token {
            Some(Token::Word(name)) if due => names.globals.push(text(name)),
            Some(Token::Mark(b'%' | b'[' | b']' | b'=' | b'-' | b',') | Token::Literal) => {}
            // A number after `=` or `[`.
            Some(Token::Word(number)) if number[0].is_ascii_digit() => {}
            _ => return token,
        }
        due = matches!(token, Some(Token::Mark(b',')));
        token = tokens.next();
    }
}

/// `probe a.b, c.d = …` names `a` and `c`; without `=` before the body it is no alias.
fn alias<'a>(tokens: &mut Tokens<'a>, names: &mut Names) -> Option<Token<'a>> {
    let mut first_components = Vec::new();
    let mut due = true;
    loop {
        let token = tokens.next();
        match token {
            Some(Token::Word(name)) if due => first_components.push(text(name)),
            Some(Token::Mark(b'=')) => {
                names.aliases.append(&mut first_components);
                return tokens.next();
            }
            None | Some(Token::Mark(b'{')) => return token,
            _ => {}
        }
        due = matches!(token, Some(Token::Mark(b',')));
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    /// Letters, digits, `_` and `$`.
    Word(&'a [u8]),
    /// A string.
    Literal,
    /// Anything else, byte by byte.
    Mark(u8),
}

struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// Goes behind the next occurrence of `mark`, or to the end.
    fn skip_behind(&mut self, mark: &[u8]) {
        let rest = &self.text[self.at..];
        let found = rest.windows(mark.len()).position(|window| window == mark);
        self.at += found.map_or(rest.len(), |at| at + mark.len());
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        self.at = self.at.min(self.text.len());
    }

    /// Goes behind the `}` that ends the block whose `{` was just read.
    fn skip_block(&mut self) {
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                Some(Token::Mark(b'{')) => depth += 1,
                Some(Token::Mark(b'}')) => depth -= 1,
                Some(_) => {}
                None => return,
            }
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let byte = self.peek(0)?;
            match (byte, self.peek(1)) {
                (b'#', _) | (b'/', Some(b'/')) => self.skip_behind(b"\n"),
                (b'/', Some(b'*')) => {
                    self.at += 2;
                    self.skip_behind(b"*/");
                }
                (b'%', Some(b'{')) => {
                    self.at += 2;
                    self.skip_behind(b"%}");
                }
                (b'"', _) => {
                    self.skip_string();
                    return Some(Token::Literal);
                }
                _ if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' => {
                    let start = self.at;
                    while self
                        .peek(0)
                        .is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
                    {
                        self.at += 1;
                    }
                    return Some(Token::Word(&self.text[start..self.at]));
                }
                _ => {
                    self.at += 1;
                    if !byte.is_ascii_whitespace() {
                        return Some(Token::Mark(byte));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_level_names_are_found() {
        let found = names(
            br#"
            # function no1() { }
            /* global no2 */
            %{ function no3() %}
            global a, b[10] = 3, c% = "global no4", d = -5
            private global e
            private f
            function g:long (x:long) { function_like = 1; { global_like } }
            private function h() %{ function no5 } %}
            probe alias.one, other("x").two = begin, end { no6 = 1 }
            probe begin { no7 = 1 } function i() { }
            @define m %( no8 %)
            probe last += end { }
            "#,
        );
        assert_eq!(found.globals, ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(found.functions, ["g", "h", "i"]);
        assert_eq!(found.aliases, ["alias", "other", "last"]);
    }

    #[test]
    fn both_branches_of_a_conditional_count() {
        let found = names(b"%( kernel_v < \"3\" %? function a() {} %: function b() {} %) global c");
        assert_eq!(found.functions, ["a", "b"]);
        assert_eq!(found.globals, ["c"]);
    }

    #[test]
    fn unfinished_text_ends() {
        for text in
            ["probe", "probe a", "function", "global", "global a =", "{", "\"\\", "/*", "%{"]
        {
            names(text.as_bytes());
        }
        assert_eq!(names(b"private").globals, [] as [&str; 0]);
    }
}
