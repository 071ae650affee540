//! Parses scripts and says of each whether it is accepted and where its first error is.
//!
//! ```text
//! verdict [-r RELEASE] [-c KCONFIG] [-m MACROS.stpm]… [-a ARG]… [-v] [-t] [-p] [-u]
//!         FILE…
//! ```
//!
//! Each line is `ok FILE` or `LINE FILE`. `-v` prints all diagnostics, `-t` just the time that the
//! processor spent on parsing, without reading the files. `-p` prints accepted scripts back and fails if one of them is
//! not read as the same tree again. `-u` prints how often the scripts use each construct of the
//! language.

use std::process::ExitCode;
use std::time::Duration;
use xlate_grammar::ast::File;
use xlate_grammar::coverage::Coverage;
use xlate_grammar::{
    Environment, LibraryMacros, ParseOptions, SourceMap, has_errors, parse_library_macros,
    parse_script, print, render,
};

#[derive(Default)]
struct Options {
    environment: Environment,
    macros: Vec<String>,
    args: Vec<String>,
    verbose: bool,
    timing: bool,
    print: bool,
    usage: bool,
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
            "-p" => options.print = true,
            "-u" => options.usage = true,
            "-t" => options.timing = true,
            _ => options.files.push(arg),
        }
    }
    Ok(options)
}

/// The time that this thread has run so far.
fn processor_time() -> Result<Duration, String> {
    let path = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let nanoseconds = text.split(' ').next().and_then(|field| field.parse().ok());
    nanoseconds.map(Duration::from_nanos).ok_or(format!("{path}: no number"))
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
    let texts: Vec<Vec<u8>> =
        options.files.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let bytes: usize = texts.iter().map(Vec::len).sum();
    let mut coverage = Coverage::new();
    let start = processor_time()?;
    for (path, text) in options.files.iter().zip(texts) {
        let given = ParseOptions { environment, macros: &macros, args, library: false };
        let file = sources.add(path.as_str(), text);
        let (tree, diagnostics) = parse_script(&mut sources, file, &given);
        if options.usage {
            coverage.add(&tree);
        }
        if options.print && !has_errors(&diagnostics) {
            print_back(&mut sources, tree, &given, path)?;
        } else {
            drop(tree);
        }
        let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        let line = first.and_then(|d| d.span()).map(|span| {
            let spelling = sources.spelling(span);
            let argument = sources.name(spelling.file).starts_with("<script argument");
            let place = if argument { sources.origin(span) } else { spelling };
            sources.position_of(place.file, place.start).line.to_string()
        });
        if !options.timing && !options.usage {
            println!("{} {path}", line.as_deref().unwrap_or("ok"));
        }
        if options.verbose {
            print!("{}", render(&sources, &diagnostics, false));
        }
    }
    if options.usage {
        coverage.counts().for_each(|(construct, count)| println!("{count:8} {construct}"));
    }
    if options.timing {
        let spent = processor_time()?.saturating_sub(start);
        println!("{} files, {bytes} bytes, {} us", options.files.len(), spent.as_micros());
    }
    Ok(())
}

fn print_back(
    sources: &mut SourceMap,
    mut tree: File,
    options: &ParseOptions<'_>,
    path: &str,
) -> Result<(), String> {
    let file = sources.add(format!("{path} (printed)"), print(&tree));
    let (mut again, diagnostics) = parse_script(sources, file, options);
    if has_errors(&diagnostics) {
        return Err(format!("{path}\n{}", render(sources, &diagnostics, false)));
    }
    tree.erase_spans();
    again.erase_spans();
    let differs = tree.items.iter().zip(&again.items).find(|(a, b)| a != b);
    match differs {
        None if tree.items.len() == again.items.len() => Ok(()),
        None => Err(format!("{path}: printed back with other items")),
        Some((a, b)) => Err(format!("{path}: printed back differently: {a:?}\n{b:?}")),
    }
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
