//! Scripts as ordinary programs: `--target=host`.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xlate"));
    command.arg("--target=host").args(words).stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Runs a script: exit status, standard output, standard error.
fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command(words).output().expect("xlate runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// Runs a script that has nothing to complain of.
fn output(words: &[&str]) -> String {
    let (status, stdout, stderr) = run(words);
    assert_eq!((status, &*stderr), (Some(0), ""), "{words:?}");
    stdout
}

/// An event file.
fn events(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.events"));
    fs::write(&path, text).expect("written");
    path
}

fn with_events(name: &str, text: &str, words: &[&str]) -> (Option<i32>, String, String) {
    let path = events(name, text);
    run(&[&["--events", path.to_str().expect("UTF-8")], words].concat())
}

#[test]
fn a_script_begins_and_ends() {
    let script = "probe begin { println(\"hi \", execname(), target()) exit() }\n\
                  probe end { println(\"bye\") }";
    assert_eq!(output(&["-x", "7", "-e", script]), "hi xlate7\nbye\n");
}

#[test]
fn errors_and_warnings_are_told() {
    let script = "probe begin { warn(\"w\") error(\"e\") }\nprobe error { println(\"failed\") }\n\
                  probe end { println(\"not this\") }";
    let (status, stdout, stderr) = run(&["-e", script]);
    assert_eq!((status, &*stdout), (Some(1), "failed\n"));
    let lines: Vec<_> = stderr.lines().collect();
    assert_eq!(lines[..2], ["WARNING: w", "ERROR: e at <command line>:1:25"]);
    assert_eq!(run(&["-w", "-e", script]).2, "ERROR: e at <command line>:1:25\n");
}

#[test]
fn timers_go_by_the_clock() {
    let script = "global n probe timer.ms(20) { if (++n == 5) exit() }\n\
                  probe timer.jiffies(1000) { println(\"never\") } probe end { println(n) }";
    let begun = Instant::now();
    assert_eq!(output(&["-e", script]), "5\n");
    assert!(begun.elapsed() >= Duration::from_millis(100));
    assert_eq!(output(&["-T", "1", "-e", "probe timer.s(3) { println(1) } probe end {}"]), "");
}

/// Whatever families the points of a list are of.
#[test]
fn a_handler_tells_its_points_apart() {
    let script = "global seen probe timer.profile, timer.profile.tick ?, timer.ms(5), \
                  timer.jiffies(2) { seen[pp()] = 1 }\n\
                  probe timer.ms(20) { n = 0 foreach (point in seen) n++ if (n == 4) exit() }\n\
                  probe end { foreach (point+ in seen) print(point, \" \") }";
    let expected = "timer.jiffies(2) timer.ms(5) timer.profile timer.profile.tick ";
    assert_eq!(output(&["-e", script]), expected);
}

#[test]
fn an_interruption_runs_the_end_probes() {
    let mut child = command(&["-e", "probe begin { println(1) } probe end { println(2) }"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("xlate runs");
    let mut stdout = child.stdout.take().expect("piped");
    let mut byte = [0];
    stdout.read_exact(&mut byte).expect("output");
    sleep(Duration::from_millis(20));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("kill runs").success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("output");
    assert_eq!(rest, "\n2\n");
    assert_eq!(child.wait().expect("ended").code(), Some(0));
}

#[test]
fn a_command_is_the_target() {
    let script = "probe timer.ms(1) { if (target()) ticks++ } global ticks\n\
                  probe end { println(ticks > 0) }";
    assert_eq!(output(&["-c", "sleep 0.1; echo hello", "-e", script]), "hello\n1\n");
    let (status, _, stderr) = run(&["-c", "exit 3", "-e", "probe end {}"]);
    assert_eq!((status, &*stderr), (Some(1), "xlate: the command failed: exit status: 3\n"));
}

const PRINT_HIT: &str = "\
    probe kprobe.function(\"vfs_read\"), kprobe.function(\"vfs_read\").return {\n\
      printf(\"%s %d %d %d %d %s/%s %d %s\\n\", pp(), cpu(), pid(), tid(), uid(), execname(),\n\
             pexecname(), ktime_get_ns(), probefunc())\n\
    }\n\
    probe timer.ms(1500) { println(\"timer \", ktime_get_ns(), \" \", gettimeofday_s()) }\n\
    probe end { println(\"end \", ktime_get_ns()) }";

#[test]
fn events_fire_probes_at_their_time() {
    let text = "\
        # A comment, and what is not probed.\n\
        start 1000\n\
        0.5 kernel.function(\"g\") 0 1 1 x\n\
        1.000000001 kprobe.function(\"vfs_read\") 2 11 12 \"a b\" uid=5 pexecname=\"p \\\"q\\\"\" $n=3 # end\n\
        \n\
        1.6 kernel.function(\"vfs_read\").return 1 21 22 sixteen-bytes-or-so\n";
    let expected = "\
        kprobe.function(\"vfs_read\") 2 11 12 5 a b/p \"q\" 1000000001 vfs_read\n\
        timer 1500000000 1001\n\
        kprobe.function(\"vfs_read\").return 1 21 22 0 sixteen-bytes-o/ 1600000000 \n\
        end 1600000000\n";
    for words in [&["-e", PRINT_HIT][..], &["--serial", "-e", PRINT_HIT]] {
        let ran = with_events("fire", text, words);
        assert_eq!(ran, (Some(0), expected.to_owned(), String::new()));
    }
    let (_, stdout, _) = with_events("fire", text, &["-T", "1", "-e", PRINT_HIT]);
    assert_eq!(stdout, "end 1000000000\n");
}

/// A line as a recording of a live run has it, with names that need escapes.
#[test]
fn recorded_events_can_be_fired() {
    let text = "start 1796066725.851166210\n\
        0.008953490 kprobe.function(\"vfs_read\") 0 107 108 \"a \\\"b\\\" \\303\\244\\\\\" uid=1 gid=2 \
        ppid=105 pexecname=\"x\\tlate\"\n";
    let script = "probe kprobe.function(\"vfs_read\") {\n\
        printf(\"%s %s %d %d %d %d\\n\", execname(), pexecname(), uid(), egid(), ppid(),\n\
               gettimeofday_ns()) }";
    let ran = with_events("recorded", text, &["-e", script]);
    let expected = "a \"b\" \u{e4}\\ x\tlate 1 2 105 1796066725860119700\n";
    assert_eq!(ran, (Some(0), expected.to_owned(), String::new()));
}

#[test]
fn the_script_may_end_before_the_events() {
    let text = "1 kernel.function(\"vfs_read\") 0 1 1 x\n2 kernel.function(\"vfs_read\") 1 1 1 x\n\
                3 kernel.function(\"vfs_read\") 0 1 1 x\n";
    let script = "global n probe kprobe.function(\"vfs_read\") { if (++n == 2) exit() }\n\
                  probe end { println(n, \" \", ktime_get_ns()) }";
    let ran = with_events("exit", text, &["-e", script]);
    assert_eq!(ran, (Some(0), "2 2000000000\n".to_owned(), String::new()));
}

#[test]
fn malformed_events_are_told_with_their_line() {
    let cases = [
        ("x", "`x` is no time"),
        ("1.0000000001 kernel.trace(\"t\") 0 1 1 x", "is no time"),
        ("1", "the probe point is missing"),
        ("1 timer.s(1) 0 1 1 x", "is no probe point that an event can hit"),
        ("1 kernel.trace(\"t\").return 0 1 1 x", "is no probe point that an event can hit"),
        ("1 kprobe.module(\"m\") 0 1 1 x", "is no probe point that an event can hit"),
        ("1 kernel.trace(\"t\") 256 1 1 x", "`256` is no CPU: write a number from 0 to 255"),
        ("1 kernel.trace(\"t\") 0 -1 1 x", "`-1` is no process number"),
        ("1 kernel.trace(\"t\") 0 1", "thread number is missing"),
        ("1 kernel.trace(\"t\") 0 1 1", "the program's name is missing"),
        ("1 kernel.trace(\"t\") 0 1 1 a b", "`b` is no NAME=VALUE"),
        ("1 kernel.trace(\"t\") 0 1 1 a home=/", "`home` is not known: write uid,"),
        ("1 kernel.trace(\"t\") 0 1 1 \"a", "a quote is not closed"),
        ("0.5 kernel.trace(\"t\") 0 1 1 a", "the event is earlier than the one before"),
        ("start 5", "may stand once, before all events"),
        ("1 kernel.trace(\"t\") 0 1 1 a\0b", "the line has a NUL byte"),
    ];
    let mut path = String::new();
    for (line, message) in cases {
        let text =
            format!("# One good line, one bad one.\n1 kernel.trace(\"t\") 0 1 1 x\n{line}\n");
        let ran = with_events("bad", &text, &["-e", "probe begin { println(1) }"]);
        assert_eq!((ran.0, &*ran.1), (Some(1), ""), "{line}");
        assert!(ran.2.contains("bad.events:3: ") && ran.2.contains(message), "{line}: {}", ran.2);
        path = ran.2;
    }
    assert!(path.starts_with("xlate: "), "{path}");
    let (status, _, stderr) = run(&["--events", "/no/such", "-e", "probe begin {}"]);
    assert_eq!(status, Some(1));
    assert_eq!(stderr, "xlate: cannot read the events in /no/such: No such file or directory\n");
}

#[test]
fn events_that_hit_nothing_are_suspicious() {
    let text = "1 kernel.function(\"vfs_read\") 0 1 1 x\n";
    let (status, _, stderr) = with_events("none", text, &["-e", "probe begin {}"]);
    assert_eq!(status, Some(0));
    assert!(
        stderr.contains("none of the events in") && stderr.contains("hits a probe"),
        "{stderr}"
    );
}

#[test]
fn much_output_loses_nothing() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("out");
    let text: String = (0..20_000)
        .map(|n| format!("0.{n:09} kernel.function(\"vfs_read\") {} 1 1 x\n", n % 3))
        .collect();
    let script = "global n probe kprobe.function(\"vfs_read\") { printf(\"%2000d\\n\", n++) }";
    let path_text = path.to_str().expect("UTF-8");
    let ran = with_events("much", &text, &["-s", "1", "-o", path_text, "-e", script]);
    assert_eq!(ran, (Some(0), String::new(), String::new()));
    let written = fs::read_to_string(path).expect("written");
    let mut numbers: Vec<u32> = written.lines().map(|n| n.trim().parse().expect("one")).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20_000).collect::<Vec<_>>());
}

