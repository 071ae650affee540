//! Cases: one folder each, read from disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a case may take in the guest unless it says otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What a case's module is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `script.stp`, or the script that `script` names, translated with the options in `options`; or a script of the corpus.
    Script {
        /// The script.
        path: PathBuf,
        /// Options for translating it.
        options: Vec<String>,
        /// The script's arguments.
        arguments: Vec<String>,
    },
    /// `module.c`, or the C file that `module` names: a hand-written module.
    C(PathBuf),
}

/// What must stand in a file that a case writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This text, with `{{…}}` for regular expressions.
    Text(String),
    /// Each of these somewhere.
    Parts(Vec<String>),
}

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The folder's name.
    pub name: String,
    /// The folder, all of which the guest gets; a case of the corpus has none.
    pub folder: Option<PathBuf>,
    /// What the module is made from.
    pub source: Source,
    /// The guest's shell script, if it is more than `xlate ARGS MODULE`.
    pub script: Option<String>,
    /// The arguments for xlate in the guest.
    pub arguments: String,
    /// What must be printed, with `{{…}}` for regular expressions.
    pub stdout: String,
    /// What must be in standard error.
    pub stderr: Expected,
    /// The exit status.
    pub status: i32,
    /// How long it may take.
    pub timeout: Duration,
}

impl Case {
    /// Reads all cases of a folder, sorted by name.
    pub fn read_all(folder: &Path) -> io::Result<Vec<Self>> {
        let mut cases = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                cases.push(Self::read(&entry.path())?);
            }
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(cases)
    }

    fn read(folder: &Path) -> io::Result<Self> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bad = |reason: &str| io::Error::other(format!("{}: {reason}", folder.display()));
        let optional = |file: &str| match fs::read_to_string(folder.join(file)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(bad(&format!("{file}: {error}"))),
        };
        let line = |file: &str| optional(file).map(|text| text.map(|text| text.trim().to_owned()));
        let number = |file: &str, default: i32| match line(file)? {
            Some(text) => text.parse().map_err(|_| bad(&format!("{file} is not a number"))),
            None => Ok(default),
        };
        let existing = |file: &str| Some(folder.join(file)).filter(|path| path.is_file());
        let options = line("options")?.unwrap_or_default();
        // A file that names another one saves a copy of it.
        let elsewhere = |file| line(file).map(|path| path.map(|path| folder.join(path)));
        let script = elsewhere("script")?.or_else(|| existing("script.stp"));
        let module = elsewhere("module")?.or_else(|| existing("module.c"));
        let source = match (script, module) {
            (Some(path), None) => Source::Script {
                path,
                options: options.split_whitespace().map(str::to_owned).collect(),
                arguments: Vec::new(),
            },
            (None, Some(path)) => Source::C(path),
            _ => return Err(bad("it needs one of script.stp, script, module.c and module")),
        };
        Ok(Self {
            name,
            source,
            script: optional("run.sh")?,
            arguments: line("args")?.unwrap_or_default(),
            stdout: optional("expected")?.ok_or_else(|| bad("it needs the file expected"))?,
            stderr: Expected::Text(optional("expected.err")?.unwrap_or_default()),
            status: number("status", 0)?,
            timeout: Duration::from_secs(number("timeout", TIMEOUT.as_secs() as i32)? as u64),
            folder: Some(folder.to_owned()),
        })
    }

    /// The shell script that the guest runs.
    pub fn guest_script(&self) -> String {
        match &self.script {
            Some(script) => script.clone(),
            None => format!("exec xlate {} \"$MODULE\"\n", self.arguments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(files: &[(&str, &str)]) -> io::Result<Case> {
        let folder = tempfile::tempdir().expect("temporary folder");
        for (name, contents) in files {
            fs::write(folder.path().join(name), contents).expect("written");
        }
        Case::read(folder.path())
    }

    #[test]
    fn a_script_with_everything() {
        let case = case(&[
            ("script.stp", "probe begin {}"),
            ("options", "-g -DMAXACTION=5\n"),
            ("args", "-T 1"),
            ("expected", "out\n"),
            ("expected.err", "err\n"),
            ("status", "1\n"),
            ("timeout", "90"),
        ])
        .expect("a case");
        let Source::Script { options, .. } = &case.source else { panic!("{:?}", case.source) };
        assert_eq!(options, &["-g", "-DMAXACTION=5"]);
        assert_eq!((case.status, case.timeout.as_secs()), (1, 90));
        assert_eq!(case.stdout, "out\n");
        assert_eq!(case.stderr, Expected::Text("err\n".to_owned()));
        assert_eq!(case.guest_script(), "exec xlate -T 1 \"$MODULE\"\n");
    }

    #[test]
    fn what_is_missing_is_named() {
        let reason = |files: &[(&str, &str)]| case(files).expect_err("bad").to_string();
        assert!(
            reason(&[("expected", "")])
                .ends_with("it needs one of script.stp, script, module.c and module")
        );
        assert!(reason(&[("module.c", "")]).ends_with("it needs the file expected"));
        let files = [("module.c", ""), ("expected", ""), ("status", "x")];
        assert!(reason(&files).ends_with("status is not a number"));
    }
}
