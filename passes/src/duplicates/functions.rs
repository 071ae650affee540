//! `duplicate-functions` and `similar-functions`.

use std::collections::HashMap;

use indexmap::IndexMap;
use xlate_ir::effects::{Summaries, call_components};
use xlate_ir::entities::{Entity, Function, Value};
use xlate_ir::instructions::{InstData, Op};
use xlate_ir::module::{Body, FunctionCode, Module, ValueData};
use xlate_ir::types::{Const, Pos, Type};

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

/// Parameters, result, the position that a message about too many nested calls names, and the code.
type Key<'a> = (&'a [Type], Option<Type>, Option<Pos>, Code<'a>);

/// For each function, an earlier one that is equal.
fn twins(module: &Module) -> Vec<Option<Function>> {
    let summaries = Summaries::of(module);
    let mut interner = Interner::default();
    let nesting = nesting(module);
    let mut first: HashMap<Key<'_>, Function> = HashMap::new();
    let mut twins = vec![None; module.functions.len()];
    for (function, data) in module.functions.iter() {
        let code = match &data.code {
            FunctionCode::Body(body) if has_state(body) || !data.places.is_empty() => continue,
            FunctionCode::Body(body) => {
                let subject = subject(module, &summaries, function, body, true);
                Code::Script(dissect(subject, Likeness::Exact, &mut interner).shape)
            }
            // Static variables of C are state of each function.
            FunctionCode::C { text, .. } if text.contains("static") => continue,
            FunctionCode::C { text, names, effects } => {
                Code::C(text, names, format!("{effects:?}"))
            }
        };
        let earliest = *first
            .entry((&data.params, data.result, nesting[function.index()], code))
            .or_insert(function);
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
    keeps_places: bool,
) -> Subject<'a> {
    let pos = module.functions[function].pos;
    Subject {
        module,
        summaries,
        body,
        pos,
        function: Some(function),
        handler: None,
        nesting: None,
        keeps_places,
    }
}

/// For each function whose calls count as nesting, the position that a message about that names.
fn nesting(module: &Module) -> Vec<Option<Pos>> {
    let mut nesting = vec![None; module.functions.len()];
    for component in call_components(module) {
        for function in component.functions {
            if component.recursive || module.limits.max_nesting.is_some() {
                nesting[function.index()] = module.functions[function].pos;
            }
        }
    }
    nesting
}

/// Whether C of a body may have variables of its own that last.
pub(super) fn has_state(body: &Body) -> bool {
    body.iter_insts().any(|(_, inst)| match &body.insts[inst].op {
        Op::CStatement(text) | Op::CExpression(text) => text.contains("static"),
        _ => false,
    })
}

/// A function of a family.
struct Member {
    function: Function,
    /// The literals that differ or not, in the order of use.
    literals: Vec<i64>,
    /// The positions that messages name.
    places: Vec<Pos>,
}

/// Functions that differ in literals and positions of messages only.
struct Family {
    members: Vec<Member>,
}

impl Family {
    /// The places of the first member that another has elsewhere, by number.
    fn moving_places(&self) -> Vec<usize> {
        let first = &self.members[0].places;
        let moves = |&n: &usize| self.members.iter().any(|member| member.places[n] != first[n]);
        (0..first.len()).filter(moves).collect()
    }
}

