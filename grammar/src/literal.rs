//! The values of number and string literals.

/// The value of a number: decimal, `0x…`, `0…` and `0o…` octal, or `0b…`. Values up to 2^64-1 are
/// taken; those of 2^63 and above wrap around to negative ones.
///
/// # Errors
/// What is wrong, as a message.
pub(crate) fn number(text: &[u8]) -> Result<i64, String> {
    let shown = || String::from_utf8_lossy(text).into_owned();
    let (digits, base, name) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16, "a hexadecimal"),
        [b'0', b'b' | b'B', digits @ ..] => (digits, 2, "a binary"),
        [b'0', b'o' | b'O', digits @ ..] => (digits, 8, "an octal"),
        [b'0', digits @ ..] if !digits.is_empty() => (digits, 8, "an octal"),
        digits => (digits, 10, "a decimal"),
    };
    let mut value = Some(0_u64);
    for byte in digits {
        let Some(digit) = (*byte as char).to_digit(base) else {
            return Err(format!("`{}` is not {name} number", shown()));
        };
        let shifted = value.and_then(|value| value.checked_mul(base.into()));
        value = shifted.and_then(|value| value.checked_add(digit.into()));
    }
    match value {
        _ if digits.is_empty() => Err(format!("`{}` is not {name} number", shown())),
        Some(value) => Ok(value as i64),
        None => Err(format!("the number `{}` needs more than 64 bits", shown())),
    }
}

/// The value of a string literal with its quotes.
pub(crate) fn string(literal: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    append_string(literal, &mut value);
    value
}

/// Appends the value of a string literal with its quotes.
///
/// Escapes are those of C; other characters behind a backslash stand for themselves, and a line
/// feed there is one in the value, too.
pub(crate) fn append_string(literal: &[u8], value: &mut Vec<u8>) {
    let inner = literal.strip_prefix(b"\"").unwrap_or(literal);
    let mut rest = inner.strip_suffix(b"\"").unwrap_or(inner);
    value.reserve(rest.len());
    while let Some(plain) = memchr::memchr(b'\\', rest) {
        value.extend_from_slice(&rest[..plain]);
        rest = escape(&rest[plain + 1..], value);
    }
    value.extend_from_slice(rest);
}

/// Appends what the escape stands for and returns what is behind it.
fn escape<'a>(rest: &'a [u8], value: &mut Vec<u8>) -> &'a [u8] {
    let Some((byte, after)) = rest.split_first() else {
        value.push(b'\\');
        return rest;
    };
    match byte {
        b'a' => value.push(0x07),
        b'b' => value.push(0x08),
        b'f' => value.push(0x0c),
        b'n' => value.push(b'\n'),
        b'r' => value.push(b'\r'),
        b't' => value.push(b'\t'),
        b'v' => value.push(0x0b),
        b'0'..=b'7' => return digits(rest, 8, 3, value),
        b'x' if after.first().is_some_and(u8::is_ascii_hexdigit) => {
            return digits(after, 16, usize::MAX, value);
        }
        other => value.push(*other),
    }
    after
}

/// Appends the byte that the leading digits (at most `most`) name, by its lowest eight bits.
fn digits<'a>(rest: &'a [u8], base: u32, most: usize, value: &mut Vec<u8>) -> &'a [u8] {
    let mut byte: u32 = 0;
    let mut length = 0;
    while let Some(digit) = rest.get(length).and_then(|byte| (*byte as char).to_digit(base)) {
        if length == most {
            break;
        }
        byte = (byte * base + digit) & 0xff;
        length += 1;
    }
    value.push(byte as u8);
    &rest[length..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_all_bases_and_wrap() {
        let values = [
            ("0", 0),
            ("42", 42),
            ("017", 15),
            ("0o17", 15),
            ("0x1F", 31),
            ("0b101", 5),
            ("18446744073709551615", -1),
            ("0x8000000000000000", i64::MIN),
        ];
        for (text, value) in values {
            assert_eq!(number(text.as_bytes()), Ok(value), "{text}");
        }
        for text in ["", "08", "1a", "0x", "0xg", "0b2", "0o8", "18446744073709551616", "-1"] {
            assert!(number(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn escapes_are_those_of_c() {
        let values: [(&str, &[u8]); 9] = [
            (r#""a\n\t\\\"""#, b"a\n\t\\\""),
            (r#""\x41\101\0""#, b"AA\0"),
            (r#""\q\8\?""#, b"q8?"),
            (r#""\xff\377""#, b"\xff\xff"),
            (r#""\1234""#, b"S4"),
            ("\"a\\\nb\"", b"a\nb"),
            (r#""\x""#, b"x"),
            (r#""\x123""#, b"\x23"),
            ("\"\"", b""),
        ];
        for (text, value) in values {
            assert_eq!(string(text.as_bytes()), value, "{text}");
        }
    }
}
