//! Conditional interval propagation.
//!
//! Walks the dominator tree in an order that meets each block after its predecessors, back edges
//! aside. What a branch says of its operands holds in the blocks that its edge dominates, and is
//! forgotten when the walk leaves them. The walk is repeated until the parameters of loop headers
//! settle: they are widened from the third time on, so that takes a few rounds; two more make the
//! bounds narrower again that were widened too far.
//!
//! P. Cousot, R. Cousot, "Static Determination of Dynamic Properties of Programs", 1976; conditions
//! as in W. H. Harrison, "Compiler Analysis of the Value Ranges for Variables", 1977.

use smallvec::SmallVec;
use xlate_ir::cfg::Graph;
use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::instructions::{BinaryOp, BlockCall, CompareOp, Op, StatField, Terminator};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::Body;
use xlate_ir::types::{Const, Type};

use super::interval::{ALL, Interval, TRUTH, binary, compare, unary};

/// Rounds in which the parameters of loop headers take what comes, before they are widened.
const EXACT_ROUNDS: u32 = 2;
/// Rounds in which they take what comes again.
const NARROWING_ROUNDS: u32 = 2;

/// What is met on the last walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Site {
    /// An instruction, before it, with what its result can be.
    Inst(Inst, Interval),
    /// The end of a block, with whether its first edge can be taken, and its second.
    End(Block, [bool; 2]),
}

/// What is known where the walk is.
pub(crate) struct Known<'a> {
    body: &'a Body,
    definitions: Vec<Option<Inst>>,
    intervals: Vec<Interval>,
    /// Pairs of which the first is less than the second.
    less: Vec<(Value, Value)>,
    /// What intervals were before they were narrowed, innermost last.
    undo: Vec<(Value, Interval)>,
}

/// What an edge says of values: of a condition and the two that it compares.
#[derive(Default)]
struct EdgeFacts {
    intervals: SmallVec<[(Value, Interval); 3]>,
    less: Option<(Value, Value)>,
}

/// How much was known at some point, to come back to.
#[derive(Clone, Copy)]
struct Mark {
    undo: usize,
    less: usize,
}

