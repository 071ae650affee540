//! Measures scripts: what their probes cost when hit, how long they take to translate and to
//! compile, how big they get, and how they scale; beside hand-written modules (floors) and SystemTap (the peer).

mod ablation;
mod compile;
mod contention;
mod cost;
mod families;
mod family;
mod kernel;
mod peer;
mod recorded;
mod size;
mod table;
mod tools;
mod translate;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use peer::Peer;
use table::Row;

/// Measures what scripts cost, beside floors and peers.
#[derive(Debug, Parser)]
#[command(name = "bench/run")]
struct Options {
    /// What to measure.
    #[arg(value_enum, default_value_t = Bench::All)]
    bench: Bench,
    /// Also write what was measured, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A SystemTap to measure beside (its `stap`), version 5 or later for `cost`.
    #[arg(long, value_name = "PATH")]
    stap: Option<PathBuf>,
    /// Keep the instructions and sizes of that SystemTap in bench/recorded, for runs without one.
    #[arg(long, requires = "stap")]
    record: bool,
    /// The kernel to measure on; by default the newest 6.1 that is installed.
    #[arg(short = 'r', long = "kernel", value_name = "RELEASE")]
    kernel: Option<String>,
    /// The program to measure; by default the one beside this one.
    #[arg(long, value_name = "FILE")]
    xlate: Option<PathBuf>,
    /// System calls in one measurement of `cost`.
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    calls: u32,
    /// Names of scripts in bench/scripts or, for `ablation`, bench/ablation; all, if none is named.
    cases: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Bench {
    /// Instructions per system call.
    Cost,
    /// Milliseconds for passes 1 to 3.
    Translate,
    /// Milliseconds for pass 4 with nothing cached.
    Compile,
    /// Bytes of module text and lines of C.
    Size,
    /// How host programs scale from one thread to two, natively.
    Contention,
    /// What 400 handlers that differ in literals take, beside 4.
    Families,
    /// Counts over IR and C, with all passes and without one of them.
    Ablation,
    /// All of these.
    All,
}

/// A script.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    script: PathBuf,
}

/// What every benchmark works with.
struct Bed {
    /// The folder `bench`.
    here: PathBuf,
    cases: Vec<Case>,
    kernel: String,
    xlate: PathBuf,
    peer: Option<Peer>,
    calls: u32,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).to_owned();
    let beside = std::env::current_exe()?.with_file_name("xlate");
    let mut folders = vec![here.join("scripts")];
    if options.bench == Bench::Ablation {
        folders.push(here.join("ablation"));
    }
    let bed = Bed {
        cases: cases(&folders, &options.cases)?,
        kernel: options.kernel.clone().map_or_else(kernel::newest, Ok)?,
        xlate: options.xlate.clone().unwrap_or(beside),
        peer: options.stap.as_deref().map(Peer::new).transpose()?,
        calls: options.calls,
        here,
    };
    type Measure = fn(&Bed) -> io::Result<Vec<Row>>;
    let benches: [(Bench, Measure); 7] = [
        (Bench::Cost, cost::measure),
        (Bench::Translate, translate::measure),
        (Bench::Compile, compile::measure),
        (Bench::Size, size::measure),
        (Bench::Contention, contention::measure),
        (Bench::Families, families::measure),
        (Bench::Ablation, ablation::measure),
    ];
    let record = fs::read_to_string(recorded::file(&bed.here)).unwrap_or_default();
    let mut rows = Vec::new();
    for (bench, measure) in benches {
        if options.bench == bench || options.bench == Bench::All {
            let mut new = measure(&bed)?;
            let from_record = bed.peer.is_none() && recorded::fill(&mut new, &record);
            print!("{}", table::table(&new));
            if from_record {
                let about = record.lines().next().unwrap_or_default();
                println!("SystemTap as {}", about.trim_start_matches(['#', ' ']));
            }
            rows.extend(new);
        }
    }
    if let Some(peer) = bed.peer.as_ref().filter(|_| options.record) {
        let about = format!("recorded: {}, kernel {}", peer.version(), bed.kernel);
        recorded::write(&bed.here, &about, &rows)?;
    }
    match &options.json {
        Some(path) => fs::write(path, table::json(&rows))
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display()))),
        None => Ok(()),
    }
}

/// The scripts that the command line names, in the order of their names.
fn cases(folders: &[PathBuf], wanted: &[String]) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let entries: io::Result<Vec<_>> = folders.iter().map(fs::read_dir).collect();
    for entry in entries?.into_iter().flatten() {
        let script = entry?.path();
        if script.extension().is_some_and(|extension| extension == "stp") {
            let name = script.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            cases.push(Case { name, script });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(unknown) = wanted.iter().find(|name| !cases.iter().any(|case| case.name == **name))
    {
        let names: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
        return Err(io::Error::other(format!(
            "there is no case `{unknown}`; there are {}",
            names.join(", ")
        )));
    }
    cases.retain(|case| wanted.is_empty() || wanted.contains(&case.name));
    Ok(cases)
}
