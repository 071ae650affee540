//! What conversions of a format give: the one definition that the constant folder and the runtime
//! share.

use crate::format::{Conversion, ConversionKind, Count, Format, Piece};
use crate::strings::escape;
use crate::types::Const;

/// Widths and precisions beyond this are cut to it.
const LARGEST: i64 = 65536;

/// What a format prints for these arguments; `None` if that depends on memory or they do not fit.
pub fn render(format: &Format, args: &[Const]) -> Option<Vec<u8>> {
    let mut args = args.iter();
    let mut out = Vec::new();
    for piece in &format.pieces {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text),
            Piece::Conversion(conversion) => {
                let mut count = |count: Count| match count {
                    Count::None => Some(None),
                    Count::Fixed(n) => Some(Some(i64::from(n))),
                    Count::Argument => match args.next()? {
                        Const::Long(n) => Some(Some(*n)),
                        Const::Str(_) => None,
                    },
                };
                let width = count(conversion.width)?;
                let precision = count(conversion.precision)?;
                out.extend(convert(conversion, width, precision, args.next()?)?);
            }
        }
    }
    Some(out)
}

/// What one conversion prints, given its width and precision; `None` if that depends on memory or the
/// argument is of the wrong type.
pub fn convert(
    conversion: &Conversion,
    width: Option<i64>,
    precision: Option<i64>,
    arg: &Const,
) -> Option<Vec<u8>> {
    let width = width.unwrap_or(0);
    // A negative precision is none.
    let precision = precision.filter(|&n| n >= 0).map(|n| n.min(LARGEST) as usize);
    match (conversion.kind, arg) {
        (ConversionKind::Memory | ConversionKind::MemoryHex, _) => None,
        (ConversionKind::Str, Const::Str(bytes)) => {
            let bytes = &bytes[..bytes.len().min(precision.unwrap_or(bytes.len()))];
            Some(field(bytes.to_vec(), conversion.left, width))
        }
        (ConversionKind::Str, Const::Long(_)) | (_, Const::Str(_)) => None,
        (ConversionKind::Char, Const::Long(n)) => {
            let byte = *n as u8;
            let text = if conversion.alternate { escape(byte, b"") } else { vec![byte] };
            Some(field(text, conversion.left, width))
        }
        (ConversionKind::Binary, Const::Long(n)) => {
            let bytes = n.to_ne_bytes();
            let length = if matches!(width, 1 | 2 | 4) { width as usize } else { 8 };
            // The runtime takes the first bytes as they lie in memory.
            Some(bytes[..length].to_vec())
        }
        (_, Const::Long(n)) => Some(number(conversion, width, precision, *n)),
    }
}

/// A text in a field of a width; a negative width means left-justified.
fn field(mut text: Vec<u8>, left: bool, width: i64) -> Vec<u8> {
    let least = width.clamp(-LARGEST, LARGEST).unsigned_abs() as usize;
    let blanks = vec![b' '; least.saturating_sub(text.len())];
    if left || width < 0 {
        text.extend(blanks);
        text
    } else {
        [blanks, text].concat()
    }
}

fn number(conversion: &Conversion, width: i64, precision: Option<usize>, n: i64) -> Vec<u8> {
    use ConversionKind::{Decimal, Hex, HexUpper, Octal, Pointer};
    let kind = conversion.kind;
    let magnitude = if kind == Decimal { n.unsigned_abs() } else { n as u64 };
    // Zero has no digits of its own.
    let digits = match (kind, magnitude) {
        (_, 0) => String::new(),
        (Hex | Pointer, magnitude) => format!("{magnitude:x}"),
        (HexUpper, magnitude) => format!("{magnitude:X}"),
        (Octal, magnitude) => format!("{magnitude:o}"),
        (_, magnitude) => magnitude.to_string(),
    };
    let prefix = match kind {
        Decimal if n < 0 => "-",
        Decimal if conversion.plus => "+",
        Decimal if conversion.space => " ",
        Pointer => "0x",
        Hex if conversion.alternate => "0x",
        HexUpper if conversion.alternate => "0X",
        Octal if conversion.alternate => "0",
        _ => "",
    };
    let left = conversion.left || width < 0;
    let least = width.clamp(-LARGEST, LARGEST).unsigned_abs() as usize;
    let one = usize::from(digits.is_empty());
    // As in C: a precision gives the number of digits and disables the flag 0.
    let zeros = match precision {
        Some(precision) => precision.saturating_sub(digits.len()),
        None if conversion.zero && !left => {
            least.saturating_sub(prefix.len() + digits.len()).max(one)
        }
        None => one,
    };
    let text = format!("{prefix}{}{digits}", "0".repeat(zeros));
    field(text.into_bytes(), left, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_print_what_c_prints() {
        let cases: &[(&str, &[Const], &str)] = &[
            ("%d %s|", &[Const::Long(-5), Const::Str(b"x".as_slice().into())], "-5 x|"),
            (
                "%5d|%-5d|%05d",
                &[Const::Long(-42), Const::Long(42), Const::Long(-42)],
                "  -42|42   |-0042",
            ),
            (
                "%+d% d%u",
                &[Const::Long(1), Const::Long(2), Const::Long(-1)],
                "+1 218446744073709551615",
            ),
            ("%x %X %#x %o %#o", &[const { Const::Long(255) }; 5], "ff FF 0xff 377 0377"),
            ("%p %#x", &[Const::Long(0), Const::Long(0)], "0x0 0x0"),
            ("%.3d|%.0d|%5.2d", &[Const::Long(7), Const::Long(0), Const::Long(3)], "007||   03"),
            ("%c%#c", &[Const::Long(65), Const::Long(10)], "A\\n"),
            (
                "%*d|%*d",
                &[Const::Long(4), Const::Long(1), Const::Long(-4), Const::Long(1)],
                "   1|1   ",
            ),
            ("%.*s|", &[Const::Long(2), Const::Str(b"abc".as_slice().into())], "ab|"),
            (
                "%6.1s|%-3s|",
                &[Const::Str(b"abc".as_slice().into()), Const::Str(b"z".as_slice().into())],
                "     a|z  |",
            ),
            ("%d%%", &[Const::Long(i64::MIN)], "-9223372036854775808%"),
        ];
        for (format, args, expected) in cases {
            let parsed = Format::from_bytes(format.as_bytes()).expect("a format");
            let text = render(&parsed, args).map(|bytes| bytes.escape_ascii().to_string());
            let expected = expected.as_bytes().escape_ascii().to_string();
            assert_eq!(text, Some(expected), "{format}");
        }
        let memory = Format::from_bytes(b"%m").expect("a format");
        assert_eq!(render(&memory, &[Const::Long(0)]), None);
    }
}
