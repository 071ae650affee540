//! Elaboration of handlers and functions: from syntax tree to typed statements.
//!
//! One walk resolves names, builds the typed tree and says what each use tells about types. The
//! types themselves are filled in by [`crate::finish`] when all bodies have been seen.

mod call;
mod expr;
mod place;
mod print;
mod stat;
mod stmt;
mod unsupported;

pub(crate) use print::letter;

use crate::context::{Context, LocalState};
use crate::declare::FileIndex;
use crate::program::{Expr, ExprKind, FunctionId, GlobalId, Literal, Local, LocalId, Type};
use crate::suggest::did_you_mean;
use crate::types::{Kind, TypeVar};
use id_arena::Arena;
use rustc_hash::FxHashMap;
use xlate_grammar::Span;
use xlate_grammar::ast::{self, Block};

/// The body that is being elaborated.
pub(crate) struct Body<'e, 'a> {
    pub(crate) cx: &'e mut Context<'a>,
    /// The file whose names are visible.
    pub(crate) file: FileIndex,
    /// The function, unless it is a handler.
    pub(crate) function: Option<FunctionId>,
    pub(crate) locals: Arena<Local>,
    pub(crate) states: Vec<LocalState>,
    pub(crate) names: FxHashMap<String, LocalId>,
    /// Loops around the statement.
    pub(crate) loops: usize,
    /// The probe's own body, which `@probewrite` asks about.
    pub(crate) probe_body: Option<&'a Block>,
    /// Inside the condition of a probe point, which has no local variables.
    pub(crate) only_globals: bool,
    /// Inside an alias, whose variables need not be read.
    pub(crate) in_alias: bool,
}

/// What a name means.
#[derive(Clone, Copy)]
enum Named {
    Local(LocalId),
    Global(GlobalId),
}

/// An elaborated expression; the type is absent if it has no value.
type Elaborated = (Expr, Option<TypeVar>);

impl<'a> Body<'_, 'a> {
    /// What a name means; a name that means nothing else is a new local variable.
    fn named(&mut self, name: &str, span: Span) -> Named {
        if let Some(local) = self.names.get(name)
            && self.states[local.index()].param
        {
            return Named::Local(*local);
        }
        if let Some(decl) = self.cx.declarations.find_global(name, self.file) {
            return Named::Global(self.cx.global(decl));
        }
        if let Some(local) = self.names.get(name) {
            return Named::Local(*local);
        }
        if self.only_globals {
            let globals = self.cx.declarations.globals.iter().map(|g| g.node.name.name.as_str());
            let note = did_you_mean(name, globals);
            self.cx
                .error(
                    span,
                    format!("`{name}` is no global variable"),
                    "a probe point's condition can use only global variables",
                )
                .notes
                .extend(note);
        }
        Named::Local(self.new_local(name, span))
    }

    fn new_local(&mut self, name: &str, span: Span) -> LocalId {
        let var = if self.only_globals { self.cx.types.poisoned() } else { self.cx.types.fresh() };
        let local = self.locals.alloc(Local { name: name.into(), ty: Type::Long, span });
        self.states.push(LocalState {
            var,
            read: None,
            written: None,
            param: false,
            silent: false,
        });
        self.names.insert(name.into(), local);
        local
    }

    /// A local variable that no name means.
    fn hidden_local(&mut self, name: &str, span: Span) -> LocalId {
        let var = self.cx.types.fresh();
        let local = self.locals.alloc(Local { name: name.into(), ty: Type::Long, span });
        self.states.push(LocalState {
            var,
            read: Some(span),
            written: Some(span),
            param: false,
            silent: true,
        });
        local
    }

    fn mark_read(&mut self, local: LocalId, span: Span) {
        self.states[local.index()].read.get_or_insert(span);
    }

    fn mark_written(&mut self, local: LocalId, span: Span) {
        let state = &mut self.states[local.index()];
        state.written.get_or_insert(span);
        state.silent |= self.in_alias;
    }

    /// Says that a value is of a kind.
    fn need(&mut self, source: &ast::Expr, var: TypeVar, kind: Kind) {
        if let Err(conflict) = self.cx.types.require(var, kind, source.span) {
            if conflict.left.kind == Kind::Stat {
                let diagnostic = crate::finish::statistic_as_value(&describe(source), source.span);
                self.cx.report(diagnostic);
                return;
            }
            let message =
                format!("a {kind} is needed, but {} is a {}", describe(source), conflict.left.kind);
            if conflict.left.span == source.span {
                self.cx.error(source.span, message, format!("this is a {}", conflict.left.kind));
            } else {
                let diagnostic =
                    self.cx.error(source.span, message, format!("a {kind} is needed here"));
                let other = conflict.left;
                *diagnostic = diagnostic
                    .clone()
                    .with_secondary(other.span, format!("this says that it is a {}", other.kind));
            }
        }
    }

    /// The condition of a probe point.
    pub(crate) fn condition(&mut self, source: &ast::Expr) -> Expr {
        self.long(source)
    }

    fn long(&mut self, source: &ast::Expr) -> Expr {
        let (expr, var) = self.value(source);
        self.need(source, var, Kind::Long);
        expr
    }

    fn string(&mut self, source: &ast::Expr) -> Expr {
        let (expr, var) = self.value(source);
        self.need(source, var, Kind::Str);
        expr
    }

    /// Stands for an expression that was reported.
    fn wrong(&mut self, span: Span) -> (Expr, TypeVar) {
        (literal(Literal::Long(0), span), self.cx.types.poisoned())
    }
}

/// An expression whose type is filled in later.
fn untyped(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, ty: None, span }
}

fn literal(value: Literal, span: Span) -> Expr {
    untyped(ExprKind::Literal(value), span)
}

/// A few words for an expression in a message.
fn describe(expr: &ast::Expr) -> String {
    match &expr.kind {
        ast::ExprKind::Name(name) => format!("`{name}`"),
        ast::ExprKind::Index { base: ast::Indexable::Array(array), .. } => {
            format!("an element of `{}`", array.name)
        }
        ast::ExprKind::Call { name, .. } => format!("the value of `{}`", name.name),
        _ => "this".into(),
    }
}
