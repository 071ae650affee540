//! Blocks, terminators, and that everything is defined once.

use super::{Checker, Owner, fits};
use crate::cfg::Cfg;
use crate::effects::may_raise;
use crate::entities::{Block, Entity, Value};
use crate::instructions::{BlockCall, Op, Terminator};
use crate::types::Type;

impl Checker<'_> {
    /// Rules that need no graph: ids exist, blocks and values stand once, terminators fit.
    pub(super) fn check_structure(&mut self) {
        if self.body.layout.is_empty() {
            return self.at_block(None, "a body has at least one block");
        }
        self.check_ids();
        if !self.errors.is_empty() {
            return;
        }
        self.check_entry();
        for &block in &self.body.layout {
            self.check_terminator(block);
            self.check_caught(block);
        }
    }

    fn check_ids(&mut self) {
        let body = self.body;
        let mut placed = vec![false; body.blocks.len()];
        for &block in &body.layout {
            if std::mem::replace(&mut placed[block.index()], true) {
                self.at_block(Some(block), "a block stands in the layout once");
            }
        }
        let mut defined = vec![false; body.values.len()];
        let mut used_inst = vec![false; body.insts.len()];
        for &block in &body.layout {
            let data = &body.blocks[block];
            for &param in &data.params {
                if std::mem::replace(&mut defined[param.index()], true) {
                    self.at_block(Some(block), format!("{param} is defined more than once"));
                }
            }
            for &inst in &data.insts {
                if std::mem::replace(&mut used_inst[inst.index()], true) {
                    self.at_inst(block, inst, "an instruction stands in one block, once");
                }
                if let Some(result) = body.insts[inst].result
                    && std::mem::replace(&mut defined[result.index()], true)
                {
                    self.at_inst(block, inst, format!("{result} is defined more than once"));
                }
            }
            for call in data.terminator.successors() {
                if !placed.get(call.block.index()).copied().unwrap_or(false) {
                    self.at_end(block, format!("{} is not in the layout", call.block));
                }
            }
        }
    }

    fn check_entry(&mut self) {
        let entry = self.body.entry();
        let params: Vec<Type> =
            self.body.blocks[entry].params.iter().map(|&v| self.body.type_of(v)).collect();
        let expected: &[Type] = match self.owner {
            Owner::Handler(_) => &[],
            Owner::Function(function) => &self.module.functions[function].params,
        };
        if params != expected {
            self.at_block(Some(entry), "the parameters of the entry block are the function's");
        }
        for &block in &self.body.layout {
            if self.body.blocks[block].terminator.successors().any(|call| call.block == entry) {
                self.at_end(block, "nothing goes to the entry block");
            }
        }
    }

    fn check_terminator(&mut self, block: Block) {
        let terminator = &self.body.blocks[block].terminator;
        for call in terminator.successors() {
            self.check_call(block, call);
        }
        match terminator {
            Terminator::Branch(condition, ..) if self.body.type_of(*condition) != Type::Long => {
                self.at_end(block, "the condition of a branch is a long");
            }
            Terminator::Raise { message, .. } if !self.body.type_of(*message).is_str() => {
                self.at_end(block, "the message of an error is a string");
            }
            Terminator::Return(value) => self.check_return(block, *value),
            Terminator::Try(..) => {
                let last = self.body.blocks[block].insts.last();
                let raises =
                    last.is_some_and(|&inst| may_raise(self.module, &self.body.insts[inst].op));
                if !raises {
                    self.at_end(block, "the instruction before a `try` is one that may raise");
                }
            }
            _ => {}
        }
    }

    fn check_call(&mut self, block: Block, call: &BlockCall) {
        let params = &self.body.blocks[call.block].params;
        if params.len() != call.args.len() {
            let (want, have) = (params.len(), call.args.len());
            return self.at_end(block, format!("{} has {want} parameters, not {have}", call.block));
        }
        for (&arg, &param) in call.args.iter().zip(params) {
            let (have, want) = (self.body.type_of(arg), self.body.type_of(param));
            if want == Type::Iter {
                self.at_end(block, format!("{param}: an iterator is not passed on"));
            } else if !fits(have, want) {
                self.at_end(block, format!("{arg} is {have}, its parameter {want}"));
            }
        }
    }

    fn check_return(&mut self, block: Block, value: Option<Value>) {
        let want = match self.owner {
            Owner::Handler(_) => None,
            Owner::Function(function) => self.module.functions[function].result,
        };
        let have = value.map(|value| self.body.type_of(value));
        let good = match (have, want) {
            (Some(have), Some(want)) => fits(have, want),
            (have, want) => have.is_none() && want.is_none(),
        };
        if !good {
            let show = |ty: Option<Type>| ty.map_or("nothing".into(), |ty| ty.to_string());
            self.at_end(block, format!("it returns {}, not {}", show(want), show(have)));
        }
    }

    /// `caught` is the first instruction of a block that only errors lead to.
    fn check_caught(&mut self, block: Block) {
        for (index, &inst) in self.body.blocks[block].insts.iter().enumerate() {
            if self.body.insts[inst].op != Op::Caught {
                continue;
            }
            if index != 0 {
                self.at_inst(block, inst, "`caught` is the first instruction of its block");
            }
            if self.is_entered_without_error(block) {
                self.at_inst(block, inst, "only errors lead to a block with `caught`");
            }
        }
    }

    fn is_entered_without_error(&self, target: Block) -> bool {
        let goes_there = |call: &BlockCall| call.block == target;
        target == self.body.entry()
            || self.body.layout.iter().any(|&block| match &self.body.blocks[block].terminator {
                Terminator::Jump(call) => goes_there(call),
                Terminator::Branch(_, a, b) => goes_there(a) || goes_there(b),
                Terminator::Try(normal, _) => goes_there(normal),
                _ => false,
            })
    }

    /// `unreachable` is never reached.
    pub(super) fn check_reachability(&mut self, cfg: &Cfg) {
        for &block in &self.body.layout {
            let ends = self.body.blocks[block].terminator == Terminator::Unreachable;
            if ends && cfg.is_reachable(block) {
                self.at_end(block, "a path from the entry leads here");
            }
        }
    }
}
