//! No input makes the parser panic, run out of stack or take long.

use proptest::prelude::*;
use xlate_grammar::ast::File;
use xlate_grammar::{
    Diagnostic, Environment, LibraryMacros, ParseOptions, SourceMap, has_errors, parse_script,
    print, render,
};

/// Parses and renders what is wrong, as the command line would.
fn parse(text: &[u8]) -> (File, Vec<Diagnostic>, String) {
    let mut sources = SourceMap::new();
    let file = sources.add("a.stp", text);
    let environment = Environment { guru_mode: true, ..Environment::default() };
    let macros = LibraryMacros::new();
    let args = ["7".to_owned(), "a b\"".to_owned()];
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &args, library: false };
    let (tree, diagnostics) = parse_script(&mut sources, file, &options);
    let rendered = render(&sources, &diagnostics, true);
    (tree, diagnostics, rendered)
}

/// A script with most of what can go wrong in it.
const SCRIPT: &str = r#"
@define twice(x) %( (@x + @x) %)
@define name %( kernel.function("*") %)
%( kernel_v >= "2.6" && $# == 2 %? global a = 1, b%[10], s, c %: private global c %)
%{ #include <linux/mm.h> %}
probe begin, {x.y("z"), w}.return? if (a > 1), @name! { next }
probe p = q { a = $1 . @2 }, { b <<< a; }
function f:string(x:long, y) :3 { return sprintf("%5.*d%%", 3, @twice(x[1, *])) }
function g() %{ STAP_RETVALUE = 1; %}
probe timer.s(1) {
  foreach ([i, j-] in b[*, 2] limit 3) { if (i) continue; else break }
  for (i = 0; i < 10; ++i) while (!$x->y[2]$) try { delete b } catch (e) { println(e) }
  print(@hist_linear(c, 0, 10, 1)) # a comment
  /* another */ printd(",", @cast(p, "t")->x, &@var("v@f.c"), @count(s) ? 1 : "two" "three");
  [1, 2] in b || a =~ "^[a-z]+$" && 0x1f >>> 3 != 0b11 ^ ~-077
}
"#;

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(text in prop::collection::vec(any::<u8>(), 0..300)) {
        parse(&text);
    }

    #[test]
    fn any_characters_are_answered(text in "(\\PC|\n){0,200}") {
        parse(text.as_bytes());
    }

    #[test]
    fn changed_bytes_are_answered(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut text = SCRIPT.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        parse(&text);
    }

    #[test]
    fn cut_and_joined_pieces_are_answered(
        pieces in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8),
    ) {
        let mut text = String::new();
        for (from, to) in pieces {
            let (from, to) = (from.index(SCRIPT.len()), to.index(SCRIPT.len()));
            text.push_str(&SCRIPT[from.min(to)..from.max(to)]);
        }
        let (tree, diagnostics, rendered) = parse(text.as_bytes());
        prop_assert_eq!(has_errors(&diagnostics), rendered.contains("error"));
        print(&tree);
    }
}

#[test]
fn the_script_itself_is_right() {
    let (tree, diagnostics, rendered) = parse(SCRIPT.as_bytes());
    assert!(diagnostics.is_empty(), "{rendered}");
    assert_eq!(tree.items.len(), 7);
}

/// Nests a script too deep and expects to be told so, in a thread with little stack.
fn too_deep(open: &str, inner: &str, close: &str) {
    let repeat = |text: &str| text.repeat(20_000);
    let text = format!("probe begin {{ {}{inner}{} }}", repeat(open), repeat(close));
    let parsed = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
        let (tree, diagnostics, rendered) = parse(text.as_bytes());
        print(&tree);
        (diagnostics.len(), rendered)
    });
    let (count, rendered) = parsed.expect("a thread").join().expect("no panic");
    assert!(rendered.contains("levels deep"), "{open}: {}", &rendered[..rendered.len().min(500)]);
    assert!(count < 1000, "{open}: {count} errors");
}

#[test]
fn deep_nesting_is_refused() {
    too_deep("-", "x", "");
    too_deep("x = ", "1", "");
    too_deep("1 + ", "1", "");
    too_deep("x ? 1 : ", "1", "");
    too_deep("x ? ", "1", " : 1");
    too_deep("f(", "1", ")");
    too_deep("a[", "1", "]");
    too_deep("@count(", "x", ")");
    too_deep("{", "", "}");
    too_deep("if (x) ", ";", "");
    too_deep("if (x) ; else ", ";", "");
    too_deep("while (x) ", ";", "");
    too_deep("foreach (a in b) ", ";", "");
    too_deep("try {", "", "} catch { }");
    too_deep("$x[", "1", "]");
}

#[test]
fn long_lists_of_statements_are_not_deep() {
    for statement in [
        "if (x) y = 1",
        "if (x) y = 1; else y .= \"s\"",
        "if (x) y++ else z[1]++",
        "if (x) next",
        "while (x) break",
        "for (i = 0; i < 3; i++) f(i)",
        "x = 1",
        "@cast(p, \"t\")->x = 1",
        "$x = \"s\"",
        "print(x = 1)",
        "delete a[1]",
        "try { } catch { }",
    ] {
        let text = format!("probe begin {{ {} }}", format!("{statement}\n").repeat(3000));
        let (tree, diagnostics, rendered) = parse(text.as_bytes());
        assert!(diagnostics.is_empty(), "{statement}: {}", &rendered[..rendered.len().min(500)]);
        assert_eq!(tree.items.len(), 1);
    }
}

#[test]
fn deep_nesting_that_means_nothing_is_answered() {
    for open in ["(", "{", "[", "[1, (", "probe {", "{a, ", "%( 1 == 1 %? ", "if (", "@cast(", "&"]
    {
        for close in ["", "x"] {
            parse(format!("probe {}{close}", open.repeat(1_500)).as_bytes());
            parse(format!("probe begin {{ {}{close}", open.repeat(1_500)).as_bytes());
        }
    }
}

#[test]
fn macros_that_never_end_are_refused() {
    for text in [
        "@define a %( @a %) probe begin { @a }",
        "@define a %( @b @b %) @define b %( @a @a %) probe begin { @a }",
        "@define a(x) %( @a(@x @x) %) probe begin { @a(1) }",
    ] {
        let (_, _, rendered) = parse(text.as_bytes());
        assert!(rendered.contains("expands without end"), "{text}\n{rendered}");
    }
}

#[test]
fn alternatives_that_multiply_are_refused() {
    let text = format!("probe {}.x {{ }}", vec!["{a, b}"; 40].join("."));
    let (_, _, rendered) = parse(text.as_bytes());
    assert!(rendered.contains("more than 10000 probe points"), "{rendered}");
}
