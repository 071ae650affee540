//! The script library: every definition is documented, the reference in the docs is what the files
//! say, and every operation of the runtime can be reached from a script.
//!
//! `UPDATE_DOCS=1 cargo test --test library` writes the reference anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use xlate_ir::intrinsics::Intrinsic;

/// A public definition of a library file.
struct Definition {
    /// The declaration, without its body.
    heading: String,
    /// The comment in front of it.
    comment: String,
}

/// A library file.
struct Library {
    name: String,
    text: String,
    /// What the file is about.
    subject: String,
    definitions: Vec<Definition>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// All library files, sorted by name.
fn library() -> Vec<Library> {
    let mut paths: Vec<_> = fs::read_dir(root().join("tapset"))
        .expect("the library is there")
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Library {
    let text = fs::read_to_string(path).expect("UTF-8");
    let subject: Vec<_> =
        text.lines().map_while(|line| line.strip_prefix("//")).map(str::trim).collect();
    let mut definitions = Vec::new();
    let mut comment = Vec::new();
    for line in text.lines() {
        if let Some(documentation) = line.strip_prefix("///") {
            comment.push(documentation.strip_prefix(' ').unwrap_or(documentation));
            continue;
        }
        if let Some(heading) = heading(line) {
            definitions.push(Definition { heading, comment: comment.join("\n") });
        }
        comment.clear();
    }
    Library {
        name: path.file_name().expect("a file").to_string_lossy().into_owned(),
        subject: subject.join("\n"),
        definitions,
        text,
    }
}

/// The declaration that a line begins, if it is a public one.
fn heading(line: &str) -> Option<String> {
    let end = if line.starts_with("function ") {
        line.find(')')? + 1
    } else if line.starts_with("probe ") {
        line.find(" =")?
    } else if line.starts_with("@define ") {
        line.find(" %(")?
    } else {
        return None;
    };
    let heading = &line[..end];
    Some(match heading.split_once(' ') {
        Some(("@define", name)) => format!("@{name}"),
        Some(("function", name)) => name.to_owned(),
        _ => heading.to_owned(),
    })
}

fn reference(library: &[Library]) -> String {
    let mut page = String::from(
        "# The script library\n\n\
         Made from the comments in `tapset/`; a test compares the two.\n\n\
         Functions without a result are written without a type. Whatever is said to *raise* ends \
         the handler\nwith a run-time error unless a `catch` receives it. Strings have at most \
         MAXSTRINGLEN-1 bytes.\n",
    );
    for file in library {
        let _ = write!(page, "\n## {}\n\n{}\n", file.name, file.subject);
        for definition in &file.definitions {
            let _ = write!(page, "\n### `{}`\n\n{}\n", definition.heading, definition.comment);
        }
    }
    page
}

#[test]
fn every_definition_is_documented() {
    for file in library() {
        assert!(!file.subject.is_empty(), "{}: say at the top what it is about", file.name);
        for definition in &file.definitions {
            let first = definition.comment.chars().next();
            assert!(
                first.is_some(),
                "{}: `{}` has no comment of the form `/// …`",
                file.name,
                definition.heading
            );
        }
    }
}

#[test]
fn the_reference_is_what_the_files_say() {
    let path = root().join("docs/tapset.md");
    let page = reference(&library());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/tapset.md is not what tapset/ says: run UPDATE_DOCS=1 cargo test --test library"
    );
}

#[test]
fn every_operation_of_the_runtime_has_a_function() {
    let named: BTreeSet<String> = library()
        .iter()
        .flat_map(|file| {
            file.text
                .split("/* pragma:xlate ")
                .skip(1)
                .map(|rest| rest.split(" */").next().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    for name in &named {
        // `ctl.error` becomes a raise: it is no operation of the table.
        assert!(
            name == "ctl.error" || Intrinsic::named(name).is_some(),
            "a function stands for `{name}`, which is no operation"
        );
    }
    for &intrinsic in Intrinsic::ALL {
        // Concatenation is an operator, and what is not checked is what passes make of what is.
        let is_ours = intrinsic == Intrinsic::StrConcat || intrinsic.signature().guarded;
        assert!(
            is_ours || named.contains(&intrinsic.to_string()),
            "no function stands for `{intrinsic}`"
        );
    }
}
