//! What locks and arrays of the runtime promise, each shown by a host program in `primitives/` that
//! uses them as emitted C does, and ends with a complaint where they do not keep it.

#[path = "common/host.rs"]
mod host;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use host::build;

/// What a program takes at the most; on a quiet machine it is through in less than a second.
const LONGEST: Duration = Duration::from_secs(25);

const ADDRESS: &str = "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all";
const FAST: &str = "-O2";
const THREAD: &str = "-O1 -fsanitize=thread";

/// Events at which CPUs 0 and 1 meet, one for each step of `locks.c`, and one of a third CPU.
fn events(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("primitives-{test}.events"));
    let mut text = String::from("0 kernel.trace(\"sys_enter\") 2 1 1 third\n");
    for time in ["0.00", "0.01", "0.02", "0.03"] {
        for cpu in 0..2 {
            text += &format!("{time} kernel.trace(\"sys_enter\") {cpu} 1 1 meets\n");
        }
    }
    fs::write(&path, text).expect("written");
    path
}

/// Builds a program and runs it: exit status, if it ended in time, and what it said.
fn run(name: &str, flags: &str, events: &Path) -> (Option<i32>, String) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/primitives").join(name);
    let program = build(&fs::read_to_string(source).expect("readable"), flags);
    let mut child = Command::new(&program.path)
        .arg("--events")
        .arg(events)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > LONGEST {
            child.kill().expect("a child");
            break;
        }
        sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("a child");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

/// Runs a program that must end in time, with success and without a word.
fn passes(name: &str, flags: &str, events: &Path) {
    assert_eq!(run(name, flags, events), (Some(0), String::new()), "{name} with {flags}");
}

#[test]
fn locks_keep_out_whom_they_must_and_no_longer_than_they_may() {
    let events = events("locks");
    for flags in [FAST, THREAD] {
        passes("locks.c", flags, &events);
    }
}

#[test]
fn arrays_do_what_a_plain_model_of_them_does() {
    let events = events("arrays");
    for flags in [FAST, ADDRESS] {
        passes("arrays.c", flags, &events);
    }
}

#[test]
fn a_session_ends_although_a_handler_does_not() {
    let (status, said) = run("stuck.c", FAST, &events("stuck"));
    assert_eq!(status, Some(1), "{said}");
    for cpu in 0..3 {
        let error = format!("ERROR: a handler on CPU {cpu} has not come to its end\n");
        assert!(said.contains(&error), "{said}");
    }
    assert!(said.starts_with("failed\n"), "{said}");
}
