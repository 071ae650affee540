//! Makes a script that fails smaller, statement by statement, as long as it fails.
//!
//! A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002, over the tree
//! of statements instead of a list of characters.

use super::script::{Script, Stmt};

/// The smallest script found for which `fails` still holds.
pub(crate) fn reduce(script: Script, fails: &dyn Fn(&Script) -> bool) -> Script {
    let mut best = script;
    let mut smaller = true;
    while smaller {
        smaller = false;
        let mut edit = 0;
        // After an edit, the next one has its number.
        while let Some(candidate) = edited(&best, edit) {
            if fails(&candidate) {
                best = candidate;
                smaller = true;
            } else {
                edit += 1;
            }
        }
    }
    best
}

/// The script after the `edit`th of all edits that make it smaller, largest first.
fn edited(script: &Script, edit: usize) -> Option<Script> {
    let mut left = edit;
    let mut copy = script.clone();
    for index in 0..copy.probes.len() {
        if left == 0 {
            copy.probes.remove(index);
            return Some(copy);
        }
        left -= 1;
    }
    let items = copy.probes.iter_mut().chain(&mut copy.functions);
    for item in items {
        if edit_list(&mut item.body, &mut left) {
            return Some(copy);
        }
    }
    // What nothing calls any more goes last: before, removing it only breaks the script.
    for index in 0..copy.functions.len() {
        if left == 0 {
            copy.functions.remove(index);
            return Some(copy);
        }
        left -= 1;
    }
    None
}

/// Does the edit if it is one of this list; else counts down.
fn edit_list(stmts: &mut Vec<Stmt>, left: &mut usize) -> bool {
    for index in 0..stmts.len() {
        if *left == 0 {
            stmts.remove(index);
            return true;
        }
        *left -= 1;
        let Stmt::Nested(parts) = &mut stmts[index] else { continue };
        for (_, body) in parts {
            if *left == 0 {
                let body = std::mem::take(body);
                stmts.splice(index..=index, body);
                return true;
            }
            *left -= 1;
            if edit_list(body, left) {
                return true;
            }
        }
    }
    false
}
