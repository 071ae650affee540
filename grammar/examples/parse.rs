//! Parses a script given on the command line and prints its tree, or what is wrong with it.
//!
//! `cargo run -p xlate-grammar --example parse -- 'probe begin { … }' ARG…`

use std::process::ExitCode;
use xlate_grammar::{Environment, LibraryMacros, ParseOptions, SourceMap, parse_script, render};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(script) = args.next() else {
        eprintln!("usage: parse SCRIPT [ARG…]");
        return ExitCode::from(2);
    };
    let mut sources = SourceMap::new();
    let file = sources.add("<input>", script);
    let environment = Environment { guru_mode: true, ..Environment::default() };
    let args: Vec<String> = args.collect();
    let macros = LibraryMacros::new();
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &args, library: false };
    let (tree, diagnostics) = parse_script(&mut sources, file, &options);
    if diagnostics.is_empty() {
        println!("{tree:#?}");
        return ExitCode::SUCCESS;
    }
    eprint!("{}", render(&sources, &diagnostics, false));
    ExitCode::FAILURE
}
