//! Runs cases in a virtual machine: scripts and hand-written modules, built beforehand, each
//! loaded, exercised and removed in one boot of a distribution's kernel, its output compared and
//! the kernel's log searched. `docs/testing-in-a-vm.md` says how to add a case.

mod kernel_log;
mod modules;
mod report;
mod tutorial;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use clap::Parser;
use tempfile::TempDir;
use xlate_symbols::Version;
use xlate_vm::case::Case;
use xlate_vm::machine::{FileSystem, Guest};
use xlate_vm::{corpus, expect};

use modules::Builder;
use report::{Event, Files, ReportReader};

/// How long a boot may take, and how much longer than its limit a case: emulation is slow.
const GRACE: Duration = Duration::from_secs(60);

/// Two processors that take turns. With a thread for each, QEMU 7.2 lets one go on to execute a
/// breakpoint that the other has removed already, which is how kernels patch probe sites: the guest
/// hangs. Handlers still interrupt each other, and locks are still held when a turn ends.
const MACHINE: &[&str] = &["-accel", "tcg,thread=single", "-smp", "2"];

/// How many lines of the console a crash shows.
const CONSOLE_LINES: usize = 40;

/// Runs scripts and modules in a virtual machine and compares what they print.
#[derive(Debug, Parser)]
#[command(name = "tests/vm/run")]
struct Options {
    /// The release of a kernel to test on; may be given more than once. By default the newest
    /// 6.1 and the newest 6.12 that are installed.
    #[arg(short = 'r', long = "kernel", value_name = "RELEASE")]
    kernels: Vec<String>,
    /// The program to test.
    #[arg(long, value_name = "FILE")]
    xlate: Option<PathBuf>,
    /// Print what failing cases printed as a whole.
    #[arg(short, long)]
    verbose: bool,
    /// Keep the folder with modules, guest files, console and report of each kernel.
    #[arg(short, long)]
    keep: bool,
    /// The cases to run; all, if none is named. `NAME*` stands for all that begin so.
    cases: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tests/vm: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<bool> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = Case::read_all(&here.join("cases"))?;
    cases.extend(corpus::read_all(&here.join("../corpus"))?);
    let work = std::env::current_exe()?.with_file_name("vm-tutorial");
    cases.extend(tutorial::read_all(&work)?);
    let cases = select(cases, &options.cases)?;
    let kernels = match options.kernels.is_empty() {
        true => newest_kernels()?,
        false => options.kernels.clone(),
    };
    let beside = std::env::current_exe()?.with_file_name("xlate");
    let xlate = options.xlate.clone().unwrap_or(beside);
    // A guest keeps one processor of this machine busy, so kernels are tested side by side.
    let test = |release: &String| -> io::Result<(usize, usize)> {
        let begun = Instant::now();
        let mut verdicts = Verdicts::new(release, options.verbose);
        run_on(&mut verdicts, &xlate, &cases, options.keep)?;
        println!("{release}: {:.0} s", begun.elapsed().as_secs_f64());
        Ok((verdicts.passed, verdicts.failed))
    };
    let counts: Vec<io::Result<(usize, usize)>> = thread::scope(|scope| {
        let tests: Vec<_> = kernels.iter().map(|release| scope.spawn(|| test(release))).collect();
        let panicked = |_| Err(io::Error::other("a test of a kernel panicked"));
        tests.into_iter().map(|test| test.join().unwrap_or_else(panicked)).collect()
    });
    let (mut passed, mut failed) = (0, 0);
    for count in counts {
        let (more_passed, more_failed) = count?;
        passed += more_passed;
        failed += more_failed;
    }
    println!("{passed} passed, {failed} failed");
    Ok(failed == 0)
}

/// The cases that the command line names.
fn select(cases: Vec<Case>, wanted: &[String]) -> io::Result<Vec<Case>> {
    let is = |case: &Case, pattern: &String| match pattern.strip_suffix('*') {
        Some(prefix) => case.name.starts_with(prefix),
        None => case.name == *pattern,
    };
    if let Some(unknown) = wanted.iter().find(|pattern| !cases.iter().any(|case| is(case, pattern)))
    {
        return Err(io::Error::other(format!("there is no case `{unknown}`")));
    }
    let chosen = |case: &Case| wanted.is_empty() || wanted.iter().any(|pattern| is(case, pattern));
    Ok(cases.into_iter().filter(chosen).collect())
}

