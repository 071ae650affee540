//! The SSA intermediate representation: entities, text form, verifier, CFG and dominators.
//!
//! A [`module::Module`] holds globals, functions, handlers and the probe table. Bodies are basic
//! blocks with block parameters in SSA form. The crate knows no script syntax.

pub mod arith;
pub mod builder;
mod canonical;
pub mod cfg;
pub mod effects;
pub mod entities;
pub mod format;
pub mod global_set;
pub mod instructions;
pub mod intrinsics;
pub mod liveness;
mod mnemonics;
pub mod module;
pub mod remap;
pub mod render;
pub mod rewrite;
pub mod sharing;
pub mod strings;
pub mod text;
pub mod types;
pub mod typing;
pub mod verifier;
