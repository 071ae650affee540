//! An optimizing translator from SystemTap scripts to Linux kernel modules.
//!
//! This crate only puts the stages together; each is a crate of its own.

pub mod cli;
pub mod settings;
pub mod stage;
