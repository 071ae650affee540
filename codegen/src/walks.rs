//! How each `foreach` walks its array: over the array itself, or over a snapshot of it.

use std::collections::{BTreeMap, BTreeSet};

use xlate_ir::entities::{Block, Function, Global, Handler, Inst, Value};
use xlate_ir::instructions::{IterSpec, Op};
use xlate_ir::module::{Body, FunctionCode, Module, ProbeKind};

use crate::facts::Facts;
use xlate_ir::effects::callees;

/// Whose body it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Owner {
    /// A function's.
    Function(Function),
    /// A handler's.
    Handler(Handler),
}

/// The static copy of an array that one `foreach` works on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Snapshot {
    /// The array.
    pub(crate) global: Global,
    /// Its number in the module; part of its name.
    pub(crate) number: usize,
    /// Whether handlers that use it can overlap, so that it has a lock.
    pub(crate) locked: bool,
}

/// The snapshots of a module.
#[derive(Default, Debug)]
pub(crate) struct Snapshots {
    by_walk: BTreeMap<(Owner, Inst), Snapshot>,
    /// The locked ones that each handler may come to use, callees included.
    locked_by: BTreeMap<Handler, Vec<Snapshot>>,
}

impl Snapshots {
    /// Finds the walks that need one.
    pub(crate) fn of(facts: &Facts) -> Snapshots {
        let module = facts.module;
        let mut by_walk = BTreeMap::new();
        for (owner, body) in owners(module) {
            for (_, inst) in body.iter_insts() {
                if let Op::IterBegin(spec) = &body.insts[inst].op
                    && needs_snapshot(facts, body, inst, spec)
                {
                    let number = by_walk.len();
                    by_walk.insert(
                        (owner, inst),
                        Snapshot { global: spec.global, number, locked: false },
                    );
                }
            }
        }
        let reach = reached_functions(module);
        let mut users: BTreeMap<(Owner, Inst), Vec<Handler>> = BTreeMap::new();
        for (handler, functions) in &reach {
            for key in by_walk.keys() {
                let uses = match key.0 {
                    Owner::Function(function) => functions.contains(&function),
                    Owner::Handler(own) => own == *handler,
                };
                if uses {
                    users.entry(*key).or_default().push(*handler);
                }
            }
        }
        let mut locked_by: BTreeMap<Handler, Vec<Snapshot>> = BTreeMap::new();
        for (key, snapshot) in &mut by_walk {
            let handlers = users.get(key).cloned().unwrap_or_default();
            snapshot.locked = can_overlap(facts, &handlers);
            if snapshot.locked {
                for handler in handlers {
                    locked_by.entry(handler).or_default().push(snapshot.clone());
                }
            }
        }
        Snapshots { by_walk, locked_by }
    }

    /// The snapshot of a walk, if it has one.
    pub(crate) fn get(&self, owner: Owner, begin: Inst) -> Option<&Snapshot> {
        self.by_walk.get(&(owner, begin))
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Snapshot> {
        self.by_walk.values()
    }

    /// Those that a handler must lock.
    pub(crate) fn locked_by(&self, handler: Handler) -> &[Snapshot] {
        self.locked_by.get(&handler).map_or(&[], Vec::as_slice)
    }
}

/// A function that calls itself, maybe by way of others, while a walk of its goes on over a copy: each
/// `foreach` has one copy, which the inner call would overwrite.
pub(crate) fn recursive_walk(facts: &Facts) -> Option<Function> {
    owners(facts.module).into_iter().find_map(|(owner, body)| {
        let Owner::Function(function) = owner else { return None };
        let calls_back = |inst: Inst| match &body.insts[inst].op {
            Op::Call(callee, _) => reaches(facts.module, *callee, function),
            _ => false,
        };
        let is_hit = body.iter_insts().any(|(_, inst)| match &body.insts[inst].op {
            Op::IterBegin(spec) => {
                needs_snapshot(facts, body, inst, spec) && holds_during(body, inst, &calls_back)
            }
            _ => false,
        });
        (facts.is_recursive(function) && is_hit).then_some(function)
    })
}

/// Whether calling one function can come to call another.
fn reaches(module: &Module, from: Function, to: Function) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![from];
    while let Some(function) = work.pop() {
        if function == to {
            return true;
        }
        if seen.insert(function)
            && let FunctionCode::Body(body) = &module.functions[function].code
        {
            work.extend(callees(body));
        }
    }
    false
}

