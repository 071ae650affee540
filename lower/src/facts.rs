//! What has to be known of the program before any body is lowered.
//!
//! Which calls are recursive, for those pay an action; which C becomes functions of its own; and which
//! functions in C hand over to another overload.

use std::collections::{BTreeMap, BTreeSet};

use xlate_elaborate::Span;
use xlate_elaborate::program::{
    EmbeddedC, Expr, ExprKind, FunctionCode, FunctionId, Program, Stmt, StmtKind, Type,
};
use xlate_elaborate::visit::{Node, visit};

/// The call graph, closed.
#[derive(Debug)]
pub(crate) struct CallGraph {
    /// For each function, those that may run when it is called, itself only if it is recursive.
    reaches: Vec<BTreeSet<FunctionId>>,
}

impl CallGraph {
    /// The call graph of a program.
    pub(crate) fn new(program: &Program) -> Self {
        let mut calls = Vec::new();
        for (_, function) in &program.functions {
            let mut callees: BTreeSet<FunctionId> = function.next_overload.into_iter().collect();
            if let FunctionCode::Script(body) = &function.code {
                visit(body, &mut |node| {
                    if let Node::Expr(Expr { kind: ExprKind::Call(callee, _), .. }) = node {
                        callees.insert(*callee);
                    }
                });
            }
            calls.push(callees);
        }
        CallGraph { reaches: calls.iter().map(|callees| closure(callees, &calls)).collect() }
    }

    /// Whether a call of `callee` in the body of `caller` is on a cycle of the call graph.
    pub(crate) fn is_recursive(&self, caller: FunctionId, callee: FunctionId) -> bool {
        caller == callee || self.reaches[callee.index()].contains(&caller)
    }
}

/// All functions that may run when those of `roots` are called.
fn closure(roots: &BTreeSet<FunctionId>, calls: &[BTreeSet<FunctionId>]) -> BTreeSet<FunctionId> {
    let mut seen = roots.clone();
    let mut pending: Vec<FunctionId> = roots.iter().copied().collect();
    while let Some(function) = pending.pop() {
        let callees = calls[function.index()].iter().copied();
        pending.extend(callees.filter(|&callee| seen.insert(callee)));
    }
    seen
}

/// C of statements and expressions that may raise or that names globals, by where it stands, with the
/// type of its value. An instruction cannot say such things of itself, a function can.
pub(crate) type Outlined<'p> = BTreeMap<Span, (&'p EmbeddedC, Option<Type>)>;

/// The C in all bodies of a program that becomes functions.
pub(crate) fn outlined(program: &Program) -> Outlined<'_> {
    let functions = program.functions.iter().filter_map(|(_, function)| match &function.code {
        FunctionCode::Script(body) => Some(body),
        FunctionCode::Intrinsic(_) | FunctionCode::C(_) => None,
    });
    let handlers = program.handlers.iter().map(|(_, handler)| &handler.body);
    let mut outlined = Outlined::new();
    for body in functions.chain(handlers) {
        visit(body, &mut |node| {
            let (c, ty) = match node {
                Node::Stmt(Stmt { kind: StmtKind::EmbeddedC(c), .. }) => (c, None),
                Node::Expr(Expr { kind: ExprKind::EmbeddedC(c), ty, .. }) => (c, *ty),
                _ => return,
            };
            if c.raises || !c.reads.is_empty() || !c.writes.is_empty() {
                outlined.insert(c.span, (c, ty));
            }
        });
    }
    outlined
}

/// Functions in C that another overload comes after.
pub(crate) fn handing_over(program: &Program) -> Vec<FunctionId> {
    let functions = program.functions.iter().filter(|(_, function)| {
        matches!(function.code, FunctionCode::C(_)) && function.next_overload.is_some()
    });
    functions.map(|(id, _)| id).collect()
}
