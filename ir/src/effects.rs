//! Effect summaries: the only thing that passes ask of an instruction before they move, merge or
//! drop it.

use std::collections::BTreeSet;

use crate::entities::Global;

/// How a result depends on when it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Invariance {
    /// The same operands give the same result, always.
    #[default]
    Pure,
    /// The same operands give the same result throughout one run of a handler.
    Handler,
    /// Each evaluation may give another result.
    Volatile,
}

/// What an instruction, a function or a stretch of code may do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// Globals that it may read.
    pub reads: BTreeSet<Global>,
    /// Globals that it may write.
    pub writes: BTreeSet<Global>,
    /// It may raise a catchable error.
    pub raises: bool,
    /// It may end the handler past every catch (action and nesting limits, a failed lock).
    pub aborts: bool,
    /// It does something else that must happen once and in order: output, messages, session state,
    /// C of the script.
    pub acts: bool,
    /// How its result depends on when it is asked for, globals aside.
    pub invariance: Invariance,
}

impl Effects {
    /// Whether it may be dropped when its result is not used.
    pub fn is_removable(&self) -> bool {
        self.writes.is_empty() && !self.raises && !self.aborts && !self.acts
    }

    /// Whether two of it with the same operands, one dominating the other in the same handler run,
    /// are one.
    pub fn is_mergeable(&self) -> bool {
        self.is_removable() && self.reads.is_empty() && self.invariance != Invariance::Volatile
    }

    /// Adds what another may do.
    pub fn join(&mut self, other: &Effects) {
        self.reads.extend(other.reads.iter().copied());
        self.writes.extend(other.writes.iter().copied());
        self.raises |= other.raises;
        self.aborts |= other.aborts;
        self.acts |= other.acts;
        self.invariance = self.invariance.max(other.invariance);
    }
}
