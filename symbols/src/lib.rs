//! What is known of the machine being probed: kernel release, headers, configuration, exports, BTF.
//!
//! [`Kernel::open`] finds out which kernel is meant and nothing else; it is cheap and works on a
//! machine without headers. Everything beyond the release string (the build tree, `CONFIG_`
//! values, exported symbols, tracepoint and function names) is read the first time that it is
//! asked for, and kept. A script that only has `begin` and timer probes therefore pays for none
//! of it.
//!
//! This crate knows files and formats, not the script language: it never sees an AST, and it
//! prints nothing.
//!
//! Start reading at [`Kernel`].

mod btf;
mod config;
mod error;
mod exports;
mod headers;
mod image;
mod kernel;
mod names;
mod release;

pub use config::Config;
pub use error::Error;
pub use exports::{Export, Exports};
pub use kernel::{Kernel, KernelSpec, Presence, Roots};
pub use release::Version;
