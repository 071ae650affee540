//! The modules of all cases, built beforehand.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use xlate_run::{BuildRequest, Cache, Interrupts, build};
use xlate_symbols::{Kernel, KernelSpec};

use xlate_vm::case::{Case, Source};

/// Builds the modules of cases for one kernel.
pub(crate) struct Builder<'a> {
    /// The kernel's release.
    pub(crate) release: &'a str,
    /// The `xlate` program.
    pub(crate) xlate: &'a Path,
    /// The cache folder.
    pub(crate) cache: &'a Path,
}

impl Builder<'_> {
    /// Builds every case's module into `folder`, as `NAME.ko`; the reason for each that failed,
    /// in the order of the cases.
    pub(crate) fn build_all(&self, cases: &[Case], folder: &Path) -> Vec<Result<PathBuf, String>> {
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        let next = Mutex::new(cases.iter().enumerate());
        let results = Mutex::new(vec![Err("not built".to_owned()); cases.len()]);
        thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    // A lock in the condition of `while let` would be held during the body.
                    let take = || next.lock().ok().and_then(|mut next| next.next());
                    while let Some((index, case)) = take() {
                        let result = self.build(case, folder);
                        if let Ok(mut results) = results.lock() {
                            results[index] = result;
                        }
                    }
                });
            }
        });
        results.into_inner().unwrap_or_default()
    }

    fn build(&self, case: &Case, folder: &Path) -> Result<PathBuf, String> {
        let target = folder.join(format!("{}.ko", case.name));
        let built = match &case.source {
            Source::Script { path, options, arguments } => {
                self.translate(path, options, arguments)?
            }
            Source::C(path) => self.compile(path)?,
        };
        // Debug information is most of a module and of no use in the guest.
        let strip = Command::new("strip").arg("-g").arg("-o").arg(&target).arg(&built).status();
        match strip {
            Ok(status) if status.success() => Ok(target),
            Ok(status) => Err(format!("strip failed on {}: {status}", built.display())),
            Err(error) => Err(format!("cannot run strip: {error}")),
        }
    }

    /// Passes 1 to 4 by the program itself, which prints where the module is.
    fn translate(
        &self,
        script: &Path,
        options: &[String],
        arguments: &[String],
    ) -> Result<PathBuf, String> {
        let output = Command::new(self.xlate)
            .args(["-p4", "-r", self.release])
            .args(options)
            .arg(script)
            .args(arguments)
            .env("XDG_CACHE_HOME", self.cache)
            .output()
            .map_err(|error| format!("cannot run {}: {error}", self.xlate.display()))?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        let module = stdout
            .lines()
            .last()
            .filter(|line| Path::new(line).extension() == Some(OsStr::new("ko")));
        match module {
            Some(module) if output.status.success() => Ok(module.into()),
            _ => Err(format!("{}{stdout}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// Pass 4 alone.
    fn compile(&self, path: &Path) -> Result<PathBuf, String> {
        let source = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let compile = || -> Result<PathBuf, Box<dyn std::error::Error>> {
            let kernel = Kernel::open(&KernelSpec::Release(self.release.to_owned()))?;
            let cache = Cache::open_at(self.cache.join("xlate"))?;
            let interrupts = Interrupts::catch()?;
            let built = build(&BuildRequest {
                kernel: &kernel,
                source: &source,
                name: None,
                make_variables: &[],
                cache: Some(&cache),
                keep: false,
                interrupts: &interrupts,
            })?;
            match built.cache_problem {
                None => Ok(built.path),
                Some(problem) => Err(problem.into()),
            }
        };
        compile().map_err(|error| error.to_string())
    }
}
