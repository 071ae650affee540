//! Emits the C of a module in its text form: `cargo run -p xlate-codegen --example emit FILE.xir`.

use std::process::ExitCode;

use xlate_codegen::{EmitOptions, emit};
use xlate_ir::text::parse;

fn main() -> ExitCode {
    match run() {
        Ok(c) => {
            print!("{c}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("emit: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let path = std::env::args().nth(1).ok_or("usage: emit FILE.xir")?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let module = parse(&text).map_err(|error| format!("{path}:{error}"))?;
    let emitted = emit(&module, &EmitOptions::default()).map_err(|error| error.to_string())?;
    Ok(emitted.c)
}
