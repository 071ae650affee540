//! Host programs under sanitizers: the corpus with the output that is expected of modules, and the
//! examples with events from several CPUs.
//!
//! A report of a sanitizer ends the program with a failure and stands in its standard error, where
//! nothing is expected. AddressSanitizer and UndefinedBehaviorSanitizer see every script,
//! ThreadSanitizer those whose handlers run on several threads.

mod common;
#[path = "common/host.rs"]
mod host;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use common::Script;
use xlate_passes::pipeline::Pipeline;
use xlate_vm::case::{Case, Source};
use xlate_vm::corpus;
use xlate_vm::expect::{difference, unexpected};

const ADDRESS: &str = "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all";
const THREAD: &str = "-O1 -fsanitize=thread";

/// Where programs are left that are not in the cache, which is there, too.
const WORK: &str = env!("CARGO_TARGET_TMPDIR");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a program said: exit status, standard output, standard error.
type Said = (Option<i32>, String, String);

fn said(command: &mut Command) -> Said {
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A kernel whose configuration and names scripts may ask for, if one is installed.
fn release() -> Option<String> {
    let installed = std::fs::read_dir("/lib/modules").into_iter().flatten().flatten();
    let with_headers = installed.filter(|entry| entry.path().join("build/Makefile").exists());
    with_headers.map(|entry| entry.file_name().to_string_lossy().into_owned()).min()
}

/// Builds a script's program.
fn build(script: &Path, options: &[String], arguments: &[String], flags: &str) -> PathBuf {
    let mut xlate = Command::new(env!("CARGO_BIN_EXE_xlate"));
    xlate.args(["--target=host", "-p4", "-w", "-B"]).arg(format!("CFLAGS={flags}"));
    xlate.args(release().map(|release| format!("-r{release}")));
    xlate.args(options).arg(script).arg("--").args(arguments);
    xlate.env("XDG_CACHE_HOME", WORK).current_dir(WORK);
    let (status, path, errors) = said(&mut xlate);
    assert_eq!(status, Some(0), "{}: {errors}", script.display());
    Path::new(WORK).join(path.trim_end())
}

/// Runs a program as `xlate` would, under its sanitizer.
fn run(program: &Path, words: &[&str]) -> Said {
    let mut command = Command::new(program);
    command.args(words).env("TSAN_OPTIONS", "halt_on_error=1").current_dir(root());
    said(&mut command)
}

/// Does work for all items on as many threads as there are processors; the complaints, sorted.
fn each<T: Sync>(items: &[T], work: impl Fn(&T) -> Option<String> + Sync) -> BTreeSet<String> {
    let next = Mutex::new(items.iter());
    let complaints = Mutex::new(BTreeSet::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let Some(item) = next.lock().expect("no panic").next() else { return };
                    complaints.lock().expect("no panic").extend(work(item));
                }
            });
        }
    });
    complaints.into_inner().expect("no panic")
}

/// Runs a case of the corpus; what is wrong with what it says, if something is.
fn complaint(case: &Case, flags: &str) -> Option<String> {
    let Source::Script { path, options, arguments } = &case.source else { return None };
    let program = build(path, options, arguments, flags);
    let mut words: Vec<&str> = case.arguments.split_whitespace().collect();
    let events = events(case);
    if let Some(events) = &events {
        words.extend(["-x", "1000", "--events", events.to_str().expect("UTF-8")]);
    }
    let (status, stdout, stderr) = run(&program, &words);
    let mut text = String::new();
    if status != Some(case.status) {
        let _ = writeln!(text, "exit status {status:?}, not {}", case.status);
    }
    if let Some(wrong) = difference(&case.stdout, &stdout) {
        let _ = writeln!(text, "standard output: {wrong}");
    }
    if let Some(wrong) = unexpected(&case.stderr, &stderr) {
        let _ = writeln!(text, "standard error: {wrong}");
    }
    (!text.is_empty()).then(|| format!("{}: {text}{stderr}", case.name))
}

/// The file that fires the probes of a case, if it has one.
fn events(case: &Case) -> Option<PathBuf> {
    let Source::Script { path, .. } = &case.source else { return None };
    Some(path.with_extension("events")).filter(|path| path.exists())
}

