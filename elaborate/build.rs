//! Puts the script library into the binary.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let tapset = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../tapset");
    println!("cargo::rerun-if-changed={}", tapset.display());
    let mut files = Vec::new();
    if tapset.is_dir() {
        collect(&tapset, &mut files)?;
    }
    files.sort();
    let mut code = String::from(
        "/// Name below `tapset/` and text of each file of the library.\n\
         const EMBEDDED: &[(&str, &[u8])] = &[\n",
    );
    for file in &files {
        let name = file.strip_prefix(&tapset).unwrap_or(file);
        let _ = writeln!(
            code,
            "    ({:?}, include_bytes!({:?})),",
            name.to_string_lossy(),
            file.to_string_lossy()
        );
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap_or_default());
    fs::write(out.join("tapset.rs"), code)
}

/// All `.stp` and `.stpm` files in a folder and below.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ext| ext == "stp" || ext == "stpm") {
            files.push(path);
        }
    }
    Ok(())
}
