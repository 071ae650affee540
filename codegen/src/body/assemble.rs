//! Puts a function together: signature, declarations, statements.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use xlate_ir::entities::Entity;
use xlate_ir::instructions::LockMode;
use xlate_ir::module::Body;
use xlate_ir::types::{Pos, Type};

use super::keys;
use super::locks::Lock;
use super::{BodyEmitter, Shared, context};
use crate::c::expr::{Binding, Expr, words};
use crate::c::layout::{Writer, flat};
use crate::c::stmt::Stmt;
use crate::c::text::Text;
use crate::declare::{self, Variable};
use crate::flow::graph::Graph;
use crate::flow::{in_place, reduce, structure, tidy, unread};
use crate::fold::{Folding, borrows};
use crate::liveness::Interference;
use crate::locals::{Locals, Place};
use crate::names::Scope;
use crate::needs::{Frame, Needs};
use crate::repr::Repr;
use crate::walks::Owner;

/// A function of the emitted module, before its text.
pub(crate) struct Signature {
    /// Its result in C, `void` if it has none.
    pub(crate) result: String,
    /// Its name.
    pub(crate) name: String,
    /// Type and name of each parameter after the context.
    pub(crate) params: Vec<(String, String)>,
}

impl Signature {
    /// The line that begins the definition, or a declaration with `end` `;`.
    pub(crate) fn text(&self, end: &str) -> String {
        let mut params = vec![Expr::atom("struct xl_context *c")];
        params.extend(
            self.params.iter().map(|(ty, name)| Expr::atom(crate::c::layout::declarator(ty, name))),
        );
        let head = Expr::call(
            crate::c::layout::declarator(&format!("static {}", self.result), &self.name),
            params,
        );
        let mut writer = Writer::new(|label| label.0.to_string());
        writer.line_of("", &head, end);
        writer.finish().finish().0
    }
}

/// Emits a handler or function; gives its signature and its body, braces included.
pub(crate) fn emit(
    shared: &Shared,
    needs: &mut Needs,
    owner: Owner,
    body: &Body,
    result: Option<Type>,
    pos: Option<Pos>,
) -> (Signature, Text) {
    let facts = shared.facts;
    let is_function = matches!(owner, Owner::Function(_));
    let folding = Folding::of(facts, body, result);
    let interference = Interference::of(facts, body, &folding);
    let mut scope = Scope::default();
    for name in ["c", "flags", "frame", "ret", "record", "places"] {
        scope.unique(name);
    }
    let returns_view = is_function && result.map(Repr::of) == Some(Repr::View);
    let locals =
        Locals::of(facts, body, &folding, &interference, &mut scope, is_function, returns_view);
    let emitter = BodyEmitter {
        shared,
        needs,
        owner,
        body,
        result,
        pos,
        folding,
        locals,
        scope,
        graph: Graph::default(),
        block: body.entry(),
        copied: interference.copied,
        node: 0,
        origin: pos,
        nodes: BTreeMap::new(),
        landings: BTreeMap::new(),
        catch: None,
        held: Vec::new(),
        exits: BTreeSet::new(),
        exit_labels: BTreeMap::new(),
        uses_flags: false,
        spare: None,
        helpers: Vec::new(),
        helper_names: BTreeMap::new(),
        looks_up_places: Cell::new(false),
        extra_places: Vec::new(),
        walks: BTreeMap::new(),
        sorts: Vec::new(),
    };
    emitter.emit()
}

