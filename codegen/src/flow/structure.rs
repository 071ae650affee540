//! Structured statements from a control-flow graph.
//!
//! The algorithm is N. Ramsey, "Beyond Relooper: Recursive Translation of Unstructured Control Flow
//! to Structured Control Flow" (2022): a node's text contains that of the nodes that it immediately
//! dominates; one with a single predecessor stands right where it is jumped to, one where control
//! merges stands after everything that jumps to it. Two things differ because the target is C, to be
//! read by people: what a loop header dominates but the loop does not contain is placed after the
//! loop, and a jump whose target control reaches anyway is not written at all. `break`, `continue`
//! and a copy of a short tail serve where they can, a forward `goto` where nothing else does (leaving
//! two loops at once). Lowering makes only reducible graphs; should another come, its retreating
//! edges become backward `goto`s, which are as correct.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::graph::NodeIndex;

use super::graph::{Edge, Exit, Graph};
use super::tidy;
use crate::c::expr::Expr;
use crate::c::stmt::{Label, Stmt};

/// Statements that are copied rather than jumped to, at most.
const LONGEST_COPY: usize = 2;

/// What control reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    /// A node.
    Node(usize),
    /// The end of the function.
    End,
}

/// What surrounds a piece of text.
#[derive(Clone)]
struct Place {
    /// What control reaches at the end of the text: the first without condition, the others past the
    /// guarded nodes before them.
    falls: Vec<Target>,
    /// The same for `break`; empty outside loops.
    breaks: Vec<Target>,
    /// The header of the innermost loop.
    header: Option<usize>,
}

struct Structurer<'g> {
    graph: &'g Graph,
    /// Position of each node in reverse postorder; `usize::MAX` if it cannot be reached.
    order: Vec<usize>,
    /// Nodes that stand after the text of this one, or after its loop, in reverse postorder.
    after: Vec<Vec<usize>>,
    after_loop: Vec<Vec<usize>>,
    /// Whether a node stands in one of those lists.
    placed: Vec<bool>,
    /// For each loop header, the nodes of the loop.
    loops: Vec<Option<BTreeSet<usize>>>,
    /// Placed nodes that something jumps or falls to. One that only copies of it stand for is dropped.
    reached: BTreeSet<usize>,
    /// Guarded nodes into whose place control falls without an error.
    fallen_into: BTreeSet<usize>,
}

/// The statements of a function.
pub(crate) fn structure(graph: &Graph) -> Vec<Stmt> {
    let mut structurer = Structurer::new(graph);
    let place = Place { falls: vec![Target::End], breaks: Vec::new(), header: None };
    let list = structurer.tree(0, &place);
    tidy::tidy(list)
}

impl<'g> Structurer<'g> {
    fn new(graph: &'g Graph) -> Self {
        let count = graph.nodes.len();
        let mut order = vec![usize::MAX; count];
        let postorder = graph.reverse_postorder();
        for (position, &node) in postorder.iter().enumerate() {
            order[node] = position;
        }
        let mut structurer = Self {
            graph,
            order,
            after: vec![Vec::new(); count],
            after_loop: vec![Vec::new(); count],
            placed: vec![false; count],
            loops: vec![None; count],
            reached: BTreeSet::new(),
            fallen_into: BTreeSet::new(),
        };
        structurer.place_all(&postorder);
        structurer
    }

    /// Finds the loops and decides where each node stands.
    fn place_all(&mut self, postorder: &[usize]) {
        let dominators = self.graph.dominators();
        let dominates = |a: usize, b: usize| {
            dominators
                .dominators(NodeIndex::new(b))
                .is_some_and(|mut chain| chain.any(|node| node.index() == a))
        };
        let mut predecessors = vec![Vec::new(); self.graph.nodes.len()];
        for &from in postorder {
            for edge in self.graph.nodes[from].edges() {
                predecessors[edge.to].push(from);
            }
        }
        for &header in postorder {
            let latches: Vec<usize> =
                predecessors[header].iter().copied().filter(|&p| dominates(header, p)).collect();
            if !latches.is_empty() {
                self.loops[header] = Some(natural_loop(header, &latches, &predecessors));
            }
        }
        let forward =
            |node: usize| predecessors[node].iter().filter(|&&from| !dominates(node, from)).count();
        let idom = |node: usize| dominators.immediate_dominator(NodeIndex::new(node));
        for &node in postorder {
            if forward(node) > 1
                && let Some(parent) = idom(node)
            {
                self.put(node, parent.index());
            }
        }
        for &header in postorder {
            // What jumps to a `catch` from afar says so with a `goto`; anything else that stands after
            // the loop wants to be what `break` reaches.
            let next = self.after_loop[header].iter().min_by_key(|&&node| self.order[node]);
            let room = next.is_none_or(|&next| self.graph.nodes[next].guard.is_some());
            if self.loops[header].is_some() && room {
                // An edge back to a loop around this one is none of its ends.
                let ends = |node: usize| forward(node) == 1 && dominates(header, node);
                self.choose_follower(header, &ends);
            }
        }
    }

