//! The rule that a `foreach` does not modify the array it walks, directly or through functions.

use crate::program::{
    Expr, ExprKind, FunctionCode, FunctionId, GlobalId, Place, Program, Stmt, StmtKind,
};
use crate::visit::{Node, visit};
use std::collections::{BTreeSet, VecDeque};
use xlate_grammar::{Diagnostic, Span};

/// Complains about modifications of arrays that are being walked.
pub(crate) fn check(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    let modified = modified_by_functions(program);
    let scripts = program.functions.iter().filter_map(|(_, function)| match &function.code {
        FunctionCode::Script(body) => Some(body.as_slice()),
        _ => None,
    });
    let handlers = program.handlers.iter().map(|(_, handler)| handler.body.as_slice());
    for body in scripts.chain(handlers) {
        visit(body, &mut |node| {
            let Node::Stmt(Stmt { kind: StmtKind::Foreach(foreach), span }) = node else { return };
            check_loop(program, &modified, foreach.array, &foreach.body, *span, diagnostics);
        });
    }
}

fn check_loop(
    program: &Program,
    modified: &[BTreeSet<GlobalId>],
    array: GlobalId,
    body: &[Stmt],
    span: Span,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let name = &program.globals[array].name;
    visit(body, &mut |node| {
        let (place, message) = match node {
            Node::Expr(Expr { kind: ExprKind::Call(function, _), span, .. })
                if modified[function.index()].contains(&array) =>
            {
                let function = &program.functions[*function].name;
                (*span, format!("`{function}` modifies `{name}` while a `foreach` walks over it"))
            }
            node => match modification(node) {
                Some((global, span)) if global == array => {
                    (span, format!("`{name}` is modified while a `foreach` walks over it"))
                }
                _ => return,
            },
        };
        diagnostics.push(
            Diagnostic::error(place, message, "modified here")
                .with_secondary(span.at_start(), "in this loop"),
        );
    });
}

/// The global that a statement or an expression modifies by itself.
fn modification<'a>(node: Node<'a>) -> Option<(GlobalId, Span)> {
    let of_place = |place: &Place, span: Span| match place {
        Place::Global(place) => Some((place.global, span)),
        Place::Local(_) => None,
    };
    match node {
        Node::Expr(Expr { kind, span, .. }) => match kind {
            ExprKind::Assign { place, .. } | ExprKind::Step { place, .. } => of_place(place, *span),
            ExprKind::Accumulate { place, .. } => Some((place.global, *span)),
            _ => None,
        },
        Node::Stmt(Stmt { kind, span }) => match kind {
            StmtKind::Delete(place) => of_place(place, *span),
            StmtKind::Clear(array) | StmtKind::ClearSlice { array, .. } => Some((*array, *span)),
            _ => None,
        },
    }
}

/// The globals that each function modifies, directly or through others.
fn modified_by_functions(program: &Program) -> Vec<BTreeSet<GlobalId>> {
    let count = program.functions.len();
    let mut modified = vec![BTreeSet::new(); count];
    let mut callers: Vec<Vec<FunctionId>> = vec![Vec::new(); count];
    for (id, function) in program.functions.iter() {
        match &function.code {
            FunctionCode::Script(body) => visit(body, &mut |node| {
                if let Node::Expr(Expr { kind: ExprKind::Call(callee, _), .. }) = node {
                    callers[callee.index()].push(id);
                }
                if let Some((global, _)) = modification(node) {
                    modified[id.index()].insert(global);
                }
            }),
            FunctionCode::C(code) => modified[id.index()].extend(&code.writes),
            FunctionCode::Intrinsic(_) => {}
        }
        if let Some(next) = function.next_overload {
            callers[next.index()].push(id);
        }
    }
    let mut queue: VecDeque<usize> = (0..count).collect();
    while let Some(at) = queue.pop_front() {
        let here = modified[at].clone();
        for caller in callers[at].clone() {
            let before = modified[caller.index()].len();
            modified[caller.index()].extend(&here);
            if modified[caller.index()].len() > before {
                queue.push_back(caller.index());
            }
        }
    }
    modified
}
