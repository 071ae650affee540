//! `duplicate-functions` and `similar-functions`.

use std::collections::HashMap;

use indexmap::IndexMap;
use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Entity, Function, Value};
use xlate_ir::instructions::{InstData, Op};
use xlate_ir::module::{Body, FunctionCode, Module, ValueData};
use xlate_ir::types::{Const, Type};

use super::literals::code_size;
use super::shape::{
    Interner, Likeness, Literal, Shape, Subject, dissect, literal_definitions, replace_literals,
};
use crate::manager::ModuleContext;

/// Parameters that a function can have before some are passed in memory.
const MOST_PARAMS: usize = 5;

/// Bytes of code that a body must have to be worth a parameter more.
const SMALLEST: usize = 64;

/// What functions are compared by.
#[derive(PartialEq, Eq, Hash)]
enum Code<'a> {
    Script(Shape),
    /// The text, the names of its parameters, and its effects as text.
    C(&'a str, &'a [String], String),
}

/// Runs `duplicate-functions`.
pub(crate) fn run_duplicates(cx: &mut ModuleContext<'_>) -> bool {
    let mut merged = 0;
    loop {
        let twins = twins(cx.module);
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
fn twins(module: &Module) -> Vec<Option<Function>> {
    let summaries = Summaries::of(module);
    let mut interner = Interner::default();
    let mut first: HashMap<(&[Type], Option<Type>, Code), Function> = HashMap::new();
    let mut twins = vec![None; module.functions.len()];
    for (function, data) in module.functions.iter() {
        let code = match &data.code {
            FunctionCode::Body(body) if has_state(body) => continue,
            FunctionCode::Body(body) => {
                let subject = subject(module, &summaries, function, body);
                Code::Script(dissect(subject, Likeness::Exact, &mut interner).shape)
            }
            // Static variables of C are state of each function.
            FunctionCode::C { text, .. } if text.contains("static") => continue,
            FunctionCode::C { text, names, effects } => {
                Code::C(text, names, format!("{effects:?}"))
            }
        };
        let earliest = *first.entry((&data.params, data.result, code)).or_insert(function);
        if earliest != function {
            twins[function.index()] = Some(earliest);
        }
    }
    twins
}

fn subject<'a>(
    module: &'a Module,
    summaries: &'a Summaries,
    function: Function,
    body: &'a Body,
) -> Subject<'a> {
    let pos = module.functions[function].pos;
    Subject { module, summaries, body, pos, function: Some(function), handler: None }
}

/// Whether C of a body may have variables of its own that last.
pub(super) fn has_state(body: &Body) -> bool {
    body.iter_insts().any(|(_, inst)| match &body.insts[inst].op {
        Op::CStatement(text) | Op::CExpression(text) => text.contains("static"),
        _ => false,
    })
}

/// Functions that differ in literals only, and their literals.
struct Family {
    /// Each function, with the literals that differ or not, in the order of use.
    members: Vec<(Function, Vec<i64>)>,
}

/// Runs `similar-functions`.
pub(crate) fn run_similar(cx: &mut ModuleContext<'_>) -> bool {
    let mut merged = 0;
    // A merge gives calls more arguments, so families are found anew after each.
    while let Some((family, columns)) = worthy_family(cx) {
        let (first, _) = family.members[0];
        let name = cx.module.functions[first].name.clone();
        for &(member, _) in &family.members[1..] {
            let data = &cx.module.functions[member];
            let message =
                format!("`{}` is the same as `{name}` but for literals, now passed", data.name);
            cx.log.applied(data.pos, message);
        }
        merged += family.members.len() - 1;
        merge(cx.module, &family, &columns);
    }
    cx.log.count("functions merged", merged);
    merged > 0
}

/// The first family that is worth the parameters that it takes.
fn worthy_family(cx: &mut ModuleContext<'_>) -> Option<(Family, Columns)> {
    for family in families(cx.module) {
        let columns = Columns::of(&family);
        let data = &cx.module.functions[family.members[0].0];
        let FunctionCode::Body(body) = &data.code else { continue };
        let params = data.params.len() + columns.distinct.len();
        let why = if params > MOST_PARAMS {
            "differ in too many"
        } else if code_size(body) < SMALLEST {
            "are small"
        } else {
            return Some((family, columns));
        };
        let count = family.members.len();
        let message = format!(
            "`{}` and {} more are the same but for literals: not merged, for they {why}",
            data.name,
            count - 1
        );
        cx.log.missed(data.pos, message);
    }
    None
}

