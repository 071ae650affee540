//! Pass 4: from C to a kernel module, by the kernel's own build system.
//!
//! The module is built in a temporary folder and copied into the cache when it is finished, so
//! that an interruption, a full disk or a compiler error leaves nothing behind.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use xlate_symbols::Kernel;

use crate::built::{Built, Wanted};
use crate::key::Key;
use crate::{Cache, Error, Interrupts};

/// The headers that emitted modules include: name and contents, sorted by name.
pub(crate) static RUNTIME_HEADERS: &[(&str, &str)] =
    include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// The folder of the headers inside the build folder.
const RUNTIME_FOLDER: &str = "runtime";

/// The longest module name that leaves room for a renaming loader.
const NAME_MAX: usize = 55;

/// How long make may take to end when asked to, before it is made to.
const STOP_PATIENCE: Timespec = Timespec { tv_sec: 3, tv_nsec: 0 };

/// How many lines of kbuild's output an error shows.
const MESSAGE_LINES_MAX: usize = 40;

/// What to build, for which kernel, and how.
#[derive(Clone, Copy, Debug)]
pub struct BuildRequest<'a> {
    /// The kernel that the module is for.
    pub kernel: &'a Kernel,
    /// The C source. It includes the runtime's headers by their plain names.
    pub source: &'a str,
    /// The module's name, if it is not to be made up from the contents.
    pub name: Option<&'a str>,
    /// Variables for make, each `NAME=VALUE`.
    pub make_variables: &'a [String],
    /// Where to look for the module first, and to put it afterwards.
    pub cache: Option<&'a Cache>,
    /// Whether the temporary folder stays. The module then has debug information, too.
    pub keep: bool,
    /// What stops the work.
    pub interrupts: &'a Interrupts,
}

/// Builds a module, or finds it in the cache.
///
/// # Errors
/// [`Error::Kernel`] without headers, [`Error::Kbuild`] if it does not compile, [`Error::NoSpace`],
/// [`Error::Interrupted`], [`Error::Tool`] without make, and errors of files. A cache that cannot
/// take the module is not an error but noted in the result.
pub fn build(request: &BuildRequest<'_>) -> Result<Built, Error> {
    check_make_variables(request.make_variables)?;
    let tree = request.kernel.build_dir()?;
    let key = key(request, &tree);
    let (name, entry) = match request.name {
        Some(name) => (checked_name(name)?, format!("{key}.ko")),
        // Long enough to be renamed while loading and still be unique. The file has the module's
        // name, because staprun takes one for the other.
        None => (format!("xlate_{key}"), format!("xlate_{key}.ko")),
    };
    let wanted = Wanted { name, entry, cache: request.cache, keep: request.keep };
    wanted.find_or(|folder, name| {
        write_sources(folder, name, request)?;
        let log = compile(&tree, folder, request)?;
        Ok((folder.join(format!("{name}.ko")), log))
    })
}

/// The key of what a request asks for.
fn key(request: &BuildRequest<'_>, tree: &Path) -> String {
    let mut key = Key::new();
    key.add(env!("CARGO_PKG_VERSION"));
    key.add(request.source);
    key.add(kbuild_rules("NAME", request.keep));
    for (name, contents) in RUNTIME_HEADERS {
        key.add(name);
        key.add(contents);
    }
    key.add(request.name.unwrap_or_default());
    key.add_kernel(request.kernel, tree, request.make_variables);
    key.finish()
}

/// The Makefile of a module.
fn kbuild_rules(name: &str, debug_information: bool) -> String {
    // A fifth of the compiler's time and two thirds of the file: only for those who look at it.
    let debug = if debug_information { "" } else { " -g0" };
    format!(
        "obj-m := {name}.o\n\
         ccflags-y := -I$(src)/{RUNTIME_FOLDER}{debug}\n\
         # Handlers must not begin with a call to the function tracer.\n\
         ccflags-remove-y += $(CC_FLAGS_FTRACE)\n"
    )
}

