//! Which variables are alive at the same time.
//!
//! Classic backward data flow over the blocks, with two particulars: a value that is folded into its
//! use reads its operands there, and the arguments of a block are assigned on the edge, after the
//! branch condition has been read.

use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::instructions::{Op, Terminator};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::Body;

use crate::bits::BitSet;
use crate::facts::Facts;
use crate::fold::{Folding, Home};

/// Pairs of variables that must not be the same.
pub(crate) struct Interference {
    /// For each value, those that it interferes with.
    pub(crate) with: Vec<BitSet>,
    /// Strings that lie in a global or in a walk's element and are still needed when that may change.
    pub(crate) copied: BitSet,
    /// For each block, the variables alive at its start, without its parameters.
    live_in: Vec<BitSet>,
}

impl Interference {
    /// Computes it for a body.
    pub(crate) fn of(facts: &Facts, body: &Body, folding: &Folding) -> Interference {
        let count = body.values.len();
        let mut interference = Interference {
            with: vec![BitSet::new(count); count],
            copied: BitSet::new(count),
            live_in: vec![BitSet::new(count); body.blocks.len()],
        };
        let mut changed = true;
        while changed {
            changed = false;
            for &block in body.layout.iter().rev() {
                let mut scan = Scan::new(facts, body, folding);
                scan.end_of_block(block, &interference);
                scan.block(block, &mut |_, _| {});
                changed |= interference.live_in[block.index()].extend(&scan.live);
            }
        }
        for &block in &body.layout {
            let mut scan = Scan::new(facts, body, folding);
            scan.end_of_block(block, &interference);
            let mut pairs = Vec::new();
            scan.block(block, &mut |defined, live| pairs.push((defined, live.clone())));
            for (defined, live) in pairs {
                interference.add(defined, &live);
            }
            interference.copied.extend(&scan.copied);
        }
        interference
    }

    fn add(&mut self, value: Value, others: &BitSet) {
        let value = value.index();
        self.with[value].extend(others);
        self.with[value].remove(value);
        for other in others.iter().filter(|&other| other != value) {
            self.with[other].insert(value);
        }
    }
}

/// Walks a block backwards.
struct Scan<'a> {
    facts: &'a Facts<'a>,
    body: &'a Body,
    folding: &'a Folding,
    live: BitSet,
    copied: BitSet,
}

