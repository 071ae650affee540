//! The `xlate` command: the five passes in order, and what is printed between them.

use std::ffi::OsString;
use std::io;
use std::thread;

use clap::Parser;
use xlate_codegen::{EmitError, EmitOptions, Emitted};
use xlate_elaborate::listing;
use xlate_elaborate::program::Program;
use xlate_ir::module::Module;
use xlate_report::explore::{Recorder, Subject, page};
use xlate_run::{Built, Cache, Interrupts};
use xlate_symbols::{Kernel, KernelSpec};

use crate::Failure;
use crate::bisect::bisect;
use crate::cli::{Emit, Options, Target};
use crate::console::{Console, write_result};
use crate::execute;
use crate::host;
use crate::input::{self, Input};
use crate::optimize::{describe, optimize, pipeline, text_of};
use crate::record;
use crate::stage::{Running, Stage, report_panics};
use crate::translator::{Script, Translator};

/// The stack for trees as deep as the grammar lets them be. Only what is used of it takes memory.
const STACK_BYTES: usize = 512 << 20;

/// What emitted C and pages say that they come from.
const GENERATOR: &str = concat!("xlate ", env!("CARGO_PKG_VERSION"));

/// Exit status of bad input and of anything else that does not work.
const FAILED: u8 = 1;

/// Exit status of a run that was interrupted before it began: 128 and the signal's number, as a
/// shell has it.
const INTERRUPTED: u8 = 130;

/// Runs the command with its arguments, the program's name first; gives its exit status.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    report_panics();
    let options = match Options::try_parse_from(arguments) {
        Ok(options) => options,
        Err(error) => {
            // Help and version are errors here too, but not for the user.
            let _ = error.print();
            return if error.use_stderr() { FAILED } else { 0 };
        }
    };
    let console = Console::new(!options.no_warnings);
    let next = match on_deep_stack(|| execute(&options, console)) {
        Ok(Ok(next)) => next,
        // The panic hook has said what happened.
        Ok(Err(_)) => return FAILED,
        Err(error) => {
            console.error(&format!("cannot start a thread: {error}"));
            return FAILED;
        }
    };
    match next.and_then(|next| run(&options, console, next)) {
        Ok(status) => status,
        Err(Failure::Message(message) | Failure::Internal(message)) => {
            console.error(&message);
            FAILED
        }
        Err(Failure::Refused) => FAILED,
        Err(Failure::Interrupted) => {
            console.error("interrupted");
            INTERRUPTED
        }
    }
}

/// Runs `work` on a thread with a large stack: trees are walked recursively.
fn on_deep_stack<R: Send>(work: impl FnOnce() -> R + Send) -> io::Result<thread::Result<R>> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("xlate".into()).stack_size(STACK_BYTES);
        Ok(builder.spawn_scoped(scope, work)?.join())
    })
}

/// What is left to do when a script is translated.
enum Next {
    /// Nothing.
    Done,
    /// Run the module that was built.
    Run(Built, Interrupts),
    /// Run a host program.
    RunHost(Built),
    /// Run a module that was built before, with these parameters.
    RunPrebuilt(OsString, Vec<OsString>),
}

/// Pass 5, on the first thread of the process: what `begin` handlers see as the current task is a
/// process with a thread group of its own, as under SystemTap's loader.
fn run(options: &Options, console: Console, next: Next) -> Result<u8, Failure> {
    match next {
        Next::Done => Ok(0),
        Next::Run(module, interrupts) => {
            execute::run(options, console, &module.path, &[], &interrupts)
        }
        Next::RunHost(program) => Err(host::run(options, console, program)),
        Next::RunPrebuilt(file, words) => execute::run_prebuilt(options, console, &file, &words),
    }
}

fn execute(options: &Options, console: Console) -> Result<Next, Failure> {
    if options.passes.as_deref() == Some("") {
        write_result(&describe(), None)?;
        return Ok(Next::Done);
    }
    if let Some(name) = &options.unload {
        execute::unload(name)?;
        return Ok(Next::Done);
    }
    host::check(options)?;
    // Wrong names are refused before any work is done.
    pipeline(options)?;
    match input::read(options)? {
        Input::Module(file, _) if options.target == Target::Host => Err(Failure::Message(format!(
            "{} is a module for a kernel: --target=host needs the script",
            file.display()
        ))),
        Input::Module(file, words) => Ok(Next::RunPrebuilt(file.to_owned(), words.to_owned())),
        Input::Script(script) => translate_and_build(options, console, script),
    }
}

