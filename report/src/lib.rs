//! What the translator did, made readable: control-flow graphs, differences, times and remarks.
//!
//! Everything here turns data of the other stages into text; nothing here decides anything.

pub mod ablation;
pub mod bisect;
pub mod diff;
pub mod explore;
pub mod graph;
mod json;
pub mod measure;
pub mod remarks;
pub mod stats;
pub mod time;
