//! Passes 1 to 3 without a kernel, for tests that look at every script.

use std::fs;
use std::path::{Path, PathBuf};

use xlate_codegen::EmitOptions;
use xlate_elaborate::program::Program;
use xlate_elaborate::{Library, Options, Setting};
use xlate_grammar::ast::File;
use xlate_grammar::{
    Environment, LibraryMacros, ParseOptions, SourceMap, has_errors, parse_library_macros,
    parse_script, render,
};
use xlate_ir::module::Module;
use xlate_ir::verifier::verify;
use xlate_lower::{LowerOptions, lower};
use xlate_passes::manager::{self, NoObserver};
use xlate_passes::pipeline::Pipeline;

/// The top of the source tree.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// A script with what its lines `//: KEY VALUE` say about passes 1 to 3.
pub(crate) struct Script {
    /// Where it is, for messages.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Whether it may hold C.
    pub(crate) guru: bool,
    /// What `-G` sets.
    pub(crate) settings: Vec<Setting>,
    /// The last pass that it can go through.
    pub(crate) last_pass: u32,
}

impl Script {
    /// Reads a script.
    pub(crate) fn read(path: &Path) -> Script {
        let text = fs::read_to_string(path).expect("UTF-8");
        let mut script = Script {
            name: path.strip_prefix(root()).unwrap_or(path).display().to_string(),
            args: Vec::new(),
            guru: false,
            settings: Vec::new(),
            last_pass: 5,
            text,
        };
        let directives: Vec<String> = script
            .text
            .lines()
            .take_while(|line| line.starts_with("//"))
            .filter_map(|line| line.strip_prefix("//: ").map(str::to_owned))
            .collect();
        for line in directives {
            let (key, value) = line.split_once(' ').unwrap_or((&line, ""));
            match key {
                "args" => script.args = words(value),
                "pass" => script.last_pass = value.parse().expect("a number"),
                "options" => script.options(&words(value)),
                _ => {}
            }
        }
        script
    }

    fn options(&mut self, options: &[String]) {
        self.guru |= options.iter().any(|option| option == "-g");
        for pair in options.windows(2) {
            if let ("-G", Some((name, value))) = (pair[0].as_str(), pair[1].split_once('=')) {
                let value = Some(value.to_owned());
                self.settings.push(Setting { name: name.to_owned(), value });
            }
        }
    }
}

/// Words as in a shell, of which double quotes may make one.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in text.split('"').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// All scripts in a folder and below, in the order of their names.
#[allow(dead_code, reason = "not every test looks at all scripts")]
pub(crate) fn scripts(folder: &str) -> Vec<Script> {
    let mut folders = vec![root().join(folder)];
    let mut paths = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "stp") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.iter().map(|path| Script::read(path)).collect()
}

/// The library that comes with xlate.
pub(crate) fn library() -> Library {
    let mut library = Library::new();
    library.add_embedded("x86_64");
    library
}

/// Some kernel, of which little is known.
fn environment(script: &Script) -> Environment {
    let mut environment = Environment {
        kernel_release: "6.1.0-1-amd64".to_owned(),
        guru_mode: script.guru,
        ..Environment::default()
    };
    environment.kconfig.insert("CONFIG_MODULES".to_owned(), "y".to_owned());
    environment
}

/// Pass 1.
///
/// # Errors
/// What is wrong with the script, as the user would see it.
pub(crate) fn parse(
    script: &Script,
    library: &Library,
    sources: &mut SourceMap,
) -> Result<(File, LibraryMacros), String> {
    let environment = environment(script);
    let mut macros = LibraryMacros::new();
    for (name, text) in library.macro_files() {
        let file = sources.add(name, text);
        let none = LibraryMacros::new();
        let options =
            ParseOptions { environment: &environment, macros: &none, args: &[], library: true };
        let (more, diagnostics) = parse_library_macros(sources, file, &options);
        if has_errors(&diagnostics) {
            return Err(render(sources, &diagnostics, false));
        }
        macros.extend(more);
    }
    let file = sources.add(script.name.clone(), script.text.clone());
    let options = ParseOptions {
        environment: &environment,
        macros: &macros,
        args: &script.args,
        library: false,
    };
    let (tree, diagnostics) = parse_script(sources, file, &options);
    match has_errors(&diagnostics) {
        true => Err(render(sources, &diagnostics, false)),
        false => Ok((tree, macros)),
    }
}

/// Passes 1 and 2.
///
/// # Errors
/// What is wrong with the script, as the user would see it.
pub(crate) fn elaborate(
    script: &Script,
    library: &Library,
    sources: &mut SourceMap,
) -> Result<Program, String> {
    let (tree, macros) = parse(script, library, sources)?;
    let environment = environment(script);
    let options = ParseOptions {
        environment: &environment,
        macros: &macros,
        args: &script.args,
        library: true,
    };
    let (program, diagnostics) = {
        let mut load = |name: &str, text: &[u8]| {
            let file = sources.add(name, text);
            parse_script(sources, file, &options)
        };
        let settings =
            Options { guru: script.guru, settings: script.settings.clone(), ..Options::default() };
        xlate_elaborate::elaborate(&[tree], library, &mut load, None, &settings)
    };
    match has_errors(&diagnostics) {
        true => Err(render(sources, &diagnostics, false)),
        false => Ok(program),
    }
}

/// Passes 1 to 3 up to the IR as lowered.
///
/// # Errors
/// What is wrong, with the script or with the IR.
pub(crate) fn lowered(script: &Script, library: &Library) -> Result<Module, String> {
    let mut sources = SourceMap::new();
    let program = elaborate(script, library, &mut sources)?;
    let module = lower(&program, &sources, &LowerOptions::default())
        .map_err(|error| format!("{}: {error}", sources.locate(error.span)))?;
    verify(&module).map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        format!("lowering broke the rules of the IR:\n{}", errors.join("\n"))
    })?;
    Ok(module)
}

/// The rest of pass 3.
///
/// # Errors
/// The pass that broke a rule, or why there can be no C.
pub(crate) fn emitted(mut module: Module, pipeline: &Pipeline) -> Result<String, String> {
    let options = manager::Options { verify_each: true, ..manager::Options::default() };
    manager::run(&mut module, pipeline, &options, &mut NoObserver)
        .map_err(|error| error.to_string())?;
    xlate_codegen::emit(&module, &EmitOptions::default())
        .map(|emitted| emitted.c)
        .map_err(|error| error.to_string())
}
