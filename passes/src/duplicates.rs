//! Duplicate elimination: functions, and handlers, that are equal up to the names of locals become one.
//!
//! Assumes clean bodies: what differs only in unneeded code is not found. Positions are compared where
//! a message names them and ignored elsewhere. Functions are merged to a fixed point, for merging two
//! can make their callers equal. Handlers are merged where both run alone or neither does; disciplines
//! must be chosen after that, since a merged handler can overlap itself. Guarantees that no two
//! functions, and no two handlers of a kind, are equal in this sense.
//!
//! Handlers that differ in literals only are not merged yet: the record of a probe point is the place
//! for those.

use std::collections::BTreeMap;

use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Entity, Function, Handler};
use xlate_ir::instructions::{Op, Terminator};
use xlate_ir::module::{Body, FunctionCode, Module};

use crate::manager::ModuleContext;

/// Runs `duplicate-functions`.
pub(crate) fn run_functions(cx: &mut ModuleContext<'_>) -> bool {
    let mut merged = 0;
    loop {
        let twins = twin_functions(cx.module);
        let round = twins.iter().filter(|twin| twin.is_some()).count();
        if round == 0 {
            cx.log.count("functions merged", merged);
            return merged > 0;
        }
        merged += round;
        for (function, data) in cx.module.functions.iter() {
            if let Some(twin) = twins[function.index()] {
                let other = &cx.module.functions[twin].name;
                cx.log.applied(data.pos, format!("`{}` is the same as `{other}`", data.name));
            }
        }
        cx.module.rename_callees(|function| twins[function.index()].unwrap_or(function));
        cx.module.retain_functions(|function| twins[function.index()].is_none());
    }
}

/// For each function, an earlier one that is equal.
fn twin_functions(module: &Module) -> Vec<Option<Function>> {
    let summaries = Summaries::of(module);
    let mut first: BTreeMap<String, Function> = BTreeMap::new();
    let twin = |(function, data): (Function, &xlate_ir::module::FunctionData)| {
        let code = match &data.code {
            FunctionCode::Body(body) => shape(module, &summaries, body, Some(function)),
            // Static variables of C are state of each function.
            FunctionCode::C { text, .. } if text.contains("static") => return None,
            FunctionCode::C { text, names, effects } => format!("{text:?} {names:?} {effects:?}"),
        };
        let key = format!("{:?} {:?} {code}", data.params, data.result);
        let earliest = *first.entry(key).or_insert(function);
        (earliest != function).then_some(earliest)
    };
    module.functions.iter().map(twin).collect()
}

/// Runs `duplicate-handlers`.
pub(crate) fn run_handlers(cx: &mut ModuleContext<'_>) -> bool {
    let summaries = Summaries::of(cx.module);
    let mut groups: BTreeMap<String, Vec<Handler>> = BTreeMap::new();
    for (handler, data) in cx.module.handlers.iter() {
        let code = shape(cx.module, &summaries, &data.body, None);
        let key = format!("{} {:?} {code}", cx.module.is_exclusive(handler), data.record);
        groups.entry(key).or_default().push(handler);
    }
    let mut twins: Vec<Option<Handler>> = vec![None; cx.module.handlers.len()];
    let mut groups: Vec<Vec<Handler>> = groups.into_values().filter(|g| g.len() > 1).collect();
    groups.sort();
    for group in &groups {
        for &handler in &group[1..] {
            twins[handler.index()] = Some(group[0]);
        }
        let pos = cx.module.handlers[group[0]].pos;
        let message = format!("{} handlers are the same: one body serves them all", group.len());
        cx.log.applied(pos, message);
    }
    for probe in &mut cx.module.probes {
        probe.handler = twins[probe.handler.index()].unwrap_or(probe.handler);
    }
    let merged = cx.module.retain_handlers(|handler| twins[handler.index()].is_none());
    cx.log.count("handlers merged", merged);
    merged > 0
}

/// What a body does, as text: equal for bodies that are equal up to the names of locals. A call of
/// the function itself is one of whatever stands for it.
fn shape(module: &Module, summaries: &Summaries, body: &Body, own: Option<Function>) -> String {
    let mut body = body.renumbered();
    for inst in body.iter_insts().map(|(_, inst)| inst).collect::<Vec<_>>() {
        let data = &mut body.insts[inst];
        let effects = summaries.op(module, &data.op);
        // A lock is not what a message is about.
        if !(effects.raises || effects.aborts) || matches!(data.op, Op::Lock(_)) {
            data.pos = None;
        }
        if let Op::Call(function, _) = &mut data.op
            && Some(*function) == own
        {
            *function = Function::from_index(u32::MAX as usize);
        }
    }
    let mut text = String::new();
    for &block in &body.layout {
        let data = &body.blocks[block];
        let types = |values: &[xlate_ir::entities::Value]| -> Vec<xlate_ir::types::Type> {
            values.iter().map(|&value| body.type_of(value)).collect()
        };
        text += &format!("{block}{:?};", types(&data.params));
        for &inst in &data.insts {
            let data = &body.insts[inst];
            let result = data.result.map(|result| body.type_of(result));
            text += &format!("{:?}{result:?}{:?};", data.op, data.pos);
        }
        let terminator: &Terminator = &data.terminator;
        text += &format!("{terminator:?}\n");
    }
    text
}
