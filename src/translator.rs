//! Passes 1 to 3 as a library: from a script to C.

use std::collections::BTreeMap;

use memchr::memmem;
use xlate_codegen::EmitError;
use xlate_elaborate::program::{Function, Program};
use xlate_elaborate::{Library, Setting, elaborate};
use xlate_grammar::ast::File;
use xlate_grammar::{
    Diagnostic, Environment, LibraryMacros, ParseOptions, SourceMap, Span, has_errors,
    parse_library_macros, parse_script,
};
use xlate_ir::entities::Entity;
use xlate_ir::module::Module;
use xlate_lower::{LowerOptions, lower};
use xlate_symbols::Kernel;

use crate::Failure;
use crate::cli::Options;
use crate::settings::{Defines, read_defines, read_globals};

/// A script to translate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// The name that messages use.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
    /// Its arguments: `$1`, `@1` and so on.
    pub arguments: Vec<String>,
}

/// Where a program has what the last part of pass 3 may refuse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// In the order of the program.
    functions: Vec<FunctionPlace>,
    /// Those of the regular expressions, in the order of the program and of its module.
    regexes: Vec<Span>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct FunctionPlace {
    /// The name in the module.
    name: String,
    /// The name in the script.
    written: String,
    span: Span,
}

impl Places {
    fn of(program: Program) -> Places {
        let place = |function: Function| {
            let Function { name, written, span, .. } = function;
            FunctionPlace { name, written, span }
        };
        let functions = program.functions.into_iter().map(|(_, function)| place(function));
        Places {
            functions: functions.collect(),
            regexes: program.regexes.iter().map(|(_, regex)| regex.span).collect(),
        }
    }
}

/// What passes 1 to 3 work with.
#[derive(Debug)]
pub struct Translator<'k> {
    kernel: &'k Kernel,
    sources: SourceMap,
    environment: Environment,
    library: Library,
    macros: LibraryMacros,
    defines: Defines,
    elaboration: xlate_elaborate::Options,
    arguments: Vec<String>,
    /// What has been said and not been taken yet.
    diagnostics: Vec<Diagnostic>,
    library_files: usize,
}

impl<'k> Translator<'k> {
    /// Gets ready to translate scripts for a kernel.
    ///
    /// # Errors
    /// If an option is wrong, or a folder given with `-I` cannot be read.
    pub fn new(options: &Options, kernel: &'k Kernel) -> Result<Self, Failure> {
        let defines = read_defines(&options.define).map_err(Failure::Message)?;
        let globals = read_globals(&options.global).map_err(Failure::Message)?;
        let settings = globals.into_iter().map(|(name, value)| Setting { name, value }).collect();
        let mut library = Library::new();
        for folder in &options.include {
            library
                .add_folder(folder, kernel.arch())
                .map_err(|(path, error)| Failure::io("cannot read", path.display(), &error))?;
        }
        library.add_embedded(kernel.arch());
        Ok(Translator {
            kernel,
            sources: SourceMap::new(),
            environment: Environment {
                kernel_release: kernel.release().to_owned(),
                arch: kernel.arch().to_owned(),
                guru_mode: options.guru,
                ..Environment::default()
            },
            library,
            macros: LibraryMacros::new(),
            defines,
            elaboration: xlate_elaborate::Options {
                guru: options.guru,
                settings,
                no_display: options.no_global_var_display,
            },
            arguments: Vec::new(),
            diagnostics: Vec::new(),
            library_files: 0,
        })
    }

    /// The files read so far.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The macros that `-D` defines for C.
    pub fn macros(&self) -> &[(String, String)] {
        &self.defines.macros
    }

    /// How many files of the library have been parsed.
    pub fn library_files(&self) -> usize {
        self.library_files
    }

    /// What has been said since the last call.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    /// Pass 1.
    ///
    /// # Errors
    /// [`Failure::Refused`] if the script has syntax errors.
    pub fn parse(&mut self, script: Script) -> Result<File, Failure> {
        if memmem::find(&script.text, b"CONFIG_").is_some() {
            self.environment.kconfig = self.kconfig();
        }
        self.arguments = script.arguments;
        self.read_macros()?;
        let options = ParseOptions {
            environment: &self.environment,
            macros: &self.macros,
            args: &self.arguments,
            library: false,
        };
        let file = self.sources.try_add(script.name, script.text);
        let file = file.map_err(|error| Failure::Message(error.to_string()))?;
        let (tree, said) = parse_script(&mut self.sources, file, &options);
        self.check(said)?;
        Ok(tree)
    }

