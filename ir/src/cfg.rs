//! The control-flow graph of a body, its dominator tree and its loops.

use std::cell::OnceCell;

use petgraph::graph::{DiGraph, NodeIndex};
use smallvec::SmallVec;

use crate::entities::{Block, Entity};
use crate::module::Body;

/// Few blocks have more than two neighbours.
type Blocks = SmallVec<[Block; 2]>;

/// What is known of the ways through a body, until one of them changes.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The control-flow graph.
    pub cfg: Cfg,
    dominators: OnceCell<Dominators>,
    loops: OnceCell<Loops>,
}

impl Graph {
    /// The graph of a body.
    pub fn of(body: &Body) -> Graph {
        Graph { cfg: Cfg::of(body), dominators: OnceCell::new(), loops: OnceCell::new() }
    }

    /// Its dominators, found when first asked for.
    pub fn dominators(&self) -> &Dominators {
        self.dominators.get_or_init(|| Dominators::of(&self.cfg))
    }

    /// Its loops, found when first asked for.
    pub fn loops(&self) -> &Loops {
        self.loops.get_or_init(|| match self.cfg.has_retreating_edge() {
            true => Loops::of(&self.cfg, self.dominators()),
            false => Loops::default(),
        })
    }

    /// Whether it is the graph of a body, as it is now.
    pub fn is_of(&self, body: &Body) -> bool {
        let same_edges = |&block: &Block| {
            let calls = body.blocks[block].terminator.successors();
            calls.map(|call| call.block).eq(self.cfg.successors(block).iter().copied())
        };
        self.cfg.successors.len() == body.blocks.len()
            && self.cfg.order[0] == body.entry()
            && body.layout.iter().all(same_edges)
    }
}

/// The control-flow graph of a body: what can be reached from the entry.
#[derive(Clone, Debug)]
pub struct Cfg {
    predecessors: Vec<Blocks>,
    successors: Vec<Blocks>,
    order: Vec<Block>,
    position: Vec<Option<usize>>,
}

impl Cfg {
    /// The graph of a body.
    pub fn of(body: &Body) -> Cfg {
        let count = body.blocks.len();
        let mut successors = vec![Blocks::new(); count];
        for &block in &body.layout {
            let calls = body.blocks[block].terminator.successors();
            successors[block.index()] = calls.map(|call| call.block).collect();
        }
        let order = reverse_postorder(body);
        let mut position = vec![None; count];
        let mut predecessors = vec![Blocks::new(); count];
        for (index, &block) in order.iter().enumerate() {
            position[block.index()] = Some(index);
            for successor in &successors[block.index()] {
                predecessors[successor.index()].push(block);
            }
        }
        Cfg { predecessors, successors, order, position }
    }

    /// The blocks with edges into this one, once per edge, unreachable ones left out.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        &self.predecessors[block.index()]
    }

    /// The blocks that this one has edges to, once per edge.
    pub fn successors(&self, block: Block) -> &[Block] {
        &self.successors[block.index()]
    }

    /// The blocks that can be reached, in reverse postorder: each before its successors, back edges
    /// aside.
    pub fn reverse_postorder(&self) -> &[Block] {
        &self.order
    }

    /// Whether an edge between blocks that can be reached leads back in reverse postorder, or to where
    /// it comes from. Each loop has such an edge.
    pub fn retreats(&self, from: Block, to: Block) -> bool {
        self.position[to.index()] <= self.position[from.index()]
    }

    fn has_retreating_edge(&self) -> bool {
        let retreats =
            |&from: &Block| self.successors(from).iter().any(|&to| self.retreats(from, to));
        self.order.iter().any(retreats)
    }

    /// Whether a block can be reached from the entry.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.position.get(block.index()).copied().flatten().is_some()
    }
}

/// The blocks of a body that can be reached from the entry, each before its successors, back edges
/// aside.
pub fn reverse_postorder(body: &Body) -> Vec<Block> {
    let mut seen = vec![false; body.blocks.len()];
    let mut order = Vec::with_capacity(body.layout.len());
    let entry = body.entry();
    let mut stack = vec![(entry, body.blocks[entry].terminator.successors().count())];
    seen[entry.index()] = true;
    // Successors are visited last to first, so that the order follows the text.
    while let Some((block, rest)) = stack.last_mut() {
        if *rest == 0 {
            order.push(*block);
            stack.pop();
            continue;
        }
        *rest -= 1;
        let next = body.blocks[*block].terminator.successors().nth(*rest);
        let Some(next) = next.map(|call| call.block) else { continue };
        if !std::mem::replace(&mut seen[next.index()], true) {
            stack.push((next, body.blocks[next].terminator.successors().count()));
        }
    }
    order.reverse();
    order
}

/// The dominator tree of a body.
///
/// K. D. Cooper, T. J. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm", 2001: on the reverse
/// postorder that the graph has already, for passes ask for dominators of every body again and again.
#[derive(Clone, Debug)]
pub struct Dominators {
    parent: Vec<Option<Block>>,
    children: Vec<Blocks>,
    /// When a walk over the tree enters and leaves each block.
    span: Vec<Option<(u32, u32)>>,
}

impl Dominators {
    /// The dominators of a graph.
    pub fn of(cfg: &Cfg) -> Dominators {
        let count = cfg.successors.len();
        let mut parent = vec![None; count];
        let mut children = vec![Blocks::new(); count];
        for (at, &dominator) in immediate_dominators(cfg).iter().enumerate().skip(1) {
            let (block, dominator) = (cfg.order[at], cfg.order[dominator]);
            parent[block.index()] = Some(dominator);
            children[dominator.index()].push(block);
        }
        let span = number(cfg.order[0], &children);
        Dominators { parent, children, span }
    }

