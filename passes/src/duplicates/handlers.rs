//! `duplicate-handlers`.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Entity, Handler, Value};
use xlate_ir::instructions::{InstData, Op, Place};
use xlate_ir::module::{Body, Module, ValueData};
use xlate_ir::types::{Const, Pos, Type};
use xlate_ir::typing::{Outcome, outcome};

use super::functions::{drop_unused_literals, has_state};
use super::literals::{code_size, field_size};
use super::shape::{
    Anatomy, Interner, Likeness, Literal, Shape, Subject, dissect, replace_literals,
};
use crate::manager::ModuleContext;

/// Handlers with equal shapes.
type Group = Vec<(Handler, Anatomy)>;

/// What is left to one handler of a group, and the records of the probe points.
struct Plan {
    /// Types of the fields.
    record: Vec<Type>,
    /// For each literal that the shape leaves out, its field if it has one.
    fields: Vec<Option<usize>>,
    /// Positions of the first handler that stand for others.
    places: Vec<Pos>,
    /// For each probe point of the group, by index: its record and its places.
    points: Vec<(usize, Vec<Const>, Vec<Pos>)>,
}

/// Runs `duplicate-handlers`.
pub(crate) fn run(cx: &mut ModuleContext<'_>) -> bool {
    let mut twins: Vec<Option<Handler>> = vec![None; cx.module.handlers.len()];
    for group in groups(cx.module) {
        let plan = Plan::of(cx.module, &group);
        let (first, _) = group[0];
        let pos = cx.module.handlers[first].pos;
        if !plan.pays(cx.module, &group) {
            let message = format!(
                "{} handlers are the same but for literals: not merged, for the records would be \
                 larger than the code",
                group.len()
            );
            cx.log.missed(pos, message);
            continue;
        }
        let Some(body) = plan.body(cx.module, &group) else {
            let message = format!(
                "{} handlers are the same but for literals: not merged, for a string may be too \
                 long for its place",
                group.len()
            );
            cx.log.missed(pos, message);
            continue;
        };
        let but = if plan.record.is_empty() { "" } else { " but for literals" };
        let message =
            format!("{} handlers are the same{but}: one body serves them all", group.len());
        cx.log.applied(pos, message);
        cx.log.count("record fields", plan.record.len());
        for &(handler, _) in &group[1..] {
            twins[handler.index()] = Some(first);
        }
        let data = &mut cx.module.handlers[first];
        (data.body, data.record, data.places) = (body, plan.record, plan.places);
        for (point, record, places) in plan.points {
            let point = &mut cx.module.probes[point];
            (point.handler, point.record, point.places) = (first, record, places);
        }
    }
    let merged = cx.module.retain_handlers(|handler| twins[handler.index()].is_none());
    cx.log.count("handlers merged", merged);
    merged > 0
}

