//! Literals: integers that C reads as the script meant them, and strings of any bytes.

use std::fmt::Write as _;

/// An integer literal. `INT64_MIN` has no literal in C and goes by its name in the kernel.
pub(crate) fn long(value: i64) -> String {
    let mut out = String::new();
    write_long(value, &mut out);
    out
}

/// Writes an integer literal.
pub(crate) fn write_long(value: i64, out: &mut String) {
    let _ = if value == i64::MIN {
        out.write_str("S64_MIN")
    } else if i32::try_from(value).is_ok() {
        write!(out, "{value}")
    } else {
        write!(out, "{value}LL")
    };
}

/// A string literal, quotes included.
///
/// Bytes that are not part of printable UTF-8 text become three-digit octal escapes, which, unlike
/// hexadecimal ones, cannot run on into the text that follows. `?` after `?` is escaped: it could
/// start a trigraph.
pub(crate) fn string(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    write_string(bytes, &mut out);
    out
}

/// Writes a string literal, quotes included.
pub(crate) fn write_string(bytes: &[u8], out: &mut String) {
    out.push('"');
    // Most texts are plain up to a line feed at their end.
    let plain = bytes.iter().take_while(|byte| is_plain(**byte)).count();
    let (plain, rest) = bytes.split_at(plain);
    out.push_str(std::str::from_utf8(plain).unwrap_or_default());
    escape(rest, out, |_| {});
    out.push('"');
}

/// Whether a byte is a character that stands for itself, whatever comes before it.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'?')
}

/// The escaped text of each character of a string, without quotes: units that a literal may be
/// split between.
pub(crate) fn escaped_units(bytes: &[u8]) -> Vec<String> {
    let (mut all, mut ends) = (String::new(), vec![0]);
    escape(bytes, &mut all, |end| ends.push(end));
    ends.windows(2).map(|unit| all[unit[0]..unit[1]].to_owned()).collect()
}

/// Writes the escaped text of a string, and tells where in `out` each of its characters ends.
fn escape(bytes: &[u8], out: &mut String, mut unit_ends: impl FnMut(usize)) {
    let mut after_question = false;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            escape_char(c, after_question, out);
            after_question = c == '?';
            unit_ends(out.len());
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\{byte:03o}");
            after_question = false;
            unit_ends(out.len());
        }
    }
}

fn escape_char(c: char, after_question: bool, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '?' if after_question => out.push_str("\\?"),
        c if c.is_control() || is_invisible(c) => {
            let mut utf8 = [0; 4];
            for byte in c.encode_utf8(&mut utf8).bytes() {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
        c => out.push(c),
    }
}

/// Characters that would change how the line around them reads: direction marks, line separators.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_their_width_and_sign() {
        assert_eq!(long(5), "5");
        assert_eq!(long(-2_147_483_648), "-2147483648");
        assert_eq!(long(2_147_483_648), "2147483648LL");
        assert_eq!(long(i64::MAX), "9223372036854775807LL");
        assert_eq!(long(i64::MIN), "S64_MIN");
    }

    #[test]
    fn strings_survive_any_bytes() {
        assert_eq!(string(b"a\"b\\c\n"), r#""a\"b\\c\n""#);
        assert_eq!(string("grün".as_bytes()), "\"grün\"");
        assert_eq!(string(b"\xff1\x01f"), r#""\3771\001f""#);
        assert_eq!(string(b"what??/"), r#""what?\?/""#);
        assert_eq!(string("\u{202e}x".as_bytes()), r#""\342\200\256x""#);
    }
}
