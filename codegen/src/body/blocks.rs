//! Blocks, terminators, and the assignments on edges.

use std::collections::{BTreeMap, BTreeSet};

use xlate_ir::entities::{Block, Inst, Value};
use xlate_ir::instructions::{BlockCall, Op, Terminator};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::types::Const;

use super::calls::raised;
use super::copies::{Copy, in_sequence};
use super::{BodyEmitter, locks};
use crate::c::expr::Expr;
use crate::c::stmt::Stmt;
use crate::flow::graph::{Edge, Exit};
use crate::fold::Home;
use crate::locals;
use crate::repr::Repr;

impl BodyEmitter<'_> {
    /// Emits all blocks that can be reached into the graph.
    pub(super) fn blocks(&mut self) {
        let order = reverse_postorder(self);
        for &block in &order {
            let node = self.new_node();
            self.nodes.insert(block, node);
        }
        let catches = catch_blocks(self, &order);
        self.landings = catches
            .iter()
            .filter(|(_, shared)| **shared)
            .map(|(&block, _)| block)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|block| (block, self.new_node()))
            .collect();
        let mut held_at: BTreeMap<Block, Vec<locks::Held>> = BTreeMap::new();
        held_at.insert(self.body.entry(), self.held.clone());
        for &block in &order {
            self.held = held_at.get(&block).cloned().unwrap_or_default();
            self.node = self.nodes[&block];
            self.block = block;
            if let Some(&landing) = self.landings.get(&block) {
                self.node = landing;
                self.begin_catch(None);
                let to = self.nodes[&block];
                self.leave_by(Exit::Jump(Edge { to, copies: Vec::new() }));
                self.node = to;
            } else if catches.contains_key(&block) {
                self.begin_catch(self.body.blocks[block].insts.first().copied());
            }
            self.one_block(block);
            for call in self.body.blocks[block].terminator.successors() {
                held_at.entry(call.block).or_insert_with(|| self.held.clone());
            }
        }
    }

    /// A block that errors lead to: takes the error, or passes it on if nothing may catch it.
    fn begin_catch(&mut self, first: Option<Inst>) {
        let message = first.and_then(|inst| {
            let is_caught = matches!(self.body.insts[inst].op, Op::Caught);
            self.result_of(inst).filter(|_| is_caught)
        });
        self.graph.nodes[self.node].guard = Some(raised());
        let target = message.as_ref().map(|(_, name)| name.clone());
        let caught = self.catch_message(target);
        self.check_limit(caught.negated());
        if let Some((value, name)) = message
            && let Some(place) = self.locals.get(value).and_then(|local| local.place.clone())
        {
            let copy = Expr::call("xl_set", vec![Expr::atom(place.address), name.clone()]);
            self.push(Stmt::Assign(name, copy));
        }
    }

    fn one_block(&mut self, block: Block) {
        let body = self.body;
        let data = &body.blocks[block];
        let (last, rest) = match (&data.terminator, data.insts.split_last()) {
            (Terminator::Try(..), Some((last, rest))) => (Some(*last), rest),
            _ => (None, &data.insts[..]),
        };
        for &inst in rest {
            self.instruction(inst);
        }
        match &data.terminator {
            Terminator::Try(normal, catch) => {
                self.catch = Some(self.raise_edge(catch));
                if let Some(last) = last {
                    self.instruction(last);
                }
                self.catch = None;
                let normal = self.edge(normal);
                self.leave_by(Exit::Jump(normal));
            }
            Terminator::Jump(to) => {
                let edge = self.edge(to);
                self.leave_by(Exit::Jump(edge));
            }
            Terminator::Branch(value, yes, no) => {
                if let Some(Const::Long(n)) = self.folding.constant(body, *value) {
                    let edge = self.edge(if *n != 0 { yes } else { no });
                    self.leave_by(Exit::Jump(edge));
                    return;
                }
                let mut cond = self.value(*value).condition();
                let made = self.folding.definition(*value);
                if let Some(pos) = made.and_then(|inst| body.insts[inst].pos) {
                    cond.stamp(pos, u32::MAX);
                }
                let (yes, no) = (self.edge(yes), self.edge(no));
                self.leave_by(Exit::If(cond, yes, no));
            }
            Terminator::Return(value) => self.ordinary_return(*value),
            Terminator::Raise { message, catch, pos } => {
                let mut raise = self.raise_message(*message, *pos);
                match catch {
                    Some(catch) => {
                        let edge = self.raise_edge(catch);
                        self.graph.nodes[self.node].stmts.append(&mut raise);
                        self.leave_by(Exit::Jump(edge));
                    }
                    None => {
                        raise.extend(self.leave_raised());
                        self.graph.nodes[self.node].stmts.append(&mut raise);
                    }
                }
            }
            Terminator::Unreachable => {}
        }
    }

    fn leave_by(&mut self, exit: Exit) {
        // An instruction that ends the handler for good has left already.
        if !crate::c::stmt::ends_away(&self.graph.nodes[self.node].stmts) {
            self.graph.nodes[self.node].exit = exit;
        }
    }

    fn ordinary_return(&mut self, value: Option<Value>) {
        self.release_all();
        let Some(value) = value else { return self.leave_by(Exit::Return(None)) };
        let repr = self.result.map_or(Repr::Long, Repr::of);
        let is_literal = self.is_lasting(value);
        let in_place = self
            .locals
            .get(value)
            .and_then(|local| local.place.as_ref())
            .is_some_and(|place| place.address == "ret");
        let own = self.value_as(value, repr);
        let result = if repr == Repr::View && !is_literal && !in_place {
            self.needs.headers.insert("strings.h");
            Expr::call("xl_set", vec![Expr::atom("ret"), own])
        } else {
            own
        };
        self.leave_by(Exit::Return(Some(result)));
    }

    /// Whether a string lies where it outlives the function: in a literal, or in the probe table.
    fn is_lasting(&self, value: Value) -> bool {
        self.folding.home(value) == Home::Inline
            && self.folding.definition(value).is_some_and(|inst| {
                matches!(
                    self.body.insts[inst].op,
                    Op::Const(_)
                        | Op::Record(_)
                        | Op::Intrinsic(Intrinsic::Pp | Intrinsic::Pn | Intrinsic::ModuleName, _)
                )
            })
    }

    /// The edge of a block call, with its arguments assigned one after the other as if at once.
    fn edge(&mut self, call: &BlockCall) -> Edge {
        let params = self.body.blocks[call.block].params.clone();
        let mut copies = Vec::new();
        for (&arg, &param) in call.args.iter().zip(&params) {
            if self.folding.home(param) == Home::Variable {
                copies.extend(self.copy(arg, param));
            }
        }
        let copies = in_sequence(copies, &mut |value, repr, copies_text, list| {
            self.save(value, repr, copies_text, list)
        });
        Edge { to: self.nodes[&call.block], copies }
    }

    /// The same for an edge that an error takes: by way of the landing, if the block has one.
    fn raise_edge(&mut self, call: &BlockCall) -> Edge {
        let mut edge = self.edge(call);
        if let Some(&landing) = self.landings.get(&call.block) {
            edge.to = landing;
        }
        edge
    }

    fn copy(&mut self, arg: Value, param: Value) -> Option<Copy> {
        let to = self.locals.number(param);
        let is_variable = self.folding.home(arg) == Home::Variable;
        if is_variable && self.locals.number(arg) == to {
            return None;
        }
        let local = self.locals.get(param)?.clone();
        let mut reads = BTreeSet::new();
        let mut leaves = Vec::new();
        let (facts, body) = (self.facts(), self.body);
        self.folding.for_each_leaf(facts, body, arg, &mut |leaf| leaves.push(leaf));
        for leaf in leaves {
            reads.insert(self.locals.number(leaf));
            if let Some(local) = self.locals.get(leaf) {
                reads.extend(local.sources.iter());
            }
        }
        let value = self.value_as(arg, local.repr);
        let is_literal = self.is_lasting(arg);
        let place = local
            .place
            .as_ref()
            .filter(|_| local.copies && !is_literal)
            .map(|place| place.address.clone());
        let origin = self.folding.definition(arg).and_then(|inst| self.body.insts[inst].pos);
        Some(Copy { to, name: local.name, repr: local.repr, value, reads, place, origin })
    }

    /// Saves the value of an assignment in a variable, with its text if some text is copied.
    fn save(&mut self, value: Expr, repr: Repr, copies_text: bool, list: &mut Vec<Stmt>) -> Expr {
        let saved = self.fresh(repr.c_type(), "saved");
        let value = if repr == Repr::View && copies_text {
            let longest = self.facts().module.limits.longest_string();
            let name = self.scope.local("swap");
            let place = locals::place(&mut self.scope, &name, longest, longest);
            let set = Expr::call("xl_set", vec![Expr::atom(&place.address), value]);
            self.extra_places.push(place);
            set
        } else {
            value
        };
        list.push(Stmt::Assign(saved.clone(), value));
        saved
    }
}

