//! What the files of a run declare, and which declaration a name means.

use rustc_hash::FxHashMap;
use xlate_grammar::Diagnostic;
use xlate_grammar::ast::{
    Alias, EmbeddedC, Expr, File, FlatPoint, Function, FunctionBody, Functor, GlobalVariable, Item,
    Probe,
};

/// One of the files of a run, by position: scripts first, then files of the library.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct FileIndex(pub(crate) usize);

/// A declared global, by position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct GlobalDecl(pub(crate) usize);

/// A declared function, by position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct FunctionDecl(pub(crate) usize);

/// Something declared, and where.
#[derive(Debug)]
pub(crate) struct Declared<'a, T> {
    pub(crate) node: &'a T,
    pub(crate) file: FileIndex,
    pub(crate) private: bool,
}

// Derived, it would ask `T` to be `Copy` too.
impl<T> Clone for Declared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Declared<'_, T> {}

/// One of the names that an alias has by its alternatives.
#[derive(Clone, Debug)]
pub(crate) struct AliasName<'a> {
    pub(crate) name: Vec<Functor>,
    /// Conditions on the alias itself.
    pub(crate) conditions: Vec<Expr>,
    pub(crate) alias: &'a Alias,
    pub(crate) file: FileIndex,
}

/// Everything that is declared.
#[derive(Debug, Default)]
pub(crate) struct Declarations<'a> {
    /// How many of the files are scripts of the user.
    pub(crate) scripts: usize,
    pub(crate) globals: Vec<Declared<'a, GlobalVariable>>,
    pub(crate) functions: Vec<Declared<'a, Function>>,
    pub(crate) aliases: Vec<AliasName<'a>>,
    pub(crate) probes: Vec<(&'a Probe, FileIndex)>,
    pub(crate) embedded: Vec<(&'a EmbeddedC, FileIndex)>,
    globals_by_name: FxHashMap<&'a str, Vec<GlobalDecl>>,
    functions_by_name: FxHashMap<&'a str, Vec<FunctionDecl>>,
    /// Positions in `aliases` by the first component of the name.
    aliases_by_name: FxHashMap<String, Vec<usize>>,
}

impl<'a> Declarations<'a> {
    /// Collects what the files declare, and complains about names that are declared twice.
    pub(crate) fn collect(
        scripts: &'a [File],
        library: &'a [File],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut declarations = Declarations { scripts: scripts.len(), ..Self::default() };
        for (at, file) in scripts.iter().chain(library).enumerate() {
            for item in &file.items {
                declarations.item(item, FileIndex(at), diagnostics);
            }
        }
        declarations
    }

    fn item(&mut self, item: &'a Item, file: FileIndex, diagnostics: &mut Vec<Diagnostic>) {
        match item {
            Item::Probe(probe) => self.probes.push((probe, file)),
            Item::Alias(alias) => {
                for FlatPoint { components: name, conditions, .. } in alias.name.expand() {
                    if let Some(first) = name.first() {
                        let named = self.aliases_by_name.entry(first.name.name.clone());
                        named.or_default().push(self.aliases.len());
                    }
                    self.aliases.push(AliasName { name, conditions, alias, file });
                }
            }
            Item::Global(global) => {
                for variable in &global.variables {
                    self.global(variable, global.private, file, diagnostics);
                }
            }
            Item::Function(function) => {
                let decl = FunctionDecl(self.functions.len());
                let private = function.private;
                self.functions.push(Declared { node: function, file, private });
                self.functions_by_name.entry(&function.name.name).or_default().push(decl);
            }
            Item::EmbeddedC(code) => self.embedded.push((code, file)),
        }
    }

    fn global(
        &mut self,
        variable: &'a GlobalVariable,
        private: bool,
        file: FileIndex,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let name = variable.name.name.as_str();
        let others = self.globals_by_name.entry(name).or_default();
        let twice = others.iter().map(|decl| &self.globals[decl.0]).find(|other| {
            let same_side = (other.file.0 < self.scripts) == (file.0 < self.scripts);
            if other.private || private { other.file == file } else { same_side }
        });
        if let Some(other) = twice {
            diagnostics.push(
                Diagnostic::error(
                    variable.name.span,
                    format!("global `{name}` is declared twice"),
                    "declared again here",
                )
                .with_secondary(other.node.name.span, "first declared here"),
            );
            return;
        }
        others.push(GlobalDecl(self.globals.len()));
        self.globals.push(Declared { node: variable, file, private });
    }

    /// Whether the file belongs to the library.
    pub(crate) fn is_library(&self, file: FileIndex) -> bool {
        file.0 >= self.scripts
    }

    /// The aliases whose names begin with this component, in the order of declaration.
    pub(crate) fn aliases_named(&self, first: &str) -> impl Iterator<Item = &AliasName<'a>> {
        let named = self.aliases_by_name.get(first).map(Vec::as_slice).unwrap_or_default();
        named.iter().map(|at| &self.aliases[*at])
    }

    /// The global that a name means in a file: a `private` one of that file, one that the file's
    /// own side (scripts or library) declares, or one of the other side.
    pub(crate) fn find_global(&self, name: &str, from: FileIndex) -> Option<GlobalDecl> {
        let candidates = self.globals_by_name.get(name)?;
        let rank = |decl: &GlobalDecl| {
            let global = &self.globals[decl.0];
            match (global.private, global.file == from) {
                (true, true) => Some(0),
                (true, false) => None,
                (false, _) if self.is_library(global.file) == self.is_library(from) => Some(1),
                (false, _) => Some(2),
            }
        };
        candidates
            .iter()
            .filter_map(|decl| rank(decl).map(|rank| (rank, *decl)))
            .min()
            .map(|(_, decl)| decl)
    }

    /// The functions that a call with `arity` arguments may run, in the order in which they are
    /// tried.
    pub(crate) fn overloads(&self, name: &str, arity: usize, from: FileIndex) -> Vec<FunctionDecl> {
        let mut found: Vec<FunctionDecl> = self
            .visible(name, from)
            .filter(|decl| self.functions[decl.0].node.params.len() == arity)
            .collect();
        // The sort is stable: equal priorities stay in the order of declaration.
        found.sort_by_key(|decl| {
            let function = &self.functions[decl.0];
            let default = i64::from(self.is_library(function.file));
            function.node.priority.unwrap_or(default)
        });
        found
    }

    /// The functions of a name that a file sees, whatever their parameters.
    pub(crate) fn visible(
        &self,
        name: &str,
        from: FileIndex,
    ) -> impl Iterator<Item = FunctionDecl> + '_ {
        let named = self.functions_by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        named.iter().copied().filter(move |decl| {
            let function = &self.functions[decl.0];
            !function.private || function.file == from
        })
    }

    /// The function of the library that a name means, for what xlate itself calls.
    pub(crate) fn library_function(&self, name: &str, arity: usize) -> Option<FunctionDecl> {
        let named = self.functions_by_name.get(name)?;
        named.iter().copied().find(|decl| {
            let function = &self.functions[decl.0];
            self.is_library(function.file) && function.node.params.len() == arity
        })
    }
}

/// Whether a function may hand over to its next overload.
pub(crate) fn hands_over(function: &Function) -> bool {
    match &function.body {
        FunctionBody::Block(block) => crate::walk::has_next(block),
        FunctionBody::EmbeddedC(code) => crate::embedded::claims(&code.code).next,
    }
}
