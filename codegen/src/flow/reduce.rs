//! Makes a control-flow graph smaller before it is structured: straight lines become one node, chains
//! of tests that share a target become `&&` and `||`, and diamonds that only choose a value become
//! `? :`. Each step leaves the order of evaluation as it is.

use super::graph::{Edge, Exit, Graph, Node};
use crate::c::expr::{Expr, Width};
use crate::c::stmt::Stmt;

/// The longest conditional expression, in nodes, that a person would still write as one.
const LARGEST_CHOICE: usize = 12;

/// Steps at one node in one round, at most: only a cycle of empty nodes could take more.
const MOST_STEPS: usize = 10_000;

/// The graph, and how many edges lead to each node. While a round lasts, edges of nodes that can no
/// longer be reached may still count; that only puts a step off to the next round.
struct Reducer<'g> {
    graph: &'g mut Graph,
    edges_to: Vec<usize>,
}

/// Reduces until nothing changes.
pub(crate) fn reduce(graph: &mut Graph) {
    drop_unreachable(graph);
    // Every step takes an edge or a node away, but for threading around a cycle of empty nodes.
    for _ in 0..=2 * graph.nodes.len() {
        let mut edges_to = vec![0; graph.nodes.len()];
        for edge in graph.nodes.iter().flat_map(Node::edges) {
            edges_to[edge.to] += 1;
        }
        let mut reducer = Reducer { graph, edges_to };
        let mut changed = false;
        for node in 0..reducer.graph.nodes.len() {
            let steps = (0..MOST_STEPS).take_while(|_| reducer.step(node)).count();
            changed |= steps > 0;
        }
        if !changed {
            return;
        }
        drop_unreachable(graph);
    }
}

/// A node that is no part of the graph any more.
fn nothing() -> Node {
    Node { stmts: Vec::new(), exit: Exit::Gone, guard: None }
}

/// Empties what can no longer be reached, so that its edges do not count.
fn drop_unreachable(graph: &mut Graph) {
    let mut reachable = vec![false; graph.nodes.len()];
    for node in graph.reverse_postorder() {
        reachable[node] = true;
    }
    for (node, reachable) in graph.nodes.iter_mut().zip(reachable) {
        if !reachable {
            *node = nothing();
        }
    }
}

