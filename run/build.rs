//! Embeds the runtime headers: writes a table of their names and contents, sorted by name.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    // As it is now: the folder that this was compiled in may have gone.
    let crate_folder = env::var_os("CARGO_MANIFEST_DIR")
        .ok_or_else(|| io::Error::other("cargo sets CARGO_MANIFEST_DIR"))?;
    let folder = PathBuf::from(crate_folder).join("../runtime/linux");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut headers: Vec<PathBuf> = fs::read_dir(&folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    headers.retain(|path| path.extension().is_some_and(|extension| extension == "h"));
    headers.sort();
    let mut table = String::from("&[\n");
    for path in &headers {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("headers.rs"), table)
}
