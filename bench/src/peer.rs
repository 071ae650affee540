//! SystemTap.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::Case;
use crate::tools::outputs;

/// A SystemTap, with a cache folder of its own: what it finds out about the kernel once, which takes
/// minutes, is kept from script to script, and nothing of earlier runs is there.
#[derive(Debug)]
pub(crate) struct Peer {
    stap: PathBuf,
    version: String,
    home: TempDir,
}

/// What a run of the peer leaves.
#[derive(Debug)]
pub(crate) struct Passes {
    /// Milliseconds of each pass, from pass 1 on, as it says itself.
    pub(crate) milliseconds: Vec<f64>,
    /// What it printed: the C, after pass 3.
    pub(crate) text: String,
}

impl Peer {
    /// The one whose `stap` this is.
    pub(crate) fn new(stap: &Path) -> io::Result<Self> {
        let (text, messages) = outputs(Command::new(stap).arg("--version"))?;
        let first = messages.lines().chain(text.lines()).next().unwrap_or_default();
        let home = TempDir::with_prefix("xlate-bench-stap-")?;
        Ok(Self { stap: stap.to_owned(), version: first.to_owned(), home })
    }

    /// What it calls itself.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Runs passes 1 to `last`, leaving `peer_NAME.ko` in `folder` after pass 4. Without success it
    /// says why and gives none: the columns stay empty.
    pub(crate) fn passes(
        &self,
        last: usize,
        kernel: &str,
        case: &Case,
        folder: &Path,
    ) -> Option<Passes> {
        let run = || -> io::Result<Passes> {
            fs::create_dir_all(folder)?;
            let mut stap = Command::new(&self.stap);
            // With a name for the module it keeps neither C nor module in its cache.
            stap.arg(format!("-p{last}"))
                .args(["-v", "-r", kernel, "-m", &module_name(case)])
                .arg(&case.script)
                .env("SYSTEMTAP_DIR", self.home.path())
                .current_dir(folder);
            let (text, messages) = outputs(&mut stap)?;
            let milliseconds: Vec<f64> = messages.lines().filter_map(pass_time).collect();
            match milliseconds.len() == last {
                true => Ok(Passes { milliseconds, text }),
                false => Err(io::Error::other(format!("no times of its passes in\n{messages}"))),
            }
        };
        tell(run())
    }

    /// Builds a script's module in `folder`.
    pub(crate) fn build(&self, kernel: &str, case: &Case, folder: &Path) -> Option<PathBuf> {
        self.passes(4, kernel, case, folder)?;
        Some(folder.join(format!("{}.ko", module_name(case))))
    }

    /// Drops what pass 4 has found out about the kernel's headers.
    pub(crate) fn forget_headers(&self) -> io::Result<()> {
        for folder in fs::read_dir(self.home.path().join("cache")).into_iter().flatten().flatten() {
            for entry in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                if entry.file_name().to_string_lossy().starts_with("stapconf") {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        Ok(())
    }
}

fn module_name(case: &Case) -> String {
    format!("peer_{}", case.name)
}

/// The milliseconds in `Pass N: … in 10usr/0sys/12real ms.`
fn pass_time(line: &str) -> Option<f64> {
    let times = line.strip_prefix("Pass ")?.rsplit(" in ").next()?;
    times.split('/').find_map(|time| time.split_once("real")?.0.parse().ok())
}

/// The value, unless there was an error, which is shown.
pub(crate) fn tell<T>(result: io::Result<T>) -> Option<T> {
    result
        .map_err(|error| {
            let text = error.to_string();
            let lines: Vec<_> = text.lines().take(6).collect();
            eprintln!("bench: the peer fails: {}", lines.join("\n"));
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found() {
        let line =
            "Pass 1: parsed user script using 109virt/10shr/11data kb, in 12usr/3sys/29real ms.";
        assert_eq!(pass_time(line), Some(29.0));
        assert_eq!(pass_time("Pass 5: starting run."), None);
        assert_eq!(pass_time("WARNING: in 1usr/2sys/3real ms."), None);
    }
}
