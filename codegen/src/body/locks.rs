//! Locks: taken together, released on every way out.
//!
//! Interrupts are off from the first acquire to the last release. An error that leaves while locks are
//! held jumps to a label at the end of the function which releases just those.

use std::collections::BTreeSet;

use xlate_ir::entities::Global;
use xlate_ir::instructions::LockMode;
use xlate_ir::sharing::Side;

use super::{BodyEmitter, context};
use crate::c::expr::Expr;
use crate::c::stmt::Stmt;
use crate::flow::tidy;
use crate::walks::{Owner, snapshot_name};

/// A lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Lock {
    /// That of a snapshot, by its array and number. Taken before all others.
    Snapshot(usize, Global),
    /// That of a global.
    Global(Global),
}

/// A lock that is held, and how.
pub(super) type Held = (Lock, LockMode);

/// The lists of held locks that errors leave with. The empty list: interrupts are off, no more.
pub(super) type Exits = BTreeSet<Vec<Held>>;

impl BodyEmitter<'_> {
    /// Whether a lock is one for each CPU.
    fn is_sharded(&self, lock: Lock) -> bool {
        match lock {
            Lock::Global(global) => self.facts().module.globals[global].discipline.is_sharded(),
            Lock::Snapshot(..) => false,
        }
    }

    /// What takes or releases a lock, `word` being `lock` or `unlock`, with the arguments behind the
    /// context.
    fn lock_call(&self, word: &str, (lock, mode): Held) -> (String, Expr) {
        let name = self.lock_name(lock);
        match (self.is_sharded(lock), mode) {
            (true, LockMode::Write) => (format!("xl_{word}_shards"), Expr::atom(name)),
            (true, LockMode::Read) => {
                (format!("xl_write_{word}"), Expr::atom(format!("XL_GUARDED(c)->{name}")).address())
            }
            (false, LockMode::Write) => (format!("xl_write_{word}"), Expr::atom(name).address()),
            (false, LockMode::Read) => (format!("xl_read_{word}"), Expr::atom(name).address()),
        }
    }

    /// Whether what a lock guards, of this handler's, must be gathered once it is taken.
    fn gathers(&self, (lock, mode): Held) -> bool {
        let Lock::Global(leader) = lock else { return false };
        let Owner::Handler(handler) = self.owner else { return false };
        let module = self.facts().module;
        self.is_sharded(lock)
            && mode == LockMode::Write
            && self.facts().sharing.handler(handler).keys().any(|&global| {
                module.lock_of(global) == Some(leader)
                    && self.facts().side(self.owner, global) == Some(Side::Home)
            })
    }

    fn lock_name(&self, lock: Lock) -> String {
        match lock {
            Lock::Global(global) => format!("{}_lock", self.shared.names.global(global)),
            Lock::Snapshot(number, global) => {
                let snapshot = crate::walks::Snapshot { global, number, locked: true };
                format!("{}_lock", snapshot_name(self.shared.names.global(global), &snapshot))
            }
        }
    }

    /// Takes locks in one global order; a handler that does not get one leaves.
    pub(super) fn lock(&mut self, locks: &[Held]) {
        self.needs.headers.insert("lock.h");
        let mut wanted: Vec<Held> = Vec::new();
        for &(lock, mode) in locks {
            let lock = match lock {
                Lock::Global(global) => match self.facts().lock_of(global) {
                    Some(leader) => Lock::Global(leader),
                    None => continue,
                },
                snapshot @ Lock::Snapshot(..) => snapshot,
            };
            match wanted.iter_mut().find(|(known, _)| *known == lock) {
                Some((_, known)) => *known = mode.max(*known),
                None => wanted.push((lock, mode)),
            }
        }
        wanted.sort();
        if self.held.is_empty() && !wanted.is_empty() {
            self.push(Stmt::Assign(Expr::atom("flags"), Expr::call("xl_irq_off", Vec::new())));
            self.uses_flags = true;
        }
        for &held in &wanted {
            if self.is_sharded(held.0) {
                self.needs.headers.insert("shard_lock.h");
            }
            let (function, name) = self.lock_call("lock", held);
            let taken = Expr::call(function, vec![context(), name]);
            let then = vec![self.exit()];
            self.push(Stmt::If { cond: taken.negated(), then, otherwise: Vec::new() });
            self.held.push(held);
        }
        for held in wanted {
            if let (true, Lock::Global(leader)) = (self.gathers(held), held.0) {
                let function = crate::shards::gather_function(self.shared.names, leader);
                self.call(&function, Vec::new());
            }
        }
    }

    /// Releases locks, and lets interrupts in again after the last.
    pub(super) fn unlock(&mut self, globals: &[Global]) {
        let leaders: Vec<Lock> = globals
            .iter()
            .filter_map(|&global| self.facts().lock_of(global))
            .map(Lock::Global)
            .collect();
        let gone: Vec<Held> =
            self.held.iter().copied().filter(|(lock, _)| leaders.contains(lock)).collect();
        if gone.is_empty() {
            return;
        }
        for &held in gone.iter().rev() {
            let stmt = self.release(held);
            self.push(stmt);
        }
        self.held.retain(|held| !gone.contains(held));
        if self.held.is_empty() {
            self.push(interrupts_on());
        }
        self.sort_unlocked();
    }

    /// Sorts the snapshots of arrays whose lock is not held any more.
    fn sort_unlocked(&mut self) {
        for (array, sort) in std::mem::take(&mut self.sorts) {
            let lock = self.facts().lock_of(array).map(Lock::Global);
            if self.held.iter().any(|(held, _)| Some(*held) == lock) {
                self.sorts.push((array, sort));
            } else {
                self.push(sort);
            }
        }
    }

    fn release(&self, held: Held) -> Stmt {
        let (function, name) = self.lock_call("unlock", held);
        Stmt::call(&function, vec![name])
    }

    /// Releases everything at the ordinary end of a handler.
    pub(super) fn release_all(&mut self) {
        if self.held.is_empty() {
            return;
        }
        for stmt in self.exit_steps(&self.held.clone()) {
            self.push(stmt);
        }
    }

    /// Jumps to where the locks held are released.
    fn exit(&mut self) -> Stmt {
        let held = self.held.clone();
        let label = self.exit_label(&held);
        self.exits.insert(held);
        Stmt::Exit(label)
    }

    /// Leaves with an error raised.
    pub(super) fn leave_raised(&mut self) -> Vec<Stmt> {
        if let Owner::Function(_) = self.owner {
            return vec![Stmt::Return(self.empty_result())];
        }
        if self.held.is_empty() {
            return vec![Stmt::Return(None)];
        }
        vec![self.exit()]
    }

    /// The label where a list of locks is released.
    fn exit_label(&mut self, held: &[Held]) -> String {
        if let Some(label) = self.exit_labels.get(held) {
            return label.clone();
        }
        let stem = match held {
            [] => "out".to_owned(),
            [.., (lock, _)] => {
                let name = self.lock_name(*lock);
                format!("unlock_{}", name.trim_start_matches("g_").trim_end_matches("_lock"))
            }
        };
        let taken = self.exit_labels.values().filter(|label| label.starts_with(&stem)).count();
        let label = if taken == 0 { stem } else { format!("{stem}_{}", taken + 1) };
        self.exit_labels.insert(held.to_vec(), label.clone());
        label
    }

    /// What releases a list of locks, and lets interrupts in.
    fn exit_steps(&self, held: &[Held]) -> Vec<Stmt> {
        let mut steps: Vec<Stmt> = held.iter().rev().map(|&held| self.release(held)).collect();
        steps.push(interrupts_on());
        steps
    }

    /// Appends the labels that errors jump to. The end of the body falls into them where it ends with
    /// the same steps.
    pub(super) fn append_exits(&mut self, list: &mut Vec<Stmt>) {
        let mut exits = std::mem::take(&mut self.exits);
        // Lists that begin another are released on the way of that one.
        let mut chains: Vec<Vec<Held>> = exits
            .iter()
            .filter(|list| {
                !exits.iter().any(|other| other.len() > list.len() && other.starts_with(list))
            })
            .cloned()
            .collect();
        // First the one that the body itself ends with.
        if let Some(first) = chains.iter().position(|chain| list.ends_with(&self.exit_steps(chain)))
        {
            chains.swap(0, first);
        }
        // Where a chain meets one before it, it goes on there.
        let mut seen: BTreeSet<&[Held]> = BTreeSet::new();
        for chain in &chains {
            for length in (0..=chain.len()).rev() {
                if !seen.insert(&chain[..length]) {
                    exits.insert(chain[..length].to_vec());
                    break;
                }
            }
        }
        let mut done = BTreeSet::new();
        for (n, chain) in chains.iter().enumerate() {
            let steps = self.exit_steps(chain);
            if n == 0 && list.ends_with(&steps) {
                list.truncate(list.len() - steps.len());
            } else if !crate::c::stmt::ends_away(list) {
                list.push(Stmt::Return(None));
            }
            for length in (0..=chain.len()).rev() {
                let part = &chain[..length];
                let label = self.exit_label(part);
                if !done.insert(part.to_vec()) {
                    list.push(Stmt::Exit(label));
                    break;
                }
                if exits.contains(part) {
                    list.push(Stmt::ExitLabel(label));
                }
                list.push(part.last().map_or_else(interrupts_on, |&held| self.release(held)));
            }
        }
        drop_idle_jumps(list);
    }
}

/// Drops `if (…) goto label;` right ahead of the label, and labels that nothing jumps to any more.
fn drop_idle_jumps(list: &mut Vec<Stmt>) {
    let mut at = 1;
    while at < list.len() {
        let is_idle = match (&list[at - 1], &list[at]) {
            (Stmt::If { cond, then, otherwise }, Stmt::ExitLabel(label)) => {
                otherwise.is_empty()
                    && then[..] == [Stmt::Exit(label.clone())]
                    && (cond.calls("xl_raised") || !cond.has_call())
            }
            _ => false,
        };
        if is_idle {
            list.remove(at - 1);
        } else {
            at += 1;
        }
    }
    let mut used = BTreeSet::new();
    tidy::walk(list, &mut |stmt| {
        if let Stmt::Exit(label) = stmt {
            used.insert(label.clone());
        }
    });
    list.retain(|stmt| !matches!(stmt, Stmt::ExitLabel(label) if !used.contains(label)));
}

fn interrupts_on() -> Stmt {
    Stmt::call("xl_irq_on", vec![Expr::atom("flags")])
}
