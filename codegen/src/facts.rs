//! What the emitter knows of the whole module before it emits any of it.

use std::collections::BTreeSet;

use xlate_ir::effects::{Effects, Summaries, call_components, callees};
use xlate_ir::entities::{Entity, Function, Global, Handler, Value};
use xlate_ir::instructions::{Op, SortKey, StatField, Terminator};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::{Body, FunctionCode, Module, ProbeKind, ProbePoint};
use xlate_ir::sharing::{Sharing, Side, is_bare, is_concurrent};
use xlate_ir::types::{Discipline, Pos, Type};

use crate::repr::Repr;
use crate::walks::Owner;

/// A field of a statistic's struct in C.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Field {
    /// Number of values. Always there.
    Count,
    /// Their sum.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// What the variance is computed from.
    Squares,
}

/// Facts of a module.
pub(crate) struct Facts<'m> {
    /// The module.
    pub(crate) module: &'m Module,
    /// Who does what to its globals.
    pub(crate) sharing: Sharing,
    summaries: Summaries,
    fields: Vec<BTreeSet<Field>>,
    recursive: BTreeSet<Function>,
    /// Per function: what it or its callees ask of the session.
    wants: Vec<Wants>,
}

/// What code asks of its surroundings, its callees included.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Wants {
    /// It counts actions.
    pub(crate) actions: bool,
    /// It asks for the probe point as resolved.
    pub(crate) pp: bool,
    /// It asks for the probe point as written.
    pub(crate) pn: bool,
}

impl Wants {
    fn join(&mut self, other: Wants) {
        self.actions |= other.actions;
        self.pp |= other.pp;
        self.pn |= other.pn;
    }
}

