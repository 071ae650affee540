//! What the translator did, made readable: control-flow graphs, differences, times and remarks.
//!
//! Everything here turns data of the other stages into text; nothing here decides anything.

pub mod diff;
pub mod graph;
pub mod time;
