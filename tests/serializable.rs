//! Handlers behave as if they ran one at a time: multi-threaded runs of host programs are compared
//! with what any serial order would give, and watched by ThreadSanitizer. A program whose locks
//! were taken out of its IR must fail both.

mod common;
#[path = "common/host.rs"]
mod host;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use common::Script;
use host::build;
use xlate_ir::module::Module;
use xlate_ir::text;
use xlate_passes::pipeline::Pipeline;
use xlate_run::Built;

/// Every kind of access that handlers have to globals: counters, elements, statistics, values
/// that belong together, values read and written back after a while or in one step, minimum and
/// maximum.
const SCRIPT: &str = r#"//: options -g
%{ #include <sched.h> %}
// Lets another thread run in the middle of a handler, which would take a long wait to happen by itself.
function pause() %{ sched_yield(); %}
global n, by_pid, x, y, total, s, by_name, z, scratch, broken, least = 1000000, most, flag, seen
global whole, parts, recent, torn, kept
global tickets, doled, batch, moved

probe kernel.trace("sys_enter") { n++; by_pid[pid()]++; if (tickets++ < 1000) doled++ }
probe kernel.trace("sys_exit") { x++; if (x % 4 == 0) pause(); y = y + 2 }
probe kernel.trace("sched_switch") { printf("pair %d %d\n", x, y) }
probe kernel.trace("sched_waking") { total += tid(); s <<< tid(); by_name[execname()] <<< tid(); batch++ }
probe kernel.trace("sched_migrate_task") {
    v = z
    for (i = 0; i < 20; i++) scratch[i] = v
    pause()
    for (i = 0; i < 20; i++) if (scratch[i] != v) broken++
    z = v + 1
}
probe kernel.trace("sched_process_fork") {
    if (tid() < least) least = tid()
    if (tid() > most) most = tid()
    flag = 1
    seen[cpu()] |= 1 << (tid() % 60)
    whole += 2
    parts[tid() & 3] <<< 4
    recent[0]++
}
probe timer.us(200) { printf("pair %d %d\n", x, y) }
probe timer.us(130) { b = batch; batch = 0; moved += b }
probe timer.us(150) {
    sum = 0
    foreach (part in parts) sum += @sum(parts[part])
    if (sum != 2 * whole) torn++
    kept += recent[0]
    delete recent
}
probe end {
    printf("n %d x %d y %d total %d z %d broken %d\n", n, x, y, total, z, broken)
    printf("s %d %d %d %d\n", @count(s), @sum(s), @min(s), @max(s))
    printf("range %d %d %d\n", least, most, flag)
    printf("tickets %d doled %d moved %d\n", tickets, doled, moved + batch)
    printf("whole %d torn %d kept %d\n", whole, torn, kept + recent[0])
    foreach (p in by_pid) printf("pid %d %d\n", p, by_pid[p])
    foreach (e in by_name) printf("name %s %d %d\n", e, @count(by_name[e]), @sum(by_name[e]))
    foreach (c in seen) printf("seen %d %d\n", c, seen[c])
}
"#;

const POINTS: [&str; 6] = [
    "sys_enter",
    "sys_exit",
    "sched_switch",
    "sched_waking",
    "sched_migrate_task",
    "sched_process_fork",
];

const EVENTS: u64 = 24_000;
const CPUS: u64 = 4;

/// Nanoseconds from one event to the next.
const APART: u64 = 2000;

/// One event of the file, which a generator gives by its number.
struct Event {
    point: &'static str,
    cpu: u64,
    pid: u64,
    tid: u64,
}

/// Events that are so close together that those of different CPUs overlap. Every timer holds all
/// CPUs up, and they go on together.
fn event(number: u64) -> Event {
    // A step of a linear congruential generator mixes the number (Knuth, The Art of Computer
    // Programming, volume 2, section 3.3.4).
    let random = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1) >> 33;
    Event {
        point: POINTS[(random % 6) as usize],
        cpu: random / 6 % CPUS,
        pid: 10 + random / 24 % 5,
        tid: 100 + random / 120 % 50,
    }
}

