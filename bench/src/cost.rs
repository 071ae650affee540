//! Instructions per system call under load of one script.
//!
//! QEMU counts them: with one processor and `-icount shift=0` the guest's clock advances by one
//! nanosecond per instruction, so a loop of system calls that takes its own time counts them. All
//! is measured in one boot; each number is the median of three loops.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use xlate_vm::machine::{FileSystem, Guest};

use crate::Bed;
use crate::kernel::{build_floors, image, translate};
use crate::table::Row;
use crate::tools::median;

/// One processor that counts instructions.
const MACHINE: &[&str] = &["-accel", "tcg", "-smp", "1", "-icount", "shift=0,sleep=off"];

/// How long it may take; emulation is slow, and slower on a busy machine.
const LIMIT: Duration = Duration::from_secs(1800);

/// Seconds of the guest's time, in which it runs a billion instructions each, for one module.
const PATIENCE: u32 = 100;

/// The script whose output is measured twice: nobody reads it meanwhile, or the loader does.
const PRINTS: &str = "print";

/// Instructions of the system call alone, with an empty and a counting hand-written handler, and
/// above the empty one with each script.
pub(crate) fn measure(bed: &Bed) -> io::Result<Vec<Row>> {
    let folder = TempDir::with_prefix("xlate-bench-")?;
    let file_system = FileSystem::new(
        folder.path().join("root"),
        &bed.here.join("guest/init"),
        &bed.xlate,
        &[bed.here.join("sysloop.c")],
    )?;
    let loads = loads(bed, folder.path())?;
    let modules = file_system.root().join("modules");
    fs::create_dir(&modules)?;
    for load in &loads {
        fs::copy(&load.module, modules.join(format!("{}.ko", load.label)))?;
    }
    fs::write(file_system.root().join("loops"), LOOPS)?;
    fs::write(file_system.root().join("measure"), measure_script(&loads, bed.calls))?;
    let report = boot(bed, &file_system, folder.path())?;
    rows(&loads, &loops(&report)).ok_or_else(|| {
        io::Error::other(format!("not everything was measured; the guest says:\n{report}"))
    })
}

/// Three loops.
const LOOPS: &str = "for turn in 1 2 3; do sysloop $1 $2; done\n";

/// How a module is put to work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    /// By insmod: it is hand-written.
    Insert,
    /// By the loader, which runs the loop as its command.
    Run,
    /// By the loader, which is stopped while the loop runs.
    Stopped,
}

/// A module at work while system calls are counted.
#[derive(Clone, Debug)]
struct Load {
    /// Its name in the guest and in its report.
    label: String,
    /// Name of the script, or of the hand-written module.
    case: String,
    how: How,
    module: PathBuf,
    /// Whether it is the peer's.
    peer: bool,
}

/// All modules, built.
fn loads(bed: &Bed, folder: &Path) -> io::Result<Vec<Load>> {
    let floor = folder.join("floor");
    build_floors(bed, &floor)?;
    let mut loads = Vec::new();
    for name in ["empty", "count"] {
        loads.push(Load {
            label: format!("floor_{name}"),
            case: name.to_owned(),
            how: How::Insert,
            module: floor.join(format!("{name}.ko")),
            peer: false,
        });
    }
    for case in &bed.cases {
        let ours = translate(bed, &case.script, &folder.join("cache"))?;
        let place = folder.join("peer");
        let peers = bed.peer.as_ref().and_then(|peer| peer.build(&bed.kernel, case, &place));
        let modules = [Some(ours), peers];
        for (module, peer) in modules.into_iter().zip([false, true]) {
            let Some(module) = module else { continue };
            let mut add = |case: &str, how| {
                let label = format!("{}{case}", if peer { "peer_" } else { "" });
                let case = case.to_owned();
                loads.push(Load { label, case, how, module: module.clone(), peer });
            };
            if case.name == PRINTS {
                add(&case.name, How::Stopped);
                add(&format!("{}-read", case.name), How::Run);
            } else {
                add(&case.name, How::Run);
            }
        }
    }
    Ok(loads)
}

/// What the guest runs.
fn measure_script(loads: &[Load], calls: u32) -> String {
    let mut script = format!("sh /loops {calls} none\n");
    for Load { label, how, peer, .. } in loads {
        // Room for the whole output of three loops, so that none of it takes the short way of
        // records that are lost.
        let loader =
            format!("timeout -s KILL {PATIENCE} xlate -s 32 -o /dev/null /modules/{label}.ko");
        let loops = format!("sh /loops {calls} {label}");
        script.push_str(&match how {
            How::Insert => format!(
                "insmod /modules/{label}.ko && {loops} && rmmod {}",
                label.trim_start_matches("floor_")
            ),
            How::Run => format!("{loader} -c '{loops}'"),
            How::Stopped => format!(
                "{loader} &\nsleep 1\nloader=$(pidof xlate)\nkill -STOP $loader\n{loops}\n\
                 kill -CONT $loader\nkill -INT $loader\nwait $!"
            ),
        });
        // With a module that stays loaded, nothing more can be measured. The peer's may end early, for
        // an error of its own.
        let stuck = format!("{{ echo 'STUCK {label}'; exit 1; }}");
        let _ = match peer {
            true => writeln!(
                script,
                " || {{ echo 'FAILED {label}'; ! grep -q '^peer_' /proc/modules; }} || {stuck}"
            ),
            false => writeln!(script, " || {stuck}"),
        };
    }
    script
}

