//! Parts of the language that are not there yet, refused by name.

use super::{Body, Elaborated};
use xlate_grammar::ast::{self, TargetBase};

impl Body<'_, '_> {
    pub(super) fn unsupported(&mut self, source: &ast::Expr) -> Elaborated {
        let (what, way_out) = match &source.kind {
            ast::ExprKind::Target(target) => match &target.base {
                TargetBase::Symbol(name) => (
                    format!("target variables such as `${}`", name.name),
                    "what the library's functions know of the context is there: `pid()`, \
                     `execname()`, …",
                ),
                TargetBase::Var { .. } => ("`@var`".into(), ""),
                TargetBase::Cast { .. } => ("`@cast`".into(), ""),
                TargetBase::Expr(_) => ("`->`".into(), ""),
            },
            ast::ExprKind::Defined(_) => ("`@defined`".into(), ""),
            ast::ExprKind::Entry(_) => (
                "`@entry`".into(),
                "keep the value in a global array with the index `tid()` in a probe at the entry",
            ),
            ast::ExprKind::Perf(_) => ("`@perf`".into(), ""),
            ast::ExprKind::Enum(_) | ast::ExprKind::EnumName(_) => {
                ("`@enum` and `@enumname`".into(), "")
            }
            ast::ExprKind::Register { .. } => ("`@kregister` and `@uregister`".into(), ""),
            ast::ExprKind::Deref { .. } => ("`@kderef` and `@uderef`".into(), ""),
            _ => ("expressions of this kind".into(), ""),
        };
        let diagnostic =
            self.cx.error(source.span, format!("{what} are not supported"), "not supported");
        if what.starts_with('`') && !what.contains(" and ") {
            diagnostic.message = format!("{what} is not supported");
        }
        if !way_out.is_empty() {
            diagnostic.notes.push(way_out.into());
        }
        self.wrong_value(source.span)
    }
}
