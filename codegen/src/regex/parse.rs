//! Parses POSIX extended regular expressions.

/// A set of bytes.
pub(super) type Bytes = [bool; 256];

/// A regular expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Syntax {
    /// Matches the empty text.
    Empty,
    /// One byte of a set.
    Byte(Box<Bytes>),
    /// One after the other.
    Sequence(Vec<Syntax>),
    /// One of them.
    Choice(Vec<Syntax>),
    /// Any number of times.
    Star(Box<Syntax>),
    /// The start of the text.
    Start,
    /// The end of the text.
    End,
}

/// Most repetitions in braces.
const MOST_REPEATS: u32 = 255;

/// Most parts that repeats may add up to: each is written out as often as it may occur.
const MOST_PARTS: usize = 20_000;

/// Parses an expression; the error says what is wrong with it.
pub(super) fn parse(pattern: &[u8]) -> Result<Syntax, String> {
    let mut parser = Parser { pattern, at: 0, parts: 0 };
    let syntax = parser.choice()?;
    match parser.peek() {
        None => Ok(syntax),
        Some(_) => Err("unmatched )".to_owned()),
    }
}

struct Parser<'p> {
    pattern: &'p [u8],
    at: usize,
    /// How many parts repeats have made so far.
    parts: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.pattern.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn choice(&mut self) -> Result<Syntax, String> {
        let mut all = vec![self.sequence()?];
        while self.take(b'|') {
            all.push(self.sequence()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Syntax::Choice(all) })
    }

    fn sequence(&mut self) -> Result<Syntax, String> {
        let mut all = Vec::new();
        while !matches!(self.peek(), None | Some(b'|' | b')')) {
            let atom = self.atom()?;
            all.push(self.repeated(atom)?);
        }
        Ok(match all.len() {
            0 => Syntax::Empty,
            1 => all.remove(0),
            _ => Syntax::Sequence(all),
        })
    }

    fn atom(&mut self) -> Result<Syntax, String> {
        let byte = self.peek().ok_or("unexpected end")?;
        self.at += 1;
        Ok(match byte {
            b'(' => {
                let inner = self.choice()?;
                if !self.take(b')') {
                    return Err("unmatched (".to_owned());
                }
                inner
            }
            b'^' => Syntax::Start,
            b'$' => Syntax::End,
            b'.' => Syntax::Byte(Box::new([true; 256])),
            b'[' => Syntax::Byte(self.bracket()?),
            b'*' | b'+' | b'?' => {
                return Err(format!("nothing to repeat before {}", char::from(byte)));
            }
            b'\\' => {
                let escaped = self.peek().ok_or("\\ at the end")?;
                self.at += 1;
                one(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    other => other,
                })
            }
            other => one(other),
        })
    }

    fn repeated(&mut self, mut atom: Syntax) -> Result<Syntax, String> {
        loop {
            atom = if self.take(b'*') {
                Syntax::Star(Box::new(atom))
            } else if self.take(b'+') {
                self.repeat(&atom, 2)?;
                Syntax::Sequence(vec![atom.clone(), Syntax::Star(Box::new(atom))])
            } else if self.take(b'?') {
                Syntax::Choice(vec![atom, Syntax::Empty])
            } else if self.peek() == Some(b'{') {
                self.at += 1;
                self.counted(&atom)?
            } else {
                return Ok(atom);
            };
        }
    }

    /// Counts the parts of so many copies of an expression, before they are made.
    fn repeat(&mut self, atom: &Syntax, copies: usize) -> Result<(), String> {
        self.parts += size(atom).saturating_mul(copies);
        if self.parts > MOST_PARTS {
            return Err(format!("its repeats make more than {MOST_PARTS} parts"));
        }
        Ok(())
    }

    /// `{m}`, `{m,}`, `{m,n}`.
    fn counted(&mut self, atom: &Syntax) -> Result<Syntax, String> {
        let least = self.number()?.ok_or("a number is missing after {")?;
        let most = if self.take(b',') { self.number()? } else { Some(least) };
        if !self.take(b'}') {
            return Err("unmatched {".to_owned());
        }
        self.repeat(atom, most.unwrap_or(least).max(least) as usize + 1)?;
        let mut all = vec![atom.clone(); least as usize];
        match most {
            None => all.push(Syntax::Star(Box::new(atom.clone()))),
            Some(most) if most < least => return Err("{} counts downwards".to_owned()),
            Some(most) => {
                let optional = Syntax::Choice(vec![atom.clone(), Syntax::Empty]);
                all.extend(std::iter::repeat_n(optional, (most - least) as usize));
            }
        }
        Ok(Syntax::Sequence(all))
    }

    fn number(&mut self) -> Result<Option<u32>, String> {
        let mut value = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            self.at += 1;
            let next = value.unwrap_or(0) * 10 + u32::from(digit - b'0');
            if next > MOST_REPEATS {
                return Err(format!("more than {MOST_REPEATS} repetitions"));
            }
            value = Some(next);
        }
        Ok(value)
    }

    /// What follows `[`, up to and with `]`.
    fn bracket(&mut self) -> Result<Box<Bytes>, String> {
        let mut set = Box::new([false; 256]);
        let negated = self.take(b'^');
        let mut is_first = true;
        loop {
            let byte = self.peek().ok_or("unmatched [")?;
            self.at += 1;
            match byte {
                b']' if !is_first => break,
                b'[' if self.peek() == Some(b':') => self.named_class(&mut set)?,
                b'[' if matches!(self.peek(), Some(b'.' | b'=')) => {
                    return Err("collating elements are not supported".to_owned());
                }
                low => {
                    let is_range = self.peek() == Some(b'-')
                        && !matches!(self.pattern.get(self.at + 1), None | Some(b']'));
                    let high = if is_range {
                        self.at += 2;
                        self.pattern[self.at - 1]
                    } else {
                        low
                    };
                    if high < low {
                        return Err("a range counts downwards".to_owned());
                    }
                    for byte in low..=high {
                        set[usize::from(byte)] = true;
                    }
                }
            }
            is_first = false;
        }
        if negated {
            for member in set.iter_mut() {
                *member = !*member;
            }
        }
        Ok(set)
    }

    /// `[:alpha:]` and its kind, from the colon on.
    fn named_class(&mut self, set: &mut Bytes) -> Result<(), String> {
        let rest = &self.pattern[self.at + 1..];
        let end = rest.windows(2).position(|pair| pair == b":]").ok_or("unmatched [:")?;
        let name = &rest[..end];
        let has: fn(&u8) -> bool = match name {
            b"alpha" => u8::is_ascii_alphabetic,
            b"digit" => u8::is_ascii_digit,
            b"alnum" => u8::is_ascii_alphanumeric,
            b"upper" => u8::is_ascii_uppercase,
            b"lower" => u8::is_ascii_lowercase,
            b"space" => |byte| byte.is_ascii_whitespace() || *byte == 0x0b,
            b"blank" => |byte| matches!(byte, b' ' | b'\t'),
            b"punct" => u8::is_ascii_punctuation,
            b"print" => |byte| (0x20..0x7f).contains(byte),
            b"graph" => u8::is_ascii_graphic,
            b"cntrl" => u8::is_ascii_control,
            b"xdigit" => u8::is_ascii_hexdigit,
            _ => return Err(format!("no class [:{}:]", String::from_utf8_lossy(name))),
        };
        for byte in 0..=255 {
            if has(&byte) {
                set[usize::from(byte)] = true;
            }
        }
        self.at += 1 + end + 2;
        Ok(())
    }
}

/// How many parts an expression has.
fn size(syntax: &Syntax) -> usize {
    match syntax {
        Syntax::Sequence(all) | Syntax::Choice(all) => 1 + all.iter().map(size).sum::<usize>(),
        Syntax::Star(inner) => 1 + size(inner),
        Syntax::Empty | Syntax::Byte(_) | Syntax::Start | Syntax::End => 1,
    }
}

fn one(byte: u8) -> Syntax {
    let mut set = Box::new([false; 256]);
    set[usize::from(byte)] = true;
    Syntax::Byte(set)
}
