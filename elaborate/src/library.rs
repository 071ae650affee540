//! The script library: which of its files a script needs.
//!
//! All files are looked at quickly ([`scan`]); only those that define something the script uses,
//! or something that those use, are parsed.

use crate::folder::script_files;
use crate::scan::{self, Names};
use crate::walk::{self, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};
use xlate_grammar::Diagnostic;
use xlate_grammar::ast::{
    Block, Component, Expr, ExprKind, File, Function, FunctionBody, Item, ProbePoint,
};

include!(concat!(env!("OUT_DIR"), "/tapset.rs"));

/// Folders of a tapset that hold what is for another way to run scripts than as kernel modules.
const OTHER_RUNTIMES: &[&str] = &["bpf", "dyninst"];

/// Folders of a tapset that hold what is for one architecture only.
const ARCHITECTURES: &[&str] =
    &["arm", "arm64", "i386", "ia64", "loongarch64", "mips", "powerpc", "riscv", "s390", "x86_64"];

/// A file of the library.
#[derive(Debug)]
struct LibraryFile {
    name: String,
    text: Cow<'static, [u8]>,
}

/// The script library, not parsed.
#[derive(Debug, Default)]
pub struct Library {
    scripts: Vec<LibraryFile>,
    macros: Vec<LibraryFile>,
    /// What each of `scripts` may define.
    names: Vec<Names>,
}

impl Library {
    /// A library without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the library that comes with xlate. `arch` is as `uname -m` prints it.
    pub fn add_embedded(&mut self, arch: &str) {
        for (name, text) in EMBEDDED {
            if fits(Path::new(name), arch) {
                self.add(format!("tapset/{name}"), Cow::Borrowed(*text));
            }
        }
    }

    /// Adds all `.stp` and `.stpm` files in a folder and below, in the order of their names; each
    /// folder once, whatever links lead to it. Files added first are searched first.
    ///
    /// # Errors
    /// The path that cannot be read, and why.
    pub fn add_folder(&mut self, folder: &Path, arch: &str) -> Result<(), (PathBuf, io::Error)> {
        for path in script_files(folder, |inside| fits(inside, arch))? {
            let text = fs::read(&path).map_err(|error| (path.clone(), error))?;
            self.add(path.display().to_string(), Cow::Owned(text));
        }
        Ok(())
    }

    /// Adds one file; its name says whether it holds macros (`.stpm`).
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Cow<'static, [u8]>>) {
        let file = LibraryFile { name: name.into(), text: text.into() };
        if file.name.ends_with(".stpm") {
            self.macros.push(file);
        } else {
            self.names.push(scan::names(&file.text));
            self.scripts.push(file);
        }
    }

    /// Names and texts of the `.stpm` files.
    pub fn macro_files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.macros.iter().map(|file| (file.name.as_str(), &*file.text))
    }

    /// Names and texts of the `.stp` files.
    #[cfg(test)]
    pub(crate) fn script_files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.scripts.iter().map(|file| (file.name.as_str(), &*file.text))
    }

    /// The names of all functions in the library.
    pub(crate) fn function_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().flat_map(|names| names.functions.iter().map(String::as_str))
    }

    /// The first components of all aliases in the library.
    pub(crate) fn alias_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().flat_map(|names| names.aliases.iter().map(String::as_str))
    }
}

fn fits(path: &Path, arch: &str) -> bool {
    path.components().all(|component| {
        let name = component.as_os_str().to_string_lossy();
        name == arch || !(ARCHITECTURES.contains(&&*name) || OTHER_RUNTIMES.contains(&&*name))
    })
}

/// Parses a file of the library: name and text to tree and complaints.
pub type Load<'l> = dyn FnMut(&str, &[u8]) -> (File, Vec<Diagnostic>) + 'l;

