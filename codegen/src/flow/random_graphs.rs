//! Structured statements do what the graph does, on random graphs: reducible or not, with nodes that
//! do nothing, shared targets, loops, and catches.

use std::collections::BTreeMap;

use super::graph::{Edge, Exit, Graph, Node};
use super::reduce::reduce;
use super::structure::structure;
use crate::c::expr::Expr;
use crate::c::stmt::{Label, Stmt};

/// Steps after which a run is cut off; loops need not end.
const STEPS: usize = 300;

/// Xorshift (G. Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// What tests come out as: the outcome of a test depends on which one it is and on how often it was
/// made.
#[derive(Default)]
struct World {
    seed: u64,
    asked: BTreeMap<String, u64>,
    trace: Vec<String>,
    steps: usize,
}

impl World {
    fn holds(&mut self, cond: &Expr) -> bool {
        match cond {
            Expr::Infix("&&", a, b) => self.holds(a) && self.holds(b),
            Expr::Infix("||", a, b) => self.holds(a) || self.holds(b),
            Expr::Prefix("!", a) => !self.holds(a),
            Expr::Atom(name) => {
                self.steps += 1;
                let count = self.asked.entry(name.to_string()).or_default();
                *count += 1;
                let mut hash = self.seed ^ (*count).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                for byte in name.bytes() {
                    hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
                hash >> 40 & 1 == 1
            }
            other => panic!("no test: {other:?}"),
        }
    }

    fn act(&mut self, stmt: &Stmt) {
        self.steps += 1;
        self.trace.push(format!("{stmt:?}"));
    }

    fn is_over(&self) -> bool {
        self.steps > STEPS
    }
}

fn act(n: usize) -> Stmt {
    Stmt::Expr(Expr::Long(n as i64))
}

fn random_graph(random: &mut Random) -> Graph {
    let count = 2 + random.below(9);
    let mut graph = Graph::default();
    for n in 0..count {
        let stmts = (0..random.below(4)).map(|k| act(10 * n + k)).collect();
        let mut edge = |salt: usize| {
            let copies =
                if random.below(5) == 0 { vec![act(1000 + 10 * n + salt)] } else { vec![] };
            Edge { to: 1 + random.below(count - 1), copies }
        };
        let (a, b) = (edge(0), edge(1));
        let exit = match random.below(6) {
            0 => Exit::Return(None),
            1 | 2 => Exit::Jump(a),
            _ => Exit::If(Expr::atom(format!("x{n}")), a, b),
        };
        graph.nodes.push(Node { stmts, exit, guard: None });
    }
    graph
}

fn run_graph(graph: &Graph, seed: u64) -> World {
    let mut world = World { seed, ..World::default() };
    let mut node = 0;
    while !world.is_over() {
        let data = &graph.nodes[node];
        world.steps += 1;
        data.stmts.iter().for_each(|stmt| world.act(stmt));
        let edge = match &data.exit {
            Exit::Jump(edge) => edge,
            Exit::If(cond, yes, no) => {
                if world.holds(cond) {
                    yes
                } else {
                    no
                }
            }
            Exit::Return(_) | Exit::Gone => break,
        };
        edge.copies.iter().for_each(|stmt| world.act(stmt));
        node = edge.to;
    }
    world
}

/// A structured program as a list of jumps.
enum Op {
    Act(Stmt),
    /// Goes on to a position unless the condition holds.
    Unless(Expr, usize),
    Jump(usize),
    JumpTo(Label),
    End,
}

#[derive(Default)]
struct Flat {
    ops: Vec<Op>,
    labels: BTreeMap<Label, usize>,
}

impl Flat {
    /// `breaks` collects the jumps out of the loop around; `next` is where its next round starts.
    fn list(&mut self, list: &[Stmt], breaks: &mut Vec<usize>, next: usize) {
        for stmt in list {
            match stmt {
                Stmt::Expr(_) => self.ops.push(Op::Act(stmt.clone())),
                Stmt::If { cond, then, otherwise } => {
                    let test = self.hole(Op::Unless(cond.clone(), 0));
                    self.list(then, breaks, next);
                    let over = self.hole(Op::Jump(0));
                    self.fill(test);
                    self.list(otherwise, breaks, next);
                    self.fill(over);
                }
                Stmt::Loop { cond, body } => {
                    let start = self.ops.len();
                    let mut own = Vec::new();
                    if let Some(cond) = cond {
                        own.push(self.hole(Op::Unless(cond.clone(), 0)));
                    }
                    self.list(body, &mut own, start);
                    self.ops.push(Op::Jump(start));
                    own.into_iter().for_each(|hole| self.fill(hole));
                }
                Stmt::DoWhile { body, cond } => {
                    let start = self.ops.len();
                    let mut own = Vec::new();
                    self.list(body, &mut own, usize::MAX);
                    own.push(self.hole(Op::Unless(cond.clone(), 0)));
                    self.ops.push(Op::Jump(start));
                    own.into_iter().for_each(|hole| self.fill(hole));
                }
                Stmt::Break => breaks.push(self.hole(Op::Jump(0))),
                Stmt::Continue => self.ops.push(Op::Jump(next)),
                Stmt::Return(_) => self.ops.push(Op::End),
                Stmt::Goto(label) => self.ops.push(Op::JumpTo(*label)),
                Stmt::Label(label) => {
                    assert!(
                        self.labels.insert(*label, self.ops.len()).is_none(),
                        "{label:?} twice"
                    );
                }
                other => panic!("not expected here: {other:?}"),
            }
        }
    }

