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
