//! New strings that are stored in a global right away are written there.

use std::collections::{BTreeMap, BTreeSet};

use super::tidy::{for_each_list, walk};
use crate::c::expr::{Binding, Expr, has_word};
use crate::c::layout::flat;
use crate::c::stmt::Stmt;

/// `t = xl_str_f(c, place, …); xl_set(&g, t);` becomes `xl_str_f(c, &g, …);` if that is all there is to
/// `t` and the function does not read the global; but what is appended to the global itself stays
/// where it is. `borrowing` are variables whose strings lie in globals.
pub(crate) fn write_in_place(list: &mut Vec<Stmt>, borrowing: &BTreeSet<String>) {
    let mut mentions: BTreeMap<String, usize> = BTreeMap::new();
    walk(list, &mut |stmt| {
        stmt.for_each_expr(&mut |e| {
            e.for_each_word(&mut |word| *mentions.entry(word.to_owned()).or_default() += 1);
        });
    });
    for_each_list(list, &mut |list| {
        let mut at = 1;
        while at < list.len() {
            match joined(&list[at - 1], &list[at], &mentions, borrowing) {
                Some(stmt) => {
                    list[at - 1] = stmt;
                    list.remove(at);
                }
                None => at += 1,
            }
        }
    });
}

fn joined(
    make: &Stmt,
    store: &Stmt,
    mentions: &BTreeMap<String, usize>,
    borrowing: &BTreeSet<String>,
) -> Option<Stmt> {
    let Stmt::Assign(Expr::Atom(name), Expr::Call(function, args)) = make else { return None };
    let Stmt::Expr(Expr::Call(set, stored)) = store else { return None };
    let [Expr::Prefix("&", target), Expr::Atom(text)] = &stored[..] else { return None };
    let Expr::Atom(global) = &**target else { return None };
    let is_only_use = text == name && mentions.get(&**name) == Some(&2);
    if &**set != "xl_set" || !function.starts_with("xl_str_") || !is_only_use {
        return None;
    }
    let appends = &**function == "xl_str_concat";
    let own = flat(&Expr::call("xl_str", vec![(**target).clone().address()]), Binding::LOWEST);
    for (n, arg) in args.iter().enumerate().skip(2) {
        let text = flat(arg, Binding::LOWEST);
        let is_start = appends && n == 2 && text == own;
        let mut borrows = false;
        arg.for_each_word(&mut |word| borrows |= borrowing.contains(word));
        if borrows || (has_word(&text, global) && !is_start) {
            return None;
        }
    }
    let mut args = args.clone();
    args[1] = (**target).clone().address();
    Some(Stmt::Expr(Expr::Call(function.clone(), args)))
}
