//! Regular expressions as deterministic automata in C.

use xlate_ir::entities::{Entity, Regex};
use xlate_ir::module::Module;

use crate::module::EmitError;
use crate::needs::Needs;

/// The name of the function that matches an expression.
pub(crate) fn function_name(regex: Regex) -> String {
    format!("match_{}", regex.index())
}

/// Emits the functions that are used.
pub(crate) fn emit(_module: &Module, _needs: &Needs) -> Result<String, EmitError> {
    Ok(String::new())
}
