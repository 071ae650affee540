//! The C variables of a function, and where its strings lie.
//!
//! Values that stand for one another (block parameters and their arguments, values of one script
//! variable) share a variable where they are not alive at the same time. A string variable is a view;
//! what computes a new string needs a place to put it. A block parameter gets the view, and a copy
//! only if the place behind the view could be written again while the parameter is alive.

use std::collections::BTreeMap;

use xlate_ir::entities::{Block, Entity, Value};
use xlate_ir::instructions::{BlockCall, Op, StatField, Terminator};
use xlate_ir::module::Body;
use xlate_ir::types::Type;

use crate::bits::BitSet;
use crate::facts::Facts;
use crate::fold::{Folding, Home, borrows};
use crate::liveness::Interference;
use crate::names::Scope;
use crate::repr::{self, Repr};

/// Places up to this size, in bytes, lie on the stack; larger ones in the frame.
const LARGEST_ON_STACK: u32 = 64;

/// Where a new string goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// A C expression for its address.
    pub(crate) address: String,
    /// Its type in C.
    pub(crate) ty: String,
    /// Its name in the frame or on the stack; empty if it is the caller's.
    pub(crate) name: String,
    /// Its size in bytes, the length word included.
    pub(crate) bytes: u32,
    /// Whether it lies in the frame.
    pub(crate) in_frame: bool,
}

/// A C variable.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    /// Its name.
    pub(crate) name: String,
    /// What it holds.
    pub(crate) repr: Repr,
    /// The place that its strings are written to, if any are.
    pub(crate) place: Option<Place>,
    /// Whether it is a parameter of the C function.
    pub(crate) is_parameter: bool,
    /// The places that its view may lie in, as variables.
    pub(crate) sources: BitSet,
    /// Whether arguments are copied to its place.
    pub(crate) copies: bool,
}

/// The variables of a body.
pub(crate) struct Locals {
    /// The variable of each value, as the least value that shares it.
    leader: Vec<usize>,
    /// The variables.
    pub(crate) vars: BTreeMap<usize, Local>,
}

/// Values grouped by the variable that they share.
struct Groups<'a> {
    leader: Vec<usize>,
    members: Vec<Vec<usize>>,
    with: Vec<BitSet>,
    body: &'a Body,
}

impl Groups<'_> {
    fn find(&self, value: Value) -> usize {
        self.leader[value.index()]
    }

    fn interfere(&self, a: usize, b: usize) -> bool {
        self.members[b].iter().any(|&member| self.with[a].contains(member))
    }

    /// Lets two groups share a variable if they can.
    fn join(&mut self, a: usize, b: usize) {
        let repr = |leader: usize| Repr::of(self.body.type_of(Value::from_index(leader)));
        if a == b || repr(a) != repr(b) || self.interfere(a, b) {
            return;
        }
        let (keep, gone) = (a.min(b), a.max(b));
        let members = std::mem::take(&mut self.members[gone]);
        for &member in &members {
            self.leader[member] = keep;
        }
        self.members[keep].extend(members);
        let with = self.with[gone].clone();
        self.with[keep].extend(&with);
    }

    fn name_of(&self, leader: usize) -> Option<&str> {
        self.members[leader]
            .iter()
            .find_map(|&member| self.body.values[Value::from_index(member)].name.as_deref())
    }
}