#[test]
fn the_program_is_left_and_takes_parameters() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("program");
    let path = path.to_str().expect("UTF-8");
    let script = "global n = 1, s = \"a\"\n\
                  probe begin { println(n, s, \" \", module_name()) exit() }";
    let words = ["--emit=ko", "-m", "mine", "-o", path, "-G", "n", "-G", "s", "-e", script];
    assert_eq!(output(&words), format!("{path}\n"));
    let program = |words: &[&str]| {
        let Output { status, stdout, stderr } =
            Command::new(path).args(words).output().expect("the program runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (status.code(), text(stdout), text(stderr))
    };
    assert_eq!(program(&["n=-7", "s=x y"]), (Some(0), "-7x y mine\n".into(), String::new()));
    assert_eq!(program(&["n=no"]).0, Some(1));
    assert!(program(&["m=1"]).2.contains("`m=1` is no parameter of this script"));
    assert!(program(&["--serial"]).2.contains("need --events"));
}

#[test]
fn events_can_be_repeated_and_timed() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("program");
    let path = path.to_str().expect("UTF-8");
    let script = "global n probe kprobe.function(\"vfs_read\") { n[cpu()]++ }\n\
                  probe end { foreach (c+ in n) printf(\"%d:%d\\n\", c, n[c]) }";
    output(&["--emit=ko", "-o", path, "-e", script]);
    let text = "1 kernel.function(\"vfs_read\") 0 1 1 x\n1 kernel.function(\"vfs_read\") 2 1 1 x\n\
                2 kernel.function(\"vfs_read\") 2 1 1 x\n";
    let events = events("repeat", text);
    let output = Command::new(path)
        .arg("--events")
        .arg(events)
        .args(["--repeat", "1000"])
        .output()
        .expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0:1000\n2:2000\n");
    let said = String::from_utf8_lossy(&output.stderr);
    let is_right =
        said.starts_with("3000 events on 3 CPUs in ") && said.ends_with(" ns, 0 skipped\n");
    assert!(is_right, "{said}");
}

