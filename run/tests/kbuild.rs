//! Pass 4 with the headers of an installed kernel: the whole way to a `.ko`, the cache, and what
//! a user sees when something is wrong. Without kernel headers only the last test does anything.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use xlate_run::{BuildRequest, Cache, Error, Interrupts, build};
use xlate_symbols::{Kernel, KernelSpec, Roots};

const MODULE: &str = "#include <linux/module.h>\nMODULE_LICENSE(\"GPL\");\n";

/// A kernel whose headers are installed.
fn kernel() -> Option<Kernel> {
    let mut releases: Vec<PathBuf> =
        fs::read_dir("/lib/modules").ok()?.flatten().map(|entry| entry.path()).collect();
    releases.sort();
    let release = releases.iter().find(|path| path.join("build/Makefile").exists())?;
    let name = release.file_name()?.to_str()?.to_owned();
    Some(Kernel::open(&KernelSpec::Release(name)).expect("installed"))
}

/// A test's kernel, cache and signals.
struct Setup {
    kernel: Kernel,
    folder: tempfile::TempDir,
    interrupts: Interrupts,
}

impl Setup {
    fn new() -> Option<Self> {
        let kernel = kernel()?;
        let folder = tempfile::tempdir().expect("temporary folder");
        Some(Self { kernel, folder, interrupts: Interrupts::catch().expect("caught") })
    }

    fn cache(&self) -> Cache {
        Cache::open_at(self.folder.path().join("cache")).expect("made")
    }

    fn request<'a>(&'a self, source: &'a str) -> BuildRequest<'a> {
        BuildRequest {
            kernel: &self.kernel,
            source,
            name: None,
            make_variables: &[],
            cache: None,
            keep: false,
            interrupts: &self.interrupts,
        }
    }
}

#[test]
fn a_module_is_built_once() {
    let Some(setup) = Setup::new() else { return };
    let cache = setup.cache();
    let request = BuildRequest { cache: Some(&cache), ..setup.request(MODULE) };
    let first = build(&request).expect("built");
    assert!(!first.cached && first.cache_problem.is_none() && first.kept.is_none());
    assert!(first.name.starts_with("xlate_") && first.name.len() == 38, "{}", first.name);
    assert_eq!(first.path.file_stem().and_then(|stem| stem.to_str()), Some(&*first.name));
    let second = build(&request).expect("found");
    assert!(second.cached);
    assert_eq!((&first.name, &first.path), (&second.name, &second.path));
    assert_eq!(fs::metadata(&second.path).expect("there").mode() & 0o077, 0);

    // A name, a make variable or another source make another module.
    let variables = ["V=0".to_owned()];
    let source = format!("{MODULE}int other;\n");
    for request in [
        BuildRequest { name: Some("mine"), ..request },
        BuildRequest { make_variables: &variables, ..request },
        BuildRequest { source: &source, ..request },
    ] {
        let other = build(&request).expect("built");
        assert!(!other.cached);
        assert_ne!(other.path, first.path);
    }
    let mine = build(&BuildRequest { name: Some("mine"), ..request }).expect("found");
    assert_eq!((mine.name.as_str(), mine.cached), ("mine", true));
}

