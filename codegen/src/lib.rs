//! From IR to C.
//!
//! [`emit`] turns a module into one C file that is compiled with the kernel runtime's headers. It is
//! a pure function: the same module gives the same bytes. `docs/codegen.md` describes the shape of
//! the C, what is folded, and how control flow is structured.

mod bits;
mod body;
mod c;
mod declare;
mod embedded;
mod facts;
mod flow;
mod fold;
mod globals;
mod liveness;
mod locals;
mod module;
mod module_names;
mod names;
mod needs;
mod probes;
mod regex;
mod repr;
mod shards;
mod walks;

pub use module::{CALLS_MOST, EmitError, EmitOptions, Emitted, FrameSize, emit};