/// The files of the library that define what `scripts` use, directly or by way of each other.
pub(crate) fn gather(
    scripts: &[File],
    library: &Library,
    load: &mut Load<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<File> {
    let mut gatherer = Gatherer {
        library,
        index: Index::new(library),
        files: BTreeMap::new(),
        wanted: Wanted::default(),
        own: own_functions(scripts),
    };
    for script in scripts {
        gatherer.file(script, true);
    }
    while let Some((kind, name)) = gatherer.wanted.queue.pop() {
        gatherer.need(kind, &name, load, diagnostics);
    }
    // In the order of the library, whatever order they were asked for in.
    gatherer.files.into_values().collect()
}

/// What the library may define by a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Function,
    Global,
    /// The name is the first component, possibly with wildcards.
    Alias,
}

#[derive(Default)]
struct Wanted {
    queue: Vec<(Kind, String)>,
    functions: FxHashSet<String>,
    globals: FxHashSet<String>,
    aliases: FxHashSet<String>,
}

impl Wanted {
    fn add(&mut self, kind: Kind, name: &str) {
        let seen = match kind {
            Kind::Function => &mut self.functions,
            Kind::Global => &mut self.globals,
            Kind::Alias => &mut self.aliases,
        };
        // Most names come up again and again.
        if !seen.contains(name) {
            seen.insert(name.to_owned());
            self.queue.push((kind, name.to_owned()));
        }
    }
}

#[derive(Default)]
struct Index<'a> {
    functions: FxHashMap<&'a str, Vec<usize>>,
    globals: FxHashMap<&'a str, Vec<usize>>,
    aliases: FxHashMap<&'a str, Vec<usize>>,
}

impl<'a> Index<'a> {
    fn new(library: &'a Library) -> Self {
        let mut index = Index::default();
        for (at, names) in library.names.iter().enumerate() {
            for (list, map) in [
                (&names.functions, &mut index.functions),
                (&names.globals, &mut index.globals),
                (&names.aliases, &mut index.aliases),
            ] {
                for name in list {
                    map.entry(name.as_str()).or_default().push(at);
                }
            }
        }
        index
    }

    fn files(&self, kind: Kind, name: &str) -> Vec<usize> {
        let of = |map: &FxHashMap<&str, Vec<usize>>| map.get(name).cloned().unwrap_or_default();
        match kind {
            Kind::Function => of(&self.functions),
            Kind::Global => of(&self.globals),
            Kind::Alias if !name.contains('*') => of(&self.aliases),
            Kind::Alias => {
                let matching = self.aliases.iter().filter(|(alias, _)| glob(name, alias));
                matching.flat_map(|(_, files)| files.iter().copied()).collect()
            }
        }
    }
}

/// Whether a name matches a pattern, in which `*` stands for any text.
pub(crate) fn glob(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where to go on after the last `*` if the text behind it did not match.
    let mut retry = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, n));
                p += 1;
            }
            Some(byte) if *byte == name[n] => (p, n) = (p + 1, n + 1),
            _ => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    (p, n) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Functions of the scripts that never hand over to an overload: name and number of parameters.
fn own_functions(scripts: &[File]) -> FxHashSet<(&str, usize)> {
    let functions = scripts.iter().flat_map(|script| &script.items).filter_map(|item| match item {
        Item::Function(function) => Some(function),
        _ => None,
    });
    functions
        .filter(|function| match &function.body {
            FunctionBody::Block(block) => !walk::has_next(block),
            FunctionBody::EmbeddedC(code) => !code.code.contains("STAP_NEXT"),
        })
        .map(|function| (function.name.name.as_str(), function.params.len()))
        .collect()
}

struct Gatherer<'a> {
    library: &'a Library,
    index: Index<'a>,
    /// The files that are parsed, by their place in the library.
    files: BTreeMap<usize, File>,
    wanted: Wanted,
    own: FxHashSet<(&'a str, usize)>,
}

