//! Passes 4 and 5 for the host: from C to an ordinary program, by the system's C compiler.
//!
//! The C is that of a module. `runtime/host` has the kernel's headers for an ordinary program, so
//! `runtime/linux` is compiled as it is. The program is its own loader and needs nothing of this
//! crate while it runs.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::FdFlags;

use crate::built::{Built, Wanted};
use crate::kbuild::{RUNTIME_HEADERS, is_full, keep_environment_out, messages, wait};
use crate::key::{Key, in_path};
use crate::{Cache, Error, Interrupts};

/// The headers of `runtime/host`: path and contents, sorted by path.
static HOST_HEADERS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/host_headers.rs"));

/// How the C is compiled. As in the kernel, integers wrap and types may alias, and a variable of
/// each CPU is at a constant distance from the CPU's base: where code may lie anywhere, each access
/// has to add up three parts, and the processor forwards what it has just stored there less well.
/// Quoted headers are the runtime's, whose names may be those of the C library's.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O2",
    "-Wall",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-fno-pie",
    "-no-pie",
    "-D_GNU_SOURCE",
    "-pthread",
    "-iquote",
    "host",
    "-iquote",
    "linux",
    "-Ihost/include",
];

/// What the program sees as its own name, and so a script's `begin` probe as `execname()`: that
/// of the loader of a module.
const PROGRAM: &str = "xlate";

/// What to build, and how.
#[derive(Clone, Copy, Debug)]
pub struct HostRequest<'a> {
    /// The C source, as for a module.
    pub source: &'a str,
    /// The name that the script sees as its module's, if it is not to be made up from the contents.
    pub name: Option<&'a str>,
    /// `CC=…` and `CFLAGS=…`: the compiler, and options that come after the usual ones.
    pub variables: &'a [String],
    /// Where to look for the program first, and to put it afterwards.
    pub cache: Option<&'a Cache>,
    /// Whether the temporary folder stays.
    pub keep: bool,
    /// What stops the work.
    pub interrupts: &'a Interrupts,
}

/// The compiler and the options that the user adds.
struct Compiler<'a> {
    command: &'a str,
    flags: Vec<&'a str>,
}

impl<'a> Compiler<'a> {
    fn of(variables: &'a [String]) -> Result<Self, Error> {
        let mut compiler = Compiler { command: "cc", flags: Vec::new() };
        for variable in variables {
            match variable.split_once('=') {
                Some(("CC", command)) if !command.is_empty() => compiler.command = command,
                Some(("CFLAGS", flags)) => compiler.flags.extend(flags.split_whitespace()),
                _ => return Err(Error::HostVariable { argument: variable.clone() }),
            }
        }
        Ok(compiler)
    }
}

/// Builds a program, or finds it in the cache.
///
/// # Errors
/// [`Error::Compiler`] if it does not compile, [`Error::HostVariable`], [`Error::NoSpace`],
/// [`Error::Interrupted`], [`Error::Tool`] without a compiler, and errors of files. A cache that
/// cannot take the program is not an error but noted in the result.
pub fn build_host(request: &HostRequest<'_>) -> Result<Built, Error> {
    let compiler = Compiler::of(request.variables)?;
    let entry = format!("xlate_{}", key(request, &compiler));
    let name = request.name.map_or_else(|| entry.clone(), str::to_owned);
    let wanted = Wanted { name, entry, cache: request.cache, keep: request.keep };
    wanted.find_or(|folder, name| {
        write_sources(folder, request.source)?;
        let log = compile(folder, name, &compiler, request)?;
        Ok((folder.join("program"), log))
    })
}

fn key(request: &HostRequest<'_>, compiler: &Compiler<'_>) -> String {
    let mut key = Key::new();
    key.add(env!("CARGO_PKG_VERSION"));
    key.add(request.source);
    key.add(request.name.unwrap_or_default());
    for (name, contents) in RUNTIME_HEADERS.iter().chain(HOST_HEADERS) {
        key.add(name);
        key.add(contents);
    }
    for flag in FLAGS.iter().chain(&compiler.flags) {
        key.add(flag);
    }
    key.add(compiler.command);
    if let Some(file) = in_path(compiler.command) {
        key.add_file(&file);
    }
    key.finish()
}

