//! What is a script and what is not: the corners of the grammar, one line each.

use std::collections::BTreeMap;
use xlate_grammar::{
    Environment, LibraryMacros, ParseOptions, SourceMap, has_errors, parse_script, render,
};

#[test]
fn corners_of_the_grammar() {
    let environment = Environment {
        kernel_release: "6.1.0-18-amd64".to_owned(),
        guru_mode: true,
        kconfig: BTreeMap::from([("CONFIG_SMP".to_owned(), "y".to_owned())]),
        ..Environment::default()
    };
    let macros = LibraryMacros::new();
    let args = ["Q1".to_owned(), "b c".to_owned()];
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &args, library: false };
    let mut wrong = Vec::new();
    let lines = include_str!("verdicts.txt").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let (verdict, script) = line.split_once(' ').expect("a verdict and a script");
        let mut sources = SourceMap::new();
        let file = sources.add("a.stp", script);
        let (_, diagnostics) = parse_script(&mut sources, file, &options);
        if has_errors(&diagnostics) != (verdict == "no") {
            wrong.push(format!("{line}\n{}", render(&sources, &diagnostics, false)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
