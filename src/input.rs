//! Where a script comes from.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::Failure;
use crate::cli::Options;
use crate::translator::Script;

/// What the command line asks to be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input<'o> {
    /// A script.
    Script(Script),
    /// A module built before, and its parameters.
    Module(&'o OsString, &'o [OsString]),
}

/// Finds the script, or the module, that the command line names.
///
/// # Errors
/// If there is none, or if it cannot be read.
pub fn read(options: &Options) -> Result<Input<'_>, Failure> {
    let (file, words) = options.script_words();
    let (name, text) = match (&options.script, file) {
        (Some(script), _) => ("<command line>".to_owned(), script.as_bytes().to_vec()),
        (None, Some(file)) if file == "-" => ("<stdin>".to_owned(), read_stdin()?),
        (None, Some(file)) if Path::new(file).extension().is_some_and(|ext| ext == "ko") => {
            return Ok(Input::Module(file, words));
        }
        (None, Some(file)) => {
            let text = std::fs::read(file);
            let text = text.map_err(|error| Failure::io("cannot read", file.display(), &error))?;
            (file.display().to_string(), text)
        }
        (None, None) => {
            return Err(Failure::Message(
                "there is no script: name a file, `-` for standard input, or give it with -e; \
                 --help shows how"
                    .to_owned(),
            ));
        }
    };
    let argument = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::Message(format!("the argument `{}` is not UTF-8", word.display()))
        })
    };
    let arguments = words.iter().map(argument).collect::<Result<_, _>>()?;
    Ok(Input::Script(Script { name, text, arguments }))
}

fn read_stdin() -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    match io::stdin().lock().read_to_end(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::io("cannot read", "standard input", &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn options(words: &[&str]) -> Options {
        Options::try_parse_from([&["xlate"], words].concat()).expect("good options")
    }

    #[test]
    fn a_script_on_the_command_line_has_arguments() {
        let options = options(&["-e", "probe begin {}", "7"]);
        let Ok(Input::Script(script)) = read(&options) else { panic!("a script") };
        assert_eq!((&*script.name, &*script.text), ("<command line>", &b"probe begin {}"[..]));
        assert_eq!(script.arguments, ["7"]);
    }

    #[test]
    fn a_module_is_told_by_its_name() {
        let options = options(&["dir/count.ko", "n=1"]);
        let module = Input::Module(&options.words[0], &options.words[1..]);
        assert_eq!(read(&options), Ok(module));
    }

    #[test]
    fn what_is_missing_is_said() {
        let Err(Failure::Message(message)) = read(&options(&["-v"])) else { panic!("refused") };
        assert!(message.starts_with("there is no script"), "{message}");
        let Err(Failure::Message(message)) = read(&options(&["/no/such.stp"])) else {
            panic!("refused")
        };
        assert_eq!(message, "cannot read /no/such.stp: No such file or directory");
    }
}