    /// Places a merge node after its immediate dominator, or after the outermost loop around that
    /// which does not contain it.
    fn put(&mut self, node: usize, parent: usize) {
        let left = (0..self.loops.len())
            .filter(|&header| {
                self.loops[header]
                    .as_ref()
                    .is_some_and(|nodes| nodes.contains(&parent) && !nodes.contains(&node))
            })
            .min_by_key(|&header| self.order[header]);
        match left {
            Some(header) => self.after_loop[header].push(node),
            None => self.after[parent].push(node),
        }
        self.placed[node] = true;
    }

    /// Of the nodes with one predecessor that a loop is left to, the one that stands after it: where
    /// its header goes, else the last.
    fn choose_follower(&mut self, header: usize, ends: &dyn Fn(usize) -> bool) {
        let Some(nodes) = &self.loops[header] else { return };
        let leaves = |from: usize| {
            self.graph.nodes[from].edges().map(|edge| edge.to).filter(|&to| {
                !nodes.contains(&to)
                    && ends(to)
                    && !self.placed[to]
                    && !self.graph.nodes[to].stmts.iter().any(Stmt::leaves)
            })
        };
        let follower = leaves(header).next().or_else(|| {
            nodes.iter().flat_map(|&from| leaves(from)).max_by_key(|&to| self.order[to])
        });
        if let Some(follower) = follower {
            self.after_loop[header].push(follower);
            self.after_loop[header].sort_by_key(|&node| self.order[node]);
            self.placed[follower] = true;
        }
    }

    /// The text of a node, of its loop if it is a header, and of everything that it dominates.
    fn tree(&mut self, node: usize, place: &Place) -> Vec<Stmt> {
        if self.loops[node].is_none() {
            return self.within(node, place);
        }
        let after = self.after_loop[node].clone();
        self.sequence(&after, place, |this, place| {
            let inside = Place {
                falls: vec![Target::Node(node)],
                breaks: place.falls.clone(),
                header: Some(node),
            };
            let body = this.within(node, &inside);
            let mut list = vec![Stmt::Label(Label(node as u32))];
            list.extend(tidy::make_loop(body));
            list
        })
    }

    /// The text of a node and of what merges after it.
    fn within(&mut self, node: usize, place: &Place) -> Vec<Stmt> {
        let after = self.after[node].clone();
        self.sequence(&after, place, |this, place| {
            let mut list = Vec::new();
            if this.placed[node] && this.loops[node].is_none() {
                list.push(Stmt::Label(Label(node as u32)));
            }
            list.extend(this.graph.nodes[node].stmts.iter().cloned());
            this.exit(node, place, &mut list);
            list
        })
    }

    /// A text followed by those of `after`.
    fn sequence(
        &mut self,
        after: &[usize],
        place: &Place,
        first: impl FnOnce(&mut Self, &Place) -> Vec<Stmt>,
    ) -> Vec<Stmt> {
        // What control reaches at the end of the text before each, from the last backwards.
        let mut reached = vec![place.falls.clone()];
        for &node in after.iter().rev() {
            let mut falls = vec![Target::Node(node)];
            if self.graph.nodes[node].guard.is_some()
                && let Some(next) = reached.last()
            {
                falls.extend(next.iter().copied());
            }
            reached.push(falls);
        }
        let around = |reached: &mut Vec<Vec<Target>>| Place {
            falls: reached.pop().unwrap_or_default(),
            ..place.clone()
        };
        let inner = around(&mut reached);
        let mut list = first(self, &inner);
        for &node in after {
            let inner = around(&mut reached);
            if self.reached.contains(&node) {
                let text = self.tree(node, &inner);
                self.append(node, text, &mut list);
            }
        }
        list
    }

    /// Adds the text of a placed node, behind its guard if control without an error falls into it.
    fn append(&mut self, node: usize, mut text: Vec<Stmt>, list: &mut Vec<Stmt>) {
        match &self.graph.nodes[node].guard {
            Some(guard) if self.fallen_into.contains(&node) => {
                if matches!(text.first(), Some(Stmt::Label(_))) {
                    list.push(text.remove(0));
                }
                list.push(Stmt::If { cond: guard.clone(), then: text, otherwise: Vec::new() });
            }
            _ => list.extend(text),
        }
    }

    fn exit(&mut self, node: usize, place: &Place, list: &mut Vec<Stmt>) {
        match &self.graph.nodes[node].exit {
            Exit::Jump(edge) => list.extend(self.edge(node, edge, place)),
            Exit::If(cond, yes, no) => {
                let then = if self.is_shared_catch(yes.to) {
                    // However near it stands: the rest of a `try` is not nested deeper for it.
                    self.reached.insert(yes.to);
                    let jump = Stmt::Goto(Label(yes.to as u32));
                    yes.copies.iter().cloned().chain([jump]).collect()
                } else {
                    self.edge(node, yes, place)
                };
                let otherwise = self.edge(node, no, place);
                list.extend(tidy::make_if(cond.clone(), then, otherwise));
            }
            Exit::Return(value) => list.extend(self.leave(value.as_ref(), place)),
            Exit::Gone => {}
        }
    }

