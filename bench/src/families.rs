//! What a family of handlers takes that differ in literals: many of them beside few.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::kernel::translate;
use crate::table::Row;
use crate::tools::{median, milliseconds, output};
use crate::{Bed, family};

/// How many handlers the large family has, and the small one.
const MEMBERS: [usize; 2] = [400, 4];

/// How often each is translated; the median counts.
const ROUNDS: usize = 25;

/// For the large family, with the small one as the floor: bytes of machine code and of constants in
/// the module, bytes of C outside of tables, and milliseconds for passes 1 to 3.
pub(crate) fn measure(bed: &Bed) -> io::Result<Vec<Row>> {
    let folder = TempDir::with_prefix("xlate-bench-")?;
    let pattern = fs::read_to_string(bed.here.join("families/literals.stp"))?;
    let mut numbers = Vec::new();
    for members in MEMBERS {
        let script = folder.path().join(format!("literals-{members}.stp"));
        fs::write(&script, family::script(&pattern, members))?;
        numbers.push(measure_one(bed, &script, folder.path())?);
    }
    let [many, few] = MEMBERS;
    let rows = METRICS.iter().enumerate().map(|(n, &metric)| Row {
        bench: "families",
        case: format!("{many} beside {few} handlers"),
        metric,
        value: numbers[0][n],
        peer: None,
        floor: Some(numbers[1][n]),
    });
    Ok(rows.collect())
}

/// What is measured of a script.
const METRICS: [&str; 5] = [
    "bytes_of_machine_code",
    "bytes_of_constants_and_data",
    "bytes_of_c",
    "bytes_of_c_in_tables",
    "milliseconds",
];

/// The numbers that [`METRICS`] names, of one script.
fn measure_one(bed: &Bed, script: &Path, folder: &Path) -> io::Result<[f64; 5]> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let mut xlate = Command::new(&bed.xlate);
        times.push(milliseconds(xlate.args(["-p3", "-r", &bed.kernel]).arg(script))?);
    }
    let mut xlate = Command::new(&bed.xlate);
    let c = output(xlate.args(["-p3", "-r", &bed.kernel]).arg(script))?;
    let (code, tables) = family::code_and_tables(&c);
    let module = translate(bed, script, &folder.join("cache"))?;
    let constants = section(&module, ".rodata")? + section(&module, ".data")?;
    Ok([
        section(&module, ".text")?,
        constants,
        code as f64,
        tables as f64,
        median(times).unwrap_or_default(),
    ])
}

/// The bytes of the sections whose names are, or begin with, this one.
fn section(module: &Path, name: &str) -> io::Result<f64> {
    let printed = output(Command::new("size").arg("-A").arg(module))?;
    let mut total = 0.0;
    for line in printed.lines() {
        let mut words = line.split_whitespace();
        if let (Some(section), Some(size)) = (words.next(), words.next())
            && section
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        {
            total += size.parse::<f64>().unwrap_or_default();
        }
    }
    Ok(total)
}
