//! What the compiler makes of the benchmarks' probes: nothing that is slow, read from a disassembly.
//!
//! It takes the headers of a 6.1 kernel, the compiler and objdump; without headers there is nothing to
//! build (`./check packages` installs them).

use std::path::{Path, PathBuf};
use std::process::Command;

/// A 6.1 kernel whose headers are installed.
fn release() -> Option<String> {
    let installed = std::fs::read_dir("/lib/modules").into_iter().flatten().flatten();
    installed
        .filter(|entry| entry.path().join("build/Makefile").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("6.1."))
        .max()
}

/// The scripts that are measured, by name.
fn scripts() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/scripts");
    let files = std::fs::read_dir(folder).expect("the benchmarks").flatten();
    let mut scripts: Vec<(String, PathBuf)> = files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "stp"))
        .map(|path| (path.file_stem().expect("a name").to_string_lossy().into_owned(), path))
        .collect();
    scripts.sort();
    scripts
}

/// Folder of the modules, which are built once.
const WORK: &str = env!("CARGO_TARGET_TMPDIR");

/// Builds a script's module.
fn module(script: &Path, release: &str) -> PathBuf {
    let built = Command::new(env!("CARGO_BIN_EXE_xlate"))
        .args(["-p4", "-w", "-r", release])
        .arg(script)
        .env("XDG_CACHE_HOME", WORK)
        .current_dir(WORK)
        .output()
        .expect("xlate runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let path = String::from_utf8(built.stdout).expect("a path");
    Path::new(WORK).join(path.trim_end())
}

/// What a tool says of a module.
fn said(tool: &str, options: &[&str], module: &Path) -> String {
    let output = Command::new(tool).args(options).arg(module).output().expect("binutils");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The instructions of a module, with relocations.
fn disassembly(module: &Path) -> String {
    said("objdump", &["--no-show-raw-insn", "-dr"], module)
}

/// The instructions of a function, without addresses and relocations.
fn function<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let head = format!("<{name}>:");
    let lines = text.lines().skip_while(|line| !line.ends_with(&head)).skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.contains("R_X86_64_"))
        .filter_map(|line| Some(line.split_once(":\t")?.1.trim()))
        .collect()
}

#[test]
fn probes_call_nothing_through_a_pointer() {
    let Some(release) = release() else { return };
    for (name, script) in scripts() {
        let text = disassembly(&module(&script, &release));
        assert!(!function(&text, "probe_0").is_empty(), "{name} has entry code:\n{text}");
        assert!(!text.contains("__x86_indirect_thunk"), "{name}:\n{text}");
        let indirect = |line: &&str| line.starts_with("call") && line.contains('*');
        let found: Vec<&str> = function(&text, "probe_0").into_iter().filter(indirect).collect();
        assert_eq!(found, [""; 0], "{name}");
    }
}

/// The whole probe is a test and an addition, and returns; the whole module is small.
#[test]
fn counting_is_one_instruction() {
    let Some(release) = release() else { return };
    for (name, script) in scripts() {
        if !matches!(name.as_str(), "count" | "readonly") {
            continue;
        }
        let module = module(&script, &release);
        let text = disassembly(&module);
        let probe = function(&text, "probe_0");
        let is_slow = |line: &&str| line.starts_with("call") || line.contains("lock");
        let slow: Vec<&str> = probe.iter().copied().filter(|line| is_slow(line)).collect();
        assert_eq!(slow, [""; 0], "{name}: {probe:#?}");
        assert!(probe.iter().any(|line| line.starts_with("incq") && line.contains("%gs:")));
        assert!(probe.len() <= 8, "{name}: {probe:#?}");
        // The second line of `size` begins with the bytes of text.
        let sizes = said("size", &[], &module);
        let bytes = sizes.lines().nth(1).and_then(|line| line.split_whitespace().next());
        let bytes: u32 = bytes.and_then(|word| word.parse().ok()).expect("a number");
        assert!(bytes <= 8192, "{name}: {sizes}");
    }
}
