//! Unused globals, functions and handlers.
//!
//! `unused-globals` drops the writes of globals that nothing reads, where they cannot raise, and then
//! the globals. `unused-functions` drops the functions that no handler comes to call.
//! `empty-handlers` drops the probe points whose handler has no effect or is `never` run, and then the
//! handlers without a probe point. None assumes anything; each guarantees that what its name says is
//! gone from the module, ids being dense again.

use std::collections::BTreeSet;

use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Entity, Global, Inst};
use xlate_ir::instructions::{Op, Terminator};
use xlate_ir::module::{Body, FunctionCode, Module, ProbeKind};

use crate::manager::ModuleContext;

/// Runs `unused-globals`.
pub(crate) fn run_globals(cx: &mut ModuleContext<'_>) -> bool {
    let summaries = Summaries::of(cx.module);
    let read = read_globals(cx.module, &summaries);
    let dropped = drop_writes(cx.module, &summaries, &read);
    cx.log.count("writes dropped", dropped);
    let keep = used_globals(cx.module);
    for (_, data) in cx.module.globals.iter().filter(|(id, _)| !keep[id.index()]) {
        cx.log.applied(data.pos, format!("`{}` is dropped: nothing reads it", data.name));
    }
    let removed = cx.module.retain_globals(|global| keep[global.index()]);
    cx.log.count("globals dropped", removed);
    dropped + removed > 0
}

/// Whether an operation reads its global only to write it.
fn only_updates(op: &Op) -> bool {
    matches!(op, Op::Update(..) | Op::StatAdd(..))
}

/// By global: whether its values can matter, or a write of it can raise.
fn read_globals(module: &Module, summaries: &Summaries) -> Vec<bool> {
    let mut read = vec![false; module.globals.len()];
    for (global, data) in module.globals.iter() {
        read[global.index()] |= data.parameter;
    }
    for (_, function) in module.functions.iter() {
        if let FunctionCode::C { effects, .. } = &function.code {
            for global in effects.reads.union(&effects.writes) {
                read[global.index()] = true;
            }
        }
    }
    for body in module.bodies() {
        for (_, inst) in body.iter_insts() {
            let op = &body.insts[inst].op;
            let Some(global) = op.global() else { continue };
            let effects = summaries.op(module, op);
            let reads = effects.reads.contains(&global) && !only_updates(op);
            read[global.index()] |= reads || effects.raises;
        }
    }
    read
}

fn drop_writes(module: &mut Module, summaries: &Summaries, read: &[bool]) -> usize {
    let is_unread = |op: &Op| {
        op.global().is_some_and(|global| !read[global.index()])
            && !summaries.op(module, op).writes.is_empty()
    };
    let unread: Vec<BTreeSet<Inst>> = module
        .bodies()
        .map(|body| {
            let insts = body.iter_insts().map(|(_, inst)| inst);
            insts.filter(|&inst| is_unread(&body.insts[inst].op)).collect()
        })
        .collect();
    let dropped = unread.iter().map(BTreeSet::len).sum();
    for (body, unread) in module.bodies_mut().zip(&unread).filter(|(_, unread)| !unread.is_empty())
    {
        for block in body.layout.clone() {
            body.blocks[block].insts.retain(|inst| !unread.contains(inst));
        }
    }
    dropped
}

/// By global: whether something still names it.
fn used_globals(module: &Module) -> Vec<bool> {
    let mut used = vec![false; module.globals.len()];
    let mut mark = |global: Global| used[global.index()] = true;
    for (global, data) in module.globals.iter() {
        if data.parameter {
            mark(global);
        }
    }
    for (_, function) in module.functions.iter() {
        if let FunctionCode::C { effects, .. } = &function.code {
            effects.reads.union(&effects.writes).into_iter().for_each(&mut mark);
        }
    }
    for body in module.bodies() {
        for (_, inst) in body.iter_insts() {
            body.insts[inst].op.global().into_iter().for_each(&mut mark);
        }
    }
    // A lock that others share stays with the global that it is named after.
    for (global, data) in module.globals.iter() {
        if let Some(leader) = data.discipline.leader()
            && used[global.index()]
        {
            used[leader.index()] = true;
        }
    }
    used
}

/// Runs `unused-functions`.
pub(crate) fn run_functions(cx: &mut ModuleContext<'_>) -> bool {
    let called = cx.module.called_functions();
    for (_, data) in cx.module.functions.iter().filter(|(id, _)| !called[id.index()]) {
        cx.log.applied(data.pos, format!("`{}` is dropped: nothing calls it", data.name));
    }
    let removed = cx.module.retain_functions(|function| called[function.index()]);
    cx.log.count("functions dropped", removed);
    removed > 0
}

/// Runs `empty-handlers`.
pub(crate) fn run_handlers(cx: &mut ModuleContext<'_>) -> bool {
    let summaries = Summaries::of(cx.module);
    let handlers = cx.module.handlers.iter();
    let empty: Vec<bool> =
        handlers.map(|(_, data)| does_nothing(cx.module, &summaries, &data.body)).collect();
    for probe in &cx.module.probes {
        if empty[probe.handler.index()] && probe.kind != ProbeKind::Never {
            let message = format!("probe `{}` is dropped: its handler does nothing", probe.name);
            cx.log.applied(probe.pos, message);
        }
    }
    let before = cx.module.probes.len();
    let kept = |probe: &xlate_ir::module::ProbePoint| {
        !empty[probe.handler.index()] && probe.kind != ProbeKind::Never
    };
    cx.module.probes.retain(kept);
    let dropped = before - cx.module.probes.len();
    let mut used = vec![false; cx.module.handlers.len()];
    for probe in &cx.module.probes {
        used[probe.handler.index()] = true;
    }
    let removed = cx.module.retain_handlers(|handler| used[handler.index()]);
    cx.log.count("probe points dropped", dropped);
    cx.log.count("handlers dropped", removed);
    dropped + removed > 0
}

/// Whether a body has no effect, locks aside. A loop pays actions, which is one.
fn does_nothing(module: &Module, summaries: &Summaries, body: &Body) -> bool {
    let quiet = |op: &Op| {
        matches!(op, Op::Lock(_) | Op::Unlock(_)) || summaries.op(module, op).is_removable()
    };
    let ends = |terminator: &Terminator| !matches!(terminator, Terminator::Raise { .. });
    body.iter_insts().all(|(_, inst)| quiet(&body.insts[inst].op))
        && body.layout.iter().all(|&block| ends(&body.blocks[block].terminator))
}
