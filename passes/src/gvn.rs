//! Global value numbering.
//!
//! Assumes SSA form. Finds instructions that give what another, on every path before them, has given:
//! the same operation on the same operands, judged by effect summaries, so that context queries and
//! calls of functions without effects count. What depends on globals counts as long as nothing writes
//! them in between; a store makes its value the result of loads of its place, and is dropped if the
//! place holds that value already. What raised nothing the first time raises nothing the second.
//! Guarantees that no such instruction is left in loop-free code.
//!
//! The numbering is by dominance: B. Alpern, M. N. Wegman, F. K. Zadeck, "Detecting Equality of
//! Variables in Programs", 1988, pessimistic and in one sweep. Globals are followed along the graph.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::rc::Rc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use xlate_ir::cfg::{Graph, Loops};
use xlate_ir::effects::{Effects, Invariance};
use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::instructions::{BinaryOp, CompareOp, Op, Place, Terminator};
use xlate_ir::module::Body;
use xlate_ir::rewrite::Replacements;
use xlate_ir::types::{Pos, Type};

use crate::changes::Changes;
use crate::manager::BodyContext;
use crate::remarks::RemarkKind;

/// Results that hold at a point and depend on globals: each with the instruction that gives it, or that
/// stores it.
#[derive(Clone, Default)]
struct Memory(Vec<(Inst, Value)>);

impl Memory {
    fn find(&self, body: &Body, wanted: &Known<'_>) -> Option<Value> {
        let gives = |inst: Inst| Known::by(&body.insts[inst].op) == *wanted;
        self.0.iter().find(|(inst, _)| gives(*inst)).map(|(_, value)| *value)
    }

    fn intersect(&mut self, body: &Body, other: &Memory) {
        let known = |inst: Inst| Known::by(&body.insts[inst].op);
        self.0.retain(|&(inst, value)| {
            let alike =
                |&(a, v): &(Inst, Value)| v == value && (a == inst || known(a) == known(inst));
            other.0.iter().any(alike)
        });
    }
}

/// What is known after an operation that depends on globals.
#[derive(PartialEq, Eq)]
enum Known<'a> {
    /// What is at a place, be it read there or stored.
    At(&'a Place),
    /// The result of an operation, written in the one way.
    Result(Cow<'a, Op>),
}

impl Known<'_> {
    fn by(op: &Op) -> Known<'_> {
        match op {
            Op::Store(place, _) | Op::Load(place) => Known::At(place),
            op => Known::Result(canonical(op)),
        }
    }
}

/// A result that depends on operands only.
#[derive(Clone, Copy)]
struct Pure {
    inst: Inst,
    /// The block that it is available from.
    from: Block,
    value: Value,
    hash: u64,
}

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let graph = cx.graph();
    let written_in_loops = if graph.loops().loops.is_empty() {
        Vec::new()
    } else {
        written_in_loops(cx, graph.loops())
    };
    let mut numbering = Numbering {
        replacements: Replacements::new(cx.body),
        constant: vec![false; cx.body.values.len()],
        pure: HashTable::with_capacity(cx.body.insts.len()),
        outs: vec![None; cx.body.blocks.len()],
        graph: graph.clone(),
        written_in_loops,
        changes: Changes::empty(),
        merged: 0,
        stores_dropped: 0,
    };
    for &block in graph.cfg.reverse_postorder() {
        numbering.visit(cx, block);
    }
    let Numbering { replacements, mut changes, merged, stores_dropped, .. } = numbering;
    if replacements.apply(cx.body) {
        changes |= Changes::ENDS;
    }
    cx.log.count("instructions merged", merged);
    cx.log.count("stores of what is there dropped", stores_dropped);
    changes
}

struct Numbering {
    replacements: Replacements,
    /// By value: whether `const` makes it.
    constant: Vec<bool>,
    pure: HashTable<Pure>,
    /// By block: memory at its end, for the first edge and for the others (of a `try`).
    outs: Vec<Option<(Memory, Memory)>>,
    graph: Rc<Graph>,
    /// By loop header: what the loop may write. Empty if there are no loops.
    written_in_loops: Vec<Effects>,
    changes: Changes,
    merged: usize,
    stores_dropped: usize,
}

/// Where a value is made. The block at hand is being rebuilt, so that all instructions are looked at.
fn place(body: &Body, value: Value) -> Option<Pos> {
    let mut made = body.insts.iter().map(|(_, data)| data);
    made.find(|data| data.result == Some(value)).and_then(|data| data.pos)
}

