//! Scripts that pass 2 takes, and what it makes of them.

mod support;

use xlate_elaborate::{Options, Setting};

/// Scripts for what the corpus does not show: mostly what is decided in pass 2.
const CASES: &[(&str, &str)] = &[
    (
        "inference",
        "global names, total\nfunction twice(x) { return x + x }\nfunction label(n) { return name_of(n) }\nfunction name_of(n) { return n > least ? names[n] : \"none\" }\nglobal least = 3\nprobe begin { names[7] = \"seven\"\n total += twice(4) }\nprobe end { println(label(total)) }",
    ),
    (
        "stats",
        "global s, t, u\nprobe timer.ms(10) { s <<< cpu()\n t[execname(), pid()] <<< 1\n u <<< 2 }\nprobe end { print(@hist_log(s))\n foreach ([e, p-] in t limit 5) printf(\"%s %d %d\\n\", e, p, @sum(t[e, p]))\n foreach ([e, p] in t @max+) println(e)\n foreach ([e, p] in t-) println(e)\n foreach (b- in @hist_linear(u, 0, 100, 10)) println(b, @hist_linear(u, 0, 100, 10)[b])\n println(@variance(u, 3), @avg(u), @min(u)) }",
    ),
    (
        "arrays",
        "global a, b[10], c%[4], d\nprobe begin { a[1, \"x\"] = \"v\"\n b[\"k\"]++\n c[1] .= \"more\"\n d[1,2,3,4,5,6,7,8,9] = 1\n if ([1, \"x\"] in a && [*, \"y\"] in a) delete a[1, \"x\"]\n delete a[*, \"x\"]\n delete b\n foreach (v = [i, s] in a[*, \"x\"]) println(v, i, s)\n foreach (k+ in b) println(k)\n foreach (w- = q in c) println(q, w)\n delete d[1,2,3,4,5,6,7,8,9] }",
    ),
    (
        "globals-as-loop-variables",
        "global a, k, message\nprobe begin { a[\"x\"] = 1\n foreach (k in a) println(k)\n try { println(1 / 0) } catch (message) { println(message) } }",
    ),
    (
        "unread-globals",
        "global n, s, a, t, h, quiet\nprobe begin { n++\n s = \"x\"\n a[1, \"b\"] = 2\n t <<< 5\n h[\"q\"] <<< 3\n quiet = 1\n println(quiet) }",
    ),
    (
        "aliases",
        "global on = 1\nprobe outer = inner, timer.s(1) if (on) { v = \"outer\" } , { println(\"after outer \", v) }\nprobe inner = begin, end if (on > 1) { v = \"inner\" }\nprobe late += begin { println(w) }\nprobe outer { println(v) }\nprobe late { w = 2 }",
    ),
    (
        "alias-suffixes",
        "probe reads = kprobe.function(\"vfs_read\") { n = 1 }\nprobe reads.return.maxactive(3), reads { println(n) }",
    ),
    (
        "alias-wildcards",
        "probe my.a = begin { x = 1 }\nprobe my.b.c = end { x = 2 }\nprobe other.b = error { x = 3 }\nprobe my.* { println(x, pn()) }\nprobe my**c, o*.b { println(x) }",
    ),
    (
        "alternatives",
        "probe {begin, end(2)}, timer.{s(1), ms(20).randomize(3)} { println(pp()) }\nprobe begin(1)!, end(1) { println(1) }\nprobe nosuch?, error(-5) { println(2) }",
    ),
    (
        "probewrite",
        "probe p = begin { v = 1 }, { if (@probewrite(v)) println(\"written \", v) else println(\"read \", v) }\nprobe p { v = 2 }\nprobe p { println(v) }",
    ),
    (
        "kprobes",
        "probe kprobe.function(\"f\"), kprobe.function(\"f\").call, kprobe.function(\"g.isra.0\").return, kprobe.module(\"m\").function(\"f\").return.maxactive(5) { println(pp()) }",
    ),
    (
        "timers",
        "probe timer.s(1), timer.sec(1), timer.ms(1), timer.msec(1), timer.us(100), timer.usec(100), timer.ns(100000), timer.nsec(100000), timer.jiffies(7).randomize(7), timer.hz(300), timer.profile, timer.profile.tick { println(pp()) }",
    ),
    (
        "oneshot",
        "probe oneshot { println(\"once\") }\nprobe oneshot { if (pid()) next\n println(\"once\") }",
    ),
    (
        "overloads",
        "function f(x) { if (x > 1) next\n return \"first\" }\nfunction f(x):1 { return \"second\" }\nfunction f(x, y) { return x . y }\nfunction strlen(s) { if (s == \"\") next\n return -1 }\nprobe begin { println(f(1), f(\"a\", \"b\"), strlen(\"x\")) }",
    ),
    (
        "statements",
        "function f() { println(\"f\") }\nprobe begin { x = 1\n x && f()\n x || f()\n x ? f() : exit()\n for (i = 0; i < 3; i++) { if (i == 1) continue\n else break }\n while (x--) ;\n { y = x }\n y = x = 3\n z = print(\"value\")\n println(y, z) }",
    ),
    (
        "formats",
        "probe begin { printf(\"%5d|%-5s|%05x|%+d|% d|%#o|%*d|%.*s|%c|%p|%b|%%|%X|%u|%8.3d\\n\", 1, \"s\", 2, 3, 4, 5, 6, 7, 8, \"t\", 65, 9, 10, 11, 12, 13)\n println(1, \"a\", 2)\n printd(\", \", \"a\", 1, \"b\")\n printdln(\"-\", 1, 2)\n print(sprint(1, \"x\"), sprintf(\"%s\", \"y\"), sprintln(\"z\"), sprintdln(\"%\", 1, 2)) }",
    ),
    (
        "operators",
        "probe begin { a = 1 + 2 * 3 - -4 / 5 % 6\n b = (a << 2 >> 1 >>> 3) & 7 | 8 ^ ~9\n c = !a && b || a < b == (a >= b) != 1\n s = \"x\" . \"y\"\n s .= \"z\"\n d = s =~ \"^[a-z]+$\" ? s !~ \"y\" : +1\n e = (a += 1) + b++ - --c\n println(a, b, c, s, d, e) }",
    ),
    (
        "private-and-unused",
        "private global hidden = 3\nglobal unused, sized[10], wraps%\nprivate function secret() { return hidden }\nfunction never_called() { return nosuch($x) }\nprobe begin { println(secret()) }",
    ),
];

