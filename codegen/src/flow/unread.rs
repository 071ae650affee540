//! Drops assignments to variables that nothing reads: their uses can turn out to be in code that
//! nothing leads to.

use std::collections::BTreeSet;

use super::tidy::{for_each_list, walk};
use crate::c::expr::Expr;
use crate::c::stmt::Stmt;

/// Drops them. `variables` are the names of the function's own variables.
pub(crate) fn drop_unread(list: &mut Vec<Stmt>, variables: &BTreeSet<&str>) {
    loop {
        let read = read_in(list, variables);
        let mut changed = false;
        let is_unread = |target: &Expr| match target {
            Expr::Atom(name) => variables.contains(&**name) && !read.contains(&**name),
            _ => false,
        };
        for_each_list(list, &mut |list| {
            list.retain_mut(|stmt| {
                let Stmt::Assign(target, value) = stmt else { return true };
                if !is_unread(target) {
                    return true;
                }
                changed = true;
                let acts = matches!(value, Expr::Call(..));
                *stmt = Stmt::Expr(value.clone());
                acts
            });
        });
        if !changed {
            return;
        }
    }
}

/// The variables that are read, other than to compute their own next value.
fn read_in<'v>(list: &[Stmt], variables: &BTreeSet<&'v str>) -> BTreeSet<&'v str> {
    let mut read = BTreeSet::new();
    walk(list, &mut |stmt| {
        let mut note = |expr: &Expr, except: Option<&str>| {
            expr.for_each_word(&mut |word| {
                if except != Some(word)
                    && let Some(name) = variables.get(word)
                {
                    read.insert(*name);
                }
            });
        };
        match stmt {
            Stmt::Expr(e) | Stmt::Return(Some(e)) | Stmt::Each { head: e, .. } => note(e, None),
            Stmt::Assign(target, value) => match target {
                Expr::Atom(name) => note(value, Some(name)),
                _ => {
                    note(target, None);
                    note(value, None);
                }
            },
            Stmt::If { cond, .. }
            | Stmt::Loop { cond: Some(cond), .. }
            | Stmt::DoWhile { cond, .. }
            | Stmt::For { cond, .. } => note(cond, None),
            Stmt::Define(_, _, value) => note(value, None),
            _ => {}
        }
    });
    read
}
