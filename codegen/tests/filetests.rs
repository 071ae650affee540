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

/// The build trees of the installed kernels' headers, in order.
fn kernel_builds() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir("/lib/modules") else { return Vec::new() };
    let mut trees: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path().join("build")))
        .filter(|build| build.join("Makefile").exists())
        .collect();
    trees.sort();
    trees
}

/// A body with so many keys that they must share places: the stack of a kernel is small.
fn many_keys() -> String {
    let mut text = "global @a[long, long, long]: long max=100 serial\n\
                    probe begin(0) -> @h0\n\
                    handler @h0 {\nb0:\n  v0 = ctx.pid: long\n"
        .to_owned();
    for n in 1..=120 {
        text.push_str(&format!("  v{n} = const {n}: long\n  store @a[v0, v0, v{n}], v0\n"));
    }
    text.push_str("  ret\n}\n");
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    emit(&module, &EmitOptions::default()).expect("it is emitted").c
}

/// On all installed kernels. Without headers there is nothing to compile with; `./check` installs
/// them.
#[test]
fn compiles_without_warnings() {
    let runtime = root().join("runtime/linux").canonicalize().expect("the runtime is there");
    for build in kernel_builds() {
        let dir = tempfile::tempdir().expect("a folder for the build");
        let mut objects = Vec::new();
        for path in inputs() {
            let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
            let file = dir.path().join(format!("t_{name}.c"));
            std::fs::write(file, emitted(&path)).expect("written");
            objects.push(format!("t_{name}.o"));
        }
        std::fs::write(dir.path().join("t_many_keys.c"), many_keys()).expect("written");
        objects.push("t_many_keys.o".to_owned());
        let kbuild =
            format!("obj-m := {}\nccflags-y := -I{}\n", objects.join(" "), runtime.display());
        std::fs::write(dir.path().join("Kbuild"), kbuild).expect("written");
        let output = std::process::Command::new("make")
            .args(["-s", "-k", "-j2", "W=1", "-C"])
            .arg(&build)
            .arg(format!("M={}", dir.path().display()))
            .args(&objects)
            .output()
            .expect("make can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        let is_clean = output.status.success() && !said.contains("warning");
        assert!(is_clean, "{}: {said}", build.display());
    }
}

#[test]
fn lines_are_at_most_a_hundred_columns() {
    for path in inputs() {
        for line in emitted(&path).lines() {
            let columns: usize = line.chars().map(|c| if c == '\t' { 8 } else { 1 }).sum();
            assert!(columns <= 100, "{}: {columns} columns: {line}", path.display());
        }
    }
}

#[test]
fn the_counter_is_short() {
    let c = emitted(&root().join("codegen/filetests/count.xir"));
    assert!(c.lines().count() <= 60, "{c}");
}

#[test]
fn many_points_share_one_body() {
    let mut text =
        std::fs::read_to_string(root().join("codegen/filetests/count.xir")).expect("read");
    for n in 0..200 {
        text.push_str(&format!("probe kernel.trace(\"event_{n}\") -> @h0\n"));
    }
    let module = parse(&text).expect("a module");
    let c = emit(&module, &EmitOptions::default()).expect("it is emitted").c;
    assert_eq!(c.matches("static void handler_0(").count(), 1);
    assert_eq!(c.matches("XL_TRACEPOINT(").count(), 1);
    assert_eq!(c.matches(".name = \"").count(), 201);
    assert_eq!(c, emit(&module, &EmitOptions::default()).expect("again").c);
}

#[test]
fn what_cannot_be_emitted_is_said() {
    let failure = |text: &str| {
        let module = parse(text).expect("a module");
        emit(&module, &EmitOptions::default()).expect_err("it cannot be emitted").to_string()
    };
    let text = "regex re0 \"(a\"\nprobe begin(0) -> @h0\nhandler @h0 {\nb0:\n  v0 = ctx.execname: str<15>\n  \
                v1 = match re0, v0: long\n  print \"%d\", v1\n  ret\n}";
    assert_eq!(failure(text), "regular expression \"(a\": unmatched (");
}

/// The C of each place in the script, lines trimmed.
#[test]
fn lines_know_their_places() {
    let module = parse(
        "file f0 \"a.stp\"
global @n: long @f0:1:8
probe timer.profile -> @h0 @f0:2:1
handler @h0 @f0:2:1 {
b0:
  lock @n:write                         @f0:4:3
  v0 = ctx.pid: long                    @f0:3:7
  v1 = const 10: long                   @f0:3:15
  v2 = cmp.gt v0, v1: long              @f0:3:13
  branch v2, b1, b2
b1:
  update.add @n, v0                     @f0:4:3
  v3 = load @n: long                    @f0:5:20
  print \"%d\\n\", v3                   @f0:5:5
  print \"y\"                            @f0:8:5
  print \"x\"                            @f0:9:5
  jump b3(v1)
b2:
  v4 = const 3: long                    @f0:6:9
  jump b3(v4)
b3(v5: long):
  store @n, v5                          @f0:7:3
  unlock @n                             @f0:7:3
  ret
}
",
    )
    .expect("a module");
    let emitted = emit(&module, &EmitOptions::default()).expect("it is emitted");
    let lines: Vec<&str> = emitted.c.lines().collect();
    let at = |line: u32| -> Vec<&str> {
        let here = emitted.origins.iter().filter(|(_, pos)| pos.line == line);
        let mut found: Vec<&str> = here.map(|(number, _)| lines[number - 1].trim()).collect();
        found.dedup();
        found
    };
    assert_eq!(
        at(2),
        ["/* a.stp:2:1: timer.profile */", "static void handler_0(struct xl_context *c)"]
    );
    assert_eq!(at(3), ["pid = xl_ctx_pid(c);", "if (pid > 10) {", "t = 10;"]);
    assert_eq!(
        at(4),
        ["unsigned long flags = xl_irq_off();", "if (!xl_write_lock(c, &g_n_lock))", "g_n += pid;"]
    );
    assert_eq!(
        at(5),
        ["if (xl_print_room_for(c, 21)) {", "xl_put_long(c, g_n);", "xl_put(c, \"\\n\");"]
    );
    assert_eq!(at(8), ["xl_print(c, \"yx\");"]);
    let declared = ["static s64 g_n;\t\t\t\t/* a.stp:1:8 */", "static struct xl_lock g_n_lock;"];
    assert_eq!(at(1), declared);
    assert_eq!(at(9), ["xl_print(c, \"yx\");"], "one call prints both");
    assert_eq!(at(6), ["t = 3;"]);
    assert_eq!(at(7), ["g_n = t;", "xl_write_unlock(&g_n_lock);"]);
    assert!(emitted.origins.is_sorted());
}
