//! Which values are still needed where.

use std::collections::BTreeSet;

use crate::cfg::Cfg;
use crate::entities::{Block, Entity, Value};
use crate::module::Body;

/// The values that are live at the borders of blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Liveness {
    live_in: Vec<BTreeSet<Value>>,
    live_out: Vec<BTreeSet<Value>>,
}

impl Liveness {
    /// Liveness of the values of a body, by iteration backwards over the graph.
    pub fn of(body: &Body, cfg: &Cfg) -> Liveness {
        let count = body.blocks.len();
        let mut live = Liveness {
            live_in: vec![BTreeSet::new(); count],
            live_out: vec![BTreeSet::new(); count],
        };
        let mut changed = true;
        while changed {
            changed = false;
            for &block in cfg.reverse_postorder().iter().rev() {
                let mut out = BTreeSet::new();
                for successor in cfg.successors(block) {
                    out.extend(&live.live_in[successor.index()]);
                }
                let live_in = live_before(body, block, out.clone());
                live.live_out[block.index()] = out;
                if live_in != live.live_in[block.index()] {
                    live.live_in[block.index()] = live_in;
                    changed = true;
                }
            }
        }
        live
    }

    /// The values that a block needs from the blocks before it, its own parameters left out.
    pub fn live_in(&self, block: Block) -> &BTreeSet<Value> {
        &self.live_in[block.index()]
    }

    /// The values that some successor needs, arguments of its parameters left out.
    pub fn live_out(&self, block: Block) -> &BTreeSet<Value> {
        &self.live_out[block.index()]
    }
}

/// What is live at the start of a block if `live` is at its end.
fn live_before(body: &Body, block: Block, mut live: BTreeSet<Value>) -> BTreeSet<Value> {
    let data = &body.blocks[block];
    // A result that only one edge carries is defined within the block all the same.
    data.terminator.for_each_operand(|value| {
        live.insert(value);
    });
    for &inst in data.insts.iter().rev() {
        if let Some(result) = body.insts[inst].result {
            live.remove(&result);
        }
        body.insts[inst].op.for_each_operand(|value| {
            live.insert(value);
        });
    }
    for param in &data.params {
        live.remove(param);
    }
    live
}