impl Locals {
    /// Decides on the variables of a body. `is_function`: the entry's parameters are C parameters.
    /// `returns_view`: its string goes to the place `ret`.
    pub(crate) fn of(
        facts: &Facts,
        body: &Body,
        folding: &Folding,
        interference: &Interference,
        scope: &mut Scope,
        is_function: bool,
        returns_view: bool,
    ) -> Locals {
        let groups = group(body, folding, interference, is_function);
        let mut vars = BTreeMap::new();
        let count = body.values.len();
        let params: Vec<usize> = if is_function {
            body.blocks[body.entry()].params.iter().map(|&v| groups.find(v)).collect()
        } else {
            Vec::new()
        };
        let is_used = |leader: &usize| {
            groups.leader[*leader] == *leader
                && (folding.home(Value::from_index(*leader)) == Home::Variable
                    || params.contains(leader))
        };
        // Parameters are named first: the caller sees their names.
        let mut order: Vec<usize> = (0..count).filter(is_used).collect();
        order.sort_by_key(|leader| (!params.contains(leader), *leader));
        for leader in order {
            let repr = Repr::of(body.type_of(Value::from_index(leader)));
            if repr == Repr::Walk {
                continue;
            }
            let fallback = default_name(body, folding, &groups, leader);
            let hint = groups.name_of(leader).unwrap_or(fallback);
            let local = Local {
                name: scope.local(hint),
                repr,
                place: None,
                is_parameter: params.contains(&leader),
                sources: BitSet::new(count),
                copies: false,
            };
            vars.insert(leader, local);
        }
        let mut locals = Locals { leader: groups.leader.clone(), vars };
        let owners = locals.find_owners(facts, body, folding, interference, &groups);
        locals.make_places(facts, body, folding, &groups, &owners, scope);
        if returns_view {
            locals.return_in_place(body, folding, &groups);
        }
        locals.share_places(&groups);
        locals
    }

    /// Lets the strings that a function returns be written where the caller wants them, as far as they
    /// and the views of them are not needed at the same time.
    fn return_in_place(&mut self, body: &Body, folding: &Folding, groups: &Groups) {
        let mut chosen: Vec<usize> = Vec::new();
        for &block in &body.layout {
            let Terminator::Return(Some(value)) = body.blocks[block].terminator else { continue };
            let leader = self.leader[value.index()];
            let fits = self.vars.get(&leader).is_some_and(|local| {
                local.repr == Repr::View && local.place.is_some() && !local.is_parameter
            });
            if folding.home(value) == Home::Variable && fits && !chosen.contains(&leader) {
                let clashes = |&other: &usize| {
                    self.meet(groups, leader, other) || self.meet(groups, other, leader)
                };
                if !chosen.iter().any(clashes) {
                    chosen.push(leader);
                }
            }
        }
        for leader in chosen {
            if let Some(local) = self.vars.get_mut(&leader) {
                local.place = Some(Place {
                    address: "ret".to_owned(),
                    ty: String::new(),
                    name: String::new(),
                    bytes: 0,
                    in_frame: false,
                });
            }
        }
    }

    /// Lets strings of the frame that are not needed at the same time lie in one place: the first one
    /// that is free, in the order of their values, as large as the largest of them. What edges copy
    /// keeps its own place, for all copies of an edge are made at once.
    fn share_places(&mut self, groups: &Groups) {
        let may_share = |local: &Local| {
            !local.copies && local.place.as_ref().is_some_and(|place| place.in_frame)
        };
        let owners: Vec<usize> =
            self.vars.iter().filter(|(_, local)| may_share(local)).map(|(&n, _)| n).collect();
        let mut rooms: Vec<Vec<usize>> = Vec::new();
        for owner in owners {
            let is_free = |room: &&mut Vec<usize>| {
                room.iter().all(|&other| {
                    !self.meet(groups, owner, other) && !self.meet(groups, other, owner)
                })
            };
            match rooms.iter_mut().find(is_free) {
                Some(room) => room.push(owner),
                None => rooms.push(vec![owner]),
            }
        }
        for room in rooms {
            let places = || room.iter().filter_map(|owner| self.vars[owner].place.clone());
            let (Some(first), Some(largest)) =
                (places().next(), places().max_by_key(|place| place.bytes))
            else {
                continue;
            };
            let Place { ty, bytes, .. } = largest;
            for owner in &room {
                if let Some(local) = self.vars.get_mut(owner) {
                    local.place = Some(Place { ty: ty.clone(), bytes, ..first.clone() });
                }
            }
        }
    }

    /// Whether a variable, or one that views its text, is alive when the other is written.
    fn meet(&self, groups: &Groups, text: usize, written: usize) -> bool {
        self.vars
            .iter()
            .filter(|(leader, local)| **leader == text || local.sources.contains(text))
            .any(|(&leader, _)| groups.interfere(leader, written))
    }

    /// The variable of a value.
    pub(crate) fn get(&self, value: Value) -> Option<&Local> {
        self.vars.get(&self.leader[value.index()])
    }