/// The newest installed release, with image and headers, of each series that is tested.
fn newest_kernels() -> io::Result<Vec<String>> {
    let mut newest: BTreeMap<(u32, u32), (Version, String)> = BTreeMap::new();
    for entry in fs::read_dir("/lib/modules")? {
        let release = entry?.file_name().to_string_lossy().into_owned();
        let Ok(version) = release.parse::<Version>() else { continue };
        let complete = Path::new("/lib/modules").join(&release).join("build").exists()
            && Path::new("/boot").join(format!("vmlinuz-{release}")).exists();
        if complete {
            let series = (version.major, version.minor);
            let candidate = (version, release);
            newest
                .entry(series)
                .and_modify(|best| *best = candidate.clone().max(best.clone()))
                .or_insert(candidate);
        }
    }
    let mut releases = Vec::new();
    for series in [(6, 1), (6, 12)] {
        match newest.remove(&series) {
            Some((_, release)) => releases.push(release),
            None => {
                return Err(io::Error::other(format!(
                    "no {}.{} kernel with headers and image is installed: run ./check packages",
                    series.0, series.1
                )));
            }
        }
    }
    Ok(releases)
}

/// Why a case failed, and what it printed.
struct Failure {
    reason: String,
    files: Files,
}

/// What is known of the cases on one kernel; each verdict is printed when it is given.
struct Verdicts<'a> {
    release: &'a str,
    verbose: bool,
    judged: BTreeSet<String>,
    passed: usize,
    failed: usize,
}

impl<'a> Verdicts<'a> {
    fn new(release: &'a str, verbose: bool) -> Self {
        Self { release, verbose, judged: BTreeSet::new(), passed: 0, failed: 0 }
    }

    /// Notes that a case passed, in so many seconds, or why it failed.
    fn add(&mut self, name: &str, verdict: Result<f64, Failure>) {
        let release = self.release;
        match verdict {
            Ok(seconds) => {
                self.passed += 1;
                println!("ok    {release} {name} ({seconds:.1} s)");
            }
            Err(Failure { reason, files }) => {
                self.failed += 1;
                println!("FAIL  {release} {name}: {reason}");
                if self.verbose {
                    files.iter().for_each(|(kind, text)| println!("--- {kind}\n{text}"));
                }
            }
        }
        self.judged.insert(name.to_owned());
    }

    fn has(&self, case: &Case) -> bool {
        self.judged.contains(&case.name)
    }
}

/// Runs all cases on one kernel, in as few boots as can be.
fn run_on(verdicts: &mut Verdicts<'_>, xlate: &Path, cases: &[Case], keep: bool) -> io::Result<()> {
    let release = verdicts.release;
    let begun = Instant::now();
    let mut folder = TempDir::with_prefix("xlate-vm-")?;
    folder.disable_cleanup(keep);
    if keep {
        println!("{release}: {}", folder.path().display());
    }
    let cache = std::env::current_exe()?.with_file_name("vm-cache");
    let helpers = helpers()?;
    let builder = Builder { release, xlate, cache: &cache };
    let built = builder.build_all(cases, folder.path());
    let init = Path::new(env!("CARGO_MANIFEST_DIR")).join("guest/init");
    let file_system = FileSystem::new(folder.path().join("root"), &init, xlate, &helpers)?;
    let mut waiting = Vec::new();
    for (case, module) in cases.iter().zip(&built) {
        match module {
            Ok(module) => waiting.push((case, module.as_path())),
            Err(reason) => {
                let reason = format!("not built: {reason}");
                verdicts.add(&case.name, Err(Failure { reason, files: Files::new() }));
            }
        }
    }
    println!("{release}: built modules in {:.0} s", begun.elapsed().as_secs_f64());
    while !waiting.is_empty() {
        set_cases(&file_system, &waiting)?;
        let boot = Boot::new(release, folder.path(), &file_system)?;
        boot.run(&waiting, verdicts);
        waiting.retain(|(case, _)| !verdicts.has(case));
    }
    Ok(())
}

/// Replaces the cases in the guest's file system.
fn set_cases(file_system: &FileSystem, cases: &[(&Case, &Path)]) -> io::Result<()> {
    let folder = file_system.root().join("cases");
    fs::remove_dir_all(&folder)?;
    fs::create_dir(&folder)?;
    let mut list = String::new();
    for (case, module) in cases {
        let place = folder.join(&case.name);
        fs::create_dir(&place)?;
        if let Some(folder) = &case.folder {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                fs::copy(entry.path(), place.join(entry.file_name()))?;
            }
        }
        fs::copy(module, place.join("module.ko"))?;
        fs::write(place.join("run.sh"), case.guest_script())?;
        list.push_str(&format!("{} {}\n", case.name, case.timeout.as_secs()));
    }
    fs::write(folder.join("list"), list)
}

