//! What bodies name exists: globals and functions. Everything that looks at effects relies on it.

use super::{Owner, VerifierError, owner_name};
use crate::instructions::Op;
use crate::module::{Body, Module};
use crate::text;

/// Checks the instructions of a body.
pub(super) fn check(module: &Module, body: &Body, owner: Owner) -> Vec<VerifierError> {
    let mut errors = Vec::new();
    for (block, inst) in body.iter_insts() {
        if let Some(message) = missing(module, &body.insts[inst].op) {
            errors.push(VerifierError {
                owner: owner_name(module, owner),
                block: Some(block),
                inst: Some(text::print_inst(module, body, inst)),
                message: message.into(),
            });
        }
    }
    errors
}

/// What an operation names that there is not.
fn missing(module: &Module, op: &Op) -> Option<&'static str> {
    let has = |global| module.globals.get(global).is_some();
    let known = match op {
        Op::Lock(locks) => locks.iter().all(|(global, _)| has(*global)),
        Op::Unlock(globals) => globals.iter().all(|global| has(*global)),
        Op::Call(function, _) if module.functions.get(*function).is_none() => {
            return Some("there is no such function");
        }
        op => op.global().is_none_or(has),
    };
    (!known).then_some("there is no such global")
}