impl Known<'_> {
    /// The longs that a value can be.
    pub(crate) fn of(&self, value: Value) -> Interval {
        self.intervals[value.index()]
    }

    /// The operation that gives a value.
    pub(crate) fn op(&self, value: Value) -> Option<&Op> {
        self.definitions[value.index()].map(|inst| &self.body.insts[inst].op)
    }

    /// The most bytes that a string can have.
    pub(crate) fn longest(&self, value: Value) -> i64 {
        match self.body.type_of(value) {
            Type::Str(bound) => i64::from(bound),
            _ => i64::MAX,
        }
    }

    /// Whether a position is inside a string.
    pub(crate) fn is_inside(&self, at: Value, text: Value) -> bool {
        let measures = |value: Value| matches!(self.op(value), Some(Op::Intrinsic(Intrinsic::StrLen, args)) if args[..] == [text]);
        let shortest = match self.op(text) {
            Some(Op::Const(Const::Str(bytes))) => i64::try_from(bytes.len()).unwrap_or(0),
            _ => 0,
        };
        let below = || self.less.iter().any(|&(less, than)| less == at && measures(than));
        self.of(at).low() >= 0 && (self.of(at).high() < shortest || below())
    }

    /// Whether an operation that may raise certainly does not.
    pub(crate) fn is_safe(&self, op: &Op) -> bool {
        match op {
            Op::Binary(op, _, divisor) if op.divides() => !self.of(*divisor).contains(0),
            Op::Intrinsic(Intrinsic::StrAt, args) => {
                matches!(args[..], [text, at] if self.is_inside(at, text))
            }
            _ => false,
        }
    }

    /// What the result of an operation can be, if it is a long.
    pub(crate) fn result(&self, op: &Op) -> Interval {
        let counted = || Interval::between(0, i64::MAX).unwrap_or(ALL);
        match op {
            Op::Const(Const::Long(n)) => Interval::exactly(*n),
            Op::Unary(op, a) => unary(*op, self.of(*a)),
            Op::Binary(op, a, b) => binary(*op, self.of(*a), self.of(*b)),
            Op::Compare(op, a, b) if self.body.type_of(*a) == Type::Long => {
                compare(*op, self.of(*a), self.of(*b))
            }
            Op::Compare(..) | Op::Match(..) | Op::Contains(_) | Op::IterNext(_) => TRUTH,
            Op::StatGet(StatField::Count, _)
            | Op::IterStat(_, StatField::Count)
            | Op::BucketCount(_)
            | Op::Bucket(..) => counted(),
            Op::Intrinsic(intrinsic, args) => self.query(*intrinsic, args),
            _ => ALL,
        }
    }

    /// What an operation of the runtime can give.
    fn query(&self, intrinsic: Intrinsic, args: &[Value]) -> Interval {
        use Intrinsic::{
            Cpu, Egid, Euid, Gid, Hz, Pgrp, Pid, Ppid, Sid, StrAt, StrByte, StrFind, StrLen,
            Target, Tid, Uid,
        };
        let bounds = match intrinsic {
            // The kernel's types: pid_t and the numbers of CPUs are ints that are not negative.
            Cpu | Pgrp | Pid | Ppid | Sid | Tid => (0, i64::from(i32::MAX)),
            // Nobody checks that `-x` names a process.
            Egid | Euid | Gid | Target | Uid => (0, i64::from(u32::MAX)),
            Hz => (1, i64::from(i32::MAX)),
            StrAt | StrByte => (0, i64::from(u8::MAX)),
            StrFind => (0, 1),
            StrLen => (0, args.first().map_or(i64::MAX, |&text| self.longest(text))),
            _ => (i64::MIN, i64::MAX),
        };
        Interval::between(bounds.0, bounds.1).unwrap_or(ALL)
    }

    /// What is known on an edge; `None` if it cannot be taken.
    fn edge(&self, block: Block, edge: usize) -> Option<EdgeFacts> {
        let data = &self.body.blocks[block];
        let mut facts = EdgeFacts::default();
        match (&data.terminator, data.insts.last()) {
            (Terminator::Branch(condition, ..), _) => {
                self.branch(*condition, edge == 0, &mut facts)?;
            }
            (Terminator::Try(..), Some(&inst)) => {
                let op = &self.body.insts[inst].op;
                if edge == 0 {
                    facts.intervals.extend(self.survived(op)?);
                } else if self.is_safe(op) {
                    return None;
                }
            }
            _ => {}
        }
        Some(facts)
    }

    fn branch(&self, condition: Value, taken: bool, facts: &mut EdgeFacts) -> Option<()> {
        let truth = self.of(condition);
        let narrowed = match taken {
            true => truth.without_zero()?,
            false => truth.meet(Interval::exactly(0))?,
        };
        facts.intervals.push((condition, narrowed));
        if let Some(&Op::Compare(op, a, b)) = self.op(condition)
            && self.body.type_of(a) == Type::Long
        {
            let op = if taken { op } else { op.negated() };
            let (x, y) = (self.of(a), self.of(b));
            facts.intervals.push((a, x.where_holds(op, y)?));
            facts.intervals.push((b, y.where_holds(op.swapped(), x)?));
            facts.less = match op {
                CompareOp::Lt => Some((a, b)),
                CompareOp::Gt => Some((b, a)),
                _ => None,
            };
        }
        Some(())
    }

    /// What is known once an operation has not raised, if anything; `None` if it certainly raises.
    fn survived(&self, op: &Op) -> Option<Option<(Value, Interval)>> {
        match op {
            Op::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) => {
                let interval = self.of(*divisor).without_zero()?;
                Some(Some((*divisor, interval)))
            }
            _ => Some(None),
        }
    }

    fn mark(&self) -> Mark {
        Mark { undo: self.undo.len(), less: self.less.len() }
    }

    fn assume(&mut self, facts: EdgeFacts) {
        for (value, interval) in facts.intervals {
            self.narrow(value, interval);
        }
        self.less.extend(facts.less);
    }

    fn narrow(&mut self, value: Value, interval: Interval) {
        let old = std::mem::replace(&mut self.intervals[value.index()], interval);
        self.undo.push((value, old));
    }

    fn forget(&mut self, mark: Mark) {
        while self.undo.len() > mark.undo {
            if let Some((value, old)) = self.undo.pop() {
                self.intervals[value.index()] = old;
            }
        }
        self.less.truncate(mark.less);
    }
}

