//! Fetches: reading a shared integer and writing it becomes one step where a handler does no more with
//! what others see, so that the integer can be *lone*: `if (n++ < 10)`, or a timer that prints `n` and
//! then zeroes it.
//!
//! Assumes that the probe table is final and that equal values are one. The read and the write stand
//! in one block. The write is done where the read stood, past what cannot fail and does not touch the
//! integer; or else the read where the write stood, past what does not need it. Changes a global's
//! handlers only if afterwards each of them touches it once on every path, no function does, and none
//! of them uses another global that others can see. Guarantees nothing; `disciplines` decides.

use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Block, Global, Handler, Inst, Value};
use xlate_ir::instructions::{BinaryOp, FetchOp, InstData, Op, Place, Terminator, UpdateOp};
use xlate_ir::module::{Body, Module, ValueData};
use xlate_ir::sharing::{Sharing, is_concurrent, touches_once};
use xlate_ir::types::{Const, ElementType, Pos, Type};

use crate::accesses::Accesses;
use crate::concurrency::Concurrency;
use crate::disciplines::{Facts, conflict};
use crate::manager::ModuleContext;

/// Runs the pass.
pub(crate) fn run(cx: &mut ModuleContext<'_>) -> bool {
    let summaries = Summaries::of(cx.module);
    let accesses = Accesses::of(cx.module, &summaries);
    let (concurrency, sharing) = (Concurrency::of(cx.module), Sharing::of(cx.module));
    let globals: Vec<Global> = cx.module.globals.iter().map(|(id, _)| id).collect();
    let mut made = 0;
    for global in globals {
        let facts = Facts {
            module: cx.module,
            accesses: &accesses,
            concurrency: &concurrency,
            sharing: &sharing,
        };
        if !may_be_lone(&facts, global) {
            continue;
        }
        let outcome = new_bodies(&facts, &summaries, global);
        let name = &cx.module.globals[global].name;
        match outcome {
            Ok(bodies) => {
                for (handler, body, positions) in bodies {
                    for pos in &positions {
                        let message = format!("`{name}` is read and written in one step");
                        cx.log.applied(*pos, message);
                    }
                    made += positions.len();
                    cx.module.handlers[handler].body = body;
                }
            }
            Err((pos, why)) => {
                let message = format!("`{name}` is not read and written in one step: {why}");
                cx.log.missed(pos, message);
            }
        }
    }
    cx.log.count("fetches made", made);
    made > 0
}

/// Whether a global needs a lock as it is, and all but how often handlers touch it lets it do without.
fn may_be_lone(facts: &Facts<'_>, global: Global) -> bool {
    let Facts { module, sharing, .. } = facts;
    let data = &module.globals[global];
    let needs_lock = |global: Global| {
        module.is_ordered(global)
            && conflict(facts, global).is_some()
            && sharing.shardable(module, global) != Ok(false)
    };
    let mut handlers = sharing.to(global).map(|(id, _)| id).filter(|&id| is_concurrent(module, id));
    !data.is_array()
        && data.element == ElementType::Long
        && module.lock_of(global).is_some()
        && needs_lock(global)
        && module.functions.iter().all(|(id, _)| !sharing.function(id).contains_key(&global))
        && handlers.all(|handler| {
            let mut touched = sharing.handler(handler).keys();
            touched.all(|&other| other == global || !needs_lock(other))
        })
}

/// The bodies of handlers that touch a global more than once, with each doing so once, and where that
/// is; or where it cannot be, and why.
type Outcome = Result<Vec<(Handler, Body, Vec<Option<Pos>>)>, (Option<Pos>, &'static str)>;

fn new_bodies(facts: &Facts<'_>, summaries: &Summaries, global: Global) -> Outcome {
    let module = facts.module;
    let mut bodies = Vec::new();
    for (handler, _) in facts.sharing.to(global).filter(|(id, _)| is_concurrent(module, *id)) {
        let old = &module.handlers[handler].body;
        if touches_once(old, global) {
            continue;
        }
        let mut joiner = Joiner { module, summaries, global, body: old.clone(), made: Vec::new() };
        for block in old.layout.clone() {
            joiner.block(block)?;
        }
        if !touches_once(&joiner.body, global) {
            let pos = facts.accesses.to(global).find(|(id, _)| *id == handler);
            let pos = pos.and_then(|(_, access)| access.at());
            return Err((pos, "the handler touches it more than once"));
        }
        bodies.push((handler, joiner.body, joiner.made));
    }
    Ok(bodies)
}

struct Joiner<'a> {
    module: &'a Module,
    summaries: &'a Summaries,
    global: Global,
    body: Body,
    made: Vec<Option<Pos>>,
}

