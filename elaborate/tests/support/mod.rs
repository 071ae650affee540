//! Runs passes 1 and 2 on scripts in tests.

// Each test binary uses a part of this.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use xlate_elaborate::program::Program;
use xlate_elaborate::{Library, Options};
use xlate_grammar::{
    Environment, LibraryMacros, ParseOptions, SourceMap, has_errors, parse_library_macros,
    parse_script, render,
};

/// What came of a script.
pub(crate) struct Outcome {
    /// The program, of use if there are no errors.
    pub(crate) program: Program,
    /// All that was said, rendered.
    pub(crate) messages: String,
    /// How many errors.
    pub(crate) errors: usize,
    /// The files of the library that were parsed.
    pub(crate) loaded: Vec<String>,
}

impl Outcome {
    /// The program as text, with the warnings that came with it.
    pub(crate) fn text(&self) -> String {
        match self.messages.as_str() {
            "" => self.program.to_string(),
            messages => format!("{}\n{messages}", self.program),
        }
    }
}

/// The folder of the whole project.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Elaborates a script with the library that comes with xlate. The probed kernel is unknown.
pub(crate) fn elaborate(script: &str, options: &Options) -> Outcome {
    run(script, &[], options, false)
}

/// The same with script arguments.
pub(crate) fn elaborate_with(script: &str, args: &[String], options: &Options) -> Outcome {
    run(script, args, options, false)
}

/// The same, but pass 2 runs even if pass 1 found errors.
pub(crate) fn elaborate_anyway(script: &str, options: &Options) -> Outcome {
    run(script, &[], options, true)
}

fn run(script: &str, args: &[String], options: &Options, anyway: bool) -> Outcome {
    let mut sources = SourceMap::new();
    let environment = Environment { guru_mode: options.guru, ..Environment::default() };
    let mut library = Library::new();
    library.add_embedded("x86_64");
    let mut macros = LibraryMacros::new();
    for (name, text) in library.macro_files() {
        let file = sources.add(name, text);
        let options = ParseOptions {
            environment: &environment,
            macros: &LibraryMacros::new(),
            args: &[],
            library: true,
        };
        macros.extend(parse_library_macros(&mut sources, file, &options).0);
    }
    let parse = |library| ParseOptions {
        environment: &environment,
        macros: &macros,
        args: if library { &[] } else { args },
        library,
    };
    let file = sources.add("script.stp", script);
    let (parsed, mut diagnostics) = parse_script(&mut sources, file, &parse(false));
    let mut loaded = Vec::new();
    let mut program = Program::default();
    if anyway || !has_errors(&diagnostics) {
        let mut load = |name: &str, text: &[u8]| {
            loaded.push(name.to_owned());
            let file = sources.add(name, text);
            parse_script(&mut sources, file, &parse(true))
        };
        let (made, said) =
            xlate_elaborate::elaborate(&[parsed], &library, &mut load, None, options);
        program = made;
        diagnostics.extend(said);
    }
    Outcome {
        program,
        messages: render(&sources, &diagnostics, false),
        errors: diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count(),
        loaded,
    }
}

/// Names and texts of the scripts in a folder of the project and below, sorted. Folders below are
/// part of the name.
pub(crate) fn scripts(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&root().join(folder), "", &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            let name = path.file_name().expect("it has a name").to_string_lossy();
            collect(&path, &format!("{prefix}{name}-"), found);
        } else if path.extension().is_some_and(|extension| extension == "stp") {
            let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
            let text = fs::read(&path).expect("it can be read");
            found.push((format!("{prefix}{name}"), String::from_utf8_lossy(&text).into_owned()));
        }
    }
}

/// Compares with `snapshots/typed/FOLDER/NAME.snap`, which names the script it came from.
pub(crate) fn assert_snapshot(folder: &str, name: &str, script: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots/typed").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let shown = format!("{}\n----\n{text}", script.trim_end());
    settings.bind(|| insta::assert_snapshot!(name, shown));
}
