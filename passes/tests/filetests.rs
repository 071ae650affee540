//! Runs passes on the files of `filetests` and compares what comes out with snapshots.
//!
//! The first line of a file, `; test PIPELINE`, says what runs. A file with a line `; unchanged` is one
//! that the passes must leave as it is. The snapshot holds the module and the remarks.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use xlate_ir::module::Module;
use xlate_ir::text::{parse, print};
use xlate_passes::manager::{NoObserver, Observer, Options, run};
use xlate_passes::pipeline::Pipeline;
use xlate_passes::registry::{PASSES, Pass};

/// Checks that passes say truly whether they changed something.
#[derive(Default)]
struct Truth {
    before: String,
}

impl Observer for Truth {
    fn before(&mut self, _: &Pass, module: &Module) {
        self.before = print(module);
    }

    fn after(&mut self, pass: &Pass, module: &Module, changed: bool) {
        let after = print(module);
        assert_eq!(
            self.before != after,
            changed,
            "{} tells whether it changed this:\n{}\n{after}",
            pass.name,
            self.before
        );
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn run_file(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a file");
    let name = path.display();
    let pipeline = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("; test "))
        .unwrap_or_else(|| panic!("{name} begins with `; test`"));
    let pipeline = Pipeline::parse(pipeline).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut module = parse(&text).unwrap_or_else(|error| panic!("{name}:{error}"));
    let before = module.clone();
    let options = Options { verify_each: true, ..Options::default() };
    let report = run(&mut module, &pipeline, &options, &mut Truth::default())
        .unwrap_or_else(|error| panic!("{name}: {error}\n{}", print(&module)));
    assert_eq!(parse(&print(&module)).as_ref(), Ok(&module), "{name}");
    if text.lines().any(|line| line == "; unchanged") {
        assert_eq!(print(&module), print(&before), "{name} stays as it is");
    } else {
        assert_ne!(print(&module), print(&before), "{name} is changed");
    }
    let mut output = print(&module);
    for remark in &report.remarks {
        let pos = remark.pos.map(|pos| format!(" {pos}")).unwrap_or_default();
        let _ = writeln!(output, "; {} {:?}{pos}: {}", remark.pass, remark.kind, remark.message);
        for (pos, note) in &remark.related {
            let _ = writeln!(output, ";   {pos}: {note}");
        }
    }
    let folder = path.parent().and_then(Path::file_name).expect("a folder");
    let mut settings = insta::Settings::clone_current();
    let snapshots = concat!(env!("CARGO_MANIFEST_DIR"), "/../snapshots/passes");
    settings.set_snapshot_path(Path::new(snapshots).join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_input_file(path);
    settings.set_omit_expression(true);
    let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
    settings.bind(|| insta::assert_snapshot!(stem, output));
}

#[test]
fn files_give_their_snapshots() {
    for file in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests")) {
        run_file(&file);
    }
}

#[test]
fn every_pass_has_files_and_one_that_it_leaves_alone() {
    for pass in PASSES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests").join(pass.name);
        let texts: Vec<String> = files(&folder)
            .iter()
            .map(|file| std::fs::read_to_string(file).expect("a file"))
            .collect();
        let unchanged = texts.iter().filter(|text| text.contains("\n; unchanged\n")).count();
        assert!(unchanged > 0, "{} has a file that it leaves alone", pass.name);
        assert!(unchanged < texts.len(), "{} has a file that it changes", pass.name);
    }
}

#[test]
fn passes_tell_what_they_did() {
    for pass in PASSES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests").join(pass.name);
        let (mut remarks, mut counters) = (0, 0);
        for file in files(&folder) {
            let text = std::fs::read_to_string(&file).expect("a file");
            let mut module = parse(&text).expect("a module");
            let pipeline = Pipeline::parse(pass.name).expect("a pass");
            let report = run(&mut module, &pipeline, &Options::default(), &mut NoObserver);
            let report = report.expect("it runs");
            remarks += report.remarks.len();
            counters += report.statistics.len();
        }
        assert!(counters > 0, "{} counts", pass.name);
        assert!(remarks > 0, "{} says what it did", pass.name);
    }
}

#[test]
fn the_book_explains_every_pass_and_the_standard_pipeline() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/passes.md");
    let book = std::fs::read_to_string(path).expect("the book");
    for pass in PASSES {
        assert!(book.contains(&format!("**`{}`**", pass.name)), "{} is explained", pass.name);
    }
    let squeezed: String = book.chars().filter(|c| !c.is_whitespace()).collect();
    assert!(
        squeezed.contains(&Pipeline::standard().to_string()),
        "the pipeline is the one that runs"
    );
}