impl Joiner<'_> {
    /// Joins the read of a block with the write behind it, if there are both.
    fn block(&mut self, block: Block) -> Result<(), (Option<Pos>, &'static str)> {
        let insts = self.body.blocks[block].insts.clone();
        let touching: Vec<usize> = (0..insts.len())
            .filter(|&at| self.body.insts[insts[at]].op.global() == Some(self.global))
            .collect();
        let [read, write] = touching[..] else { return Ok(()) };
        let scalar = Place::scalar(self.global);
        let data = &self.body.insts[insts[read]];
        let (Op::Load(_), Some(old)) = (&data.op, data.result) else { return Ok(()) };
        let written = &self.body.insts[insts[write]];
        let pos = written.pos;
        let (op, value) = match written.op {
            Op::Update(UpdateOp::Add, _, by) => (FetchOp::Add, Some(by)),
            Op::Store(_, new) => self.stored(new, old),
            Op::Delete(_) => (FetchOp::Exchange, None),
            _ => return Ok(()),
        };
        if value == Some(old) {
            return Err((pos, "what is written is what was read"));
        }
        let at = self.step(block, (read, write), value).map_err(|why| (pos, why))?;
        let gone = insts[write];
        let fetch = insts[read];
        let mut new = insts;
        let (mut moved, mut at) = (None, at);
        let value = match value {
            Some(value) if self.is_before(block, at, value) => value,
            // A constant, which can stand in front as well.
            Some(value) => {
                let from = new.iter().position(|&inst| self.body.insts[inst].result == Some(value));
                moved = from.map(|from| new[from]);
                value
            }
            None => {
                let result = self.body.values.alloc(ValueData { ty: Type::Long, name: None });
                let op = Op::Const(Const::Long(0));
                moved = Some(self.body.insts.alloc(InstData { op, result: Some(result), pos }));
                result
            }
        };
        new.retain(|&inst| Some(inst) != moved && inst != fetch && inst != gone);
        if at == write {
            at = write - 1;
        }
        new.splice(at..at, moved.into_iter().chain([fetch]));
        self.body.insts[fetch].op = Op::Fetch(op, scalar, value);
        self.body.blocks[block].insts = new;
        self.made.push(pos);
        Ok(())
    }

    /// How a value is stored: as a sum with what was read, or as it is.
    fn stored(&self, new: Value, old: Value) -> (FetchOp, Option<Value>) {
        match self.definition(new) {
            Some(&Op::Binary(BinaryOp::Add, a, by)) if a == old => (FetchOp::Add, Some(by)),
            Some(&Op::Binary(BinaryOp::Add, by, b)) if b == old => (FetchOp::Add, Some(by)),
            _ => (FetchOp::Exchange, Some(new)),
        }
    }

    fn definition(&self, value: Value) -> Option<&Op> {
        let mut insts = self.body.iter_insts().map(|(_, inst)| &self.body.insts[inst]);
        insts.find(|data| data.result == Some(value)).map(|data| &data.op)
    }

    fn constant(&self, value: Value) -> Option<i64> {
        match self.definition(value) {
            Some(Op::Const(Const::Long(n))) => Some(*n),
            _ => None,
        }
    }

    /// Whether a value is known before an instruction of a block.
    fn is_before(&self, block: Block, at: usize, value: Value) -> bool {
        let insts = &self.body.blocks[block].insts;
        !insts[at..].iter().any(|&inst| self.body.insts[inst].result == Some(value))
    }

    /// Where the one step can be done: where the read or where the write is.
    fn step(
        &self,
        block: Block,
        (read, write): (usize, usize),
        value: Option<Value>,
    ) -> Result<usize, &'static str> {
        let data = &self.body.blocks[block];
        let between = &data.insts[read + 1..write];
        if matches!(data.terminator, Terminator::Try(..)) && write + 1 == data.insts.len() {
            return Err("the write may fail");
        }
        if between.iter().any(|&inst| self.is_opaque(inst)) {
            return Err("something between the two may touch it");
        }
        let known = |value| self.is_before(block, read, value) || self.constant(value).is_some();
        let fails = |inst: &Inst| {
            let effects = self.summaries.op(self.module, &self.body.insts[*inst].op);
            effects.raises || effects.aborts
        };
        let uses = |inst: &Inst| {
            let mut uses = false;
            let old = self.body.insts[data.insts[read]].result;
            self.body.insts[*inst].op.for_each_operand(|value| uses |= Some(value) == old);
            uses
        };
        match value.is_none_or(known) {
            true if !between.iter().any(fails) => Ok(read),
            _ if !between.iter().any(uses) => Ok(write),
            true => Err("something between the two may fail"),
            false => Err("what is written is not known where it is read"),
        }
    }

    /// Whether an operation may touch the global, or who knows what.
    fn is_opaque(&self, inst: Inst) -> bool {
        let op = &self.body.insts[inst].op;
        let effects = self.summaries.op(self.module, op);
        matches!(op, Op::CStatement(_) | Op::CExpression(_))
            || effects.reads.contains(&self.global)
            || effects.writes.contains(&self.global)
    }
}
