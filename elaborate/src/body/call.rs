//! Calls of functions.

use super::{Body, Elaborated, describe, untyped};
use crate::declare::FunctionDecl;
use crate::program::{Expr, ExprKind};
use crate::suggest::did_you_mean;
use crate::types::TypeVar;
use xlate_grammar::Span;
use xlate_grammar::ast::{self, FunctionBody, Ident};

impl Body<'_, '_> {
    pub(super) fn call(
        &mut self,
        name: &Ident,
        args: &[ast::Expr],
        span: Span,
        used: bool,
    ) -> Elaborated {
        if self.only_globals {
            let message = format!("`{}` is called in the condition of a probe point", name.name);
            let label = "a condition can use only global variables";
            self.cx
                .error(span, message, label)
                .notes
                .push("test it in the handler: `if (!…) next`".into());
            return self.wrong_value(span);
        }
        let given: Vec<(Expr, TypeVar)> = args.iter().map(|arg| self.value(arg)).collect();
        let overloads = self.cx.declarations.overloads(&name.name, args.len(), self.file);
        let Some(decl) = overloads.first().copied() else {
            self.no_such_function(name, args.len());
            return self.wrong_value(span);
        };
        self.check_callable(decl, name);
        let function = self.cx.function(decl);
        let mut values = Vec::new();
        for (at, (value, var)) in given.into_iter().enumerate() {
            let wanted = self.cx.param(function, at);
            if let Err(conflict) = self.cx.types.unify(wanted, var) {
                let param = &self.cx.declarations.functions[decl.0].node.params[at].name.name;
                let message = format!(
                    "`{}` takes a {} as `{param}`, but {} is a {}",
                    name.name,
                    conflict.left.kind,
                    describe(&args[at]),
                    conflict.right.kind
                );
                self.cx.mismatch(message, args[at].span, conflict);
            }
            values.push(value);
        }
        let state = &mut self.cx.functions[function.index()];
        if used {
            state.valued.get_or_insert(span);
        }
        let result = state.result;
        (untyped(ExprKind::Call(function, values), span), result)
    }

    fn no_such_function(&mut self, name: &Ident, given: usize) {
        let declarations = &self.cx.declarations;
        let others: Vec<FunctionDecl> = declarations.visible(&name.name, self.file).collect();
        if others.is_empty() {
            let declared = declarations.functions.iter().map(|f| f.node.name.name.as_str());
            let builtin = ["print", "printf", "println", "printd", "printdln", "sprint", "sprintf"];
            let names = declared.chain(self.cx.library.function_names()).chain(builtin);
            let note = did_you_mean(&name.name, names);
            let message = format!("unknown function `{}`", name.name);
            self.cx.error(name.span, message, "no function has this name").notes.extend(note);
            return;
        }
        let mut arities: Vec<usize> =
            others.iter().map(|other| declarations.functions[other.0].node.params.len()).collect();
        arities.sort_unstable();
        arities.dedup();
        let wanted: Vec<String> = arities.iter().map(usize::to_string).collect();
        let wanted = wanted.join(" or ");
        let plural = if wanted == "1" { "" } else { "s" };
        let at = declarations.functions[others[0].0].node.name.span;
        let message = format!("`{}` takes {wanted} argument{plural}, not {given}", name.name);
        let diagnostic = self.cx.error(name.span, message, format!("called with {given}"));
        *diagnostic = diagnostic.clone().with_secondary(at, "declared here");
    }

    /// Some functions of the library are for guru mode only.
    fn check_callable(&mut self, decl: FunctionDecl, name: &Ident) {
        let declarations = &self.cx.declarations;
        if self.cx.options.guru || declarations.is_library(self.file) {
            return;
        }
        let function = declarations.functions[decl.0];
        if let FunctionBody::EmbeddedC(code) = &function.node.body
            && declarations.is_library(function.file)
            // Reading all claims takes longer, and few make this one.
            && code.code.contains("guru")
            && crate::embedded::claims(&code.code).guru
        {
            let message = format!("`{}` may be called only in guru mode", name.name);
            self.cx
                .error(name.span, message, "an unsafe function")
                .notes
                .push("give `-g` if you trust the script".into());
        }
    }
}
