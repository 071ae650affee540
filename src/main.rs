//! The `xlate` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(xlate::driver::main(std::env::args_os()))
}