    fn hole(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.ops.len() - 1
    }

    fn fill(&mut self, hole: usize) {
        let here = self.ops.len();
        match &mut self.ops[hole] {
            Op::Unless(_, to) | Op::Jump(to) => *to = here,
            _ => {}
        }
    }
}

fn run_list(list: &[Stmt], seed: u64) -> World {
    let mut flat = Flat::default();
    flat.list(list, &mut Vec::new(), usize::MAX);
    flat.ops.push(Op::End);
    let mut world = World { seed, ..World::default() };
    let mut at = 0;
    while !world.is_over() {
        world.steps += usize::from(matches!(flat.ops[at], Op::Jump(_) | Op::JumpTo(_)));
        at = match &flat.ops[at] {
            Op::Act(stmt) => {
                world.act(stmt);
                at + 1
            }
            Op::Unless(cond, to) => {
                if world.holds(cond) {
                    at + 1
                } else {
                    *to
                }
            }
            Op::Jump(to) => *to,
            Op::JumpTo(label) => match flat.labels.get(label) {
                Some(at) => *at,
                None => panic!("{label:?} is missing in {list:#?}"),
            },
            Op::End => break,
        };
    }
    world
}

#[test]
fn structured_text_does_what_the_graph_does() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut gotos, mut longest) = (0, 0);
    for round in 0..1500 {
        let graph = random_graph(&mut random);
        let mut reduced = graph.clone();
        reduce(&mut reduced);
        let list = structure(&reduced);
        for seed in 0..3 {
            let wanted = run_graph(&graph, seed);
            let found = run_list(&list, seed);
            // Either may be cut off first: they count jumps differently.
            let is_cut = wanted.is_over() || found.is_over();
            let (wanted, found) = (wanted.trace, found.trace);
            let common = wanted.len().min(found.len());
            longest = longest.max(common);
            assert!(
                wanted[..common] == found[..common] && (is_cut || wanted.len() == found.len()),
                "round {round}, seed {seed}:\n{graph:#?}\n{list:#?}\n{wanted:?}\n{found:?}"
            );
        }
        let text = format!("{list:?}");
        gotos += usize::from(text.contains("Goto"));
    }
    assert!(longest > 100);
    // Most random graphs can be said without.
    assert!(gotos < 750, "{gotos}");
}
