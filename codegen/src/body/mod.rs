//! The text of one handler or function.

mod arrays;
mod assemble;
mod blocks;
mod calls;
mod copies;
mod keys;
mod locks;
mod operations;
mod output;
mod values;
mod walking;

use std::cell::Cell;
use std::collections::BTreeMap;

use xlate_ir::entities::{Block, Global, Value};
use xlate_ir::module::Body;
use xlate_ir::types::{Pos, Type};

use crate::bits::BitSet;
use crate::c::expr::Expr;
use crate::c::stmt::Stmt;
use crate::facts::Facts;
use crate::flow::graph::{Edge, Exit, Graph, Node};
use crate::fold::Folding;
use crate::locals::{Locals, Place};
use crate::module_names::ModuleNames;
use crate::names::Scope;
use crate::needs::Needs;
use crate::walks::{Owner, Snapshots};

pub(crate) use arrays::is_words;
pub(crate) use assemble::{Signature, emit};
pub(crate) use values::{probe_field, probe_text};

/// What all bodies of a module share.
pub(crate) struct Shared<'a> {
    /// What is known of the module.
    pub(crate) facts: &'a Facts<'a>,
    /// Names at file scope.
    pub(crate) names: &'a ModuleNames,
    /// Snapshots of arrays.
    pub(crate) snapshots: &'a Snapshots,
}

/// Emits one body.
struct BodyEmitter<'a> {
    shared: &'a Shared<'a>,
    needs: &'a mut Needs,
    owner: Owner,
    body: &'a Body,
    result: Option<Type>,
    /// Position of the whole, for instructions that have none.
    pos: Option<Pos>,
    folding: Folding,
    locals: Locals,
    scope: Scope,
    graph: Graph,
    /// The block that is being emitted.
    block: Block,
    /// Borrowed strings that must be copied.
    copied: BitSet,
    /// The node that statements go to.
    node: usize,
    /// Where in the script the instruction stands that is being emitted.
    origin: Option<Pos>,
    /// The node that each block starts.
    nodes: BTreeMap<Block, usize>,
    /// For blocks that both errors and other ways lead to: the node that takes the error.
    landings: BTreeMap<Block, usize>,
    /// Where an error of the current instruction goes, if it is caught here.
    catch: Option<Edge>,
    /// The locks held, in the order of acquisition.
    held: Vec<locks::Held>,
    /// Lists of locks that are held where an error leaves.
    exits: locks::Exits,
    exit_labels: BTreeMap<Vec<locks::Held>, String>,
    /// Whether it turns interrupts off.
    uses_flags: bool,
    /// The address of the place for strings that nothing needs, once there is one.
    spare: Option<String>,
    /// Helper variables: type, name. Shared by purpose.
    helpers: Vec<(String, String)>,
    helper_names: BTreeMap<(String, &'static str), String>,
    /// Whether a message names a place that is looked up.
    looks_up_places: Cell<bool>,
    /// Places that belong to no variable.
    extra_places: Vec<Place>,
    walks: BTreeMap<Value, walking::Walk>,
    /// Snapshots that are sorted when the lock of their array is released.
    sorts: Vec<(Global, Stmt)>,
}

impl<'a> BodyEmitter<'a> {
    fn facts(&self) -> &'a Facts<'a> {
        self.shared.facts
    }

    fn push(&mut self, mut stmt: Stmt) {
        self.stamp(&mut stmt);
        self.graph.nodes[self.node].stmts.push(stmt);
    }

    /// Says of a statement that it comes from where the instruction at hand stands.
    fn stamp(&self, stmt: &mut Stmt) {
        if let Some(pos) = self.origin {
            stmt.stamp(pos);
        }
    }

    fn call(&mut self, name: &str, args: Vec<Expr>) {
        self.push(Stmt::call(name, args));
    }

    fn new_node(&mut self) -> usize {
        self.graph.nodes.push(Node { stmts: Vec::new(), exit: Exit::Gone, guard: None });
        self.graph.nodes.len() - 1
    }

    /// A test for a run-time error: if `cond` holds, does `raise` and leaves, or goes to the `catch`.
    fn check(&mut self, mut cond: Expr, mut raise: Vec<Stmt>) {
        raise.iter_mut().for_each(|stmt| self.stamp(stmt));
        if let Some(pos) = self.origin {
            cond.stamp(pos, u32::MAX);
        }
        match self.catch.clone() {
            Some(mut edge) => {
                edge.copies.splice(0..0, raise);
                let next = self.new_node();
                let on = Edge { to: next, copies: Vec::new() };
                self.graph.nodes[self.node].exit = Exit::If(cond.unlikely(), edge, on);
                self.node = next;
            }
            None => {
                let mut then = raise;
                then.extend(self.leave_raised());
                let cond = cond.unlikely();
                self.push(Stmt::If { cond, then, otherwise: Vec::new() });
            }
        }
    }

    /// An error that is certain. What follows in the block is emitted, but nothing leads there.
    fn raise_now(&mut self, mut raise: Vec<Stmt>) {
        raise.iter_mut().for_each(|stmt| self.stamp(stmt));
        match self.catch.clone() {
            Some(mut edge) => {
                edge.copies.splice(0..0, raise);
                self.graph.nodes[self.node].exit = Exit::Jump(edge);
            }
            None => {
                raise.extend(self.leave_raised());
                self.graph.nodes[self.node].stmts.append(&mut raise);
            }
        }
        self.node = self.new_node();
    }

    /// A check that no `catch` may stop.
    fn check_limit(&mut self, cond: Expr) {
        let then = self.leave_raised();
        self.push(Stmt::If { cond: cond.unlikely(), then, otherwise: Vec::new() });
    }

    /// `xl_raise(c, message, where)`.
    fn raise(&self, message: &str, pos: Option<Pos>) -> Stmt {
        let args = vec![context(), Expr::Str(message.as_bytes().to_vec()), self.place_of(pos)];
        Stmt::call("xl_raise", args)
    }

    /// A position as messages name it.
    fn place_of(&self, pos: Option<Pos>) -> Expr {
        let pos = pos.or(self.pos);
        let module = self.facts().module;
        let (places, table) = match self.owner {
            Owner::Handler(handler) => (&module.handlers[handler].places, "record->p"),
            Owner::Function(function) => (&module.functions[function].places, "places->p"),
        };
        if let Some(place) = places.iter().position(|&place| Some(place) == pos) {
            self.looks_up_places.set(true);
            return Expr::atom(format!("{table}{place}"));
        }
        Expr::Str(self.facts().position(pos).into_bytes())
    }

    /// A variable for a purpose; the same one each time.
    fn helper(&mut self, ty: &str, purpose: &'static str) -> Expr {
        let key = (ty.to_owned(), purpose);
        if let Some(name) = self.helper_names.get(&key) {
            return Expr::atom(name);
        }
        let name = self.scope.local(purpose);
        self.helpers.push((ty.to_owned(), name.clone()));
        self.helper_names.insert(key, name.clone());
        Expr::atom(name)
    }

    /// A variable of its own.
    fn fresh(&mut self, ty: &str, name: &str) -> Expr {
        let name = self.scope.local(name);
        self.helpers.push((ty.to_owned(), name.clone()));
        Expr::atom(name)
    }
}

/// The context, by the name that it has everywhere.
fn context() -> Expr {
    Expr::atom("c")
}