/// What comes to blocks along some of their edges.
struct Incoming {
    reached: Vec<bool>,
    /// By parameter.
    args: Vec<Option<Interval>>,
}

impl Incoming {
    fn nothing(body: &Body) -> Incoming {
        Incoming { reached: vec![false; body.blocks.len()], args: vec![None; body.values.len()] }
    }

    /// Takes no room: for bodies without loops, to which nothing comes along retreating edges.
    fn never() -> Incoming {
        Incoming { reached: Vec::new(), args: Vec::new() }
    }

    fn reaches(&self, block: Block) -> bool {
        self.reached.get(block.index()).is_some_and(|reached| *reached)
    }

    fn arg(&self, param: Value) -> Option<Interval> {
        self.args.get(param.index()).copied().flatten()
    }

    fn clear(&mut self) {
        self.reached.fill(false);
        self.args.fill(None);
    }
}

/// How a walk treats the parameters of loop headers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Exact,
    Widening,
    Narrowing,
}

struct Solver<'a> {
    known: Known<'a>,
    graph: &'a Graph,
    is_header: Vec<bool>,
    /// What came along forward edges on this walk, along retreating ones on the one before and this.
    forward: Incoming,
    back: Incoming,
    next_back: Incoming,
    /// The parameters of loop headers as of the last walk.
    headers: Vec<Option<Interval>>,
    mode: Mode,
    changed: bool,
}

