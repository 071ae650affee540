//! Global constness: reads of globals that never change become constants.
//!
//! A global never changes if nothing writes it, or if one `begin` handler stores a constant to it, on
//! every path and before anything that could keep it from doing so (an error, `exit()`) or that reads
//! it, in that or an earlier `begin`. Globals that are module parameters are never folded. Assumes
//! nothing. Guarantees nothing about the stores: those to globals that are read no more are left to
//! `unused-globals`.

use xlate_ir::effects::{Effects, Summaries};
use xlate_ir::entities::{Block, Entity, Global, Handler, Inst};
use xlate_ir::instructions::{Op, Place, Terminator};
use xlate_ir::module::{Body, FunctionCode, Module, ProbeKind};
use xlate_ir::types::{Const, ElementType, GlobalData, Type};

use crate::manager::ModuleContext;

/// Runs the pass.
pub(crate) fn run(cx: &mut ModuleContext<'_>) -> bool {
    let summaries = Summaries::of(cx.module);
    let mut changed = false;
    let globals: Vec<Global> = cx.module.globals.iter().map(|(id, _)| id).collect();
    for global in globals {
        let data = &cx.module.globals[global];
        if data.is_stat() {
            continue;
        }
        let (name, pos) = (data.name.clone(), data.pos);
        let Some(known) = constant(cx.module, &summaries, global) else { continue };
        let reads = count_reads(cx.module, global);
        if reads == 0 {
            continue;
        }
        if cx.module.globals[global].parameter {
            cx.log.missed(pos, format!("`{name}` stays variable: it is a module parameter"));
            continue;
        }
        let is_array = cx.module.globals[global].is_array();
        let (value, message) = match known {
            Known::NeverWritten(value) if is_array => {
                (value, format!("`{name}` is always empty: nothing writes it"))
            }
            Known::NeverWritten(value) => {
                let message = format!("`{name}` is the constant {value}: nothing writes it");
                (value, message)
            }
            Known::WrittenOnce(value) => {
                let why = "`begin` sets it before anything reads it";
                let message = format!("`{name}` is the constant {value}: {why}");
                (value, message)
            }
        };
        fold_reads(cx.module, global, &value);
        cx.log.applied(pos, message);
        cx.log.count("reads folded", reads);
        changed = true;
    }
    changed
}

/// Why a global is constant, and which constant it is.
enum Known {
    NeverWritten(Const),
    WrittenOnce(Const),
}

fn constant(module: &Module, summaries: &Summaries, global: Global) -> Option<Known> {
    let data = &module.globals[global];
    let by_c = module.functions.iter().any(|(_, function)| match &function.code {
        FunctionCode::C { effects, .. } => effects.writes.contains(&global),
        FunctionCode::Body(_) => false,
    });
    if by_c {
        return None;
    }
    let writes = |body: &Body| -> Vec<(Block, Inst)> {
        let writes = |op: &Op| {
            op.global() == Some(global) && summaries.op(module, op).writes.contains(&global)
        };
        body.iter_insts().filter(|(_, inst)| writes(&body.insts[*inst].op)).collect()
    };
    match module.bodies().map(|body| writes(body).len()).sum() {
        0usize => Some(Known::NeverWritten(initial(data))),
        1 if !data.is_array() => {
            let mut handlers = module.handlers.iter();
            let (handler, block, inst) = handlers
                .find_map(|(id, data)| writes(&data.body).first().map(|&(b, i)| (id, b, i)))?;
            let value = stored_constant(&module.handlers[handler].body, inst)?;
            is_set_first(module, summaries, global, handler, block, inst)
                .then_some(Known::WrittenOnce(value))
        }
        _ => None,
    }
}

/// The value of a global, or of an element that is not there, before any write.
fn initial(data: &GlobalData) -> Const {
    match (&data.init, data.element) {
        (Some(init), _) => init.clone(),
        (None, ElementType::Str(_)) => Const::Str(Box::default()),
        (None, _) => Const::Long(0),
    }
}

/// The constant that a store stores, if it does.
fn stored_constant(body: &Body, inst: Inst) -> Option<Const> {
    let Op::Store(_, value) = body.insts[inst].op else { return None };
    body.iter_insts().find_map(|(_, inst)| match &body.insts[inst] {
        data if data.result == Some(value) => match &data.op {
            Op::Const(constant) => Some(constant.clone()),
            _ => None,
        },
        _ => None,
    })
}

/// Whether this store happens in every session, before anything reads the global.
fn is_set_first(
    module: &Module,
    summaries: &Summaries,
    global: Global,
    handler: Handler,
    block: Block,
    inst: Inst,
) -> bool {
    let mut points = module.probes.iter().filter(|probe| probe.handler == handler);
    let (Some(ProbeKind::Begin(order)), None) = (points.next().map(|p| &p.kind), points.next())
    else {
        return false;
    };
    let harmless = |effects: &Effects| {
        !effects.raises && !effects.aborts && !effects.exits && !effects.reads.contains(&global)
    };
    // Handlers with the same number run in an order that is not looked into here.
    let earlier = module.probes.iter().filter(|probe| {
        probe.handler != handler && matches!(probe.kind, ProbeKind::Begin(n) if n <= *order)
    });
    let mut bodies = earlier.map(|probe| &module.handlers[probe.handler].body);
    if !bodies.all(|body| harmless(&summaries.body(module, body))) {
        return false;
    }
    let body = &module.handlers[handler].body;
    let mut seen = vec![false; body.blocks.len()];
    let mut work = vec![body.entry()];
    while let Some(at) = work.pop() {
        if std::mem::replace(&mut seen[at.index()], true) {
            continue;
        }
        let data = &body.blocks[at];
        let before = data.insts.iter().take_while(|&&other| other != inst);
        // Locks do not fail while nothing else runs.
        let lockless = before.map(|&i| &body.insts[i].op).filter(|op| !matches!(op, Op::Lock(_)));
        if !lockless.map(|op| summaries.op(module, op)).all(|effects| harmless(&effects)) {
            return false;
        }
        if at != block {
            // A path that ends here does not pass the store.
            if matches!(data.terminator, Terminator::Return(_) | Terminator::Raise { .. }) {
                return false;
            }
            work.extend(data.terminator.successors().map(|call| call.block));
        }
    }
    true
}

/// The operation whose result is known if the global is constant.
fn reads(op: &Op, global: Global) -> bool {
    matches!(op, Op::Load(Place { global: read, .. }) | Op::Contains(Place { global: read, .. })
        if *read == global)
}

fn count_reads(module: &Module, global: Global) -> usize {
    let bodies = module.bodies();
    bodies
        .map(|body| body.iter_insts().filter(|(_, i)| reads(&body.insts[*i].op, global)).count())
        .sum()
}

fn fold_reads(module: &mut Module, global: Global, value: &Const) {
    for body in module.bodies_mut() {
        for inst in body.iter_insts().map(|(_, inst)| inst).collect::<Vec<_>>() {
            let data = &mut body.insts[inst];
            if !reads(&data.op, global) {
                continue;
            }
            let constant = match data.op {
                Op::Contains(_) => Const::Long(0),
                _ => value.clone(),
            };
            if let Some(result) = data.result {
                body.values[result].ty = match &constant {
                    Const::Long(_) => Type::Long,
                    Const::Str(bytes) => Type::Str(u32::try_from(bytes.len()).unwrap_or(u32::MAX)),
                };
            }
            data.op = Op::Const(constant);
        }
    }
}
