//! The text form of a module: what `--emit=ir` prints and what `.xir` files hold.
//!
//! `parse(&print(m)) == m` for every module whose formats and names are as the types' docs require.
//! `docs/ir.md` describes the form.

mod escape;
mod lexer;
mod parse_body;
mod parse_module;
mod parser;
mod print_body;
mod print_module;

use std::fmt;

pub use parse_module::parse;
pub use print_body::{print_inst, print_terminator};
pub use print_module::{print, print_block, print_function, print_handler};

/// Why a text is not a module, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in bytes.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}
