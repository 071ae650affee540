//! Passes 4 and 5 of `--target=host`: from C to a program, which this process becomes.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use xlate_run::{Built, Cache, HostRequest, Interrupts, build_host, exec_host};

use crate::Failure;
use crate::cli::{Options, Target};
use crate::console::Console;
use crate::stage::{Running, Stage};

/// Refuses options that go with the other target only.
///
/// # Errors
/// What is wrong with them.
pub fn check(options: &Options) -> Result<(), Failure> {
    let refuse = |message: &str| Err(Failure::Message(message.to_owned()));
    if options.target == Target::Kernel {
        return match options.events {
            Some(_) => refuse("--events needs --target=host: a kernel has events of its own"),
            None => Ok(()),
        };
    }
    if options.record.is_some() {
        return refuse("--record records what a kernel does: not with --target=host");
    }
    if options.events.is_some() && options.command.is_some() {
        return refuse(
            "-c needs a clock that runs, and with --events time follows the file: use -x to set \
             target()",
        );
    }
    Ok(())
}

/// Builds the program of some C.
///
/// # Errors
/// As [`build_host`].
pub fn compile(
    options: &Options,
    console: Console,
    cache: Option<&Cache>,
    source: &str,
    interrupts: &Interrupts,
) -> Result<Built, Failure> {
    let pass = Running::start(Stage::Compile);
    let program = build_host(&HostRequest {
        source,
        name: options.module_name.as_deref(),
        variables: &options.make_variables,
        cache,
        keep: options.keep,
        interrupts,
    })?;
    if options.verbose > 1 && !program.log.is_empty() {
        console.line(program.log.trim_end());
    }
    if let Some(problem) = &program.cache_problem {
        console.warning(&problem.to_string());
    }
    if let Some(folder) = &program.kept {
        console.line(&format!("The build folder is {}", folder.display()));
    }
    if options.verbose > 0 {
        let what =
            if program.cached { "found the program in the cache," } else { "compiled C into" };
        console.line(&pass.finish(&format!("{what} {}", program.path.display())));
    }
    Ok(program)
}

/// Leaves a built program where `-o` says, or in the current folder under its name. Gives the path.
///
/// # Errors
/// If the file cannot be written.
pub fn save(options: &Options, program: &Built) -> Result<PathBuf, Failure> {
    let wanted = options.output.clone().filter(|_| options.emit.is_some());
    let path = wanted.unwrap_or_else(|| PathBuf::from(&program.name));
    fs::copy(&program.path, &path)
        .map_err(|error| Failure::io("cannot write", path.display(), &error))?;
    Ok(path)
}

/// Becomes the program. Returns only why that failed.
pub fn run(options: &Options, console: Console, program: Built) -> Failure {
    if options.verbose > 0 {
        console.line("Pass 5: starting run.");
    }
    exec_host(program, &arguments(options)).into()
}

/// The most seconds that a program counts: more than thirty years.
const LONGEST_RUN: u64 = 1_000_000_000;

/// The options of the program that stand for those of this one.
fn arguments(options: &Options) -> Vec<OsString> {
    let mut arguments = Vec::new();
    let mut add = |option: &str, value: OsString| arguments.extend([option.into(), value]);
    let path = |path: &Path| path.as_os_str().to_owned();
    if let Some(events) = &options.events {
        add("--events", path(events));
    }
    if let Some(command) = &options.command {
        add("-c", command.into());
    }
    if let Some(pid) = options.pid {
        add("-x", pid.to_string().into());
    }
    if let Some(seconds) = options.timeout {
        add("-T", seconds.min(LONGEST_RUN).to_string().into());
    }
    if let Some(size) = options.buffer_size {
        add("-s", size.to_string().into());
    }
    if let Some(output) = &options.output {
        add("-o", path(output));
    }
    arguments.extend(options.serial.then(|| "--serial".into()));
    arguments.extend(options.no_warnings.then(|| "-w".into()));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn options(words: &[&str]) -> Options {
        Options::try_parse_from([&["xlate"], words].concat()).expect("good options")
    }

    #[test]
    fn options_reach_the_program() {
        let options =
            options(&["--target=host", "--events=e.txt", "--serial", "-x7", "-T", "3", "-w", "a"]);
        let expected = ["--events", "e.txt", "-x", "7", "-T", "3", "--serial", "-w"];
        assert_eq!(arguments(&options), expected);
        assert_eq!(check(&options), Ok(()));
    }

    #[test]
    fn a_program_may_run_for_ever() {
        let options = options(&["--target=host", "-T", "18446744073709551615", "a"]);
        assert_eq!(arguments(&options), ["-T", "1000000000"]);
    }

    #[test]
    fn options_of_the_other_target_are_refused() {
        let refused = |words: &[&str]| match check(&options(words)) {
            Err(Failure::Message(message)) => message,
            other => panic!("{other:?}"),
        };
        assert!(refused(&["--events=e", "a"]).contains("needs --target=host"));
        assert!(refused(&["--target=host", "--events=e", "-c", "ls", "a"]).contains("use -x"));
        assert!(refused(&["--target=host", "--record=e", "a"]).contains("not with --target=host"));
    }
}
