//! The keys of array elements, on a stack that is small.
//!
//! A key is a compound literal, and lives as long as the block around its statement: a compiler
//! gives those of one block a place on the stack each. A body with many puts each statement with a
//! key into a block of its own, so that they share one.

use crate::c::expr::Expr;
use crate::c::stmt::Stmt;

/// As many statements of a body may have their keys side by side.
const MOST: usize = 12;

/// Gives the keys of a body blocks of their own, if they are many. Nothing that a statement leaves
/// behind points to its key: entries are in the array.
pub(super) fn scope(list: &mut [Stmt]) {
    if count(list) > MOST {
        enclose(list);
    }
}

/// How many statements have a key.
fn count(list: &[Stmt]) -> usize {
    list.iter()
        .map(|stmt| {
            usize::from(has_key(stmt)) + stmt.bodies().iter().map(|b| count(b)).sum::<usize>()
        })
        .sum()
}

fn enclose(list: &mut [Stmt]) {
    // A lone statement is the block already.
    let is_alone = list.len() == 1;
    for stmt in list {
        if has_key(stmt) && !is_alone {
            let inner = std::mem::replace(stmt, Stmt::Blank);
            *stmt = Stmt::Block(vec![inner]);
        } else {
            stmt.bodies_mut().into_iter().for_each(|body| enclose(body));
        }
    }
}

/// Whether a statement that is no block itself, as those with conditions are, has a key.
fn has_key(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(value) => holds_key(value),
        Stmt::Assign(target, value) => holds_key(target) || holds_key(value),
        _ => false,
    }
}

fn holds_key(expr: &Expr) -> bool {
    match expr {
        Expr::Braces(head, fields) => {
            head.ends_with("_key)") || head.ends_with("_lookup)") || fields.iter().any(holds_key)
        }
        Expr::Call(_, args) => args.iter().any(holds_key),
        Expr::Prefix(_, a) => holds_key(a),
        Expr::Infix(_, a, b) => holds_key(a) || holds_key(b),
        Expr::Choice(a, b, c) => holds_key(a) || holds_key(b) || holds_key(c),
        Expr::Long(_) | Expr::Str(_) | Expr::Atom(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(n: i64) -> Stmt {
        let key = Expr::Braces("(struct g_a_key)".to_owned().into(), vec![Expr::Long(n)]);
        Stmt::call("g_a_put", vec![key.address()])
    }

    #[test]
    fn many_keys_get_blocks_of_their_own() {
        let guarded = Stmt::If { cond: Expr::Long(1), then: vec![put(0)], otherwise: Vec::new() };
        let mut list: Vec<Stmt> = (0..20).map(put).collect();
        list.extend([Stmt::call("f", Vec::new()), guarded.clone()]);
        scope(&mut list);
        assert_eq!(list[19], Stmt::Block(vec![put(19)]));
        assert_eq!(list[20..], [Stmt::call("f", Vec::new()), guarded]);
    }

    #[test]
    fn few_keys_stay_as_they_are() {
        let few: Vec<Stmt> = (0..12).map(put).collect();
        let mut list = few.clone();
        scope(&mut list);
        assert_eq!(list, few);
    }
}
