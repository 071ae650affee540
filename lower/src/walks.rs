//! Elements at the keys of the walk that is under way are read off the walk.
//!
//! In `foreach (k in a) … a[k] …` the place `a[k]` is the element that the walk is at, for pass 2
//! refuses loops that change their array. The keys are compared in SSA form: where the results of
//! `iter.key` are used, the walk is still at that element. The IR does not have that rule of the
//! language, so this cannot be left to a pass.

use std::collections::HashMap;

use xlate_ir::entities::{Global, Value};
use xlate_ir::instructions::{Op, Place};
use xlate_ir::module::Body;

/// Replaces reads of elements by reads off the walks.
pub(crate) fn read_off_walks(body: &mut Body) {
    let mut walked: HashMap<Value, Global> = HashMap::new();
    let mut keys: HashMap<Value, (Value, u32)> = HashMap::new();
    for (_, inst) in body.iter_insts() {
        let inst = &body.insts[inst];
        match (&inst.op, inst.result) {
            (Op::IterBegin(spec), Some(iter)) => {
                walked.insert(iter, spec.global);
            }
            (Op::IterKey(iter, n), Some(key)) => {
                keys.insert(key, (*iter, *n));
            }
            _ => {}
        }
    }
    if keys.is_empty() {
        return;
    }
    let walk_at = |place: &Place| {
        let (iter, _) = *keys.get(place.keys.first()?)?;
        let at_key = |(n, key): (usize, &Value)| keys.get(key) == Some(&(iter, n as u32));
        let is_current = place.keys.iter().enumerate().all(at_key);
        (is_current && walked.get(&iter) == Some(&place.global)).then_some(iter)
    };
    for inst in body.iter_insts().map(|(_, inst)| inst).collect::<Vec<_>>() {
        let replacement = match &body.insts[inst].op {
            Op::Load(place) => walk_at(place).map(Op::IterValue),
            Op::StatGet(field, place) => walk_at(place).map(|iter| Op::IterStat(iter, *field)),
            _ => None,
        };
        if let Some(op) = replacement {
            body.insts[inst].op = op;
        }
    }
}