/// Makes sure that the kernel, and a loader that renames, can live with a user's module name.
fn checked_name(name: &str) -> Result<String, Error> {
    let bad = |rule| Err(Error::ModuleName { name: name.to_owned(), rule });
    if name.is_empty() || name.len() > NAME_MAX {
        return bad("it must have 1 to 55 characters");
    }
    if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    {
        return bad("it must consist of a-z, 0-9 and _");
    }
    Ok(name.to_owned())
}

/// Keeps what is not a variable away from make, for which it would be an option or a target.
fn check_make_variables(variables: &[String]) -> Result<(), Error> {
    // Kbuild has names such as `CFLAGS_fs/file.o`; `+=` adds to a variable.
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let sets_variable = |text: &String| {
        text.split_once('=').is_some_and(|(name, _)| {
            let name = name.strip_suffix('+').unwrap_or(name);
            !name.is_empty() && !name.starts_with('-') && name.chars().all(is_of_name)
        })
    };
    match variables.iter().find(|variable| !sets_variable(variable)) {
        Some(argument) => Err(Error::MakeVariable { argument: argument.clone() }),
        None => Ok(()),
    }
}

/// Fills the build folder.
fn write_sources(folder: &Path, name: &str, request: &BuildRequest<'_>) -> Result<(), Error> {
    let write = |path: PathBuf, contents: &str| {
        fs::write(&path, contents).map_err(|error| Error::io("cannot write", &path, error))
    };
    let runtime = folder.join(RUNTIME_FOLDER);
    fs::create_dir(&runtime).map_err(|error| Error::io("cannot make folder", &runtime, error))?;
    for (header, contents) in RUNTIME_HEADERS {
        write(runtime.join(header), contents)?;
    }
    write(folder.join("Makefile"), &kbuild_rules(name, request.keep))?;
    write(folder.join(format!("{name}.c")), request.source)
}

/// Runs kbuild and returns what it printed.
fn compile(tree: &Path, folder: &Path, request: &BuildRequest<'_>) -> Result<String, Error> {
    let log_path = folder.join("kbuild.log");
    let io_error = |error| Error::io("cannot write", &log_path, error);
    let log_file = File::create(&log_path).map_err(io_error)?;
    let log_copy = log_file.try_clone().map_err(io_error)?;
    let mut module_folder = std::ffi::OsString::from("M=");
    module_folder.push(folder);
    let mut make = Command::new("make");
    make.arg("--no-print-directory").arg("-C").arg(tree).arg(module_folder).arg("modules");
    // Type information could only be made from debug information.
    make.arg("CONFIG_DEBUG_INFO_BTF_MODULES=");
    make.args(request.make_variables);
    make.stdin(Stdio::null()).stdout(log_file).stderr(log_copy);
    keep_environment_out(&mut make);
    // What a compiler that is killed leaves behind goes with the build folder.
    make.env("TMPDIR", folder);
    // A group of its own: an interruption has to end the compiler, too.
    make.process_group(0);
    let child = make.spawn().map_err(|source| Error::Tool { tool: "make".to_owned(), source })?;
    let status = wait(child, "make", request.interrupts)?;
    let log = fs::read(&log_path).map_err(|error| Error::io("cannot read", &log_path, error))?;
    let log = String::from_utf8_lossy(&log).into_owned();
    if status.success() {
        return Ok(log);
    }
    if log.contains("No space left on device") || is_full(folder) {
        return Err(Error::NoSpace { path: folder.to_owned() });
    }
    let kept = request.keep.then(|| folder.to_owned());
    Err(Error::Kbuild { messages: messages(&log, folder), kept })
}

/// Variables of the environment (ARCH, CC, MAKEFLAGS, W, …) would change the result without being
/// part of the key; only those go through that programs need in order to run at all.
pub(crate) fn keep_environment_out(make: &mut Command) {
    make.env_clear().env("LC_ALL", "C");
    for name in ["PATH", "HOME", "LD_LIBRARY_PATH"] {
        if let Some(value) = std::env::var_os(name) {
            make.env(name, value);
        }
    }
}

