//! The page of `--explore`: script, IR after each pass, and C side by side, in one file.
//!
//! A [`Recorder`] watches the passes; [`page`] puts what it saw, the remarks, the lock plan and the C
//! as JSON into a page that needs nothing else. The page's own program (`page.js`) only shows data:
//! differences and the layout of graphs are computed here.

mod flow;
mod lines;
mod plan;
mod record;

use std::collections::BTreeMap;

use serde::Serialize;
use xlate_ir::entities::File;
use xlate_ir::module::Module;
use xlate_ir::types::Pos;
use xlate_passes::remarks::Remark;

use crate::remarks::kind_name;
use flow::NODE_COLUMNS;
use lines::{Finished, Lines};
use plan::Plan;
pub use record::Recorder;
use record::{Step, Unit, Version};

const HTML: &str = include_str!("page.html");
const CSS: &str = include_str!("page.css");
const JS: &str = include_str!("page.js");

/// What a page is made from, besides what the passes were seen to do.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What the page is called: the script's name.
    pub title: &'a str,
    /// The translator and its version.
    pub generator: &'a str,
    /// The module after all passes.
    pub module: &'a Module,
    /// What the passes say.
    pub remarks: &'a [Remark],
}

/// The data of a page. Files, lines, positions and units are named by their numbers.
#[derive(Serialize)]
struct Data<'a> {
    title: &'a str,
    generator: &'a str,
    files: Vec<FileText<'a>>,
    /// File, line and column.
    positions: Vec<(usize, u32, u32)>,
    /// Texts of IR lines, with the position of each or -1.
    lines: Vec<(String, i64)>,
    units: Vec<Unit>,
    steps: Vec<Step>,
    /// Texts of lines of C, with the positions of each.
    c_lines: Vec<(String, Vec<i64>)>,
    /// The C after the steps that change it.
    c: Vec<Version>,
    remarks: Vec<RemarkData<'a>>,
    plan: Plan,
    node_columns: usize,
}

#[derive(Serialize)]
struct FileText<'a> {
    name: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct RemarkData<'a> {
    pass: &'a str,
    kind: &'a str,
    pos: i64,
    message: &'a str,
    related: Vec<(i64, &'a str)>,
}

/// The page, as HTML. `script` gives the text of a file by its name.
pub fn page<'s>(
    recorder: Recorder,
    subject: &Subject<'_>,
    script: impl Fn(&str) -> Option<&'s str>,
) -> String {
    let data = data(recorder, subject, script);
    let title = escape(subject.title);
    // In this order: what the page shows is not searched for the next mark.
    HTML.replace("@TITLE@", &title)
        .replace("@CSS@", CSS)
        .replace("@JS@", JS)
        .replace("@DATA@", &data)
}

/// The data as JSON that can stand in an element of HTML.
fn data<'s>(
    recorder: Recorder,
    subject: &Subject<'_>,
    script: impl Fn(&str) -> Option<&'s str>,
) -> String {
    let shown_by = recorder.units_of_handlers(subject.module);
    let Recorder { mut lines, units, steps, c, .. } = recorder;
    let units: Vec<Unit> = units.into_iter().map(|tracked| tracked.unit).collect();
    let remarks = remarks(subject.remarks, &mut lines);
    let plan = Plan::of(subject.module, &shown_by, &mut lines);
    let Finished { ir, c: c_lines, positions } = lines.finish();
    let mut files = Files::default();
    let positions =
        positions.iter().map(|pos| (files.number(pos.file), pos.line, pos.column)).collect();
    let text_of = |file: &File| {
        let name = subject.module.files.get(*file).map_or("", String::as_str);
        FileText { name, text: script(name).unwrap_or_default() }
    };
    let data = Data {
        title: subject.title,
        generator: subject.generator,
        files: files.order.iter().map(text_of).collect(),
        positions,
        lines: ir,
        units,
        steps,
        c_lines,
        c,
        remarks,
        plan,
        node_columns: NODE_COLUMNS,
    };
    // `</script>` and `<!--` would end the element.
    crate::json::text(&data).replace('<', "\\u003c")
}

/// The files that positions refer to, in the order in which they come up.
#[derive(Default)]
struct Files {
    order: Vec<File>,
    numbers: BTreeMap<File, usize>,
}

impl Files {
    fn number(&mut self, file: File) -> usize {
        *self.numbers.entry(file).or_insert_with(|| {
            self.order.push(file);
            self.order.len() - 1
        })
    }
}

fn remarks<'a>(remarks: &'a [Remark], lines: &mut Lines) -> Vec<RemarkData<'a>> {
    let mut at = |pos: Option<Pos>| lines.position(pos);
    let data = remarks.iter().map(|remark| RemarkData {
        pass: remark.pass,
        kind: kind_name(remark.kind),
        pos: at(remark.pos),
        message: &remark.message,
        related: remark.related.iter().map(|(pos, what)| (at(Some(*pos)), &**what)).collect(),
    });
    data.collect()
}

