//! How big modules are, and how long the C.

use std::io;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::Bed;
use crate::kernel::{build_floors, translate};
use crate::table::Row;
use crate::tools::output;

/// Bytes of text of each script's module, beside those of an empty module, and lines of its C.
pub(crate) fn measure(bed: &Bed) -> io::Result<Vec<Row>> {
    let folder = TempDir::with_prefix("xlate-bench-")?;
    let floor = folder.path().join("floor");
    build_floors(bed, &floor)?;
    let floor = text(&floor.join("empty.ko"))?;
    let (mut sizes, mut lines) = (Vec::new(), Vec::new());
    for case in &bed.cases {
        let module = translate(bed, &case.script, &folder.path().join("cache"))?;
        let place = folder.path().join(&case.name);
        let peer = bed.peer.as_ref().and_then(|peer| peer.build(&bed.kernel, case, &place));
        sizes.push(Row {
            bench: "size",
            case: case.name.clone(),
            metric: "bytes_of_text",
            value: text(&module)?,
            peer: peer.map(|module| text(&module)).transpose()?,
            floor: Some(floor),
        });
        let mut xlate = Command::new(&bed.xlate);
        let c = output(xlate.args(["-p3", "-r", &bed.kernel]).arg(&case.script))?;
        let peer = bed.peer.as_ref().and_then(|peer| peer.passes(3, &bed.kernel, case, &place));
        lines.push(Row {
            bench: "size",
            case: case.name.clone(),
            metric: "lines_of_c",
            value: c.lines().count() as f64,
            peer: peer.map(|passes| passes.text.lines().count() as f64),
            floor: None,
        });
    }
    sizes.extend(lines);
    Ok(sizes)
}

/// The column `text` of the program `size`.
fn text(module: &Path) -> io::Result<f64> {
    let printed = output(Command::new("size").arg(module))?;
    let column = printed.lines().nth(1).and_then(|line| line.split_whitespace().next());
    column.and_then(|number| number.parse().ok()).ok_or_else(|| {
        io::Error::other(format!("size {}: no number in\n{printed}", module.display()))
    })
}
