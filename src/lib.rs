//! An optimizing translator from SystemTap scripts to Linux kernel modules.
//!
//! This crate only puts the stages together; each is a crate of its own. [`driver::main`] is the
//! `xlate` command, [`translator::Translator`] is what tests use of it.

pub mod bisect;
pub mod cli;
pub mod console;
pub mod driver;
pub mod execute;
pub mod host;
pub mod input;
pub mod optimize;
pub mod record;
pub mod settings;
pub mod stage;
pub mod translator;

/// Why a run ends early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Something is wrong with the command line, a file or the machine.
    Message(String),
    /// The script is refused; diagnostics say why.
    Refused,
    /// The user interrupted the work.
    Interrupted,
    /// A defect of this program, found by its own checks.
    Internal(String),
}

impl Failure {
    /// Something that could not be done to a file.
    fn io(what: &str, file: impl std::fmt::Display, error: &std::io::Error) -> Self {
        let reason = error.to_string();
        // The number of the error tells the user nothing that its text does not.
        let reason = reason.split(" (os error").next().unwrap_or_default();
        Failure::Message(format!("{what} {file}: {reason}"))
    }
}
