//! `^C` while kbuild runs. A process of its own, since the signal reaches all of it.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};
use xlate_run::{BuildRequest, Cache, Error, Interrupts, build};
use xlate_symbols::{Kernel, KernelSpec};

/// A kernel whose headers are installed.
fn kernel() -> Option<Kernel> {
    let mut releases: Vec<PathBuf> =
        fs::read_dir("/lib/modules").ok()?.flatten().map(|entry| entry.path()).collect();
    releases.sort();
    let release = releases.iter().find(|path| path.join("build/Makefile").exists())?;
    let name = release.file_name()?.to_str()?.to_owned();
    Some(Kernel::open(&KernelSpec::Release(name)).expect("installed"))
}

#[test]
fn an_interruption_ends_the_compiler_and_leaves_nothing() {
    let Some(kernel) = kernel() else { return };
    let folder = tempfile::tempdir().expect("temporary folder");
    let cache = Cache::open_at(folder.path().join("cache")).expect("made");
    let interrupts = Interrupts::catch().expect("caught");
    // The compiler takes its time, if it is let.
    let source = "#include <linux/module.h>\n#include \"/dev/zero\"\n";
    let begun = Instant::now();
    thread::spawn(|| {
        thread::sleep(Duration::from_millis(700));
        kill_process(getpid(), Signal::INT).expect("sent");
    });
    let request = BuildRequest {
        kernel: &kernel,
        source,
        name: Some("interrupted"),
        make_variables: &[],
        cache: Some(&cache),
        keep: false,
        interrupts: &interrupts,
    };
    let error = build(&request).expect_err("interrupted");
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(fs::read_dir(folder.path().join("cache/modules")).expect("listed").count(), 0);

    // Neither a build folder nor a process of this build is left.
    let folders = fs::read_dir(std::env::temp_dir()).expect("listed").flatten();
    for left in folders.filter(|e| e.file_name().to_string_lossy().starts_with("xlate-")) {
        assert!(!left.path().join("interrupted.c").exists(), "{}", left.path().display());
    }
    let processes = fs::read_dir("/proc").expect("listed").flatten();
    for process in processes {
        let command = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        assert!(!command.contains("interrupted.c"), "{command}");
    }
}
