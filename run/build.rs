//! Embeds the runtime headers: writes tables of their paths and contents, sorted by path.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    embed("linux", "headers.rs")?;
    embed("host", "host_headers.rs")
}

/// Writes the table of the headers in a folder of the runtime.
fn embed(folder: &str, table_name: &str) -> io::Result<()> {
    // As it is now: the folder that this was compiled in may have gone.
    let own = env::var_os("CARGO_MANIFEST_DIR")
        .ok_or_else(|| io::Error::other("cargo sets CARGO_MANIFEST_DIR"))?;
    let folder = Path::new(&own).join("../runtime").join(folder);
    let mut headers = Vec::new();
    collect(&folder, &mut headers)?;
    headers.sort_by_key(|path| path.display().to_string());
    let mut table = String::from("&[\n");
    for path in &headers {
        let name = path.strip_prefix(&folder).unwrap_or(path).display().to_string();
        let _ = writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join(table_name), table)
}

/// The headers in a folder and those in it.
fn collect(folder: &Path, headers: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, headers)?;
        } else if path.extension().is_some_and(|extension| extension == "h") {
            headers.push(path);
        }
    }
    Ok(())
}
