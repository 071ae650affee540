//! Statements other than loops.

use xlate_elaborate::Span;
use xlate_elaborate::program::{EmbeddedC, Expr, LocalId, Place, Stmt, StmtKind};
use xlate_ir::entities::Value;
use xlate_ir::instructions::Op;
use xlate_ir::types::Type;

use crate::body::{BodyLowering, Owner};

impl BodyLowering<'_> {
    /// Lowers statements, up to the first that control does not get past.
    pub(crate) fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if !self.builder.is_open() {
                return;
            }
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Expr(e) => self.effect(e),
            StmtKind::Block(body) => self.stmts(body),
            StmtKind::If { condition, then, otherwise } => {
                self.if_else(condition, then, otherwise);
            }
            StmtKind::Loop(each) => self.loop_while(each, span),
            StmtKind::Foreach(foreach) => self.foreach(foreach, span),
            StmtKind::ForeachBucket(buckets) => self.foreach_bucket(buckets, span),
            StmtKind::Break => {
                if let Some(innermost) = self.loops.last() {
                    self.jump(innermost.exit);
                }
            }
            StmtKind::Continue => {
                if let Some(innermost) = self.loops.last() {
                    self.jump(innermost.again);
                }
            }
            StmtKind::Return(value) => {
                let value = value.as_ref().map(|value| self.value(value));
                self.leave(value, span);
            }
            StmtKind::Next => self.next(span),
            StmtKind::Delete(place) => self.delete(place, span),
            StmtKind::Clear(global) => {
                let global = self.tables.global(*global);
                self.act(Op::Clear(global), span);
            }
            StmtKind::ClearSlice { array, keys } => self.clear_slice(*array, keys, span),
            StmtKind::Try { body, message, catch } => self.try_catch(body, *message, catch, span),
            StmtKind::EmbeddedC(c) => self.embedded_statement(c),
        }
    }

    fn if_else(&mut self, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let yes = self.builder.create_block();
        let done = self.builder.create_block();
        let no = if otherwise.is_empty() { done } else { self.builder.create_block() };
        self.branch(condition, yes, no);
        self.enter(yes);
        self.stmts(then);
        self.jump(done);
        if !otherwise.is_empty() {
            self.enter(no);
            self.stmts(otherwise);
            self.jump(done);
        }
        self.enter(done);
    }

    /// In a handler, leaves it; in a function, goes on with the next overload, called with what this
    /// one was called with, or raises if there is none. That takes the place of this call: no `catch`
    /// here sees its errors.
    fn next(&mut self, span: Span) {
        let result = match self.owner.clone() {
            Owner::Handler => None,
            Owner::Function { arguments, next: Some(next), .. } => {
                self.tail_call(next, arguments, span)
            }
            Owner::Function { id, next: None, .. } => {
                let name = &self.tables.program.functions[id].written;
                let message = format!("no overload of {name} is left for next");
                let message = self.text(message.as_bytes(), span);
                return self.unwatched(|this| this.raise(message, span));
            }
        };
        self.leave(result, span);
    }

    /// Leaves a function whose C has run: with its result, or by way of the next overload if it asked
    /// for that.
    pub(crate) fn hand_over_if_asked(&mut self, result: Option<Value>, span: Span) {
        let asked = Op::CExpression("xl_next_asked(c)".to_owned());
        self.builder.set_pos(self.tables.position(span));
        if let Some(asked) = self.builder.push_typed(asked, Some(Type::Long)) {
            let handing_over = self.builder.create_block();
            let done = self.builder.create_block();
            self.builder.branch(asked, handing_over, done);
            self.enter(handing_over);
            self.next(span);
            self.enter(done);
        }
        self.leave(result, span);
    }

    fn delete(&mut self, place: &Place, span: Span) {
        match place {
            Place::Local(local) => {
                let old = self.read(*local);
                let value = self.default_of(self.builder.type_of(old), span);
                self.define(*local, value);
            }
            Place::Global(place) => {
                let place = self.place(place);
                self.act(Op::Delete(place), span);
            }
        }
    }

    fn try_catch(&mut self, body: &[Stmt], message: Option<LocalId>, catch: &[Stmt], span: Span) {
        let receiver = self.builder.create_block();
        let done = self.builder.create_block();
        self.watched(receiver, |this| this.stmts(body));
        self.jump(done);
        self.enter(receiver);
        if self.builder.is_open() {
            let text = self.compute(Op::Caught, span);
            if let Some(message) = message {
                self.define(message, text);
            }
            self.stmts(catch);
            self.jump(done);
        }
        self.enter(done);
    }

    fn embedded_statement(&mut self, c: &EmbeddedC) {
        match self.tables.outlined(c) {
            Some(function) => self.act(Op::Call(function, Vec::new()), c.span),
            None => self.act(Op::CStatement(c.text.clone()), c.span),
        }
    }
}
