//! `--bisect`: which pass makes a command of the user's fail.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use xlate_ir::module::Module;
use xlate_ir::text;
use xlate_passes::manager::{self, BisectStep, NoObserver};
use xlate_report::bisect::{Verdict, blame, search};
use xlate_report::diff;

use crate::Failure;
use crate::cli::Options;
use crate::console::Console;
use crate::driver::emit;
use crate::optimize::pipeline;

/// What a shell says if it cannot run a command at all.
const NOT_RUN: [i32; 2] = [126, 127];

/// Runs a command on what the script becomes with more and fewer passes; says which pass makes the
/// command fail, and what that changes. The module is one that no pass has seen.
///
/// # Errors
/// If the command does not fail or fails without any pass, if it cannot be run, or if the files for
/// it cannot be written.
pub fn bisect(
    options: &Options,
    console: Console,
    module: &Module,
    macros: &[(String, String)],
    command: &str,
) -> Result<String, Failure> {
    let folder = TempDir::with_prefix("xlate-bisect-")
        .map_err(|error| Failure::io("cannot make", "a folder for the check", &error))?;
    let (_, steps) = optimized(options, module, u64::MAX)?;
    let all = steps.len() as u64;
    let verdict = search(all, |limit| {
        let (module, _) = optimized(options, module, limit)?;
        let is_good = check(command, &module, macros, limit, folder.path())?;
        let word = if is_good { "good" } else { "bad" };
        console.line(&format!("bisect: {limit} of {all} steps: {word}"));
        Ok::<bool, Failure>(is_good)
    })?;
    match verdict {
        Verdict::FailsWithoutPasses => Err(Failure::Message(
            "the command fails before any pass has run: no pass is at fault".into(),
        )),
        Verdict::NeverFails => {
            Err(Failure::Message(format!("the command succeeds after all {all} steps")))
        }
        Verdict::Step(number) => {
            let before = text::print(&optimized(options, module, number - 1)?.0);
            let after = text::print(&optimized(options, module, number)?.0);
            let blame = blame(&steps[number as usize - 1], number, all);
            Ok(format!("{blame}\n{}", diff::lines(&before, &after, false)))
        }
    }
}

/// The module after so many steps, and all steps there are.
fn optimized(
    options: &Options,
    module: &Module,
    limit: u64,
) -> Result<(Module, Vec<BisectStep>), Failure> {
    let mut module = module.clone();
    let how = manager::Options { bisect_limit: Some(limit), ..Default::default() };
    let report = manager::run(&mut module, &pipeline(options)?, &how, &mut NoObserver)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    Ok((module, report.bisect))
}

/// Whether the command succeeds.
fn check(
    command: &str,
    module: &Module,
    macros: &[(String, String)],
    limit: u64,
    folder: &Path,
) -> Result<bool, Failure> {
    let broken = |error: &io::Error| Failure::io("cannot run", "the command of --bisect", error);
    // Standard output is for the verdict.
    let output = io::stderr().as_fd().try_clone_to_owned().map_err(|error| broken(&error))?;
    let emitted = emit(module, macros).map_err(|error| Failure::Message(error.to_string()))?;
    let status = Command::new("sh")
        .args(["-c", command])
        .env("XLATE_LIMIT", limit.to_string())
        .env("XLATE_IR", write(folder, "script.xir", &text::print(module))?)
        .env("XLATE_C", write(folder, "script.c", &emitted.c)?)
        .stdin(Stdio::null())
        .stdout(output)
        .status()
        .map_err(|error| broken(&error))?;
    match status.code() {
        Some(code) if NOT_RUN.contains(&code) => Err(Failure::Message(format!(
            "the command of --bisect cannot be run: the shell says {code}"
        ))),
        // A command that a signal ends has failed.
        _ => Ok(status.success()),
    }
}

fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    fs::write(&path, text).map_err(|error| Failure::io("cannot write", path.display(), &error))?;
    Ok(path)
}