fn translate_and_build(
    options: &Options,
    console: Console,
    script: Script,
) -> Result<Next, Failure> {
    let spec = options.release.as_deref().map(KernelSpec::from_argument).unwrap_or_default();
    let mut kernel = Kernel::open(&spec).map_err(|error| Failure::Message(error.to_string()))?;
    let cache = Cache::open();
    if let Ok(cache) = &cache {
        kernel = kernel.with_cache(cache.kernels());
    }
    let mut translator = Translator::new(options, &kernel)?;
    let translated = translate(options, console, &mut translator, script);
    let said = translator.take_diagnostics();
    console.diagnostics(translator.sources(), &said);
    let Some(source) = translated? else { return Ok(Next::Done) };

    let interrupts = execute::catch_interrupts()?;
    if let Err(problem) = &cache {
        console.warning(&problem.to_string());
    }
    let cache = cache.as_ref().ok();
    if options.target == Target::Host {
        let program = host::compile(options, console, cache, &source, &interrupts)?;
        if options.emit.is_none() && options.last_pass == 5 {
            return Ok(Next::RunHost(program));
        }
        let is_kept = program.cached || (cache.is_some() && program.cache_problem.is_none());
        let is_named = options.emit == Some(Emit::Ko) || options.module_name.is_some();
        let path = if is_named || !is_kept { host::save(options, &program)? } else { program.path };
        write_result(&format!("{}\n", path.display()), None)?;
        return Ok(Next::Done);
    }
    let module = execute::compile(options, console, &kernel, cache, &source, &interrupts)?;
    if options.emit.is_none() && options.last_pass == 5 {
        if kernel.is_running() {
            return Ok(Next::Run(module, interrupts));
        }
        let release = kernel.release();
        console.line(&format!("The module is for kernel {release}; it is not run on this one."));
    }
    // What is not in the cache goes when this program ends.
    let is_kept = module.cached || (cache.is_some() && module.cache_problem.is_none());
    let is_named = options.emit == Some(Emit::Ko) || options.module_name.is_some();
    let path = if is_named || !is_kept { execute::save(options, &module)? } else { module.path };
    write_result(&format!("{}\n", path.display()), None)?;
    Ok(Next::Done)
}

/// Passes 1 to 3. Gives the C, or nothing if a result of these passes was asked for and printed.
fn translate(
    options: &Options,
    console: Console,
    translator: &mut Translator<'_>,
    script: Script,
) -> Result<Option<String>, Failure> {
    let emitted = options.emitted();
    let print = |text: &str| write_result(text, options.output.as_deref()).map(|()| None);

    let pass = Running::start(Stage::Parse);
    let name = script.name.clone();
    let arguments = script.arguments.clone();
    let tree = translator.parse(script)?;
    report(options, console, pass, "parsed the script");
    if emitted == Some(Emit::Ast) {
        return print(&xlate_grammar::print(&tree));
    }

    let pass = Running::start(Stage::Elaborate);
    let mut trees = vec![tree];
    let mut program = translator.elaborate(&trees)?;
    if options.record.is_some() {
        // All that there is to say is said again of the script with the recording probes.
        translator.take_diagnostics();
        let text = record::script(&program).into_bytes();
        let recorder = Script { name: record::NAME.to_owned(), text, arguments };
        trees.push(translator.parse(recorder)?);
        program = translator.elaborate(&trees)?;
    }
    // What follows can have the room.
    drop(trees);
    let what = elaborated(&program, translator.library_files());
    report(options, console, pass, &what);
    if emitted == Some(Emit::Typed) {
        let in_full = options.emit.is_some();
        return print(&if in_full { program.to_string() } else { listing(&program) });
    }

    let pass = Running::start(Stage::Translate);
    let (mut module, places) = translator.lower(program)?;
    if let Some(command) = &options.bisect {
        return print(&bisect(options, console, &module, translator.macros(), command)?);
    }
    let recorder = || Recorder::new(&module, emit_options(translator.macros()));
    let mut recorder = options.explore.is_some().then(recorder);
    let sources = translator.sources();
    let said = optimize(options, console, sources, recorder.as_mut(), &mut module)?;
    match emitted {
        Some(Emit::Ir) => return print(&xlate_ir::text::print(&module)),
        Some(Emit::Cfg) => return print(&xlate_report::graph::control_flow(&module)),
        _ => {}
    }
    let source =
        emit(&module, translator.macros()).map_err(|error| translator.refuse(&places, error))?;
    if let (Some(recorder), Some(file)) = (recorder, &options.explore) {
        let subject =
            Subject { title: &name, generator: GENERATOR, module: &module, remarks: &said.remarks };
        let script = |name: &str| text_of(translator.sources(), name);
        write_result(&page(recorder, &subject, script), Some(file))?;
        return Ok(None);
    }
    let source = source.c;
    report(options, console, pass, "translated to C");
    if emitted == Some(Emit::C) { print(&source) } else { Ok(Some(source)) }
}

/// The C of a module, with macros defined ahead of everything.
///
/// # Errors
/// As [`xlate_codegen::emit`].
pub(crate) fn emit(module: &Module, macros: &[(String, String)]) -> Result<Emitted, EmitError> {
    xlate_codegen::emit(module, &emit_options(macros))
}

fn emit_options(macros: &[(String, String)]) -> EmitOptions {
    EmitOptions {
        generator: GENERATOR.to_owned(),
        macros: macros.to_vec(),
        ..EmitOptions::default()
    }
}

fn report(options: &Options, console: Console, pass: Running, what: &str) {
    if options.verbose > 0 {
        console.line(&pass.finish(what));
    }
}

fn elaborated(program: &Program, library_files: usize) -> String {
    let probes = counted(program.probes.len(), "probe");
    let functions = counted(program.functions.len(), "function");
    let globals = counted(program.globals.len(), "global");
    let library = counted(library_files, "library script");
    format!("elaborated {probes}, {functions} and {globals} with {library}")
}

fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}
