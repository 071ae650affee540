//! The SystemTap language: source map, lexer, preprocessor, grammar, AST and diagnostics.
//!
//! [`parse_script`] turns one file into an [`ast::File`] and the [`Diagnostic`]s about it. It
//! always gives a tree: with errors, the tree of what could be understood.
//!
//! The text goes through a lexer without context, a preprocessor that works on tokens (macros,
//! conditions, script arguments), a shaper that makes the token stream context free, and the
//! parser that LALRPOP generates from `stap.lalrpop`, whose productions call a builder.

pub mod ast;
mod builder;
mod condition;
pub mod coverage;
pub mod diagnostic;
mod erase;
mod expand;
pub mod format;
mod lexer;
mod literal;
mod options;
mod parse;
mod preprocess;
pub mod print;
mod shape;
pub mod source;
mod syntax;
mod token;

#[allow(clippy::all, missing_docs, unreachable_pub, unused_imports, unused_qualifications)]
mod stap {
    lalrpop_util::lalrpop_mod!(generated, "/stap.rs");
    pub(crate) use generated::FileParser;
}

pub use diagnostic::{Diagnostic, Label, Severity, has_errors, render};
pub use lexer::token_ranges;
pub use options::{Environment, LibraryMacros, ParseOptions, Privilege};
pub use parse::{parse_library_macros, parse_script};
pub use print::print;
pub use source::{FileId, Position, SourceMap, Span};

/// The version of SystemTap whose language this is: `systemtap_v` unless a script asks for an
/// older one.
pub const SYSTEMTAP_VERSION: &str = "5.6";
