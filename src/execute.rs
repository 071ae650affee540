//! Passes 4 and 5: from C to a module, and the module's run.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use xlate_run::{BuildRequest, Built, Cache, Error, Interrupts, Notice, RunRequest, TargetSpec};
use xlate_symbols::Kernel;

use crate::Failure;
use crate::cli::{Emit, Options};
use crate::console::{Console, write_result};
use crate::stage::{Running, Stage};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted => Failure::Interrupted,
            error => Failure::Message(error.to_string()),
        }
    }
}

/// Begins to catch `^C` and its kind.
///
/// # Errors
/// If the process may not have more file descriptors.
pub fn catch_interrupts() -> Result<Interrupts, Failure> {
    Interrupts::catch()
        .map_err(|error| Failure::Message(format!("cannot watch for interruptions: {error}")))
}

/// Builds the module of some C.
///
/// # Errors
/// As [`xlate_run::build`].
pub fn compile(
    options: &Options,
    console: Console,
    kernel: &Kernel,
    cache: Option<&Cache>,
    source: &str,
    interrupts: &Interrupts,
) -> Result<Built, Failure> {
    let pass = Running::start(Stage::Compile);
    let module = xlate_run::build(&BuildRequest {
        kernel,
        source,
        name: options.module_name.as_deref(),
        make_variables: &options.make_variables,
        cache,
        keep: options.keep,
        interrupts,
    })?;
    if options.verbose > 1 && !module.log.is_empty() {
        console.line(module.log.trim_end());
    }
    if let Some(problem) = &module.cache_problem {
        console.warning(&problem.to_string());
    }
    if let Some(folder) = &module.kept {
        console.line(&format!("The build folder is {}", folder.display()));
    }
    if options.verbose > 0 {
        let what = if module.cached { "found the module in the cache," } else { "compiled C into" };
        console.line(&pass.finish(&format!("{what} {}", module.path.display())));
    }
    Ok(module)
}

/// Leaves a built module where `-o` says, or in the current folder under its name. Gives the path.
///
/// # Errors
/// If the file cannot be written.
pub fn save(options: &Options, module: &Built) -> Result<PathBuf, Failure> {
    let wanted = options.output.as_ref().filter(|_| options.emit == Some(Emit::Ko));
    let path = wanted.cloned().unwrap_or_else(|| PathBuf::from(format!("{}.ko", module.name)));
    fs::copy(&module.path, &path)
        .map_err(|error| Failure::io("cannot write", path.display(), &error))?;
    Ok(path)
}

/// Runs a module. Gives the exit status.
///
/// # Errors
/// As [`xlate_run::run`].
pub fn run(
    options: &Options,
    console: Console,
    module: &Path,
    parameters: &[String],
    interrupts: &Interrupts,
) -> Result<u8, Failure> {
    if options.verbose > 0 {
        console.line("Pass 5: starting run.");
    }
    let pass = Running::start(Stage::Run);
    let target = match (&options.command, options.pid) {
        (Some(command), _) => TargetSpec::Command(command.clone()),
        (None, Some(pid)) => TargetSpec::Process(pid),
        (None, None) => TargetSpec::None,
    };
    let request = RunRequest {
        module,
        rename: options.module_name.is_none(),
        parameters,
        buffer_size: options.buffer_size,
        target,
        timeout: options.timeout.map(Duration::from_secs),
        output: options.output.as_deref(),
        record: options.record.as_deref(),
        interrupts,
    };
    let outcome = xlate_run::run(&request, &mut |notice| match notice {
        Notice::Warning(text) => console.script_warning(text),
        Notice::Error(text) => console.script_error(text),
        Notice::Text(text) => console.line(text),
    })?;
    if outcome.lost > 0 {
        let lost = outcome.lost;
        console.warning(&format!("{lost} pieces of output were lost; -s makes the buffers larger"));
    }
    if options.verbose > 0 {
        console.line(&pass.finish("run completed"));
    }
    Ok(outcome.exit_code())
}

/// Runs a module that was built before. Gives the exit status.
///
/// # Errors
/// As [`xlate_run::run`], and for a word that is not a parameter.
pub fn run_prebuilt(
    options: &Options,
    console: Console,
    module: &OsStr,
    words: &[OsString],
) -> Result<u8, Failure> {
    let parameter = |word: &OsString| match word.to_str() {
        Some(text) if text.contains('=') => Ok(text.to_owned()),
        _ => Err(Failure::Message(format!(
            "`{}` is not a module parameter: a module built before takes NAME=VALUE only",
            word.display()
        ))),
    };
    let parameters = words.iter().map(parameter).collect::<Result<Vec<_>, _>>()?;
    run(options, console, Path::new(module), &parameters, &catch_interrupts()?)
}

/// Removes a module that its loader left behind, or lists those that are.
///
/// # Errors
/// If there is no such module, or it is in use.
pub fn unload(name: &str) -> Result<(), Failure> {
    if name == "list" {
        let names: String = xlate_run::abandoned().iter().map(|name| format!("{name}\n")).collect();
        return write_result(&names, None);
    }
    Ok(xlate_run::unload(name)?)
}