fn event_file() -> String {
    let mut text = String::new();
    for number in 0..EVENTS {
        let Event { point, cpu, pid, tid } = event(number);
        let time = number * APART;
        let _ = writeln!(
            text,
            "0.{time:09} kernel.trace(\"{point}\") {cpu} {pid} {tid} name{}",
            tid % 3
        );
    }
    text
}

/// The lines that `end` prints after any serial order, sorted.
fn expected() -> Vec<String> {
    let all: Vec<Event> = (0..EVENTS).map(event).collect();
    let at = |point: &'static str| all.iter().filter(move |event| event.point == point);
    let (n, x, z) =
        (at("sys_enter").count(), at("sys_exit").count(), at("sched_migrate_task").count());
    let woken: Vec<u64> = at("sched_waking").map(|event| event.tid).collect();
    let total: u64 = woken.iter().sum();
    let range = |tids: &[u64]| {
        (tids.iter().min().copied().unwrap_or(0), tids.iter().max().copied().unwrap_or(0))
    };
    let forked: Vec<u64> = at("sched_process_fork").map(|event| event.tid).collect();
    let (least, most) = range(&forked);
    let (s_min, s_max) = range(&woken);
    let mut lines = vec![
        format!("n {n} x {x} y {} total {total} z {z} broken 0", 2 * x),
        format!("s {} {total} {s_min} {s_max}", woken.len()),
        format!("range {least} {most} 1"),
        format!("tickets {n} doled {} moved {}", n.min(1000), woken.len()),
        format!("whole {} torn 0 kept {}", 2 * forked.len(), forked.len()),
    ];
    let mut by_pid = BTreeMap::new();
    at("sys_enter").for_each(|event| *by_pid.entry(event.pid).or_insert(0) += 1);
    lines.extend(by_pid.iter().map(|(pid, count)| format!("pid {pid} {count}")));
    let mut by_name: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for tid in woken {
        let (count, sum) = by_name.entry(tid % 3).or_default();
        *count += 1;
        *sum += tid;
    }
    lines.extend(
        by_name.iter().map(|(name, (count, sum))| format!("name name{name} {count} {sum}")),
    );
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    at("sched_process_fork")
        .for_each(|event| *seen.entry(event.cpu).or_default() |= 1 << (event.tid % 60));
    lines.extend(seen.iter().map(|(cpu, bits)| format!("seen {cpu} {bits}")));
    lines.sort();
    lines
}

/// What no serial order can have printed.
fn faults(stdout: &str) -> Vec<String> {
    let exits = (0..EVENTS).filter(|&number| event(number).point == "sys_exit").count() as i64;
    let switches = (0..EVENTS).filter(|&number| event(number).point == "sched_switch").count();
    let (pairs, mut rest): (Vec<&str>, Vec<&str>) =
        stdout.lines().partition(|line| line.starts_with("pair "));
    let is_possible = |pair: &str| {
        let words: Vec<i64> =
            pair.split(' ').skip(1).map(|word| word.parse().expect("a number")).collect();
        words[1] == 2 * words[0] && (0..=exits).contains(&words[0])
    };
    let mut faults: Vec<String> =
        pairs.iter().filter(|pair| !is_possible(pair)).map(|&pair| pair.to_owned()).collect();
    // The timer fires every 200 us, first at 200 us.
    let ticks = ((EVENTS - 1) * APART / 200_000) as usize;
    if pairs.len() != switches + ticks {
        faults.push(format!("{} pairs, not {switches} and {ticks}", pairs.len()));
    }
    rest.sort_unstable();
    let expected = expected();
    if rest != expected {
        faults.push(format!("{rest:#?} instead of {expected:#?}"));
    }
    faults
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// Runs a program with the events: what it printed, and whether it succeeded in silence.
fn run(program: &Built, words: &[&str]) -> (String, Result<(), String>) {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let events = FILE.get_or_init(|| {
        let path = folder().join("serializable.events");
        std::fs::write(&path, event_file()).expect("written");
        path
    });
    let output = Command::new(&program.path)
        .arg("--events")
        .arg(events)
        .args(words)
        .env("TSAN_OPTIONS", "halt_on_error=1")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let quiet = output.status.success() && stderr.is_empty();
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        if quiet { Ok(()) } else { Err(format!("{}: {stderr}", output.status)) },
    )
}

