//! How preprocessor conditions compare values.

use std::cmp::Ordering;

/// A comparison between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl Comparison {
    /// Whether it holds for two values in this order.
    pub(crate) fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Less => order.is_lt(),
            Comparison::LessEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterEqual => order.is_ge(),
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
        }
    }

    /// Whether it is `==` or `!=`.
    pub(crate) fn is_equality(self) -> bool {
        matches!(self, Comparison::Equal | Comparison::NotEqual)
    }
}

/// Whether the text has a character that [`matches_wildcard`] treats specially.
pub(crate) fn has_wildcard(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// Whether the text as a whole matches a shell wildcard pattern: `*`, `?`, `[a-z]`, `[!a]`, `\x`.
pub(crate) fn matches_wildcard(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on if the text does not match after the last `*`: that star takes one byte more.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            retry = Some((p + 1, t));
            p += 1;
            continue;
        }
        if let Some(length) = matches_one(&pattern[p..], text[t]) {
            p += length;
            t += 1;
        } else if let Some((after_star, taken)) = retry {
            retry = Some((after_star, taken + 1));
            (p, t) = (after_star, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// The length of the first item of a pattern without leading `*`, if it matches the byte.
fn matches_one(pattern: &[u8], byte: u8) -> Option<usize> {
    match *pattern.first()? {
        b'?' => Some(1),
        b'\\' if pattern.len() > 1 => (pattern[1] == byte).then_some(2),
        b'[' => match bracket(pattern, byte) {
            Some((matched, length)) => matched.then_some(length),
            // Never closed: an ordinary bracket.
            None => (byte == b'[').then_some(1),
        },
        literal => (literal == byte).then_some(1),
    }
}

/// Whether the byte is in the set that the pattern starts with, and the length of the set.
fn bracket(pattern: &[u8], byte: u8) -> Option<(bool, usize)> {
    let negated = matches!(pattern.get(1), Some(b'!' | b'^'));
    let first = if negated { 2 } else { 1 };
    let mut at = first;
    let mut found = false;
    loop {
        let low = *pattern.get(at)?;
        if low == b']' && at > first {
            return Some((found != negated, at + 1));
        }
        if pattern.get(at + 1) == Some(&b'-') && pattern.get(at + 2).is_some_and(|c| *c != b']') {
            found |= (low..=pattern[at + 2]).contains(&byte);
            at += 3;
        } else {
            found |= low == byte;
            at += 1;
        }
    }
}

/// Orders version strings as people do: runs of digits compare by value, so `2.6.9` comes before
/// `2.6.10`; runs that start with a zero compare like digits behind a decimal point.
///
/// The order is that of the C library's `strverscmp`.
pub(crate) fn compare_versions(left: &[u8], right: &[u8]) -> Ordering {
    let common = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    if common == left.len() && common == right.len() {
        return Ordering::Equal;
    }
    // The run of digits that the first difference is in or right behind.
    let is_digit = |text: &[u8], at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let shared = left[..common].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let start = common - shared;
    let run = |text: &[u8]| (common..).take_while(|at| is_digit(text, *at)).count();
    let fraction = left.get(start) == Some(&b'0') || right.get(start) == Some(&b'0');
    let both = is_digit(left, start) && is_digit(right, start);
    if both && !fraction {
        let by_length = run(left).cmp(&run(right));
        if by_length.is_ne() {
            return by_length;
        }
    }
    let all_zeros = shared > 0 && left[start..common].iter().all(|byte| *byte == b'0');
    if all_zeros && is_digit(left, common) != is_digit(right, common) {
        // More digits behind only zeros make a smaller fraction.
        return if is_digit(left, common) { Ordering::Less } else { Ordering::Greater };
    }
    left.get(common).cmp(&right.get(common))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_the_value_of_their_digits() {
        let sorted = [
            "000",
            "00",
            "01",
            "010",
            "09",
            "0",
            "1",
            "9",
            "10",
            "2.6",
            "2.6.9",
            "2.6.10",
            "2.6.10-rc1",
            "2.6.13-1.322FC3smp",
            "6.1.0",
            "6.1.0-57-amd64",
            "6.12",
        ];
        let position = |text: &str| sorted.iter().position(|other| *other == text);
        for a in sorted.iter().filter(|text| text.contains('.')) {
            for b in sorted.iter().filter(|text| text.contains('.')) {
                let order = compare_versions(a.as_bytes(), b.as_bytes());
                assert_eq!(order, position(a).cmp(&position(b)), "{a} {b}");
            }
        }
        for pair in sorted[..9].windows(2) {
            let order = compare_versions(pair[0].as_bytes(), pair[1].as_bytes());
            assert_eq!(order, Ordering::Less, "{pair:?}");
        }
    }

    #[test]
    fn wildcards_match_like_the_shell() {
        let cases = [
            ("6.1*", "6.1.0", true),
            ("6.1*", "6.2", false),
            ("*smp", "2.6.13smp", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("[ym]", "m", true),
            ("[!ym]", "m", false),
            ("[a-c]x", "bx", true),
            ("[]]", "]", true),
            ("[x", "[x", true),
            ("?", "", false),
            ("", "", true),
            ("**", "", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
        ];
        for (pattern, text, expected) in cases {
            let matched = matches_wildcard(pattern.as_bytes(), text.as_bytes());
            assert_eq!(matched, expected, "{pattern} {text}");
        }
    }
}
