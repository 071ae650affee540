//! Parses scripts and says of each whether it is accepted and where its first error is.
//!
//! ```text
//! verdict [-r RELEASE] [-c KCONFIG] [-m MACROS.stpm]… [-a ARG]… [-v] [-t] FILE…
//! ```
//!
//! Each line is `ok FILE` or `LINE FILE`. `-v` prints all diagnostics, `-t` the time that parsing
//! took, without reading the files.

use std::process::ExitCode;
use std::time::{Duration, Instant};
use xlate_grammar::{
    Environment, LibraryMacros, ParseOptions, SourceMap, has_errors, parse_library_macros,
    parse_script, render,
};

#[derive(Default)]
struct Options {
    environment: Environment,
    macros: Vec<String>,
    args: Vec<String>,
    verbose: bool,
    timing: bool,
    files: Vec<String>,
}

fn options() -> Result<Options, String> {
    let mut options = Options::default();
    options.environment.guru_mode = true;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "-r" => options.environment.kernel_release = value()?,
            "-c" => {
                let path = value()?;
                let text = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
                let lines = text.lines().filter_map(|line| line.split_once('='));
                let pairs = lines.map(|(name, value)| (name.to_owned(), value.to_owned()));
                options.environment.kconfig = pairs.collect();
            }
            "-m" => options.macros.push(value()?),
            "-a" => options.args.push(value()?),
            "-v" => options.verbose = true,
            "-t" => options.timing = true,
            _ => options.files.push(arg),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> Result<(), String> {
    let mut sources = SourceMap::new();
    let mut macros = LibraryMacros::new();
    let read = |path: &str| std::fs::read(path).map_err(|e| format!("{path}: {e}"));
    let Options { environment, args, .. } = options;
    for path in &options.macros {
        let file = sources.add(path.as_str(), read(path)?);
        let given = ParseOptions { environment, macros: &macros, args, library: true };
        let (found, diagnostics) = parse_library_macros(&mut sources, file, &given);
        eprint!("{}", render(&sources, &diagnostics, false));
        macros.extend(found);
    }
    let mut total = Duration::ZERO;
    let mut bytes = 0;
    for path in &options.files {
        let text = read(path)?;
        bytes += text.len();
        let given = ParseOptions { environment, macros: &macros, args, library: false };
        let start = Instant::now();
        let file = sources.add(path.as_str(), text);
        let (tree, diagnostics) = parse_script(&mut sources, file, &given);
        total += start.elapsed();
        drop(tree);
        let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        let line = first.and_then(|d| d.span()).map(|span| {
            let spelling = sources.spelling(span);
            let argument = sources.name(spelling.file).starts_with("<script argument");
            let place = if argument { sources.origin(span) } else { spelling };
            sources.position_of(place.file, place.start).line.to_string()
        });
        debug_assert_eq!(line.is_some(), has_errors(&diagnostics));
        if !options.timing {
            println!("{} {path}", line.as_deref().unwrap_or("ok"));
        }
        if options.verbose {
            print!("{}", render(&sources, &diagnostics, false));
        }
    }
    if options.timing {
        println!("{} files, {bytes} bytes, {} us", options.files.len(), total.as_micros());
    }
    Ok(())
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("verdict: {message}");
            ExitCode::from(2)
        }
    }
}