    /// The immediate dominator of a block; `None` for the entry and for what cannot be reached.
    pub fn immediate(&self, block: Block) -> Option<Block> {
        self.parent[block.index()]
    }

    /// The blocks that this one immediately dominates, in reverse postorder.
    pub fn children(&self, block: Block) -> &[Block] {
        &self.children[block.index()]
    }

    /// Whether all paths from the entry to `b` pass `a`. Every block dominates itself; whatever cannot
    /// be reached is dominated by nothing and dominates nothing else.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        match (self.span[a.index()], self.span[b.index()]) {
            (Some(a), Some(b)) => a.0 <= b.0 && b.1 <= a.1,
            _ => a == b,
        }
    }

    /// The nearest block that dominates both.
    ///
    /// # Panics
    /// If one of them cannot be reached.
    pub fn common(&self, mut a: Block, b: Block) -> Block {
        while !self.dominates(a, b) {
            a = self.parent[a.index()].expect("internal error: no dominator of a reachable block");
        }
        a
    }
}

/// The immediate dominator of each block but the entry, which is first, blocks being called by their
/// places in reverse postorder.
fn immediate_dominators(cfg: &Cfg) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let place = |block: &Block| cfg.position[block.index()];
    let mut above = vec![UNKNOWN; cfg.order.len()];
    above[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for (at, &block) in cfg.order.iter().enumerate().skip(1) {
            let known = cfg.predecessors(block).iter().filter_map(place);
            let known = known.filter(|&from| above[from] != UNKNOWN);
            let nearest = known.reduce(|mut a, mut b| {
                while a != b {
                    // What is nearer to the entry comes earlier.
                    let later = if a > b { &mut a } else { &mut b };
                    *later = above[*later];
                }
                a
            });
            let nearest = nearest.unwrap_or(0);
            changed |= std::mem::replace(&mut above[at], nearest) != nearest;
        }
    }
    above
}

/// Numbers the blocks of a tree so that an ancestor's span contains its descendants'.
fn number(root: Block, children: &[Blocks]) -> Vec<Option<(u32, u32)>> {
    let mut span = vec![None; children.len()];
    let mut clock = 0;
    let mut stack = vec![(root, 0usize)];
    while let Some((block, next)) = stack.last_mut() {
        let (block, index) = (*block, *next);
        *next += 1;
        if index == 0 {
            span[block.index()] = Some((clock, clock));
            clock += 1;
        }
        match children[block.index()].get(index) {
            Some(&child) => stack.push((child, 0)),
            None => {
                if let Some(entry) = &mut span[block.index()] {
                    entry.1 = clock;
                }
                stack.pop();
            }
        }
    }
    span
}

/// A natural loop: a header that dominates the sources of edges back to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Where it is entered.
    pub header: Block,
    /// Its blocks, the header included, in reverse postorder.
    pub blocks: Vec<Block>,
    /// Sources of the edges back to the header.
    pub latches: Vec<Block>,
    /// How many loops contain it.
    pub depth: u32,
}

/// The natural loops of a body, outer ones first; loops with the same header are one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loops {
    /// The loops.
    pub loops: Vec<Loop>,
}

impl Loops {
    /// The loops of a graph.
    pub fn of(cfg: &Cfg, dominators: &Dominators) -> Loops {
        let mut loops: Vec<Loop> = Vec::new();
        for &header in &cfg.order {
            let back = cfg.predecessors(header).iter().copied();
            let latches: Vec<Block> =
                back.filter(|&block| dominators.dominates(header, block)).collect();
            if latches.is_empty() {
                continue;
            }
            let inside = members(cfg, header, &latches);
            let depth = loops.iter().filter(|outer| outer.blocks.contains(&header)).count() as u32;
            let blocks = cfg.order.iter().copied().filter(|block| inside[block.index()]).collect();
            loops.push(Loop { header, blocks, latches, depth });
        }
        Loops { loops }
    }

    /// The innermost loop that contains a block.
    pub fn innermost(&self, block: Block) -> Option<&Loop> {
        self.loops.iter().rev().find(|candidate| candidate.blocks.contains(&block))
    }
}

/// The blocks from which a latch can be reached without passing the header, and the header.
fn members(cfg: &Cfg, header: Block, latches: &[Block]) -> Vec<bool> {
    let mut inside = vec![false; cfg.successors.len()];
    inside[header.index()] = true;
    let mut work = latches.to_vec();
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut inside[block.index()], true) {
            work.extend(cfg.predecessors(block));
        }
    }
    inside
}

impl Cfg {
    /// The sets of blocks that can reach each other and themselves, natural loops or not.
    pub fn components(&self) -> Vec<Vec<Block>> {
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = self.successors.iter().map(|_| graph.add_node(())).collect();
        for &block in &self.order {
            for successor in self.successors(block) {
                graph.add_edge(nodes[block.index()], nodes[successor.index()], ());
            }
        }
        let components = petgraph::algo::tarjan_scc(&graph).into_iter();
        let cyclic = components.filter(|c| c.len() > 1 || graph.contains_edge(c[0], c[0]));
        cyclic
            .map(|c| c.into_iter().map(|node| Block::from_index(node.index())).collect())
            .collect()
    }

    /// For each block, by index: whether a path leads from it back to it.
    pub fn in_cycle(&self) -> Vec<bool> {
        let mut cyclic = vec![false; self.successors.len()];
        for block in self.components().into_iter().flatten() {
            cyclic[block.index()] = true;
        }
        cyclic
    }
}
