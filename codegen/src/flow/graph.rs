//! The control-flow graph of one C function, its blocks already turned into statements.

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::c::expr::Expr;
use crate::c::stmt::Stmt;

/// A way from one node to another, with the assignments made on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    /// The node that it leads to.
    pub(crate) to: usize,
    /// What is done on the way, in order.
    pub(crate) copies: Vec<Stmt>,
}

/// How a node ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Goes on to a node.
    Jump(Edge),
    /// Goes on to the first node if the condition holds, else to the second.
    If(Expr, Edge, Edge),
    /// Leaves the function by its ordinary end.
    Return(Option<Expr>),
    /// Its statements have left already.
    Gone,
}

/// A node: statements, and how they end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Node {
    /// The statements.
    pub(crate) stmts: Vec<Stmt>,
    /// How it ends.
    pub(crate) exit: Exit,
    /// A condition that holds whenever the node is entered by one of its edges, and whose opposite
    /// holds when control falls into its place from the text before it. Such a node is a `catch`.
    pub(crate) guard: Option<Expr>,
}

/// The graph. Node 0 is the entry; no edge leads to it.
#[derive(Clone, Default, Debug)]
pub(crate) struct Graph {
    /// The nodes.
    pub(crate) nodes: Vec<Node>,
}

impl Node {
    /// The edges out of it.
    pub(crate) fn edges(&self) -> impl Iterator<Item = &Edge> {
        let (a, b) = match &self.exit {
            Exit::Jump(a) => (Some(a), None),
            Exit::If(_, a, b) => (Some(a), Some(b)),
            Exit::Return(_) | Exit::Gone => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// The edges out of it.
    pub(crate) fn edges_mut(&mut self) -> impl Iterator<Item = &mut Edge> {
        let (a, b) = match &mut self.exit {
            Exit::Jump(a) => (Some(a), None),
            Exit::If(_, a, b) => (Some(a), Some(b)),
            Exit::Return(_) | Exit::Gone => (None, None),
        };
        a.into_iter().chain(b)
    }
}

impl Graph {
    /// The nodes that can be reached, in reverse postorder.
    pub(crate) fn reverse_postorder(&self) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut order = Vec::new();
        let mut stack = vec![(0, self.successors(0))];
        seen[0] = true;
        while let Some((node, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) if !seen[next] => {
                    seen[next] = true;
                    stack.push((next, self.successors(next)));
                }
                Some(_) => {}
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// The successors, so that popping visits the last edge first and the first edge's node comes
    /// first in reverse postorder.
    fn successors(&self, node: usize) -> Vec<usize> {
        self.nodes[node].edges().map(|edge| edge.to).collect()
    }

    /// The dominator tree (K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm",
    /// 2001, as `petgraph` has it).
    pub(crate) fn dominators(&self) -> Dominators<NodeIndex> {
        let mut graph = DiGraph::<(), ()>::with_capacity(self.nodes.len(), self.nodes.len());
        for _ in &self.nodes {
            graph.add_node(());
        }
        for (from, node) in self.nodes.iter().enumerate() {
            for edge in node.edges() {
                graph.add_edge(NodeIndex::new(from), NodeIndex::new(edge.to), ());
            }
        }
        simple_fast(&graph, NodeIndex::new(0))
    }
}
