//! Edits of bodies that keep them in SSA form.

use smallvec::SmallVec;

use crate::entities::{Block, Entity, Value};
use crate::instructions::{InstData, Terminator};
use crate::module::Body;

/// The edges into a block: where each comes from, and which of that block's it is. Few have more.
pub type EdgesIn = SmallVec<[(Block, usize); 2]>;

/// Which value stands in for which: the result of merging values.
#[derive(Clone, Debug)]
pub struct Replacements {
    to: Vec<Option<Value>>,
    count: usize,
}

impl Replacements {
    /// No replacements, for a body.
    pub fn new(body: &Body) -> Replacements {
        Replacements { to: vec![None; body.values.len()], count: 0 }
    }

    /// Has `new` stand in for `old`. The two must not stand in for each other already.
    pub fn insert(&mut self, old: Value, new: Value) {
        let new = self.resolve(new);
        debug_assert_ne!(old, new);
        self.count += 1;
        self.to[old.index()] = Some(new);
    }

    /// What stands in for a value; itself if nothing does.
    pub fn resolve(&self, mut value: Value) -> Value {
        while let Some(Some(next)) = self.to.get(value.index()) {
            value = *next;
        }
        value
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Replaces all operands in a body, and hands names on to values that have none. Gives whether
    /// what a block ends with uses another value now.
    pub fn apply(&self, body: &mut Body) -> bool {
        let mut ends = false;
        if self.is_empty() {
            return ends;
        }
        for index in 0..self.to.len() {
            let old = Value::from_index(index);
            let new = self.resolve(old);
            if new != old && body.values[new].name.is_none() {
                body.values[new].name = body.values[old].name.clone();
            }
        }
        for block in body.layout.clone() {
            for inst in body.blocks[block].insts.clone() {
                body.insts[inst].op.for_each_operand_mut(|value| *value = self.resolve(*value));
            }
            let terminator = &mut body.blocks[block].terminator;
            terminator.for_each_operand_mut(|value| {
                let old = std::mem::replace(value, self.resolve(*value));
                ends |= old != *value;
            });
        }
        ends
    }
}

impl Body {
    /// The blocks that can be reached from the entry, by index.
    pub fn reachable(&self) -> Vec<bool> {
        let mut seen = vec![false; self.blocks.len()];
        let mut work = vec![self.entry()];
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut seen[block.index()], true) {
                work.extend(self.blocks[block].terminator.successors().map(|call| call.block));
            }
        }
        seen
    }

    /// Takes the blocks that cannot be reached out of the layout; gives their number.
    pub fn remove_unreachable(&mut self) -> usize {
        let seen = self.reachable();
        let before = self.layout.len();
        self.layout.retain(|block| seen[block.index()]);
        before - self.layout.len()
    }

    /// All edges of the layout: each block's predecessors, one entry per edge, with the index of the
    /// edge among the successors of the predecessor.
    pub fn edges_in(&self) -> Vec<EdgesIn> {
        let mut edges = vec![EdgesIn::new(); self.blocks.len()];
        for &block in &self.layout {
            for (index, call) in self.blocks[block].terminator.successors().enumerate() {
                edges[call.block.index()].push((block, index));
            }
        }
        edges
    }

    /// The arguments that a block passes along one of its outgoing edges.
    ///
    /// # Panics
    /// If the block has no such edge.
    pub fn edge_args(&self, (block, index): (Block, usize)) -> &[Value] {
        let call = self.blocks[block].terminator.successors().nth(index);
        &call.expect("internal error: no such edge").args
    }

    /// Removes block parameters, given per block as a mask of those to keep, with their arguments on
    /// every edge. An empty mask keeps all.
    pub fn retain_params(&mut self, keep: &[Vec<bool>]) {
        let retain = |values: &mut Vec<Value>, mask: &[bool]| {
            let mut index = 0;
            values.retain(|_| {
                index += 1;
                mask.get(index - 1).copied().unwrap_or(true)
            });
        };
        for &block in &self.layout {
            let data = &mut self.blocks[block];
            retain(&mut data.params, &keep[block.index()]);
            for call in data.terminator.successors_mut() {
                retain(&mut call.args, &keep[call.block.index()]);
            }
        }
    }

    /// Removes the parameters that are the same value along all edges into their block, themselves
    /// not counted, to a fixed point; gives them, each with its block.
    ///
    /// M. Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", 2013,
    /// section 3.1 ("trivial φ functions").
    pub fn remove_trivial_params(&mut self) -> Vec<(Block, Value)> {
        let edges = self.edges_in();
        let mut replacements = Replacements::new(self);
        let mut keep: Vec<Vec<bool>> =
            self.blocks.iter().map(|(_, data)| vec![true; data.params.len()]).collect();
        let mut removed = Vec::new();
        let mut changed = true;
        while changed {
            changed = false;
            for &block in self.layout.iter().skip(1) {
                for (n, &param) in self.blocks[block].params.iter().enumerate() {
                    if !keep[block.index()][n] {
                        continue;
                    }
                    if let Some(value) = self.only_argument(&edges, &replacements, block, n) {
                        replacements.insert(param, value);
                        keep[block.index()][n] = false;
                        removed.push((block, param));
                        changed = true;
                    }
                }
            }
        }
        if !removed.is_empty() {
            self.retain_params(&keep);
            replacements.apply(self);
        }
        removed
    }

    /// The one value other than itself that a parameter has along all edges, if there is one.
    fn only_argument(
        &self,
        edges: &[EdgesIn],
        replacements: &Replacements,
        block: Block,
        n: usize,
    ) -> Option<Value> {
        let param = self.blocks[block].params[n];
        let mut only = None;
        for &edge in &edges[block.index()] {
            let argument = replacements.resolve(self.edge_args(edge)[n]);
            // What is tried here is available in a block only if no other edge leads to it.
            if edges[block.index()].len() > 1 && self.tried_result(edge.0) == Some(argument) {
                return None;
            }
            if argument != param && *only.get_or_insert(argument) != argument {
                return None;
            }
        }
        only
    }

    /// The result of the instruction that the `try` of a block is about, if it has both.
    pub fn tried_result(&self, block: Block) -> Option<Value> {
        let data = &self.blocks[block];
        match data.terminator {
            Terminator::Try(..) => self.insts[*data.insts.last()?].result,
            _ => None,
        }
    }

    /// Puts an instruction at a place in a block's list.
    pub fn insert_inst(&mut self, block: Block, at: usize, data: InstData) {
        let inst = self.insts.alloc(data);
        self.blocks[block].insts.insert(at, inst);
    }

    /// Puts a block of its own between a block and the target of one of its edges; gives the block.
    pub fn split_edge(&mut self, (from, index): (Block, usize)) -> Block {
        let middle = self.add_block();
        let call = self.blocks[from].terminator.successors_mut().nth(index);
        let call = call.expect("internal error: no such edge");
        let target = std::mem::replace(call, crate::instructions::BlockCall::plain(middle));
        self.blocks[middle].terminator = Terminator::Jump(target);
        middle
    }
}
