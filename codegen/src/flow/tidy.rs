//! The shapes that a person gives to `if` and loops.

use std::collections::BTreeSet;

use crate::c::expr::Expr;
use crate::c::stmt::{Label, Stmt, continues, ends_away};

/// An `if` with what follows it: no empty branch, and no `else` after a branch that leaves.
pub(crate) fn make_if(cond: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Vec<Stmt> {
    let cond = cond.condition();
    if then == otherwise {
        let mut list: Vec<Stmt> = cond.has_call().then_some(Stmt::Expr(cond)).into_iter().collect();
        list.extend(then);
        return list;
    }
    let one_sided = |cond, then| Stmt::If { cond, then, otherwise: Vec::new() };
    if is_empty(&then) {
        return vec![one_sided(cond.negated(), otherwise)];
    }
    if is_empty(&otherwise) {
        return vec![one_sided(cond, then)];
    }
    let first_leaves = ends_away(&then);
    let second_leaves = ends_away(&otherwise);
    if second_leaves && (!first_leaves || otherwise.len() < then.len()) {
        let mut list = vec![one_sided(cond.negated(), otherwise)];
        list.extend(then);
        return list;
    }
    if first_leaves {
        let mut list = vec![one_sided(cond, then)];
        list.extend(otherwise);
        return list;
    }
    vec![Stmt::If { cond, then, otherwise }]
}

/// Whether a list is nothing but labels that may turn out unused.
fn is_empty(list: &[Stmt]) -> bool {
    list.is_empty()
}

/// A loop over a body that falls back to its start: `while` or `do … while` where it tests first or
/// last.
pub(crate) fn make_loop(mut body: Vec<Stmt>) -> Stmt {
    let exit_test = |stmt: &Stmt| match stmt {
        Stmt::If { cond, then, otherwise } if then[..] == [Stmt::Break] && otherwise.is_empty() => {
            Some(cond.clone().negated())
        }
        _ => None,
    };
    if let Some(cond) = body.first().and_then(exit_test) {
        body.remove(0);
        return Stmt::Loop { cond: Some(cond), body };
    }
    if body.len() > 1
        && !continues(&body)
        && let Some(cond) = body.last().and_then(exit_test)
    {
        body.pop();
        return Stmt::DoWhile { body, cond };
    }
    Stmt::Loop { cond: None, body }
}

/// Drops unused labels, and makes `for` loops of those that count.
pub(crate) fn tidy(mut list: Vec<Stmt>) -> Vec<Stmt> {
    let mut used = BTreeSet::new();
    walk(&list, &mut |stmt| {
        if let Stmt::Goto(label) = stmt {
            used.insert(*label);
        }
    });
    drop_labels(&mut list, &used);
    make_for(&mut list);
    list
}

/// Calls `f` with every statement.
pub(crate) fn walk(list: &[Stmt], f: &mut dyn FnMut(&Stmt)) {
    for stmt in list {
        f(stmt);
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                walk(then, f);
                walk(otherwise, f);
            }
            Stmt::Loop { body, .. } | Stmt::DoWhile { body, .. } | Stmt::Each { body, .. } => {
                walk(body, f);
            }
            Stmt::For { init, step, body, .. } => {
                f(init);
                f(step);
                walk(body, f);
            }
            _ => {}
        }
    }
}

fn drop_labels(list: &mut Vec<Stmt>, used: &BTreeSet<Label>) {
    list.retain(|stmt| !matches!(stmt, Stmt::Label(label) if !used.contains(label)));
    for stmt in list {
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                drop_labels(then, used);
                drop_labels(otherwise, used);
            }
            Stmt::Loop { body, .. }
            | Stmt::DoWhile { body, .. }
            | Stmt::Each { body, .. }
            | Stmt::For { body, .. } => {
                drop_labels(body, used);
            }
            _ => {}
        }
    }
}

/// `i = a; while (i < b) { …; i++; }` becomes `for (i = a; i < b; i++) { … }`.
fn make_for(list: &mut Vec<Stmt>) {
    for stmt in list.iter_mut() {
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                make_for(then);
                make_for(otherwise);
            }
            Stmt::Loop { body, .. }
            | Stmt::DoWhile { body, .. }
            | Stmt::Each { body, .. }
            | Stmt::For { body, .. } => {
                make_for(body);
            }
            _ => {}
        }
    }
    let mut at = 1;
    while at < list.len() {
        let shaped =
            each_loop(&list[at - 1], &list[at]).or_else(|| counting_loop(&list[at - 1], &list[at]));
        match shaped {
            Some(counted) => {
                list[at] = counted;
                list.remove(at - 1);
            }
            None => at += 1,
        }
    }
}

fn counting_loop(before: &Stmt, round: &Stmt) -> Option<Stmt> {
    let Stmt::Assign(Expr::Atom(name), first) = before else { return None };
    let Stmt::Loop { cond: Some(cond), body } = round else { return None };
    let (step, rest) = body.split_last()?;
    let Stmt::Assign(Expr::Atom(stepped), next) = step else { return None };
    let counts = stepped == name && cond.mentions(name) && next.mentions(name);
    if !counts || continues(body) || first.size() > 4 || next.size() > 4 {
        return None;
    }
    Some(Stmt::For {
        init: Box::new(before.clone()),
        cond: cond.clone(),
        step: Box::new(step.clone()),
        body: rest.to_vec(),
    })
}

/// `e = NULL; while ((e = xl_map_next(a, e)) != NULL) { … }` becomes `xl_map_each(a, e) { … }`, and
/// likewise for snapshots.
fn each_loop(before: &Stmt, round: &Stmt) -> Option<Stmt> {
    let Stmt::Assign(first, start) = before else { return None };
    let Stmt::Loop { cond: Some(Expr::Infix("!=", step, null)), body } = round else { return None };
    let Expr::Infix("=", entry, next) = &**step else { return None };
    let Expr::Call(function, args) = &**next else { return None };
    if **null != Expr::atom("NULL") || args.len() != 2 {
        return None;
    }
    let head = match function.as_str() {
        "xl_map_next" if first == &**entry && start == &**null => {
            Expr::call("xl_map_each", vec![args[0].clone(), first.clone()])
        }
        "xl_snapshot_next" if *first == args[1] && *start == Expr::Long(0) => Expr::call(
            "xl_snapshot_each",
            vec![args[0].clone(), args[1].clone(), (**entry).clone()],
        ),
        _ => return None,
    };
    Some(Stmt::Each { head, body: body.clone() })
}
