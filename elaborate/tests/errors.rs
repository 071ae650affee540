//! Scripts that pass 2 refuses or warns about, and the messages they get.

mod support;

/// Each script gets a snapshot of its own, so that a message can be found by what causes it.
const CASES: &[(&str, &str)] = &[
    // Types.
    ("conflict-assignment", "probe begin { x = 1\n x = \"one\"\n println(x) }"),
    ("conflict-comparison", "probe begin { if (pid() == \"1\") println(\"one\") }"),
    ("conflict-global", "global g\nprobe begin { g = 1 }\nprobe end { println(g . \"\") }"),
    ("conflict-key", "global a\nprobe begin { a[1, \"x\"] = 2\n println(a[\"x\", 1]) }"),
    ("conflict-argument", "function f(s) { return s . \"!\" }\nprobe begin { println(f(pid())) }"),
    ("conflict-library-argument", "probe begin { println(strlen(7)) }"),
    (
        "conflict-return",
        "function f(n) { if (n) return 1\n return \"one\" }\nprobe begin { println(f(2)) }",
    ),
    (
        "conflict-declared-result",
        "function f:long() { return \"one\" }\nprobe begin { println(f()) }",
    ),
    (
        "conflict-missing-value",
        "function f(n) { if (n) return 1\n return }\nprobe begin { println(f(2)) }",
    ),
    ("conflict-ternary", "probe begin { x = 1\n println(x ? 1 : \"two\") }"),
    (
        "conflict-foreach-key",
        "global a\nprobe begin { a[1] = 1\n foreach (k in a) println(k . \"\") }",
    ),
    (
        "conflict-overloads",
        "function f(x) { if (x == 1) next\n return 1 }\nfunction f(x) { return x . \"\" }\nprobe begin { println(f(1)) }",
    ),
    ("string-in-arithmetic", "probe begin { x = \"5\" + 1\n println(x * execname()) }"),
    ("long-concatenated", "probe begin { println(\"pid \" . pid()) }"),
    ("string-condition", "probe begin { while (\"yes\") println(\"a\") }"),
    ("step-of-string", "global s = \"x\"\nprobe begin { s++\n println(s) }"),
    ("untyped-local", "probe begin { println(x) }"),
    ("untyped-global", "global g\nprobe begin { println(g) }"),
    ("untyped-key", "global a\nprobe begin { foreach (k in a) a2 = k\n println(a2) }"),
    ("untyped-result", "function f(n) { return f(n - 1) }\nprobe begin { println(f(2)) }"),
    ("no-value", "function f() { println(\"x\") }\nprobe begin { x = f()\n println(x) }"),
    // Arrays and statistics.
    ("arity", "global a\nprobe begin { a[1] = 1\n a[1, 2] = 1 }"),
    ("arity-scalar", "global n\nprobe begin { n = 1\n foreach (k in n) println(k) }"),
    ("arity-sized", "global a[10]\nprobe begin { a = 1 }"),
    ("array-local", "probe begin { x = 1\n x[1] = 2 }"),
    ("array-unknown", "global count\nprobe begin { cuont[1] = 2 }"),
    ("key-wildcard", "global a\nprobe begin { a[*] = 2 }"),
    (
        "foreach-modifies",
        "global a\nfunction clear() { delete a }\nprobe begin { a[1] = 1\n foreach (k in a) { a[k] = 2\n delete a[k]\n clear() } }",
    ),
    ("stat-local", "probe begin { s <<< 1 }"),
    ("stat-as-value", "global s\nprobe begin { s <<< 1\n x = s + 1\n println(x, s) }"),
    ("stat-assigned", "global s\nprobe begin { s <<< 1\n s = 2 }"),
    ("stat-copied", "global s\nprobe begin { s <<< 1\n x = s }"),
    ("stat-operator-on-long", "global n\nprobe begin { n = 1\n println(@count(n)) }"),
    (
        "stat-foreach-value",
        "global s\nprobe begin { s[1] <<< 1\n foreach (v = k in s) println(k, v) }",
    ),
    (
        "stat-sort-of-longs",
        "global a\nprobe begin { a[1] = 1\n foreach (k in a @sum-) println(k) }",
    ),
    (
        "histograms-differ",
        "global s\nprobe begin { s <<< 1\n print(@hist_log(s))\n print(@hist_linear(s, 0, 10, 2)) }",
    ),
    (
        "histogram-with-others",
        "global s\nprobe begin { s <<< 1\n x = println(@hist_log(s))\n println(sprint(@hist_log(s))) }",
    ),
    ("histogram-range", "global s\nprobe begin { s <<< 1\n print(@hist_linear(s, 10, 0, 2)) }"),
    // Names.
    ("unknown-function", "probe begin { println(stlren(\"x\"))\n nosuch() }"),
    (
        "wrong-argument-count",
        "function f(a, b) { println(a + b) }\nprobe begin { f(1)\n println(strlen()) }",
    ),
    ("duplicate-global", "global n\nglobal n = 2\nprobe begin { println(n) }"),
    ("duplicate-parameter", "function f(a, a) { return a }\nprobe begin { println(f(1, 2)) }"),
    (
        "never-assigned",
        "global most, least = 4\nprobe begin { if (most > cuont) count = least\n println(count) }",
    ),
    // Statements.
    ("break-outside", "probe begin { break\n while (1) break\n continue }"),
    ("return-in-probe", "probe begin { return 1 }"),
    ("assign-to-call", "probe begin { pid() = 1\n 5++ }"),
    (
        "embedded-c",
        "%{ int x; %}\nfunction f:long() %{ STAP_RETVALUE = 1; %}\nprobe begin { println(f() + %{ 1 %}) }",
    ),
    ("no-effect", "global n = 1\nprobe begin { n == 2\n x; -pid()\n \"text\"\n println(n) }"),
    // Output.
    ("format-types", "probe begin { printf(\"%d %s\\n\", \"one\", 1) }"),
    (
        "format-count",
        "probe begin { printf(\"%d %d\\n\", 1)\n printf(\"%d\\n\", 1, 2)\n printf(\"%*d\\n\", 1) }",
    ),
    ("regex", "probe begin { if (execname() =~ \"a(b\") println(\"yes\") }"),
    // Probe points.
    (
        "point-unknown",
        "probe begni { println(1) }\nprobe timer.sek(1) { println(2) }\nprobe kernal.trace(\"x\") { println(3) }",
    ),
    (
        "point-timer",
        "probe timer.s(0) { println(1) }\nprobe timer.us(1) { println(1) }\nprobe timer.s { println(1) }\nprobe timer.s(\"1\") { println(1) }\nprobe timer.hz(20000) { println(1) }\nprobe timer.jiffies(0) { println(1) }\nprobe timer { println(1) }",
    ),
    (
        "point-randomize",
        "probe timer.ms(10).randomize(20) { println(1) }\nprobe timer.hz(10).randomize(1) { println(1) }",
    ),
    (
        "point-sequence",
        "probe begin(\"x\") { println(1) }\nprobe end.now { println(1) }\nprobe never(1) { println(1) }",
    ),
    (
        "point-unsupported",
        "probe kernel.function(\"vfs_read@fs/read_write.c\").return { println(1) }\nprobe process(\"ls\").function(\"main\") { println(1) }\nprobe syscall.open.return { println(1) }\nprobe syscall.*.return { println(1) }\nprobe perf.hw.cpu_cycles { println(1) }\nprobe timer.profile.freq.hz(9) { println(1) }",
    ),
    (
        "point-patterns",
        "probe kernel.trace(\"sched_*\") { println(1) }\nprobe kprobe.function(\"vfs_*\") { println(1) }\nprobe kernel.trace(\"a b\") { println(1) }\nprobe kprobe.function(\"9\") { println(1) }",
    ),
    (
        "point-kprobe",
        "probe kprobe.function(\"f\").return.maxactive(0) { println(1) }\nprobe kprobe.function(\"f\").inline { println(1) }\nprobe kprobe.module(3).function(\"f\") { println(1) }\nprobe kprobe.module(\"a-b\").function(\"f\") { println(1) }\nprobe kprobe.function { println(1) }",
    ),
    ("point-optional-unsupported", "probe kernel.function(\"f\") ?, begin { println(1) }"),
    ("point-all-optional", "probe nosuch.point ? { println(1) }"),
    ("alias-of-itself", "probe a = b { x = 1 }\nprobe b = a { y = 1 }\nprobe a { println(x) }"),
    ("alias-unknown", "probe mine.one = begin { x = 1 }\nprobe mine.oen { println(x) }"),
    ("alias-to-unknown", "probe mine.one = nosuch { x = 1 }\nprobe mine.one { println(x) }"),
    ("alias-wildcard", "probe mine.one = begin { x = 1 }\nprobe yours.* { println(x) }"),
    (
        "condition-local",
        "global enabled = 1\nprobe begin if (enbled) { println(1) }\nprobe end if (pid() == enabled++) { println(1) }\nprobe error if (enabled = 2) { println(1) }",
    ),
    // Later parts of the language.
    (
        "unsupported",
        "probe begin { println($x, @cast(1, \"task_struct\")->pid, @defined($y))\n println(@entry(pid())) }",
    ),
];