#[test]
fn a_compiler_error_is_shown_and_nothing_is_kept() {
    let Some(setup) = Setup::new() else { return };
    let cache = setup.cache();
    let request = BuildRequest {
        cache: Some(&cache),
        name: Some("broken"),
        ..setup.request("int f(void) { return missing; }\n")
    };
    let message = build(&request).expect_err("does not compile").to_string();
    assert!(message.starts_with("the kernel module did not compile:\nbroken.c:1:"), "{message}");
    assert!(message.contains("missing"), "{message}");
    assert!(message.ends_with("use -k to keep the build folder"), "{message}");
    let kept = fs::read_dir(setup.folder.path().join("cache/modules")).expect("listed").count();
    assert_eq!(kept, 0);

    let request = BuildRequest { keep: true, ..request };
    let Err(Error::Kbuild { kept: Some(folder), .. }) = build(&request) else {
        panic!("the folder is named")
    };
    assert!(folder.join("broken.c").is_file());
    fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn a_kept_folder_is_left_and_named() {
    let Some(setup) = Setup::new() else { return };
    let built = build(&BuildRequest { keep: true, ..setup.request(MODULE) }).expect("built");
    let folder = built.kept.clone().expect("kept");
    drop(built);
    assert!(folder.join("Makefile").is_file() && folder.join("runtime").is_dir());
    fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn a_cache_on_a_full_disk_is_a_warning() {
    let Some(setup) = Setup::new() else { return };
    let Some(disk) = SmallDisk::mount(setup.folder.path(), "64k") else { return };
    let cache = Cache::open_at(disk.path.join("cache")).expect("made");
    fs::write(disk.path.join("filler"), vec![1; 60 * 1024]).expect("fits");
    let request = BuildRequest { cache: Some(&cache), ..setup.request(MODULE) };
    let built = build(&request).expect("built");
    assert!(built.path.is_file() && !built.cached);
    let problem = built.cache_problem.as_ref().expect("full").to_string();
    assert!(problem.starts_with("no space left on the file system of "), "{problem}");
    let entries = fs::read_dir(disk.path.join("cache/modules")).expect("listed").count();
    assert_eq!(entries, 0, "half a module was left");
}

#[test]
fn two_builds_at_once_give_one_module() {
    let Some(setup) = Setup::new() else { return };
    let source = format!("{MODULE}int twice;\n");
    let cache = setup.cache();
    let release = setup.kernel.release().to_owned();
    let one = || {
        let kernel = Kernel::open(&KernelSpec::Release(release.clone())).expect("installed");
        let request =
            BuildRequest { kernel: &kernel, cache: Some(&cache), ..setup.request(&source) };
        build(&request).expect("built").path.clone()
    };
    thread::scope(|scope| {
        let source = source.clone();
        let other = scope.spawn({
            let (release, cache) = (release.clone(), cache.clone());
            move || {
                let kernel = Kernel::open(&KernelSpec::Release(release)).expect("installed");
                let interrupts = Interrupts::catch().expect("caught");
                let request = BuildRequest {
                    kernel: &kernel,
                    source: &source,
                    name: None,
                    make_variables: &[],
                    cache: Some(&cache),
                    keep: false,
                    interrupts: &interrupts,
                };
                build(&request).expect("built").path.clone()
            }
        });
        assert_eq!(one(), other.join().expect("no panic"));
    });
    let entries = fs::read_dir(setup.folder.path().join("cache/modules")).expect("listed").count();
    assert_eq!(entries, 1);
}

#[test]
fn missing_headers_are_named() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("modules/6.1.0-none")).expect("made");
    fs::create_dir_all(path("proc/sys/kernel")).expect("made");
    fs::write(path("proc/sys/kernel/osrelease"), "6.1.0-live").expect("written");
    let roots = Roots {
        modules: path("modules"),
        boot: path("boot"),
        proc: path("proc"),
        sys: path("sys"),
    };
    let spec = KernelSpec::Release("6.1.0-none".to_owned());
    let kernel = Kernel::open_in(roots, &spec).expect("installed");
    let request = BuildRequest {
        kernel: &kernel,
        source: MODULE,
        name: None,
        make_variables: &[],
        cache: None,
        keep: false,
        interrupts: &Interrupts::catch().expect("caught"),
    };
    let message = build(&request).expect_err("no headers").to_string();
    assert!(
        message.starts_with("the headers of kernel 6.1.0-none are not installed: "),
        "{message}"
    );
}

/// A file system of a given size, for as long as this lives. Only root can have one.
struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    fn mount(folder: &Path, size: &str) -> Option<Self> {
        let path = folder.join("disk");
        fs::create_dir(&path).expect("made");
        let options = format!("size={size},mode=700");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "none"]).arg(&path);
        mount.status().is_ok_and(|status| status.success()).then_some(Self { path })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.path).status();
    }
}
