//! Pass 4 with nothing cached.

use std::io;

use tempfile::TempDir;

use crate::Bed;
use crate::kernel::{copy_floors, kbuild, pass_4};
use crate::table::Row;
use crate::tools::{median, milliseconds};

/// How often each is run; the median counts.
const ROUNDS: usize = 3;

/// Milliseconds for each script. The floor is kbuild of an empty module, run in turns with it.
pub(crate) fn measure(bed: &Bed) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for case in &bed.cases {
        let (mut ours, mut floors, mut peers) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let folder = TempDir::with_prefix("xlate-bench-")?;
            let floor = folder.path().join("floor");
            copy_floors(bed, &floor, Some("empty"))?;
            ours.push(milliseconds(&mut pass_4(bed, &case.script, &folder.path().join("cache")))?);
            floors.push(milliseconds(&mut kbuild(&bed.kernel, &floor))?);
            if let Some(peer) = bed.peer.as_ref().filter(|_| round == 0) {
                peer.forget_headers()?;
                let passes = peer.passes(4, &bed.kernel, case, folder.path());
                peers.extend(passes.map(|passes| passes.milliseconds[3]));
            }
        }
        rows.extend(median(ours).map(|value| Row {
            bench: "compile",
            case: case.name.clone(),
            metric: "milliseconds",
            value,
            peer: median(peers),
            floor: median(floors),
        }));
    }
    Ok(rows)
}