/// By block: what may be written in the loop that it is the header of.
fn written_in_loops(cx: &BodyContext<'_>, loops: &Loops) -> Vec<Effects> {
    let mut written = vec![Effects::default(); cx.body.blocks.len()];
    for natural in &loops.loops {
        for &block in &natural.blocks {
            for &inst in &cx.body.blocks[block].insts {
                let effects = cx.summaries.op(cx.module, &cx.body.insts[inst].op);
                written[natural.header.index()].join(&effects);
            }
        }
    }
    written
}

/// Makes the bound of a string that another turned out to be no larger than that one's, on which what
/// is made of it may rely.
fn narrow(body: &mut Body, value: Value, to: Type) {
    if let (Type::Str(have), Type::Str(bound)) = (body.type_of(value), to)
        && bound < have
    {
        body.values[value].ty = to;
    }
}

/// Whether the result of an operation is determined by its operands, the handler run, and the globals
/// that it reads.
fn is_function(effects: &Effects) -> bool {
    effects.writes.is_empty()
        && !effects.aborts
        && !effects.acts
        && !effects.advances
        && !effects.exits
        && effects.invariance != Invariance::Volatile
}

impl Numbering {
    fn visit(&mut self, cx: &mut BodyContext<'_>, block: Block) {
        let mut memory = self.memory_at_start(cx, block);
        let insts = std::mem::take(&mut cx.body.blocks[block].insts);
        let last = insts.len();
        let mut kept = Vec::with_capacity(last);
        let is_try = matches!(cx.body.blocks[block].terminator, Terminator::Try(..));
        let mut before_last = None;
        for (index, inst) in insts.into_iter().enumerate() {
            if index + 1 == last && is_try {
                before_last = Some(memory.clone());
            }
            cx.body.insts[inst].op.for_each_operand_mut(|v| *v = self.replacements.resolve(*v));
            let tried = index + 1 == last && is_try;
            if self.visit_inst(cx, block, inst, tried, &mut memory) {
                kept.push(inst);
            } else if tried && let Terminator::Try(normal, _) = &cx.body.blocks[block].terminator {
                cx.body.blocks[block].terminator = Terminator::Jump(normal.clone());
                self.changes |= Changes::GRAPH;
            }
        }
        if kept.is_empty() && last > 0 {
            self.changes |= Changes::EMPTIED;
        }
        // Where the last instruction raised, it gave no result; what it wrote may be written.
        let mut raised = before_last.unwrap_or_default();
        raised.intersect(cx.body, &memory);
        cx.body.blocks[block].insts = kept;
        self.outs[block.index()] = Some((memory, raised));
    }

    fn memory_at_start(&self, cx: &BodyContext<'_>, block: Block) -> Memory {
        let mut memory: Option<Memory> = None;
        let mut loops_back = false;
        for &from in self.graph.cfg.predecessors(block) {
            let Some((normal, raised)) = &self.outs[from.index()] else {
                if !self.graph.dominators().dominates(block, from) {
                    return Memory::default();
                }
                loops_back = true;
                continue;
            };
            let by_error = match &cx.body.blocks[from].terminator {
                Terminator::Try(_, catch) => catch.block == block,
                _ => false,
            };
            let out = if by_error { raised } else { normal };
            match &mut memory {
                None => memory = Some(out.clone()),
                Some(memory) => memory.intersect(cx.body, out),
            }
        }
        let mut memory = memory.unwrap_or_default();
        if loops_back && let Some(effects) = self.written_in_loops.get(block.index()) {
            self.forget(cx, &mut memory, effects);
        }
        memory
    }

    /// Drops what depends on globals that may have been written.
    fn forget(&self, cx: &BodyContext<'_>, memory: &mut Memory, effects: &Effects) {
        if !effects.writes.is_empty() {
            memory.0.retain(|(inst, _)| match &cx.body.insts[*inst].op {
                Op::Store(place, _) => !effects.writes.contains(&place.global),
                op => cx.summaries.op(cx.module, op).reads.is_disjoint(&effects.writes),
            });
        }
    }

