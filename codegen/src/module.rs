//! The whole C file.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write as _;

use xlate_ir::effects::{call_components, callees};
use xlate_ir::entities::{Function, Handler, Regex};
use xlate_ir::module::{FunctionCode, Limits, Module};
use xlate_ir::types::Pos;

use crate::body::{self, Shared, Signature};
use crate::c::expr::has_word;
use crate::c::literal;
use crate::c::text::Text;
use crate::embedded;
use crate::facts::Facts;
use crate::globals;
use crate::module_names::ModuleNames;
use crate::needs::{Frame, Needs};
use crate::probes::{self, Record};
use crate::regex;
use crate::shards::Shards;
use crate::walks::{self, Owner, Snapshots};

/// How to emit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmitOptions {
    /// The name and version that the first comment gives as the translator's.
    pub generator: String,
    /// Whether the text of each handler and function is preceded by its script position.
    pub positions: bool,
    /// Macros to define ahead of all headers: names and values.
    pub macros: Vec<(String, String)>,
}

impl Default for EmitOptions {
    fn default() -> Self {
        Self { generator: "xlate".to_owned(), positions: true, macros: Vec::new() }
    }
}

/// What was emitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emitted {
    /// The C file.
    pub c: String,
    /// Lines of it, counted from 1, and the places in the script that they come from; in order, each
    /// pair once. Lines that no place made are left out.
    pub origins: Vec<(usize, Pos)>,
    /// The frames that each CPU keeps for strings, in order of emission.
    pub frames: Vec<FrameSize>,
}

/// The size of one handler's or function's strings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrameSize {
    /// The function in C.
    pub function: String,
    /// Bytes for one level of nesting, without padding.
    pub bytes: u32,
}

/// Why a module cannot be emitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// A regular expression cannot be compiled.
    Regex {
        /// Which one it is.
        regex: Regex,
        /// The expression, as far as it is text.
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
    /// Calls nest deeper than the kernel's stack allows.
    DeepCalls {
        /// The longest chain of calls.
        depth: u32,
    },
    /// A `foreach` works on a copy of its array, and its body calls the function that it is in.
    RecursiveWalk {
        /// The function's name in the module.
        name: String,
    },
}

/// The longest chain of calls. Handlers run on the kernel's stack of 16 KiB, which is in use already
/// when they start; a function takes up to 150 bytes of it, for larger strings lie elsewhere.
pub const CALLS_MOST: u32 = 40;

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::Regex { pattern, message, .. } => {
                write!(f, "regular expression \"{pattern}\": {message}")
            }
            EmitError::DeepCalls { depth } => write!(
                f,
                "calls nest {depth} deep, and the kernel's stack has room for {CALLS_MOST}"
            ),
            EmitError::RecursiveWalk { name } => {
                write!(f, "a `foreach` in `{name}` calls that function")
            }
        }
    }
}

impl std::error::Error for EmitError {}

/// An empty line, then lines that all come from one place.
fn headed(lines: &str, pos: Option<Pos>) -> Text {
    let mut text = Text::plain("\n");
    text.push_str(lines);
    if let Some(pos) = pos {
        text.mark(1, pos);
    }
    text
}

/// Emits a module as C.
///
/// # Errors
/// See [`EmitError`].
pub fn emit(module: &Module, options: &EmitOptions) -> Result<Emitted, EmitError> {
    let facts = Facts::of(module);
    let depth = facts.call_depth();
    if depth > CALLS_MOST {
        return Err(EmitError::DeepCalls { depth });
    }
    if let Some(function) = walks::recursive_walk(&facts) {
        let name = module.functions[function].name.clone();
        return Err(EmitError::RecursiveWalk { name });
    }
    let names = ModuleNames::of(module);
    let snapshots = Snapshots::of(&facts);
    let shared = Shared { facts: &facts, names: &names, snapshots: &snapshots };
    let mut file =
        File { shared: &shared, options, needs: Needs::default(), code: Text::default() };
    file.functions();
    file.handlers();
    file.assemble()
}

struct File<'a> {
    shared: &'a Shared<'a>,
    options: &'a EmitOptions,
    needs: Needs,
    /// Functions and handlers.
    code: Text,
}

