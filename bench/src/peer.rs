//! SystemTap.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::output;

/// A SystemTap.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    stap: PathBuf,
}

impl Peer {
    /// The one whose `stap` this is.
    pub(crate) fn new(stap: &Path) -> io::Result<Self> {
        output(Command::new(stap).arg("--version"))?;
        Ok(Self { stap: stap.to_owned() })
    }

    /// The command for passes 1 to `last`, with nothing cached.
    pub(crate) fn passes(&self, last: u32, kernel: &str, script: &Path, folder: &Path) -> Command {
        let mut stap = Command::new(&self.stap);
        stap.arg(format!("-p{last}"))
            .args(["-r", kernel, "--disable-cache"])
            .arg(script)
            .env("SYSTEMTAP_DIR", folder)
            .current_dir(folder);
        stap
    }

    /// Builds a script's module in `folder`. Without success it says why and gives none: the
    /// columns stay empty.
    pub(crate) fn build(
        &self,
        kernel: &str,
        name: &str,
        script: &Path,
        folder: &Path,
    ) -> Option<PathBuf> {
        let module = format!("peer_{name}");
        let build = || -> io::Result<PathBuf> {
            fs::create_dir_all(folder)?;
            output(self.passes(4, kernel, script, folder).args(["-m", &module]))?;
            Ok(folder.join(format!("{module}.ko")))
        };
        tell(build())
    }

    /// What a command gives, unless it fails: then it says why.
    pub(crate) fn text(&self, kernel: &str, script: &Path, folder: &Path) -> Option<String> {
        tell(output(&mut self.passes(3, kernel, script, folder)))
    }
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
