//! String bounds: how long strings can get, as types.
//!
//! Assumes nothing. Guarantees that the bound of each string value, parameter, result, global, array
//! key and element is the least that the bounds of what flows into it allow, so that the back end can
//! keep short keys as words and give buffers their size. What C of the script names, module parameters
//! and constant records keep the types that they have.
//!
//! The bounds are the least fixed point of the flow, from zero upwards; a string that grows in a cycle
//! gets its declared bound after a few rounds (widening: P. Cousot and R. Cousot, "Abstract
//! Interpretation: A Unified Lattice Model for Static Analysis of Programs", 1977). A key that is only
//! looked up counts, too: it is compared in the form in which keys are stored.

use xlate_ir::entities::{Entity, Function, Global, Value};
use xlate_ir::instructions::{Op, Place, Terminator};
use xlate_ir::module::{Body, FunctionCode, Module};
use xlate_ir::types::{Const, ElementType, Type};
use xlate_ir::typing::{Outcome, outcome};

use crate::manager::{ModuleContext, Owner, put_body, take_body};

/// Rounds in which bounds grow step by step; after them, what still grows gets its declared bound.
const PATIENCE: u32 = 8;

/// Runs the pass.
pub(crate) fn run(cx: &mut ModuleContext<'_>) -> bool {
    let declared = cx.module.clone();
    let fixed = named_by_c(&declared);
    lower_globals(cx.module, &fixed);
    lower_functions(cx.module);
    cx.module.bodies_mut().for_each(lower_values);
    let mut flow = Flow { module: cx.module, declared: &declared, round: 0, changed: true };
    while flow.changed {
        flow.changed = false;
        for owner in owners(&declared) {
            flow.body(owner);
        }
        flow.round += 1;
    }
    remark(cx, &declared)
}

fn owners(module: &Module) -> Vec<Owner> {
    let functions = module.functions.iter().map(|(id, _)| Owner::Function(id));
    functions.chain(module.handlers.iter().map(|(id, _)| Owner::Handler(id))).collect()
}

/// By global: whether C of the script, or a module parameter, reads or writes it in its own way.
fn named_by_c(module: &Module) -> Vec<bool> {
    let mut named: Vec<bool> = module.globals.iter().map(|(_, data)| data.parameter).collect();
    for (_, function) in module.functions.iter() {
        if let FunctionCode::C { effects, .. } = &function.code {
            for global in effects.reads.union(&effects.writes) {
                named[global.index()] = true;
            }
        }
    }
    named
}

fn lower_globals(module: &mut Module, fixed: &[bool]) {
    for (global, data) in module.globals.iter_mut() {
        if fixed[global.index()] {
            continue;
        }
        data.keys.iter_mut().for_each(lower);
        if let ElementType::Str(bound) = &mut data.element {
            *bound = match &data.init {
                Some(Const::Str(bytes)) => u32::try_from(bytes.len()).unwrap_or(*bound),
                _ => 0,
            };
        }
    }
}

fn lower_functions(module: &mut Module) {
    for (_, data) in module.functions.iter_mut() {
        if let FunctionCode::Body(_) = data.code {
            data.params.iter_mut().for_each(lower);
            data.result.iter_mut().for_each(lower);
        }
    }
}

/// Lowers the values of a body whose type follows from operands.
fn lower_values(body: &mut Body) {
    let mut flowing: Vec<Value> = Vec::new();
    for &block in &body.layout {
        flowing.extend(&body.blocks[block].params);
    }
    for (_, inst) in body.iter_insts() {
        let data = &body.insts[inst];
        if !matches!(data.op, Op::Record(_) | Op::CExpression(_)) {
            flowing.extend(data.result);
        }
    }
    flowing.into_iter().for_each(|value| lower(&mut body.values[value].ty));
}

fn lower(ty: &mut Type) {
    if ty.is_str() {
        *ty = Type::Str(0);
    }
}

/// Lets bounds flow until they rest.
struct Flow<'a> {
    module: &'a mut Module,
    declared: &'a Module,
    round: u32,
    changed: bool,
}

