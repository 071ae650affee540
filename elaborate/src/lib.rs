//! Pass 2: probe points, names, overloads and types; from AST to the typed program.
//!
//! [`elaborate`] takes the trees of the scripts and the [`Library`], and gives a
//! [`program::Program`] in which nothing is left to resolve, or [`Diagnostic`]s that say all that
//! is wrong. This crate must not know how the program will run: no IR, no C.
//!
//! Start reading at [`program`], then `elaborate.rs`, which has the order of things.
//!
//! [`Diagnostic`]: xlate_grammar::Diagnostic

mod body;
mod context;
mod declare;
mod display;
mod elaborate;
mod embedded;
mod finish;
mod folder;
mod iteration;
mod library;
mod points;
mod print;
pub mod program;
mod regex;
mod scan;
mod settings;
mod suggest;
mod types;
mod unread;
pub mod visit;
mod walk;

pub use elaborate::elaborate;
pub use library::{Library, Load};
pub use print::listing;
pub use settings::Setting;
pub use xlate_grammar::source::{FileId, Position, SourceMap, Span};

/// What the command line says about pass 2.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// `-g`: scripts may hold C and call unsafe functions.
    pub guru: bool,
    /// `-G`, in the order given.
    pub settings: Vec<Setting>,
    /// `--no-global-var-display`: globals that nothing reads are not printed at the end.
    pub no_display: bool,
}
