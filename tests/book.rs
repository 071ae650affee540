//! The book's transcripts are what the command prints: each `console` block of `docs/` that begins
//! with `$ xlate …` is run by a shell, from the root of the repository, and its standard output is
//! compared.
//!
//! `UPDATE_DOCS=1 cargo test --test book` writes what is printed into the book.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What begins and ends a transcript.
const BEGIN: &str = "```console\n$ ";
const END: &str = "```\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<_> = fs::read_dir(root().join("docs"))
        .expect("the book")
        .map(|entry| entry.expect("a page").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages
}

/// What a command line prints; `xlate` is this one.
fn printed(command: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_xlate")).parent().expect("a folder");
    let mut path = folder.as_os_str().to_owned();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", command]).env("PATH", path).current_dir(root()).output();
    String::from_utf8_lossy(&output.expect("a shell").stdout).into_owned()
}

/// A page with what its commands print now, and how many there are.
fn with_transcripts(page: &str) -> (String, usize) {
    let mut parts = page.split(BEGIN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut count = 0;
    for part in parts {
        out.push_str(BEGIN);
        match (part.split_once('\n'), part.split_once(END)) {
            (Some((command, _)), Some((_, rest))) if command.starts_with("xlate ") => {
                out.push_str(&format!("{command}\n{}{END}{rest}", printed(command)));
                count += 1;
            }
            _ => out.push_str(part),
        }
    }
    (out, count)
}

#[test]
fn transcripts_are_true() {
    let mut checked = 0;
    for path in pages() {
        let page = fs::read_to_string(&path).expect("a page");
        let (true_page, count) = with_transcripts(&page);
        if env::var_os("UPDATE_DOCS").is_some() && page != true_page {
            fs::write(&path, &true_page).expect("written");
        } else {
            let differs = page.lines().zip(true_page.lines()).find(|(own, now)| own != now);
            assert!(
                page == true_page,
                "{}: run UPDATE_DOCS=1 cargo test --test book, and look at the difference: {differs:?}",
                path.display()
            );
        }
        checked += count;
    }
    assert!(checked >= 9, "{checked} transcripts: the book shows the stages and what can be asked");
}