    /// Looks at an instruction; gives whether it stays.
    fn visit_inst(
        &mut self,
        cx: &mut BodyContext<'_>,
        block: Block,
        inst: Inst,
        tried: bool,
        memory: &mut Memory,
    ) -> bool {
        let data = &cx.body.insts[inst];
        let effects = cx.summaries.op(cx.module, &data.op);
        if let Op::Store(place, value) = &data.op {
            let value = *value;
            if place.keys.is_empty() && memory.find(cx.body, &Known::At(place)) == Some(value) {
                self.stores_dropped += 1;
                self.changes |= Changes::EFFECTS | Changes::DROPPED;
                let name = &cx.module.globals[place.global].name;
                let message = format!("`{name}` is not stored here: it has this value already");
                cx.log.applied(data.pos, message);
                return false;
            }
            self.forget(cx, memory, &effects);
            memory.0.push((inst, value));
            return true;
        }
        self.forget(cx, memory, &effects);
        let Some(result) = data.result.filter(|_| is_function(&effects)) else { return true };
        let is_constant = matches!(data.op, Op::Const(_));
        self.constant[result.index()] = is_constant;
        let is_pure = effects.reads.is_empty();
        let (known, hash) = if is_pure {
            let op = canonical(&data.op);
            let hash = FxBuildHasher.hash_one(&*op);
            (self.available(cx.body, hash, &op, block), hash)
        } else {
            (memory.find(cx.body, &Known::by(&data.op)), 0)
        };
        if let Some(value) = known {
            self.log_merged(cx, inst, value);
            narrow(cx.body, value, cx.body.type_of(result));
            self.replacements.insert(result, value);
            self.merged += 1;
            self.changes |= Changes::OPERANDS | Changes::DROPPED;
            if !is_constant && self.constant[value.index()] {
                self.changes |= Changes::CONSTANTS;
            }
            if effects.raises {
                self.changes |= Changes::EFFECTS;
            }
            return false;
        }
        if !is_pure {
            memory.0.push((inst, result));
        } else if let Some(from) = self.available_from(cx, block, tried) {
            let pure = Pure { inst, from, value: result, hash };
            self.pure.insert_unique(hash, pure, |pure| pure.hash);
        }
        true
    }

    /// Tells of what costs more than arithmetic that it is not done again.
    fn log_merged(&self, cx: &mut BodyContext<'_>, inst: Inst, value: Value) {
        if !cx.log.listens {
            return;
        }
        let data = &cx.body.insts[inst];
        let message = match &data.op {
            Op::Load(place) => {
                let name = &cx.module.globals[place.global].name;
                format!("`{name}` is not read again: its value is known")
            }
            Op::Call(function, _) => {
                let name = &cx.module.functions[*function].name;
                format!("`{name}` is not called again: its result is known")
            }
            Op::Intrinsic(..) | Op::Contains(_) | Op::StatGet(..) | Op::Match(..) => {
                "this is not asked again: the answer is known".to_owned()
            }
            _ => return,
        };
        let from = place(cx.body, value).filter(|&from| Some(from) != data.pos);
        let related = from.map(|from| (from, "from here".to_owned()));
        let pos = data.pos;
        cx.log.push(RemarkKind::Applied, pos, message, related.into_iter().collect());
    }

    /// The result of an operation on every path to a block.
    fn available(&self, body: &Body, hash: u64, op: &Op, block: Block) -> Option<Value> {
        let known = self.pure.find(hash, |known| {
            known.hash == hash
                && *canonical(&body.insts[known.inst].op) == *op
                && self.graph.dominators().dominates(known.from, block)
        });
        known.map(|known| known.value)
    }

    /// The block from which on a result is available: where it may raise, the one that only its
    /// success leads to, if there is one.
    fn available_from(&self, cx: &BodyContext<'_>, block: Block, tried: bool) -> Option<Block> {
        match &cx.body.blocks[block].terminator {
            Terminator::Try(normal, _) if tried => {
                let alone = self.graph.cfg.predecessors(normal.block).len() == 1;
                alone.then_some(normal.block)
            }
            _ => Some(block),
        }
    }
}

/// The same operation, written in one way.
fn canonical(op: &Op) -> Cow<'_, Op> {
    use BinaryOp::{Add, And, Mul, Or, Xor};
    match *op {
        Op::Binary(kind @ (Add | Mul | And | Or | Xor), a, b) if b < a => {
            Cow::Owned(Op::Binary(kind, b, a))
        }
        Op::Compare(kind @ (CompareOp::Gt | CompareOp::Ge), a, b) => {
            Cow::Owned(Op::Compare(kind.swapped(), b, a))
        }
        Op::Compare(kind @ (CompareOp::Eq | CompareOp::Ne), a, b) if b < a => {
            Cow::Owned(Op::Compare(kind, b, a))
        }
        _ => Cow::Borrowed(op),
    }
}
