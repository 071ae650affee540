//! Every `.xir` file of `filetests/` becomes the C in `snapshots/c`, and that C compiles.

use std::path::{Path, PathBuf};

use xlate_codegen::{EmitOptions, emit};
use xlate_ir::text::parse;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The files, in order.
fn inputs() -> Vec<PathBuf> {
    let dir = root().join("codegen/filetests");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .expect("filetests is a directory")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "xir"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn emitted(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("it can be read");
    let module = parse(&text).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
    emit(&module, &EmitOptions::default())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .c
}

#[test]
fn snapshots() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots/c"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for path in inputs() {
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let c = emitted(&path);
        settings.set_input_file(Path::new("codegen/filetests").join(format!("{name}.xir")));
        settings.bind(|| insta::assert_snapshot!(name, c));
    }
}
