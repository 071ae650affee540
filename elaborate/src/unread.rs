//! Warnings about variables that are read but never get a value, the other way round, and
//! statements without an effect.

use crate::context::{Context, LocalState};
use crate::program::Local;
use crate::suggest::did_you_mean;
use crate::types::Types;
use id_arena::Arena;
use xlate_grammar::{Diagnostic, has_errors};

/// Warns about variables of the scripts that are read and never written, and about local ones that
/// are written and never read. (Globals of that kind are printed at the end.)
pub(crate) fn warn(cx: &mut Context<'_>) {
    let mut warnings = Vec::new();
    // In a script with errors, much is unused because what would use it is wrong.
    let broken = has_errors(&cx.diagnostics);
    for state in &cx.globals {
        if cx.types.is_poisoned(state.element) {
            continue;
        }
        let declared = &cx.declarations.globals[state.decl.0];
        let name = declared.node.name.name.as_str();
        let set = declared.node.init.is_some()
            || cx.options.settings.iter().any(|setting| setting.name == name);
        if let (Some(read), None, false) = (state.read, state.written, set)
            && !cx.declarations.is_library(declared.file)
        {
            let others =
                cx.declarations.globals.iter().map(|global| global.node.name.name.as_str());
            let warning = Diagnostic::warning(
                declared.node.name.span,
                format!("global `{name}` is never assigned a value"),
                "declared here",
            )
            .with_secondary(read, "read here");
            warnings.push(with_note(warning, did_you_mean(name, others)));
        }
    }
    for ((_, handler), (file, states)) in cx.program.handlers.iter().zip(&cx.handler_locals) {
        if !cx.declarations.is_library(*file) {
            locals(&handler.locals, states, &mut cx.types, broken, &mut warnings);
        }
    }
    for ((_, function), state) in cx.program.functions.iter().zip(&cx.functions) {
        let file = cx.declarations.functions[state.decl.0].file;
        if !cx.declarations.is_library(file) {
            locals(&function.locals, &state.locals, &mut cx.types, broken, &mut warnings);
        }
    }
    if !broken {
        warnings.extend(cx.idle.iter().map(|span| {
            Diagnostic::warning(*span, "this statement has no effect", "its value is not used")
        }));
    }
    cx.diagnostics.append(&mut warnings);
}

fn locals(
    locals: &Arena<Local>,
    states: &[LocalState],
    types: &mut Types,
    broken: bool,
    warnings: &mut Vec<Diagnostic>,
) {
    for ((_, local), state) in locals.iter().zip(states) {
        // Nothing on top of an error.
        if types.is_poisoned(state.var) {
            continue;
        }
        if let (Some(read), None) = (state.read, state.written) {
            let others = locals.iter().map(|(_, other)| other.name.as_str());
            let warning = Diagnostic::warning(
                read,
                format!("`{}` is never assigned a value", local.name),
                "read here",
            );
            warnings.push(with_note(warning, did_you_mean(&local.name, others)));
        }
        if let (None, Some(written), false) = (state.read, state.written, state.silent || broken) {
            warnings.push(Diagnostic::warning(
                written,
                format!("the value of `{}` is never used", local.name),
                "assigned here",
            ));
        }
    }
}

fn with_note(warning: Diagnostic, note: Option<String>) -> Diagnostic {
    match note {
        Some(note) => warning.with_note(note),
        None => warning,
    }
}