/// Whether something holds for an instruction between the beginning of a walk and its end.
fn holds_during(body: &Body, begin: Inst, holds: &dyn Fn(Inst) -> bool) -> bool {
    let Some(walk) = body.insts[begin].result else { return false };
    let start = body.layout.iter().find_map(|&block| {
        let at = body.blocks[block].insts.iter().position(|&inst| inst == begin)?;
        Some((block, at + 1))
    });
    let mut seen = BTreeSet::new();
    let mut work: Vec<(Block, usize)> = start.into_iter().collect();
    while let Some((block, from)) = work.pop() {
        let ends = |inst: Inst| matches!(body.insts[inst].op, Op::IterEnd(ended) if ended == walk);
        let rest = &body.blocks[block].insts[from..];
        let during = rest.iter().take_while(|&&inst| !ends(inst));
        if during.clone().any(|&inst| holds(inst)) {
            return true;
        }
        if during.count() == rest.len() {
            let next = body.blocks[block].terminator.successors().map(|call| call.block);
            work.extend(next.filter(|&block| seen.insert(block)).map(|block| (block, 0)));
        }
    }
    false
}

fn owners(module: &Module) -> Vec<(Owner, &Body)> {
    let mut all = Vec::new();
    for (function, data) in module.functions.iter() {
        if let FunctionCode::Body(body) = &data.code {
            all.push((Owner::Function(function), body));
        }
    }
    all.extend(module.handlers.iter().map(|(handler, data)| (Owner::Handler(handler), &data.body)));
    all
}

/// For each handler, the functions that it may come to call.
fn reached_functions(module: &Module) -> BTreeMap<Handler, BTreeSet<Function>> {
    let mut reach = BTreeMap::new();
    for (handler, data) in module.handlers.iter() {
        let mut seen = BTreeSet::new();
        let mut work: Vec<Function> = callees(&data.body).into_iter().collect();
        while let Some(function) = work.pop() {
            if seen.insert(function)
                && let FunctionCode::Body(body) = &module.functions[function].code
            {
                work.extend(callees(body));
            }
        }
        reach.insert(handler, seen);
    }
    reach
}

/// Whether two runs of these handlers may overlap: `begin`, `end` and `error` run alone, and a timer
/// point does not overlap itself.
fn can_overlap(facts: &Facts, handlers: &[Handler]) -> bool {
    let kinds: Vec<&ProbeKind> = handlers
        .iter()
        .flat_map(|&handler| facts.points(handler))
        .map(|point| &point.kind)
        .filter(|kind| {
            !matches!(kind, ProbeKind::Begin(_) | ProbeKind::End(_) | ProbeKind::Error(_))
        })
        .collect();
    !matches!(kinds[..], [] | [ProbeKind::Timer { .. }])
}

/// Whether a walk must work on a copy: to sort it, or because the array may change or lose its lock
/// before the walk ends.
fn needs_snapshot(facts: &Facts, body: &Body, begin: Inst, spec: &IterSpec) -> bool {
    // What is outside of a slice is left out when the snapshot is made.
    if spec.sort.is_some() || spec.slice.iter().any(Option::is_some) {
        return true;
    }
    let Some(walk) = body.insts[begin].result else { return false };
    let Some(start) = body.iter_insts().find(|(_, inst)| *inst == begin).map(|(block, _)| block)
    else {
        return false;
    };
    let mut seen = BTreeSet::new();
    let mut work: Vec<(Block, usize)> = Vec::new();
    let after =
        body.blocks[start].insts.iter().position(|&inst| inst == begin).map_or(0, |n| n + 1);
    work.push((start, after));
    while let Some((block, from)) = work.pop() {
        match scan(facts, body, block, from, walk, spec.global) {
            Outcome::Changes => return true,
            Outcome::Ends => {}
            Outcome::GoesOn => {
                for call in body.blocks[block].terminator.successors() {
                    if seen.insert(call.block) {
                        work.push((call.block, 0));
                    }
                }
            }
        }
    }
    false
}

enum Outcome {
    Changes,
    Ends,
    GoesOn,
}

fn scan(
    facts: &Facts,
    body: &Body,
    block: Block,
    from: usize,
    walk: Value,
    array: Global,
) -> Outcome {
    for &inst in &body.blocks[block].insts[from..] {
        match &body.insts[inst].op {
            Op::IterEnd(ended) if *ended == walk => return Outcome::Ends,
            Op::Unlock(globals)
                if globals.iter().any(|&g| facts.lock_of(g) == facts.lock_of(array)) =>
            {
                return Outcome::Changes;
            }
            op if facts.effects(op).writes.contains(&array) => return Outcome::Changes,
            _ => {}
        }
    }
    Outcome::GoesOn
}

/// The name of a snapshot.
pub(crate) fn snapshot_name(array: &str, snapshot: &Snapshot) -> String {
    format!("{array}_snapshot_{}", snapshot.number)
}