impl File<'_> {
    fn module(&self) -> &Module {
        self.shared.facts.module
    }

    /// The handlers that some probe point fires.
    fn live_handlers(&self) -> Vec<Handler> {
        let facts = self.shared.facts;
        let all = facts.module.handlers.iter().map(|(id, _)| id);
        all.filter(|&handler| facts.points(handler).next().is_some()).collect()
    }

    /// The functions that they may call.
    fn live_functions(&self) -> BTreeSet<Function> {
        let module = self.module();
        let mut live = BTreeSet::new();
        let mut work: Vec<Function> = self
            .live_handlers()
            .into_iter()
            .flat_map(|handler| callees(&module.handlers[handler].body))
            .collect();
        while let Some(function) = work.pop() {
            if live.insert(function)
                && let FunctionCode::Body(body) = &module.functions[function].code
            {
                work.extend(callees(body));
            }
        }
        live
    }

    /// Emits the functions, callees first.
    fn functions(&mut self) {
        let live = self.live_functions();
        let module = self.shared.facts.module;
        for component in call_components(module) {
            let mut texts = Vec::new();
            for &function in component.functions.iter().filter(|f| live.contains(f)) {
                texts.push(self.function(function));
            }
            if component.recursive {
                for (declaration, _) in &texts {
                    self.code.push_str(&format!("\n{declaration}"));
                }
            }
            for (_, text) in texts {
                self.code.push(&text);
            }
        }
    }

    /// The declaration and the text of a function.
    fn function(&mut self, function: Function) -> (String, Text) {
        let facts = self.shared.facts;
        let data = &facts.module.functions[function];
        let comment = self.comment(data.pos, &format!("function {}", data.name));
        match &data.code {
            FunctionCode::Body(body) => {
                let owner = Owner::Function(function);
                let (signature, text) =
                    body::emit(self.shared, &mut self.needs, owner, body, data.result, data.pos);
                let places = self.places(function);
                let mut own = headed(&format!("{places}{comment}{}", signature.text("")), data.pos);
                own.push(&text);
                if !facts.is_recursive(function) {
                    return (signature.text(";"), own);
                }
                let (outer, wrapper) = self.nested(function, &signature);
                own.push_str(&format!("\n{}{wrapper}", outer.text("")));
                (outer.text(";"), own)
            }
            FunctionCode::C { text, names, effects } => {
                let (signature, macros, body) =
                    embedded::emit(self.shared, &mut self.needs, function, text, names, effects);
                let text = format!("{comment}{macros}{}{body}", signature.text(""));
                (signature.text(";"), headed(&text, data.pos))
            }
        }
    }

    /// The table of the places that the variants of a function name in messages.
    fn places(&self, function: Function) -> String {
        let data = &self.module().functions[function];
        if data.places.is_empty() {
            return String::new();
        }
        let name = self.shared.names.function(function);
        let mut out = format!("struct {name}_places {{\n");
        for n in 0..data.places.len() {
            let _ = writeln!(out, "\tconst char *p{n};");
        }
        let _ = writeln!(out, "}};\n\nstatic const struct {name}_places {name}_places[] = {{");
        for variant in &data.variants {
            let text = |&pos| literal::string(self.shared.facts.position(Some(pos)).as_bytes());
            let row: Vec<String> = variant.iter().map(text).collect();
            let _ = writeln!(out, "\t{{ {} }},", row.join(", "));
        }
        out.push_str("};\n\n");
        out
    }

    /// The function that counts the nesting around a recursive one.
    fn nested(&self, function: Function, inner: &Signature) -> (Signature, String) {
        let data = &self.module().functions[function];
        let listed = data.places.iter().position(|&place| Some(place) == data.pos);
        let place = match (listed, inner.params.last()) {
            (Some(n), Some((_, variant))) => {
                format!("{}_places[{variant}].p{n}", self.shared.names.function(function))
            }
            _ => literal::string(self.shared.facts.position(data.pos).as_bytes()),
        };
        let args: String = inner.params.iter().map(|(_, name)| format!(", {name}")).collect();
        let call = format!("{}(c{args})", inner.name);
        let test = format!("\tif (unlikely(!xl_nest(c, {place})))\n");
        let text = match inner.result.as_str() {
            "void" => format!("{{\n{test}\t\treturn;\n\t{call};\n\txl_unnest(c);\n}}\n"),
            ty => {
                let empty = match ty {
                    "s64" => "0",
                    "struct xl_name" => "(struct xl_name){ }",
                    _ => "XL_STR(\"\")",
                };
                format!(
                    "{{\n\t{ty} result;\n\n{test}\t\treturn {empty};\n\tresult = {call};\n\txl_unnest(c);\n\treturn result;\n}}\n"
                )
            }
        };
        let outer = Signature {
            result: inner.result.clone(),
            name: self.shared.names.function(function).to_owned(),
            params: inner.params.clone(),
        };
        (outer, text)
    }

    fn handlers(&mut self) {
        let facts = self.shared.facts;
        for handler in self.live_handlers() {
            let data = &facts.module.handlers[handler];
            let mut points = facts.points(handler);
            let mut what = points.next().map_or_else(String::new, |point| point.name.clone());
            let others = points.count();
            if others > 0 {
                let _ = write!(what, " and {others} more");
            }
            let comment = self.comment(data.pos, &what);
            let owner = Owner::Handler(handler);
            let (signature, text) =
                body::emit(self.shared, &mut self.needs, owner, &data.body, None, data.pos);
            self.code.push(&headed(&format!("{comment}{}", signature.text("")), data.pos));
            self.code.push(&text);
        }
    }

    /// A comment that says where something stands in the script.
    fn comment(&self, pos: Option<Pos>, what: &str) -> String {
        if !self.options.positions {
            return String::new();
        }
        let place = self.shared.facts.position(pos);
        let mut text = if place.is_empty() { what.to_owned() } else { format!("{place}: {what}") };
        text = text.replace("*/", "* /");
        let longest = crate::c::layout::WIDTH - "/*  */".len();
        if text.chars().count() > longest {
            text = text.chars().take(longest - 3).chain("...".chars()).collect();
        }
        format!("/* {text} */\n")
    }

    fn assemble(mut self) -> Result<Emitted, EmitError> {
        let facts = self.shared.facts;
        let names = self.shared.names;
        let orders = globals::orders(facts, names, &self.needs);
        let used = format!("{orders}{}", self.code.as_str());
        let mut setup = Vec::new();
        let global_text = globals::emit(facts, names, &mut self.needs, &used, &mut setup);
        let snapshots = globals::snapshots(facts, names, self.shared.snapshots, &used);
        let is_used = |global| globals::is_used(facts, names, global, &used);
        let shards = Shards::of(facts, names, self.shared.snapshots, &used, is_used);
        let shard_text = shards.text();
        let records: String = self
            .live_handlers()
            .into_iter()
            .map(|handler| (Record::of(facts, handler), handler))
            .filter(|(record, _)| !record.is_empty())
            .map(|(record, handler)| {
                format!("\n{}", record.definition(&self.needs, names.handler(handler)))
            })
            .collect();
        let mut tables = probes::emit(facts, names, &mut self.needs, &setup);
        tables.push_str(&shards.hooks());
        let regexes = regex::emit(facts.module, &self.needs)?;
        let frame = self.frame();
        let mut c = String::from("// SPDX-License-Identifier: GPL-2.0-or-later\n");
        let script = facts.module.files.iter().next().map_or("script", |(_, path)| path.as_str());
        let script = script.replace("*/", "* /");
        let _ = writeln!(c, "/* {script}, translated by {}. */", self.options.generator);
        c.push_str(&defines(&facts.module.limits, facts, &self.needs, !frame.is_empty()));
        self.needs.headers.insert("context.h");
        self.add_headers(&format!("{}{used}{tables}", global_text.as_str()));
        for (name, value) in &self.options.macros {
            let _ = writeln!(c, "#define {name} {value}");
        }
        for header in &self.needs.headers {
            let _ = writeln!(c, "#include \"{header}\"");
        }
        for text in &facts.module.preamble {
            let _ = write!(c, "\n{}\n", text.text.trim_matches('\n').trim_end());
        }
        c.push_str(&frame);
        let mut c = Text::plain(&c);
        if !global_text.as_str().is_empty() {
            c.push_str("\n");
            c.push(&global_text);
        }
        c.push_str(&snapshots);
        c.push_str(&shard_text);
        c.push_str(&records);
        c.push_str(&regexes);
        c.push_str(&orders);
        c.push(&self.code);
        c.push_str(&tables);
        c.push_str("\n#include \"module.h\"\n");
        let frames = self
            .needs
            .frames
            .iter()
            .map(|frame| FrameSize { function: frame.function.clone(), bytes: frame.bytes })
            .collect();
        let (c, origins) = c.finish();
        Ok(Emitted { c, origins, frames })
    }

    /// Adds the headers of what expressions and types use without asking.
    fn add_headers(&mut self, code: &str) {
        const WORDS: &[(&str, &[&str])] = &[
            ("ctl.h", &["xl_catch", "xl_raise_str"]),
            ("embedded.h", &["xl_next_asked"]),
            (
                "element.h",
                &["xl_value", "xl_value_str", "xl_field", "xl_map_next", "xl_snapshot_next"],
            ),
            (
                "strings.h",
                &["XL_STR", "XL_STRING", "xl_str", "xl_name", "xl_set", "xl_string", "xl_str_c"],
            ),
        ];
        for (header, words) in WORDS {
            if words.iter().any(|word| has_word(code, word)) {
                self.needs.headers.insert(header);
            }
        }
    }

    /// The structs of the frames, and that of a CPU: handlers share one room, functions have one each.
    fn frame(&self) -> String {
        let facts = self.shared.facts;
        let mut queries = BTreeSet::new();
        for handler in self.live_handlers() {
            let body = &facts.module.handlers[handler].body;
            queries.extend(facts.callee_queries(body).into_iter().map(body::probe_field));
        }
        let frames = &self.needs.frames;
        if frames.is_empty() && queries.is_empty() {
            return String::new();
        }
        let mut out = String::new();
        for Frame { function, places, .. } in frames {
            let _ = write!(out, "\nstruct {function}_frame {{\n");
            for (ty, name) in places {
                let _ = writeln!(out, "\t{ty} {name};");
            }
            out.push_str("};\n");
        }
        out.push_str("\nstruct xl_frame {\n");
        for query in queries {
            let _ = writeln!(out, "\tstruct xl_str {query};");
        }
        let handlers: Vec<&Frame> = frames.iter().filter(|frame| frame.is_handler).collect();
        let tab = if handlers.len() > 1 { "\t\t" } else { "\t" };
        if handlers.len() > 1 {
            out.push_str("\tunion {\n");
        }
        for Frame { function, .. } in &handlers {
            let _ = writeln!(out, "{tab}struct {function}_frame {function};");
        }
        if handlers.len() > 1 {
            out.push_str("\t};\n");
        }
        for Frame { function, is_recursive, .. } in frames.iter().filter(|frame| !frame.is_handler)
        {
            let levels = if *is_recursive { "[MAXNESTING]" } else { "" };
            let _ = writeln!(out, "\tstruct {function}_frame {function}{levels};");
        }
        out.push_str("};\n");
        out
    }
}

