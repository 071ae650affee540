//! The explorer's page of every script that lowering has a snapshot of: what it says fits together.

#[path = "../../passes/tests/lowered/mod.rs"]
mod lowered;

use std::collections::BTreeSet;

use serde_json::Value;
use xlate_codegen::EmitOptions;
use xlate_ir::module::Module;
use xlate_ir::text;
use xlate_passes::manager::{Options, run};
use xlate_passes::pipeline::Pipeline;
use xlate_report::explore::{Recorder, Subject, page};

/// The data of the page of a module, the module after all passes, and its C.
fn explored(name: &str, mut module: Module) -> (Value, Module, String) {
    let mut recorder = Recorder::new(&module, EmitOptions::default());
    let options = Options { verify_each: false, ..Options::default() };
    let report = run(&mut module, &Pipeline::standard(), &options, &mut recorder)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let emitted = xlate_codegen::emit(&module, &EmitOptions::default())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let subject =
        Subject { title: name, generator: "xlate", module: &module, remarks: &report.remarks };
    let page = page(recorder, &subject, |_| None);
    let (_, rest) = page.split_once("id=\"data\">").expect("data");
    let (json, _) = rest.split_once("</script>").expect("an end");
    let data = serde_json::from_str(json).unwrap_or_else(|error| panic!("{name}: {error}"));
    (data, module, emitted.c)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

/// The texts of the last of some versions, of the lines given; none if it is gone.
fn last_lines<'d>(lines: &'d Value, versions: &Value) -> Vec<&'d str> {
    let last = list(versions).last().expect("a version");
    let rows = list(&last["rows"]).iter().map(number).filter(|row| row % 3 != 2);
    rows.map(|row| lines[row / 3][0].as_str().expect("a text")).collect()
}

fn check_graph(name: &str, flow: &Value, rows: usize) {
    let nodes = list(&flow["nodes"]);
    let total: usize = nodes.iter().map(|node| number(&node["count"])).sum();
    assert_eq!(total + 2, rows, "{name}: blocks, a heading and a brace");
    let side = |node: &Value, at: &str, size: &str| {
        let start = node[at].as_i64().expect("a number");
        (start, start + node[size].as_i64().expect("a number"))
    };
    for (n, a) in nodes.iter().enumerate() {
        for b in &nodes[n + 1..] {
            let apart = |at, size| {
                let (a, b) = (side(a, at, size), side(b, at, size));
                a.1 <= b.0 || b.1 <= a.0
            };
            assert!(apart("x", "w") || apart("y", "h"), "{name}: {a} and {b} overlap");
        }
    }
}

#[test]
fn pages_fit_together() {
    let mut graphs = 0;
    for (name, module) in lowered::modules() {
        let (data, after, c) = explored(&name, module);
        let expected: BTreeSet<String> =
            after.handlers.iter().map(|(id, _)| text::print_handler(&after, id)).collect();
        let expected: BTreeSet<usize> = expected.iter().map(|text| text.lines().count()).collect();
        for unit in list(&data["units"]) {
            let lines = last_lines(&data["lines"], &unit["versions"]);
            let gone = list(&unit["versions"]).last().expect("a version")["gone"] == true;
            assert_eq!(gone, lines.is_empty(), "{name}: {unit}");
            if unit["kind"] == "handler" && !gone {
                assert!(expected.contains(&lines.len()), "{name}: {lines:?}");
            }
            for version in list(&unit["versions"]) {
                let rows = list(&version["rows"]).iter().map(number);
                let live = rows.filter(|row| row % 3 != 2).count();
                if !version["flow"].is_null() {
                    check_graph(&name, &version["flow"], live);
                    graphs += 1;
                }
            }
        }
        let positions = list(&data["positions"]).len();
        assert_eq!(last_lines(&data["c_lines"], &data["c"]), c.lines().collect::<Vec<_>>());
        for line in list(&data["c_lines"]) {
            assert!(list(&line[1]).iter().all(|pos| number(pos) < positions), "{name}: {line}");
        }
        assert_eq!(list(&data["plan"]["globals"]).len(), after.globals.len(), "{name}");
    }
    assert!(graphs > 500, "{graphs} graphs");
}
