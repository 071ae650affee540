//! What can be read and assigned to: variables and elements of arrays.

use super::{Body, Named, describe};
use crate::program::{Expr, GlobalId, GlobalPlace, Place};
use crate::suggest::did_you_mean;
use crate::types::TypeVar;
use xlate_grammar::Span;
use xlate_grammar::ast::{self, Ident, Indexable, Key};

/// What is done to a place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) read: bool,
    pub(super) write: bool,
}

impl Use {
    pub(super) const READ: Use = Use { read: true, write: false };
    pub(super) const WRITE: Use = Use { read: false, write: true };
}

impl Body<'_, '_> {
    /// The place that an expression names, if it names one; else an error.
    pub(super) fn place(&mut self, source: &ast::Expr, usage: Use) -> Option<(Place, TypeVar)> {
        if self.only_globals && usage.write {
            let message = format!("the condition of a probe point changes {}", describe(source));
            self.cx.error(source.span, message, "a condition can only ask");
        }
        match &source.kind {
            ast::ExprKind::Name(name) => self.variable(name, source.span, usage),
            ast::ExprKind::Index { base: Indexable::Array(array), keys } => {
                let (place, var) = self.element(array, keys, source.span)?;
                self.mark_global(place.global, source.span, usage);
                Some((Place::Global(place), var))
            }
            ast::ExprKind::Target(_) => {
                self.value(source);
                None
            }
            _ => {
                let label = "only variables and elements of arrays can change";
                self.cx.error(
                    source.span,
                    format!("{} cannot be changed", describe(source)),
                    label,
                );
                None
            }
        }
    }

    /// A scalar, local or global.
    pub(super) fn variable(
        &mut self,
        name: &str,
        span: Span,
        usage: Use,
    ) -> Option<(Place, TypeVar)> {
        match self.named(name, span) {
            Named::Local(local) => {
                if usage.read {
                    self.mark_read(local, span);
                }
                if usage.write {
                    self.mark_written(local, span);
                }
                Some((Place::Local(local), self.states[local.index()].var))
            }
            Named::Global(global) => {
                if !self.cx.set_arity(global, 0, span) {
                    return None;
                }
                self.mark_global(global, span, usage);
                let var = self.cx.global_state(global).element;
                Some((Place::Global(GlobalPlace { global, keys: Vec::new() }), var))
            }
        }
    }

    pub(super) fn mark_global(&mut self, global: GlobalId, span: Span, usage: Use) {
        let state = self.cx.global_state(global);
        if usage.read {
            state.read.get_or_insert(span);
        }
        if usage.write {
            state.written.get_or_insert(span);
        }
    }

    /// The global array that a name means; an error if it means something else.
    pub(super) fn array(&mut self, name: &Ident) -> Option<GlobalId> {
        // Looked up by hand, lest a local variable come into being.
        if let Some(decl) = self.cx.declarations.find_global(&name.name, self.file)
            && !self.is_parameter(&name.name)
        {
            return Some(self.cx.global(decl));
        }
        let note = match self.names.get(&name.name) {
            Some(_) => None,
            None => {
                let globals = self.cx.declarations.globals.iter();
                did_you_mean(&name.name, globals.map(|global| global.node.name.name.as_str()))
            }
        };
        let diagnostic = self.cx.error(
            name.span,
            format!("`{}` is no array", name.name),
            "arrays are global variables",
        );
        diagnostic.notes.extend(note);
        diagnostic.notes.push(format!("declare it with `global {}`", name.name));
        None
    }

    fn is_parameter(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|local| self.states[local.index()].param)
    }

    /// An element of an array. All its indexes have to be given.
    pub(super) fn element(
        &mut self,
        array: &Ident,
        keys: &[Key],
        span: Span,
    ) -> Option<(GlobalPlace, TypeVar)> {
        let (global, slice) = self.slice(array, keys, span)?;
        if let Some(star) = keys.iter().find_map(|key| match key {
            Key::Any(star) => Some(*star),
            Key::Expr(_) => None,
        }) {
            let message = format!("`*` cannot be an index of `{}` here", array.name);
            self.cx.error(star, message, "only `in`, `delete` and `foreach` take it");
            return None;
        }
        let keys = slice.into_iter().flatten().collect();
        let var = self.cx.global_state(global).element;
        Some((GlobalPlace { global, keys }, var))
    }

    /// Indexes of an array, `None` for `*`.
    pub(super) fn slice(
        &mut self,
        array: &Ident,
        keys: &[Key],
        span: Span,
    ) -> Option<(GlobalId, Vec<Option<Expr>>)> {
        let global = self.array(array);
        let fits = global.is_some_and(|global| self.cx.set_arity(global, keys.len(), span));
        let mut slice = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            let Key::Expr(source) = key else {
                slice.push(None);
                continue;
            };
            // Looked at even if the array is wrong: it may have errors of its own.
            let (expr, var) = self.value(source);
            if let (Some(global), true) = (global, fits) {
                let wanted = self.cx.global_state(global).keys[at];
                if let Err(conflict) = self.cx.types.unify(wanted, var) {
                    let place =
                        if keys.len() == 1 { String::new() } else { format!("{} ", at + 1) };
                    self.cx.mismatch(
                        format!(
                            "key {place}of `{}` is a {}, but {} is a {}",
                            array.name,
                            conflict.left.kind,
                            describe(source),
                            conflict.right.kind
                        ),
                        source.span,
                        conflict,
                    );
                }
            }
            slice.push(Some(expr));
        }
        if fits { global.map(|global| (global, slice)) } else { None }
    }
}