    /// Pass 2.
    ///
    /// # Errors
    /// [`Failure::Refused`] if the script has errors.
    pub fn elaborate(&mut self, scripts: &[File]) -> Result<Program, Failure> {
        let options = ParseOptions {
            environment: &self.environment,
            macros: &self.macros,
            args: &self.arguments,
            library: true,
        };
        let (sources, parsed) = (&mut self.sources, &mut self.library_files);
        let mut load = |name: &str, text: &[u8]| {
            *parsed += 1;
            let file = sources.add(name, text);
            parse_script(sources, file, &options)
        };
        let (program, said) =
            elaborate(scripts, &self.library, &mut load, Some(self.kernel), &self.elaboration);
        self.check(said)?;
        Ok(program)
    }

    /// Pass 3, its first part: to IR that is not optimized.
    ///
    /// # Errors
    /// [`Failure::Refused`] if a library function asks for an operation that there is not.
    pub fn lower(&mut self, program: Program) -> Result<(Module, Places), Failure> {
        let options = LowerOptions { limits: self.defines.limits.clone() };
        let module = lower(&program, &self.sources, &options).map_err(|error| {
            let diagnostic = Diagnostic::error(error.span, error.message, "declared here");
            self.diagnostics.push(diagnostic);
            Failure::Refused
        })?;
        // The rest of the program goes: the passes can have the room.
        Ok((module, Places::of(program)))
    }

    /// Pass 3, its last part: why there is no C of a program, said where it stands in the script.
    pub fn refuse(&mut self, places: &Places, error: EmitError) -> Failure {
        let (regex, message) = match &error {
            EmitError::Regex { regex, message, .. } => (regex, message),
            EmitError::DeepCalls { .. } => {
                let Some(deepest) = places.functions.first() else {
                    return Failure::Internal(error.to_string());
                };
                let note = "have fewer functions call one another in a row";
                let diagnostic = Diagnostic::error(deepest.span, error.to_string(), "one of them");
                self.diagnostics.push(diagnostic.with_note(note));
                return Failure::Refused;
            }
            EmitError::RecursiveWalk { name } => {
                let Some(function) = places.functions.iter().find(|f| f.name == *name) else {
                    return Failure::Internal(error.to_string());
                };
                let message = format!(
                    "a `foreach` in `{}` calls the function again, which would start it over",
                    function.written
                );
                let note =
                    "leave the loop before calling: collect what the calls need in another array";
                let diagnostic = Diagnostic::error(function.span, message, "this function");
                self.diagnostics.push(diagnostic.with_note(note));
                return Failure::Refused;
            }
        };
        // Both have the same expressions in the same order.
        let Some(span) = places.regexes.get(regex.index()) else {
            return Failure::Internal(error.to_string());
        };
        let message = format!("this regular expression is too large: {message}");
        self.diagnostics.push(Diagnostic::error(*span, message, "in this pattern").with_note(
            "a repeated part that may begin anywhere has states for each way to have begun: \
                 lower its count, or anchor the expression with `^`",
        ));
        Failure::Refused
    }

    /// Reads the macros of the library; a file that is searched earlier wins.
    fn read_macros(&mut self) -> Result<(), Failure> {
        let mut macros = LibraryMacros::new();
        let mut said = Vec::new();
        let files: Vec<_> = self.library.macro_files().collect();
        for (name, text) in files.into_iter().rev() {
            let file = self.sources.add(name, text);
            let options = ParseOptions {
                environment: &self.environment,
                macros: &macros,
                args: &[],
                library: true,
            };
            let (more, diagnostics) = parse_library_macros(&mut self.sources, file, &options);
            said.extend(diagnostics);
            macros.extend(more);
        }
        self.macros = macros;
        self.check(said)
    }

    fn check(&mut self, said: Vec<Diagnostic>) -> Result<(), Failure> {
        let refused = has_errors(&said);
        self.diagnostics.extend(said);
        if refused { Err(Failure::Refused) } else { Ok(()) }
    }

    /// The kernel's configuration, as far as it is known.
    fn kconfig(&self) -> BTreeMap<String, String> {
        match self.kernel.config() {
            Ok(config) => config.iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
            Err(_) => BTreeMap::new(),
        }
    }
}
