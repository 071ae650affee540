//! Every use of a value is dominated by its definition.

use super::Checker;
use crate::cfg::{Cfg, Dominators};
use crate::entities::{Block, Entity, Value};
use crate::instructions::Terminator;

/// Where a value can be used.
#[derive(Clone, Copy)]
enum Definition {
    /// A parameter of this block.
    Param(Block),
    /// The result of the instruction at this place of the block.
    Inst(Block, usize),
    /// The result of an instruction that may raise, before a `try`: usable where the block that only
    /// its success leads to dominates, if there is such a block.
    Tried(Option<Block>),
}

impl Checker<'_> {
    pub(super) fn check_dominance(&mut self, cfg: &Cfg, dominators: &Dominators) {
        let definitions = self.definitions(cfg);
        let body = self.body;
        for &block in cfg.reverse_postorder() {
            let data = &body.blocks[block];
            for (index, &inst) in data.insts.iter().enumerate() {
                let mut bad = Vec::new();
                body.insts[inst].op.for_each_operand(|value| {
                    if !is_available(&definitions, dominators, value, block, index) {
                        bad.push(value);
                    }
                });
                for value in bad {
                    self.at_inst(block, inst, format!("{value} is not defined on every path here"));
                }
            }
            for value in self.bad_operands_of_end(block, &definitions, dominators) {
                self.at_end(block, format!("{value} is not defined on every path here"));
            }
        }
    }

    fn definitions(&self, cfg: &Cfg) -> Vec<Option<Definition>> {
        let mut definitions = vec![None; self.body.values.len()];
        for &block in &self.body.layout {
            let data = &self.body.blocks[block];
            for &param in &data.params {
                definitions[param.index()] = Some(Definition::Param(block));
            }
            for (index, &inst) in data.insts.iter().enumerate() {
                let Some(result) = self.body.insts[inst].result else { continue };
                let last = index + 1 == data.insts.len();
                definitions[result.index()] = Some(match &data.terminator {
                    Terminator::Try(normal, _) if last => {
                        let alone = cfg.predecessors(normal.block).len() == 1;
                        Definition::Tried(alone.then_some(normal.block))
                    }
                    _ => Definition::Inst(block, index),
                });
            }
        }
        definitions
    }

    fn bad_operands_of_end(
        &self,
        block: Block,
        definitions: &[Option<Definition>],
        dominators: &Dominators,
    ) -> Vec<Value> {
        let data = &self.body.blocks[block];
        let end = data.insts.len();
        let mut bad = Vec::new();
        let mut check = |value: Value| {
            if !is_available(definitions, dominators, value, block, end) {
                bad.push(value);
            }
        };
        match &data.terminator {
            Terminator::Try(normal, catch) => {
                let own = data.insts.last().and_then(|&inst| self.body.insts[inst].result);
                let passed_on = normal.args.iter().filter(|&&arg| Some(arg) != own);
                passed_on.chain(&catch.args).for_each(|&value| check(value));
            }
            terminator => terminator.for_each_operand(check),
        }
        bad
    }
}

/// Whether a value may be used by the instruction at a place of a block.
fn is_available(
    definitions: &[Option<Definition>],
    dominators: &Dominators,
    value: Value,
    block: Block,
    index: usize,
) -> bool {
    match definitions.get(value.index()).copied().flatten() {
        None => false,
        Some(Definition::Param(at)) => dominators.dominates(at, block),
        Some(Definition::Inst(at, place)) if at == block => place < index,
        Some(Definition::Inst(at, _)) => dominators.dominates(at, block),
        Some(Definition::Tried(Some(normal))) => dominators.dominates(normal, block),
        Some(Definition::Tried(None)) => false,
    }
}
