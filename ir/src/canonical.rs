//! Bodies with their entities renumbered: what they are up to the names of locals.

use crate::cfg::reverse_postorder;
use crate::entities::{Block, Entity, Value};
use crate::instructions::Terminator;
use crate::module::{BlockData, Body, ValueData};

impl Body {
    /// The same body with blocks, values and instructions numbered in reverse postorder, and without
    /// whatever cannot be reached or is not defined.
    ///
    /// Two bodies that do the same with other numbers and another layout give equal ones, names aside.
    pub fn renumbered(&self) -> Body {
        let order = reverse_postorder(self);
        let mut blocks = vec![None; self.blocks.len()];
        let mut values: Vec<Option<Value>> = vec![None; self.values.len()];
        let mut body = Body::default();
        for (index, &block) in order.iter().enumerate() {
            blocks[block.index()] = Some(Block::from_index(index));
            let data = &self.blocks[block];
            let results = data.insts.iter().filter_map(|&inst| self.insts[inst].result);
            for value in data.params.iter().copied().chain(results) {
                let ValueData { ty, name } = self.values[value].clone();
                values[value.index()] = Some(body.values.alloc(ValueData { ty, name }));
            }
        }
        let new_value = |value: &mut Value| {
            // A use without a definition, which the verifier refuses, stays as it is.
            *value = values[value.index()].unwrap_or(*value);
        };
        for &block in &order {
            let data = &self.blocks[block];
            let mut insts = Vec::new();
            for &inst in &data.insts {
                let mut copy = self.insts[inst].clone();
                copy.op.for_each_operand_mut(new_value);
                copy.result.iter_mut().for_each(new_value);
                insts.push(body.insts.alloc(copy));
            }
            let mut terminator: Terminator = data.terminator.clone();
            terminator.for_each_operand_mut(new_value);
            for call in terminator.successors_mut() {
                call.block = blocks[call.block.index()].unwrap_or(call.block);
            }
            let mut params = data.params.clone();
            params.iter_mut().for_each(new_value);
            let id = body.blocks.alloc(BlockData { params, insts, terminator });
            body.layout.push(id);
        }
        body
    }
}
