//! Pass 2: probe points, names, overloads and types; from AST to the typed program.

pub mod program;