    /// The number of a value's variable.
    pub(crate) fn number(&self, value: Value) -> usize {
        self.leader[value.index()]
    }

    /// The variables that need a place, once views are passed on wherever that is safe.
    fn find_owners(
        &mut self,
        facts: &Facts,
        body: &Body,
        folding: &Folding,
        interference: &Interference,
        groups: &Groups,
    ) -> BitSet {
        let count = body.values.len();
        let mut owners = BitSet::new(count);
        for (_, inst) in body.iter_insts() {
            let data = &body.insts[inst];
            let is_view = data.result.is_some_and(|r| Repr::of(body.type_of(r)) == Repr::View);
            if let Some(result) = data.result
                && folding.home(result) == Home::Variable
                && body.type_of(result).is_str()
                && writes_place(facts, &data.op, interference, result, is_view)
            {
                owners.insert(groups.find(result));
            }
        }
        loop {
            let sources = self.flow(body, folding, groups, &owners);
            let mut changed = false;
            for (arg, param) in string_edges(body) {
                let to = groups.find(param);
                // A name is its own storage.
                let is_view = Repr::of(body.type_of(param)) == Repr::View;
                if !is_view || folding.home(param) != Home::Variable || groups.find(arg) == to {
                    continue;
                }
                let from = &sources[groups.find(arg)];
                let is_safe =
                    from.iter().all(|source| source != to && !groups.interfere(to, source));
                if folding.home(arg) == Home::Variable && !is_safe {
                    changed |= owners.insert(to);
                    if let Some(local) = self.vars.get_mut(&to) {
                        local.copies = true;
                    }
                }
            }
            if !changed {
                for (leader, local) in &mut self.vars {
                    local.sources = sources[*leader].clone();
                }
                return owners;
            }
        }
    }

    /// For each variable, the variables whose storage its view may lie in.
    fn flow(
        &self,
        body: &Body,
        folding: &Folding,
        groups: &Groups,
        owners: &BitSet,
    ) -> Vec<BitSet> {
        let count = body.values.len();
        let mut sources = vec![BitSet::new(count); count];
        for (&leader, local) in &self.vars {
            if owners.contains(leader) || local.repr == Repr::Name {
                sources[leader].insert(leader);
            }
        }
        let edges = string_edges(body);
        let mut changed = true;
        while changed {
            changed = false;
            for &(arg, param) in &edges {
                let (from, to) = (groups.find(arg), groups.find(param));
                let copies = self.vars.get(&to).is_some_and(|local| local.copies);
                let is_view = Repr::of(body.type_of(param)) == Repr::View;
                if from != to && is_view && !copies && folding.home(arg) == Home::Variable {
                    let more = sources[from].clone();
                    changed |= sources[to].extend(&more);
                }
            }
        }
        sources
    }

    fn make_places(
        &mut self,
        facts: &Facts,
        body: &Body,
        folding: &Folding,
        groups: &Groups,
        owners: &BitSet,
        scope: &mut Scope,
    ) {
        let longest = facts.module.limits.longest_string();
        let is_call = |&member: &usize| {
            let definition = folding.definition(Value::from_index(member));
            definition.is_some_and(|inst| matches!(body.insts[inst].op, Op::Call(..)))
        };
        for (&leader, local) in &mut self.vars {
            if !owners.contains(leader) {
                continue;
            }
            let bound = |&member: &usize| match body.type_of(Value::from_index(member)) {
                Type::Str(bound) => bound,
                Type::Long | Type::Iter => 0,
            };
            let members = &groups.members[leader];
            let mut bound = members.iter().map(bound).max().unwrap_or(longest).min(longest);
            if local.repr == Repr::View && members.iter().any(is_call) {
                bound = longest;
            }
            local.place = Some(place(scope, &local.name, bound, longest));
        }
    }
}

