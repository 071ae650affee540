//! What `-D` and `-G` set.

use xlate_codegen::CALLS_MOST;
use xlate_ir::module::Limits;

/// The limits and macros that `-D` options give.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Defines {
    /// The limits of the module.
    pub limits: Limits,
    /// Macros for embedded C and the runtime: name and value, in the order given.
    pub macros: Vec<(String, String)>,
}

/// Names that macros for the runtime may have although they begin as its own do.
const RUNTIME_SETTINGS: &[&str] = &["XL_LOCK_WAIT_NS", "XL_MESSAGES"];

/// Reads `-D NAME[=VALUE]` options. A macro without a value is 1, as in C; of two with one name the
/// last counts.
///
/// # Errors
/// What is wrong with one of them.
pub fn read_defines(options: &[String]) -> Result<Defines, String> {
    let mut defines = Defines::default();
    for option in options {
        let (name, value) = option.split_once('=').unwrap_or((option, "1"));
        let refuse = |problem: &str| Err(format!("-D {}: {problem}", option.escape_debug()));
        if let Some(problem) = name_problem(name) {
            return refuse(&format!("`{}` {problem}", name.escape_debug()));
        }
        match limit(&mut defines.limits, name) {
            Some((set, least, most)) => {
                let number = value.parse().ok().filter(|n| (least..=most).contains(n));
                set(number.ok_or_else(|| {
                    format!("-D {option}: {name} is a number from {least} to {most}")
                })?);
            }
            None => {
                if let Some(problem) = value_problem(value) {
                    return refuse(problem);
                }
                defines.macros.retain(|(other, _)| other != name);
                defines.macros.push((name.to_owned(), value.to_owned()));
            }
        }
    }
    Ok(defines)
}

/// What is wrong with the name of a macro. Names with small letters, and with a `_` at the end, are
/// left to the C that a script becomes; so are the beginnings that macros of its own have.
fn name_problem(name: &str) -> Option<&'static str> {
    let is_own = name.starts_with("XL_") && !RUNTIME_SETTINGS.contains(&name);
    if !is_name(name) {
        Some("is not the name of a macro")
    } else if name.starts_with("__") {
        Some("is a name of the compiler: `__` is its own beginning")
    } else if name.contains(|c: char| c.is_ascii_lowercase()) || name.ends_with('_') {
        Some(
            "could be a name in the C that the script becomes: \
             macros are named in capitals, without a `_` at the end",
        )
    } else if is_own || name.starts_with("STAP_") {
        Some("is a name of the runtime: XL_ and STAP_ are its own beginnings")
    } else {
        None
    }
}

/// Why what a macro stands for is not a part of one line of C.
fn value_problem(value: &str) -> Option<&'static str> {
    let mut rest = value.chars().peekable();
    let mut quote = None;
    while let Some(c) = rest.next() {
        match (c, quote) {
            _ if c.is_control() && c != '\t' => {
                return Some("a macro has one line, without control characters");
            }
            ('\\', Some(_)) => {
                rest.next_if(|c| !c.is_control());
            }
            ('\\', None) => return Some("a `\\` stands outside of quotes"),
            ('"' | '\'', None) => quote = Some(c),
            _ if Some(c) == quote => quote = None,
            ('/', None) if matches!(rest.peek(), Some('*' | '/')) => {
                return Some("a comment begins in it");
            }
            _ => {}
        }
    }
    quote.map(|_| "a quote is not closed")
}

type Setter<'l> = Box<dyn FnOnce(u32) + 'l>;

/// How to set the limit of that name, and the values that it may have.
fn limit<'l>(limits: &'l mut Limits, name: &str) -> Option<(Setter<'l>, u32, u32)> {
    let (field, least, most) = match name {
        "MAXSTRINGLEN" => (&mut limits.max_string_len, 16, 65_536),
        "MAXMAPENTRIES" => (&mut limits.max_map_entries, 1, 1 << 26),
        "MAXACTION" => (&mut limits.max_action, 0, u32::MAX),
        "MAXACTION_INTERRUPTIBLE" => (&mut limits.max_action_interruptible, 0, u32::MAX),
        "MAXERRORS" => (&mut limits.max_errors, 0, u32::MAX),
        "MAXSKIPPED" => (&mut limits.max_skipped, 0, u32::MAX),
        "MAXNESTING" => {
            let nesting = &mut limits.max_nesting;
            return Some((Box::new(move |n| *nesting = Some(n)), 1, CALLS_MOST));
        }
        _ => return None,
    };
    Some((Box::new(move |n| *field = n), least, most))
}

