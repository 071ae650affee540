//! Effect summaries: the only thing that passes ask of an instruction before they move, merge or
//! drop it.

use std::collections::BTreeSet;

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

use crate::entities::{Entity, Function, Global};
use crate::format::{Conversion, ConversionKind, Format, Piece};
use crate::global_set::GlobalSet;
use crate::instructions::{BinaryOp, Op, StatField, Terminator};
use crate::intrinsics::Intrinsic;
use crate::module::{Body, FunctionCode, Module};

/// How a result depends on when it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Invariance {
    /// The same operands give the same result, always.
    #[default]
    Pure,
    /// The same operands give the same result throughout one run of a handler.
    Handler,
    /// Each evaluation may give another result.
    Volatile,
}

/// What an instruction, a function or a stretch of code may do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// Globals that it may read.
    pub reads: GlobalSet,
    /// Globals that it may write.
    pub writes: GlobalSet,
    /// It may raise a catchable error.
    pub raises: bool,
    /// It may end the handler past every catch (action and nesting limits, a failed lock).
    pub aborts: bool,
    /// It does something else that must happen once and in order: output, messages, session state,
    /// C of the script.
    pub acts: bool,
    /// It may ask for the end of the session.
    pub exits: bool,
    /// It moves an iterator: state that only this run of the handler sees.
    pub advances: bool,
    /// It relies on a check or branch before it, and must not be done where that has not been passed.
    /// Of an operation only: a function makes sure of what it relies on itself.
    pub guarded: bool,
    /// How its result depends on when it is asked for, globals aside.
    pub invariance: Invariance,
}

impl Effects {
    /// Whether it may be dropped when its result is not used.
    pub fn is_removable(&self) -> bool {
        self.writes.is_empty() && !self.raises && !self.aborts && !self.acts && !self.advances
    }

    /// Whether two of it with the same operands, one dominating the other in the same handler run,
    /// are one.
    pub fn is_mergeable(&self) -> bool {
        self.is_removable() && self.reads.is_empty() && self.invariance != Invariance::Volatile
    }

    /// Whether others can tell that it happened: it writes globals or acts.
    pub fn is_observable(&self) -> bool {
        !self.writes.is_empty() || self.acts
    }

    /// Adds what another may do, but for what it relies on.
    pub fn join(&mut self, other: &Effects) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.raises |= other.raises;
        self.aborts |= other.aborts;
        self.acts |= other.acts;
        self.exits |= other.exits;
        self.advances |= other.advances;
        self.invariance = self.invariance.max(other.invariance);
    }
}

/// What each function of a module may do, to a fixed point over the call graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summaries {
    functions: Vec<Effects>,
}

impl Summaries {
    /// The summaries of all functions of a module.
    pub fn of(module: &Module) -> Summaries {
        let mut summaries =
            Summaries { functions: vec![Effects::default(); module.functions.len()] };
        let limited = module.limits.max_nesting.is_some();
        for component in call_components(module) {
            // Deeper calls than the nesting limit end the handler: possible in a recursion, and
            // anywhere if the limit is given.
            for &function in &component.functions {
                summaries.functions[function.index()].aborts = limited || component.recursive;
            }
            let mut changed = true;
            while changed {
                changed = false;
                for &function in &component.functions {
                    let mut effects = summaries.functions[function.index()].clone();
                    match &module.functions[function].code {
                        FunctionCode::Body(body) => effects.join(&summaries.body(module, body)),
                        FunctionCode::C { effects: declared, .. } => {
                            effects.join(declared);
                            effects.exits |= declared.acts;
                        }
                    }
                    if effects != summaries.functions[function.index()] {
                        summaries.functions[function.index()] = effects;
                        changed = true;
                    }
                }
            }
        }
        summaries
    }

    /// What a call of a function may do.
    pub fn function(&self, function: Function) -> &Effects {
        &self.functions[function.index()]
    }

    /// What a body may do: errors that it catches itself do not count.
    pub fn body(&self, module: &Module, body: &Body) -> Effects {
        let mut total = Effects::default();
        for &block in &body.layout {
            let data = &body.blocks[block];
            for (index, &inst) in data.insts.iter().enumerate() {
                let mut effects = self.op(module, &body.insts[inst].op);
                let last = index + 1 == data.insts.len();
                if last && matches!(data.terminator, Terminator::Try(..)) {
                    effects.raises = false;
                }
                total.join(&effects);
            }
            total.raises |= matches!(data.terminator, Terminator::Raise { catch: None, .. });
        }
        total
    }