impl<'a> Scan<'a> {
    fn new(facts: &'a Facts<'a>, body: &'a Body, folding: &'a Folding) -> Scan<'a> {
        let count = body.values.len();
        Scan { facts, body, folding, live: BitSet::new(count), copied: BitSet::new(count) }
    }

    fn is_variable(&self, value: Value) -> bool {
        self.folding.home(value) == Home::Variable
    }

    fn use_value(&mut self, value: Value) {
        let mut leaves = Vec::new();
        self.folding.for_each_leaf(self.facts, self.body, value, &mut |leaf| leaves.push(leaf));
        for leaf in leaves {
            self.live.insert(leaf.index());
        }
    }

    /// What is alive at the end of a block: what its successors and its terminator read.
    fn end_of_block(&mut self, block: Block, known: &Interference) {
        let terminator = &self.body.blocks[block].terminator;
        for call in terminator.successors() {
            self.live.extend(&known.live_in[call.block.index()]);
            for (&arg, &param) in call.args.iter().zip(&self.body.blocks[call.block].params) {
                if self.is_variable(param) {
                    self.use_value(arg);
                    self.copied.insert(arg.index());
                }
            }
        }
        if matches!(terminator, Terminator::Raise { .. }) {
            // Its message takes the place of the last one.
            self.copy_caught();
        }
        match terminator {
            Terminator::Branch(value, ..)
            | Terminator::Return(Some(value))
            | Terminator::Raise { message: value, .. } => self.use_value(*value),
            _ => {}
        }
    }

    /// Goes through the instructions and parameters; calls `defines` with each variable that is given
    /// a value and with what is alive right after.
    fn block(&mut self, block: Block, defines: &mut dyn FnMut(Value, &BitSet)) {
        let data = &self.body.blocks[block];
        for &inst in data.insts.iter().rev() {
            self.inst(inst, defines);
        }
        let params: Vec<Value> =
            data.params.iter().copied().filter(|&param| self.is_variable(param)).collect();
        for &param in &params {
            self.live.insert(param.index());
        }
        for &param in &params {
            defines(param, &self.live);
        }
        for &param in &params {
            self.live.remove(param.index());
        }
    }

    fn inst(&mut self, inst: Inst, defines: &mut dyn FnMut(Value, &BitSet)) {
        let op = &self.body.insts[inst].op;
        let result = self.body.insts[inst].result;
        let mut operands = Vec::new();
        self.facts.for_each_operand(op, |v| operands.push(v));
        if !self.folding.is_statement(self.facts, self.body, inst) {
            // What is checked where the value is computed is read there, too.
            if result.is_some_and(|result| self.folding.home(result) == Home::Inline)
                && let Op::Binary(..) = op
            {
                self.use_value(operands[1]);
            }
            return;
        }
        self.copy_what_changes(op);
        let variable = result.filter(|&result| self.is_variable(result));
        if let Some(result) = variable {
            // A string is written while its operands are read; only the first part of a concatenation
            // may lie where the whole goes.
            let appends = matches!(op, Op::Intrinsic(Intrinsic::StrConcat, _));
            let reads_while_writing = self.body.type_of(result).is_str();
            self.live.insert(result.index());
            let mut live = self.live.clone();
            if reads_while_writing {
                for &operand in operands.iter().skip(usize::from(appends)) {
                    self.folding.for_each_leaf(self.facts, self.body, operand, &mut |leaf| {
                        live.insert(leaf.index());
                    });
                }
            }
            defines(result, &live);
            self.live.remove(result.index());
        }
        for operand in operands {
            self.use_value(operand);
        }
    }

    /// Marks the messages that are alive: an error is raised.
    fn copy_caught(&mut self) {
        for live in self.live.iter() {
            let definition = self.folding.definition(Value::from_index(live));
            if definition.is_some_and(|inst| self.body.insts[inst].op == Op::Caught) {
                self.copied.insert(live);
            }
        }
    }

    /// Marks the borrowed strings that are alive across an operation which may change what they lie
    /// in.
    fn copy_what_changes(&mut self, op: &Op) {
        let effects = self.facts.effects(op);
        let unlocks = matches!(op, Op::Unlock(_));
        if !effects.advances && !unlocks && !effects.raises && effects.writes.is_empty() {
            return;
        }
        // What a function is given, or an element is found by, is needed while that goes on.
        let mut needed = self.live.clone();
        if matches!(op, Op::Call(..)) || is_element_write(op) {
            self.facts.for_each_operand(op, |operand| {
                self.folding.for_each_leaf(self.facts, self.body, operand, &mut |leaf| {
                    needed.insert(leaf.index());
                });
            });
        }
        for live in needed.iter() {
            let Some(inst) = self.folding.definition(Value::from_index(live)) else { continue };
            let may_change = match &self.body.insts[inst].op {
                Op::Load(place) => unlocks || effects.writes.contains(&place.global),
                Op::IterKey(..) | Op::IterValue(_) => {
                    effects.advances || unlocks || !effects.writes.is_empty()
                }
                Op::Caught => effects.raises,
                _ => false,
            };
            if may_change {
                self.copied.insert(live);
            }
        }
    }
}

/// Whether an operation writes an element of an array.
fn is_element_write(op: &Op) -> bool {
    match op {
        Op::Store(place, _)
        | Op::Update(_, place, _)
        | Op::StatAdd(place, _)
        | Op::Delete(place) => !place.keys.is_empty(),
        _ => false,
    }
}
