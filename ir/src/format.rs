//! Output formats: what `printf` and its kind were given, already parsed.

/// A format: text and conversions in the order of output.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Format {
    /// The pieces. No two neighbouring pieces are both text.
    pub pieces: Vec<Piece>,
}

/// One piece of a format.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Piece {
    /// Bytes to copy.
    Text(Box<[u8]>),
    /// A conversion of the next argument. `*` widths and precisions take arguments of their own,
    /// before the one converted.
    Conversion(Conversion),
}

/// A conversion specification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Conversion {
    /// What the argument is turned into.
    pub kind: ConversionKind,
    /// `-`: left-justified.
    pub left: bool,
    /// `+`: a sign always.
    pub plus: bool,
    /// ` `: a blank where a plus sign would be.
    pub space: bool,
    /// `#`: alternative form.
    pub alternate: bool,
    /// `0`: padded with zeros.
    pub zero: bool,
    /// Least width.
    pub width: Count,
    /// Precision.
    pub precision: Count,
}

/// A width or precision.
///
/// A fixed width is positive: a leading 0 is a flag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Count {
    /// Not given.
    None,
    /// Given in the format.
    Fixed(u32),
    /// `*`: the next argument, a long.
    Argument,
}

/// The kinds of conversion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ConversionKind {
    /// `%d`, `%i`.
    Decimal,
    /// `%u`.
    Unsigned,
    /// `%o`.
    Octal,
    /// `%x`.
    Hex,
    /// `%X`.
    HexUpper,
    /// `%p`: an address, with 0x.
    Pointer,
    /// `%b`: the long as binary bytes in host order; the width is the number of bytes.
    Binary,
    /// `%c`: one byte.
    Char,
    /// `%s`.
    Str,
    /// `%m`: bytes of kernel memory at an address, as they are.
    Memory,
    /// `%M`: bytes of kernel memory at an address, in hexadecimal.
    MemoryHex,
}

impl ConversionKind {
    /// All of them, in the order of declaration.
    pub const ALL: &'static [ConversionKind] = &[
        ConversionKind::Decimal,
        ConversionKind::Unsigned,
        ConversionKind::Octal,
        ConversionKind::Hex,
        ConversionKind::HexUpper,
        ConversionKind::Pointer,
        ConversionKind::Binary,
        ConversionKind::Char,
        ConversionKind::Str,
        ConversionKind::Memory,
        ConversionKind::MemoryHex,
    ];

    /// Its letter in a format.
    pub fn letter(self) -> u8 {
        match self {
            ConversionKind::Decimal => b'd',
            ConversionKind::Unsigned => b'u',
            ConversionKind::Octal => b'o',
            ConversionKind::Hex => b'x',
            ConversionKind::HexUpper => b'X',
            ConversionKind::Pointer => b'p',
            ConversionKind::Binary => b'b',
            ConversionKind::Char => b'c',
            ConversionKind::Str => b's',
            ConversionKind::Memory => b'm',
            ConversionKind::MemoryHex => b'M',
        }
    }

    /// Whether the argument is a string.
    pub fn takes_str(self) -> bool {
        self == ConversionKind::Str
    }
}

impl Format {
    /// How many arguments it consumes, `*` included.
    pub fn argument_count(&self) -> usize {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(_) => 0,
                Piece::Conversion(c) => {
                    1 + usize::from(c.width == Count::Argument)
                        + usize::from(c.precision == Count::Argument)
                }
            })
            .sum()
    }
}

