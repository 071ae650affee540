//! Statements.

use super::place::Use;
use super::stat::field;
use super::{Body, Named, untyped};
use crate::program::{
    Expr, ExprKind, Foreach, ForeachBucket, FunctionId, LocalId, Loop, Place, Sort, SortBy, Stmt,
    StmtKind,
};
use crate::types::{Kind, TypeVar};
use crate::visit::{self, Node};
use xlate_grammar::Span;
use xlate_grammar::ast::{self, Block, Ident, Indexable, Key};

impl Body<'_, '_> {
    pub(crate) fn block(&mut self, block: &Block) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(block.statements.len());
        for stmt in &block.statements {
            self.statement(stmt, &mut out);
        }
        out
    }

    /// The statements of a branch or loop body, without braces of their own.
    fn branch(&mut self, stmt: &ast::Stmt) -> Vec<Stmt> {
        match &stmt.kind {
            ast::StmtKind::Block(block) => self.block(block),
            _ => {
                let mut out = Vec::with_capacity(1);
                self.statement(stmt, &mut out);
                out
            }
        }
    }

    fn loop_body(&mut self, stmt: &ast::Stmt) -> Vec<Stmt> {
        self.loops += 1;
        let body = self.branch(stmt);
        self.loops -= 1;
        body
    }

    fn statement(&mut self, stmt: &ast::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let kind = match &stmt.kind {
            ast::StmtKind::Null => return,
            ast::StmtKind::Expr(expr) => {
                if let ast::ExprKind::EmbeddedC(code) = &expr.kind {
                    self.embedded_statement(code, expr.span)
                } else if let Some(histogram) = line_of_histogram(expr) {
                    // `println` of a histogram: the histogram, then the line feed.
                    if let Some(place) = self.histogram(histogram) {
                        let print = untyped(ExprKind::PrintHistogram(place), expr.span);
                        out.push(Stmt { kind: StmtKind::Expr(print), span });
                    }
                    StmtKind::Expr(self.line_feed(expr.span))
                } else {
                    let (expr, _) = self.expr(expr, false);
                    self.check_effect(&expr);
                    effect(expr)
                }
            }
            ast::StmtKind::Block(block) => StmtKind::Block(self.block(block)),
            ast::StmtKind::If { condition, then, otherwise } => StmtKind::If {
                condition: self.long(condition),
                then: self.branch(then),
                otherwise: otherwise.as_deref().map_or(Vec::new(), |stmt| self.branch(stmt)),
            },
            ast::StmtKind::While { condition, body } => {
                let condition = Some(self.long(condition));
                let body = self.loop_body(body);
                StmtKind::Loop(Box::new(Loop { init: None, condition, step: None, body }))
            }
            ast::StmtKind::For { init, condition, step, body } => {
                let init = init.as_ref().map(|expr| self.clause(expr));
                let condition = condition.as_ref().map(|expr| self.long(expr));
                let step = step.as_ref().map(|expr| self.clause(expr));
                let body = self.loop_body(body);
                StmtKind::Loop(Box::new(Loop { init, condition, step, body }))
            }
            ast::StmtKind::Foreach(foreach) => match self.foreach(foreach, span) {
                Some(kind) => kind,
                None => return,
            },
            ast::StmtKind::Return(value) => match self.return_(value.as_deref(), span) {
                Some(kind) => kind,
                None => return,
            },
            ast::StmtKind::Delete(target) => match self.delete(target) {
                Some(kind) => kind,
                None => return,
            },
            ast::StmtKind::Next => StmtKind::Next,
            ast::StmtKind::Break | ast::StmtKind::Continue if self.loops == 0 => {
                let word = match &stmt.kind {
                    ast::StmtKind::Break => "break",
                    _ => "continue",
                };
                self.cx.error(span, format!("`{word}` outside of a loop"), "not in a loop");
                return;
            }
            ast::StmtKind::Break => StmtKind::Break,
            ast::StmtKind::Continue => StmtKind::Continue,
            ast::StmtKind::Try(watched) => self.try_(watched),
        };
        out.push(Stmt { kind, span });
    }

    /// Takes down a statement that computes something and does nothing with it.
    fn check_effect(&mut self, expr: &Expr) {
        let mut acts = false;
        visit::expression(expr, &mut |node| {
            acts |= matches!(
                node,
                Node::Expr(Expr {
                    kind: ExprKind::Assign { .. }
                        | ExprKind::Step { .. }
                        | ExprKind::Accumulate { .. }
                        | ExprKind::Call(..)
                        | ExprKind::Print(..)
                        | ExprKind::PrintHistogram(_)
                        | ExprKind::EmbeddedC(_),
                    ..
                })
            );
        });
        if !acts && !self.cx.declarations.is_library(self.file) {
            self.cx.idle.push(expr.span);
        }
    }

    /// The first or last expression of a `for`, which is no statement: choices need values.
    fn clause(&mut self, source: &ast::Expr) -> Expr {
        let used = matches!(
            source.kind,
            ast::ExprKind::Ternary { .. }
                | ast::ExprKind::Binary { op: ast::BinaryOp::And | ast::BinaryOp::Or, .. }
        );
        if used { self.value(source).0 } else { self.expr(source, false).0 }
    }

    fn embedded_statement(&mut self, code: &str, span: Span) -> StmtKind {
        self.check_guru(span);
        let claims = crate::embedded::claims(code);
        StmtKind::EmbeddedC(Box::new(self.cx.embedded(code, &claims, span, self.file)))
    }

    fn return_(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<StmtKind> {
        let Some(function) = self.function else {
            self.cx
                .error(span, "`return` outside of a function", "this is the body of a probe")
                .notes
                .push("`next` leaves the handler of a probe".into());
            return None;
        };
        let result = self.cx.functions[function.index()].result;
        let Some(source) = value else {
            if let Some(result) = result {
                let evidence = self.cx.types.evidence(result);
                let name = self.cx.function_name(function);
                let message = format!("`{name}` gives a value, but not here");
                let diagnostic = self.cx.error(span, message, "a value is needed");
                if let Some(evidence) = evidence {
                    *diagnostic = diagnostic
                        .clone()
                        .with_secondary(evidence.span, format!("a {} here", evidence.kind));
                }
                return None;
            }
            return Some(StmtKind::Return(None));
        };
        let (expr, var) = self.value(source);
        self.check_result(function, source, result?, var);
        Some(StmtKind::Return(Some(expr)))
    }

    fn check_result(
        &mut self,
        function: FunctionId,
        source: &ast::Expr,
        result: TypeVar,
        var: TypeVar,
    ) {
        if let Err(conflict) = self.cx.types.unify(result, var) {
            let name = self.cx.function_name(function);
            let message = format!(
                "`{name}` gives a {}, but returns a {} here",
                conflict.left.kind, conflict.right.kind
            );
            self.cx.mismatch(message, source.span, conflict);
        }
    }

    fn delete(&mut self, target: &ast::Expr) -> Option<StmtKind> {
        if let ast::ExprKind::Name(name) = &target.kind
            && let Named::Global(global) = self.named(name, target.span)
        {
            // Whether it is an array is known when everything has been seen.
            self.mark_global(global, target.span, Use::WRITE);
            return Some(StmtKind::Clear(global));
        }
        if let ast::ExprKind::Index { base: Indexable::Array(array), keys } = &target.kind
            && keys.iter().any(|key| matches!(key, Key::Any(_)))
        {
            let (array, keys) = self.slice(array, keys, target.span)?;
            self.mark_global(array, target.span, Use::WRITE);
            return Some(StmtKind::ClearSlice { array, keys });
        }
        let (place, _) = self.place(target, Use::WRITE)?;
        Some(StmtKind::Delete(place))
    }

    fn try_(&mut self, watched: &ast::Try) -> StmtKind {
        let body = self.block(&watched.body);
        let (message, assign) = match &watched.variable {
            Some(variable) => {
                let (local, var, assign) = self.receiver(variable);
                if let Err(conflict) = self.cx.types.require(var, Kind::Str, variable.span) {
                    let message = format!(
                        "`{}` is a {}, but receives the message of an error",
                        variable.name, conflict.left.kind
                    );
                    self.cx.mismatch(message, variable.span, conflict);
                }
                (Some(local), assign)
            }
            None => (None, None),
        };
        let mut catch: Vec<Stmt> = assign.into_iter().collect();
        catch.extend(self.block(&watched.handler));
        StmtKind::Try { body, message, catch }
    }

    /// A variable that a statement gives a value. If it is a global, a hidden local receives the
    /// value, and the statement that comes with it hands it on.
    fn receiver(&mut self, name: &Ident) -> (LocalId, TypeVar, Option<Stmt>) {
        match self.named(&name.name, name.span) {
            Named::Local(local) => {
                self.mark_written(local, name.span);
                self.states[local.index()].silent = true;
                (local, self.states[local.index()].var, None)
            }
            Named::Global(_) => {
                let local = self.hidden_local(&format!("__{}", name.name), name.span);
                let var = self.states[local.index()].var;
                let assign =
                    self.variable(&name.name, name.span, Use::WRITE).map(|(place, own)| {
                        if let Err(conflict) = self.cx.types.unify(own, var) {
                            let message = format!("`{}` is of another type", name.name);
                            self.cx.mismatch(message, name.span, conflict);
                        }
                        let value = untyped(ExprKind::Read(Place::Local(local)), name.span);
                        let copy = self.copy(place, value, name.span);
                        Stmt { kind: StmtKind::Expr(copy), span: name.span }
                    });
                (local, var, assign)
            }
        }
    }

    fn foreach(&mut self, foreach: &ast::Foreach, span: Span) -> Option<StmtKind> {
        let array = match &foreach.over {
            Indexable::Histogram(histogram) => return self.foreach_bucket(foreach, histogram),
            Indexable::Array(array) => array,
        };
        let global = self
            .array(array)
            .filter(|global| self.cx.set_arity(*global, foreach.keys.len(), array.span));
        let slice = foreach.slice.as_ref().map(|keys| self.slice(array, keys, span));
        let mut assigns = Vec::new();
        let mut keys = Vec::new();
        for (at, name) in foreach.keys.iter().enumerate() {
            let (local, var, assign) = self.receiver(name);
            assigns.extend(assign);
            keys.push(local);
            match global {
                Some(global) => {
                    let own = self.cx.global_state(global).keys[at];
                    self.same_as_key(name, own, var);
                }
                None => self.cx.types.poison(var),
            }
        }
        let value = foreach.value.as_ref().map(|name| {
            let (local, var, assign) = self.receiver(name);
            assigns.extend(assign);
            match global {
                Some(global) => {
                    let own = self.cx.global_state(global).element;
                    self.same_as_key(name, own, var);
                }
                None => self.cx.types.poison(var),
            }
            local
        });
        let limit = foreach.limit.as_ref().map(|limit| self.long(limit));
        let mut body = assigns;
        body.extend(self.loop_body(&foreach.body));
        let array = global?;
        self.mark_global(array, span, Use::READ);
        let slice = match slice {
            Some(slice) => slice?.1,
            None => Vec::new(),
        };
        let sort = foreach.sort.map(|sort| self.sort(sort, array, span));
        let foreach = Foreach { array, keys, value, sort, slice, limit, body };
        Some(StmtKind::Foreach(Box::new(foreach)))
    }

    fn same_as_key(&mut self, name: &Ident, own: TypeVar, var: TypeVar) {
        if let Err(conflict) = self.cx.types.unify(own, var) {
            let message = format!(
                "`{}` is a {}, but the array holds a {} there",
                name.name, conflict.right.kind, conflict.left.kind
            );
            self.cx.mismatch(message, name.span, conflict);
        }
    }

    fn sort(&mut self, sort: ast::Sort, array: crate::program::GlobalId, span: Span) -> Sort {
        let by = match sort.by {
            ast::SortBy::Key(at) => SortBy::Key(at),
            // Of statistics, the count; seen to when the type is known.
            ast::SortBy::Value(None) => SortBy::Value,
            ast::SortBy::Value(Some(op)) => {
                let var = self.cx.global_state(array).element;
                if let Err(conflict) = self.cx.types.require(var, Kind::Stat, span) {
                    let message = "only arrays of statistics can be sorted by an `@` operator";
                    self.cx.mismatch(message.into(), span, conflict);
                }
                SortBy::Stat(field(op))
            }
        };
        Sort { by, descending: sort.descending }
    }

    fn foreach_bucket(
        &mut self,
        foreach: &ast::Foreach,
        histogram: &ast::Histogram,
    ) -> Option<StmtKind> {
        let place = self.histogram(histogram);
        let [key] = foreach.keys.as_slice() else {
            self.cx.error(histogram.span, "a histogram has one index", "the number of a bucket");
            return None;
        };
        if foreach.value.is_some() || foreach.slice.is_some() {
            let label = "only its buckets' numbers";
            self.cx.error(histogram.span, "a histogram has no values or slices here", label);
        }
        let (index, var, assign) = self.receiver(key);
        if let Err(conflict) = self.cx.types.require(var, Kind::Long, key.span) {
            let message = format!("`{}` is a string, but buckets have numbers", key.name);
            self.cx.mismatch(message, key.span, conflict);
        }
        let limit = foreach.limit.as_ref().map(|limit| self.long(limit));
        let mut body: Vec<Stmt> = assign.into_iter().collect();
        body.extend(self.loop_body(&foreach.body));
        let sort = foreach.sort;
        if sort.is_some_and(|sort| sort.by != ast::SortBy::Key(0)) {
            let label = "sort it by its index";
            self.cx.error(histogram.span, "buckets cannot be sorted by their values", label);
        }
        let descending = sort.is_some_and(|sort| sort.descending);
        let buckets = ForeachBucket { index, place: place?, descending, limit, body };
        Some(StmtKind::ForeachBucket(Box::new(buckets)))
    }
}

