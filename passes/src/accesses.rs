//! Which handler reads and writes which global, and where.

use std::collections::BTreeMap;

use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Global, Handler};
use xlate_ir::module::Module;
use xlate_ir::types::Pos;

/// What one handler does to one global, callees included.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Access {
    /// It reads it.
    pub(crate) reads: bool,
    /// It writes it.
    pub(crate) writes: bool,
    /// Where it first reads it.
    pub(crate) read_at: Option<Pos>,
    /// Where it first writes it.
    pub(crate) written_at: Option<Pos>,
}

/// The accesses of all handlers.
pub(crate) struct Accesses {
    by_global: BTreeMap<Global, BTreeMap<Handler, Access>>,
}

impl Accesses {
    /// Collects them.
    pub(crate) fn of(module: &Module, summaries: &Summaries) -> Accesses {
        let mut by_global: BTreeMap<Global, BTreeMap<Handler, Access>> = BTreeMap::new();
        for (handler, data) in module.handlers.iter() {
            for (_, inst) in data.body.iter_insts() {
                let inst = &data.body.insts[inst];
                let effects = summaries.op(module, &inst.op);
                for &global in &effects.reads {
                    let access = by_global.entry(global).or_default().entry(handler).or_default();
                    access.reads = true;
                    access.read_at = access.read_at.or(inst.pos);
                }
                for &global in &effects.writes {
                    let access = by_global.entry(global).or_default().entry(handler).or_default();
                    access.writes = true;
                    access.written_at = access.written_at.or(inst.pos);
                }
            }
        }
        Accesses { by_global }
    }

    /// The handlers that touch a global, in order.
    pub(crate) fn to(&self, global: Global) -> impl Iterator<Item = (Handler, &Access)> {
        self.by_global
            .get(&global)
            .into_iter()
            .flatten()
            .map(|(&handler, access)| (handler, access))
    }
}

impl Access {
    /// Where it touches the global, a write rather than a read.
    pub(crate) fn at(&self) -> Option<Pos> {
        self.written_at.or(self.read_at)
    }

    /// What it does, for a remark.
    pub(crate) fn verb(&self) -> &'static str {
        if self.writes { "written" } else { "read" }
    }
}
