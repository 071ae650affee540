//! The kernel to measure on, and modules built for it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Bed;
use crate::tools::output;

/// The newest 6.1 that is installed with image and headers.
pub(crate) fn newest() -> io::Result<String> {
    let mut releases = Vec::new();
    for entry in fs::read_dir("/lib/modules")? {
        let release = entry?.file_name().to_string_lossy().into_owned();
        if release.starts_with("6.1.") && tree(&release).exists() && image(&release).exists() {
            releases.push(release);
        }
    }
    let patch = |release: &String| {
        let digits: String = release["6.1.".len()..]
            .chars()
            .map_while(|c| c.is_ascii_digit().then_some(c))
            .collect();
        let build = release.split('-').nth(1).and_then(|build| build.parse::<u32>().ok());
        (digits.parse::<u32>().unwrap_or(0), build)
    };
    releases.into_iter().max_by_key(patch).ok_or_else(|| {
        io::Error::other("no 6.1 kernel with headers and image is installed: run ./check packages")
    })
}

/// Its image.
pub(crate) fn image(release: &str) -> PathBuf {
    Path::new("/boot").join(format!("vmlinuz-{release}"))
}

/// Its build tree.
fn tree(release: &str) -> PathBuf {
    Path::new("/lib/modules").join(release).join("build")
}

/// The command that builds all modules of a folder.
pub(crate) fn kbuild(release: &str, folder: &Path) -> Command {
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(tree(release)).arg(format!("M={}", folder.display()));
    make.arg("modules");
    make
}

/// Builds the hand-written modules in `folder`.
pub(crate) fn build_floors(bed: &Bed, folder: &Path) -> io::Result<()> {
    copy_floors(bed, folder, None)?;
    output(&mut kbuild(&bed.kernel, folder)).map(drop)
}

/// Copies the sources of the hand-written modules; of one of them, if it is named.
pub(crate) fn copy_floors(bed: &Bed, folder: &Path, only: Option<&str>) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(bed.here.join("floor"))? {
        let path = entry?.path();
        fs::copy(&path, folder.join(path.file_name().unwrap_or_default()))?;
    }
    if let Some(name) = only {
        let kbuild = format!("obj-m := {name}.o\nccflags-remove-y += $(CC_FLAGS_FTRACE)\n");
        fs::write(folder.join("Kbuild"), kbuild)?;
    }
    Ok(())
}

/// Builds a script's module; `cache` is the folder for what may be used again.
pub(crate) fn translate(bed: &Bed, script: &Path, cache: &Path) -> io::Result<PathBuf> {
    let printed = output(&mut pass_4(bed, script, cache))?;
    match printed.lines().last() {
        Some(module) if module.ends_with(".ko") => Ok(module.into()),
        _ => Err(io::Error::other(format!("{}: no module: {printed}", script.display()))),
    }
}

/// The command for passes 1 to 4.
pub(crate) fn pass_4(bed: &Bed, script: &Path, cache: &Path) -> Command {
    let mut xlate = Command::new(&bed.xlate);
    xlate.args(["-p4", "-r", &bed.kernel]).arg(script).env("XDG_CACHE_HOME", cache);
    xlate
}