/// The histogram that a `println` prints, if it prints one.
fn line_of_histogram(source: &ast::Expr) -> Option<&ast::Histogram> {
    let ast::ExprKind::Print(print) = &source.kind else { return None };
    match print.args.as_slice() {
        [ast::Expr { kind: ast::ExprKind::Histogram(histogram), .. }]
            if print.newline && !print.to_string && print.style == ast::PrintStyle::Plain =>
        {
            Some(histogram)
        }
        _ => None,
    }
}

/// An expression as a statement. A choice of expressions becomes a choice of statements, whose
/// sides need no values.
fn effect(expr: Expr) -> StmtKind {
    let statement = |expr: Expr| {
        let span = expr.span;
        vec![Stmt { kind: effect(expr), span }]
    };
    match expr.kind {
        ExprKind::Conditional(condition, then, otherwise) => StmtKind::If {
            condition: *condition,
            then: statement(*then),
            otherwise: statement(*otherwise),
        },
        ExprKind::And(first, second) => {
            StmtKind::If { condition: *first, then: statement(*second), otherwise: Vec::new() }
        }
        ExprKind::Or(first, second) => {
            StmtKind::If { condition: *first, then: Vec::new(), otherwise: statement(*second) }
        }
        kind => StmtKind::Expr(Expr { kind, ..expr }),
    }
}
