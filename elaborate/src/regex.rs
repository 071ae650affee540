//! Checks regular expressions: POSIX extended ones, without back references.

use std::fmt;

/// Groups within groups, at most.
const DEEPEST: usize = 100;

/// What is wrong with a regular expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RegexError {
    OpenGroup,
    CloseGroup,
    OpenBracket,
    BadRange,
    BadClass,
    NothingToRepeat,
    BadCount,
    TrailingBackslash,
    BackReference,
    Collating,
    TooDeep,
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RegexError::OpenGroup => "a `(` is not closed",
            RegexError::CloseGroup => "a `)` has no `(`",
            RegexError::OpenBracket => "a `[` is not closed",
            RegexError::BadRange => "a range in `[…]` runs backwards",
            RegexError::BadClass => "`[:…:]` names no class of characters",
            RegexError::NothingToRepeat => "there is nothing to repeat before `*`, `+`, `?` or `{`",
            RegexError::BadCount => {
                "a count is `{N}`, `{N,}` or `{N,M}` with N at most M, M at most 255"
            }
            RegexError::TrailingBackslash => "it ends in a backslash",
            RegexError::BackReference => "back references such as `\\1` are not supported",
            RegexError::Collating => {
                "collating elements such as `[.a.]` and `[=a=]` in `[…]` are not supported"
            }
            RegexError::TooDeep => "groups are nested too deeply",
        })
    }
}

/// Classes of characters by name.
const CLASSES: &[&[u8]] = &[
    b"alpha", b"digit", b"alnum", b"upper", b"lower", b"space", b"blank", b"punct", b"print",
    b"graph", b"cntrl", b"xdigit",
];

/// Checks a pattern.
pub(crate) fn check(pattern: &[u8]) -> Result<(), RegexError> {
    let mut checker = Checker { pattern, at: 0, depth: 0 };
    checker.alternatives()?;
    match checker.peek() {
        None => Ok(()),
        Some(_) => Err(RegexError::CloseGroup),
    }
}

struct Checker<'a> {
    pattern: &'a [u8],
    at: usize,
    depth: usize,
}

impl Checker<'_> {
    fn peek(&self) -> Option<u8> {
        self.pattern.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Up to the end or a `)`.
    fn alternatives(&mut self) -> Result<(), RegexError> {
        loop {
            self.sequence()?;
            if !self.take(b'|') {
                return Ok(());
            }
        }
    }

    fn sequence(&mut self) -> Result<(), RegexError> {
        while let Some(byte) = self.peek() {
            match byte {
                b'|' | b')' => return Ok(()),
                b'*' | b'+' | b'?' => return Err(RegexError::NothingToRepeat),
                // Not after anything that could be repeated, it would stand for itself elsewhere.
                b'{' => return Err(RegexError::NothingToRepeat),
                b'^' | b'$' => {
                    self.at += 1;
                    continue;
                }
                _ => self.atom()?,
            }
            self.repeats()?;
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), RegexError> {
        let byte = self.peek();
        self.at += 1;
        match byte {
            Some(b'(') => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(RegexError::TooDeep);
                }
                self.alternatives()?;
                self.depth -= 1;
                if self.take(b')') { Ok(()) } else { Err(RegexError::OpenGroup) }
            }
            Some(b'[') => self.bracket(),
            Some(b'\\') => match self.peek() {
                None => Err(RegexError::TrailingBackslash),
                Some(b'1'..=b'9') => Err(RegexError::BackReference),
                Some(_) => {
                    self.at += 1;
                    Ok(())
                }
            },
            _ => Ok(()),
        }
    }

    fn repeats(&mut self) -> Result<(), RegexError> {
        loop {
            match self.peek() {
                Some(b'*' | b'+' | b'?') => self.at += 1,
                Some(b'{') => {
                    self.at += 1;
                    self.count()?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn count(&mut self) -> Result<(), RegexError> {
        let least = self.number()?.ok_or(RegexError::BadCount)?;
        if self.take(b',')
            && let Some(most) = self.number()?
            && most < least
        {
            return Err(RegexError::BadCount);
        }
        if self.take(b'}') { Ok(()) } else { Err(RegexError::BadCount) }
    }

    fn number(&mut self) -> Result<Option<u32>, RegexError> {
        let mut value = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let next = value.unwrap_or(0) * 10 + u32::from(digit - b'0');
            if next > 255 {
                return Err(RegexError::BadCount);
            }
            value = Some(next);
            self.at += 1;
        }
        Ok(value)
    }

    /// Behind the `[`.
    fn bracket(&mut self) -> Result<(), RegexError> {
        self.take(b'^');
        // A `]` that comes first stands for itself.
        let mut first = true;
        let mut low: Option<u8> = None;
        loop {
            let byte = self.peek().ok_or(RegexError::OpenBracket)?;
            self.at += 1;
            match byte {
                b']' if !first => return Ok(()),
                b'[' if self.peek() == Some(b':') => {
                    self.class()?;
                    low = None;
                }
                b'[' if matches!(self.peek(), Some(b'.' | b'=')) => {
                    return Err(RegexError::Collating);
                }
                b'-' if low.is_some() && self.peek().is_some_and(|next| next != b']') => {
                    let high = self.peek();
                    self.at += 1;
                    if high < low {
                        return Err(RegexError::BadRange);
                    }
                    low = None;
                }
                _ => low = Some(byte),
            }
            first = false;
        }
    }

    /// Behind the `[` of `[:name:]`.
    fn class(&mut self) -> Result<(), RegexError> {
        self.at += 1;
        let rest = &self.pattern[self.at..];
        let end = rest.windows(2).position(|pair| pair == b":]").ok_or(RegexError::BadClass)?;
        if !CLASSES.contains(&&rest[..end]) {
            return Err(RegexError::BadClass);
        }
        self.at += end + 2;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_patterns() {
        for pattern in [
            "",
            "abc",
            "a|b|",
            "^(ab)*c$",
            "[]x]",
            "[^]a-z-]",
            "[[:alpha:]_]+",
            "a{2,3}",
            "a{4}?",
            "a{0,}",
            "\\(\\[\\\\",
            "x(y(z))",
            "()",
            "a**",
            "é+",
        ] {
            assert_eq!(check(pattern.as_bytes()), Ok(()), "{pattern}");
        }
    }

    #[test]
    fn bad_patterns() {
        use RegexError::*;
        for (pattern, error) in [
            ("(a", OpenGroup),
            ("a)", CloseGroup),
            ("[a", OpenBracket),
            ("[]", OpenBracket),
            ("[z-a]", BadRange),
            ("[[:letter:]]", BadClass),
            ("[[.a.]]", Collating),
            ("[x[=a=]]", Collating),
            ("[[:alpha]", BadClass),
            ("*a", NothingToRepeat),
            ("a|+", NothingToRepeat),
            ("({1})", NothingToRepeat),
            ("a{3,2}", BadCount),
            ("a{}", BadCount),
            ("a{1", BadCount),
            ("a{256}", BadCount),
            ("a\\", TrailingBackslash),
            ("(a)\\1", BackReference),
        ] {
            assert_eq!(check(pattern.as_bytes()), Err(error), "{pattern}");
        }
        assert_eq!(check("(".repeat(1000).as_bytes()), Err(TooDeep));
    }
}
