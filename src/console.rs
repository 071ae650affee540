//! What the user sees besides a script's output: everything goes to standard error, coloured if that
//! is a terminal. Results that were asked for go to standard output or a file.

use std::env;
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use xlate_grammar::{Diagnostic, Severity, SourceMap, render};

use crate::Failure;

/// Where messages go, and how.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    colour: bool,
    warnings: bool,
}

impl Console {
    /// A console; without `warnings`, these are not printed.
    pub fn new(warnings: bool) -> Self {
        let wanted = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Console { colour: wanted && io::stderr().is_terminal(), warnings }
    }

    /// Whether messages are coloured.
    pub fn has_colour(self) -> bool {
        self.colour
    }

    /// Prints an error that has no place in a script.
    pub fn error(self, message: &str) {
        self.message("error", "1;31", message);
    }

    /// Prints a warning that has no place in a script.
    pub fn warning(self, message: &str) {
        if self.warnings {
            self.message("warning", "1;33", message);
        }
    }

    /// Prints a warning of a running script.
    pub fn script_warning(self, message: &str) {
        if self.warnings {
            self.message("WARNING", "1;33", message);
        }
    }

    /// Prints an error of a running script.
    pub fn script_error(self, message: &str) {
        self.message("ERROR", "1;31", message);
    }

    /// Prints a line as it is.
    pub fn line(self, text: &str) {
        // There is nobody to tell that standard error cannot be written.
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Prints lines as they are.
    pub fn text(self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Prints what there is to say about a script.
    pub fn diagnostics(self, sources: &SourceMap, diagnostics: &[Diagnostic]) {
        let shown = |d: &&Diagnostic| self.warnings || d.severity != Severity::Warning;
        let shown: Vec<Diagnostic> = diagnostics.iter().filter(shown).cloned().collect();
        let _ = io::stderr().write_all(render(sources, &shown, self.colour).as_bytes());
    }

    fn message(self, kind: &str, code: &str, message: &str) {
        match self.colour {
            true => self.line(&format!("\x1b[{code}m{kind}\x1b[0;1m:\x1b[0m {message}")),
            false => self.line(&format!("{kind}: {message}")),
        }
    }
}

/// Writes a result to a file, or to standard output.
///
/// # Errors
/// If it cannot be written. That nobody reads standard output any more is not an error.
pub fn write_result(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    let Some(file) = file else {
        let mut out = io::stdout().lock();
        return match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::io("cannot write to", "standard output", &error))
            }
            _ => Ok(()),
        };
    };
    fs::write(file, text).map_err(|error| Failure::io("cannot write", file.display(), &error))
}
