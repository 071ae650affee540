//! Each pass makes some script of the ablation benchmark better, in a way that can be counted.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use xlate_passes::registry::PASSES;
use xlate_report::ablation::{Difference, differences};

/// The IR of a script, as lowered.
fn lowered(script: &Path) -> xlate_ir::module::Module {
    let xlate = Command::new(env!("CARGO_BIN_EXE_xlate"))
        .args(["-w", "-O0", "--emit=ir"])
        .arg(script)
        .output()
        .expect("xlate runs");
    let said = String::from_utf8_lossy(&xlate.stderr);
    assert!(xlate.status.success(), "{}: {said}", script.display());
    let text = String::from_utf8_lossy(&xlate.stdout);
    xlate_ir::text::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", script.display()))
}

#[test]
fn every_pass_makes_some_script_better() {
    let mut better: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for folder in ["bench/scripts", "bench/ablation"] {
        let mut scripts: Vec<_> =
            std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
                .expect("a folder")
                .map(|entry| entry.expect("an entry").path())
                .filter(|path| path.extension().is_some_and(|extension| extension == "stp"))
                .collect();
        scripts.sort();
        for script in scripts {
            let name = script.file_stem().expect("a name").to_string_lossy().into_owned();
            let found = differences(&lowered(&script)).unwrap_or_else(|e| panic!("{name}: {e}"));
            for Difference { pass, metric, with, without } in found {
                if without > with {
                    let line = format!("{name}: {metric} {with}, {without} without it");
                    better.entry(pass).or_default().push(line);
                }
            }
        }
    }
    let idle: Vec<&str> =
        PASSES.iter().map(|pass| pass.name).filter(|pass| !better.contains_key(pass)).collect();
    assert!(idle.is_empty(), "passes that help no script: {idle:?}; others: {better:#?}");
}
