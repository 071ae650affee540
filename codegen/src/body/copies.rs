//! Assignments that happen at once, one after the other.

use std::collections::BTreeSet;

use xlate_ir::types::Pos;

use crate::c::expr::Expr;
use crate::c::stmt::Stmt;
use crate::repr::Repr;

/// An assignment on an edge.
pub(super) struct Copy {
    /// The variable that is assigned, by number.
    pub(super) to: usize,
    /// Its name.
    pub(super) name: String,
    /// What it holds.
    pub(super) repr: Repr,
    /// The value.
    pub(super) value: Expr,
    /// Variables that the value reads, and variables whose places it looks into.
    pub(super) reads: BTreeSet<usize>,
    /// Whether the string itself is copied, to the variable's place.
    pub(super) place: Option<String>,
    /// Where in the script the value comes from.
    pub(super) origin: Option<Pos>,
}

/// Saves a value, given what it is, whether some text is copied to a place, and the statements so far;
/// says where the value then is.
pub(super) type Save<'s> = dyn FnMut(Expr, Repr, bool, &mut Vec<Stmt>) -> Expr + 's;

/// Orders assignments so that each variable is read before it is written; where they go in a circle, a
/// value is saved first.
pub(super) fn in_sequence(mut copies: Vec<Copy>, save: &mut Save) -> Vec<Stmt> {
    let mut list = Vec::new();
    while !copies.is_empty() {
        match next_copy(&copies) {
            Ok(n) => {
                let copy = copies.remove(n);
                let value = match copy.place {
                    Some(place) => Expr::call("xl_set", vec![Expr::atom(place), copy.value]),
                    None => copy.value,
                };
                let mut assign = Stmt::Assign(Expr::atom(copy.name), value);
                if let Some(pos) = copy.origin {
                    assign.stamp(pos);
                }
                list.push(assign);
            }
            Err(at) => {
                let copies_text = copies.iter().any(|copy| copy.place.is_some());
                let (value, repr) = (copies[at].value.clone(), copies[at].repr);
                copies[at].value = save(value, repr, copies_text, &mut list);
                copies[at].reads.clear();
            }
        }
    }
    list
}

/// The assignment to make next, or as an error the one whose value must be saved because all wait for
/// each other. One that only counts comes last, where a loop that counts has it.
fn next_copy(copies: &[Copy]) -> Result<usize, usize> {
    let waits_for = |n: usize, m: usize| m != n && copies[m].reads.contains(&copies[n].to);
    let is_free = |n: &usize| !(0..copies.len()).any(|m| waits_for(*n, m));
    let counts = |n: usize| copies[n].reads.contains(&copies[n].to);
    // Whether its value being read lets another go on.
    let helps = |n: usize| (0..copies.len()).any(|m| waits_for(m, n));
    let free: Vec<usize> = (0..copies.len()).filter(is_free).collect();
    let first = free.iter().copied().find(|&n| !counts(n) || helps(n));
    if let Some(n) = first {
        return Ok(n);
    }
    let waiting = (0..copies.len()).find(|n| !is_free(n) && helps(*n));
    match (waiting, free.first()) {
        (Some(n), _) => Err(n),
        (None, Some(&n)) => Ok(n),
        // Some value is read by another, or all would be free.
        (None, None) => Err(0),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn evaluate(expr: &Expr, vars: &BTreeMap<String, i64>) -> i64 {
        match expr {
            Expr::Long(n) => *n,
            Expr::Atom(name) => vars[&**name],
            Expr::Infix(_, a, b) => evaluate(a, vars).wrapping_mul(3) + evaluate(b, vars),
            other => panic!("{other:?}"),
        }
    }

    /// Every seventh of the ways in which four variables can get sums of each other.
    #[test]
    fn sequences_do_what_happens_at_once() {
        const VARIABLES: usize = 4;
        let name = |n: usize| format!("v{n}");
        let before: BTreeMap<String, i64> =
            (0..VARIABLES).map(|n| (name(n), 10 + n as i64)).collect();
        for code in (0..1_usize << (VARIABLES * VARIABLES)).step_by(7) {
            let copies: Vec<Copy> = (0..VARIABLES)
                .map(|to| {
                    let reads: BTreeSet<usize> = (0..VARIABLES)
                        .filter(|from| code >> (to * VARIABLES + from) & 1 == 1)
                        .collect();
                    let value = reads.iter().fold(Expr::Long(to as i64), |sum, &from| {
                        Expr::infix("+", sum, Expr::atom(name(from)))
                    });
                    Copy {
                        to,
                        name: name(to),
                        repr: Repr::Long,
                        value,
                        reads,
                        place: None,
                        origin: None,
                    }
                })
                .collect();
            let wanted: Vec<i64> =
                copies.iter().map(|copy| evaluate(&copy.value, &before)).collect();
            let mut saves = 0;
            let list = in_sequence(copies, &mut |value, _, _, list| {
                let saved = Expr::atom(format!("saved{saves}"));
                saves += 1;
                list.push(Stmt::Assign(saved.clone(), value));
                saved
            });
            let mut vars = before.clone();
            for stmt in &list {
                let Stmt::Assign(Expr::Atom(to), value) = stmt else { panic!("{stmt:?}") };
                let value = evaluate(value, &vars);
                vars.insert(to.to_string(), value);
            }
            let found: Vec<i64> = (0..VARIABLES).map(|n| vars[&name(n)]).collect();
            assert_eq!(found, wanted, "{code:b}: {list:?}");
            assert!(saves < VARIABLES);
        }
    }
}
