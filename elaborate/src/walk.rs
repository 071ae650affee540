//! Walks over syntax trees.

use xlate_grammar::ast::{
    Access, Block, Expr, ExprKind, Foreach, Histogram, Indexable, Key, Stmt, StmtKind, Target,
    TargetBase,
};

/// Something that a walk comes by.
#[derive(Clone, Copy)]
pub(crate) enum Node<'a> {
    Stmt(&'a Stmt),
    Expr(&'a Expr),
    /// A name where the syntax allows only variables: what `foreach` walks, what is indexed.
    Array(&'a str),
}

/// What a walk does at each node, outer nodes first.
type Visit<'v, 'a> = &'v mut dyn FnMut(Node<'a>);

/// Walks over all that is in a block.
pub(crate) fn block<'a>(block: &'a Block, visit: Visit<'_, 'a>) {
    statements(&block.statements, visit);
}

fn statements<'a>(list: &'a [Stmt], visit: Visit<'_, 'a>) {
    for stmt in list {
        statement(stmt, visit);
    }
}

fn statement<'a>(stmt: &'a Stmt, visit: Visit<'_, 'a>) {
    visit(Node::Stmt(stmt));
    match &stmt.kind {
        StmtKind::Null | StmtKind::Next | StmtKind::Break | StmtKind::Continue => {}
        StmtKind::Expr(expr) | StmtKind::Delete(expr) => expression(expr, visit),
        StmtKind::Block(inner) => block(inner, visit),
        StmtKind::If { condition, then, otherwise } => {
            expression(condition, visit);
            statement(then, visit);
            if let Some(otherwise) = otherwise {
                statement(otherwise, visit);
            }
        }
        StmtKind::While { condition, body } => {
            expression(condition, visit);
            statement(body, visit);
        }
        StmtKind::For { init, condition, step, body } => {
            for part in [init, condition, step].into_iter().flatten() {
                expression(part, visit);
            }
            statement(body, visit);
        }
        StmtKind::Foreach(foreach) => self::foreach(foreach, visit),
        StmtKind::Return(value) => {
            if let Some(value) = value {
                expression(value, visit);
            }
        }
        StmtKind::Try(watched) => {
            block(&watched.body, visit);
            block(&watched.handler, visit);
        }
    }
}

fn foreach<'a>(foreach: &'a Foreach, visit: Visit<'_, 'a>) {
    indexable(&foreach.over, visit);
    keys(foreach.slice.as_deref().unwrap_or_default(), visit);
    if let Some(limit) = &foreach.limit {
        expression(limit, visit);
    }
    statement(&foreach.body, visit);
}

fn indexable<'a>(base: &'a Indexable, visit: Visit<'_, 'a>) {
    match base {
        Indexable::Array(name) => visit(Node::Array(&name.name)),
        Indexable::Histogram(histogram) => self::histogram(histogram, visit),
    }
}

fn histogram<'a>(histogram: &'a Histogram, visit: Visit<'_, 'a>) {
    expression(&histogram.target, visit);
}

fn keys<'a>(list: &'a [Key], visit: Visit<'_, 'a>) {
    for key in list {
        if let Key::Expr(expr) = key {
            expression(expr, visit);
        }
    }
}

/// Walks over an expression and all that is in it.
pub(crate) fn expression<'a>(expr: &'a Expr, visit: Visit<'_, 'a>) {
    visit(Node::Expr(expr));
    match &expr.kind {
        ExprKind::Number(_)
        | ExprKind::String(_)
        | ExprKind::EmbeddedC(_)
        | ExprKind::Name(_)
        | ExprKind::Perf(_)
        | ExprKind::Const(_)
        | ExprKind::Enum(_)
        | ExprKind::ProbeWrite(_)
        | ExprKind::Register { .. } => {}
        ExprKind::Call { name: _, args } => {
            for arg in args {
                expression(arg, visit);
            }
        }
        ExprKind::Index { base, keys } | ExprKind::In { keys, array: base } => {
            indexable(base, visit);
            self::keys(keys, visit);
        }
        ExprKind::Unary { operand, .. } => expression(operand, visit),
        ExprKind::Crement { target, .. } | ExprKind::Stat { target, .. } => {
            expression(target, visit);
        }
        ExprKind::Binary { left, right, .. } => {
            expression(left, visit);
            expression(right, visit);
        }
        ExprKind::Match { subject, .. } => expression(subject, visit),
        ExprKind::Ternary { condition, then, otherwise } => {
            for part in [condition, then, otherwise] {
                expression(part, visit);
            }
        }
        ExprKind::Assign { target, value, .. } => {
            expression(target, visit);
            expression(value, visit);
        }
        ExprKind::Target(target) => self::target(target, visit),
        ExprKind::Defined(inner) | ExprKind::Entry(inner) => expression(inner, visit),
        ExprKind::EnumName(name) => expression(&name.value, visit),
        ExprKind::Deref { address, .. } => expression(address, visit),
        ExprKind::Histogram(histogram) => self::histogram(histogram, visit),
        ExprKind::Print(print) => {
            for arg in &print.args {
                expression(arg, visit);
            }
        }
    }
}

fn target<'a>(target: &'a Target, visit: Visit<'_, 'a>) {
    match &target.base {
        TargetBase::Symbol(_) | TargetBase::Var { .. } => {}
        TargetBase::Cast { operand, .. } | TargetBase::Expr(operand) => {
            expression(operand, visit);
        }
    }
    for access in &target.path {
        if let Access::Index(index) = access {
            expression(index, visit);
        }
    }
}

/// Whether `next` stands in a block.
pub(crate) fn has_next(body: &Block) -> bool {
    let mut found = false;
    block(body, &mut |node| {
        found |= matches!(node, Node::Stmt(Stmt { kind: StmtKind::Next, .. }));
    });
    found
}

/// Whether a `return` with a value stands in a block.
pub(crate) fn returns_value(body: &Block) -> bool {
    let mut found = false;
    block(body, &mut |node| {
        found |= matches!(node, Node::Stmt(Stmt { kind: StmtKind::Return(Some(_)), .. }));
    });
    found
}

/// Whether anything in a block writes to the variable, or to an element of the array.
pub(crate) fn writes(body: &Block, variable: &str) -> bool {
    let names = |target: &Expr| match &target.kind {
        ExprKind::Name(name) => name == variable,
        ExprKind::Index { base: Indexable::Array(array), .. } => array.name == variable,
        _ => false,
    };
    let mut found = false;
    block(body, &mut |node| {
        found |= match node {
            Node::Expr(Expr { kind: ExprKind::Assign { target, .. }, .. })
            | Node::Expr(Expr { kind: ExprKind::Crement { target, .. }, .. }) => names(target),
            Node::Stmt(Stmt { kind: StmtKind::Delete(target), .. }) => names(target),
            Node::Stmt(Stmt { kind: StmtKind::Foreach(foreach), .. }) => {
                foreach.keys.iter().chain(&foreach.value).any(|name| name.name == variable)
            }
            Node::Stmt(Stmt { kind: StmtKind::Try(watched), .. }) => {
                watched.variable.as_ref().is_some_and(|name| name.name == variable)
            }
            _ => false,
        }
    });
    found
}
