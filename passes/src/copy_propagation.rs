//! Copy propagation through block parameters.
//!
//! Assumes SSA form. Guarantees that no block parameter has one value along all edges into its block,
//! itself not counted: such a parameter is a copy, and its uses use the value.

use crate::changes::Changes;
use crate::manager::BodyContext;

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let removed = cx.body.remove_trivial_params();
    for &(block, param) in &removed {
        let mut insts = cx.body.blocks[block].insts.iter().map(|&inst| &cx.body.insts[inst]);
        let pos = insts.find_map(|data| data.pos);
        cx.log.detail(pos, || match &cx.body.values[param].name {
            Some(name) => format!("`{name}` is the same here whichever way leads here"),
            None => "a value is the same here whichever way leads here".to_owned(),
        });
    }
    cx.log.count("block parameters dropped", removed.len());
    Changes::any(!removed.is_empty())
}
