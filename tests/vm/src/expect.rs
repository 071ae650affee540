//! Expected text with holes: `{{REGEX}}` stands for whatever the regular expression matches.

use regex::Regex;

use crate::case::Expected;

/// What is wrong with a text, told, if something is.
pub fn unexpected(expected: &Expected, actual: &str) -> Option<String> {
    match expected {
        Expected::Text(text) => difference(text, &without_interruptions(actual)),
        Expected::Parts(parts) => {
            let missing = parts.iter().find(|part| !actual.contains(part.as_str()))?;
            Some(format!("`{missing}` is not in it; it is\n{actual}"))
        }
    }
}

/// The text without the line that counts nothing but handlers which interrupted another: whether a
/// timer or an interrupt comes while a handler runs is up to the machine, and no fault of a case.
fn without_interruptions(text: &str) -> String {
    let line = r"(?m)^WARNING: 0 errors, 0 messages lost, output of 0 handlers lost, 0 skipped for locks, [0-9]+ that interrupted another\n";
    match Regex::new(line) {
        Ok(regex) => regex.replace_all(text, "").into_owned(),
        Err(_) => text.to_owned(),
    }
}

/// Compares line by line; the first difference, told, if there is one.
pub fn difference(expected: &str, actual: &str) -> Option<String> {
    let mut actual_lines = actual.lines();
    for (index, wanted) in expected.lines().enumerate() {
        match actual_lines.next() {
            Some(line) => match matches(wanted, line) {
                Ok(true) => {}
                Ok(false) => {
                    return Some(format!(
                        "line {}\n  expected: {wanted}\n  actual:   {line}",
                        index + 1
                    ));
                }
                Err(error) => return Some(format!("line {}: bad pattern: {error}", index + 1)),
            },
            None => {
                return Some(format!(
                    "line {}\n  expected: {wanted}\n  actual:   (end)",
                    index + 1
                ));
            }
        }
    }
    if let Some(line) = actual_lines.next() {
        let index = expected.lines().count() + 1;
        return Some(format!("line {index}\n  expected: (end)\n  actual:   {line}"));
    }
    (expected.ends_with('\n') != actual.ends_with('\n') && !expected.is_empty())
        .then(|| "one ends with a newline and the other does not".to_owned())
}

/// Whether a line is as a line with holes says.
fn matches(pattern: &str, line: &str) -> Result<bool, regex::Error> {
    if !pattern.contains("{{") {
        return Ok(pattern == line);
    }
    let mut regex = String::from("^");
    let mut rest = pattern;
    while let Some((literal, after)) = rest.split_once("{{") {
        let (hole, after) = split_hole(after);
        regex.push_str(&regex::escape(literal));
        regex.push_str(&format!("(?:{hole})"));
        rest = after;
    }
    regex.push_str(&regex::escape(rest));
    regex.push('$');
    Ok(Regex::new(&regex)?.is_match(line))
}

/// The regular expression of a hole and what follows it. In a row of braces the last two end the
/// hole, as in `{{[0-9]{4,}}}`.
fn split_hole(text: &str) -> (&str, &str) {
    let Some(mut end) = text.find("}}") else { return (text, "") };
    while text[end + 2..].starts_with('}') {
        end += 1;
    }
    (&text[..end], &text[end + 2..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interruptions_alone_are_no_fault() {
        let counts = |errors, interruptions| {
            format!(
                "WARNING: {errors} errors, 0 messages lost, output of 0 handlers lost, \
                 0 skipped for locks, {interruptions} that interrupted another\n"
            )
        };
        let nothing = Expected::Text(String::new());
        assert_eq!(unexpected(&nothing, &counts(0, 2)), None);
        assert!(unexpected(&nothing, &counts(1, 2)).is_some());
        assert!(unexpected(&nothing, &format!("{}x\n", counts(0, 2))).is_some());
    }

    #[test]
    fn holes_match_and_the_rest_is_literal() {
        assert_eq!(difference("n={{[0-9]+}} (ok)\n", "n=42 (ok)\n"), None);
        assert!(difference("n={{[0-9]+}} (ok)\n", "n=x (ok)\n").is_some());
        assert_eq!(difference("n={{[0-9]{2,}}}\n", "n=42\n"), None);
        assert!(difference("n={{[0-9]{2,}}}\n", "n=4\n").is_some());
        assert!(difference("a.c\n", "abc\n").is_some());
        assert!(difference("{{[}}\n", "x\n").is_some_and(|text| text.contains("bad pattern")));
    }

    #[test]
    fn parts_may_stand_anywhere() {
        let parts = Expected::Parts(vec!["one".to_owned(), "two".to_owned()]);
        assert_eq!(unexpected(&parts, "two\none\n"), None);
        assert!(unexpected(&parts, "one\n").is_some_and(|text| text.starts_with("`two`")));
    }

    #[test]
    fn differences_in_number_of_lines() {
        assert!(difference("a\n", "a\nb\n").is_some_and(|text| text.contains("expected: (end)")));
        assert!(difference("a\nb\n", "a\n").is_some_and(|text| text.contains("actual:   (end)")));
        assert!(difference("a\n", "a").is_some());
        assert_eq!(difference("", ""), None);
        assert!(difference("", "a").is_some());
    }
}
