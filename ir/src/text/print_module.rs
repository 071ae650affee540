//! Prints modules: everything outside of bodies.

use std::fmt::{self, Write};

use super::escape::{Name, Quoted};
use super::print_body::{BodyPrinter, join, show_const, show_pos};
use crate::effects::{Effects, Invariance};
use crate::entities::{Block, Function, Global, Handler};
use crate::module::{Body, FunctionCode, Limits, Module, Period, ProbeKind, ProbePoint};
use crate::types::{Const, Discipline, GlobalData, Histogram, Pos};

/// The text form of a module.
pub fn print(module: &Module) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_module(module, &mut out);
    out
}

/// The text form of one function.
pub fn print_function(module: &Module, function: Function) -> String {
    let mut out = String::new();
    let _ = write_function(module, function, &mut out);
    out
}

/// The text form of one handler.
pub fn print_handler(module: &Module, handler: Handler) -> String {
    let mut out = String::new();
    let _ = write_handler(module, handler, &mut out);
    out
}

/// The text form of one block of a body.
pub fn print_block(module: &Module, body: &Body, block: Block) -> String {
    let mut out = String::new();
    let _ = BodyPrinter { module, body, out: &mut out }.block(block);
    out
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

fn write_module(module: &Module, out: &mut String) -> fmt::Result {
    for (file, path) in module.files.iter() {
        writeln!(out, "file {file} {}", Quoted(path.as_bytes()))?;
    }
    write_limits(&module.limits, out)?;
    for text in &module.preamble {
        writeln!(out, "preamble {}{}", Quoted(text.text.as_bytes()), show_pos(text.pos))?;
    }
    for (regex, pattern) in module.regexes.iter() {
        writeln!(out, "regex {regex} {}", Quoted(pattern))?;
    }
    for (global, _) in module.globals.iter() {
        write_global(module, global, out)?;
    }
    if !module.probes.is_empty() {
        writeln!(out)?;
    }
    for probe in &module.probes {
        write_probe(probe, out)?;
    }
    for (function, _) in module.functions.iter() {
        writeln!(out)?;
        write_function(module, function, out)?;
    }
    for (handler, _) in module.handlers.iter() {
        writeln!(out)?;
        write_handler(module, handler, out)?;
    }
    Ok(())
}

/// Prints the limits that are not the default.
fn write_limits(limits: &Limits, out: &mut String) -> fmt::Result {
    let default = Limits::default();
    let fields = [
        ("max_string_len", limits.max_string_len, default.max_string_len),
        ("max_map_entries", limits.max_map_entries, default.max_map_entries),
        ("max_action", limits.max_action, default.max_action),
        (
            "max_action_interruptible",
            limits.max_action_interruptible,
            default.max_action_interruptible,
        ),
        ("max_errors", limits.max_errors, default.max_errors),
        ("max_skipped", limits.max_skipped, default.max_skipped),
    ];
    let mut text = String::new();
    for (name, value, usual) in fields {
        if value != usual {
            write!(text, " {name}={value}")?;
        }
    }
    if let Some(nesting) = limits.max_nesting {
        write!(text, " max_nesting={nesting}")?;
    }
    if text.is_empty() { Ok(()) } else { writeln!(out, "limits{text}") }
}

fn write_global(module: &Module, global: Global, out: &mut String) -> fmt::Result {
    let data: &GlobalData = &module.globals[global];
    write!(out, "global @{}", Name(&data.name))?;
    if data.is_array() {
        write!(out, "[{}]", join(&data.keys))?;
    }
    write!(out, ": {}", data.element)?;
    if let Some(init) = &data.init {
        write!(out, " = {}", show_const(init))?;
    }
    if data.is_array() || data.max_entries != 0 {
        write!(out, " max={}", data.max_entries)?;
    }
    if data.wrap {
        write!(out, " wrap")?;
    }
    if data.parameter {
        write!(out, " parameter")?;
    }
    match data.histogram {
        None => {}
        Some(Histogram::Log) => write!(out, " hist=log")?,
        Some(Histogram::Linear { low, high, width }) => {
            write!(out, " hist=linear({low}, {high}, {width})")?;
        }
    }
    match data.discipline {
        Discipline::Locked => {}
        Discipline::ShardedLocked => write!(out, " sharded locked")?,
        Discipline::ShardedLockedWith(other) => {
            write!(out, " sharded with=@{}", Name(&module.globals[other].name))?;
        }
        Discipline::LockedWith(other) => {
            write!(out, " with=@{}", Name(&module.globals[other].name))?;
        }
        Discipline::Serial => write!(out, " serial")?,
        Discipline::Lone => write!(out, " lone")?,
        Discipline::Sharded => write!(out, " sharded")?,
    }
    writeln!(out, "{}", show_pos(data.pos))
}

impl fmt::Display for ProbeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeKind::Begin(n) => write!(f, "begin({n})"),
            ProbeKind::End(n) => write!(f, "end({n})"),
            ProbeKind::Error(n) => write!(f, "error({n})"),
            ProbeKind::Never => f.write_str("never"),
            ProbeKind::Timer { period, randomize } => {
                match period {
                    Period::Jiffies(n) => write!(f, "timer.jiffies({n})")?,
                    Period::Nanoseconds(n) => write!(f, "timer.ns({n})")?,
                }
                if *randomize != 0 { write!(f, ".randomize({randomize})") } else { Ok(()) }
            }
            ProbeKind::Profile => f.write_str("timer.profile"),
            ProbeKind::Tracepoint(name) => {
                write!(f, "kernel.trace({})", Quoted(name.as_bytes()))
            }
            ProbeKind::Kprobe(name) => write!(f, "kprobe.function({})", Quoted(name.as_bytes())),
            ProbeKind::Kretprobe(name, active) => {
                write!(f, "kprobe.function({}).return", Quoted(name.as_bytes()))?;
                match active {
                    Some(n) => write!(f, ".maxactive({n})"),
                    None => Ok(()),
                }
            }
        }
    }
}

