//! How scripts scale: their host programs with the same events on one and on two threads.
//!
//! The floor is the same work on data of each thread's own. A round measures all programs with one
//! and with two threads, and of many short rounds the best counts: what else runs on the machine
//! only ever makes them slower, and now and then lets them be.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use xlate_run::{Built, HostRequest, Interrupts, build_host};

use crate::table::Row;
use crate::tools::{output, outputs};
use crate::{Bed, Case};

/// How often each is measured at the most; the best counts.
const ROUNDS_MOST: usize = 250;

/// After so many rounds in which none of a case's programs did better than before, it is settled.
const ROUNDS_SETTLED: usize = 30;

/// By what factor a round must be better to count as such.
const BETTER: f64 = 1.005;

/// Events on each thread in one measurement.
const EVENTS: u32 = 250_000;

/// The scripts with a floor.
const CASES: [&str; 5] = ["count", "map", "mapstat", "stat", "strmap"];

/// A host program and the best that it has shown.
struct Contender {
    program: PathBuf,
    /// The build folder of a floor.
    _floor: Option<Built>,
    /// Events in a microsecond, on one thread and on two.
    best: [f64; 2],
    /// Handlers that could not get their locks.
    skipped: u64,
}

impl Contender {
    fn new(program: PathBuf, floor: Option<Built>) -> Self {
        Contender { program, _floor: floor, best: [0.0; 2], skipped: 0 }
    }

    /// Measures once; whether that was better than before.
    fn measure(&mut self, events: &[PathBuf; 2]) -> io::Result<bool> {
        let mut improved = false;
        for (best, file) in self.best.iter_mut().zip(events) {
            let mut run = Command::new(&self.program);
            run.arg("--events").arg(file).args(["--repeat", &EVENTS.to_string()]);
            let (_, said) = outputs(&mut run)?;
            let measured = Measured::read(&said)
                .ok_or_else(|| io::Error::other(format!("{run:?} said `{said}`")))?;
            let speed = measured.events / (measured.nanoseconds / 1e3);
            improved |= speed > *best * BETTER;
            *best = best.max(speed);
            self.skipped += measured.skipped;
        }
        Ok(improved)
    }

    fn scaling(&self) -> f64 {
        self.best[1] / self.best[0]
    }
}

/// What `--repeat` reports.
#[derive(PartialEq, Debug)]
struct Measured {
    events: f64,
    nanoseconds: f64,
    skipped: u64,
}

impl Measured {
    /// Reads `N events on N CPUs in N ns, N skipped`.
    fn read(said: &str) -> Option<Self> {
        let line = said.lines().find(|line| line.contains(" events on "))?;
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words.get(at)?.parse().ok();
        let skipped = words.get(8)?.parse().ok()?;
        Some(Measured { events: number(0)?, nanoseconds: number(6)?, skipped })
    }
}

/// Scaling, speed and skipped handlers of each script, and of each with all globals locked.
pub(crate) fn measure(bed: &Bed) -> io::Result<Vec<Row>> {
    let folder = TempDir::with_prefix("xlate-bench-")?;
    let events = event_files(folder.path())?;
    let locked = format!("--passes={}", without_disciplines(&default_passes(&bed.xlate)?));
    let interrupts = Interrupts::catch()?;
    let mut rows = Vec::new();
    for case in bed.cases.iter().filter(|case| CASES.contains(&case.name.as_str())) {
        let floor = floor(bed, case, &interrupts)?;
        let mut contenders = [
            Contender::new(build(bed, case, folder.path(), None)?, None),
            Contender::new(build(bed, case, folder.path(), Some(&locked))?, None),
            Contender::new(floor.path.clone(), Some(floor)),
        ];
        settle(&mut contenders, &events)?;
        rows.extend(rows_of(&case.name, &contenders));
    }
    // One table for each metric.
    rows.sort_by_key(|row| METRICS.iter().position(|metric| *metric == row.metric));
    Ok(rows)
}