/// The families with more than one member, in the order of their first members.
fn families(module: &Module) -> Vec<Family> {
    let summaries = Summaries::of(module);
    let called = module.called_functions();
    let mut interner = Interner::default();
    let mut groups: IndexMap<(&[Type], Option<Type>, Shape), Family> = IndexMap::new();
    for (function, data) in module.functions.iter() {
        let FunctionCode::Body(body) = &data.code else { continue };
        if has_state(body) || !called[function.index()] {
            continue;
        }
        let subject = subject(module, &summaries, function, body);
        let anatomy = dissect(subject, Likeness::Literals, &mut interner);
        let long = |literal: &Literal| match literal {
            Literal::Const(Const::Long(n)) => *n,
            _ => 0,
        };
        let literals = anatomy.literals.iter().map(long).collect();
        let family = groups
            .entry((&data.params, data.result, anatomy.shape))
            .or_insert(Family { members: Vec::new() });
        family.members.push((function, literals));
    }
    groups.into_values().filter(|family| family.members.len() > 1).collect()
}

/// The literals of a family that differ between its members.
struct Columns {
    /// The values in each member, without repetition.
    distinct: Vec<Vec<i64>>,
    /// For each literal, its number among those, if it differs.
    of: Vec<Option<usize>>,
}

impl Columns {
    fn of(family: &Family) -> Columns {
        let mut columns = Columns { distinct: Vec::new(), of: Vec::new() };
        for index in 0..family.members[0].1.len() {
            let column: Vec<i64> = family.members.iter().map(|(_, all)| all[index]).collect();
            let varies = column.iter().any(|n| *n != column[0]);
            columns.of.push(varies.then(|| {
                let known = columns.distinct.iter().position(|known| *known == column);
                known.unwrap_or_else(|| {
                    columns.distinct.push(column);
                    columns.distinct.len() - 1
                })
            }));
        }
        columns
    }
}

/// Gives the first member parameters for what differs, and has all calls go there.
fn merge(module: &mut Module, family: &Family, columns: &Columns) {
    let (first, _) = family.members[0];
    let data = &mut module.functions[first];
    data.params.extend(columns.distinct.iter().map(|_| Type::Long));
    let mut own = Vec::new();
    if let FunctionCode::Body(body) = &mut data.code {
        let entry = body.entry();
        own.extend(columns.distinct.iter().map(|_| body.add_param(entry, Type::Long, None)));
        replace_literals(body, Likeness::Literals, |literal| {
            columns.of[literal].map(|column| own[column])
        });
        pass_on(body, first, &own);
        drop_unused_literals(body);
    }
    let row = |function: Function| {
        let member = family.members.iter().position(|(member, _)| *member == function)?;
        Some(columns.distinct.iter().map(|column| column[member]).collect::<Vec<i64>>())
    };
    let rows: Vec<Option<Vec<i64>>> =
        module.functions.iter().map(|(function, _)| row(function)).collect();
    let callers: Vec<Function> = module.functions.iter().map(|(function, _)| function).collect();
    for caller in callers {
        // The other members go, and the first has passed its own on.
        if rows[caller.index()].is_none()
            && let FunctionCode::Body(body) = &mut module.functions[caller].code
        {
            pass_constants(body, first, &rows);
        }
    }
    for (_, data) in module.handlers.iter_mut() {
        pass_constants(&mut data.body, first, &rows);
    }
    module.retain_functions(|function| function == first || rows[function.index()].is_none());
}

/// Has calls of a function by itself pass its parameters on.
fn pass_on(body: &mut Body, own: Function, params: &[Value]) {
    for inst in body.iter_insts().map(|(_, inst)| inst).collect::<Vec<_>>() {
        if let Op::Call(function, args) = &mut body.insts[inst].op
            && *function == own
        {
            args.extend(params);
        }
    }
}

/// Has calls of members go to the first, with the literals of the member.
fn pass_constants(body: &mut Body, first: Function, rows: &[Option<Vec<i64>>]) {
    for block in body.layout.clone() {
        let mut at = 0;
        while at < body.blocks[block].insts.len() {
            let inst = body.blocks[block].insts[at];
            let row = match &body.insts[inst].op {
                Op::Call(function, _) => rows[function.index()].as_ref(),
                _ => None,
            };
            for &literal in row.into_iter().flatten() {
                let value = body.values.alloc(ValueData { ty: Type::Long, name: None });
                let op = Op::Const(Const::Long(literal));
                body.insert_inst(block, at, InstData { op, result: Some(value), pos: None });
                at += 1;
                if let Op::Call(_, args) = &mut body.insts[inst].op {
                    args.push(value);
                }
            }
            if row.is_some()
                && let Op::Call(function, _) = &mut body.insts[inst].op
            {
                *function = first;
            }
            at += 1;
        }
    }
}

/// Drops literals that nothing uses.
pub(super) fn drop_unused_literals(body: &mut Body) {
    let uses = body.use_counts();
    let definitions = literal_definitions(body);
    let unused = |body: &Body, inst| {
        body.insts[inst].result.is_some_and(|value: Value| {
            definitions[value.index()].is_some() && uses[value.index()] == 0
        })
    };
    for block in body.layout.clone() {
        let insts = std::mem::take(&mut body.blocks[block].insts);
        let kept = insts.into_iter().filter(|&inst| !unused(body, inst)).collect();
        body.blocks[block].insts = kept;
    }
}