impl Gatherer<'_> {
    fn need(
        &mut self,
        kind: Kind,
        wanted: &str,
        load: &mut Load<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut defining = self.index.files(kind, wanted);
        defining.sort_unstable();
        defining.dedup();
        for at in &defining {
            if !self.files.contains_key(at) {
                let LibraryFile { name, text } = &self.library.scripts[*at];
                let (file, complaints) = load(name, text);
                diagnostics.extend(complaints);
                self.file(&file, false);
                self.files.insert(*at, file);
            }
        }
        // What the definitions use; only those, for a file may define much more.
        let files = std::mem::take(&mut self.files);
        let items = defining.iter().filter_map(|at| files.get(at)).flat_map(|file| &file.items);
        for item in items {
            match (item, kind) {
                (Item::Function(function), Kind::Function) if function.name.name == wanted => {
                    self.function(function);
                }
                (Item::Alias(alias), Kind::Alias)
                    if first_components(&alias.name).iter().any(|first| glob(wanted, first)) =>
                {
                    self.points(&alias.points);
                    for block in alias.prologue.iter().chain(&alias.epilogue) {
                        self.block(block);
                    }
                }
                _ => {}
            }
        }
        self.files = files;
    }

    /// What a file uses by being there: its probes, and in a script also its functions.
    fn file(&mut self, file: &File, script: bool) {
        for item in &file.items {
            match item {
                Item::Probe(probe) => {
                    self.points(&probe.points);
                    self.block(&probe.body);
                }
                Item::Alias(alias) if script => {
                    self.points(&alias.points);
                    for block in alias.prologue.iter().chain(&alias.epilogue) {
                        self.block(block);
                    }
                }
                Item::Function(function) if script => self.function(function),
                _ => {}
            }
        }
    }

    fn function(&mut self, function: &Function) {
        match &function.body {
            FunctionBody::Block(block) => self.block(block),
            FunctionBody::EmbeddedC(_) => {}
        }
    }

    fn points(&mut self, points: &[ProbePoint]) {
        for point in points {
            for first in first_components(point) {
                if first == "oneshot" {
                    self.wanted.add(Kind::Function, "exit");
                }
                self.wanted.add(Kind::Alias, first);
            }
            self.conditions(point);
        }
    }

    fn conditions(&mut self, point: &ProbePoint) {
        if let Some(condition) = &point.condition {
            let mut visit = |node: Node<'_>| self.node(node);
            walk::expression(condition, &mut visit);
        }
        for component in &point.components {
            if let Component::Alternatives { points, .. } = component {
                points.iter().for_each(|point| self.conditions(point));
            }
        }
    }

    fn block(&mut self, block: &Block) {
        walk::block(block, &mut |node| self.node(node));
    }

    fn node(&mut self, node: Node<'_>) {
        match node {
            Node::Expr(Expr { kind: ExprKind::Call { name, args }, .. })
                if !self.own.contains(&(name.name.as_str(), args.len())) =>
            {
                self.wanted.add(Kind::Function, &name.name);
            }
            Node::Expr(Expr { kind: ExprKind::Name(name), .. }) => {
                self.wanted.add(Kind::Global, name);
            }
            Node::Array(name) => self.wanted.add(Kind::Global, name),
            _ => {}
        }
    }
}

/// The first components that a probe point can have.
fn first_components(point: &ProbePoint) -> Vec<&str> {
    match point.components.first() {
        Some(Component::Functor(functor)) => vec![&functor.name.name],
        Some(Component::Alternatives { points, .. }) => {
            points.iter().flat_map(first_components).collect()
        }
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        for (pattern, name) in [("a*", "abc"), ("*c", "abc"), ("a*b*c", "aXbYbc"), ("**", "x")] {
            assert!(glob(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a*", "ba"), ("a*c", "ab"), ("", "x"), ("abc", "ab")] {
            assert!(!glob(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn only_the_right_architecture_fits() {
        assert!(fits(Path::new("x86_64/registers.stp"), "x86_64"));
        assert!(!fits(Path::new("arm64/registers.stp"), "x86_64"));
        assert!(fits(Path::new("linux/x.stp"), "x86_64"));
        assert!(!fits(Path::new("bpf/x.stp"), "x86_64"));
    }
}
