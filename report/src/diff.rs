//! What changed between two texts, for `--print-changed`.

use std::fmt::Write;

use similar::{ChangeTag, TextDiff};

/// Lines of unchanged text around a change.
const CONTEXT: usize = 3;

/// The lines that differ, `-` and `+` in front, with a few unchanged lines around each change.
/// Empty if the texts are equal. With `colour`, for terminals only, removed lines are red and added
/// ones green.
pub fn lines(before: &str, after: &str, colour: bool) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut out = String::new();
    for (number, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if number > 0 {
            out.push_str(" …\n");
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (mark, code) = match change.tag() {
                ChangeTag::Equal => (' ', ""),
                ChangeTag::Delete => ('-', "\x1b[31m"),
                ChangeTag::Insert => ('+', "\x1b[32m"),
            };
            let line = change.value().trim_end_matches('\n');
            // Writing to a string does not fail.
            let _ = match colour && !code.is_empty() {
                true => writeln!(out, "{code}{mark}{line}\x1b[0m"),
                false => writeln!(out, "{mark}{line}"),
            };
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_differ_nowhere() {
        assert_eq!(lines("a\nb\n", "a\nb\n", true), "");
    }

    #[test]
    fn far_changes_are_set_apart() {
        let before: String = (0..20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("\n1\n", "\none\n").replace("\n18\n", "\n");
        assert_eq!(
            lines(&before, &after, false),
            " 0\n-1\n+one\n 2\n 3\n 4\n …\n 15\n 16\n 17\n-18\n 19\n"
        );
    }

    #[test]
    fn colour_marks_changed_lines_only() {
        assert_eq!(lines("a\nb\n", "a\nc\n", true), " a\n\x1b[31m-b\x1b[0m\n\x1b[32m+c\x1b[0m\n");
    }
}
