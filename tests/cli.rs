//! Bad input is answered with a message and exit status 1, good input with what was asked for.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `xlate` with its own cache folder.
fn xlate(words: &[&str]) -> Output {
    command(words).output().expect("xlate runs")
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xlate"));
    command.args(words).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::null());
    command
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A release that is installed with headers, as tests of pass 4 need.
fn release_with_headers() -> Option<String> {
    let mut releases: Vec<String> = fs::read_dir("/lib/modules")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("build/Makefile").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    releases.sort();
    releases.into_iter().next()
}

/// It is found out only when its automaton is made.
#[test]
fn a_regular_expression_of_too_many_states_is_told_with_its_place() {
    for (pattern, message) in [
        (".*a.{14}", "it needs more than 2000 states"),
        ("((a{255}){255}){255}", "its repeats make more than 20000 parts"),
    ] {
        let script = format!("probe begin {{\n  if (execname() =~ \"{pattern}\") println(1)\n}}");
        let output = xlate(&["-p3", "-e", &script]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let first = format!("error: this regular expression is too large: {message}\n");
        assert!(said.starts_with(&first) && said.contains("<command line>:2:21\n"), "{said}");
        assert!(said.contains("lower its count, or anchor the expression with `^`"), "{said}");
    }
}

/// What a wrong command line or script is answered with.
#[test]
fn bad_input_is_refused_with_a_reason() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "error: there is no script"),
        (&["-p6", "-e", "probe begin {}"], "invalid value '6' for '-p <N>'"),
        (&["--frobnicate"], "unexpected argument '--frobnicate'"),
        (&["/no/such.stp"], "error: cannot read /no/such.stp: No such file or directory\n"),
        (&["/no/such.ko"], "error: cannot read /no/such.ko: No such file or directory\n"),
        (&["--target=host", "a.ko"], "error: a.ko is a module for a kernel"),
        (&["--events=f", "-e", ""], "error: --events needs --target=host"),
        (&["--serial", "-e", ""], "--events <FILE>"),
        (&["-c", "ls", "-x", "1", "-e", ""], "'-c <CMD>' cannot be used with '-x <PID>'"),
        (&["-p1", "-e", "probe begin { x = }"], "error: expected an expression, found `}`"),
        (&["-p1", "-e", "probe begin { println($1) }"], "error: missing script argument $1"),
        (&["-p1", "-e", "probe begin %{ %}"], "error: "),
        (&["-p2", "-e", "probe begin { f() }"], "error: unknown function `f`"),
        (&["-p2", "-e", "probe begin { x = 1; x = \"a\" }"], "this says that it is a long"),
        (&["-p2", "-e", "probe begin { println(\"a\" + 1) }"], "error: a long is needed"),
        (&["-p2", "-e", "probe begn {}"], "did you mean `begin`?"),
        (&["-p2", "-e", "probe begin {}", "-G", "n=1"], "error: -G n: there is no such global"),
        (&["-p2", "-e", "probe begin {}", "-G", "1=1"], "error: -G 1=1: `1` is not the name"),
        (&["-p2", "-e", "probe begin {}", "-D", "MAXACTION=x"], "MAXACTION is a number from 0"),
        (&["-p2", "-e", "probe begin {}", "-I", "/none"], "error: cannot read /none: No such file"),
        (&["-p2", "-e", "probe begin {}", "-r", "0.0.1"], "error: no kernel of release `0.0.1`"),
        (&["-p4", "-e", "probe begin {}", "-r", "/none"], "/none"),
        (&["-p3", "-e", "probe begin {}", "--passes=sccq"], "error: there is no pass `sccq`"),
        (&["-p3", "-e", "probe begin {}", "--print-after=x"], "error: there is no pass `x`"),
        (&["-p3", "-e", "probe begin {}", "--print-changed=x"], "error: there is no pass `x`"),
        (&["-p3", "-e", "probe begin {}", "--remarks=mist"], "error: --remarks: `mist` is neither"),
        (&["-p3", "-e", "probe begin {}", "-o", "/no/file"], "error: cannot write /no/file"),
        (&["count.ko", "word"], "error: `word` is not a module parameter"),
    ];
    for (words, message) in cases {
        let output = xlate(words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains(message), "{words:?}: {said}");
        assert!(!said.contains("internal error"), "{words:?}: {said}");
        assert_eq!(stdout(&output), "", "{words:?}");
    }
}

#[test]
fn every_syntax_error_of_a_file_is_reported() {
    let said = stderr(&xlate(&["-p1", "-e", "probe begin { x = }\nprobe end { y + }"]));
    assert_eq!(said.matches("error: ").count(), 2, "{said}");
    assert!(said.contains("<command line>:1:") && said.contains("<command line>:2:"), "{said}");
}