fn lowered() -> Module {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let path = FILE.get_or_init(|| {
        let path = folder().join("serializable.stp");
        std::fs::write(&path, SCRIPT).expect("written");
        path
    });
    common::lowered(&Script::read(path), &common::library()).expect("a good script")
}

fn emitted(pipeline: &Pipeline) -> String {
    common::emitted(lowered(), pipeline).expect("C")
}

/// The C without any optimization and with none of the locks that handlers need then.
fn unlocked() -> String {
    let text = text::print(&lowered());
    let is_lock = |line: &str| {
        let line = line.trim_start();
        line.starts_with("lock ") || line.starts_with("unlock ")
    };
    let (locks, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| is_lock(line));
    assert!(locks.len() >= 14, "{text}");
    let module = text::parse(&(rest.join("\n") + "\n")).expect("IR");
    xlate_codegen::emit(&module, &xlate_codegen::EmitOptions::default()).expect("C").c
}

const FAST: &str = "-O2";
const THREAD: &str = "-O1 -fsanitize=thread";

#[test]
fn optimized_handlers_are_atomic() {
    let c = emitted(&Pipeline::standard());
    for step in ["xl_lone_fetch_add(&g_tickets, 1)", "xl_lone_exchange(&g_batch, 0)"] {
        assert!(c.contains(step), "{step} is not in {c}");
    }
    for (flags, rounds) in [(FAST, 8), (THREAD, 2)] {
        let program = build(&c, flags);
        for _ in 0..rounds {
            let (stdout, said) = run(&program, &[]);
            assert_eq!(said, Ok(()), "{flags}");
            assert_eq!(faults(&stdout), [""; 0], "{flags}");
        }
    }
}

/// On machines with many CPUs some of them share the shards of arrays that timers gather: here all
/// do, and two and two.
#[test]
fn cpus_that_share_shards_are_as_atomic() {
    let c = emitted(&Pipeline::standard());
    assert!(c.contains("XL_GUARDED(c)->g_parts"), "{c}");
    for flags in ["-O2 -DXL_GATHER_MOST=1", "-O1 -fsanitize=thread -DXL_GATHER_MOST=4096"] {
        let program = build(&c, flags);
        for _ in 0..2 {
            let (stdout, said) = run(&program, &[]);
            assert_eq!(said, Ok(()), "{flags}");
            assert_eq!(faults(&stdout), [""; 0], "{flags}");
        }
    }
}

#[test]
fn unoptimized_handlers_are_atomic() {
    let c = emitted(&Pipeline::none());
    for flags in [FAST, THREAD] {
        let (stdout, said) = run(&build(&c, flags), &[]);
        assert_eq!(said, Ok(()), "{flags}");
        assert_eq!(faults(&stdout), [""; 0], "{flags}");
    }
}

#[test]
fn a_serial_replay_repeats_itself() {
    let program = build(&emitted(&Pipeline::standard()), FAST);
    let (first, said) = run(&program, &["--serial"]);
    assert_eq!((said, faults(&first)), (Ok(()), Vec::new()));
    assert_eq!(run(&program, &["--serial"]).0, first);
}

/// The control: were the checks blind, this would pass them.
#[test]
fn without_locks_both_checks_fail() {
    let c = unlocked();
    let program = build(&c, FAST);
    // Threads that happen not to meet do no harm: rarely, and on a busy machine less so.
    let harmed = (0..50).any(|_| !faults(&run(&program, &[]).0).is_empty());
    assert!(harmed, "the checker finds nothing");
    let (_, said) = run(&build(&c, THREAD), &[]);
    let report = said.expect_err("ThreadSanitizer finds nothing");
    assert!(report.contains("data race"), "{report}");
}
