//! C of the script, laid out.

/// The lines of C that a script has in one piece. What the script has on one line gets a line for
/// each statement, `depth` tabs from the left: compilers warn of statements behind an `if` on its
/// line. C of several lines keeps its layout.
pub(crate) fn laid_out(text: &str, depth: usize) -> String {
    let whole = text.trim_matches('\n').trim_end();
    // A directive needs a line of its own, and has it.
    if whole.contains(['\n', '#']) {
        return whole.to_owned();
    }
    let mut lines = Vec::new();
    let mut rest = whole.trim();
    let mut braces = 0;
    while !rest.is_empty() {
        let (statement, inside) = first_statement(rest, braces);
        let begins_with_end = usize::from(statement.starts_with('}'));
        let tabs = depth + braces.saturating_sub(begins_with_end);
        lines.push(format!("{}{}", "\t".repeat(tabs), statement.trim_end()));
        rest = rest[statement.len()..].trim_start();
        braces = inside;
    }
    lines.join("\n")
}

/// The text up to the end of its first statement, a comment behind it included, and how many braces
/// are open there if so many are at its start.
fn first_statement(text: &str, mut braces: usize) -> (&str, usize) {
    let mut parentheses = 0_usize;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        at += match c {
            '"' | '\'' => quoted(rest, c),
            '/' if rest.starts_with("//") => rest.len(),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => c.len_utf8(),
        };
        match c {
            '(' => parentheses += 1,
            ')' => parentheses = parentheses.saturating_sub(1),
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            ';' if parentheses == 0 => {
                let behind = text[at..].trim_start();
                let is_comment = behind.starts_with("//") || behind.starts_with("/*");
                if !is_comment {
                    return (&text[..at], braces);
                }
                at = text.len() - behind.len();
                at += match behind.strip_prefix("/*") {
                    Some(comment) => comment.find("*/").map_or(behind.len(), |end| end + 4),
                    None => behind.len(),
                };
                return (&text[..at], braces);
            }
            _ => {}
        }
    }
    (text, braces)
}

/// The length of the literal at the start of a text.
fn quoted(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_gets_a_line_for_each_statement() {
        for (text, expected) in [
            (" f(); ", "\tf();"),
            (" if (x) STAP_NEXT; STAP_RETVALUE = 4; ", "\tif (x) STAP_NEXT;\n\tSTAP_RETVALUE = 4;"),
            (
                "int i; for (i = 0; i < 3; i++) f(i); g();",
                "\tint i;\n\tfor (i = 0; i < 3; i++) f(i);\n\tg();",
            ),
            ("if (x) { f(); g(); } h()", "\tif (x) { f();\n\t\tg();\n\t} h()"),
            ("f(\"a;b\\\"; \", ';'); g();", "\tf(\"a;b\\\"; \", ';');\n\tg();"),
            ("f(); /* a; b */ g(); // c; d", "\tf(); /* a; b */\n\tg(); // c; d"),
            ("/* pure; */ f();", "\t/* pure; */ f();"),
            ("f(\"open; g();", "\tf(\"open; g();"),
            ("é(); \"é;\";", "\té();\n\t\"é;\";"),
            ("} } f(); /* open;", "\t} } f(); /* open;"),
            ("", ""),
        ] {
            assert_eq!(laid_out(text, 1), expected, "{text}");
        }
    }

    #[test]
    fn other_layouts_are_the_scripts() {
        for text in ["\n  if (x) y; z;\n  w;\n", "#define X 1; 2;"] {
            assert_eq!(laid_out(text, 1), text.trim_matches('\n'));
        }
    }
}