#[test]
fn c_of_the_script_that_needs_a_kernel_is_told() {
    let script = "%{ #include <linux/fs.h>\nstruct inode x; %}\nprobe begin { exit() }";
    let (status, _, stderr) = run(&["-g", "-e", script]);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("the host program did not compile"), "{stderr}");
    let (status, _, stderr) = run(&["-B", "W=1", "-e", "probe begin {}"]);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("write -B CC=COMPILER or -B CFLAGS=OPTIONS"), "{stderr}");
}

/// The limit of a sharded array is one of each shard, and what was there before counts.
#[test]
fn each_cpu_has_room_in_a_sharded_array() {
    let script = |begin: &str| {
        format!(
            "global a[2] probe begin {{ {begin} }} probe kernel.trace(\"sys_enter\") {{ a[pid()] += 10 }}\n\
             probe end, error {{ foreach (k+ in a) printf(\"%d=%d \", k, a[k]) println(\"\") }}"
        )
    };
    let fired = |name: &str, begin: &str, hits: &[(u32, u32)]| {
        let mut text = String::new();
        for (number, (cpu, pid)) in hits.iter().enumerate() {
            text += &format!("{}.0 kernel.trace(\"sys_enter\") {cpu} {pid} {pid} p\n", number + 1);
        }
        let (status, stdout, stderr) = with_events(name, &text, &["-e", &script(begin)]);
        assert_eq!(status == Some(0), stderr.is_empty(), "{stderr}");
        (stdout, stderr.contains("array a is full"))
    };
    let said = |text: &str, full: bool| (format!("{text} \n"), full);
    let spread = [(0, 1), (0, 2), (1, 3), (1, 4), (0, 1)];
    assert_eq!(fired("spread", "", &spread), said("1=20 2=10 3=10 4=10", false));
    assert_eq!(fired("one", "", &[(0, 1), (0, 2), (0, 3)]), said("1=10 2=10", true));
    let begin = "a[1] = 1; a[2] = 2";
    assert_eq!(fired("known", begin, &[(0, 1), (1, 2), (0, 2)]), said("1=11 2=22", false));
    assert_eq!(fired("new", begin, &[(0, 1), (1, 3)]), said("1=11 2=2", true));
}

/// What is longer than a record can be is lost as a whole, and harms nothing behind it.
#[test]
fn output_longer_than_a_record_is_lost() {
    let script = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("long_output.stp");
    let text = format!(
        "global n\nprobe begin {{ n++ printf(\"%d{}\", n) println(\"lost\") }}\n\
         probe begin(1) {{ println(\"after\") exit() }}\nprobe end {{ println(n) }}\n",
        "x".repeat(200_000)
    );
    fs::write(&script, text).expect("written");
    let (status, stdout, stderr) = run(&[script.to_str().expect("UTF-8")]);
    assert_eq!((status, &*stdout), (Some(0), "after\n1\n"));
    assert!(stderr.contains("output of 1 handlers lost"), "{stderr}");
}

#[test]
fn deleting_an_element_leaves_the_rest_of_its_chain() {
    let case = "tests/corpus/array/delete_among_many";
    let wanted = fs::read_to_string(format!("{case}.out")).expect("read");
    assert_eq!(output(&[&format!("{case}.stp")]), wanted);
}
