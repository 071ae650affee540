//! What the crate offers besides parsing a script: library macros, expansion of probe points,
//! positions behind macros.

use xlate_grammar::ast::{FlatPoint, Item, ProbePoint};
use xlate_grammar::{
    Environment, LibraryMacros, ParseOptions, SourceMap, has_errors, parse_library_macros,
    parse_script, print::print_expression, render, token_ranges,
};

fn library(sources: &mut SourceMap, text: &str) -> (LibraryMacros, String) {
    let file = sources.add("lib.stpm", text);
    let environment = Environment::default();
    let macros = LibraryMacros::new();
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &[], library: true };
    let (macros, diagnostics) = parse_library_macros(sources, file, &options);
    let text = render(sources, &diagnostics, false);
    (macros, text)
}

fn points(text: &str) -> Vec<ProbePoint> {
    let mut sources = SourceMap::new();
    let file = sources.add("a.stp", text);
    let environment = Environment::default();
    let macros = LibraryMacros::new();
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &[], library: false };
    let (tree, diagnostics) = parse_script(&mut sources, file, &options);
    assert!(!has_errors(&diagnostics), "{}", render(&sources, &diagnostics, false));
    match tree.items.into_iter().next() {
        Some(Item::Probe(probe)) => probe.points,
        other => panic!("not a probe: {other:?}"),
    }
}

fn show(point: &FlatPoint) -> String {
    let names: Vec<&str> = point.components.iter().map(|c| c.name.name.as_str()).collect();
    let flag = match (point.optional, point.sufficient) {
        (_, true) => "!",
        (true, false) => "?",
        (false, false) => "",
    };
    let conditions: Vec<String> = point.conditions.iter().map(print_expression).collect();
    let conditions: String = conditions.iter().map(|c| format!(" if {c}")).collect();
    format!("{}{flag}{conditions}", names.join("."))
}

#[test]
fn alternatives_expand_in_product_order() {
    let shown = |text: &str| -> Vec<String> {
        points(text).iter().flat_map(ProbePoint::expand).map(|point| show(&point)).collect()
    };
    assert_eq!(shown("probe {a, b}.{c, d.e}? { }"), ["a.c?", "a.d.e?", "b.c?", "b.d.e?"]);
    assert_eq!(shown("probe {{a, b}, c}.d { }"), ["a.d", "b.d", "c.d"]);
    assert_eq!(
        shown("probe x.{a?, b!, c if (p)} if (q) { }"),
        ["x.a? if q", "x.b! if q", "x.c if p if q"]
    );
}

#[test]
fn library_macros_are_known_in_scripts() {
    let mut sources = SourceMap::new();
    let (macros, errors) = library(&mut sources, "@define twice(x) %( (@x + @x) %)");
    assert_eq!((macros.len(), errors.as_str()), (1, ""));
    let file = sources.add("a.stp", "probe begin {\n  x = @twice(1) = = 2\n}");
    let environment = Environment::default();
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &[], library: false };
    let (_, diagnostics) = parse_script(&mut sources, file, &options);
    assert_eq!(diagnostics.len(), 1, "{}", render(&sources, &diagnostics, false));
    let span = diagnostics[0].span().expect("a position");
    assert_eq!(sources.locate(span), "a.stp:2:19");
}

#[test]
fn positions_in_a_macro_are_those_of_its_use() {
    let mut sources = SourceMap::new();
    let (macros, _) = library(&mut sources, "\n@define bad %( 1 + %)");
    let file = sources.add("a.stp", "probe begin {\n  x = @bad\n}");
    let environment = Environment::default();
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &[], library: false };
    let (_, diagnostics) = parse_script(&mut sources, file, &options);
    let text = render(&sources, &diagnostics, false);
    let span = diagnostics[0].span().expect("a position");
    // What is missing behind the macro is missing in the script.
    assert_eq!(sources.locate(span), "a.stp:3:1", "{text}");
}

#[test]
fn a_macro_file_holds_only_macros() {
    let mut sources = SourceMap::new();
    let (macros, errors) = library(&mut sources, "@define a %( 1 %) global b @define c %( 2 %)");
    assert_eq!(macros.len(), 2);
    assert!(errors.contains("nothing but macros"), "{errors}");
}

#[test]
fn tokens_are_found_without_a_parser() {
    let text = b"x += \"a b\" // no token\n%{ c %} $1";
    let found: Vec<&[u8]> = token_ranges(text).into_iter().map(|range| &text[range]).collect();
    assert_eq!(found, [&b"x"[..], b"+=", b"\"a b\"", b"%{ c %}", b"$1"]);
}