#[test]
fn warnings_can_be_silenced() {
    let script = "probe begin { println(x . \"\") }";
    assert!(stderr(&xlate(&["-p2", "-e", script])).contains("warning: "));
    assert_eq!(stderr(&xlate(&["-p2", "-w", "-e", script])), "");
}

#[test]
fn a_script_comes_from_a_file_or_standard_input() {
    let mut child = command(&["-p1", "-", "one"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("xlate starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"#!/usr/bin/env xlate\nprobe begin { println(@1) }").expect("written");
    drop(stdin);
    let output = child.wait_with_output().expect("xlate ends");
    assert_eq!(stdout(&output), "probe begin {\n  println(\"one\");\n}\n");
    let output = xlate(&["--emit=ast", "bench/scripts/count.stp"]);
    assert!(stdout(&output).contains("probe kernel.trace(\"sys_enter\")"), "{}", stdout(&output));
}

#[test]
fn each_stage_can_be_printed() {
    for (stage, part) in [
        ("ast", "n++;"),
        ("typed", "long"),
        ("ir", "update.add @n"),
        ("cfg", "digraph"),
        ("c", "xl_shard_add(g_n, 1);"),
    ] {
        let output = xlate(&[&format!("--emit={stage}"), "bench/scripts/count.stp"]);
        assert!(stdout(&output).contains(part), "{stage}: {}", stdout(&output));
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    }
    let by_number = xlate(&["-p3", "bench/scripts/count.stp"]);
    assert_eq!(by_number.stdout, xlate(&["--emit-c", "bench/scripts/count.stp"]).stdout);
}

#[test]
fn the_c_of_a_counter_is_short() {
    let output = xlate(&["--emit-c", "bench/scripts/count.stp"]);
    let c = stdout(&output);
    assert!(c.lines().count() <= 60, "{c}");
    assert!(c.lines().all(|line| line.len() <= 100), "{c}");
}

#[test]
fn results_can_go_to_a_file() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("count.c");
    let output = xlate(&["--emit-c", "-o", &file.to_string_lossy(), "bench/scripts/count.stp"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), String::new()));
    assert!(fs::read_to_string(file).expect("written").contains("xl_shard_add(g_n, 1);"));
}

#[test]
fn passes_can_be_watched() {
    let script = "global a = 1\nprobe begin { println(a + 1) }";
    let said = |words: &[&str]| stderr(&xlate(&[&["-p3", "-e", script], words].concat()));
    let changes = said(&["--print-changed"]);
    assert!(changes.contains("; changed by global-constness\n"), "{changes}");
    assert!(changes.lines().any(|line| line.starts_with("-  ") && line.contains("load @a")));
    let after = said(&["--print-after=sccp", "--passes=sccp", "--verify-each"]);
    assert!(after.starts_with("; after sccp\nfile f0"), "{after}");
    assert_eq!(said(&["--print-changed=sccp", "--passes=gvn"]), "");
    let before = said(&["--print-before=all", "-O0"]);
    assert_eq!(before, "", "no pass runs under -O0");
    assert!(said(&["--time-passes"]).contains("  sccp\n"));
}

/// Two probes that share a global which must stay locked, and one that is folded.
const SHARED: &str = "global hits, mask = 3\n\
                      probe timer.profile { hits[0] = cpu() & mask }\n\
                      probe timer.s(1) { println(hits[0]); delete hits }";

#[test]
fn remarks_are_notes_or_json() {
    let said = |filter: &str| stderr(&xlate(&["-p3", "-e", SHARED, filter]));
    let notes = said("--remarks=disciplines,lock-sets");
    let missed = "note[disciplines: missed]: `hits` stays locked: ";
    assert!(notes.contains(missed) && notes.contains("┌─ <command line>:2:"), "{notes}");
    assert!(notes.contains("2 │ probe timer.profile { hits[0] = cpu() & mask }"), "{notes}");
    assert!(
        said("--remarks").contains("note[global-constness]: `mask` is the constant 3"),
        "folded"
    );
    let json = said("--remarks=missed,json");
    for line in json.lines() {
        let remark: serde_json::Value = serde_json::from_str(line).expect("one object a line");
        assert_eq!((&remark["kind"], &remark["line"]), (&"missed".into(), &2.into()), "{line}");
        assert_eq!(remark["file"], "<command line>");
    }
    assert_eq!(json.lines().count(), 1, "{json}");
}

#[test]
fn statistics_can_be_parsed() {
    let said = stderr(&xlate(&["-p3", "-e", SHARED, "--stats"]));
    let (passes, sizes) = said.split_once("\n\n").expect("two tables");
    let rows: Vec<Vec<&str>> =
        passes.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.is_sorted_by_key(|row| row[1]), "{passes}");
    assert!(rows.iter().all(|row| row[0].parse::<u64>().is_ok()), "{passes}");
    assert!(rows.contains(&vec!["1", "global-constness", "reads", "folded"]), "{passes}");
    let globals = sizes.lines().find(|line| line.ends_with("  globals")).expect("a row");
    assert_eq!(globals.split_whitespace().collect::<Vec<_>>(), ["2", "1", "globals"]);
}

