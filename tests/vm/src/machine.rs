//! The test machine: an initial file system with busybox, xlate and the cases, and QEMU.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The guest's memory, in MiB.
const MEMORY: &str = "1024";

/// The kernel's command line. An oops or a processor that is stuck ends the machine, with a trace
/// on the console. On a busy host the emulated timer comes too late for the test of it at boot,
/// which ends in a panic: `no_timer_check` leaves it out. So it does for the clock that another one
/// watches, which fills the log: `tsc=nowatchdog`.
const COMMAND_LINE: &str =
    "console=ttyS0 quiet panic=-1 oops=panic softlockup_panic=1 no_timer_check tsc=nowatchdog";

/// A folder that becomes the guest's file system.
#[derive(Debug)]
pub struct FileSystem {
    root: PathBuf,
}

impl FileSystem {
    /// Makes what every boot needs: busybox, `init` as the first process, xlate, and programs made
    /// of C files.
    ///
    /// # Errors
    /// What could not be read, compiled or written.
    pub fn new(root: PathBuf, init: &Path, xlate: &Path, helpers: &[PathBuf]) -> io::Result<Self> {
        for folder in ["bin", "sbin", "proc", "sys", "dev", "tmp", "cases"] {
            fs::create_dir_all(root.join(folder))?;
        }
        let file_system = Self { root };
        file_system.add_busybox(Path::new("/bin/busybox"))?;
        file_system.add_program(xlate, "xlate")?;
        for helper in helpers {
            let name = helper.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            compile_helper(helper, &file_system.root.join("bin").join(name))?;
        }
        fs::copy(init, file_system.root.join("init"))?;
        Ok(file_system)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn add_busybox(&self, busybox: &Path) -> io::Result<()> {
        fs::copy(busybox, self.root.join("bin/busybox"))?;
        for applet in output_of(Command::new(busybox).arg("--list"))?.lines() {
            if applet != "busybox" {
                symlink("busybox", self.root.join("bin").join(applet))?;
            }
        }
        Ok(())
    }

    /// Adds a program and the libraries that it needs, at the places where it looks for them.
    fn add_program(&self, program: &Path, name: &str) -> io::Result<()> {
        fs::copy(program, self.root.join("bin").join(name))?;
        // A static program makes ldd fail, and needs nothing.
        let needed = output_of(Command::new("ldd").arg(program)).unwrap_or_default();
        let libraries: BTreeSet<&str> =
            needed.split_whitespace().filter(|word| word.starts_with('/')).collect();
        for library in libraries {
            let target = self.root.join(library.trim_start_matches('/'));
            fs::create_dir_all(target.parent().unwrap_or(&self.root))?;
            fs::copy(library, target)?;
        }
        Ok(())
    }

    /// Packs the folder as the kernel wants it.
    ///
    /// # Errors
    /// If the folder cannot be read or cpio fails.
    pub fn pack(&self, archive: &Path) -> io::Result<()> {
        let mut names = Vec::new();
        list_files(&self.root, Path::new(""), &mut names)?;
        let mut cpio = Command::new("cpio")
            .args(["--create", "--format=newc", "--owner=0:0", "--quiet", "--null"])
            .current_dir(&self.root)
            .stdin(Stdio::piped())
            .stdout(File::create(archive)?)
            .spawn()?;
        if let Some(mut stdin) = cpio.stdin.take() {
            for name in names {
                stdin.write_all(name.as_os_str().as_encoded_bytes())?;
                stdin.write_all(&[0])?;
            }
        }
        match cpio.wait()?.success() {
            true => Ok(()),
            false => Err(io::Error::other("cpio failed")),
        }
    }
}

/// All names below a folder, in order, folders before what is in them.
fn list_files(root: &Path, folder: &Path, names: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(root.join(folder))?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = folder.join(entry.file_name());
        let is_folder = entry.file_type()?.is_dir();
        names.push(name.clone());
        if is_folder {
            list_files(root, &name, names)?;
        }
    }
    Ok(())
}

fn compile_helper(source: &Path, program: &Path) -> io::Result<()> {
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-static", "-pthread", "-Wall", "-o"]).arg(program).arg(source);
    output_of(&mut gcc).map(|_| ())
}

fn output_of(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(io::Error::other(format!(
            "{command:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        ))),
    }
}

/// A running guest. It ends with this value.
#[derive(Debug)]
pub struct Guest {
    qemu: Child,
}

impl Guest {
    /// Boots a kernel, with these options of QEMU. The console goes to one file; what the guest
    /// writes to its second serial port, the report, goes to another.
    ///
    /// # Errors
    /// If QEMU cannot be started.
    pub fn boot(
        kernel: &Path,
        archive: &Path,
        console: &Path,
        report: &Path,
        options: &[&str],
    ) -> io::Result<Self> {
        let serial = |path: &Path| format!("file:{}", path.display());
        let qemu = Command::new("qemu-system-x86_64")
            .args(options)
            .args(["-m", MEMORY])
            .args(["-nodefaults", "-display", "none", "-no-reboot"])
            .args(["-append", COMMAND_LINE])
            .arg("-serial")
            .arg(serial(console))
            .arg("-serial")
            .arg(serial(report))
            .arg("-kernel")
            .arg(kernel)
            .arg("-initrd")
            .arg(archive)
            .stdin(Stdio::null())
            .spawn()?;
        Ok(Self { qemu })
    }

    /// Whether the machine is off.
    pub fn is_off(&mut self) -> bool {
        !matches!(self.qemu.try_wait(), Ok(None))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // It may be off already.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}
