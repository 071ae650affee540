//! Snapshots of pass 1: scripts printed back, and what is said about wrong ones.
//!
//! Inputs are `scripts/*.stp` and `errors/*.stp` beside this file; what comes of each is in
//! `snapshots/parse/` at the root of the repository, under the same name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use xlate_grammar::ast::File;
use xlate_grammar::coverage::Coverage;
use xlate_grammar::{
    Diagnostic, Environment, LibraryMacros, ParseOptions, SourceMap, has_errors, parse_script,
    print, render,
};

fn scripts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder of the scripts");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

fn parse(path: &Path, guru_mode: bool, args: &[&str]) -> (SourceMap, File, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let text = std::fs::read(path).expect("a script");
    let file = sources.add(format!("{}.stp", name(path)), text);
    let kconfig = [("CONFIG_SMP", "y"), ("CONFIG_HZ", "250")];
    let environment = Environment {
        kernel_release: "6.1.0-18-amd64".to_owned(),
        guru_mode,
        kconfig: BTreeMap::from(kconfig.map(|(name, value)| (name.to_owned(), value.to_owned()))),
        ..Environment::default()
    };
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let macros = LibraryMacros::new();
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &args, library: false };
    let (tree, diagnostics) = parse_script(&mut sources, file, &options);
    (sources, tree, diagnostics)
}

fn snapshot(name: String, input: &Path, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/parse");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_input_file(input);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Scripts have these arguments.
const ARGS: [&str; 3] = ["kernel", "second", "3"];

#[test]
fn scripts_are_printed_back() {
    for path in scripts("scripts") {
        let (sources, tree, diagnostics) = parse(&path, true, &ARGS);
        assert!(diagnostics.is_empty(), "{}", render(&sources, &diagnostics, false));
        snapshot(name(&path), &path, &print(&tree));
    }
}

#[test]
fn wrong_scripts_are_explained() {
    for path in scripts("errors") {
        let guru = !name(&path).contains("without_guru_mode");
        let (sources, _, diagnostics) = parse(&path, guru, &[]);
        assert!(has_errors(&diagnostics), "{}", path.display());
        let text = render(&sources, &diagnostics, false);
        snapshot(format!("error_{}", name(&path)), &path, &text);
    }
}

#[test]
fn scripts_reach_every_construct() {
    let mut coverage = Coverage::new();
    for path in scripts("scripts") {
        coverage.add(&parse(&path, true, &ARGS).1);
    }
    assert_eq!(coverage.missing(), [""; 0]);
}