fn write_sources(folder: &Path, source: &str) -> Result<(), Error> {
    let write = |path: PathBuf, contents: &str| {
        let make = path.parent().map_or(Ok(()), fs::create_dir_all);
        make.and_then(|()| fs::write(&path, contents))
            .map_err(|error| Error::io("cannot write", &path, error))
    };
    for (header, contents) in RUNTIME_HEADERS {
        write(folder.join("linux").join(header), contents)?;
    }
    for (header, contents) in HOST_HEADERS {
        write(folder.join("host").join(header), contents)?;
    }
    write(folder.join("program.c"), source)
}

/// Runs the compiler and returns what it printed.
fn compile(
    folder: &Path,
    name: &str,
    compiler: &Compiler<'_>,
    request: &HostRequest<'_>,
) -> Result<String, Error> {
    let log_path = folder.join("compiler.log");
    let io_error = |error| Error::io("cannot write", &log_path, error);
    let log_file = File::create(&log_path).map_err(io_error)?;
    let log_copy = log_file.try_clone().map_err(io_error)?;
    let mut command = Command::new(compiler.command);
    command.current_dir(folder).args(FLAGS).arg(format!("-DXL_PROGRAM_NAME=\"{name}\""));
    command.args(&compiler.flags).args(["program.c", "-o", "program"]);
    command.stdin(Stdio::null()).stdout(log_file).stderr(log_copy);
    keep_environment_out(&mut command);
    command.env("TMPDIR", folder);
    command.process_group(0);
    let tool_error = |source| Error::Tool { tool: compiler.command.to_owned(), source };
    let child = command.spawn().map_err(tool_error)?;
    let status = wait(child, compiler.command, request.interrupts)?;
    let log = fs::read(&log_path).map_err(|error| Error::io("cannot read", &log_path, error))?;
    let log = String::from_utf8_lossy(&log).into_owned();
    if status.success() {
        return Ok(log);
    }
    if log.contains("No space left on device") || is_full(folder) {
        return Err(Error::NoSpace { path: folder.to_owned() });
    }
    let kept = request.keep.then(|| folder.to_owned());
    Err(Error::Compiler { messages: messages(&log, folder), kept })
}

/// Becomes the program. Returns only if that fails.
pub fn exec_host(program: Built, arguments: &[OsString]) -> Error {
    let path = program.path.clone();
    let error = |source| Error::io("cannot run", &path, source);
    // What is not in the cache goes now, and the open file is all that is left of it.
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(source) => return error(source),
    };
    let file_path: OsString = match program.is_temporary() {
        false => path.clone().into(),
        true => match rustix::io::fcntl_setfd(&file, FdFlags::empty()) {
            Ok(()) => format!("/proc/self/fd/{}", file.as_raw_fd()).into(),
            Err(errno) => return error(errno.into()),
        },
    };
    drop(program);
    error(exec(&file_path, arguments))
}

fn exec(file: &OsStr, arguments: &[OsString]) -> std::io::Error {
    Command::new(file).arg0(PROGRAM).args(arguments).exec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_choose_the_compiler() {
        let variables = ["CC=clang".to_owned(), "CFLAGS=-g -O1".to_owned()];
        let compiler = Compiler::of(&variables).expect("good");
        assert_eq!((compiler.command, &*compiler.flags), ("clang", &["-g", "-O1"][..]));
        for bad in ["W=1", "CC=", "clean"] {
            let message = Compiler::of(&[bad.to_owned()]).err().expect("bad").to_string();
            assert!(message.contains("CC=") && message.contains("CFLAGS="), "{message}");
        }
    }

    #[test]
    fn headers_are_embedded_with_their_folders() {
        let has = |name| HOST_HEADERS.iter().any(|(path, _)| *path == name);
        assert!(has("module.h") && has("include/linux/atomic.h") && has("include/asm/ptrace.h"));
        assert!(HOST_HEADERS.is_sorted());
    }
}
