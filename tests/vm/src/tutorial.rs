//! The scripts of SystemTap's tutorial as cases, read from where Debian's package systemtap-doc
//! puts them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use xlate_vm::case::{Case, Expected, Source};

/// Where the package has them.
const FOLDER: &str = "/usr/share/doc/systemtap/examples/tutorial";

/// A script of the tutorial.
struct Lesson {
    name: &'static str,
    options: &'static [&'static str],
    /// What the script lacks to be run.
    more: &'static str,
    /// Arguments for xlate in the guest.
    run: &'static str,
    expected: &'static str,
}

const LESSONS: &[Lesson] = &[
    Lesson { name: "hello-world", options: &[], more: "", run: "", expected: "hello world\n" },
    // It waits for twelve seconds; a busy machine may be late by a few ticks.
    Lesson {
        name: "timer-jiffies",
        options: &[],
        more: "",
        run: "",
        expected: "jiffies:ms ratio {{[0-9]+}}:{{[0-9]+}} => CONFIG_HZ={{2[3-5][0-9]}}\n",
    },
    // Functions only: they are called here.
    Lesson {
        name: "functions",
        options: &[],
        more: r#"
probe begin {
    printdln(" ", system_uid_p(100), system_uid_p(1000), makedev(8, 1), fibonacci(10))
    trace_common()
    println("")
    exit()
}
"#,
        run: "",
        expected: "1 0 8388609 55\n{{[0-9]+}} xlate({{[0-9]+}})\n",
    },
    Lesson { name: "embedded-C", options: &["-g"], more: "", run: "-x 1", expected: "init(1)\n" },
];

/// The cases. What a script lacks is added to a copy in `work`.
pub(crate) fn read_all(work: &Path) -> io::Result<Vec<Case>> {
    fs::create_dir_all(work)?;
    LESSONS.iter().map(|lesson| case(lesson, work)).collect()
}

fn case(lesson: &Lesson, work: &Path) -> io::Result<Case> {
    let original = Path::new(FOLDER).join(format!("{}.stp", lesson.name));
    let text = fs::read_to_string(&original).map_err(|error| {
        io::Error::other(format!("{}: {error}: run ./check packages", original.display()))
    })?;
    let path: PathBuf = work.join(format!("{}.stp", lesson.name));
    fs::write(&path, text + lesson.more)?;
    Ok(Case {
        name: format!("tutorial-{}", lesson.name),
        folder: None,
        source: Source::Script {
            path,
            options: lesson.options.iter().map(|&option| option.to_owned()).collect(),
            arguments: Vec::new(),
        },
        script: None,
        arguments: lesson.run.to_owned(),
        stdout: lesson.expected.to_owned(),
        stderr: Expected::Text(String::new()),
        status: 0,
        timeout: Duration::from_secs(60),
    })
}