/// The groups of more than one, in the order of their first handlers.
fn groups(module: &Module) -> Vec<Group> {
    let summaries = Summaries::of(module);
    let mut interner = Interner::default();
    let mut groups: IndexMap<(bool, Shape), Group, FxBuildHasher> = IndexMap::default();
    for (handler, data) in module.handlers.iter() {
        if has_state(&data.body) {
            continue;
        }
        let subject = Subject {
            module,
            summaries: &summaries,
            body: &data.body,
            pos: data.pos,
            function: None,
            handler: Some(handler),
            nesting: None,
            keeps_places: false,
        };
        let mut anatomy = dissect(subject, Likeness::Records, &mut interner);
        let shape = std::mem::take(&mut anatomy.shape);
        let key = (module.is_exclusive(handler), shape);
        groups.entry(key).or_default().push((handler, anatomy));
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

impl Plan {
    fn of(module: &Module, group: &Group) -> Plan {
        let mut member = vec![None; module.handlers.len()];
        for (index, (handler, _)) in group.iter().enumerate() {
            member[handler.index()] = Some(index);
        }
        let mut plan =
            Plan { record: Vec::new(), fields: Vec::new(), places: Vec::new(), points: Vec::new() };
        // Per probe point, its number, and the anatomy of its handler.
        let mut members: Vec<(usize, &Anatomy)> = Vec::new();
        for (index, point) in module.probes.iter().enumerate() {
            if let Some(member) = member[point.handler.index()] {
                members.push((index, &group[member].1));
                plan.points.push((index, Vec::new(), Vec::new()));
            }
        }
        let (first, first_anatomy) = &group[0];
        let mut columns: Vec<Vec<&Const>> = Vec::new();
        for number in 0..first_anatomy.literals.len() {
            let column: Vec<&Const> = members
                .iter()
                .map(|(point, anatomy)| match &anatomy.literals[number] {
                    Literal::Const(constant) => constant,
                    Literal::Field(field) => &module.probes[*point].record[*field as usize],
                })
                .collect();
            let is_field = matches!(first_anatomy.literals[number], Literal::Field(_))
                || column.iter().any(|constant| *constant != column[0]);
            plan.fields.push(is_field.then(|| {
                columns.iter().position(|known| *known == column).unwrap_or_else(|| {
                    plan.record.push(column_type(&column));
                    columns.push(column);
                    columns.len() - 1
                })
            }));
        }
        for (row, (_, record, _)) in plan.points.iter_mut().enumerate() {
            record.extend(columns.iter().map(|column| column[row].clone()));
        }
        for (number, &place) in first_anatomy.places.iter().enumerate() {
            let named = |&(point, anatomy): &(usize, &Anatomy)| {
                let point = &module.probes[point];
                let own = anatomy.places[number];
                let listed = &module.handlers[point.handler].places;
                listed.iter().position(|&place| place == own).map_or(own, |n| point.places[n])
            };
            let column: Vec<Pos> = members.iter().map(named).collect();
            let listed = module.handlers[*first].places.contains(&place);
            if listed || column.iter().any(|&pos| pos != place) {
                plan.places.push(place);
                for ((_, _, places), pos) in plan.points.iter_mut().zip(column) {
                    places.push(pos);
                }
            }
        }
        plan
    }

    /// Whether the code saved is more than the records take.
    fn pays(&self, module: &Module, group: &Group) -> bool {
        let fields: usize = self.record.iter().map(|&ty| field_size(ty)).sum();
        let record = fields + 8 * self.places.len();
        let code = code_size(&module.handlers[group[0].0].body);
        record == 0 || (group.len() - 1) * code > self.points.len() * record
    }

    /// The body for all; `None` if a string has no place that is long enough.
    fn body(&self, module: &Module, group: &Group) -> Option<Body> {
        let (first, anatomy) = &group[0];
        let mut body = module.handlers[*first].body.clone();
        let fields = self.add_fields(&mut body);
        replace_literals(&mut body, Likeness::Records, |literal| {
            self.fields[literal].map(|field| fields[field])
        });
        drop_unused_literals(&mut body);
        let mut widened = self.record.iter().any(|ty| ty.is_str());
        for (handler, other) in &group[1..] {
            let from = &module.handlers[*handler].body;
            for (&value, &like) in anatomy.values.iter().zip(&other.values) {
                widened |= widen(&mut body, value, from.type_of(like));
            }
        }
        (!widened || settle(module, &mut body)).then_some(body)
    }

    /// Puts instructions for the fields at the start; gives their results.
    fn add_fields(&self, body: &mut Body) -> Vec<Value> {
        let entry = body.entry();
        let fields = self.record.iter().enumerate().map(|(number, &ty)| {
            let value = body.values.alloc(ValueData { ty, name: None });
            let op = Op::Record(u32::try_from(number).expect("fewer than 2^32 literals"));
            body.insert_inst(entry, number, InstData { op, result: Some(value), pos: None });
            value
        });
        fields.collect()
    }
}

fn column_type(column: &[&Const]) -> Type {
    let length = |constant: &&Const| match constant {
        Const::Long(_) => None,
        Const::Str(bytes) => Some(u32::try_from(bytes.len()).unwrap_or(u32::MAX)),
    };
    column.iter().filter_map(length).max().map_or(Type::Long, Type::Str)
}

/// Makes a string's bound as large as another's; gives whether it was smaller.
fn widen(body: &mut Body, value: Value, to: Type) -> bool {
    match (body.type_of(value), to) {
        (Type::Str(have), Type::Str(want)) if want > have => {
            body.values[value].ty = to;
            true
        }
        _ => false,
    }
}

/// Widens the results of instructions and the parameters of blocks to hold what flows into them; gives
/// whether everything then has a place that is long enough.
fn settle(module: &Module, body: &mut Body) -> bool {
    let mut changed = true;
    while changed {
        changed = false;
        for block in body.layout.clone() {
            for inst in body.blocks[block].insts.clone() {
                let data = &body.insts[inst];
                let given = outcome(module, &data.op, |value| body.type_of(value), |_| None);
                if let (Some(result), Outcome::Value(ty)) = (data.result, given) {
                    changed |= widen(body, result, ty);
                }
            }
            for call in body.blocks[block].terminator.successors().cloned().collect::<Vec<_>>() {
                let params = body.blocks[call.block].params.clone();
                for (param, arg) in params.into_iter().zip(call.args) {
                    let ty = body.type_of(arg);
                    changed |= widen(body, param, ty);
                }
            }
        }
    }
    body.iter_insts().all(|(_, inst)| fits(module, body, &body.insts[inst].op))
}

/// Whether the strings that an operation puts somewhere are short enough.
fn fits(module: &Module, body: &Body, op: &Op) -> bool {
    let fit = |value: Value, want: Type| match (body.type_of(value), want) {
        (Type::Str(have), Type::Str(want)) => have <= want,
        _ => true,
    };
    let keys_fit = |place: &Place| {
        let keys = &module.globals[place.global].keys;
        place.keys.iter().zip(keys).all(|(&key, &want)| fit(key, want))
    };
    match op {
        Op::Store(place, value) => {
            let element = module.globals[place.global].element.value_type();
            keys_fit(place) && element.is_none_or(|want| fit(*value, want))
        }
        Op::Call(function, args) => {
            let params = &module.functions[*function].params;
            args.iter().zip(params).all(|(&arg, &want)| fit(arg, want))
        }
        Op::IterBegin(spec) => {
            let keys = &module.globals[spec.global].keys;
            spec.slice.iter().zip(keys).all(|(key, &want)| key.is_none_or(|key| fit(key, want)))
        }
        _ => op.place().is_none_or(keys_fit),
    }
}