/// Finds the intervals of a body's values, and calls `visit` at every instruction and end of a block
/// that can be reached, with what is known there.
pub(crate) fn solve(body: &Body, graph: &Graph, mut visit: impl FnMut(&Known<'_>, Site)) {
    let mut solver = Solver::new(body, graph);
    if solver.is_header.contains(&true) {
        let mut round = 0;
        // Each round but the last moves a bound as far out as it goes: there are not many.
        while round == 0 || solver.changed {
            solver.mode = if round < EXACT_ROUNDS { Mode::Exact } else { Mode::Widening };
            solver.walk(&mut |_, _| {});
            round += 1;
        }
        solver.mode = Mode::Narrowing;
        for _ in 1..NARROWING_ROUNDS {
            solver.walk(&mut |_, _| {});
        }
    }
    solver.walk(&mut visit);
}

impl<'a> Solver<'a> {
    fn new(body: &'a Body, graph: &'a Graph) -> Self {
        let mut definitions = vec![None; body.values.len()];
        for (_, inst) in body.iter_insts() {
            if let Some(result) = body.insts[inst].result {
                definitions[result.index()] = Some(inst);
            }
        }
        let cfg = &graph.cfg;
        let mut is_header = vec![false; body.blocks.len()];
        for &block in cfg.reverse_postorder() {
            for &successor in cfg.successors(block) {
                is_header[successor.index()] |= cfg.retreats(block, successor);
            }
        }
        let loops = is_header.contains(&true);
        let back = || if loops { Incoming::nothing(body) } else { Incoming::never() };
        let (back, next_back) = (back(), back());
        let intervals = vec![ALL; body.values.len()];
        let (less, undo) = (Vec::new(), Vec::new());
        Solver {
            known: Known { body, definitions, intervals, less, undo },
            graph,
            is_header,
            forward: Incoming::nothing(body),
            back,
            next_back,
            headers: if loops { vec![None; body.values.len()] } else { Vec::new() },
            mode: Mode::Exact,
            changed: false,
        }
    }

    /// Walks the dominator tree once.
    fn walk(&mut self, visit: &mut dyn FnMut(&Known<'_>, Site)) {
        let body = self.known.body;
        self.changed = false;
        self.forward.clear();
        std::mem::swap(&mut self.back, &mut self.next_back);
        self.next_back.clear();
        let entry = body.entry();
        let start = self.known.mark();
        for param in &body.blocks[entry].params {
            self.known.intervals[param.index()] = ALL;
        }
        self.block(entry, visit);
        let mut stack = vec![(entry, 0, start)];
        while let Some((block, next, mark)) = stack.last_mut() {
            let Some(&child) = self.graph.dominators().children(*block).get(*next) else {
                let mark = *mark;
                self.known.forget(mark);
                stack.pop();
                continue;
            };
            *next += 1;
            let mark = self.known.mark();
            if self.enter(child) {
                self.block(child, visit);
                stack.push((child, 0, mark));
            }
        }
    }

    /// Sets the parameters of a block, and what the only edge into it says; gives whether it can be
    /// reached.
    fn enter(&mut self, block: Block) -> bool {
        let index = block.index();
        if !self.forward.reaches(block) && !self.back.reaches(block) {
            return false;
        }
        let body = self.known.body;
        for &param in &body.blocks[block].params {
            let new = match (self.forward.arg(param), self.back.arg(param)) {
                (Some(a), Some(b)) => a.join(b),
                (a, b) => a.or(b).unwrap_or(ALL),
            };
            let param = param.index();
            self.known.intervals[param] =
                if self.is_header[index] { self.header(param, new) } else { new };
        }
        if let [from] = self.graph.cfg.predecessors(block)[..] {
            let successors = self.graph.cfg.successors(from);
            let edge = successors.iter().position(|&to| to == block).unwrap_or(0);
            if let Some(facts) = self.known.edge(from, edge) {
                self.known.assume(facts);
            }
        }
        true
    }

    /// The next interval of a loop header's parameter, to which `new` has come.
    fn header(&mut self, param: usize, new: Interval) -> Interval {
        let old = self.headers[param];
        let next = match (old, self.mode) {
            (None, _) | (_, Mode::Narrowing) => new,
            (Some(old), Mode::Exact) => old.join(new),
            (Some(old), Mode::Widening) => old.widen(new),
        };
        self.changed |= old != Some(next);
        self.headers[param] = Some(next);
        next
    }

    fn block(&mut self, block: Block, visit: &mut dyn FnMut(&Known<'_>, Site)) {
        let data = &self.known.body.blocks[block];
        let tried = matches!(data.terminator, Terminator::Try(..));
        for (index, &inst) in data.insts.iter().enumerate() {
            let inst_data = &self.known.body.insts[inst];
            let interval = self.known.result(&inst_data.op);
            visit(&self.known, Site::Inst(inst, interval));
            // Of what is tried, that is known where its success leads.
            if (!tried || index + 1 < data.insts.len())
                && let Some(Some((value, narrowed))) = self.known.survived(&inst_data.op)
            {
                self.known.narrow(value, narrowed);
            }
            if let Some(result) = inst_data.result {
                self.known.intervals[result.index()] = interval;
            }
        }
        let mut facts = [None, None];
        for (edge, facts) in facts.iter_mut().enumerate().take(data.terminator.successors().count())
        {
            *facts = self.known.edge(block, edge);
        }
        let feasible = [facts[0].is_some(), facts[1].is_some()];
        visit(&self.known, Site::End(block, feasible));
        for (call, facts) in data.terminator.successors().zip(facts) {
            if let Some(facts) = facts {
                let mark = self.known.mark();
                self.known.assume(facts);
                self.pass(block, call);
                self.known.forget(mark);
            }
        }
    }

    /// Takes what an edge brings to its target.
    fn pass(&mut self, from: Block, call: &BlockCall) {
        let to = call.block.index();
        let retreats = self.graph.cfg.retreats(from, call.block);
        let incoming = if retreats { &mut self.next_back } else { &mut self.forward };
        // A header that only now turns out to be reached has not been looked at with what comes.
        self.changed |= retreats && !self.back.reaches(call.block);
        incoming.reached[to] = true;
        for (param, arg) in self.known.body.blocks[call.block].params.iter().zip(&call.args) {
            let interval = self.known.intervals[arg.index()];
            let known = &mut incoming.args[param.index()];
            *known = Some(known.map_or(interval, |known| known.join(interval)));
        }
    }
}
