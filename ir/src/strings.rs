//! What string primitives give for known arguments: the one definition that the constant folder and
//! the runtime share.
//!
//! Strings are bytes without a NUL; results are cut at `longest` bytes.

use crate::intrinsics::Intrinsic;
use crate::types::Const;

/// The result of a string primitive; `None` if it raises, relies on something that does not hold, is
/// not a pure function of its arguments, or the arguments are not of its types.
pub fn evaluate(intrinsic: Intrinsic, args: &[Const], longest: usize) -> Option<Const> {
    let text = |bytes: Vec<u8>| {
        let length = bytes.len().min(longest);
        Some(Const::Str(bytes[..length].into()))
    };
    match (intrinsic, args) {
        (Intrinsic::StrConcat, [Const::Str(a), Const::Str(b)]) => text([&a[..], &b[..]].concat()),
        (Intrinsic::StrLen, [Const::Str(a)]) => Some(Const::Long(i64::try_from(a.len()).ok()?)),
        (Intrinsic::StrSub, [Const::Str(a), Const::Long(start), Const::Long(length)]) => {
            text(sub(a, *start, *length).to_vec())
        }
        (Intrinsic::StrFind, [Const::Str(a), Const::Str(b)]) => {
            Some(Const::Long(i64::from(b.is_empty() || search(a, b).is_some())))
        }
        (Intrinsic::StrAt | Intrinsic::StrByte, [Const::Str(a), Const::Long(at)]) => {
            let byte = a.get(usize::try_from(*at).ok()?)?;
            Some(Const::Long(i64::from(*byte)))
        }
        (Intrinsic::StrReplace, [Const::Str(a), Const::Str(old), Const::Str(new)]) => {
            text(replace(a, old, new))
        }
        (Intrinsic::StrToLong, [Const::Str(a), Const::Long(base)]) => {
            to_long(a, *base).map(Const::Long)
        }
        (Intrinsic::StrText, [Const::Str(a)]) => text(escaped(a, longest)),
        _ => None,
    }
}

/// At most `length` bytes from `start`; none if that is outside.
fn sub(text: &[u8], start: i64, length: i64) -> &[u8] {
    match (usize::try_from(start), usize::try_from(length)) {
        (Ok(start), Ok(length)) if start < text.len() => {
            &text[start..start.saturating_add(length).min(text.len())]
        }
        _ => &[],
    }
}

/// Where the second, which is not empty, first stands in the first.
fn search(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn replace(mut text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while !old.is_empty()
        && let Some(found) = search(text, old)
    {
        out.extend_from_slice(&text[..found]);
        out.extend_from_slice(new);
        text = &text[found + old.len()..];
    }
    out.extend_from_slice(text);
    out
}

/// The number that a text starts with; `None` where that depends on the C library.
fn to_long(text: &[u8], base: i64) -> Option<i64> {
    if !text.is_ascii() {
        return None;
    }
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let mut rest = &text[text.iter().take_while(|byte| blank(byte)).count()..];
    let minus = rest.first() == Some(&b'-');
    if matches!(rest.first(), Some(b'-' | b'+')) {
        rest = &rest[1..];
    }
    let mut base = base;
    if matches!(base, 0 | 16)
        && matches!(rest, [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit())
    {
        rest = &rest[2..];
        base = 16;
    } else if base == 0 {
        base = if rest.first() == Some(&b'0') { 8 } else { 10 };
    }
    if !(2..=36).contains(&base) {
        return Some(0);
    }
    let mut value = 0u64;
    for &byte in rest {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' => byte - b'A' + 10,
            _ => break,
        };
        if i64::from(digit) >= base {
            break;
        }
        value = value.wrapping_mul(base as u64).wrapping_add(u64::from(digit));
    }
    Some(if minus { value.wrapping_neg() } else { value } as i64)
}

/// Quotes, backslashes and unprintable bytes as escapes; what does not fit whole ends it.
fn escaped(text: &[u8], longest: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in text {
        let escape = escape(byte, b"\"\\");
        if out.len() + escape.len() > longest {
            break;
        }
        out.extend(escape);
    }
    out
}

/// A byte as C would write it in a literal; those of `quotes` get a backslash.
pub(crate) fn escape(byte: u8, quotes: &[u8]) -> Vec<u8> {
    match byte {
        7..=13 => vec![b'\\', b"abtnvfr"[usize::from(byte - 7)]],
        32..=126 if quotes.contains(&byte) => vec![b'\\', byte],
        32..=126 => vec![byte],
        _ => vec![b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(text: &str) -> Const {
        Const::Str(text.as_bytes().into())
    }

    fn n(n: i64) -> Const {
        Const::Long(n)
    }

    #[test]
    fn primitives_give_what_the_runtime_gives() {
        let cases = [
            (Intrinsic::StrConcat, vec![s("abcdef"), s("ghij")], Some(s("abcdefgh"))),
            (Intrinsic::StrLen, vec![s("abc")], Some(n(3))),
            (Intrinsic::StrSub, vec![s("abcdef"), n(1), n(3)], Some(s("bcd"))),
            (Intrinsic::StrSub, vec![s("abcdef"), n(4), n(i64::MAX)], Some(s("ef"))),
            (Intrinsic::StrSub, vec![s("abcdef"), n(6), n(1)], Some(s(""))),
            (Intrinsic::StrSub, vec![s("abcdef"), n(-1), n(3)], Some(s(""))),
            (Intrinsic::StrSub, vec![s("abcdef"), n(0), n(-3)], Some(s(""))),
            (Intrinsic::StrFind, vec![s("abc"), s("bc")], Some(n(1))),
            (Intrinsic::StrFind, vec![s("abc"), s("bd")], Some(n(0))),
            (Intrinsic::StrFind, vec![s(""), s("")], Some(n(1))),
            (Intrinsic::StrAt, vec![s("abc"), n(2)], Some(n(99))),
            (Intrinsic::StrAt, vec![s("abc"), n(3)], None),
            (Intrinsic::StrAt, vec![s("abc"), n(-1)], None),
            (Intrinsic::StrReplace, vec![s("aXbXX"), s("X"), s("--")], Some(s("a--b----"))),
            (Intrinsic::StrReplace, vec![s("aXb"), s(""), s("-")], Some(s("aXb"))),
            (Intrinsic::StrToLong, vec![s(" -12x"), n(10)], Some(n(-12))),
            (Intrinsic::StrToLong, vec![s("0x1F"), n(0)], Some(n(31))),
            (Intrinsic::StrToLong, vec![s("0xg"), n(16)], Some(n(0))),
            (Intrinsic::StrToLong, vec![s("017"), n(0)], Some(n(15))),
            (Intrinsic::StrToLong, vec![s("zz"), n(36)], Some(n(1295))),
            (Intrinsic::StrToLong, vec![s("12"), n(1)], Some(n(0))),
            (Intrinsic::StrText, vec![s("a\"\n")], Some(s("a\\\"\\n"))),
            (Intrinsic::StrText, vec![s("abcdefg\n")], Some(s("abcdefg"))),
            (Intrinsic::StrText, vec![s("\u{1}")], Some(s("\\001"))),
            (Intrinsic::StrTokenize, vec![s("a"), s("b")], None),
        ];
        for (intrinsic, args, expected) in cases {
            assert_eq!(evaluate(intrinsic, &args, 8), expected, "{intrinsic} {args:?}");
        }
    }
}