impl BodyEmitter<'_> {
    fn emit(mut self) -> (Signature, Text) {
        let mut list = self.prologue();
        self.blocks();
        reduce::reduce(&mut self.graph);
        let mut main = structure::structure(&self.graph);
        let own = self.locals.vars.values().filter(|local| !local.is_parameter);
        unread::drop_unread(&mut main, &own.map(|local| local.name.as_str()).collect());
        in_place::write_in_place(&mut main, &self.borrowing());
        list.append(&mut main);
        self.append_exits(&mut list);
        if self.result.is_some() && !crate::c::stmt::ends_away(&list) {
            list.push(Stmt::Return(self.empty_result()));
        }
        let signature = self.signature();
        list.splice(0..0, self.places_of_variant(&signature));
        let frame = self.frame(&signature.name, &mut list);
        self.needs.frames.extend(frame);
        let mut list = declare::declare(list, self.declarations());
        keys::scope(&mut list);
        let labels = structure::label_names(&list);
        let mut writer = Writer::new(move |label| match labels.get(&label) {
            Some(name) => name.clone(),
            None => format!("label_{}", label.0),
        });
        writer.block(&list);
        let mut text = Text::plain("{\n");
        text.push(&writer.finish());
        text.push_str("}\n");
        (signature, text)
    }

    /// The variables that view strings in globals or under a walk.
    fn borrowing(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (_, inst) in self.body.iter_insts() {
            let data = &self.body.insts[inst];
            if let Some((result, name)) = self.result_of(inst)
                && borrows(&data.op)
                && !self.copied.contains(result.index())
                && let Expr::Atom(name) = name
            {
                names.insert(name.to_string());
            }
        }
        names
    }

    /// What a handler does first: gets its actions, leaves word for functions that ask which probe
    /// point fired, locks its snapshots.
    fn prologue(&mut self) -> Vec<Stmt> {
        let Owner::Handler(handler) = self.owner else { return Vec::new() };
        let mut list = Vec::new();
        let facts = self.facts();
        if facts.wants(self.body).actions {
            let runs_alone =
                facts.points(handler).any(|point| crate::probes::runs_alone(&point.kind));
            let limit = if runs_alone { "MAXACTION_INTERRUPTIBLE" } else { "MAXACTION" };
            list.push(Stmt::call("xl_budget", vec![context(), Expr::atom(limit)]));
        }
        for intrinsic in facts.callee_queries(self.body) {
            let field = super::values::probe_field(intrinsic);
            let value = self.intrinsic(intrinsic, &[]);
            list.push(Stmt::Assign(Expr::atom(format!("XL_FRAME(c)->{field}")), value));
        }
        let locks: Vec<_> = self
            .shared
            .snapshots
            .locked_by(handler)
            .iter()
            .map(|s| (Lock::Snapshot(s.number, s.global), LockMode::Write))
            .collect();
        if !locks.is_empty() {
            self.node = self.new_node();
            self.lock(&locks);
            list.append(&mut self.graph.nodes[self.node].stmts);
            self.graph.nodes.clear();
        }
        list
    }

    fn signature(&self) -> Signature {
        match self.owner {
            Owner::Handler(handler) => {
                let name = self.shared.names.handler(handler).to_owned();
                let record = crate::probes::Record::of(self.facts(), handler);
                let params = if record.is_empty() {
                    Vec::new()
                } else {
                    vec![(format!("const struct {name}_record *"), "record".to_owned())]
                };
                Signature { result: "void".into(), name, params }
            }
            Owner::Function(function) => {
                let mut params = Vec::new();
                if self.result.map(Repr::of) == Some(Repr::View) {
                    params.push(("struct xl_string *".to_owned(), "ret".to_owned()));
                }
                for &param in &self.body.blocks[self.body.entry()].params {
                    if let Some(local) = self.locals.get(param) {
                        params.push((local.repr.c_type().to_owned(), local.name.clone()));
                    }
                }
                let mut name = self.shared.names.function(function).to_owned();
                if self.facts().is_recursive(function) {
                    name.push_str("_body");
                }
                let result = self.result.map_or("void", |ty| Repr::of(ty).c_type());
                Signature { result: result.into(), name, params }
            }
        }
    }

    /// The places that messages of a function name, which the last parameter chooses.
    fn places_of_variant(&self, signature: &Signature) -> Option<Stmt> {
        let Owner::Function(function) = self.owner else { return None };
        if !self.looks_up_places.get() {
            return None;
        }
        let name = self.shared.names.function(function);
        let (_, variant) = signature.params.last()?;
        let row = Expr::atom(format!("{name}_places[{variant}]")).address();
        Some(Stmt::Define(format!("const struct {name}_places *"), "places".into(), row))
    }

    /// The frame, if some places lie in one, and the variable that points to it.
    fn frame(&self, name: &str, list: &mut Vec<Stmt>) -> Option<Frame> {
        let mut text = BTreeSet::new();
        tidy::walk(list, &mut |stmt| {
            stmt.for_each_expr(&mut |e| {
                let flat = flat(e, Binding::LOWEST);
                let members = words(&flat).filter(|(_, is_member)| *is_member);
                text.extend(members.map(|(word, _)| word.to_owned()));
            });
        });
        let is_used = |place: &&Place| place.in_frame && text.contains(&place.name);
        // Strings may share a place.
        let mut names = BTreeSet::new();
        let is_new = |place: &&Place| names.insert(place.name.clone());
        let places: Vec<_> = self.places().filter(is_used).filter(is_new).collect();
        if places.is_empty() {
            return None;
        }
        let is_recursive =
            matches!(self.owner, Owner::Function(function) if self.facts().is_recursive(function));
        let index = if is_recursive { "[c->nesting - 1]" } else { "" };
        let address = Expr::atom(format!("XL_FRAME(c)->{name}{index}")).address();
        list.insert(0, Stmt::Define(format!("struct {name}_frame *"), "frame".into(), address));
        Some(Frame {
            function: name.to_owned(),
            is_handler: matches!(self.owner, Owner::Handler(_)),
            is_recursive,
            bytes: places.iter().map(|place| place.bytes).sum(),
            places: places.iter().map(|place| (place.ty.clone(), place.name.clone())).collect(),
        })
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        let own = self.locals.vars.values().filter_map(|local| local.place.as_ref());
        own.chain(&self.extra_places).filter(|place| !place.name.is_empty())
    }

    /// Every variable.
    fn declarations(&self) -> Vec<Variable> {
        let mut all = Vec::new();
        if self.uses_flags {
            all.push(Variable::plain("unsigned long", "flags"));
        }
        let locals = &self.locals.vars;
        let viewers = |owner: usize| -> Vec<String> {
            let views =
                locals.iter().filter(|(n, local)| **n != owner && local.sources.contains(owner));
            views.map(|(_, local)| local.name.clone()).collect()
        };
        for (&n, local) in locals.iter().filter(|(_, local)| !local.is_parameter) {
            let variable = Variable::plain(local.repr.c_type(), &local.name);
            all.push(Variable { viewers: viewers(n), ..variable });
        }
        all.extend(self.helpers.iter().map(|(ty, name)| Variable::plain(ty, name)));
        let place = |place: &Place, viewers| Variable {
            is_place: true,
            viewers,
            ..Variable::plain(&place.ty, &place.name)
        };
        let on_stack = |place: &&Place| !place.in_frame && !place.name.is_empty();
        for (&n, local) in locals {
            let own = std::iter::once(local.name.clone());
            all.extend(
                local
                    .place
                    .iter()
                    .filter(on_stack)
                    .map(|it| place(it, own.clone().chain(viewers(n)).collect())),
            );
        }
        all.extend(self.extra_places.iter().filter(on_stack).map(|it| place(it, Vec::new())));
        all
    }
}