/// Text as it stands in HTML.
fn escape(text: &str) -> String {
    // An at sign could be taken for one of the marks of the template.
    text.replace('&', "&amp;").replace('@', "&#64;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use xlate_codegen::EmitOptions;
    use xlate_passes::manager::{Options, run};
    use xlate_passes::pipeline::Pipeline;

    const SCRIPT: &str = "global n, k = 3\nprobe timer.profile { n += k * 2 }\nprobe end { println(n) } // </script>\n";

    fn explored() -> String {
        let mut module = xlate_ir::text::parse(
            "file f0 \"a.stp\"\n\
             global @n: long @f0:1:8\n\
             global @k: long = 3 @f0:1:11\n\
             probe timer.profile -> @h0 @f0:2:7\n\
             probe end(0) -> @h1 @f0:3:7\n\
             handler @h0 @f0:2:1 {\n\
             b0:\n\
             \x20 lock @n:write, @k:read @f0:2:1\n\
             \x20 v0 = load @k: long @f0:2:28\n\
             \x20 v1 = const 2: long @f0:2:32\n\
             \x20 v2 = mul v0, v1: long @f0:2:30\n\
             \x20 update.add @n, v2 @f0:2:23\n\
             \x20 unlock @n, @k @f0:2:1\n\
             \x20 ret\n}\n\
             handler @h1 @f0:3:1 {\n\
             b0:\n\
             \x20 v0 = load @n: long @f0:3:21\n\
             \x20 print \"%d\\n\", v0 @f0:3:13\n\
             \x20 ret\n}\n",
        )
        .expect("a module");
        let mut recorder = Recorder::new(&module, EmitOptions::default());
        let report = run(&mut module, &Pipeline::standard(), &Options::default(), &mut recorder)
            .expect("the passes run");
        let subject = Subject {
            title: "a<b>.stp",
            generator: "xlate",
            module: &module,
            remarks: &report.remarks,
        };
        page(recorder, &subject, |name| (name == "a.stp").then_some(SCRIPT))
    }

    fn embedded(page: &str) -> serde_json::Value {
        let (_, rest) =
            page.split_once("<script type=\"application/json\" id=\"data\">").expect("data");
        let (json, _) = rest.split_once("</script>").expect("an end");
        serde_json::from_str(json).expect("JSON")
    }

    #[test]
    fn the_page_is_complete_and_asks_for_nothing() {
        let page = explored();
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<title>a&lt;b&gt;.stp"));
        for mark in ["@TITLE@", "@CSS@", "@JS@", "@DATA@"] {
            assert!(!page.contains(mark), "{mark}");
        }
        let inside = page.replace("http://www.w3.org/2000/svg", "").replace("url(#arrow)", "");
        for word in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!inside.contains(word), "{word}");
        }
        assert_eq!(page, explored(), "the same every time");
    }

    #[test]
    fn the_data_tells_what_each_pass_did() {
        let data = embedded(&explored());
        assert_eq!(data["files"][0]["text"], SCRIPT);
        let unit = &data["units"][0];
        assert_eq!((&unit["name"], &unit["kind"]), (&"timer.profile".into(), &"handler".into()));
        let steps: Vec<&str> = data["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .filter_map(|s| s["pass"].as_str())
            .collect();
        let folding = steps.iter().position(|pass| *pass == "global-constness").expect("it folds");
        let versions = unit["versions"].as_array().expect("versions");
        let version = versions.iter().find(|v| v["step"] == folding).expect("a change");
        let rows: Vec<(char, &str)> = version["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .filter_map(|row| {
                let row = row.as_u64()? as usize;
                Some(([' ', '+', '-'][row % 3], data["lines"][row / 3][0].as_str()?))
            })
            .collect();
        assert!(rows.contains(&('-', "  v0 = load @k: long")), "{rows:?}");
        assert!(rows.contains(&('+', "  v0 = const 3: long")), "{rows:?}");
        assert!(rows.contains(&(' ', "handler @h0 {")), "{rows:?}");
        assert_eq!((&version["added"], &version["removed"]), (&1.into(), &1.into()));
    }

    #[test]
    fn c_lines_and_the_plan_name_places() {
        let data = embedded(&explored());
        let lines = data["c_lines"].as_array().expect("lines");
        let text = |line: &serde_json::Value| line[0].as_str().unwrap_or_default().to_owned();
        let update = lines.iter().find(|line| text(line).contains("g_n, 6)")).expect("the update");
        let position = &data["positions"][update[1][0].as_u64().expect("a number") as usize];
        assert_eq!(position[1], 2, "line 2 of the script");
        let plan = &data["plan"];
        assert_eq!(plan["handlers"][0]["name"], "timer.profile");
        assert_eq!(plan["globals"][0]["name"], "n");
        assert_eq!(plan["globals"].as_array().map(Vec::len), Some(1), "k is folded");
    }
}