/// Measures all programs of a case in turns until they show nothing better any more.
fn settle(contenders: &mut [Contender], events: &[PathBuf; 2]) -> io::Result<()> {
    let mut settled = 0;
    for _ in 0..ROUNDS_MOST {
        settled += 1;
        for contender in &mut *contenders {
            if contender.measure(events)? {
                settled = 0;
            }
        }
        if settled == ROUNDS_SETTLED {
            break;
        }
    }
    Ok(())
}

const METRICS: [&str; 3] = [
    "scaling (2 threads to 1)",
    "events per microsecond on 1 thread",
    "handlers skipped in all rounds",
];

fn rows_of(name: &str, [script, locked, floor]: &[Contender; 3]) -> Vec<Row> {
    let row = |case: &str, metric, value, floor| Row {
        bench: "contention",
        case: case.to_owned(),
        metric,
        value,
        peer: None,
        floor,
    };
    let mut rows = Vec::new();
    for (case, contender) in [(name.to_owned(), script), (format!("{name}, locked"), locked)] {
        rows.push(row(&case, METRICS[0], contender.scaling(), Some(floor.scaling())));
        rows.push(row(&case, METRICS[1], contender.best[0], Some(floor.best[0])));
        rows.push(row(&case, METRICS[2], contender.skipped as f64, None));
    }
    rows
}

/// The same event for one CPU and for two, whose tasks differ.
fn event_files(folder: &Path) -> io::Result<[PathBuf; 2]> {
    let paths = [folder.join("one"), folder.join("two")];
    let one = "0 kernel.trace(\"sys_enter\") 0 1001 1001 sysloop\n";
    fs::write(&paths[0], one)?;
    fs::write(&paths[1], format!("{one}0 kernel.trace(\"sys_enter\") 1 1002 1002 syswork\n"))?;
    Ok(paths)
}

/// The host program of a script.
fn build(bed: &Bed, case: &Case, folder: &Path, passes: Option<&str>) -> io::Result<PathBuf> {
    let kind = if passes.is_some() { "locked" } else { "full" };
    let program = folder.join(format!("{}-{kind}", case.name));
    let mut xlate = Command::new(&bed.xlate);
    xlate.args(["--target=host", "--emit=ko", "-r", &bed.kernel, "-o"]).arg(&program);
    xlate.args(passes).arg(&case.script);
    output(&mut xlate)?;
    Ok(program)
}

/// The program of what a script costs at the least.
fn floor(bed: &Bed, case: &Case, interrupts: &Interrupts) -> io::Result<Built> {
    let source = fs::read_to_string(bed.here.join("floor/contention.c"))?;
    let variables = [format!("CFLAGS=-DFLOOR={}", case.name.to_uppercase())];
    build_host(&HostRequest {
        source: &source,
        name: None,
        variables: &variables,
        cache: None,
        keep: false,
        interrupts,
    })
    .map_err(|error| io::Error::other(error.to_string()))
}

/// The passes that run by default.
fn default_passes(xlate: &Path) -> io::Result<String> {
    let said = output(Command::new(xlate).arg("--passes"))?;
    let list = said.split("By default: --passes='").nth(1).and_then(|rest| rest.split('\'').next());
    list.map(str::to_owned).ok_or_else(|| io::Error::other(format!("xlate --passes said `{said}`")))
}

/// A list of passes without the one that looks for something cheaper than locks.
fn without_disciplines(passes: &str) -> String {
    passes.replace("disciplines,", "").replace(",disciplines", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let said = "xlate: a warning\n10 events on 2 CPUs in 250 ns, 3 skipped\n";
        let measured = Measured { events: 10.0, nanoseconds: 250.0, skipped: 3 };
        assert_eq!(Measured::read(said), Some(measured));
        assert_eq!(Measured::read("10 events on"), None);
    }

    #[test]
    fn the_locked_variant_lacks_one_pass() {
        assert_eq!(without_disciplines("a,(b,c)*,disciplines,lock-sets"), "a,(b,c)*,lock-sets");
        assert_eq!(without_disciplines("a,disciplines"), "a");
    }
}