/// The cases that no workload in a machine of their own has to make fire.
fn cases() -> Vec<Case> {
    let cases = corpus::read_all(&root().join("tests/corpus")).expect("the corpus");
    let can_run = |case: &Case| {
        let is_fired = case.script.is_none() || events(case).is_some();
        is_fired && (release().is_some() || !says(case, "CONFIG_"))
    };
    cases.into_iter().filter(can_run).collect()
}

/// Whether some text stands in a script.
fn says(case: &Case, what: &str) -> bool {
    let Source::Script { path, .. } = &case.source else { return false };
    std::fs::read_to_string(path).expect("a script").contains(what)
}

#[test]
fn the_corpus_does_what_it_does_in_a_kernel() {
    let cases = cases();
    assert!(cases.len() >= 100, "{} cases", cases.len());
    let complaints = each(&cases, |case| complaint(case, ADDRESS));
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn timers_and_events_do_not_race() {
    let cases: Vec<Case> = cases()
        .into_iter()
        .filter(|case| says(case, "probe timer.") || events(case).is_some())
        .collect();
    assert!(cases.len() >= 15, "{} cases", cases.len());
    let complaints = each(&cases, |case| complaint(case, THREAD));
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// Two thousand events on four CPUs within six seconds, close together and far apart, of all
/// points that the examples probe.
fn busy_events() -> String {
    const POINTS: [&str; 16] = [
        "kernel.trace(\"sys_enter\")",
        "kernel.trace(\"sys_exit\")",
        "kernel.trace(\"sched_switch\")",
        "kernel.trace(\"sched_waking\")",
        "kernel.trace(\"sched_migrate_task\")",
        "kernel.trace(\"sched_process_fork\")",
        "kernel.trace(\"sched_process_exec\")",
        "kernel.trace(\"sched_process_exit\")",
        "kernel.trace(\"signal_generate\")",
        "kernel.trace(\"irq_handler_entry\")",
        "kernel.trace(\"softirq_entry\")",
        "kernel.function(\"vfs_read\")",
        "kernel.function(\"vfs_read\").return",
        "kernel.function(\"vfs_open\")",
        "kernel.function(\"vfs_fsync_range\")",
        "kernel.function(\"vfs_fsync_range\").return",
    ];
    let mut text = String::new();
    for n in 0..2000_usize {
        // Bursts of forty within a microsecond of one another, every 120 ms.
        let time = (n / 40) * 120_000_000 + (n % 40) * 700;
        let (seconds, fraction) = (time / 1_000_000_000, time % 1_000_000_000);
        let (point, cpu, task) = (POINTS[n * 7 % 16], n * 5 % 4, 100 + n * 3 % 11);
        let _ = writeln!(
            text,
            "{seconds}.{fraction:09} {point} {cpu} {task} {} task{} uid={}",
            task + n % 2,
            task % 4,
            n % 3
        );
    }
    text
}

#[test]
fn the_examples_run_on_several_cpus() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let events = folder.path().join("events");
    std::fs::write(&events, busy_events()).expect("written");
    let events = events.to_str().expect("UTF-8");
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(root().join("examples"))
        .expect("the examples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "stp"))
        .collect();
    scripts.sort();
    assert!(scripts.len() >= 11, "{scripts:?}");
    let runs: Vec<_> =
        scripts.iter().flat_map(|script| [(script, ADDRESS), (script, THREAD)]).collect();
    let library = common::library();
    let complaints = each(&runs, |(path, flags)| {
        let mut script = Script::read(path);
        if script.text.contains("@1") {
            script.args = vec!["vfs_read".to_owned()];
        }
        let c = common::lowered(&script, &library)
            .and_then(|module| common::emitted(module, &Pipeline::standard()))
            .expect("C");
        let program = host::build(&c, flags);
        // A script that ends by itself has no use for events.
        let words = if script.text.contains("oneshot") {
            vec![]
        } else {
            vec!["-w", "-x", "101", "--events", events]
        };
        let (status, stdout, stderr) = run(&program.path, &words);
        let good = status == Some(0) && stderr.is_empty() && !stdout.is_empty();
        (!good).then(|| format!("{} {flags}: {status:?} {stderr}{stdout}", path.display()))
    });
    assert!(complaints.is_empty(), "{complaints:#?}");
}
