//! Walks over the typed program.

use crate::program::{Expr, ExprKind, GlobalPlace, Loop, Place, Stmt, StmtKind};

/// Something that a walk comes by.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// A statement.
    Stmt(&'a Stmt),
    /// An expression.
    Expr(&'a Expr),
}

/// Visits the statements and all that is in them, outer nodes first, in the order of the text.
pub fn visit<'a>(body: &'a [Stmt], f: &mut dyn FnMut(Node<'a>)) {
    for stmt in body {
        statement(stmt, f);
    }
}

fn statement<'a>(stmt: &'a Stmt, f: &mut dyn FnMut(Node<'a>)) {
    f(Node::Stmt(stmt));
    match &stmt.kind {
        StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => expression(expr, f),
        StmtKind::Block(body) => visit(body, f),
        StmtKind::If { condition, then, otherwise } => {
            expression(condition, f);
            visit(then, f);
            visit(otherwise, f);
        }
        StmtKind::Loop(each) => {
            let Loop { init, condition, step, body } = &**each;
            for clause in [init, condition].into_iter().flatten() {
                expression(clause, f);
            }
            visit(body, f);
            if let Some(step) = step {
                expression(step, f);
            }
        }
        StmtKind::Foreach(foreach) => {
            for expr in foreach.slice.iter().flatten().chain(&foreach.limit) {
                expression(expr, f);
            }
            visit(&foreach.body, f);
        }
        StmtKind::ForeachBucket(buckets) => {
            keys(&buckets.place, f);
            if let Some(limit) = &buckets.limit {
                expression(limit, f);
            }
            visit(&buckets.body, f);
        }
        StmtKind::Delete(target) => place(target, f),
        StmtKind::ClearSlice { keys, .. } => {
            keys.iter().flatten().for_each(|key| expression(key, f));
        }
        StmtKind::Try { body, catch, .. } => {
            visit(body, f);
            visit(catch, f);
        }
        StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(None)
        | StmtKind::Next
        | StmtKind::Clear(_)
        | StmtKind::EmbeddedC(_) => {}
    }
}

fn place<'a>(target: &'a Place, f: &mut dyn FnMut(Node<'a>)) {
    if let Place::Global(global) = target {
        keys(global, f);
    }
}

fn keys<'a>(place: &'a GlobalPlace, f: &mut dyn FnMut(Node<'a>)) {
    place.keys.iter().for_each(|key| expression(key, f));
}

/// Visits an expression and all that is in it.
pub fn expression<'a>(expr: &'a Expr, f: &mut dyn FnMut(Node<'a>)) {
    f(Node::Expr(expr));
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::EmbeddedC(_) => {}
        ExprKind::Read(target) | ExprKind::Step { place: target, .. } => place(target, f),
        ExprKind::Assign { place: target, value, .. } => {
            place(target, f);
            expression(value, f);
        }
        ExprKind::Accumulate { place, value } => {
            keys(place, f);
            expression(value, f);
        }
        ExprKind::Unary(_, operand) => expression(operand, f),
        ExprKind::Binary(_, left, right)
        | ExprKind::And(left, right)
        | ExprKind::Or(left, right) => {
            expression(left, f);
            expression(right, f);
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            for part in [condition, then, otherwise] {
                expression(part, f);
            }
        }
        ExprKind::In { keys, .. } => keys.iter().flatten().for_each(|key| expression(key, f)),
        ExprKind::Match { text, .. } => expression(text, f),
        ExprKind::Call(_, args) | ExprKind::Print(_, args) | ExprKind::Format(_, args) => {
            args.iter().for_each(|arg| expression(arg, f));
        }
        ExprKind::Stat(_, place) | ExprKind::PrintHistogram(place) => keys(place, f),
        ExprKind::Bucket(place, index) => {
            keys(place, f);
            expression(index, f);
        }
    }
}