/// A place for strings of at most `bound` bytes, named after a variable.
pub(crate) fn place(scope: &mut Scope, name: &str, bound: u32, longest: u32) -> Place {
    let bytes = bound + 1 + 4;
    let in_frame = bytes > LARGEST_ON_STACK;
    let (name, address) = if in_frame {
        // Fields have a name space of their own; the variable's name is unique.
        (name.to_owned(), format!("&frame->{name}"))
    } else {
        let name = scope.unique(&format!("{}_text", name.trim_end_matches('_')));
        let address = format!("&{name}");
        (name, address)
    };
    Place { address, ty: repr::string_place(bound, longest), name, bytes, in_frame }
}

fn group<'a>(
    body: &'a Body,
    folding: &Folding,
    interference: &Interference,
    is_function: bool,
) -> Groups<'a> {
    let count = body.values.len();
    let mut groups = Groups {
        leader: (0..count).collect(),
        members: (0..count).map(|n| vec![n]).collect(),
        with: interference.with.clone(),
        body,
    };
    if is_function {
        // Parameters of C functions are all alive at the start, used or not.
        let params = &body.blocks[body.entry()].params;
        for &a in params {
            for &b in params.iter().filter(|&&b| b != a) {
                groups.with[a.index()].insert(b.index());
            }
        }
    }
    let is_variable = |value: Value| folding.home(value) == Home::Variable;
    for (arg, param) in edges(body) {
        if is_variable(arg) && is_variable(param) {
            groups.join(groups.find(arg), groups.find(param));
        }
    }
    let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for value in 0..count {
        let id = Value::from_index(value);
        if let Some(name) = &body.values[id].name
            && is_variable(id)
        {
            named.entry(name.clone()).or_default().push(value);
        }
    }
    for values in named.values() {
        for &other in &values[1..] {
            groups.join(groups.leader[values[0]], groups.leader[other]);
        }
    }
    groups
}

/// Arguments and the parameters that they are for, in layout order.
fn edges(body: &Body) -> Vec<(Value, Value)> {
    let pairs = |call: &BlockCall| -> Vec<(Value, Value)> {
        call.args.iter().copied().zip(body.blocks[call.block].params.iter().copied()).collect()
    };
    let calls = |&block: &Block| -> Vec<(Value, Value)> {
        let terminator: &Terminator = &body.blocks[block].terminator;
        terminator.successors().flat_map(pairs).collect()
    };
    body.layout.iter().flat_map(calls).collect()
}

fn string_edges(body: &Body) -> Vec<(Value, Value)> {
    edges(body).into_iter().filter(|(_, param)| body.type_of(*param).is_str()).collect()
}

/// Whether an operation writes its string to a place.
fn writes_place(
    facts: &Facts,
    op: &Op,
    interference: &Interference,
    result: Value,
    is_view: bool,
) -> bool {
    match op {
        Op::Intrinsic(intrinsic, _) => !repr::is_value_query(*intrinsic),
        Op::Call(function, _) => facts.returns_view(*function),
        Op::Format(..) | Op::CExpression(_) => true,
        // A name is copied as it is.
        op if borrows(op) || matches!(op, Op::Caught) => {
            is_view && interference.copied.contains(result.index())
        }
        _ => false,
    }
}

/// A name for a variable that the script does not name.
fn default_name<'b>(body: &'b Body, folding: &Folding, groups: &Groups, leader: usize) -> &'b str {
    let first = Value::from_index(groups.members[leader][0]);
    let Some(inst) = folding.definition(first) else { return "t" };
    match &body.insts[inst].op {
        Op::Intrinsic(intrinsic, _)
            if !repr::is_value_query(*intrinsic) && body.type_of(first).is_str() =>
        {
            "text"
        }
        Op::Intrinsic(intrinsic, _) => {
            let name = intrinsic.signature().name;
            name.rsplit('.').next().unwrap_or(name)
        }
        Op::IterKey(..) => "key",
        Op::IterValue(_) => "value",
        Op::Caught => "message",
        Op::StatGet(field, _) | Op::IterStat(_, field) => match field {
            StatField::Count => "count",
            StatField::Sum => "sum",
            StatField::Min => "least",
            StatField::Max => "most",
            StatField::Avg => "avg",
            StatField::Variance(_) => "variance",
        },
        Op::Contains(_) => "found",
        Op::Format(..) => "text",
        Op::Call(..) => "result",
        _ => "t",
    }
}