/// The blocks that can be reached, each before those that it leads to, loops aside.
fn reverse_postorder(emitter: &BodyEmitter) -> Vec<Block> {
    let body = emitter.body;
    let mut seen = BTreeSet::from([body.entry()]);
    let mut order = Vec::new();
    let successors = |block: Block| -> Vec<Block> {
        let calls = body.blocks[block].terminator.successors();
        calls.map(|call| call.block).collect()
    };
    let mut stack = vec![(body.entry(), successors(body.entry()))];
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) => {
                if seen.insert(next) {
                    stack.push((next, successors(next)));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The blocks that errors lead to, and whether other ways lead there, too: such a block takes the
/// error in a node of its own ahead of it.
fn catch_blocks(emitter: &BodyEmitter, order: &[Block]) -> BTreeMap<Block, bool> {
    let mut catches = BTreeMap::new();
    let mut others = BTreeSet::new();
    for &block in order {
        let terminator = &emitter.body.blocks[block].terminator;
        match terminator {
            Terminator::Try(normal, catch) => {
                catches.insert(catch.block, false);
                others.insert(normal.block);
            }
            Terminator::Raise { catch: Some(catch), .. } => {
                catches.insert(catch.block, false);
            }
            _ => others.extend(terminator.successors().map(|call| call.block)),
        }
    }
    for (block, shared) in &mut catches {
        *shared = others.contains(block);
    }
    catches
}
