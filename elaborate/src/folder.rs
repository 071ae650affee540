//! The script files of a folder and of those below it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The path that cannot be read, and why.
pub(crate) type Unreadable = (PathBuf, io::Error);

/// All `.stp` and `.stpm` files in a folder and below, in the order of their paths.
///
/// `fits` says which paths, from the folder on, count. Links are followed. A folder that can be
/// reached in several ways is read once, by the path with the fewest folders in it, so links may
/// lead back to where they stand. Links that lead nowhere and what is no file are left out: editors
/// put such links beside files that are being edited.
///
/// # Errors
/// If a folder cannot be listed.
pub(crate) fn script_files(
    folder: &Path,
    fits: impl Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, Unreadable> {
    let mut seen = HashSet::new();
    let mut files = Vec::new();
    let mut level = vec![folder.to_owned()];
    while !level.is_empty() {
        let mut below = Vec::new();
        level.sort();
        for folder_here in level {
            let real = folder_here.canonicalize().map_err(|error| (folder_here.clone(), error))?;
            if !seen.insert(real) {
                continue;
            }
            for path in entries(&folder_here)? {
                let Ok(metadata) = fs::metadata(&path) else { continue };
                if !fits(path.strip_prefix(folder).unwrap_or(&path)) {
                    continue;
                }
                if metadata.is_dir() {
                    below.push(path);
                } else if metadata.is_file() && is_script(&path) {
                    files.push(path);
                }
            }
        }
        level = below;
    }
    files.sort();
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .map_err(|error| (folder.to_owned(), error))
}

fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "stp" || extension == "stpm")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// The files below a folder, by their paths from it on.
    fn files(folder: &Path) -> Vec<String> {
        let files = script_files(folder, |path| !path.starts_with("other")).expect("readable");
        let inside = |path: &PathBuf| path.strip_prefix(folder).expect("inside").to_owned();
        files.iter().map(|path| inside(path).display().to_string()).collect()
    }

    #[test]
    fn files_come_in_the_order_of_their_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        for path in ["b", "a.d", "other"] {
            fs::create_dir(at(path)).expect("made");
        }
        for path in ["z.stp", "a.stpm", "b/x.stp", "a.d/y.stp", "README", "other/o.stp"] {
            fs::write(at(path), "").expect("written");
        }
        assert_eq!(files(folder.path()), ["a.d/y.stp", "a.stpm", "b/x.stp", "z.stp"]);
    }

    #[test]
    fn links_may_lead_back_aside_and_nowhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("a/deep")).expect("made");
        fs::create_dir(at("b")).expect("made");
        for path in ["x.stp", "b/y.stp"] {
            fs::write(at(path), "").expect("written");
        }
        for (link, target) in [
            ("again", "."),
            ("again.stp", "."),
            ("folder.stp", "b"),
            ("a/deep/up", "../.."),
            ("a/deep/b", "../../b"),
            ("linked.stp", "x.stp"),
            ("round.stp", "round.stp"),
            (".#x.stp", "somebody@somewhere.1:2"),
        ] {
            symlink(target, at(link)).expect("linked");
        }
        // Of two paths of one length the first counts.
        assert_eq!(files(folder.path()), ["b/y.stp", "linked.stp", "x.stp"]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_told() {
        let (path, error) =
            script_files(Path::new("/no/such"), |_| true).expect_err("it is not there");
        assert_eq!(
            (path.as_path(), error.kind()),
            (Path::new("/no/such"), io::ErrorKind::NotFound)
        );
    }
}
