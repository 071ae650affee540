//! The list of passes.

use crate::changes::Changes;
use crate::manager::{BodyContext, ModuleContext};

/// How a pass runs.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// On each body, alone. The result says what it changed.
    Body(fn(&mut BodyContext<'_>) -> Changes),
    /// On the module. The result says whether it changed anything.
    Module(fn(&mut ModuleContext<'_>) -> bool),
}

/// A pass.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// How it runs.
    pub run: Run,
    /// After which changes of a body by others it may find something to do there that it has not found
    /// before. `tests/wakes.rs` compares with running every time.
    pub wakes: Changes,
}

/// What wakes a pass unless more is known.
const ANYTHING: Changes = Changes::all().difference(Changes::FORMS);

/// All passes, by topic.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "simplify-cfg",
        description: "fold branches, merge blocks, thread jumps through empty blocks",
        run: Run::Body(crate::simplify_cfg::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "copy-propagation",
        description: "drop block parameters that have one value on all edges",
        run: Run::Body(crate::copy_propagation::run),
        wakes: Changes::GRAPH.union(Changes::ENDS),
    },
    Pass {
        name: "sccp",
        description: "propagate constants along the paths that can be taken",
        run: Run::Body(crate::sccp::run),
        wakes: Changes::GRAPH
            .union(Changes::CONSTANTS)
            .union(Changes::OPERANDS)
            .union(Changes::ENDS),
    },
    Pass {
        name: "simplify-instructions",
        description: "use algebraic identities",
        run: Run::Body(crate::simplify_instructions::run),
        wakes: ANYTHING
            .difference(Changes::EMPTIED)
            .difference(Changes::DROPPED)
            .difference(Changes::EFFECTS),
    },
    Pass {
        name: "fold-formats",
        description: "format what is known when the script is translated",
        run: Run::Body(crate::fold_formats::run),
        wakes: Changes::CONSTANTS.union(Changes::OPERATIONS),
    },
    Pass {
        name: "gvn",
        description: "merge instructions that give what another has given, globals considered",
        run: Run::Body(crate::gvn::run),
        wakes: ANYTHING.difference(Changes::EMPTIED).difference(Changes::DROPPED),
    },
    Pass {
        name: "ranges",
        description: "drop checks that always pass, and decide comparisons, by value ranges",
        run: Run::Body(crate::ranges::run),
        wakes: ANYTHING.difference(Changes::EMPTIED).difference(Changes::DROPPED),
    },
    Pass {
        name: "loop-invariants",
        description: "move what a loop does not change in front of it",
        run: Run::Body(crate::loop_invariants::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "dead-stores",
        description: "drop stores to scalars that are overwritten before anything can tell",
        run: Run::Body(crate::dead_stores::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "updates",
        description: "make one in-place update of a load, an operation and a store",
        run: Run::Body(crate::updates::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "merge-tails",
        description: "have blocks that end alike share their ends",
        run: Run::Body(crate::merge_tails::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "merge-prints",
        description: "make one print of neighbouring ones, and text of strings that are known",
        run: Run::Body(crate::merge_prints::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "dead-code",
        description: "drop what has no effect and whose result is not used",
        run: Run::Body(crate::dead_code::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "inline",
        description: "inline functions that are small or called once",
        run: Run::Module(crate::inline::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "global-constness",
        description: "fold reads of globals that never change",
        run: Run::Module(crate::global_constness::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "string-bounds",
        description: "find out how long strings can get",
        run: Run::Module(crate::string_bounds::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "unused-globals",
        description: "drop globals that nothing reads, and their writes",
        run: Run::Module(crate::unused::run_globals),
        wakes: ANYTHING,
    },
    Pass {
        name: "unused-functions",
        description: "drop functions that nothing calls",
        run: Run::Module(crate::unused::run_functions),
        wakes: ANYTHING,
    },
    Pass {
        name: "empty-handlers",
        description: "drop handlers without effect, and their probe points",
        run: Run::Module(crate::unused::run_handlers),
        wakes: ANYTHING,
    },
    Pass {
        name: "duplicate-functions",
        description: "merge functions that are equal up to the names of locals",
        run: Run::Module(crate::duplicates::run_functions),
        wakes: ANYTHING,
    },
    Pass {
        name: "similar-functions",
        description: "merge functions that differ in literals, which become parameters",
        run: Run::Module(crate::duplicates::run_similar),
        wakes: ANYTHING,
    },
    Pass {
        name: "duplicate-handlers",
        description: "merge handlers that are equal up to names and literals",
        run: Run::Module(crate::duplicates::run_handlers),
        wakes: ANYTHING,
    },
    Pass {
        name: "fetches",
        description: "make one step of reading a shared integer and writing it",
        run: Run::Module(crate::fetches::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "disciplines",
        description: "find the globals that need no lock because no accesses can overlap",
        run: Run::Module(crate::disciplines::run),
        wakes: ANYTHING,
    },
    Pass {
        name: "lock-sets",
        description: "share locks, weaken them, take them late and release them early",
        run: Run::Module(crate::lock_sets::run),
        wakes: ANYTHING,
    },
];

/// The pass of this name.
pub fn find(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}
