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