/// The limits that differ from the runtime's own, and what the runtime must be told to have.
fn defines(limits: &Limits, facts: &Facts, needs: &Needs, has_frame: bool) -> String {
    let usual = Limits::default();
    let all = [
        ("MAXSTRINGLEN", limits.max_string_len, usual.max_string_len),
        ("MAXACTION", limits.max_action, usual.max_action),
        (
            "MAXACTION_INTERRUPTIBLE",
            limits.max_action_interruptible,
            usual.max_action_interruptible,
        ),
        ("MAXERRORS", limits.max_errors, usual.max_errors),
        ("MAXSKIPPED", limits.max_skipped, usual.max_skipped),
    ];
    let mut out = String::new();
    for (name, value, usual) in all {
        if value != usual {
            let _ = writeln!(out, "#define {name} {value}");
        }
    }
    if facts.has_recursion() {
        let nesting = limits.max_nesting.unwrap_or_else(|| facts.call_depth() + 10);
        let _ = writeln!(out, "#define MAXNESTING {nesting}");
    }
    if has_frame {
        out.push_str("#define XL_HAVE_FRAME\n");
    }
    if facts.all_bare() {
        out.push_str("#define STP_NO_OVERLOAD\n");
    }
    if !facts.may_raise() {
        out.push_str("#define XL_NO_ERRORS\n");
    }
    if facts.has_shards() {
        out.push_str("#define XL_HAVE_SHARDS\n");
        if let Some(entries) = facts.guarded_entries() {
            let _ = writeln!(out, "#define XL_GUARDED_ENTRIES {entries}");
        }
    }
    if needs.error_text {
        out.push_str("#define XL_ERROR_TEXT\n");
    }
    if needs.tokenizes {
        out.push_str("#define XL_TOKENIZE\n");
    }
    out
}
