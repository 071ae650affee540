//! Compares our verdict on scripts, and on scripts with one token changed, with that of `stap -p1`.
//!
//! ```text
//! oracle [--stap COMMAND] --release RELEASE --kconfig FILE --macros DIR
//!        [--mutations N] [--seed N] [--jobs N] [--sample N] [--differences FILE] [--show CASE]
//!        SCRIPT…
//! ```
//!
//! `--macros` is a folder with `.stpm` files and nothing else; both sides read them. `--sample`
//! compares only every Nth of the scripts as they are. `--differences` lists the cases in which
//! the verdicts are known to differ, one a line: the case, a tab, and the reason. `--show` prints
//! the text of a case instead.
//! `tests/oracle/run` prepares all this and says what the results have to be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use xlate_grammar::{
    Environment, LibraryMacros, ParseOptions, SourceMap, parse_library_macros, parse_script,
    token_ranges,
};

/// The arguments that scripts are given.
const ARGS: [&str; 8] = ["1", "2", "3", "4", "5", "6", "7", "8"];

#[derive(Default)]
struct Options {
    stap: Vec<String>,
    environment: Environment,
    macros: PathBuf,
    mutations: usize,
    seed: u64,
    jobs: usize,
    sample: usize,
    differences: BTreeMap<String, String>,
    show: Option<String>,
    scripts: Vec<PathBuf>,
}

/// Where a script was first found to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Line(u32),
    End,
    /// Nowhere in particular, as in a script without any probe.
    Nowhere,
}

/// The first error, or nothing if the script is accepted.
type Verdict = Option<Place>;

struct Case {
    name: String,
    text: Vec<u8>,
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn options() -> Result<Options, String> {
    let mut options = Options { jobs: 2, sample: 1, seed: 1, ..Options::default() };
    options.stap = vec!["stap".to_owned()];
    options.environment.guru_mode = true;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if !arg.starts_with("--") {
            options.scripts.push(arg.into());
            continue;
        }
        let value = args.next().ok_or(format!("{arg} needs a value"))?;
        let number = || value.parse::<usize>().map_err(|_| format!("{arg} needs a number"));
        match arg.as_str() {
            "--stap" => options.stap = value.split(' ').map(str::to_owned).collect(),
            "--release" => options.environment.kernel_release = value,
            "--macros" => options.macros = value.into(),
            "--mutations" => options.mutations = number()?,
            "--seed" => options.seed = number()? as u64,
            "--jobs" => options.jobs = number()?.max(1),
            "--sample" => options.sample = number()?.max(1),
            "--show" => options.show = Some(value),
            "--kconfig" => {
                let text = String::from_utf8_lossy(&read(value.as_ref())?).into_owned();
                let pairs = text.lines().filter_map(|line| line.split_once('='));
                let owned = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
                options.environment.kconfig = owned.collect();
            }
            "--differences" => {
                let text = String::from_utf8_lossy(&read(value.as_ref())?).into_owned();
                let lines = text.lines().filter(|line| !line.starts_with('#'));
                let pairs = lines.filter_map(|line| line.split_once('\t'));
                let owned = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
                options.differences = owned.collect();
            }
            _ => return Err(format!("unknown option {arg}")),
        }
    }
    Ok(options)
}

/// Small and repeatable: G. Marsaglia, "Xorshift RNGs", 2003.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % count
    }
}

/// Deletes a token, writes it twice, or swaps it with the next one.
fn mutate(text: &[u8], random: &mut Random) -> Option<(String, Vec<u8>)> {
    let tokens = token_ranges(text);
    if tokens.len() < 2 {
        return None;
    }
    let at = random.below(tokens.len() - 1);
    let (this, next) = (tokens[at].clone(), tokens[at + 1].clone());
    let mut mutated = text[..this.start].to_vec();
    let name = match random.below(3) {
        0 => {
            mutated.extend_from_slice(&text[this.end..]);
            "delete"
        }
        1 => {
            mutated.extend_from_slice(&text[this.clone()]);
            mutated.push(b' ');
            mutated.extend_from_slice(&text[this.start..]);
            "duplicate"
        }
        _ => {
            mutated.extend_from_slice(&text[next.clone()]);
            mutated.extend_from_slice(&text[this.end..next.start]);
            mutated.extend_from_slice(&text[this]);
            mutated.extend_from_slice(&text[next.end..]);
            "swap"
        }
    };
    Some((format!("{name} {at}"), mutated))
}

fn short_name(path: &Path) -> String {
    let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

fn cases(options: &Options) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    let mut texts = Vec::new();
    for (at, path) in options.scripts.iter().enumerate() {
        let text = read(path)?;
        let name = short_name(path);
        if at % options.sample == 0 {
            cases.push(Case { name: name.clone(), text: text.clone() });
        }
        texts.push((name, text));
    }
    let mut random = Random(options.seed);
    let total = cases.len() + options.mutations;
    while cases.len() < total && !texts.is_empty() {
        let (name, text) = &texts[random.below(texts.len())];
        if let Some((mutation, text)) = mutate(text, &mut random) {
            cases.push(Case { name: format!("{name} {mutation}"), text });
        }
    }
    Ok(cases)
}

fn macro_files(options: &Options) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut files = Vec::new();
    let mut folders = vec![options.macros.clone()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.display().to_string(), read(&path)?));
            }
        }
    }
    files.sort();
    Ok(files)
}

