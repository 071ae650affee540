//! Passes 1 to 3: from the start of the program to the printed C.

use std::io;
use std::process::Command;

use tempfile::TempDir;

use crate::Bed;
use crate::table::Row;
use crate::tools::{median, milliseconds};

/// How often each is run; the median counts.
const ROUNDS: usize = 15;

/// How often the peer is run, which takes longer.
const PEER_ROUNDS: usize = 3;

/// Milliseconds for each script. The floor is the start of a program that does nothing.
pub(crate) fn measure(bed: &Bed) -> io::Result<Vec<Row>> {
    let folder = TempDir::with_prefix("xlate-bench-")?;
    let mut rows = Vec::new();
    for case in &bed.cases {
        let (mut ours, mut floors, mut peers) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let mut xlate = Command::new(&bed.xlate);
            ours.push(milliseconds(xlate.args(["-p3", "-r", &bed.kernel]).arg(&case.script))?);
            floors.push(milliseconds(Command::new(&bed.xlate).arg("--version"))?);
            if let Some(peer) = bed.peer.as_ref().filter(|_| round < PEER_ROUNDS) {
                let passes = peer.passes(3, &bed.kernel, case, folder.path());
                peers.extend(passes.map(|passes| passes.milliseconds.iter().sum::<f64>()));
            }
        }
        rows.extend(median(ours).map(|value| Row {
            bench: "translate",
            case: case.name.clone(),
            metric: "milliseconds",
            value,
            peer: median(peers),
            floor: median(floors),
        }));
    }
    Ok(rows)
}
