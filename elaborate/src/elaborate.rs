//! The order of things in pass 2.

use crate::body::Body;
use crate::context::{Context, LocalState};
use crate::declare::{Declarations, FileIndex};
use crate::embedded::claims;
use crate::finish;
use crate::library::{self, Library, Load};
use crate::points::{Expander, Names, Resolved};
use crate::program::{
    Expr, ExprKind, FunctionCode, FunctionId, Handler, HandlerId, Local, Probe, Program, Stmt,
    StmtKind, Type,
};
use crate::settings;
use crate::types::Kind;
use crate::{Options, display, iteration, unread};
use id_arena::Arena;
use rustc_hash::FxHashMap;
use std::mem;
use xlate_grammar::ast::{self, Block, File, FunctionBody};
use xlate_grammar::{Diagnostic, Severity, Span, has_errors};
use xlate_symbols::Kernel;

/// Makes the typed program of scripts, with what they use of the library.
///
/// `load` parses a file of the library; it is called for the files that are needed. `kernel`
/// checks the names of tracepoints and functions, as far as it knows them.
///
/// The program can be lowered only if no diagnostic is an error.
pub fn elaborate(
    scripts: &[File],
    library: &Library,
    load: &mut Load<'_>,
    kernel: Option<&Kernel>,
    options: &Options,
) -> (Program, Vec<Diagnostic>) {
    elaborate_for(scripts, library, load, kernel.map(|kernel| kernel as &dyn Names), options)
}

/// The same for anything that knows the names of a kernel.
fn elaborate_for(
    scripts: &[File],
    library: &Library,
    load: &mut Load<'_>,
    kernel: Option<&dyn Names>,
    options: &Options,
) -> (Program, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let used = library::gather(scripts, library, load, &mut diagnostics);
    let declarations = Declarations::collect(scripts, &used, &mut diagnostics);
    let points = expand(&declarations, library, kernel, &mut diagnostics);
    let mut context = Context::new(declarations, library, options, diagnostics);
    context.run(points);
    (context.program, tidy(context.diagnostics))
}

/// The points of each probe, in the order of the probes.
fn expand<'a>(
    declarations: &Declarations<'a>,
    library: &Library,
    kernel: Option<&dyn Names>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Vec<Resolved<'a>>> {
    let mut expander = Expander { declarations, library, kernel, diagnostics };
    declarations.probes.iter().map(|(probe, file)| expander.probe(probe, *file)).collect()
}

/// In the order of the text, nothing said twice.
fn tidy(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    // What has no place comes last. The sort is stable.
    diagnostics.sort_by_key(|diagnostic| {
        let span = diagnostic.span();
        (span.is_none(), span.map(|span| (span.file, span.start)))
    });
    let mut tidied: Vec<Diagnostic> = Vec::new();
    for diagnostic in diagnostics {
        let said = tidied.iter().rev().take_while(|other| other.span() == diagnostic.span());
        if !said.into_iter().any(|other| other.message == diagnostic.message) {
            tidied.push(diagnostic);
        }
    }
    tidied
}

impl<'a> Context<'a> {
    fn run(&mut self, points: Vec<Vec<Resolved<'a>>>) {
        self.declare_globals();
        self.embedded_blocks();
        let probes = self.declarations.probes.clone();
        for ((probe, file), points) in probes.into_iter().zip(points) {
            self.probe(probe, file, points);
        }
        if self.program.probes.is_empty() && !has_errors(&self.diagnostics) {
            self.report(
                Diagnostic::new(Severity::Error, "the script has no probes")
                    .with_note("it would do nothing; `probe begin { … }` runs at once"),
            );
        }
        while let Some(function) = self.queue.pop_front() {
            self.function_body(function);
        }
        settings::apply(self);
        self.settle();
        unread::warn(self);
        if !self.options.no_display {
            display::add(self);
        }
        finish::finish(&mut self.program, &mut self.diagnostics);
        iteration::check(&self.program, &mut self.diagnostics);
    }

    /// Globals of the scripts are part of the program, used or not.
    fn declare_globals(&mut self) {
        for at in 0..self.declarations.globals.len() {
            if !self.declarations.is_library(self.declarations.globals[at].file) {
                self.global(crate::declare::GlobalDecl(at));
            }
        }
    }

    fn embedded_blocks(&mut self) {
        for (code, file) in self.declarations.embedded.clone() {
            if !self.declarations.is_library(file) && !self.options.guru {
                self.error(code.span, "a script may hold C only in guru mode", "C in a script")
                    .notes
                    .push("give `-g` if you trust the script".into());
                continue;
            }
            let claims = claims(&code.code);
            let code = self.embedded(&code.code, &claims, code.span, file);
            self.program.embedded.push(code);
        }
    }