impl Reducer<'_> {
    /// One step at a node; whether there was one to make.
    fn step(&mut self, node: usize) -> bool {
        self.thread(node) || self.absorb(node) || self.join_tests(node) || self.choose(node)
    }

    /// Leads edges past nodes that do nothing but jump on.
    fn thread(&mut self, node: usize) -> bool {
        let mut edges: Vec<Edge> = self.graph.nodes[node].edges().cloned().collect();
        let mut changed = false;
        for edge in &mut edges {
            let target = &self.graph.nodes[edge.to];
            if let Exit::Jump(next) = &target.exit
                && target.stmts.is_empty()
                && target.guard.is_none()
                && next.to != edge.to
                && (next.copies.is_empty() || self.is_sole_target(edge.to))
            {
                edge.copies.extend(next.copies.iter().cloned());
                self.edges_to[edge.to] -= 1;
                self.edges_to[next.to] += 1;
                edge.to = next.to;
                changed = true;
            }
        }
        if changed {
            for (edge, new) in self.graph.nodes[node].edges_mut().zip(edges) {
                *edge = new;
            }
        }
        changed
    }

    /// Whether only one edge leads to a node.
    fn is_sole_target(&self, node: usize) -> bool {
        self.edges_to[node] == 1
    }

    /// Appends the only successor whose only predecessor this is.
    fn absorb(&mut self, node: usize) -> bool {
        let Exit::Jump(edge) = &self.graph.nodes[node].exit else { return false };
        let to = edge.to;
        if to == node || self.graph.nodes[to].guard.is_some() || !self.is_sole_target(to) {
            return false;
        }
        let copies = edge.copies.clone();
        let next = std::mem::replace(&mut self.graph.nodes[to], nothing());
        self.edges_to[to] = 0;
        let this = &mut self.graph.nodes[node];
        this.stmts.extend(copies);
        this.stmts.extend(next.stmts);
        this.exit = next.exit;
        true
    }

    /// `if (a) goto x; if (b) goto x;` becomes `if (a || b) goto x;`, and its mirror images.
    fn join_tests(&mut self, node: usize) -> bool {
        let Exit::If(cond, yes, no) = self.graph.nodes[node].exit.clone() else { return false };
        let inner_of = |edge: &Edge| {
            let target = &self.graph.nodes[edge.to];
            let plain = edge.to != node
                && edge.copies.is_empty()
                && target.stmts.is_empty()
                && target.guard.is_none()
                && self.is_sole_target(edge.to);
            match &target.exit {
                Exit::If(c, y, n) if plain => Some((c.clone(), y.clone(), n.clone())),
                _ => None,
            }
        };
        let joined = if let Some((c, y, n)) = inner_of(&no) {
            if y == yes {
                Some((no.to, y.to, Exit::If(Expr::infix("||", cond, c), yes, n)))
            } else if n == yes {
                Some((no.to, n.to, Exit::If(Expr::infix("||", cond, c.negated()), yes, y)))
            } else {
                None
            }
        } else if let Some((c, y, n)) = inner_of(&yes) {
            if n == no {
                Some((yes.to, n.to, Exit::If(Expr::infix("&&", cond, c), y, no)))
            } else if y == no {
                Some((yes.to, y.to, Exit::If(Expr::infix("&&", cond, c.negated()), n, no)))
            } else {
                None
            }
        } else {
            None
        };
        match joined {
            Some((inner, shared, exit)) => {
                self.edges_to[inner] = 0;
                self.graph.nodes[inner] = nothing();
                self.edges_to[shared] -= 1;
                self.graph.nodes[node].exit = exit;
                true
            }
            None => false,
        }
    }

    /// `if (a) v = x; else v = y;` becomes `v = a ? x : y;`, or `v = a;` where that says it all.
    fn choose(&mut self, node: usize) -> bool {
        let Exit::If(cond, yes, no) = &self.graph.nodes[node].exit else { return false };
        if yes.to != no.to {
            return false;
        }
        if yes.copies == no.copies {
            let edge = yes.clone();
            self.edges_to[edge.to] -= 1;
            let tested = Stmt::Expr(Expr::prefix("(void)", cond.clone()));
            let acts = cond.assigns();
            let this = &mut self.graph.nodes[node];
            this.stmts.extend(acts.then_some(tested));
            this.exit = Exit::Jump(edge);
            return true;
        }
        let ([Stmt::Assign(target, x)], [Stmt::Assign(other, y)]) =
            (&yes.copies[..], &no.copies[..])
        else {
            return false;
        };
        let unlikely = matches!(cond, Expr::Call(name, _) if &**name == "unlikely");
        if target != other || unlikely || x.size() + y.size() + cond.size() > LARGEST_CHOICE {
            return false;
        }
        let value = choice(cond.clone(), x.clone(), y.clone());
        let stmt = Stmt::Assign(target.clone(), value);
        let to = yes.to;
        self.edges_to[to] -= 1;
        let this = &mut self.graph.nodes[node];
        this.stmts.push(stmt);
        this.exit = Exit::Jump(Edge { to, copies: Vec::new() });
        true
    }
}

fn choice(cond: Expr, x: Expr, y: Expr) -> Expr {
    match (&x, &y) {
        (Expr::Long(1), Expr::Long(0)) if cond.width() == Width::Truth => cond,
        (Expr::Long(0), Expr::Long(1)) => cond.negated(),
        (Expr::Long(1), Expr::Long(0)) => Expr::infix("!=", cond, Expr::Long(0)),
        _ => Expr::Choice(Box::new(cond), Box::new(x), Box::new(y)),
    }
}