impl Flow<'_> {
    /// The bound that a slot gets when something of bound `from` flows into it.
    fn grown(&mut self, now: Type, from: Type, declared: Type) -> Type {
        match (now, from, declared) {
            (Type::Str(now), Type::Str(from), Type::Str(most)) if from > now && now < most => {
                self.changed = true;
                Type::Str(if self.round < PATIENCE { from.min(most) } else { most })
            }
            _ => now,
        }
    }

    fn body(&mut self, owner: Owner) {
        let Some(mut body) = take_body(self.module, owner) else { return };
        let declared = match owner {
            Owner::Handler(handler) => &self.declared.handlers[handler].body,
            Owner::Function(function) => match &self.declared.functions[function].code {
                FunctionCode::Body(body) => body,
                FunctionCode::C { .. } => return,
            },
        };
        self.parameters(owner, &mut body, declared);
        self.instructions(&mut body, declared);
        self.terminators(owner, &mut body, declared);
        put_body(self.module, owner, body);
    }

    /// From a function's parameters to those of its entry block.
    fn parameters(&mut self, owner: Owner, body: &mut Body, declared: &Body) {
        let Owner::Function(function) = owner else { return };
        let params = self.module.functions[function].params.clone();
        let entry = body.entry();
        for (value, ty) in body.blocks[entry].params.clone().into_iter().zip(params) {
            self.value(body, declared, value, ty);
        }
    }

    fn value(&mut self, body: &mut Body, declared: &Body, value: Value, from: Type) {
        let now = body.type_of(value);
        body.values[value].ty = self.grown(now, from, declared.type_of(value));
    }

    fn instructions(&mut self, body: &mut Body, declared: &Body) {
        let mut walked: Vec<Option<Global>> = vec![None; body.values.len()];
        for inst in body.iter_insts().map(|(_, inst)| inst).collect::<Vec<_>>() {
            let data = &body.insts[inst];
            if let (Op::IterBegin(spec), Some(result)) = (&data.op, data.result) {
                walked[result.index()] = Some(spec.global);
            }
            let given = outcome(
                self.module,
                &data.op,
                |value| body.type_of(value),
                |iter| walked[iter.index()],
            );
            let (op, result) = (data.op.clone(), data.result);
            if let (Outcome::Value(ty), Some(result)) = (given, result) {
                self.value(body, declared, result, ty);
            }
            self.flow_to_globals(&op, body);
            if let Op::Call(function, args) = &op {
                self.flow_to_parameters(*function, args, body);
            }
        }
    }

    fn flow_to_globals(&mut self, op: &Op, body: &Body) {
        match op {
            Op::Store(place, value) => {
                self.keys(place, body);
                self.element(place.global, body.type_of(*value));
            }
            Op::IterBegin(spec) => {
                for (n, value) in spec.slice.iter().enumerate() {
                    if let Some(value) = value {
                        self.key(spec.global, n, body.type_of(*value));
                    }
                }
            }
            _ => {
                if let Some(place) = op.place() {
                    self.keys(place, body);
                }
            }
        }
    }

    fn keys(&mut self, place: &Place, body: &Body) {
        for (n, &key) in place.keys.iter().enumerate() {
            self.key(place.global, n, body.type_of(key));
        }
    }

    fn key(&mut self, global: Global, n: usize, from: Type) {
        let (now, declared) =
            (self.module.globals[global].keys[n], self.declared.globals[global].keys[n]);
        self.module.globals[global].keys[n] = self.grown(now, from, declared);
    }

    fn element(&mut self, global: Global, from: Type) {
        let now = self.module.globals[global].element;
        let declared = self.declared.globals[global].element;
        let (Some(now), Some(declared)) = (now.value_type(), declared.value_type()) else { return };
        if let Type::Str(bound) = self.grown(now, from, declared) {
            self.module.globals[global].element = ElementType::Str(bound);
        }
    }

    fn flow_to_parameters(&mut self, function: Function, args: &[Value], body: &Body) {
        if let FunctionCode::C { .. } = self.declared.functions[function].code {
            return;
        }
        for (n, &arg) in args.iter().enumerate() {
            let now = self.module.functions[function].params[n];
            let declared = self.declared.functions[function].params[n];
            self.module.functions[function].params[n] =
                self.grown(now, body.type_of(arg), declared);
        }
    }

    fn terminators(&mut self, owner: Owner, body: &mut Body, declared: &Body) {
        for block in body.layout.clone() {
            let terminator = body.blocks[block].terminator.clone();
            for call in terminator.successors() {
                let params = body.blocks[call.block].params.clone();
                for (param, &arg) in params.into_iter().zip(&call.args) {
                    let from = body.type_of(arg);
                    self.value(body, declared, param, from);
                }
            }
            if let (Terminator::Return(Some(value)), Owner::Function(function)) =
                (&terminator, owner)
                && let Some(now) = self.module.functions[function].result
                && let Some(most) = self.declared.functions[function].result
            {
                let result = self.grown(now, body.type_of(*value), most);
                self.module.functions[function].result = Some(result);
            }
        }
    }
}

/// Says which globals got shorter strings; gives whether anything did.
fn remark(cx: &mut ModuleContext<'_>, declared: &Module) -> bool {
    let mut changed = false;
    for (global, before) in declared.globals.iter() {
        let after = &cx.module.globals[global];
        for (n, (was, is)) in before.keys.iter().zip(&after.keys).enumerate() {
            if was != is {
                let message = format!("key {} of `{}` is {is}, not {was}", n + 1, after.name);
                cx.log.applied(after.pos, message);
                changed = true;
            }
        }
        if before.element != after.element {
            let (is, was) = (after.element, before.element);
            cx.log.applied(after.pos, format!("`{}` holds {is}, not {was}", after.name));
            changed = true;
        }
    }
    let mut narrowed = 0;
    for (before, after) in declared.bodies().zip(cx.module.bodies()) {
        let values = before.values.iter().zip(after.values.iter());
        narrowed += values.filter(|((_, before), (_, after))| before.ty != after.ty).count();
    }
    let functions = declared.functions.iter().zip(cx.module.functions.iter());
    for ((_, before), (_, after)) in functions {
        changed |= before.params != after.params || before.result != after.result;
    }
    cx.log.count("values narrowed", narrowed);
    changed | (narrowed > 0)
}
