//! The SystemTap language: source map, lexer, preprocessor, grammar, AST and diagnostics.
//!
//! [`parse_script`] turns one file into an [`ast::File`] and the [`Diagnostic`]s about it. It
//! always gives a tree: with errors, the tree of what could be understood.

pub mod ast;
pub mod diagnostic;
pub mod format;
pub mod source;

pub use diagnostic::{Diagnostic, Label, Severity, has_errors, render};
pub use source::{FileId, Position, SourceMap, Span};