#[test]
fn programs() {
    for (name, script) in CASES {
        let outcome = support::elaborate(script, &Options::default());
        assert_eq!(outcome.errors, 0, "{name}:\n{}", outcome.messages);
        support::assert_snapshot("", name, script, &outcome.text());
    }
}

/// The corpus is taken without a word, but for cases that say that they are refused.
#[test]
fn the_corpus() {
    let mut refused = String::new();
    let mut examples = support::scripts("examples");
    examples.extend(support::scripts("tests/corpus"));
    for (name, script) in examples {
        let head: Vec<(&str, &str)> =
            script.lines().filter_map(|line| line.strip_prefix("//: ")?.split_once(' ')).collect();
        let all = |key: &'static str| {
            head.iter().filter(move |(k, _)| *k == key).map(|(_, value)| *value)
        };
        if all("pass").any(|pass| pass == "1" || pass == "2") {
            continue;
        }
        let mut words = all("options").flat_map(str::split_whitespace);
        let mut options = Options::default();
        while let Some(word) = words.next() {
            match word {
                "-g" => options.guru = true,
                "-G" => {
                    let setting = words.next().expect("a setting");
                    let (name, value) = setting.split_once('=').expect("with a value");
                    options.settings.push(Setting { name: name.into(), value: Some(value.into()) });
                }
                _ => {}
            }
        }
        let mut args: Vec<String> = all("args").flat_map(words_of).collect();
        if head.is_empty() {
            // The examples that take arguments take the name of a function.
            args.push("vfs_read".into());
        }
        let outcome = support::elaborate_with(&script, &args, &options);
        if outcome.errors > 0 {
            refused.push_str(&format!("{name}:\n{}", outcome.messages));
            continue;
        }
        support::assert_snapshot("corpus", &name, &script, &outcome.text());
    }
    assert_eq!(refused, "");
}

/// Words with spaces between them; what is in quotes is one word.
fn words_of(text: &str) -> Vec<String> {
    let parts = text.split('"').enumerate();
    parts
        .flat_map(
            |(at, part)| {
                if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
            },
        )
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_benchmarks() {
    for (name, script) in support::scripts("bench/scripts") {
        let outcome = support::elaborate(&script, &Options::default());
        assert_eq!(outcome.messages, "", "{name}");
        support::assert_snapshot("bench", &name, &script, &outcome.text());
    }
}

#[test]
fn guru_mode() {
    let script = "%{ static int calls; %}\nglobal n, a\nfunction count:long(by) %{ /* pragma:write:n */ calls += STAP_ARG_by; STAP_RETVALUE = calls; %}\nfunction inferred(s) %{ /* pure */ STAP_RETVALUE = strlen(STAP_ARG_s); %}\nfunction fails() %{ STAP_ERROR(\"no\"); %}\nprobe begin { n = a[1]\n a[1] = 2\n println(count(2), inferred(\"x\") + 1, %{ 1 + 1 %}, %{ /* string */ \"s\" %}, @const(\"PAGE_SIZE\"))\n fails()\n %{ calls = 0; %} }";
    let options = Options { guru: true, ..Options::default() };
    let outcome = support::elaborate(script, &options);
    assert_eq!(outcome.errors, 0, "{}", outcome.messages);
    support::assert_snapshot("", "guru-mode", script, &outcome.text());
}

#[test]
fn settings() {
    let script = "global n = 1, s, unknown, param = 2, text = \"a\"\nprobe begin { println(n, s . \"\", unknown, param, text) }";
    let setting = |name: &str, value: Option<&str>| Setting {
        name: name.into(),
        value: value.map(str::to_owned),
    };
    let settings = vec![
        setting("n", Some("-0x10")),
        setting("s", Some("12")),
        setting("unknown", Some("word")),
        setting("param", None),
        setting("text", Some("b")),
    ];
    let options = Options { settings, ..Options::default() };
    let outcome = support::elaborate(script, &options);
    assert_eq!(outcome.errors, 0, "{}", outcome.messages);
    support::assert_snapshot("", "settings", script, &outcome.text());
}

#[test]
fn the_list_of_pass_2() {
    let script = "global a[5], s, unused\nfunction f(x) { y = x\n return y . \"\" }\nprobe mine = begin { z = 1 }\nprobe mine, timer.s(1)? { a[f(\"x\"), 1] = z\n s <<< z }\nprobe end { println(a[\"x\", 1], @count(s)) }";
    let outcome = support::elaborate(script, &Options::default());
    let list = xlate_elaborate::listing(&outcome.program);
    support::assert_snapshot("", "listing", script, &list);
}

#[test]
fn only_the_files_that_are_needed_are_parsed() {
    let script = "probe begin { println(pid()) }";
    let outcome = support::elaborate(script, &Options::default());
    assert_eq!(outcome.loaded, ["tapset/context.stp"]);
    let own = "function pid() { return 1 }\nprobe begin { println(pid()) }";
    assert!(support::elaborate(own, &Options::default()).loaded.is_empty());
}