/// Waits for the end of a tool, or ends it when the user interrupts.
pub(crate) fn wait(
    mut child: Child,
    tool: &str,
    interrupts: &Interrupts,
) -> Result<ExitStatus, Error> {
    let tool_error = |source| Error::Tool { tool: tool.to_owned(), source };
    let pid = Pid::from_child(&child);
    let ended = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| tool_error(error.into()))?;
    loop {
        let mut fds = [PollFd::new(&ended, PollFlags::IN), PollFd::new(interrupts, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(tool_error(error.into())),
        }
        if interrupts.take() > 0 {
            stop(&mut child, pid, &ended);
            return Err(Error::Interrupted);
        }
        if let Some(status) = child.try_wait().map_err(tool_error)? {
            return Ok(status);
        }
    }
}

/// Ends make and all that it started. Asked to, make waits for its compilers, so that none of them
/// writes into a folder that is being removed.
fn stop(child: &mut Child, pid: Pid, ended: &OwnedFd) {
    for signal in [Signal::TERM, Signal::KILL] {
        // The group may be gone already.
        let _ = kill_process_group(pid, signal);
        let mut fds = [PollFd::new(ended, PollFlags::IN)];
        if poll(&mut fds, Some(&STOP_PATIENCE)).is_ok_and(|ready| ready > 0) {
            break;
        }
    }
    let _ = child.wait();
}

/// Whether nothing more can be written to a folder: compilers do not always say why they fail.
pub(crate) fn is_full(folder: &Path) -> bool {
    let write = || -> io::Result<()> {
        let mut file = tempfile::tempfile_in(folder)?;
        file.write_all(&[0; 65536])
    };
    write().is_err_and(|error| error.kind() == io::ErrorKind::StorageFull)
}

/// The part of a build's output that says what is wrong, without the temporary folder's name.
pub(crate) fn messages(log: &str, folder: &Path) -> String {
    let folder = format!("{}/", folder.display());
    let lines: Vec<&str> = log.lines().collect();
    let is_error = |line: &&str| {
        line.contains("error:") || line.contains("ERROR:") || line.contains("not found")
    };
    let first = lines.iter().position(is_error);
    let shown = match first {
        Some(first) => lines[first..].iter().take(MESSAGE_LINES_MAX),
        None => lines[lines.len().saturating_sub(MESSAGE_LINES_MAX)..].iter().take(lines.len()),
    };
    let shown: Vec<String> = shown.map(|line| line.replace(&folder, "")).collect();
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_names() {
        assert_eq!(checked_name("ok_1").expect("good"), "ok_1");
        let long = "x".repeat(NAME_MAX + 1);
        for (name, rule) in [
            ("", "1 to 55 characters"),
            (long.as_str(), "1 to 55 characters"),
            ("a-b", "a-z, 0-9 and _"),
            ("../a", "a-z, 0-9 and _"),
        ] {
            let message = checked_name(name).expect_err("bad").to_string();
            assert!(message.contains(rule), "{message}");
        }
    }

    #[test]
    fn make_variables() {
        let check = |text: &str| check_make_variables(&[text.to_owned()]);
        assert!(check("CC=clang").is_ok());
        assert!(check("EMPTY=").is_ok());
        assert!(check("KCFLAGS+=-DA -DB=1").is_ok());
        assert!(check("CFLAGS_fs/file.o=-Os").is_ok());
        for bad in ["clean", "-j4", "--eval=x", "=x", "", "a b=c", " =x", "+=x", "$(shell x)=1"] {
            let message = check(bad).expect_err("bad").to_string();
            assert!(message.contains("write -B NAME=VALUE"), "{message}");
        }
    }

    #[test]
    fn messages_begin_at_the_first_error() {
        let log =
            "  CC [M]  /tmp/xlate-1/a.o\n/tmp/xlate-1/a.c:3:1: error: unknown type\nmake: ***\n";
        assert_eq!(
            messages(log, Path::new("/tmp/xlate-1")),
            "a.c:3:1: error: unknown type\nmake: ***"
        );
        assert_eq!(messages("one\ntwo\n", Path::new("/tmp/x")), "one\ntwo");
    }

    #[test]
    fn headers_are_embedded_in_order() {
        let names: Vec<&str> = RUNTIME_HEADERS.iter().map(|(name, _)| *name).collect();
        assert!(names.is_sorted() && !names.is_empty(), "{names:?}");
    }
}
