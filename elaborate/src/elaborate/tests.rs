//! Tests that need to see more than the public interface shows.

use super::*;
use crate::declare::FunctionDecl;
use xlate_grammar::{
    Environment, LibraryMacros, ParseOptions, SourceMap, parse_library_macros, parse_script, render,
};
use xlate_symbols::Presence;

/// A kernel with two tracepoints and two functions.
struct Small {
    tracepoints: Vec<String>,
    functions: Vec<String>,
}

impl Small {
    fn new() -> Self {
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        Small {
            tracepoints: names(["sched_switch", "sys_enter"]),
            functions: names(["scheduler_tick", "vfs_read"]),
        }
    }
}

fn among(names: &[String], name: &str) -> Presence {
    if names.iter().any(|known| known == name) { Presence::Present } else { Presence::Absent }
}

impl Names for Small {
    fn release(&self) -> &str {
        "6.1.0-small"
    }

    fn tracepoint(&self, name: &str) -> Presence {
        among(&self.tracepoints, name)
    }

    fn tracepoints(&self) -> &[String] {
        &self.tracepoints
    }

    fn function(&self, name: &str) -> Presence {
        among(&self.functions, name)
    }

    fn functions(&self) -> &[String] {
        &self.functions
    }
}

/// The probe points of a script on the small kernel, and what is said about it.
fn on_small_kernel(script: &str) -> (Vec<String>, String) {
    let mut sources = SourceMap::new();
    let (environment, macros) = (Environment::default(), LibraryMacros::new());
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &[], library: false };
    let file = sources.add("script.stp", script);
    let (file, said) = parse_script(&mut sources, file, &options);
    assert_eq!(said, []);
    let mut load = |_: &str, _: &[u8]| unreachable!("internal error (test): no library");
    let (library, options) = (Library::new(), Options::default());
    let kernel = Small::new();
    let (program, said) = elaborate_for(&[file], &library, &mut load, Some(&kernel), &options);
    let points = program.probes.iter().map(|probe| probe.name.clone()).collect();
    (points, render(&sources, &said, false))
}

#[test]
fn names_that_the_kernel_does_not_have_are_refused() {
    let (_, said) = on_small_kernel(
        "probe kernel.trace(\"sys_entre\") { print(1) }\n\
         probe kernel.trace(\"sched:sched_switch\") { print(1) }\n\
         probe kprobe.function(\"vfs_raed\").return { print(1) }",
    );
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../snapshots/typed/errors");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("point-absent", said));
}

#[test]
fn what_the_kernel_has_decides_between_optional_points() {
    let (points, said) = on_small_kernel(
        "probe tick = kprobe.function(\"sched_tick\") !, kprobe.function(\"scheduler_tick\") {}\n\
         probe tick { print(1) }\n\
         probe kernel.trace(\"sched_switch\") !, kernel.trace(\"sys_enter\") { print(2) }\n\
         probe kernel.trace(\"nosuch\") ?, never { print(3) }\n\
         probe kprobe.module(\"m\").function(\"nosuch\") { print(4) }",
    );
    assert_eq!(said, "");
    assert_eq!(
        points,
        [
            "kprobe.function(\"scheduler_tick\")",
            "kernel.trace(\"sched_switch\")",
            "never",
            "kprobe.module(\"m\").function(\"nosuch\")",
        ]
    );
}

/// Scripts use a few functions each; here is all that the library has.
#[test]
fn the_whole_library_is_sound() {
    let mut sources = SourceMap::new();
    let environment = Environment::default();
    let mut macros = LibraryMacros::new();
    let mut library = Library::new();
    library.add_embedded("x86_64");
    let mut diagnostics = Vec::new();
    for (name, text) in library.macro_files() {
        let file = sources.add(name, text);
        let none = LibraryMacros::new();
        let options =
            ParseOptions { environment: &environment, macros: &none, args: &[], library: true };
        let (found, said) = parse_library_macros(&mut sources, file, &options);
        macros.extend(found);
        diagnostics.extend(said);
    }
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &[], library: true };
    let mut files = Vec::new();
    for (name, text) in library.script_files() {
        let file = sources.add(name, text);
        let (parsed, said) = parse_script(&mut sources, file, &options);
        files.push(parsed);
        diagnostics.extend(said);
    }
    let declarations = Declarations::collect(&[], &files, &mut diagnostics);
    assert!(declarations.functions.len() > 100);
    let count = declarations.functions.len();
    let none = Options::default();
    let mut context = Context::new(declarations, &library, &none, diagnostics);
    for at in 0..count {
        context.function(FunctionDecl(at));
    }
    while let Some(function) = context.queue.pop_front() {
        context.function_body(function);
    }
    context.settle();
    finish::finish(&mut context.program, &mut context.diagnostics);
    iteration::check(&context.program, &mut context.diagnostics);
    assert_eq!(render(&sources, &context.diagnostics, false), "");
}
