//! What `-D` and `-G` set.

use xlate_ir::module::Limits;

/// The limits and macros that `-D` options give.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Defines {
    /// The limits of the module.
    pub limits: Limits,
    /// Macros for embedded C and the runtime: name and value, in the order given.
    pub macros: Vec<(String, String)>,
}

/// Reads `-D NAME[=VALUE]` options. A macro without a value is 1, as in C.
///
/// # Errors
/// What is wrong with one of them.
pub fn read_defines(options: &[String]) -> Result<Defines, String> {
    let mut defines = Defines::default();
    for option in options {
        let (name, value) = option.split_once('=').unwrap_or((option, "1"));
        if !is_name(name) {
            return Err(format!("-D {option}: `{name}` is not the name of a macro"));
        }
        match limit(&mut defines.limits, name) {
            Some((set, least, most)) => {
                let number = value.parse().ok().filter(|n| (least..=most).contains(n));
                set(number.ok_or_else(|| {
                    format!("-D {option}: {name} is a number from {least} to {most}")
                })?);
            }
            None => defines.macros.push((name.to_owned(), value.to_owned())),
        }
    }
    Ok(defines)
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
            return Some((Box::new(move |n| *nesting = Some(n)), 1, 1000));
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
            ("MAXNESTING=x", "-D MAXNESTING=x: MAXNESTING is a number from 1 to 1000"),
            ("9=1", "-D 9=1: `9` is not the name of a macro"),
        ] {
            assert_eq!(defines(&[option]), Err(message.to_owned()));
        }
        let globals = read_globals(&["a.b=1".to_owned()]);
        assert_eq!(globals, Err("-G a.b=1: `a.b` is not the name of a global".to_owned()));
    }

    #[test]
    fn a_global_may_have_no_value() {
        let globals = read_globals(&["n".to_owned(), "s=a=b".to_owned()]).expect("good");
        let expected = [("n".to_owned(), None), ("s".to_owned(), Some("a=b".to_owned()))];
        assert_eq!(globals, expected);
    }
}