/// Boots the guest; gives its report.
fn boot(bed: &Bed, file_system: &FileSystem, folder: &Path) -> io::Result<String> {
    let archive = folder.join("initramfs");
    file_system.pack(&archive)?;
    let (console, report) = (folder.join("console"), folder.join("report"));
    let mut guest = Guest::boot(&image(&bed.kernel), &archive, &console, &report, MACHINE)?;
    let begun = Instant::now();
    while !guest.is_off() {
        if begun.elapsed() > LIMIT {
            return Err(io::Error::other("the guest does not come to an end"));
        }
        sleep(Duration::from_millis(100));
    }
    let text = fs::read_to_string(&report).unwrap_or_default();
    if text.lines().last() != Some("done") {
        let console = fs::read(&console).unwrap_or_default();
        return Err(io::Error::other(format!(
            "the guest went down:\n{text}{}",
            String::from_utf8_lossy(&console)
        )));
    }
    Ok(text)
}

/// The numbers of each label in a report, but for modules that ended before their loops did.
fn loops(report: &str) -> BTreeMap<&str, Vec<f64>> {
    let mut loops: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in report.lines() {
        let mut words = line.split_whitespace();
        if let (Some("LOOP"), Some(label), Some(Ok(value))) =
            (words.next(), words.next(), words.next().map(str::parse))
        {
            loops.entry(label).or_default().push(value);
        }
    }
    for label in report.lines().filter_map(|line| line.strip_prefix("FAILED ")) {
        loops.remove(label);
        eprintln!("bench: the peer fails: {label} has ended before its loops");
    }
    loops
}

/// The rows; none if something is missing.
fn rows(loads: &[Load], loops: &BTreeMap<&str, Vec<f64>>) -> Option<Vec<Row>> {
    let of = |label: &str| median(loops.get(label)?.clone());
    let tenths = |value: f64| (value * 10.0).round() / 10.0;
    let row = |case: &str, metric, value, peer: Option<f64>, floor: Option<f64>| Row {
        bench: "cost",
        case: case.to_owned(),
        metric,
        value: tenths(value),
        peer: peer.map(tenths),
        floor: floor.map(tenths),
    };
    let empty = of("floor_empty")?;
    let floor = of("floor_count")? - empty;
    let mut rows = vec![
        row("no probe", "instructions", of("none")?, None, None),
        row("empty, by hand", "instructions", empty, None, None),
        row("count, by hand", "instructions", floor + empty, None, None),
    ];
    for load in loads.iter().filter(|load| load.how != How::Insert && !load.peer) {
        let value = of(&load.label)? - empty;
        let peer = of(&format!("peer_{}", load.case)).map(|peer| peer - empty);
        rows.push(row(&load.case, "instructions_above_empty", value, peer, Some(floor)));
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(case: &str, how: How, peer: bool) -> Load {
        let label = format!("{}{case}", if peer { "peer_" } else { "" });
        Load { label, case: case.to_owned(), how, module: PathBuf::new(), peer }
    }

    #[test]
    fn scripts_stand_above_the_empty_handler() {
        let report = "LOOP none 341\nnoise\nLOOP floor_empty 402\nLOOP floor_count 410\n\
                      LOOP count 420\nLOOP count 422\nLOOP count 900\nLOOP peer_count 721\ndone\n";
        let loads = [load("count", How::Run, false), load("count", How::Run, true)];
        let rows = rows(&loads, &loops(report)).expect("complete");
        assert_eq!(rows.len(), 4);
        assert_eq!((rows[1].case.as_str(), rows[1].value), ("empty, by hand", 402.0));
        assert_eq!((rows[3].value, rows[3].peer, rows[3].floor), (20.0, Some(319.0), Some(8.0)));
    }

    #[test]
    fn a_module_of_the_peer_that_ended_early_counts_for_nothing() {
        let report = "LOOP none 1\nLOOP floor_empty 2\nLOOP floor_count 3\nLOOP map 9\n\
                      LOOP peer_map 90\nLOOP peer_map 4\nFAILED peer_map\ndone\n";
        let loads = [load("map", How::Run, false), load("map", How::Run, true)];
        let rows = rows(&loads, &loops(report)).expect("ours is complete");
        assert_eq!((rows[3].value, rows[3].peer), (7.0, None));
        let script = measure_script(&loads, 5);
        assert_eq!(script.matches("FAILED peer_map").count(), 1);
        assert_eq!(script.matches("FAILED").count(), 1);
    }

    #[test]
    fn what_is_missing_is_noticed() {
        let report = "LOOP none 341\nLOOP floor_empty 402\nLOOP floor_count 410\n";
        assert_eq!(rows(&[load("map", How::Run, false)], &loops(report)), None);
    }

    #[test]
    fn the_reader_is_stopped_only_where_output_is_measured() {
        let loads = [load("print", How::Stopped, false), load("print-read", How::Run, false)];
        let script = measure_script(&loads, 5);
        assert_eq!(script.matches("kill -STOP").count(), 1);
        assert!(script.contains("/modules/print-read.ko -c 'sh /loops 5 print-read'"), "{script}");
    }
}