    /// What an operation may do.
    pub fn op(&self, module: &Module, op: &Op) -> Effects {
        let mut effects = Effects::default();
        match op {
            Op::Const(_) | Op::Unary(..) | Op::Compare(..) | Op::Match(..) => {}
            Op::Binary(op, ..) => effects.guarded = op.is_guarded(),
            Op::Record(_) => effects.invariance = Invariance::Handler,
            Op::Intrinsic(intrinsic, _) => {
                let row = intrinsic.signature();
                effects.acts = row.acts;
                effects.aborts = row.aborts;
                effects.exits = *intrinsic == Intrinsic::Exit;
                effects.guarded = row.guarded;
                effects.invariance = row.invariance;
            }
            Op::Call(function, _) => {
                if let Some(callee) = self.functions.get(function.index()) {
                    effects = callee.clone();
                }
            }
            Op::Load(place)
            | Op::Contains(place)
            | Op::StatGet(_, place)
            | Op::Bucket(place, _)
            | Op::BucketCount(place) => {
                effects.reads.insert(place.global);
            }
            Op::Store(place, _) | Op::Delete(place) => {
                effects.writes.insert(place.global);
            }
            Op::Update(_, place, _) | Op::Fetch(_, place, _) | Op::StatAdd(place, _) => {
                effects.reads.insert(place.global);
                effects.writes.insert(place.global);
            }
            Op::Clear(global) => {
                effects.writes.insert(*global);
            }
            Op::IterBegin(spec) => {
                effects.reads.insert(spec.global);
                effects.advances = true;
            }
            Op::IterNext(_) | Op::IterEnd(_) => {
                effects.advances = true;
                effects.invariance = Invariance::Volatile;
            }
            Op::IterKey(..) | Op::IterValue(_) | Op::IterStat(..) | Op::Caught => {
                effects.invariance = Invariance::Volatile;
            }
            Op::Print(..) => effects.acts = true,
            Op::Format(format, _) if reads_memory(format) => {
                effects.invariance = Invariance::Volatile;
            }
            Op::Format(..) => {}
            Op::PrintHistogram(place) => {
                effects.reads.insert(place.global);
                effects.acts = true;
            }
            Op::Action => effects.aborts = true,
            Op::CStatement(_) | Op::CExpression(_) => {
                effects.acts = true;
                effects.exits = true;
                effects.invariance = Invariance::Volatile;
            }
            Op::Lock(_) => {
                effects.acts = true;
                effects.aborts = true;
            }
            Op::Unlock(_) => effects.acts = true,
        }
        if !matches!(op, Op::Call(..)) {
            effects.raises = may_raise(module, op);
        }
        effects
    }
}

/// Whether an operation is of a kind that may raise, judged without the bodies of functions: a call
/// of a script function counts. Where it raises nothing after all, a pass finds out.
pub fn may_raise(module: &Module, op: &Op) -> bool {
    // An array that wraps is never full.
    let may_fill = |global: Global| {
        module.globals.get(global).is_some_and(|data| data.is_array() && !data.wrap)
    };
    match op {
        Op::Binary(BinaryOp::Div | BinaryOp::Rem, ..) | Op::Bucket(..) => true,
        Op::Intrinsic(intrinsic, _) => intrinsic.signature().raises,
        Op::Call(function, _) => {
            module.functions.get(*function).is_some_and(|data| match &data.code {
                FunctionCode::Body(_) => true,
                FunctionCode::C { effects, .. } => effects.raises,
            })
        }
        Op::Store(place, _) | Op::Update(_, place, _) | Op::StatAdd(place, _) => {
            may_fill(place.global)
        }
        Op::StatGet(field, _) | Op::IterStat(_, field) => {
            !matches!(field, StatField::Count | StatField::Sum)
        }
        Op::Print(format, _) | Op::Format(format, _) => reads_memory(format),
        _ => false,
    }
}

/// Whether a format dereferences addresses.
fn reads_memory(format: &Format) -> bool {
    let reads = |kind| matches!(kind, ConversionKind::Memory | ConversionKind::MemoryHex);
    format
        .pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Conversion(Conversion { kind, .. }) if reads(*kind)))
}

/// Functions that call each other, or one that does not call itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Component {
    /// The functions, in order of id.
    pub functions: Vec<Function>,
    /// Whether one can be active twice.
    pub recursive: bool,
}

/// The strongly connected components of the call graph, callees before callers.
pub fn call_components(module: &Module) -> Vec<Component> {
    let mut graph: DiGraph<Function, ()> = DiGraph::new();
    let nodes: Vec<_> = module.functions.iter().map(|(id, _)| graph.add_node(id)).collect();
    for (caller, data) in module.functions.iter() {
        if let FunctionCode::Body(body) = &data.code {
            for callee in callees(body) {
                if callee.index() < nodes.len() {
                    graph.update_edge(nodes[caller.index()], nodes[callee.index()], ());
                }
            }
        }
    }
    tarjan_scc(&graph)
        .into_iter()
        .map(|component| {
            let recursive = component.len() > 1 || graph.contains_edge(component[0], component[0]);
            let mut functions: Vec<Function> = component.iter().map(|&node| graph[node]).collect();
            functions.sort();
            Component { functions, recursive }
        })
        .collect()
}

/// The functions that a body calls.
pub fn callees(body: &Body) -> BTreeSet<Function> {
    body.iter_insts()
        .filter_map(|(_, inst)| match &body.insts[inst].op {
            Op::Call(function, _) => Some(*function),
            _ => None,
        })
        .collect()
}
