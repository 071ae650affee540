//! The book's transcripts are what the command prints: each `console` block of `docs/` that begins
//! with `$ xlate …` is run from the root of the repository.

use std::path::Path;
use std::process::Command;

/// The command and the expected output of each transcript of a page.
fn transcripts(page: &str) -> Vec<(&str, &str)> {
    page.split("```console\n")
        .skip(1)
        .filter_map(|rest| rest.split("```\n").next())
        .filter_map(|block| block.strip_prefix("$ xlate ")?.split_once('\n'))
        .collect()
}

#[test]
fn transcripts_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut checked = 0;
    let mut pages: Vec<_> = std::fs::read_dir(root.join("docs"))
        .expect("the book")
        .map(|entry| entry.expect("a page").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    for path in pages {
        let page = std::fs::read_to_string(&path).expect("a page");
        for (command, expected) in transcripts(&page) {
            let output = Command::new(env!("CARGO_BIN_EXE_xlate"))
                .args(command.split(' '))
                .current_dir(root)
                .output()
                .expect("xlate runs");
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(printed, expected, "{}: xlate {command}", path.display());
            checked += 1;
        }
    }
    assert!(checked >= 5, "the architecture page follows a script through the stages");
}
