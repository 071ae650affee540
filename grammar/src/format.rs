//! Formats of `printf` and `sprintf`.

use crate::ast::ByteString;

/// A part of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that is printed as it is; `%%` is already `%`.
    Text(ByteString),
    /// `%…`: prints an argument.
    Directive(Directive),
}

/// `%` flags width `.` precision conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// `-`: the field is filled on the right.
    pub left: bool,
    /// `0`: the field is filled with zeros.
    pub zero: bool,
    /// `+`: a sign also before positive numbers.
    pub plus: bool,
    /// ` `: a space before positive numbers.
    pub space: bool,
    /// `#`: the alternate form.
    pub alternate: bool,
    /// The least number of bytes printed.
    pub width: Measure,
    /// Digits, or the most bytes of a string, or the bytes of memory dumped.
    pub precision: Measure,
    /// How the argument is printed.
    pub conversion: Conversion,
}

/// A width or precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// None is given.
    Default,
    /// A number in the format.
    Fixed(u32),
    /// `*`: the value of an argument of its own, before the one that is printed.
    Dynamic,
}

/// How an argument is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Conversion {
    /// `%b`: the bytes of the number; the width is 1, 2, 4 or 8.
    Binary,
    /// `%c`
    Char,
    /// `%d`, `%i`, `%ld`, …
    Signed,
    /// `%u`
    Unsigned,
    /// `%o`
    Octal,
    /// `%x`
    HexLower,
    /// `%X`
    HexUpper,
    /// `%p`
    Pointer,
    /// `%s`
    String,
    /// `%m`: the bytes at an address.
    Memory,
    /// `%M`: the bytes at an address, in hexadecimal.
    MemoryHex,
}

/// What is wrong with a format, at a byte offset into its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// One line, in lower case and without a full stop.
    pub message: String,
}

/// What a format may hold, for messages.
pub(crate) const SUMMARY: &str = "a directive is % [-0+ #] [width] [.precision] [l] and one of \
     b c d i m M o p s u x X, and %% is a percent sign; `*` as width or precision takes an argument";

/// Splits a format into its pieces.
///
/// # Errors
/// [`FormatError`] at the first directive that is none.
pub fn parse(format: &[u8]) -> Result<Vec<Piece>, FormatError> {
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    let mut rest = format;
    while !rest.is_empty() {
        let plain = memchr::memchr(b'%', rest).unwrap_or(rest.len());
        text.extend_from_slice(&rest[..plain]);
        let Some(after) = rest.get(plain + 1..) else { break };
        if after.first() == Some(&b'%') {
            text.push(b'%');
            rest = &after[1..];
        } else {
            if !text.is_empty() {
                pieces.push(Piece::Text(ByteString(std::mem::take(&mut text))));
            }
            let mut scanner = Scanner { directive: after, at: 0 };
            pieces.push(Piece::Directive(scanner.directive()?));
            rest = &after[scanner.at..];
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(ByteString(text)));
    }
    Ok(pieces)
}

/// Reads one directive.
struct Scanner<'a> {
    /// What is behind the `%`.
    directive: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.directive.get(self.at).copied()
    }

    fn error(&self, what: &str) -> FormatError {
        let end = (self.at + 1).min(self.directive.len());
        let shown = String::from_utf8_lossy(&self.directive[..end]);
        FormatError { message: format!("{what} in `%{shown}`") }
    }

    fn directive(&mut self) -> Result<Directive, FormatError> {
        let mut directive = Directive {
            left: false,
            zero: false,
            plus: false,
            space: false,
            alternate: false,
            width: Measure::Default,
            precision: Measure::Default,
            conversion: Conversion::Signed,
        };
        self.flags(&mut directive);
        directive.width = self.measure()?;
        if self.peek() == Some(b'.') {
            self.at += 1;
            directive.precision = match self.measure()? {
                Measure::Default => Measure::Fixed(0),
                given => given,
            };
        }
        // All numbers have 64 bits: the size that C wants is taken and means nothing.
        while self.peek() == Some(b'l') {
            self.at += 1;
        }
        directive.conversion = self.conversion()?;
        Ok(directive)
    }

    fn flags(&mut self, directive: &mut Directive) {
        loop {
            match self.peek() {
                Some(b'-') => directive.left = true,
                Some(b'0') => directive.zero = true,
                Some(b'+') => directive.plus = true,
                Some(b' ') => directive.space = true,
                Some(b'#') => directive.alternate = true,
                _ => return,
            }
            self.at += 1;
        }
    }

    fn measure(&mut self) -> Result<Measure, FormatError> {
        if self.peek() == Some(b'*') {
            self.at += 1;
            return Ok(Measure::Dynamic);
        }
        let mut value: Option<u32> = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            let next = value.unwrap_or(0).checked_mul(10);
            let next = next.and_then(|tens| tens.checked_add(u32::from(digit - b'0')));
            value = Some(next.ok_or_else(|| self.error("too large a number"))?);
            self.at += 1;
        }
        Ok(value.map_or(Measure::Default, Measure::Fixed))
    }

    fn conversion(&mut self) -> Result<Conversion, FormatError> {
        let conversion = match self.peek() {
            Some(b'b') => Conversion::Binary,
            Some(b'c') => Conversion::Char,
            Some(b'd' | b'i') => Conversion::Signed,
            Some(b'u') => Conversion::Unsigned,
            Some(b'o') => Conversion::Octal,
            Some(b'x') => Conversion::HexLower,
            Some(b'X') => Conversion::HexUpper,
            Some(b'p') => Conversion::Pointer,
            Some(b's') => Conversion::String,
            Some(b'm') => Conversion::Memory,
            Some(b'M') => Conversion::MemoryHex,
            Some(_) => return Err(self.error("unknown conversion")),
            None => return Err(self.error("missing conversion")),
        };
        self.at += 1;
        Ok(conversion)
    }
}
