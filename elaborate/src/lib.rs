//! Pass 2: probe points, names, overloads and types; from AST to the typed program.

pub mod program;

pub use xlate_grammar::source::{FileId, Position, SourceMap, Span};
