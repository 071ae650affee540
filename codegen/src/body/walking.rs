//! `foreach`: walks over arrays and snapshots of them.

use xlate_ir::entities::{Global, Inst, Value};
use xlate_ir::instructions::{IterSpec, Op, Place, StatField};

use super::{BodyEmitter, context};
use crate::c::expr::Expr;
use crate::c::stmt::Stmt;
use crate::fold::Home;
use crate::repr::Repr;
use crate::walks::snapshot_name;

/// A walk that is under way.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    global: Global,
    /// The variable that points to the current entry.
    entry: String,
    /// The snapshot, and the variable that counts its entries.
    snapshot: Option<(String, String)>,
    /// The variable that counts down to the limit.
    limit: Option<String>,
}

impl BodyEmitter<'_> {
    pub(super) fn begin_walk(&mut self, inst: Inst, spec: &IterSpec) {
        self.needs.headers.insert("map.h");
        let Some(result) = self.body.insts[inst].result else { return };
        let name = self.shared.names.global(spec.global).to_owned();
        let entry = self.text_of(&format!("struct {name}_entry *"), "e");
        let limit = spec.limit.map(|limit| {
            let count = self.text_of("s64", "limit");
            let value = self.value(limit);
            self.push(Stmt::Assign(Expr::atom(&count), value));
            count
        });
        let snapshot = self.shared.snapshots.get(self.owner, inst).map(|snapshot| {
            let index = self.text_of("u32", "i");
            (snapshot_name(&name, snapshot), index)
        });
        match &snapshot {
            Some((snapshot, index)) => {
                self.fill(snapshot, &name, &entry, spec, self.is_unlocked_after(inst, spec.global));
                self.push(Stmt::Assign(Expr::atom(index), Expr::Long(0)));
            }
            None => self.push(Stmt::Assign(Expr::atom(&entry), Expr::atom("NULL"))),
        }
        let walk = Walk { global: spec.global, entry, snapshot, limit };
        self.walks.insert(result, walk);
    }

    fn text_of(&mut self, ty: &str, name: &str) -> String {
        match self.fresh(ty, name) {
            Expr::Atom(text) => text.to_string(),
            _ => String::new(),
        }
    }

    /// Whether the lock of an array is released in the block of the walk's start, behind it, with
    /// nothing done to the walk before that.
    fn is_unlocked_after(&self, begin: Inst, array: Global) -> bool {
        let body = self.body;
        let insts = &body.blocks[self.block].insts;
        let wanted = self.facts().lock_of(array);
        let walks = |op: &Op| self.facts().effects(op).advances;
        let rest = insts.iter().skip_while(|&&inst| inst != begin).skip(1);
        rest.map(|&inst| &body.insts[inst].op).take_while(|op| !walks(op)).any(
            |op| matches!(op, Op::Unlock(locks) if locks.iter().any(|&lock| wanted == Some(lock))),
        )
    }

    /// Copies the entries of the slice to the snapshot, and sorts them: when the array's lock is
    /// released, if that is soon.
    fn fill(&mut self, snapshot: &str, array: &str, entry: &str, spec: &IterSpec, later: bool) {
        self.needs.headers.insert("snapshot.h");
        let address = Expr::atom(snapshot).address();
        self.call("xl_snapshot_clear", vec![address.clone()]);
        let add = Stmt::call("xl_snapshot_add", vec![address.clone(), Expr::atom(entry)]);
        let body = match self.in_slice(entry, spec) {
            Some(cond) => vec![Stmt::If { cond, then: vec![add], otherwise: Vec::new() }],
            None => vec![add],
        };
        let head = Expr::call("xl_map_each", vec![Expr::atom(array), Expr::atom(entry)]);
        self.push(Stmt::Each { head, body });
        if let Some((key, descending)) = spec.sort {
            let order = self.needs.order(spec.global, key, descending);
            let sort = Stmt::call("xl_snapshot_sort", vec![address, Expr::atom(order)]);
            if later {
                self.sorts.push((spec.global, sort));
            } else {
                self.push(sort);
            }
        }
    }

    /// The condition that an entry is in the slice.
    fn in_slice(&mut self, entry: &str, spec: &IterSpec) -> Option<Expr> {
        let keys = self.facts().module.globals[spec.global].keys.clone();
        let mut all: Option<Expr> = None;
        for (n, (wanted, ty)) in spec.slice.iter().zip(keys).enumerate() {
            let Some(wanted) = wanted else { continue };
            let field = Expr::atom(format!("{entry}->key.k{n}"));
            let test = match Repr::of(ty) {
                Repr::Long | Repr::Walk => Expr::comparison("==", field, self.value(*wanted)),
                Repr::Name => {
                    let own = Expr::call("xl_name_str", vec![field.address()]);
                    Expr::call("xl_str_equal", vec![own, self.view(*wanted)])
                }
                Repr::View => {
                    let own = Expr::call("xl_str", vec![field.address()]);
                    Expr::call("xl_str_equal", vec![own, self.view(*wanted)])
                }
            };
            all = Some(match all {
                Some(before) => Expr::infix("&&", before, test),
                None => test,
            });
        }
        all
    }

    /// Moves to the next element; whether there is one.
    pub(super) fn next(&mut self, walk: Value) -> Expr {
        let Some(walk) = self.walks.get(&walk).cloned() else { return Expr::Long(0) };
        let entry = Expr::atom(&walk.entry);
        let step = match &walk.snapshot {
            Some((snapshot, index)) => {
                let args = vec![Expr::atom(snapshot).address(), Expr::atom(index)];
                Expr::call("xl_snapshot_next", args)
            }
            None => {
                let name = Expr::atom(self.shared.names.global(walk.global));
                Expr::call("xl_map_next", vec![name, entry.clone()])
            }
        };
        let moved = Expr::infix("!=", Expr::infix("=", entry, step), Expr::atom("NULL"));
        match &walk.limit {
            Some(limit) => {
                let left = Expr::infix(">", Expr::atom(format!("{limit}--")), Expr::Long(0));
                Expr::infix("&&", left, moved)
            }
            None => moved,
        }
    }

    fn entry(&self, walk: Value) -> String {
        self.walks.get(&walk).map_or_else(String::new, |walk| walk.entry.clone())
    }

    /// A key of the current element.
    pub(super) fn walk_key(&mut self, walk: Value, key: u32) -> Expr {
        let field = Expr::atom(format!("{}->key.k{key}", self.entry(walk)));
        let global = self.walks.get(&walk).map(|walk| walk.global);
        let ty =
            global.and_then(|g| self.facts().module.globals[g].keys.get(key as usize).copied());
        match ty.map(Repr::of) {
            Some(Repr::View) => Expr::call("xl_str", vec![field.address()]),
            _ => field,
        }
    }

    /// The value of the current element.
    pub(super) fn walk_value(&mut self, walk: Value) -> Expr {
        let value = Expr::atom(format!("{}->value", self.entry(walk)));
        let global = self.walks.get(&walk).map(|walk| walk.global);
        let ty = global.and_then(|g| self.facts().module.globals[g].element.value_type());
        match ty.map(Repr::of) {
            Some(Repr::View) => Expr::call("xl_str", vec![value.address()]),
            _ => value,
        }
    }

    /// A field of the current element's statistic, which has at least one value.
    pub(super) fn walk_stat(&mut self, walk: Value, field: StatField) -> Expr {
        let statistic = Expr::atom(format!("{}->value", self.entry(walk)));
        self.stat_field(&statistic, ".", field)
    }

    /// The key of the current entry of a walk, if that is just the key that a place names.
    pub(super) fn current_key(&self, place: &Place) -> Option<String> {
        let keys = &self.facts().module.globals[place.global].keys;
        if !super::arrays::is_words(keys) {
            return None;
        }
        let mut entry = None;
        for (n, &key) in place.keys.iter().enumerate() {
            let inst = self.folding.definition(key)?;
            let Op::IterKey(walk, at) = self.body.insts[inst].op else { return None };
            let known = self.walks.get(&walk)?;
            if at as usize != n || known.global != place.global || !self.is_current(key, walk) {
                return None;
            }
            if entry.get_or_insert(walk) != &walk {
                return None;
            }
        }
        entry.map(|walk| format!("{}->key", self.entry(walk)))
    }

    /// Whether a key is of the entry that its walk is at: it is read just now, or in this block.
    fn is_current(&self, key: Value, walk: Value) -> bool {
        if self.folding.home(key) == Home::Inline {
            return true;
        }
        let data = &self.body.blocks[self.block];
        let own = |inst: &Inst| self.body.insts[*inst].result == Some(key);
        let moves = |inst: &Inst| matches!(self.body.insts[*inst].op, Op::IterNext(w) | Op::IterEnd(w) if w == walk);
        data.insts.iter().any(own) && !data.insts.iter().any(moves)
    }

    /// Takes the message of the caught error.
    pub(super) fn catch_message(&mut self, message: Option<Expr>) -> Expr {
        let target = message.map_or_else(|| Expr::atom("NULL"), Expr::address);
        Expr::call("xl_catch", vec![context(), target])
    }
}