#[test]
fn the_passes_can_be_stopped_in_the_middle() {
    let limited = |limit: &str| xlate(&["--emit=ir", "-e", SHARED, "--opt-bisect-limit", limit]);
    let none = limited("0");
    assert_eq!(none.stdout, xlate(&["--emit=ir", "-e", SHARED, "-O0"]).stdout);
    assert!(stderr(&none).starts_with("bisect: skip    1 duplicate-functions on module\n"));
    let all = limited("99999");
    assert_eq!(all.stdout, xlate(&["--emit=ir", "-e", SHARED]).stdout);
    assert!(!stderr(&all).contains("skip"));
    let three = stderr(&limited("3"));
    assert_eq!(three.matches("bisect: run ").count(), 3, "{three}");
    assert!(three.contains("bisect: skip    4 "), "{three}");
}

/// The pass that folds the global is the one that a check for the global blames.
#[test]
fn the_pass_at_fault_is_named() {
    let bisect = |command: &str| xlate(&["-e", SHARED, "--bisect", command]);
    let found = bisect("grep -q 'load @mask' $XLATE_IR");
    let verdict = stdout(&found);
    assert!(verdict.starts_with("pass `global-constness` is at fault: step "), "{verdict}");
    assert!(verdict.contains("\n-  ") && verdict.contains("load @mask"), "{verdict}");
    let number: u64 = verdict
        .split_once(": step ")
        .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok())
        .expect("a number");
    // The verdict is what stopping there shows.
    for (limit, there) in [(number - 1, true), (number, false)] {
        let limit = format!("--opt-bisect-limit={limit}");
        let ir = stdout(&xlate(&["--emit=ir", "-e", SHARED, &limit]));
        assert_eq!(ir.contains("load @mask"), there, "{limit}");
    }
    assert!(stderr(&found).contains(" steps: good\n"), "{}", stderr(&found));

    let by_c = stdout(&bisect("grep -q xl_write_lock $XLATE_C && [ $XLATE_LIMIT -lt 7 ]"));
    assert!(by_c.contains(": step 7 of "), "{by_c}");
    for (command, message) in [
        ("false", "error: the command fails before any pass has run"),
        ("true", "error: the command succeeds after all "),
        ("/no/such/command", "error: the command of --bisect cannot be run: the shell says 127"),
    ] {
        let output = bisect(command);
        assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn the_passes_say_what_they_did() {
    let output = xlate(&["-v", "-p3", "bench/scripts/map.stp"]);
    let said = stderr(&output);
    let starts =
        ["Pass 1: parsed", "Pass 2: elaborated 2 probes, 1 function", "Pass 3: translated"];
    assert_eq!(said.lines().count(), starts.len(), "{said}");
    for (line, start) in said.lines().zip(starts) {
        assert!(line.starts_with(start) && line.ends_with(" ms."), "{line}");
    }
}

#[test]
fn help_and_version_are_not_errors() {
    let help = xlate(&["--help"]);
    assert_eq!((help.status.code(), stderr(&help)), (Some(0), String::new()));
    for word in ["five passes", "-D MAXACTION=5000", "--emit-c hello.stp", "#!/usr/bin/env xlate"] {
        assert!(stdout(&help).contains(word), "{word}");
    }
    let version = xlate(&["-V"]);
    assert_eq!(stdout(&version), format!("xlate {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(stdout(&xlate(&["--passes"])).matches("  sccp ").count(), 1);
}

#[test]
fn nothing_is_coloured_but_on_a_terminal() {
    let output = xlate(&["-p2", "-e", "probe begn {}"]);
    assert!(!stderr(&output).contains('\x1b'));
}

#[test]
fn deep_trees_do_not_overflow_the_stack() {
    let depth = 20_000;
    let script = format!("probe begin {{ println({}1{}) }}", "(".repeat(depth), ")".repeat(depth));
    let output = xlate(&["-p3", "-e", &script]);
    // Refused or translated, but answered.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
    let sum = format!("probe begin {{ println({}1) }}", "1+".repeat(depth));
    let output = xlate(&["-p3", "-e", &sum]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
}

#[test]
fn bad_requests_of_pass_4_are_refused() {
    let Some(release) = release_with_headers() else { return };
    for (words, message) in [
        (["-B", "x"], "error: `-B x` does not set a make variable"),
        (["-m", "a b"], "error: `a b` cannot be the name of a module"),
    ] {
        let words = [&["-p4", "-r", &release, "-e", "probe begin {}"][..], &words].concat();
        let output = xlate(&words);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn a_named_module_is_left_in_the_current_folder() {
    let Some(release) = release_with_headers() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["-p4", "-m", "named", "-r", &release, "-e", "probe begin { exit() }"];
    let output = command(&words).current_dir(&folder).output().expect("xlate runs");
    assert_eq!(stdout(&output), "named.ko\n", "{}", stderr(&output));
    assert!(folder.path().join("named.ko").exists());
}

#[test]
fn a_module_for_another_kernel_is_not_run() {
    let running = fs::read_to_string("/proc/sys/kernel/osrelease").expect("a kernel");
    let Some(release) = release_with_headers().filter(|release| *release != running.trim()) else {
        return;
    };
    let output = xlate(&["-r", &release, "-e", "probe begin { exit() }"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).ends_with(".ko\n"), "{}", stdout(&output));
    assert!(stderr(&output).contains("is not run"), "{}", stderr(&output));
}

#[test]
fn an_unwritable_cache_is_done_without() {
    let Some(release) = release_with_headers() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["-p4", "-r", &release, "-e", "probe begin { exit() }"];
    let mut command = command(&words);
    command.env("XDG_CACHE_HOME", "/proc/none").current_dir(&folder);
    let output = command.output().expect("xlate runs");
    assert!(folder.path().join(stdout(&output).trim()).exists(), "{}", stdout(&output));
    assert!(stderr(&output).contains("warning: the cache "), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// `script`, of Debian's essential package `bsdutils`, runs a command on a terminal of its own.
#[test]
fn differences_and_remarks_are_coloured_on_a_terminal() {
    let command = format!(
        "{} -p3 --print-changed=global-constness --remarks=global-constness \
         -e 'global a = 1 probe begin {{ println(a) }}' >/dev/null",
        env!("CARGO_BIN_EXE_xlate")
    );
    let shown = |no_colour: &str| {
        let mut terminal = Command::new("script");
        terminal.args(["-qec", &command, "/dev/null"]).env("NO_COLOR", no_colour);
        let output = terminal.stdin(Stdio::null()).output().expect("`script` is in bsdutils");
        stdout(&output)
    };
    let coloured = shown("");
    assert!(coloured.contains("\x1b[31m-  v0 = load @a"), "{coloured:?}");
    assert!(coloured.contains("\x1b[32m+  v0 = const 1"), "{coloured:?}");
    let remark = coloured.split("`a` is the constant 1").next().expect("a part");
    assert!(remark.rsplit('\n').next().is_some_and(|line| line.contains("\x1b[")), "{coloured:?}");
    let plain = shown("1");
    assert!(plain.contains("-  v0 = load @a") && !plain.contains('\x1b'), "{plain:?}");
}

#[test]
fn what_the_stack_has_no_room_for_is_refused() {
    let chain: String = (0..60)
        .map(|n| {
            format!("global q{n}\nfunction g{n}() {{ q{n}++ }}\nfunction f{n}(x) {{ g{n}() return f{next}(x) + f{next}(x + 1) }}\n", next = n + 1)
        })
        .collect();
    let script = format!("{chain}function f60(x) {{ return x }} probe begin {{ println(f0(1)) }}");
    let output = xlate(&["-O0", "-p3", "-e", &script]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("calls nest 61 deep"), "{}", stderr(&output));
    let output = xlate(&["-p3", "-D", "MAXNESTING=1000", "-e", "probe begin { exit() }"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("from 1 to 40"), "{}", stderr(&output));
}

#[test]
fn a_walk_that_would_be_started_over_is_refused() {
    let script = |body: &str| {
        format!(
            "global a function f(x) {{ foreach ([p, q] in a[x, *]-) {{ {body} }} return 0 }}\n\
                 probe begin {{ a[1, 2] = 3 f(1) exit() }}"
        )
    };
    let output = xlate(&["-p3", "-e", &script("println(q) if (x > 0) f(x - 1)")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("a `foreach` in `f` calls the function again"));
    let output = xlate(&["-p3", "-e", &script("println(q)")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