fn our_verdict(options: &Options, macros: &[(String, Vec<u8>)], case: &Case) -> Verdict {
    let mut sources = SourceMap::new();
    let mut library = LibraryMacros::new();
    let args: Vec<String> = ARGS.iter().map(|arg| (*arg).to_owned()).collect();
    let environment = &options.environment;
    for (name, text) in macros {
        let file = sources.add(name.as_str(), text.as_slice());
        let given = ParseOptions { environment, macros: &library, args: &args, library: true };
        let (found, _) = parse_library_macros(&mut sources, file, &given);
        library.extend(found);
    }
    let file = sources.add("case.stp", case.text.as_slice());
    let given = ParseOptions { environment, macros: &library, args: &args, library: false };
    let (_, diagnostics) = parse_script(&mut sources, file, &given);
    let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error())?;
    let Some(span) = first.span().filter(|_| first.message != "the script is empty") else {
        return Some(Place::Nowhere);
    };
    let spelling = sources.spelling(span);
    let argument = sources.name(spelling.file).starts_with("<script argument");
    let place = if argument { sources.origin(span) } else { spelling };
    if place.file == file && place.start as usize >= case.text.len() {
        return Some(Place::End);
    }
    Some(Place::Line(sources.position_of(place.file, place.start).line))
}

/// Asks `stap`; the text is in `path`.
fn stap_verdict(options: &Options, path: &Path) -> Result<Verdict, String> {
    let empty = options.macros.join("no-tapset");
    let output = Command::new("timeout")
        .arg("60")
        .args(["nice", "env"])
        .arg(format!("SYSTEMTAP_TAPSET={}", empty.display()))
        .args(&options.stap)
        .args(["-p1", "-g", "-r", &options.environment.kernel_release, "-I"])
        .arg(&options.macros)
        .arg(path)
        .args(ARGS)
        .output()
        .map_err(|error| format!("stap: {error}"))?;
    if output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Some(stap_place(&text)))
}

/// The place in the lines behind the first `parse error`.
fn stap_place(text: &str) -> Place {
    let behind = text.lines().skip_while(|line| !line.starts_with("parse error"));
    for line in behind.skip(1).take(2) {
        if line.contains("saw:") && line.trim_end().ends_with("EOF") {
            return Place::End;
        }
        let Some((_, place)) = line.rsplit_once(" at ") else { continue };
        let mut parts = place.trim_end().rsplit(':');
        if let (Some(_), Some(Ok(line))) = (parts.next(), parts.next().map(str::parse)) {
            return Place::Line(line);
        }
    }
    Place::Nowhere
}

/// Both verdicts on each case, ours first.
fn compare(options: &Options, cases: &[Case]) -> Result<Vec<(Verdict, Verdict)>, String> {
    let macros = macro_files(options)?;
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Verdict, Verdict)>> = Mutex::default();
    let work = || -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join("case.stp");
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(at) else { return Ok(()) };
            std::fs::write(&path, &case.text).map_err(|error| error.to_string())?;
            let theirs = stap_verdict(options, &path)?;
            let ours = our_verdict(options, &macros, case);
            results.lock().map_err(|error| error.to_string())?.push((at, ours, theirs));
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or(Err("a worker panicked".to_owned())))
    })?;
    let mut results = results.into_inner().map_err(|error| error.to_string())?;
    results.sort_by_key(|(at, ..)| *at);
    Ok(results.into_iter().map(|(_, ours, theirs)| (ours, theirs)).collect())
}

fn show(verdict: Verdict) -> String {
    match verdict {
        None => "accepts".to_owned(),
        Some(Place::Line(line)) => format!("refuses at line {line}"),
        Some(Place::End) => "refuses at the end".to_owned(),
        Some(Place::Nowhere) => "refuses".to_owned(),
    }
}

fn run() -> Result<bool, String> {
    let options = options()?;
    let cases = cases(&options)?;
    if let Some(name) = &options.show {
        let case = cases.iter().find(|case| case.name == *name).ok_or("no such case")?;
        print!("{}", String::from_utf8_lossy(&case.text));
        return Ok(true);
    }
    let results = compare(&options, &cases)?;
    let (mut accepted, mut refused, mut same_line, mut explained) = (0, 0, 0, 0);
    let mut unexplained = 0;
    for (case, (ours, theirs)) in cases.iter().zip(&results) {
        match (ours, theirs) {
            (None, None) => accepted += 1,
            (Some(a), Some(b)) => {
                refused += 1;
                if a == b {
                    same_line += 1;
                } else {
                    println!("{}: {}, stap {}", case.name, show(*ours), show(*theirs));
                }
            }
            _ => match options.differences.get(&case.name) {
                Some(reason) => {
                    explained += 1;
                    println!("{}: {}, stap {} ({reason})", case.name, show(*ours), show(*theirs));
                }
                None => {
                    unexplained += 1;
                    println!("DIFFERS {}: {}, stap {}", case.name, show(*ours), show(*theirs));
                }
            },
        }
    }
    let percent = if refused == 0 { 100.0 } else { 100.0 * same_line as f64 / refused as f64 };
    println!(
        "{} cases: both accept {accepted}, both refuse {refused} ({same_line} at the same line, \
         {percent:.1}%), {explained} differ for a listed reason, {unexplained} differ",
        cases.len()
    );
    Ok(unexplained == 0 && percent >= 95.0)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("oracle: {message}");
            ExitCode::from(2)
        }
    }
}
