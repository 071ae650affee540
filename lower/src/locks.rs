//! Guards handlers: before anything else, each takes the locks of all globals that it may touch.
//!
//! This is the mandatory part, which is enough for handlers to be atomic. Passes find out which locks
//! are not needed, in which mode, and for how long.

use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Global, Handler};
use xlate_ir::instructions::{InstData, LockMode, Op, Terminator};
use xlate_ir::module::Module;

/// Adds the locks to all handlers of a module that has none.
pub(crate) fn guard_handlers(module: &mut Module) {
    let summaries = Summaries::of(module);
    let handlers: Vec<Handler> = module.handlers.iter().map(|(id, _)| id).collect();
    for handler in handlers {
        let effects = summaries.body(module, &module.handlers[handler].body);
        let touched: Vec<Global> = effects.reads.union(&effects.writes).into_iter().collect();
        if !touched.is_empty() {
            guard(module, handler, touched);
        }
    }
}

/// Locks globals at the start of a handler and unlocks them wherever it returns. Where it raises, the
/// locks it holds are released by what handles the error.
fn guard(module: &mut Module, handler: Handler, globals: Vec<Global>) {
    let pos = module.handlers[handler].pos;
    let body = &mut module.handlers[handler].body;
    let lock = Op::Lock(globals.iter().map(|&global| (global, LockMode::Write)).collect());
    body.insert_inst(body.entry(), 0, InstData { op: lock, result: None, pos });
    for block in body.layout.clone() {
        if matches!(body.blocks[block].terminator, Terminator::Return(_)) {
            body.push(block, Op::Unlock(globals.clone()), None, pos);
        }
    }
}
