//! Scripts as trees of statements: what a test needs to print, vary and reduce them.

use super::random::Random;

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    /// One line of script.
    Line(String),
    /// Lists of statements, each behind a head: `if (…)`, `else`, `for (…)`, `try`, `catch (m)`.
    Nested(Vec<(String, Vec<Stmt>)>),
}

/// A function or probe: its head, lines that must stay, and what it does.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) head: String,
    pub(crate) first: String,
    pub(crate) body: Vec<Stmt>,
    pub(crate) last: String,
}

/// A script.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// Declarations of globals, and probes that print them.
    pub(crate) frame: String,
    pub(crate) functions: Vec<Item>,
    pub(crate) probes: Vec<Item>,
}

impl Script {
    /// The text of the script.
    pub(crate) fn text(&self) -> String {
        let mut out = self.frame.clone();
        for item in self.functions.iter().chain(&self.probes) {
            out.push_str(&format!("{} {{\n  {}\n", item.head, item.first));
            write(&item.body, 1, &mut out);
            out.push_str(&format!("  {}\n}}\n", item.last));
        }
        out
    }
}

fn write(stmts: &[Stmt], depth: usize, out: &mut String) {
    let blanks = "  ".repeat(depth);
    for stmt in stmts {
        match stmt {
            Stmt::Line(text) => out.push_str(&format!("{blanks}{text}\n")),
            Stmt::Nested(parts) => {
                for (head, body) in parts {
                    out.push_str(&format!("{blanks}{head} {{\n"));
                    write(body, depth + 1, out);
                    out.push_str(&format!("{blanks}}}\n"));
                }
            }
        }
    }
}

/// The same statements with other numbers, now and then, and if asked other strings.
pub(crate) fn vary(random: &mut Random, stmts: &[Stmt], strings: bool) -> Vec<Stmt> {
    stmts
        .iter()
        .map(|stmt| match stmt {
            Stmt::Line(text) => Stmt::Line(vary_text(random, text, strings)),
            Stmt::Nested(parts) => {
                let part = |(head, body): &(String, Vec<Stmt>)| {
                    (vary_text(random, head, strings), vary(random, body, strings))
                };
                Stmt::Nested(parts.iter().map(part).collect())
            }
        })
        .collect()
}

/// The same text with other numbers of one digit, and other strings of the form `"k1"`.
fn vary_text(random: &mut Random, text: &str, strings: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut quoted = false;
    for (at, &byte) in bytes.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let after = bytes.get(at + 1).copied();
        quoted ^= byte == b'"';
        let is_name = strings && quoted && before == Some(b'k') && after == Some(b'"');
        let joins = |byte: Option<u8>| {
            byte.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'%' | b'.'))
        };
        let is_number = !quoted && !joins(before) && !joins(after);
        if byte.is_ascii_digit() && (is_name || is_number) && random.below(3) == 0 {
            out.push(char::from(b'0' + random.below(10) as u8));
        } else {
            out.push(char::from(byte));
        }
    }
    out
}
