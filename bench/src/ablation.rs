//! What each pass is worth: static counts with all passes and without one of them.
//!
//! Besides the scripts of the other benchmarks there are those of `ablation/`, which have what these
//! are too short to have.

use std::io;
use std::process::Command;

use xlate_ir::text;
use xlate_report::ablation::{Difference, differences};

use crate::Bed;
use crate::table::Row;
use crate::tools::output;

/// A row for each count of each script that changes without a pass: `value` is the count without it,
/// `floor` that with all passes.
pub(crate) fn measure(bed: &Bed) -> io::Result<Vec<Row>> {
    let mut found: Vec<(String, Difference)> = Vec::new();
    for case in &bed.cases {
        let mut xlate = Command::new(&bed.xlate);
        let lowered = output(xlate.args(["-w", "-O0", "--emit=ir"]).arg(&case.script))?;
        let wrong = |error: String| io::Error::other(format!("{}: {error}", case.name));
        let module = text::parse(&lowered).map_err(|error| wrong(error.to_string()))?;
        let differences = differences(&module).map_err(wrong)?;
        found.extend(differences.into_iter().map(|difference| (case.name.clone(), difference)));
    }
    // One table for each count, in which the rows of a pass stand together.
    let mut metrics: Vec<&str> = Vec::new();
    for (_, difference) in &found {
        if !metrics.contains(&difference.metric) {
            metrics.push(difference.metric);
        }
    }
    let place = |metric| metrics.iter().position(|known| *known == metric);
    found.sort_by(|(a_case, a), (b_case, b)| {
        (place(a.metric), a.pass, a_case).cmp(&(place(b.metric), b.pass, b_case))
    });
    let row = |(case, difference): (String, Difference)| Row {
        bench: "ablation",
        case: format!("{case}, no {}", difference.pass),
        metric: difference.metric,
        value: difference.without as f64,
        peer: None,
        floor: Some(difference.with as f64),
    };
    Ok(found.into_iter().map(row).collect())
}
