//! The `xlate` command.

use std::process::ExitCode;

/// A translation makes some hundred thousand small objects and then ends: an allocator that takes
/// memory from the system in large pieces halves what that costs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(xlate::driver::main(std::env::args_os()))
}