/// Reads `-G NAME[=VALUE]` options.
///
/// # Errors
/// What is wrong with one of them.
pub fn read_globals(options: &[String]) -> Result<Vec<(String, Option<String>)>, String> {
    let read = |option: &String| {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option.as_str(), None),
        };
        if is_name(name) {
            Ok((name.to_owned(), value))
        } else {
            Err(format!("-G {option}: `{name}` is not the name of a global"))
        }
    };
    options.iter().map(read).collect()
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defines(options: &[&str]) -> Result<Defines, String> {
        read_defines(&options.iter().map(|&option| option.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn limits_are_told_from_macros() {
        let defines = defines(&["MAXACTION=7", "DEBUG", "LEVEL=2", "MAXNESTING=3"]).expect("good");
        assert_eq!(defines.limits.max_action, 7);
        assert_eq!(defines.limits.max_nesting, Some(3));
        assert_eq!(defines.limits.max_errors, 0);
        let macros = [("DEBUG", "1"), ("LEVEL", "2")];
        assert_eq!(defines.macros, macros.map(|(n, v)| (n.to_owned(), v.to_owned())));
    }

    #[test]
    fn bad_values_are_refused() {
        for (option, message) in [
            ("MAXSTRINGLEN=4", "-D MAXSTRINGLEN=4: MAXSTRINGLEN is a number from 16 to 65536"),
            ("MAXERRORS=-1", "-D MAXERRORS=-1: MAXERRORS is a number from 0 to 4294967295"),
            ("MAXNESTING=x", "-D MAXNESTING=x: MAXNESTING is a number from 1 to 40"),
            ("9=1", "-D 9=1: `9` is not the name of a macro"),
            ("", "-D : `` is not the name of a macro"),
            ("A\n#error", "-D A\\n#error: `A\\n#error` is not the name of a macro"),
        ] {
            assert_eq!(defines(&[option]), Err(message.to_owned()));
        }
        let globals = read_globals(&["a.b=1".to_owned()]);
        assert_eq!(globals, Err("-G a.b=1: `a.b` is not the name of a global".to_owned()));
    }

    /// They would change what the emitted C means, and errors would be about lines that nobody wrote.
    #[test]
    fn macros_cannot_change_the_emitted_c() {
        for (option, message) in [
            ("int=5", "`int` could be a name in the C that the script becomes"),
            ("c", "`c` could be a name in the C that the script becomes"),
            ("_Bool=1", "`_Bool` could be a name"),
            ("LIMIT_=1", "`LIMIT_` could be a name"),
            ("XL_HAVE_FRAME", "`XL_HAVE_FRAME` is a name of the runtime"),
            ("STAP_NEXT=1", "`STAP_NEXT` is a name of the runtime"),
            ("__LINE__=1", "`__LINE__` is a name of the compiler"),
            ("A=\n#error x", "-D A=\\n#error x: a macro has one line"),
            ("A=1\r", "-D A=1\\r: a macro has one line"),
            ("A=/*", "-D A=/*: a comment begins in it"),
            ("A=1 // x", "a comment begins in it"),
            ("A=1 \\", "a `\\` stands outside of quotes"),
            ("A=\"x", "a quote is not closed"),
            ("A=\"x\\\"", "a quote is not closed"),
            ("A=\"x\\", "a quote is not closed"),
            ("A='", "a quote is not closed"),
        ] {
            let said = defines(&[option]).expect_err(option);
            assert!(said.starts_with("-D ") && said.contains(message), "{option}: {said}");
        }
    }

    #[test]
    fn macros_may_be_any_tokens() {
        for value in
            ["", "\"http://x/*\"", "'\"'", "\"\\\\\"", "a / *b", "x\ty", "\"it's\"", "(1 << 3)"]
        {
            let option = format!("_A1={value}");
            let macros = defines(&[&option]).expect("good").macros;
            assert_eq!(macros, [("_A1".to_owned(), value.to_owned())]);
        }
        let names = ["STP_NO_OVERLOAD", "STP_OVERLOAD_THRESHOLD=1LL", "XL_LOCK_WAIT_NS=5"];
        assert_eq!(defines(&names).expect("good").macros.len(), 3);
        let last = defines(&["A=1", "B", "A=2"]).expect("good").macros;
        assert_eq!(last, [("B", "1"), ("A", "2")].map(|(n, v)| (n.to_owned(), v.to_owned())));
    }

    #[test]
    fn a_global_may_have_no_value() {
        let globals = read_globals(&["n".to_owned(), "s=a=b".to_owned()]).expect("good");
        let expected = [("n".to_owned(), None), ("s".to_owned(), Some("a=b".to_owned()))];
        assert_eq!(globals, expected);
    }
}
