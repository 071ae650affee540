//! Copy propagation through block parameters.
//!
//! Assumes SSA form. Guarantees that no block parameter has one value along all edges into its block,
//! itself not counted: such a parameter is a copy, and its uses use the value.

use crate::changes::Changes;
use crate::manager::BodyContext;

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let removed = cx.body.remove_trivial_params();
    cx.log.count("block parameters dropped", removed);
    Changes::any(removed > 0)
}