    /// Whether a node is a `catch` that several errors go to.
    fn is_shared_catch(&self, node: usize) -> bool {
        self.graph.nodes[node].guard.is_some() && self.placed[node]
    }

    fn leave(&mut self, value: Option<&Expr>, place: &Place) -> Option<Stmt> {
        if value.is_none() && self.falls_to(Target::End, &place.falls) {
            return None;
        }
        Some(Stmt::Return(value.cloned()))
    }

    fn edge(&mut self, from: usize, edge: &Edge, place: &Place) -> Vec<Stmt> {
        let mut list = edge.copies.clone();
        let is_back = self.loops[edge.to].as_ref().is_some_and(|nodes| nodes.contains(&from));
        if self.placed[edge.to] || is_back {
            self.jump(edge.to, place, &mut list);
        } else {
            list.extend(self.tree(edge.to, place));
        }
        list
    }

    /// Gets to a placed node.
    fn jump(&mut self, to: usize, place: &Place, list: &mut Vec<Stmt>) {
        if let Some(jump) = self.short_jump(to, place) {
            list.extend(jump);
        } else if let Some(copy) = self.copy_of(to, place) {
            list.extend(copy);
        } else {
            self.reached.insert(to);
            list.push(Stmt::Goto(Label(to as u32)));
        }
    }

    /// Nothing, `break` or `continue`, if one of them gets there.
    fn short_jump(&mut self, to: usize, place: &Place) -> Option<Option<Stmt>> {
        if self.falls_to(Target::Node(to), &place.falls) {
            Some(None)
        } else if self.falls_to(Target::Node(to), &place.breaks) {
            Some(Some(Stmt::Break))
        } else if place.header == Some(to) {
            Some(Some(Stmt::Continue))
        } else {
            None
        }
    }

    /// A copy of the node, if it is short and leads on without a `goto`.
    fn copy_of(&mut self, to: usize, place: &Place) -> Option<Vec<Stmt>> {
        let node = &self.graph.nodes[to];
        if node.guard.is_some() || self.loops[to].is_some() || node.stmts.len() > LONGEST_COPY {
            return None;
        }
        let mut list = node.stmts.clone();
        match &node.exit {
            Exit::Return(value) => list.extend(self.leave(value.as_ref(), place)),
            Exit::Gone => {}
            Exit::Jump(edge) if list.len() + edge.copies.len() <= LONGEST_COPY => {
                list.extend(edge.copies.iter().cloned());
                list.extend(self.short_jump(edge.to, place)?);
            }
            _ => return None,
        }
        Some(list)
    }

    /// Whether control falls to a target; guarded nodes on the way then need their guards.
    fn falls_to(&mut self, target: Target, falls: &[Target]) -> bool {
        let Some(position) = falls.iter().position(|&t| t == target) else { return false };
        if let Target::Node(node) = target {
            self.reached.insert(node);
        }
        for passed in &falls[..position] {
            if let Target::Node(node) = passed {
                self.fallen_into.insert(*node);
            }
        }
        true
    }
}

/// The nodes of a loop: those that reach a latch without passing the header.
fn natural_loop(header: usize, latches: &[usize], predecessors: &[Vec<usize>]) -> BTreeSet<usize> {
    let mut nodes = BTreeSet::from([header]);
    let mut work = latches.to_vec();
    while let Some(node) = work.pop() {
        if nodes.insert(node) {
            work.extend(&predecessors[node]);
        }
    }
    nodes
}

/// Names for the labels of a function: `catch` where errors are caught, else `next`.
pub(crate) fn label_names(list: &[Stmt]) -> BTreeMap<Label, String> {
    let mut labels = Vec::new();
    find_labels(list, &mut labels);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for (label, catches) in labels {
        let stem = if catches { "catch" } else { "next" };
        let count = counts.entry(stem).or_default();
        *count += 1;
        let name = if *count == 1 { stem.to_owned() } else { format!("{stem}_{count}") };
        names.insert(label, name);
    }
    names
}

fn find_labels(list: &[Stmt], labels: &mut Vec<(Label, bool)>) {
    for (n, stmt) in list.iter().enumerate() {
        match stmt {
            Stmt::Label(label) => {
                let tests = |cond: &Expr| cond.calls("xl_raised") || cond.calls("xl_catch");
                let catches = matches!(list.get(n + 1), Some(Stmt::If { cond, .. }) if tests(cond));
                labels.push((*label, catches));
            }
            _ => stmt.bodies().into_iter().for_each(|body| find_labels(body, labels)),
        }
    }
}
