//! Passes 4 and 5: kbuild, its cache, loading a module and moving its output.
//!
//! [`build`] makes a module of C source, or finds it in the [`Cache`]; [`run`] loads it, moves its
//! output and removes it. Both stop cleanly when [`Interrupts`] says so. [`unload`] removes a
//! module whose loader was killed. [`build_host`] makes an ordinary program of the same C, and
//! [`exec_host`] becomes it.
//!
//! This crate knows nothing of scripts: it takes C text and files. It never prints; what the user
//! should see is handed to the caller.

mod built;
mod cache;
mod error;
mod host;
mod image;
mod interrupt;
mod kbuild;
mod key;
mod merge;
mod module;
mod output;
mod protocol;
mod recording;
mod relocations;
mod session;
mod target;

pub use built::Built;
pub use cache::Cache;
pub use error::Error;
pub use host::{HostRequest, build_host, exec_host};
pub use interrupt::Interrupts;
pub use kbuild::{BuildRequest, build};
pub use module::{abandoned, unload};
pub use session::{Notice, Outcome, RunRequest, TargetSpec, run};
