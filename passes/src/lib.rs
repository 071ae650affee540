//! The pass manager, analyses and transformations over the IR.
//!
//! [`manager::run`] takes a module through a [`pipeline::Pipeline`]; [`registry::PASSES`] lists the
//! passes, one file each. What passes did and could not do comes back as data, [`remarks::Remark`].

pub mod changes;
pub mod manager;
pub mod pipeline;
pub mod registry;
pub mod remarks;

mod accesses;
pub mod concurrency;
mod copy_propagation;
mod dead_code;
mod dead_stores;
mod disciplines;
mod duplicates;
mod early_clears;
mod fetches;
mod fold_formats;
mod global_constness;
mod gvn;
mod inline;
mod lock_sets;
mod loop_invariants;
mod merge_prints;
mod merge_tails;
mod ranges;
mod sccp;
mod shard_sizes;
mod simplify_cfg;
mod simplify_instructions;
mod string_bounds;
mod unused;
mod updates;
