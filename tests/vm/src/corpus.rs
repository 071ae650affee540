//! The scripts of the corpus as cases; `tests/corpus/README.md` says how they are laid out.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::case::{Case, Expected, Source};

/// How long a script may take in the guest.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Every script of the corpus that is to be run, sorted by name.
pub fn read_all(folder: &Path) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for theme in fs::read_dir(folder)? {
        let theme = theme?.path();
        if !theme.is_dir() {
            continue;
        }
        for file in fs::read_dir(&theme)? {
            let file = file?.path();
            if file.extension().is_some_and(|extension| extension == "stp") {
                cases.extend(read(&file)?);
            }
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// One script, unless it is not to be run.
fn read(script: &Path) -> io::Result<Option<Case>> {
    let bad = |reason: String| io::Error::other(format!("{}: {reason}", script.display()));
    let text = fs::read_to_string(script).map_err(|error| bad(error.to_string()))?;
    let directives = Directives::read(&text).map_err(bad)?;
    if !directives.runs {
        return Ok(None);
    }
    let beside = |extension: &str| match fs::read_to_string(script.with_extension(extension)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(bad(format!("{extension}: {error}"))),
    };
    let stdout = beside("out")?.ok_or_else(|| bad("it needs expected output".into()))?;
    let run = directives.run.join(" ");
    Ok(Some(Case {
        name: name(script),
        folder: None,
        source: Source::Script {
            path: PathBuf::from(script),
            options: directives.options,
            arguments: directives.arguments,
        },
        script: beside("sh")?.map(|workload| with_workload(&workload, &run)),
        arguments: run,
        stdout,
        stderr: match directives.stderr.is_empty() {
            true => Expected::Text(String::new()),
            false => Expected::Parts(directives.stderr),
        },
        status: directives.status,
        timeout: TIMEOUT,
    }))
}

/// `THEME-NAME`.
fn name(script: &Path) -> String {
    let theme = script.parent().and_then(Path::file_name).unwrap_or_default();
    let stem = script.file_stem().unwrap_or_default();
    format!("{}-{}", theme.to_string_lossy(), stem.to_string_lossy())
}

/// What the guest runs where a workload makes the probes fire: the workload's shell is the
/// session's command, so `target()` is that shell.
fn with_workload(workload: &str, arguments: &str) -> String {
    format!(
        "cat >workload.sh <<'END-OF-WORKLOAD'\n{workload}END-OF-WORKLOAD\n\
         exec xlate {arguments} -c 'exec sh workload.sh' \"$MODULE\"\n"
    )
}

/// What the lines `//: KEY VALUE` in front of a script say.
#[derive(Debug, Default, PartialEq, Eq)]
struct Directives {
    runs: bool,
    options: Vec<String>,
    run: Vec<String>,
    arguments: Vec<String>,
    stderr: Vec<String>,
    status: i32,
}

impl Directives {
    fn read(text: &str) -> Result<Self, String> {
        let mut directives = Directives { runs: true, ..Directives::default() };
        let comments = text.lines().take_while(|line| line.starts_with("//"));
        for line in comments.filter_map(|line| line.strip_prefix("//:")) {
            let line = line.trim();
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            let value = value.trim();
            let number = || value.parse::<i32>().map_err(|_| format!("`{value}` is no number"));
            match key {
                "options" => directives.options = words(value),
                "run" => directives.run = words(value),
                "args" => directives.arguments = words(value),
                "stderr" => directives.stderr.push(value.to_owned()),
                "status" => directives.status = number()?,
                "pass" => directives.runs = number()? >= 5,
                _ => return Err(format!("`{key}` is no key of a line `//:`")),
            }
        }
        Ok(directives)
    }
}

/// Words as in a shell, of which double quotes may make one.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in text.split('"').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_stand_in_the_comments_at_the_top() {
        let text = "// About.\n//: options -g -D MAXERRORS=2\n//: args 1 \"two words\"\n\
                    //: stderr ERROR: no\n//: status 1\n//: run -T 5\nprobe begin {}\n//: pass 1\n";
        let directives = Directives::read(text).expect("good");
        assert_eq!(directives.options, ["-g", "-D", "MAXERRORS=2"]);
        assert_eq!(directives.arguments, ["1", "two words"]);
        assert_eq!(directives.stderr, ["ERROR: no"]);
        assert_eq!(directives.run, ["-T", "5"]);
        assert_eq!((directives.status, directives.runs), (1, true));
    }

    #[test]
    fn scripts_for_early_passes_are_not_run() {
        assert!(!Directives::read("//: pass 1\n").expect("good").runs);
        assert!(Directives::read("//: color red\n").is_err());
        assert!(Directives::read("//: status x\n").is_err());
    }

    #[test]
    fn the_corpus_is_well_formed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
        let cases = read_all(&folder).expect("readable");
        assert!(cases.len() >= 60, "only {} cases", cases.len());
    }
}