    /// One handler for all points of a probe that were reached in the same way.
    fn probe(&mut self, probe: &'a ast::Probe, file: FileIndex, points: Vec<Resolved<'a>>) {
        let mut handlers: Vec<(Resolved<'a>, HandlerId)> = Vec::new();
        for point in points {
            let known = handlers.iter().find(|(other, _)| same_way(other, &point));
            let handler = match known {
                Some((_, handler)) => *handler,
                None => {
                    let handler = self.handler(probe, file, &point);
                    handlers.push((point.clone(), handler));
                    handler
                }
            };
            self.program.probes.push(Probe {
                kind: point.kind,
                name: point.name,
                written: point.written,
                handler,
                optional: point.optional,
                span: point.span,
            });
        }
    }

    fn body(&mut self, file: FileIndex) -> Body<'_, 'a> {
        Body {
            cx: self,
            file,
            function: None,
            locals: Arena::new(),
            states: Vec::new(),
            names: FxHashMap::default(),
            loops: 0,
            probe_body: None,
            only_globals: false,
            in_alias: false,
        }
    }

    fn handler(
        &mut self,
        probe: &'a ast::Probe,
        file: FileIndex,
        point: &Resolved<'a>,
    ) -> HandlerId {
        let mut body = self.body(file);
        body.probe_body = Some(&probe.body);
        let condition = body.conditions(&point.conditions);
        let mut stmts = Vec::new();
        // The alias nearest to the event begins and ends.
        for layer in point.layers.iter().rev() {
            stmts.extend(body.alias_block(layer.alias.prologue.as_ref(), layer.file));
        }
        body.file = file;
        let exits_first = point.oneshot && crate::walk::has_next(&probe.body);
        if exits_first {
            stmts.extend(body.exit(probe.span));
        }
        stmts.extend(body.block(&probe.body));
        for layer in &point.layers {
            stmts.extend(body.alias_block(layer.alias.epilogue.as_ref(), layer.file));
        }
        if point.oneshot && !exits_first {
            stmts.extend(body.exit(probe.span));
        }
        let (locals, states) = (mem::take(&mut body.locals), mem::take(&mut body.states));
        if let Some(condition) = condition {
            let span = condition.span;
            let kind = StmtKind::If { condition, then: stmts, otherwise: Vec::new() };
            stmts = vec![Stmt { kind, span }];
        }
        self.handler_locals.push((file, states));
        self.program.handlers.alloc(Handler { locals, body: stmts, span: probe.span })
    }

    fn function_body(&mut self, id: FunctionId) {
        let decl = self.functions[id.index()].decl;
        let declared = self.declarations.functions[decl.0];
        match &declared.node.body {
            FunctionBody::EmbeddedC(code) => {
                let library = self.declarations.is_library(declared.file);
                let claims = claims(&code.code);
                if let (Some(intrinsic), true) = (&claims.intrinsic, library) {
                    self.program.functions[id].code = FunctionCode::Intrinsic(intrinsic.clone());
                    return;
                }
                if !library && !self.options.guru {
                    self.error(code.span, "a script may hold C only in guru mode", "C in a script")
                        .notes
                        .push("give `-g` if you trust the script".into());
                }
                let code = self.embedded(&code.code, &claims, code.span, declared.file);
                self.program.functions[id].code = FunctionCode::C(code);
            }
            FunctionBody::Block(block) => {
                let locals = mem::take(&mut self.program.functions[id].locals);
                let states = mem::take(&mut self.functions[id.index()].locals);
                // The parameters' types are asked for while the body is elaborated.
                self.functions[id.index()].locals = states.clone();
                let names = locals.iter().map(|(at, local)| (local.name.clone(), at)).collect();
                let mut body = self.body(declared.file);
                (body.function, body.locals, body.states, body.names) =
                    (Some(id), locals, states, names);
                let stmts = body.block(block);
                let (locals, states) = (mem::take(&mut body.locals), mem::take(&mut body.states));
                self.functions[id.index()].locals = states;
                let function = &mut self.program.functions[id];
                function.locals = locals;
                function.code = FunctionCode::Script(stmts);
            }
        }
    }

    /// Puts the inferred types of variables and functions into the program, and complains about
    /// those that nothing says anything about.
    fn settle(&mut self) {
        for at in 0..self.globals.len() {
            self.settle_global(at);
        }
        for at in 0..self.functions.len() {
            let state = &self.functions[at];
            let (result, valued, states) = (state.result, state.valued, state.locals.clone());
            let Some((id, _)) = self.program.functions.iter().nth(at) else { continue };
            let span = self.program.functions[id].span;
            let result = result.and_then(|var| {
                if self.types.is_unknown(var) {
                    let used = valued?;
                    let name = self.program.functions[id].name.clone();
                    self.untyped(span, &format!("the value of `{name}`"), Some(used));
                }
                Some(self.types.value(var))
            });
            self.program.functions[id].result = result;
            let mut locals = mem::take(&mut self.program.functions[id].locals);
            self.settle_locals(&mut locals, &states);
            self.program.functions[id].locals = locals;
        }
        let ids: Vec<HandlerId> = self.program.handlers.iter().map(|(id, _)| id).collect();
        for id in ids {
            let states = mem::take(&mut self.handler_locals[id.index()].1);
            let mut locals = mem::take(&mut self.program.handlers[id].locals);
            self.settle_locals(&mut locals, &states);
            self.program.handlers[id].locals = locals;
            self.handler_locals[id.index()].1 = states;
        }
    }

    fn settle_global(&mut self, at: usize) {
        let state = &self.globals[at];
        let (element, keys, used) =
            (state.element, state.keys.clone(), state.read.or(state.written));
        let (histogram, decl) = (state.histogram, state.decl);
        let Some((id, _)) = self.program.globals.iter().nth(at) else { return };
        let span = self.program.globals[id].span;
        if let Some(used) = used {
            let name = self.declarations.globals[decl.0].node.name.name.clone();
            if self.types.is_unknown(element) {
                let what = match keys.as_slice() {
                    [] => format!("`{name}`"),
                    _ => format!("an element of `{name}`"),
                };
                self.untyped(span, &what, Some(used));
                self.types.poison(element);
            }
            for (position, key) in keys.iter().enumerate() {
                if self.types.is_unknown(*key) {
                    let what = format!("key {} of `{name}`", position + 1);
                    self.untyped(span, &what, Some(used));
                    self.types.poison(*key);
                }
            }
        }
        let mut keys: Vec<Type> = keys.into_iter().map(|key| self.types.value(key)).collect();
        let global = &self.program.globals[id];
        if keys.is_empty() && (global.wrap || global.size.is_some()) {
            // Declared as an array and never used.
            keys.push(Type::Long);
        }
        let element = self.types.element(element);
        let global = &mut self.program.globals[id];
        (global.keys, global.element) = (keys, element);
        global.histogram = histogram.map(|(histogram, _)| histogram);
    }

    fn settle_locals(&mut self, locals: &mut Arena<Local>, states: &[LocalState]) {
        for ((_, local), state) in locals.iter_mut().zip(states) {
            let matters = state.read.is_some() || (state.written.is_some() && !state.silent);
            if matters && self.types.is_unknown(state.var) {
                let used = state.read.filter(|read| *read != local.span);
                self.untyped(local.span, &format!("`{}`", local.name), used);
                self.types.poison(state.var);
            }
            if let Some(evidence) = self.types.evidence(state.var)
                && evidence.kind == Kind::Stat
            {
                let message = format!("`{}` would be a statistic", local.name);
                let label = "a variable outside of `global` holds a long or a string";
                let mut diagnostic = Diagnostic::error(local.span, message, label);
                if evidence.span != local.span {
                    diagnostic =
                        diagnostic.with_secondary(evidence.span, "it gets a statistic from here");
                }
                self.report(diagnostic);
            }
            local.ty = self.types.value(state.var);
        }
    }

    fn untyped(&mut self, span: Span, what: &str, used: Option<Span>) {
        if self.incomplete {
            return;
        }
        let mut diagnostic = Diagnostic::error(
            span,
            format!("nothing says whether {what} is a long or a string"),
            "no type can be inferred",
        );
        if let Some(used) = used.filter(|used| *used != span) {
            diagnostic = diagnostic.with_secondary(used, "used here");
        }
        self.report(diagnostic.with_note("assign a value to it somewhere"));
    }
}

/// Whether two points of one probe run the same statements.
fn same_way(a: &Resolved<'_>, b: &Resolved<'_>) -> bool {
    let same_block = |a: &ast::Alias, b: &ast::Alias| std::ptr::eq(a, b);
    a.oneshot == b.oneshot
        && a.layers.len() == b.layers.len()
        && a.layers.iter().zip(&b.layers).all(|(a, b)| same_block(a.alias, b.alias))
        && a.conditions == b.conditions
}

impl<'a> Body<'_, 'a> {
    /// All conditions of a probe point as one; they see only globals.
    fn conditions(&mut self, conditions: &[(ast::Expr, FileIndex)]) -> Option<Expr> {
        let (file, mut all) = (self.file, None);
        self.only_globals = true;
        for (condition, of) in conditions {
            self.file = *of;
            let span = condition.span;
            let condition = self.condition(condition);
            all = Some(match all {
                None => condition,
                Some(before) => Expr {
                    kind: ExprKind::And(Box::new(before), Box::new(condition)),
                    ty: None,
                    span,
                },
            });
        }
        (self.only_globals, self.file) = (false, file);
        all
    }

    fn alias_block(&mut self, block: Option<&Block>, file: FileIndex) -> Vec<Stmt> {
        self.file = file;
        self.in_alias = true;
        let stmts = block.map_or(Vec::new(), |block| self.block(block));
        self.in_alias = false;
        stmts
    }

    /// A call of the library's `exit`.
    fn exit(&mut self, span: Span) -> Option<Stmt> {
        let Some(decl) = self.cx.declarations.library_function("exit", 0) else {
            self.cx.error(span, "`oneshot` needs the library's `exit()`", "there is none");
            return None;
        };
        let call = ExprKind::Call(self.cx.function(decl), Vec::new());
        Some(Stmt { kind: StmtKind::Expr(Expr { kind: call, ty: None, span }), span })
    }
}

#[cfg(test)]
mod tests;
