//! Lowering: from the typed program to SSA.
//!
//! [`lower`] turns every handler and function of a typed program into basic blocks. It decides the
//! order of everything that the language leaves to be read off a tree:
//!
//! - Operands are evaluated from left to right. An assignment evaluates the keys of its place,
//!   then its right-hand side, and only then reads the place if its operator needs to, so that
//!   `n += e` is one update of `n`. A place is evaluated once.
//! - `++`, `--`, `+=`, `-=` and `|=` of a global whose result is not used become one
//!   [`ir::instructions::Op::Update`], which later passes can make an atomic operation.
//! - In a `foreach`, the element at the loop's own keys is read off the walk, not looked up again.
//! - Every back edge of a loop and every recursive call pays an action.
//! - A handler takes the locks of all globals that it may touch, callees included, before anything
//!   else, in write mode, and releases them where it returns. The passes make that less.
//!
//! What comes out satisfies the verifier. Nothing is optimized here beyond what costs nothing to
//! leave out.

mod assignments;
mod body;
mod calls;
mod expressions;
mod facts;
mod formats;
mod locks;
mod loops;
mod statements;
mod tables;
mod walks;

#[cfg(test)]
mod tests;

use std::fmt;

use xlate_elaborate::program::{FunctionCode, Program};
use xlate_elaborate::{SourceMap, Span};
use xlate_ir as ir;
use xlate_ir::module::HandlerData;

use tables::Callee;

/// What lowering needs to know besides the program.
#[derive(Clone, Default, Debug)]
pub struct LowerOptions {
    /// The limits that the module keeps, `-D` settings included.
    pub limits: ir::module::Limits,
}

/// A function that asks for an operation of the runtime which is not there, or not like that.
///
/// Only the pragma of a tapset function can be wrong in this way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LowerError {
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// The declaration of the function.
    pub span: Span,
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LowerError {}

/// Lowers a program.
///
/// # Errors
/// [`LowerError`] if a tapset function names an operation that the runtime does not have.
pub fn lower(
    program: &Program,
    sources: &SourceMap,
    options: &LowerOptions,
) -> Result<ir::module::Module, LowerError> {
    let tables = tables::Tables::new(program, sources, &options.limits)?;
    let mut module = tables.declare(options.limits.clone());
    for (id, function) in &program.functions {
        let Callee::Function(target) = tables.callee(id) else { continue };
        let body = match (&function.code, tables.handing_over(id)) {
            (FunctionCode::Script(stmts), _) => body::lower_function(&tables, &module, id, stmts),
            (_, Some(c)) => body::lower_handing_over(&tables, &module, id, c),
            _ => continue,
        };
        module.functions[target].code = ir::module::FunctionCode::Body(body);
    }
    for (_, handler) in &program.handlers {
        let body = body::lower_handler(&tables, &module, handler);
        let pos = tables.position(handler.span);
        module.handlers.alloc(HandlerData { body, record: Vec::new(), places: Vec::new(), pos });
    }
    for name in tables.file_names() {
        module.files.alloc(name);
    }
    locks::guard_handlers(&mut module);
    Ok(module)
}