#[test]
fn messages() {
    for (name, script) in CASES {
        let outcome = support::elaborate(script, &Default::default());
        assert!(!outcome.messages.is_empty(), "{name} was taken without a word");
        support::assert_snapshot("errors", name, script, &outcome.messages);
    }
}

#[test]
fn all_errors_of_a_script_are_reported() {
    let script = "probe begin { a = 1 + \"x\"\n nosuch()\n break }\nprobe nowhere { c = $c }";
    let outcome = support::elaborate(script, &Default::default());
    assert_eq!(outcome.errors, 4, "{}", outcome.messages);
}

#[test]
fn settings_are_checked() {
    let cases = [("nosuch", Some("1")), ("n", Some("one")), ("a", Some("1")), ("s", None)];
    let script = "global n = 1, a, s\nprobe begin { n++\n a[1] = n\n s <<< n }";
    let mut messages = String::new();
    for (name, value) in cases {
        let setting = xlate_elaborate::Setting { name: name.into(), value: value.map(Into::into) };
        let options = xlate_elaborate::Options { settings: vec![setting], ..Default::default() };
        let outcome = support::elaborate(script, &options);
        assert_eq!(outcome.errors, 1, "-G {name}");
        messages.push_str(&outcome.messages);
    }
    support::assert_snapshot("errors", "settings", script, &messages);
}
