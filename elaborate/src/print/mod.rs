//! The typed program as text: in full for people who look into the translator, and as the list
//! that SystemTap prints after pass 2.

mod expr;
mod listing;
mod stmt;

pub use listing::listing;

use crate::program::{
    ElementType, EmbeddedC, Function, FunctionCode, FunctionId, Global, Handler, HandlerId,
    Histogram, Literal, Local, Period, Probe, ProbeKind, Program, Type,
};
use id_arena::Arena;
use std::fmt::{self, Write as _};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Printer { program: self, text: String::new(), depth: 0 };
        out.program();
        f.write_str(&out.text)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Long => "long",
            Type::Str => "string",
        })
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementType::Value(ty) => ty.fmt(f),
            ElementType::Stat => f.write_str("stat"),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Long(number) => number.fmt(f),
            Literal::Str(bytes) => write!(f, "\"{}\"", text(bytes)),
        }
    }
}

/// Bytes as a script would write them between quotes.
fn text(bytes: &[u8]) -> String {
    xlate_grammar::ast::ByteString(bytes.to_vec()).to_string()
}

/// Writes indented lines.
struct Printer<'p> {
    program: &'p Program,
    text: String,
    depth: usize,
}

/// The variables that local ids mean.
type Locals<'p> = &'p Arena<Local>;

impl Printer<'_> {
    fn line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn program(&mut self) {
        for (_, global) in self.program.globals.iter() {
            self.line(&global_line(global));
        }
        for code in &self.program.embedded {
            self.gap();
            self.line(&format!("%{{{}%}}{}", code.text, effects(self.program, code)));
        }
        for (id, function) in self.program.functions.iter() {
            self.gap();
            self.function(id, function);
        }
        for (id, handler) in self.program.handlers.iter() {
            self.gap();
            self.handler(id, handler);
        }
        self.gap();
        for probe in &self.program.probes {
            self.line(&probe_line(probe));
        }
    }

    fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    fn function(&mut self, _: FunctionId, function: &Function) {
        let params: Vec<String> = function
            .params
            .iter()
            .map(|param| {
                let local = &function.locals[*param];
                format!("{}: {}", local.name, local.ty)
            })
            .collect();
        let result = function.result.map_or(String::new(), |ty| format!(": {ty}"));
        let mut head = format!("function {}({}){result}", function.name, params.join(", "));
        if let Some(next) = function.next_overload {
            let _ = write!(head, " next {}", self.program.functions[next].name);
        }
        match &function.code {
            FunctionCode::Intrinsic(name) => self.line(&format!("{head} = {name}")),
            FunctionCode::C(code) => {
                let effects = effects(self.program, code);
                self.line(&format!("{head} %{{{}%}}{effects}", code.text));
            }
            FunctionCode::Script(body) => {
                self.line(&format!("{head} {{"));
                self.depth += 1;
                self.locals(&function.locals, function.params.len());
                self.body(body, &function.locals);
                self.depth -= 1;
                self.line("}");
            }
        }
    }

    fn handler(&mut self, id: HandlerId, handler: &Handler) {
        self.line(&format!("handler {} {{", handler_name(id)));
        self.depth += 1;
        self.locals(&handler.locals, 0);
        self.body(&handler.body, &handler.locals);
        self.depth -= 1;
        self.line("}");
    }

    fn locals(&mut self, locals: Locals<'_>, params: usize) {
        for (_, local) in locals.iter().skip(params) {
            self.line(&format!("local {}: {}", local.name, local.ty));
        }
    }
}

fn handler_name(id: HandlerId) -> String {
    format!("h{}", id.index())
}

fn global_line(global: &Global) -> String {
    let mut line = format!("global {}", global.name);
    if !global.keys.is_empty() {
        let keys: Vec<String> = global.keys.iter().map(Type::to_string).collect();
        let _ = write!(line, "[{}]", keys.join(", "));
    }
    let _ = write!(line, ": {}", global.element);
    if let Some(size) = global.size {
        let _ = write!(line, " size={size}");
    }
    if global.wrap {
        line.push_str(" wrap");
    }
    match global.histogram {
        Some(Histogram::Log) => line.push_str(" hist=log"),
        Some(Histogram::Linear { low, high, width }) => {
            let _ = write!(line, " hist=linear({low}, {high}, {width})");
        }
        None => {}
    }
    if global.parameter {
        line.push_str(" parameter");
    }
    if let Some(init) = &global.init {
        let _ = write!(line, " = {init}");
    }
    line
}

/// What embedded C says that it does.
fn effects(program: &Program, code: &EmbeddedC) -> String {
    let names = |ids: &[crate::program::GlobalId]| -> String {
        let names: Vec<&str> = ids.iter().map(|id| program.globals[*id].name.as_str()).collect();
        names.join(", ")
    };
    let mut words = Vec::new();
    if code.stable {
        words.push("stable".into());
    } else if code.pure_ {
        words.push("pure".into());
    }
    if code.raises {
        words.push("raises".into());
    }
    if !code.reads.is_empty() {
        words.push(format!("reads {}", names(&code.reads)));
    }
    if !code.writes.is_empty() {
        words.push(format!("writes {}", names(&code.writes)));
    }
    if words.is_empty() { String::new() } else { format!(" # {}", words.join(", ")) }
}

fn probe_line(probe: &Probe) -> String {
    let mut line = format!("probe {}", probe.name);
    if probe.optional {
        line.push('?');
    }
    let _ = write!(line, " -> {}", handler_name(probe.handler));
    if let ProbeKind::Timer { period, randomize } = probe.kind {
        let _ = match period {
            Period::Jiffies(count) => write!(line, " every {count} jiffies"),
            Period::Nanoseconds(count) => write!(line, " every {count} ns"),
        };
        if randomize > 0 {
            let _ = write!(line, " +- {randomize}");
        }
    }
    if probe.written != probe.name {
        let _ = write!(line, " # {}", probe.written);
    }
    line
}
