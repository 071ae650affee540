//! What stops `xlate` from outside, a full disk or `^C`, leaves a message and nothing half-made.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A release that is installed with headers.
fn release_with_headers() -> Option<String> {
    let entries = fs::read_dir("/lib/modules").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.path().join("build/Makefile").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .min()
}

/// A temporary folder and a cache of its own for each test.
struct Folders {
    base: tempfile::TempDir,
}

impl Folders {
    fn new() -> Self {
        let base = tempfile::tempdir().expect("temporary folder");
        for name in ["tmp", "cache"] {
            fs::create_dir(base.path().join(name)).expect("made");
        }
        Self { base }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    fn xlate(&self, words: &[&str]) -> Command {
        // A shell starts what goes on behind it with interruptions ignored, and that is inherited.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_xlate")]);
        command.args(words).env("TMPDIR", self.path("tmp"));
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Fails if a build folder or a cached module is there.
    fn assert_empty(&self) {
        let left = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten().count();
        assert_eq!(left(self.path("tmp")), 0, "a build folder is left behind");
        assert_eq!(left(self.path("cache/xlate/modules")), 0, "half a module is in the cache");
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Sends a signal, as `kill` does.
fn kill(child: &Child, signal: &str) {
    let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
}

/// Waits until something is in a folder.
fn wait_for_entry(folder: &Path) {
    let begun = Instant::now();
    while fs::read_dir(folder).expect("listed").next().is_none() {
        assert!(begun.elapsed() < PATIENCE, "nothing came to {}", folder.display());
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_interruption_of_pass_4_leaves_nothing() {
    let Some(release) = release_with_headers() else { return };
    for signal in ["INT", "TERM"] {
        let folders = Folders::new();
        let mut command = folders.xlate(&["-p4", "-r", &release, "-e", "probe begin { exit() }"]);
        let child = command.spawn().expect("started");
        wait_for_entry(&folders.path("tmp"));
        sleep(Duration::from_millis(200));
        kill(&child, signal);
        let output = child.wait_with_output().expect("ended");
        assert_eq!(output.status.code(), Some(130), "{signal}: {}", stderr(&output));
        assert_eq!(stderr(&output), "error: interrupted\n", "{signal}");
        assert!(output.stdout.is_empty());
        folders.assert_empty();
    }
}

#[test]
fn an_interruption_of_pass_1_ends_the_program() {
    let folders = Folders::new();
    // The script never comes.
    let mut command = folders.xlate(&["-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("started");
    sleep(Duration::from_millis(300));
    let stdin = child.stdin.take();
    kill(&child, "INT");
    let output = child.wait_with_output().expect("ended");
    drop(stdin);
    assert_eq!(output.status.signal(), Some(2), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
    folders.assert_empty();
}

/// A script that passes 2 and 3 take a while for, and no two parts of which are equal.
fn long_script() -> String {
    let part = |n: usize| {
        format!(
            "global g{n}\nfunction f{n}(x) {{ if (x > {n}) g{n} += x; return g{n} * {n} }}\n\
             probe timer.ms({}) {{ for (i = 0; i < 9; i++) printf(\"%d\\n\", f{n}(i)) }}\n",
            n + 1
        )
    };
    (0..1500).map(part).collect()
}

#[test]
fn an_interruption_of_passes_2_and_3_ends_the_program() {
    for pass in 1..=2 {
        let folders = Folders::new();
        let script = folders.base.path().join("long.stp");
        fs::write(&script, long_script()).expect("written");
        let mut command = folders.xlate(&["-v", "--emit-c"]);
        let mut child = command.arg(&script).spawn().expect("started");
        // The line that says that a pass is over: the next one runs.
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let over = format!("Pass {pass}: ");
        let line = lines.find(|line| line.as_ref().is_ok_and(|line| line.starts_with(&over)));
        kill(&child, "INT");
        let output = child.wait_with_output().expect("ended");
        assert!(line.is_some(), "pass {pass} never ended");
        assert_eq!(output.status.signal(), Some(2), "after pass {pass}");
        assert!(output.stdout.is_empty());
        folders.assert_empty();
    }
}

#[test]
fn a_full_disk_is_named() {
    let Some(release) = release_with_headers() else { return };
    let folders = Folders::new();
    let disk = folders.path("tmp");
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=200k,mode=700", "none"]).arg(&disk);
    if !mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        // Only root may.
        return;
    }
    let mut command = folders.xlate(&["-p4", "-r", &release, "-e", "probe begin { exit() }"]);
    let output = command.output().expect("runs");
    let left = fs::read_dir(&disk).expect("listed").count();
    let unmounted = Command::new("umount").arg(&disk).status();
    assert!(unmounted.expect("umount runs").success());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let expected = format!("error: no space left on the file system of {}/", disk.display());
    assert!(stderr(&output).starts_with(&expected), "{}", stderr(&output));
    assert_eq!(left, 0, "a build folder is left behind");
    folders.assert_empty();
}

#[test]
fn a_missing_temporary_folder_is_named() {
    let Some(release) = release_with_headers() else { return };
    let folders = Folders::new();
    fs::remove_dir(folders.path("tmp")).expect("removed");
    let mut command = folders.xlate(&["-p4", "-r", &release, "-e", "probe begin { exit() }"]);
    let output = command.output().expect("runs");
    let tmp = folders.path("tmp").display().to_string();
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("error: cannot make a folder in {tmp}: No such file or directory\n");
    assert_eq!(stderr(&output), expected);
}
