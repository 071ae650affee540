//! The corpus as it leaves lowering, for tests of what comes after.

use std::fs;
use std::path::{Path, PathBuf};

use xlate_ir::module::Module;
use xlate_ir::text::parse;

/// The modules of the corpus with the names of their snapshots, in the order of those.
pub(crate) fn modules() -> Vec<(String, Module)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/lower/corpus");
    let entries = fs::read_dir(folder).expect("lowering has snapshots");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a snapshot");
        let module = text.splitn(3, "---\n").nth(2).expect("a snapshot has a header");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let module = parse(module).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, module)
    };
    paths.into_iter().map(read).collect()
}
