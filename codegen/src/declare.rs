//! Where variables are declared: in the innermost block that contains all their uses, with their
//! value if the block begins by assigning it.

use std::collections::BTreeMap;

use crate::c::expr::Expr;
use crate::c::stmt::Stmt;

/// Declares variables (type, name) in a function's statements.
pub(crate) fn declare(mut list: Vec<Stmt>, variables: Vec<(String, String)>) -> Vec<Stmt> {
    let mut here = BTreeMap::new();
    let order: Vec<String> = variables.iter().map(|(_, name)| name.clone()).collect();
    for (ty, name) in variables {
        if list.iter().any(|stmt| mentions(stmt, &name)) {
            here.insert(name, ty);
        }
    }
    in_block(&mut list, here, &order);
    list
}

/// Declares in a block what is used in more than one of its statements, the rest further in.
fn in_block(list: &mut Vec<Stmt>, variables: BTreeMap<String, String>, order: &[String]) {
    let mut own = BTreeMap::new();
    let mut inner: BTreeMap<(usize, bool), BTreeMap<String, String>> = BTreeMap::new();
    for (name, ty) in variables {
        match only_block(list, &name) {
            Some(place) => {
                inner.entry(place).or_default().insert(name, ty);
            }
            None => {
                own.insert(name, ty);
            }
        }
    }
    for ((at, second), variables) in inner {
        if let Some(block) = block_mut(&mut list[at], second) {
            in_block(block, variables, order);
        }
    }
    declare_here(list, own, order);
}

/// The only statement of the list that mentions a variable, if that is inside one block of it.
fn only_block(list: &[Stmt], name: &str) -> Option<(usize, bool)> {
    let mut found = list.iter().enumerate().filter(|(_, stmt)| mentions(stmt, name));
    let (at, stmt) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let within = |block: &[Stmt]| block.iter().any(|stmt| mentions(stmt, name));
    match stmt {
        Stmt::If { cond, then, otherwise } if !cond.mentions(name) => {
            match (within(then), within(otherwise)) {
                (true, false) => Some((at, false)),
                (false, true) => Some((at, true)),
                _ => None,
            }
        }
        Stmt::Loop { cond, body } if !cond.as_ref().is_some_and(|c| c.mentions(name)) => {
            within(body).then_some((at, false))
        }
        Stmt::Each { head, body } if !head.mentions(name) => within(body).then_some((at, false)),
        Stmt::DoWhile { body, cond } if !cond.mentions(name) => within(body).then_some((at, false)),
        Stmt::For { init, cond, step, body }
            if !cond.mentions(name) && !mentions(init, name) && !mentions(step, name) =>
        {
            within(body).then_some((at, false))
        }
        _ => None,
    }
}

fn block_mut(stmt: &mut Stmt, second: bool) -> Option<&mut Vec<Stmt>> {
    match stmt {
        Stmt::If { otherwise, .. } if second => Some(otherwise),
        Stmt::If { then, .. } => Some(then),
        Stmt::Loop { body, .. }
        | Stmt::Each { body, .. }
        | Stmt::DoWhile { body, .. }
        | Stmt::For { body, .. } => Some(body),
        _ => None,
    }
}

fn declare_here(list: &mut Vec<Stmt>, mut own: BTreeMap<String, String>, order: &[String]) {
    let mut declarations = Vec::new();
    let defined = list.iter().take_while(|stmt| matches!(stmt, Stmt::Define(..))).count();
    declarations.extend(list.drain(..defined));
    // The handler's actions are handed out after its variables have their first values, unless one of
    // those is from a function of the script.
    let spends = |value: &Expr| value.calls_script();
    let budget = match list.first() {
        Some(Stmt::Expr(Expr::Call(name, _))) if &**name == "xl_budget" => Some(list.remove(0)),
        _ => None,
    };
    // Places are named by address in the first values of others.
    for name in order {
        if own.get(name).is_some_and(|ty| ty.starts_with("XL_STRING"))
            && let Some(ty) = own.remove(name)
        {
            declarations.push(Stmt::Declare(ty, name.clone()));
        }
    }
    let mut at = 0;
    while let Some(stmt) = list.get(at) {
        match stmt {
            Stmt::Assign(_, value) if budget.is_some() && spends(value) => break,
            Stmt::Assign(Expr::Atom(name), value) => match own.remove(&**name) {
                Some(ty) => declarations.push(Stmt::Define(ty, name.to_string(), value.clone())),
                None => break,
            },
            _ => break,
        }
        at += 1;
    }
    list.drain(..at);
    list.splice(0..0, budget);
    // One line for each type, in the order in which types come up.
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for name in order {
        let Some(ty) = own.remove(name) else { continue };
        match lines.iter_mut().find(|(known, names)| *known == ty && names.len() < 6) {
            Some((_, names)) => names.push(name.clone()),
            None => lines.push((ty, vec![name.clone()])),
        }
    }
    for (ty, names) in lines {
        let separator = if ty.ends_with('*') { ", *" } else { ", " };
        declarations.push(Stmt::Declare(ty, names.join(separator)));
    }
    if declarations.is_empty() {
        return;
    }
    if !list.is_empty() {
        declarations.push(Stmt::Blank);
    }
    list.splice(0..0, declarations);
}

/// Whether a variable is used in a statement.
fn mentions(stmt: &Stmt, name: &str) -> bool {
    let within = |list: &[Stmt]| list.iter().any(|stmt| mentions(stmt, name));
    match stmt {
        Stmt::Expr(e) => e.mentions(name),
        Stmt::Assign(target, value) => target.mentions(name) || value.mentions(name),
        Stmt::If { cond, then, otherwise } => {
            cond.mentions(name) || within(then) || within(otherwise)
        }
        Stmt::Loop { cond, body } => {
            cond.as_ref().is_some_and(|cond| cond.mentions(name)) || within(body)
        }
        Stmt::Each { head, body } => head.mentions(name) || within(body),
        Stmt::For { init, cond, step, body } => {
            mentions(init, name) || cond.mentions(name) || mentions(step, name) || within(body)
        }
        Stmt::DoWhile { body, cond } => cond.mentions(name) || within(body),
        Stmt::Return(Some(value)) => value.mentions(name),
        Stmt::Define(_, own, value) => own == name || value.mentions(name),
        _ => false,
    }
}
