//! Regular expressions, as deterministic automata in C tables.
//!
//! The dialect is POSIX extended; an expression matches anywhere in the text unless anchored.

mod automaton;
mod parse;

use std::fmt::Write as _;

use xlate_ir::entities::{Entity, Regex};
use xlate_ir::module::Module;

use crate::module::EmitError;
use crate::needs::Needs;
use automaton::{Automaton, MATCHED};

/// The name of the function that matches an expression.
pub(crate) fn function_name(regex: Regex) -> String {
    format!("match_{}", regex.index())
}

/// Emits the functions that are used.
///
/// # Errors
/// If an expression is malformed or needs too many states.
pub(crate) fn emit(module: &Module, needs: &Needs) -> Result<String, EmitError> {
    let mut out = String::new();
    for &regex in &needs.regexes {
        let pattern = &module.regexes[regex];
        let text = String::from_utf8_lossy(pattern).into_owned();
        let automaton = parse::parse(pattern)
            .and_then(|syntax| Automaton::of(&syntax))
            .map_err(|message| EmitError::Regex { regex, pattern: text.clone(), message })?;
        out.push_str(&function(&function_name(regex), &text, &automaton));
    }
    Ok(out)
}

fn function(name: &str, pattern: &str, automaton: &Automaton) -> String {
    let pattern = pattern.replace("*/", "* /");
    let states = automaton.next.len();
    let columns = automaton.classes + 1;
    let end = automaton.classes;
    let ty = if states <= 256 { "u8" } else { "u16" };
    let mut out =
        format!("\n/* The states of /{pattern}/ by class of byte, the last for the end. */\n");
    let _ = writeln!(out, "static const u8 {name}_class[256] = {{");
    rows(&mut out, automaton.class_of.iter().map(|&class| class as usize), 16);
    let _ = writeln!(out, "}};\n\nstatic const {ty} {name}_next[{states}][{columns}] = {{");
    for state in &automaton.next {
        let numbers: Vec<String> = state.iter().map(ToString::to_string).collect();
        let line = format!("\t{{ {} }},\n", numbers.join(", "));
        if line.len() < 92 {
            out.push_str(&line);
        } else {
            out.push_str("\t{\n");
            rows(&mut out, state.iter().copied(), 16);
            out.push_str("\t},\n");
        }
    }
    let start = automaton.start;
    let _ = write!(
        out,
        "}};\n\nstatic s64 {name}(struct xl_str s)\n{{\n\tu32 state = {start}, i;\n\n\
         \tfor (i = 0; i < s.len && state != {MATCHED}; i++)\n\
         \t\tstate = {name}_next[state][{name}_class[(u8)s.s[i]]];\n\
         \treturn {name}_next[state][{end}] == {MATCHED};\n}}\n"
    );
    out
}

fn rows(out: &mut String, numbers: impl Iterator<Item = usize>, per_row: usize) {
    let numbers: Vec<String> = numbers.map(|n| n.to_string()).collect();
    for row in numbers.chunks(per_row) {
        let _ = writeln!(out, "\t{},", row.join(", "));
    }
}