impl Format {
    /// The format as `printf` would be given it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => {
                    for &byte in text {
                        out.push(byte);
                        if byte == b'%' {
                            out.push(b'%');
                        }
                    }
                }
                Piece::Conversion(conversion) => conversion.write(&mut out),
            }
        }
        out
    }

    /// Reads what [`Format::to_bytes`] gives. `i` is taken for `d`.
    ///
    /// # Errors
    /// With the offset of the `%` of a conversion that there is no such.
    pub fn from_bytes(bytes: &[u8]) -> Result<Format, usize> {
        let mut pieces = Vec::new();
        let mut text = Vec::new();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte != b'%' || bytes.get(at + 1) == Some(&b'%') {
                text.push(byte);
                at += if byte == b'%' { 2 } else { 1 };
                continue;
            }
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text).into()));
            }
            let (conversion, length) = Conversion::read(&bytes[at + 1..]).ok_or(at)?;
            pieces.push(Piece::Conversion(conversion));
            at += 1 + length;
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text.into()));
        }
        Ok(Format { pieces })
    }
}

impl Conversion {
    /// A conversion without flags, width or precision.
    pub fn plain(kind: ConversionKind) -> Conversion {
        Conversion {
            kind,
            left: false,
            plus: false,
            space: false,
            alternate: false,
            zero: false,
            width: Count::None,
            precision: Count::None,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'%');
        let flags = [
            (self.left, b'-'),
            (self.plus, b'+'),
            (self.space, b' '),
            (self.alternate, b'#'),
            (self.zero, b'0'),
        ];
        out.extend(flags.iter().filter(|(set, _)| *set).map(|&(_, flag)| flag));
        self.width.write(out);
        if self.precision != Count::None {
            out.push(b'.');
            self.precision.write(out);
        }
        out.push(self.kind.letter());
    }

    /// Reads what follows a `%`: the conversion and its length in bytes.
    fn read(bytes: &[u8]) -> Option<(Conversion, usize)> {
        let mut conversion = Conversion::plain(ConversionKind::Decimal);
        let mut at = 0;
        loop {
            match bytes.get(at)? {
                b'-' => conversion.left = true,
                b'+' => conversion.plus = true,
                b' ' => conversion.space = true,
                b'#' => conversion.alternate = true,
                b'0' => conversion.zero = true,
                _ => break,
            }
            at += 1;
        }
        conversion.width = Count::read(bytes, &mut at)?;
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            conversion.precision = match Count::read(bytes, &mut at)? {
                Count::None => Count::Fixed(0),
                count => count,
            };
        }
        let letter = match *bytes.get(at)? {
            b'i' => b'd',
            letter => letter,
        };
        conversion.kind = *ConversionKind::ALL.iter().find(|kind| kind.letter() == letter)?;
        Some((conversion, at + 1))
    }
}

impl Count {
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Count::None => {}
            Count::Fixed(n) => out.extend(n.to_string().bytes()),
            Count::Argument => out.push(b'*'),
        }
    }

    /// Reads a count, if there is one; `None` if it is too large.
    fn read(bytes: &[u8], at: &mut usize) -> Option<Count> {
        if bytes.get(*at) == Some(&b'*') {
            *at += 1;
            return Some(Count::Argument);
        }
        let mut count = Count::None;
        while let Some(digit) = bytes.get(*at).filter(|byte| byte.is_ascii_digit()) {
            let so_far = if let Count::Fixed(n) = count { n } else { 0 };
            let next = so_far.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
            count = Count::Fixed(next);
            *at += 1;
        }
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_read_back_as_they_were() {
        for text in ["", "%d", "a%%b", "%-+ #08.3x|%*.*s", "%.0d%c%M%p", "%5b\n"] {
            let format = Format::from_bytes(text.as_bytes()).expect("a format");
            assert_eq!(format.to_bytes(), text.as_bytes());
        }
        assert_eq!(Format::from_bytes(b"%.d"), Format::from_bytes(b"%.0i"));
    }

    #[test]
    fn bad_conversions_are_found_at_their_percent_sign() {
        assert_eq!(Format::from_bytes(b"ab%y"), Err(2));
        assert_eq!(Format::from_bytes(b"%"), Err(0));
        assert_eq!(Format::from_bytes(b"%d%99999999999d"), Err(2));
    }
}