/// The C files that become programs in the guest.
fn helpers() -> io::Result<Vec<PathBuf>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut helpers = vec![here.join("../../bench/sysloop.c")];
    for entry in fs::read_dir(here.join("guest"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            helpers.push(path);
        }
    }
    helpers.sort();
    Ok(helpers)
}

/// One boot of the test machine.
struct Boot {
    guest: Guest,
    console: PathBuf,
    report: PathBuf,
}

impl Boot {
    fn new(release: &str, folder: &Path, file_system: &FileSystem) -> io::Result<Self> {
        let archive = folder.join("initramfs");
        file_system.pack(&archive)?;
        let kernel = Path::new("/boot").join(format!("vmlinuz-{release}"));
        let (console, report) = (folder.join("console"), folder.join("report"));
        // What an earlier boot said must not be taken for news.
        fs::write(&console, "")?;
        fs::write(&report, "")?;
        let guest = Guest::boot(&kernel, &archive, &console, &report, MACHINE)?;
        Ok(Self { guest, console, report })
    }

    /// Follows the report until the machine is off or hangs. Every boot gives at least one
    /// verdict, so that a series of boots comes to its end.
    fn run(mut self, cases: &[(&Case, &Path)], verdicts: &mut Verdicts<'_>) {
        let mut reader = ReportReader::default();
        let mut current: Option<&Case> = None;
        let (mut begun, mut deadline) = (Instant::now(), Instant::now() + GRACE);
        let mut done = false;
        loop {
            let off = done || self.guest.is_off();
            let report = fs::read(&self.report).unwrap_or_default();
            while let Some(event) = reader.next_event(&report) {
                match event {
                    Event::Begin(name) => {
                        current = cases.iter().map(|(case, _)| *case).find(|c| c.name == name);
                        begun = Instant::now();
                        deadline = begun + GRACE + current.map_or(GRACE, |case| case.timeout);
                    }
                    Event::End(name, files) => {
                        if let Some(case) = current.take() {
                            let seconds = begun.elapsed().as_secs_f64();
                            verdicts.add(&name, judge(case, files).map(|()| seconds));
                        }
                        deadline = Instant::now() + GRACE;
                    }
                    Event::Done => done = true,
                }
            }
            if off || Instant::now() > deadline {
                let what = if off { "went down" } else { "hung" };
                let first = cases.first().map(|(case, _)| *case);
                self.blame(what, current.or(first), verdicts);
                return;
            }
            sleep(Duration::from_millis(50));
        }
    }

    /// Finds the case at fault for the end of the machine, unless it ended between two cases.
    /// When no case has ended at all it is the first one's, for want of a better one.
    fn blame(&self, what: &str, case: Option<&Case>, verdicts: &mut Verdicts<'_>) {
        let Some(case) = case.filter(|case| !verdicts.has(case)) else { return };
        let console = fs::read(&self.console).unwrap_or_default();
        let console = String::from_utf8_lossy(&console).into_owned();
        let lines: Vec<&str> = console.lines().collect();
        let tail = lines[lines.len().saturating_sub(CONSOLE_LINES)..].join("\n");
        let reason = format!("the machine {what}; its console:\n{tail}");
        verdicts.add(&case.name, Err(Failure { reason, files: Files::new() }));
    }
}

/// Compares what a case printed and left with what it should have.
fn judge(case: &Case, files: Files) -> Result<(), Failure> {
    let file = |kind: &str| files.get(kind).map_or("", String::as_str);
    let mut reasons = Vec::new();
    let status = file("status").trim();
    if status != case.status.to_string() {
        // 128 and SIGKILL: what `timeout` makes of a case that takes too long.
        let why = if status == "137" { " (its time was up)" } else { "" };
        reasons.push(format!("exit status {status}{why} instead of {}", case.status));
    }
    let differences = [
        ("stdout", expect::difference(&case.stdout, file("stdout"))),
        ("stderr", expect::unexpected(&case.stderr, file("stderr"))),
    ];
    for (kind, difference) in differences {
        reasons.extend(difference.map(|difference| format!("{kind}: {difference}")));
    }
    let complaints = kernel_log::complaints(file("log"));
    if !complaints.is_empty() {
        reasons.push(format!("the kernel complains:\n{}", complaints.join("\n")));
    }
    if !file("leftovers").trim().is_empty() {
        reasons.push(format!("something is left behind:\n{}", file("leftovers").trim()));
    }
    match reasons.is_empty() {
        true => Ok(()),
        false => Err(Failure { reason: reasons.join("\n"), files }),
    }
}
