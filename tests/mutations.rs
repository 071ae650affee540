//! The wrong edits in `mutations/` still fit the tree, so that `tests/mutations/run` can show that
//! other tests notice them.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The patches, by name.
fn patches() -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(root().join("tests/mutations"))
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "patch"))
        .collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let text = |path: &Path| fs::read_to_string(path).expect("UTF-8");
    paths.iter().map(|path| (name(path), text(path))).collect()
}

/// The lines that a patch expects to find together, for each hunk, and the file that they are in.
fn hunks(patch: &str) -> Vec<(String, String)> {
    let mut hunks: Vec<(String, String)> = Vec::new();
    let mut file = String::new();
    for line in patch.lines() {
        if let Some(path) = line.strip_prefix("--- a/") {
            path.clone_into(&mut file);
        } else if line.starts_with("@@ ") {
            hunks.push((file.clone(), String::new()));
        } else if let Some((_, old)) = hunks.last_mut()
            && let Some(text) = line.strip_prefix([' ', '-'])
        {
            old.push_str(text);
            old.push('\n');
        }
    }
    hunks
}

#[test]
fn every_wrong_edit_applies_and_says_what_notices_it() {
    let patches = patches();
    assert!(patches.len() >= 15, "{} wrong edits", patches.len());
    for (name, patch) in patches {
        assert!(patch.contains("\nKilled by: cargo test "), "{name} says what notices it");
        let hunks = hunks(&patch);
        assert!(!hunks.is_empty(), "{name} edits something");
        for (file, old) in hunks {
            let text = fs::read_to_string(root().join(&file)).expect("the file is there");
            assert_eq!(text.matches(&old).count(), 1, "{name} fits {file} in one place:\n{old}");
        }
    }
}
