//! Where variables are declared: in the innermost block that contains all their uses, and those of
//! what may point into them, with their value if the block begins by assigning it.

use std::collections::BTreeMap;

use crate::c::expr::Expr;
use crate::c::stmt::Stmt;

/// A variable to be declared.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// Its type in C.
    pub(crate) ty: String,
    /// Its name.
    pub(crate) name: String,
    /// Whether it is a place: others name its address in their first values.
    pub(crate) is_place: bool,
    /// The variables that may view a string that lies in it: it must live as long as they do.
    pub(crate) viewers: Vec<String>,
}

impl Variable {
    /// One that nothing points into.
    pub(crate) fn plain(ty: impl Into<String>, name: impl Into<String>) -> Variable {
        Variable { ty: ty.into(), name: name.into(), is_place: false, viewers: Vec::new() }
    }

    fn lives_in(&self, mentioned: &dyn Fn(&str) -> bool) -> bool {
        mentioned(&self.name) || self.viewers.iter().any(|viewer| mentioned(viewer))
    }
}

/// Declares variables in a function's statements, as far as they are used.
pub(crate) fn declare(mut list: Vec<Stmt>, mut variables: Vec<Variable>) -> Vec<Stmt> {
    variables.retain(|variable| list.iter().any(|stmt| mentions(stmt, &variable.name)));
    in_block(&mut list, variables);
    list
}

/// Declares in a block what is used in more than one of its statements, the rest further in.
fn in_block(list: &mut Vec<Stmt>, variables: Vec<Variable>) {
    let mut own = Vec::new();
    let mut inner: BTreeMap<(usize, bool), Vec<Variable>> = BTreeMap::new();
    for variable in variables {
        match only_block(list, &variable) {
            Some(place) => inner.entry(place).or_default().push(variable),
            None => own.push(variable),
        }
    }
    for ((at, second), variables) in inner {
        if let Some(block) = block_mut(&mut list[at], second) {
            in_block(block, variables);
        }
    }
    declare_here(list, own);
}

/// The only statement of the list in which a variable lives, if that is inside one block of it.
fn only_block(list: &[Stmt], variable: &Variable) -> Option<(usize, bool)> {
    let lives = |stmt: &Stmt| variable.lives_in(&|name| mentions(stmt, name));
    let mut found = list.iter().enumerate().filter(|(_, stmt)| lives(stmt));
    let (at, stmt) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let free = |expr: &Expr| !variable.lives_in(&|name| expr.mentions(name));
    let within = |block: &[Stmt]| block.iter().any(lives);
    match stmt {
        Stmt::If { cond, then, otherwise } if free(cond) => match (within(then), within(otherwise))
        {
            (true, false) => Some((at, false)),
            (false, true) => Some((at, true)),
            _ => None,
        },
        Stmt::Loop { cond, body } if cond.as_ref().is_none_or(free) => {
            within(body).then_some((at, false))
        }
        Stmt::Each { head, body } if free(head) => within(body).then_some((at, false)),
        Stmt::DoWhile { body, cond } if free(cond) => within(body).then_some((at, false)),
        Stmt::For { init, cond, step, body } if free(cond) && !lives(init) && !lives(step) => {
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

fn declare_here(list: &mut Vec<Stmt>, mut own: Vec<Variable>) {
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
    for place in own.extract_if(.., |variable| variable.is_place) {
        declarations.push(Stmt::Declare(place.ty, place.name));
    }
    let mut at = 0;
    while let Some(stmt) = list.get(at) {
        match stmt {
            Stmt::Assign(_, value) if budget.is_some() && spends(value) => break,
            Stmt::Assign(Expr::Atom(name), value) => {
                let Some(index) = own.iter().position(|own| own.name == **name) else { break };
                let Variable { ty, name, .. } = own.remove(index);
                declarations.push(Stmt::Define(ty, name, value.clone()));
            }
            _ => break,
        }
        at += 1;
    }
    list.drain(..at);
    list.splice(0..0, budget);
    // One line for each type, in the order in which types come up.
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for Variable { ty, name, .. } in own {
        match lines.iter_mut().find(|(known, names)| *known == ty && names.len() < 6) {
            Some((_, names)) => names.push(name),
            None => lines.push((ty, vec![name])),
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
