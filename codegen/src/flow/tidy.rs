//! The shapes that a person gives to `if` and loops.

use std::collections::BTreeSet;

use crate::c::expr::Expr;
use crate::c::stmt::{Stmt, breaks, continues, ends_away};
use crate::c::text::Name;

/// An `if` with what follows it: no empty branch, and no `else` after a branch that leaves.
pub(crate) fn make_if(cond: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Vec<Stmt> {
    let cond = cond.condition();
    if then == otherwise {
        // The test is made only for what it does: moving a walk on.
        let acts = cond.assigns();
        let test = Stmt::Expr(Expr::prefix("(void)", cond));
        return acts.then_some(test).into_iter().chain(then).collect();
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
/// last, and what is done on the way out if there is only one.
pub(crate) fn make_loop(mut body: Vec<Stmt>) -> Vec<Stmt> {
    let exit_test = |stmt: &Stmt| match stmt {
        Stmt::If { cond, then, otherwise } if otherwise.is_empty() => match &then[..] {
            // Behind the loop, another `break` among them would leave the loop around it.
            [steps @ .., Stmt::Break]
                if !steps.iter().any(Stmt::leaves) && !breaks(steps) && !continues(steps) =>
            {
                Some((cond.clone().negated(), steps.to_vec()))
            }
            _ => None,
        },
        _ => None,
    };
    if let Some((cond, steps)) = body.first().and_then(exit_test)
        && (steps.is_empty() || !breaks(&body[1..]))
    {
        body.remove(0);
        let mut list = vec![Stmt::Loop { cond: Some(cond), body }];
        list.extend(steps);
        return list;
    }
    if body.len() > 1
        && !continues(&body)
        && let Some((cond, steps)) = body.last().and_then(exit_test)
        && (steps.is_empty() || !breaks(&body[..body.len() - 1]))
    {
        body.pop();
        let mut list = vec![Stmt::DoWhile { body, cond }];
        list.extend(steps);
        return list;
    }
    vec![Stmt::Loop { cond: None, body }]
}

/// Drops unused labels, and makes `for` loops of those that count.
pub(crate) fn tidy(mut list: Vec<Stmt>) -> Vec<Stmt> {
    for_each_list(&mut list, &mut fall_through);
    let mut used = BTreeSet::new();
    walk(&list, &mut |stmt| {
        if let Stmt::Goto(label) = stmt {
            used.insert(*label);
        }
    });
    let is_unused = |stmt: &Stmt| matches!(stmt, Stmt::Label(label) if !used.contains(label));
    for_each_list(&mut list, &mut |list| list.retain(|stmt| !is_unused(stmt)));
    for_each_list(&mut list, &mut |list| {
        return_at_once(list);
        check_once(list);
        print_at_once(list);
        make_for(list);
    });
    list
}

/// Calls `f` with every statement.
pub(crate) fn walk(list: &[Stmt], f: &mut dyn FnMut(&Stmt)) {
    for stmt in list {
        f(stmt);
        if let Stmt::For { init, step, .. } = stmt {
            f(init);
            f(step);
        }
        stmt.bodies().into_iter().for_each(|body| walk(body, f));
    }
}

/// Calls `f` with every list of statements, inner ones first.
pub(crate) fn for_each_list(list: &mut Vec<Stmt>, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
    for stmt in list.iter_mut() {
        stmt.bodies_mut().into_iter().for_each(|body| for_each_list(body, f));
    }
    f(list);
}

/// Drops a `goto` at the end of an `if` that its label follows, and the whole `if` if that was all.
fn fall_through(list: &mut Vec<Stmt>) {
    let mut at = 1;
    while at < list.len() {
        if let Stmt::Label(label) = list[at]
            && let Stmt::If { cond, then, otherwise } = &mut list[at - 1]
            && otherwise.is_empty()
            && then.last() == Some(&Stmt::Goto(label))
        {
            then.pop();
            let asks_only = cond.calls("xl_raised") || !cond.has_call();
            if then.is_empty() && asks_only {
                list.remove(at - 1);
                at -= 1;
            } else if then.is_empty() {
                then.push(Stmt::Goto(label));
            }
        }
        at += 1;
    }
}

/// `t = e; return t;` becomes `return e;`.
fn return_at_once(list: &mut Vec<Stmt>) {
    if let [.., Stmt::Assign(Expr::Atom(name), value), Stmt::Return(Some(Expr::Atom(returned)))] =
        &list[..]
        && name == returned
        && !name.starts_with("g_")
    {
        let value = value.clone();
        list.truncate(list.len() - 2);
        list.push(Stmt::Return(Some(value)));
    }
}

/// Of two checks of the same condition in a row, the second cannot fail.
fn check_once(list: &mut Vec<Stmt>) {
    list.dedup_by(|next, before| match (next, before) {
        (Stmt::If { cond, otherwise, .. }, Stmt::If { cond: checked, then, otherwise: other }) => {
            let is_check = matches!(cond, Expr::Call(name, _) if &**name == "unlikely");
            is_check
                && cond == checked
                && !cond.has_call()
                && ends_away(then)
                && otherwise.is_empty()
                && other.is_empty()
        }
        _ => false,
    });
}

/// Neighbouring literals are printed by one call.
fn print_at_once(list: &mut Vec<Stmt>) {
    list.dedup_by(|next, before| {
        let Some((more_name, more)) = printed(next) else { return false };
        match printed(before) {
            Some((name, bytes)) => {
                bytes.append(more);
                name.absorb(more_name);
                true
            }
            None => false,
        }
    });
}

/// The literal that a statement prints, and the function that prints it.
fn printed(stmt: &mut Stmt) -> Option<(&mut Name, &mut Vec<u8>)> {
    match stmt {
        Stmt::Expr(Expr::Call(name, args)) if &**name == "xl_print" => match args.get_mut(1) {
            Some(Expr::Str(bytes)) => Some((name, bytes)),
            _ => None,
        },
        _ => None,
    }
}

/// `i = a; while (i < b) { …; i++; }` becomes `for (i = a; i < b; i++) { … }`.
fn make_for(list: &mut Vec<Stmt>) {
    let mut at = 1;
    while at < list.len() {
        match with_start(list, at) {
            Some((start, shaped)) => {
                list[at] = shaped;
                list.remove(start);
            }
            None => at += 1,
        }
    }
}

/// The loop at a position in its better shape, and the assignment ahead of it that goes into it. What
/// stands in between has nothing to do with the variable.
fn with_start(list: &[Stmt], at: usize) -> Option<(usize, Stmt)> {
    for start in (0..at).rev() {
        let shaped =
            each_loop(&list[start], &list[at]).or_else(|| counting_loop(&list[start], &list[at]));
        if let Some(shaped) = shaped {
            return Some((start, shaped));
        }
        let is_plain = matches!(list[start], Stmt::Expr(_) | Stmt::Assign(..));
        let sets_variable = match (&list[start], &list[at]) {
            (Stmt::Assign(Expr::Atom(name), _), Stmt::Loop { cond: Some(cond), .. }) => {
                cond.mentions(name)
            }
            (Stmt::Assign(..), _) => true,
            (_, Stmt::Loop { .. }) => false,
            _ => true,
        };
        if !is_plain || sets_variable {
            return None;
        }
    }
    None
}

fn counting_loop(before: &Stmt, round: &Stmt) -> Option<Stmt> {
    let Stmt::Assign(Expr::Atom(name), first) = before else { return None };
    let Stmt::Loop { cond: Some(cond), body } = round else { return None };
    let (step, rest) = body.split_last()?;
    let Stmt::Assign(Expr::Atom(stepped), next) = step else { return None };
    let counts = stepped == name && cond.mentions(name) && next.mentions(name);
    let is_known = matches!(first, Expr::Long(_) | Expr::Atom(_));
    if !counts || continues(body) || !is_known || next.size() > 4 {
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
    let head = match &**function {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop left from its first statement, after `steps`.
    fn left_after(steps: Vec<Stmt>) -> Vec<Stmt> {
        let then = steps.into_iter().chain([Stmt::Break]).collect();
        let exit = Stmt::If { cond: Expr::atom("over"), then, otherwise: Vec::new() };
        make_loop(vec![exit, Stmt::Expr(Expr::atom("work"))])
    }

    #[test]
    fn steps_of_the_way_out_stand_behind_the_loop() {
        let step = Stmt::Expr(Expr::atom("step"));
        let list = left_after(vec![step.clone()]);
        assert!(matches!(&list[..], [Stmt::Loop { cond: Some(_), .. }, last] if *last == step));
    }

    #[test]
    fn a_way_out_with_jumps_of_its_own_stays_inside() {
        for jump in [Stmt::Break, Stmt::Continue] {
            let inner = Stmt::If { cond: Expr::atom("x"), then: vec![jump], otherwise: Vec::new() };
            let list = left_after(vec![inner, Stmt::Expr(Expr::atom("step"))]);
            assert!(matches!(&list[..], [Stmt::Loop { cond: None, .. }]), "{list:?}");
        }
    }
}