fn write_probe(probe: &ProbePoint, out: &mut String) -> fmt::Result {
    let kind = probe.kind.to_string();
    write!(out, "probe {kind}")?;
    if probe.name != kind {
        write!(out, " name={}", Quoted(probe.name.as_bytes()))?;
    }
    if probe.written != kind {
        write!(out, " written={}", Quoted(probe.written.as_bytes()))?;
    }
    write!(out, " -> @{}", probe.handler)?;
    if !probe.record.is_empty() {
        write!(out, "({})", join(probe.record.iter().map(show_const)))?;
    }
    write_places("places", &probe.places, out)?;
    if probe.optional {
        write!(out, " optional")?;
    }
    writeln!(out, "{}", show_pos(probe.pos))
}

fn write_places(word: &str, places: &[Pos], out: &mut String) -> fmt::Result {
    if places.is_empty() { Ok(()) } else { write!(out, " {word}({})", join(places)) }
}

fn write_function(module: &Module, function: Function, out: &mut String) -> fmt::Result {
    let data = &module.functions[function];
    write!(out, "function @{}(", Name(&data.name))?;
    match &data.code {
        FunctionCode::Body(_) => write!(out, "{}", join(&data.params))?,
        FunctionCode::C { names, .. } => {
            let params =
                names.iter().zip(&data.params).map(|(name, ty)| format!("{}: {ty}", Name(name)));
            write!(out, "{}", join(params))?;
        }
    }
    write!(out, ")")?;
    if let Some(result) = data.result {
        write!(out, " -> {result}")?;
    }
    match &data.code {
        FunctionCode::Body(body) => {
            write_places("places", &data.places, out)?;
            for variant in &data.variants {
                write_places("variant", variant, out)?;
            }
            write!(out, "{} {{", show_pos(data.pos))?;
            write_body(module, body, out)
        }
        FunctionCode::C { text, effects, .. } => {
            write!(out, " = c {}", Quoted(text.as_bytes()))?;
            write_effects(module, effects, out)?;
            writeln!(out, "{}", show_pos(data.pos))
        }
    }
}

fn write_handler(module: &Module, handler: Handler, out: &mut String) -> fmt::Result {
    let data = &module.handlers[handler];
    write!(out, "handler @{handler}")?;
    if !data.record.is_empty() {
        write!(out, " record({})", join(&data.record))?;
    }
    write_places("places", &data.places, out)?;
    write!(out, "{} {{", show_pos(data.pos))?;
    write_body(module, &data.body, out)
}

fn write_body(module: &Module, body: &Body, out: &mut String) -> fmt::Result {
    writeln!(out)?;
    BodyPrinter { module, body, out }.print()?;
    writeln!(out, "}}")
}

fn write_effects(module: &Module, effects: &Effects, out: &mut String) -> fmt::Result {
    for (word, globals) in [("reads", &effects.reads), ("writes", &effects.writes)] {
        if !globals.is_empty() {
            let names = globals.iter().map(|&g| format!("@{}", Name(&module.globals[g].name)));
            write!(out, " {word}({})", join(names))?;
        }
    }
    let flags = [
        ("raises", effects.raises),
        ("aborts", effects.aborts),
        ("acts", effects.acts),
        ("exits", effects.exits),
        ("advances", effects.advances),
        ("invariant", effects.invariance == Invariance::Handler),
        ("volatile", effects.invariance == Invariance::Volatile),
    ];
    for (word, set) in flags {
        if set {
            write!(out, " {word}")?;
        }
    }
    Ok(())
}

/// A constant as the text form has it.
impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show_const(self))
    }
}
