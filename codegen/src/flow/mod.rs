//! From a control-flow graph to structured statements.

pub(crate) mod graph;
pub(crate) mod in_place;
#[cfg(test)]
mod random_graphs;
pub(crate) mod reduce;
pub(crate) mod structure;
pub(crate) mod tidy;
pub(crate) mod unread;