/// Runs `similar-functions`.
pub(crate) fn run_similar(cx: &mut ModuleContext<'_>) -> bool {
    let mut merged = 0;
    // A merge gives calls more arguments, so families are found anew after each.
    while let Some((family, columns)) = worthy_family(cx) {
        let name = cx.module.functions[family.members[0].function].name.clone();
        let what = columns.difference();
        for member in &family.members[1..] {
            let data = &cx.module.functions[member.function];
            let message = format!("`{}` is the same as `{name}` but for {what}", data.name);
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
        let data = &cx.module.functions[family.members[0].function];
        let FunctionCode::Body(body) = &data.code else { continue };
        let params = data.params.len() + columns.params();
        let why = if params > MOST_PARAMS {
            "differ in too many"
        } else if code_size(body) < SMALLEST {
            "are small"
        } else {
            return Some((family, columns));
        };
        let count = family.members.len();
        let message = format!(
            "`{}` and {} more are the same but for {}: not merged, for they {why}",
            data.name,
            count - 1,
            columns.kind()
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
    let nesting = nesting(module);
    let mut groups: IndexMap<(&[Type], Option<Type>, Shape), Family> = IndexMap::new();
    for (function, data) in module.functions.iter() {
        let FunctionCode::Body(body) = &data.code else { continue };
        if has_state(body) || !called[function.index()] || !data.places.is_empty() {
            continue;
        }
        let mut subject = subject(module, &summaries, function, body, false);
        subject.nesting = nesting[function.index()];
        let anatomy = dissect(subject, Likeness::Literals, &mut interner);
        let long = |literal: &Literal| match literal {
            Literal::Const(Const::Long(n)) => *n,
            _ => 0,
        };
        let literals = anatomy.literals.iter().map(long).collect();
        let family = groups
            .entry((&data.params, data.result, anatomy.shape))
            .or_insert(Family { members: Vec::new() });
        family.members.push(Member { function, literals, places: anatomy.places });
    }
    groups.into_values().filter(|family| family.members.len() > 1).collect()
}

/// The literals of a family that differ between its members.
struct Columns {
    /// The values in each member, without repetition.
    distinct: Vec<Vec<i64>>,
    /// For each literal, its number among those, if it differs.
    of: Vec<Option<usize>>,
    /// The places that differ, by number. If there are any, the number of the member is passed.
    places: Vec<usize>,
}

impl Columns {
    fn of(family: &Family) -> Columns {
        let places = family.moving_places();
        let mut columns = Columns { distinct: Vec::new(), of: Vec::new(), places };
        for index in 0..family.members[0].literals.len() {
            let column: Vec<i64> = family.members.iter().map(|one| one.literals[index]).collect();
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

    /// How many parameters it takes.
    fn params(&self) -> usize {
        self.distinct.len() + usize::from(!self.places.is_empty())
    }

    /// What differs.
    fn kind(&self) -> &'static str {
        match (self.distinct.is_empty(), self.places.is_empty()) {
            (true, false) => "places that messages name",
            (false, false) => "literals and places that messages name",
            _ => "literals",
        }
    }

    /// What differs, and what becomes of it.
    fn difference(&self) -> String {
        let passed = if self.places.is_empty() { "now passed" } else { "a parameter tells which" };
        format!("{}, {passed}", self.kind())
    }

    /// What the calls of a member pass in addition.
    fn arguments(&self, member: usize) -> Vec<i64> {
        let own = self.distinct.iter().map(|column| column[member]);
        let number = (!self.places.is_empty()).then_some(member as i64);
        own.chain(number).collect()
    }
}

/// Gives the first member parameters for what differs, and has all calls go there.
fn merge(module: &mut Module, family: &Family, columns: &Columns) {
    let first = family.members[0].function;
    let data = &mut module.functions[first];
    data.params.extend((0..columns.params()).map(|_| Type::Long));
    if !columns.places.is_empty() {
        let chosen = |member: &Member| columns.places.iter().map(|&n| member.places[n]).collect();
        data.variants = family.members.iter().map(chosen).collect();
        data.places = data.variants[0].clone();
    }
    let mut own = Vec::new();
    if let FunctionCode::Body(body) = &mut data.code {
        let entry = body.entry();
        own.extend(columns.distinct.iter().map(|_| body.add_param(entry, Type::Long, None)));
        if !columns.places.is_empty() {
            own.push(body.add_param(entry, Type::Long, Some("variant".into())));
        }
        replace_literals(body, Likeness::Literals, |literal| {
            columns.of[literal].map(|column| own[column])
        });
        pass_on(body, first, &own);
        drop_unused_literals(body);
    }
    let row = |function: Function| {
        let member = family.members.iter().position(|member| member.function == function)?;
        Some(columns.arguments(member))
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