impl<'m> Facts<'m> {
    /// Finds them.
    pub(crate) fn of(module: &'m Module) -> Facts<'m> {
        let mut recursive = BTreeSet::new();
        let mut wants = vec![Wants::default(); module.functions.len()];
        for component in call_components(module) {
            let mut joined = Wants::default();
            for &function in &component.functions {
                if let FunctionCode::Body(body) = &module.functions[function].code {
                    joined.join(own_wants(body));
                    for callee in callees(body) {
                        joined.join(wants[callee.index()]);
                    }
                }
            }
            for &function in &component.functions {
                wants[function.index()] = joined;
                let is_body = matches!(module.functions[function].code, FunctionCode::Body(_));
                if component.recursive || (is_body && module.limits.max_nesting.is_some()) {
                    recursive.insert(function);
                }
            }
        }
        Facts {
            module,
            sharing: Sharing::of(module),
            summaries: Summaries::of(module),
            fields: stat_fields(module),
            recursive,
            wants,
        }
    }

    /// What an operation may do.
    pub(crate) fn effects(&self, op: &Op) -> Effects {
        self.summaries.op(self.module, op)
    }

    /// Whether calls of a function count as nesting: if it can be active twice, or if the limit is
    /// given, which then holds for all.
    pub(crate) fn is_recursive(&self, function: Function) -> bool {
        self.recursive.contains(&function)
    }

    /// The longest chain of calls, each group of functions that call each other counted once each.
    pub(crate) fn call_depth(&self) -> u32 {
        let mut depths = vec![0_u32; self.module.functions.len()];
        for component in call_components(self.module) {
            let mut depth = 0;
            for &function in &component.functions {
                if let FunctionCode::Body(body) = &self.module.functions[function].code {
                    for callee in callees(body) {
                        depth = depth.max(depths[callee.index()]);
                    }
                }
            }
            let size = u32::try_from(component.functions.len()).unwrap_or(u32::MAX);
            for &function in &component.functions {
                depths[function.index()] = depth.saturating_add(size);
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// Whether any function is recursive.
    pub(crate) fn has_recursion(&self) -> bool {
        !self.recursive.is_empty()
    }

    /// The fields that a statistic keeps, `count` first.
    pub(crate) fn fields(&self, global: Global) -> &BTreeSet<Field> {
        &self.fields[global.index()]
    }

    /// How many statements of an update use the value that is added.
    pub(crate) fn stat_updates(&self, global: Global) -> usize {
        let uses = self.fields(global).len() - 1;
        uses + usize::from(self.module.globals[global].histogram.is_some())
    }

    /// Calls `f` with the operands of an operation that its C reads.
    pub(crate) fn for_each_operand(&self, op: &Op, mut f: impl FnMut(Value)) {
        match op {
            Op::StatAdd(place, _) if self.stat_updates(place.global) == 0 => {
                place.keys.iter().copied().for_each(f);
            }
            _ => op.for_each_operand(&mut f),
        }
    }

    /// Whether a function's string is written to a place that the caller gives.
    pub(crate) fn returns_view(&self, function: Function) -> bool {
        let data = &self.module.functions[function];
        data.result.is_some_and(|ty| match data.code {
            FunctionCode::Body(_) => Repr::of(ty) == Repr::View,
            FunctionCode::C { .. } => ty.is_str(),
        })
    }

    /// A position as messages and comments name it; empty if there is none.
    pub(crate) fn position(&self, pos: Option<Pos>) -> String {
        pos.map_or_else(String::new, |pos| {
            let file = self.module.files.get(pos.file).map_or("?", String::as_str);
            format!("{file}:{}:{}", pos.line, pos.column)
        })
    }

    /// What a body asks of its surroundings.
    pub(crate) fn wants(&self, body: &Body) -> Wants {
        let mut wants = own_wants(body);
        for callee in callees(body) {
            wants.join(self.wants[callee.index()]);
        }
        wants
    }

    /// What the callees of a body ask of the probe point that fired.
    pub(crate) fn callee_queries(&self, body: &Body) -> Vec<Intrinsic> {
        let mut wants = Wants::default();
        for callee in callees(body) {
            wants.join(self.wants[callee.index()]);
        }
        let all = [(wants.pp, Intrinsic::Pp), (wants.pn, Intrinsic::Pn)];
        all.into_iter().filter(|(wanted, _)| *wanted).map(|(_, intrinsic)| intrinsic).collect()
    }

    /// The probe points of a handler, in script order, but for those that never fire.
    pub(crate) fn points(&self, handler: Handler) -> impl Iterator<Item = &'m ProbePoint> {
        self.module
            .probes
            .iter()
            .filter(move |point| point.handler == handler && point.kind != ProbeKind::Never)
    }

    /// The side of a global that a body is on; `None` if it is not sharded.
    pub(crate) fn side(&self, owner: Owner, global: Global) -> Option<Side> {
        let is_sharded = self.module.globals[global].discipline.is_sharded();
        is_sharded.then(|| match owner {
            Owner::Handler(handler) => self.sharing.side(self.module, handler, global),
            Owner::Function(function) => self.sharing.function_side(self.module, function, global),
        })
    }

    /// Whether a body touches a global by atomic operations.
    pub(crate) fn is_atomic(&self, owner: Owner, global: Global) -> bool {
        let is_lone = self.module.globals[global].discipline == Discipline::Lone;
        is_lone && matches!(owner, Owner::Handler(handler) if !self.module.is_exclusive(handler))
    }

    /// Whether a handler needs no claim on the context of its CPU.
    pub(crate) fn is_bare(&self, handler: Handler) -> bool {
        is_bare(self.module, &self.summaries, handler)
    }

    /// Whether every handler that can run beside others is bare, so that none is worth timing.
    pub(crate) fn all_bare(&self) -> bool {
        let all = self.module.handlers.iter().map(|(handler, _)| handler);
        all.filter(|&handler| is_concurrent(self.module, handler))
            .all(|handler| self.is_bare(handler))
    }

    /// Whether some handler may end with an error.
    pub(crate) fn may_raise(&self) -> bool {
        let is_foreign = |op: &Op| matches!(op, Op::CStatement(_) | Op::CExpression(_));
        let may_raise = |op: &Op| {
            let effects = self.effects(op);
            let is_lock = matches!(op, Op::Lock(_));
            is_foreign(op) || (!is_lock && (effects.raises || effects.aborts))
        };
        let mut functions = self.module.functions.iter();
        functions.any(|(_, data)| matches!(data.code, FunctionCode::C { .. }))
            || bodies(self.module).any(|body| {
                let mut ends = body.layout.iter().map(|&block| &body.blocks[block].terminator);
                ends.any(|end| matches!(end, Terminator::Raise { .. }))
                    || body.iter_insts().any(|(_, inst)| may_raise(&body.insts[inst].op))
            })
    }

    /// Whether some sharded global has shards that are allocated, or locks.
    pub(crate) fn has_shards(&self) -> bool {
        self.module.globals.iter().any(|(_, data)| match data.discipline {
            Discipline::ShardedLocked | Discipline::ShardedLockedWith(_) => true,
            discipline => discipline.is_sharded() && crate::shards::is_allocated(data),
        })
    }

    /// The most elements of an array whose shards are guarded by locks; `None` without such an array.
    pub(crate) fn guarded_entries(&self) -> Option<u32> {
        let globals = self.module.globals.iter();
        globals
            .filter(|(id, data)| {
                data.is_array() && data.discipline.is_sharded() && self.lock_of(*id).is_some()
            })
            .map(|(_, data)| data.max_entries.max(1))
            .max()
    }

    /// The global whose lock guards a global; `None` if none does.
    pub(crate) fn lock_of(&self, global: Global) -> Option<Global> {
        self.module.lock_of(global)
    }

    /// Whether the operand of an operation is stored or passed as a name, so that any expression for
    /// one will do.
    pub(crate) fn takes_name(&self, op: &Op, index: usize) -> bool {
        let is_name = |ty: Type| Repr::of(ty) == Repr::Name;
        let element_is_name =
            |global: Global| self.module.globals[global].element.value_type().is_some_and(is_name);
        match op {
            Op::Call(function, _) => {
                let data = &self.module.functions[*function];
                matches!(data.code, FunctionCode::Body(_))
                    && data.params.get(index).copied().is_some_and(is_name)
            }
            _ => op.place().is_some_and(|place| {
                match self.module.globals[place.global].keys.get(index) {
                    Some(key) => is_name(*key),
                    None => matches!(op, Op::Store(..)) && element_is_name(place.global),
                }
            }),
        }
    }
}

fn own_wants(body: &Body) -> Wants {
    let mut wants = Wants::default();
    for (_, inst) in body.iter_insts() {
        match &body.insts[inst].op {
            Op::Action => wants.actions = true,
            Op::Intrinsic(Intrinsic::Pp, _) => wants.pp = true,
            Op::Intrinsic(Intrinsic::Pn, _) => wants.pn = true,
            _ => {}
        }
    }
    wants
}

/// The fields that each statistic keeps: those that the module reads, and what they need.
fn stat_fields(module: &Module) -> Vec<BTreeSet<Field>> {
    let mut fields = vec![BTreeSet::from([Field::Count]); module.globals.len()];
    for body in bodies(module) {
        let mut walked = vec![None; body.values.len()];
        for (_, inst) in body.iter_insts() {
            let data = &body.insts[inst];
            let read = match &data.op {
                Op::StatGet(field, place) => Some((place.global, *field)),
                Op::IterBegin(spec) => {
                    if let Some(result) = data.result {
                        walked[result.index()] = Some(spec.global);
                    }
                    match spec.sort {
                        Some((SortKey::Stat(field), _)) => Some((spec.global, field)),
                        _ => None,
                    }
                }
                Op::IterStat(walk, field) => walked[walk.index()].map(|global| (global, *field)),
                _ => None,
            };
            if let Some((global, field)) = read {
                fields[global.index()].extend(fields_for(field));
            }
        }
    }
    fields
}

fn fields_for(field: StatField) -> &'static [Field] {
    match field {
        StatField::Count => &[],
        StatField::Sum => &[Field::Sum],
        StatField::Min => &[Field::Min],
        StatField::Max => &[Field::Max],
        StatField::Avg => &[Field::Sum],
        StatField::Variance(_) => &[Field::Sum, Field::Squares],
    }
}

/// All bodies of a module.
pub(crate) fn bodies(module: &Module) -> impl Iterator<Item = &Body> {
    let functions = module.functions.iter().filter_map(|(_, data)| match &data.code {
        FunctionCode::Body(body) => Some(body),
        FunctionCode::C { .. } => None,
    });
    functions.chain(module.handlers.iter().map(|(_, data)| &data.body))
}
