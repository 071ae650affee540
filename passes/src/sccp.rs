//! Sparse conditional constant propagation.
//!
//! Assumes SSA form. Finds the values that are one constant on every path that can be taken, integers
//! and strings alike, and the ways that cannot be taken; guarantees that those values are made by
//! `const` and those ways are gone from branches. What stands in no block any more is left to dead
//! code elimination.
//!
//! M. N. Wegman, F. K. Zadeck, "Constant Propagation with Conditional Branches", 1991.

use xlate_ir::arith;
use xlate_ir::effects::may_raise;
use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::instructions::{BinaryOp, BlockCall, InstData, Op, Terminator};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::Body;
use xlate_ir::render::render;
use xlate_ir::strings;
use xlate_ir::types::{Const, Type};

use crate::changes::Changes;
use crate::manager::BodyContext;

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Lattice {
    /// Nothing yet: no path to its definition has been found.
    Unknown,
    /// It is this constant on all paths found.
    Constant(Const),
    /// It may be different things.
    Varying,
}

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    // Where no loop carries a value around, other operands that are no constants decide nothing.
    if !cx.since.intersects(Changes::GRAPH | Changes::CONSTANTS)
        && cx.graph().loops().loops.is_empty()
    {
        return Changes::empty();
    }
    let mut solver = Solver::new(cx.body, cx.module.limits.longest_string() as usize);
    solver.solve();
    let Solver { values, reached, users, .. } = solver;
    let folded = make_constants(cx, &values, &reached, &users);
    let decided = decide_branches(cx, &values, &reached);
    cx.log.count("values folded", folded.count);
    cx.log.count("branches decided", decided);
    folded.changes | Changes::any(decided > 0)
}

/// Where each value is used.
struct Users {
    /// By value: where its uses start in the list; behind the last value, where they end.
    starts: Vec<usize>,
    /// The block of each use, and the instruction; none is the block's terminator.
    list: Vec<(Block, Option<Inst>)>,
}

impl Users {
    fn of(body: &Body) -> Users {
        let mut starts = vec![0; body.values.len() + 1];
        for_each_use(body, |value, _| starts[value.index() + 1] += 1);
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut list = vec![(body.entry(), None); starts[body.values.len()]];
        for_each_use(body, |value, user| {
            list[next[value.index()]] = user;
            next[value.index()] += 1;
        });
        Users { starts, list }
    }

    /// Whether the end of a block uses a value.
    fn at_end(&self, value: Value) -> bool {
        self.list[self.range(value)].iter().any(|(_, inst)| inst.is_none())
    }

    /// Where in the list the uses of a value are.
    fn range(&self, value: Value) -> std::ops::Range<usize> {
        self.starts[value.index()]..self.starts[value.index() + 1]
    }
}

fn for_each_use(body: &Body, mut f: impl FnMut(Value, (Block, Option<Inst>))) {
    for &block in &body.layout {
        let data = &body.blocks[block];
        for &inst in &data.insts {
            body.insts[inst].op.for_each_operand(|value| f(value, (block, Some(inst))));
        }
        data.terminator.for_each_operand(|value| f(value, (block, None)));
    }
}

struct Solver<'a> {
    body: &'a Body,
    longest: usize,
    values: Vec<Lattice>,
    reached: Vec<bool>,
    users: Users,
    /// Edges that have been found, not yet looked at.
    edges: Vec<&'a BlockCall>,
    changed: Vec<Value>,
}

impl<'a> Solver<'a> {
    fn new(body: &'a Body, longest: usize) -> Self {
        Solver {
            body,
            longest,
            values: vec![Lattice::Unknown; body.values.len()],
            reached: vec![false; body.blocks.len()],
            users: Users::of(body),
            edges: Vec::new(),
            changed: Vec::new(),
        }
    }

    fn solve(&mut self) {
        let entry = self.body.entry();
        for &param in &self.body.blocks[entry].params {
            self.raise(param, Lattice::Varying);
        }
        self.reach(entry);
        loop {
            if let Some(call) = self.edges.pop() {
                self.pass_arguments(call);
                self.reach(call.block);
            } else if let Some(value) = self.changed.pop() {
                for at in self.users.range(value) {
                    let (block, inst) = self.users.list[at];
                    match inst {
                        _ if !self.reached[block.index()] => {}
                        Some(inst) => self.visit(inst),
                        None => self.visit_end(block),
                    }
                }
            } else {
                return;
            }
        }
    }

    /// Moves a value up the lattice.
    fn raise(&mut self, value: Value, to: Lattice) {
        let new = match (&self.values[value.index()], to) {
            (Lattice::Unknown, to) => to,
            (Lattice::Varying, _) | (_, Lattice::Unknown) => return,
            (Lattice::Constant(old), Lattice::Constant(new)) if *old == new => return,
            _ => Lattice::Varying,
        };
        if new != self.values[value.index()] {
            self.values[value.index()] = new;
            self.changed.push(value);
        }
    }

    fn reach(&mut self, block: Block) {
        if std::mem::replace(&mut self.reached[block.index()], true) {
            return;
        }
        for &inst in &self.body.blocks[block].insts {
            self.visit(inst);
        }
        self.visit_end(block);
    }

    fn visit(&mut self, inst: Inst) {
        let data = &self.body.insts[inst];
        if let Some(result) = data.result {
            let value = fold(&data.op, |value| &self.values[value.index()], self.longest);
            self.raise(result, value);
        }
    }

    fn visit_end(&mut self, block: Block) {
        let terminator = &self.body.blocks[block].terminator;
        let taken = ways(terminator, |value| &self.values[value.index()]);
        for (index, call) in terminator.successors().enumerate() {
            if taken.is_none_or(|taken| taken == index) {
                // Arguments may have changed even where the edge is known.
                self.edges.push(call);
            }
        }
    }

    fn pass_arguments(&mut self, call: &BlockCall) {
        let params = &self.body.blocks[call.block].params;
        for (&param, &arg) in params.iter().zip(&call.args) {
            let value = self.values[arg.index()].clone();
            self.raise(param, value);
        }
    }
}

/// The index of the only edge that can be taken, as far as is known; `None` if all can.
fn ways<'v>(terminator: &Terminator, known: impl Fn(Value) -> &'v Lattice) -> Option<usize> {
    match terminator {
        Terminator::Branch(condition, ..) => match known(*condition) {
            Lattice::Constant(Const::Long(0)) => Some(1),
            Lattice::Constant(_) => Some(0),
            // No edge until something is known; there are never three.
            Lattice::Unknown => Some(usize::MAX),
            Lattice::Varying => None,
        },
        _ => None,
    }
}

/// What is known of the result of an operation.
fn fold<'v>(op: &Op, known: impl Fn(Value) -> &'v Lattice, longest: usize) -> Lattice {
    if let Op::Const(constant) = op {
        return Lattice::Constant(constant.clone());
    }
    if !is_foldable(op) {
        return Lattice::Varying;
    }
    let mut unknown = false;
    let mut varying = false;
    op.for_each_operand(|value| match known(value) {
        Lattice::Constant(_) => {}
        Lattice::Unknown => unknown = true,
        Lattice::Varying => varying = true,
    });
    if varying {
        return Lattice::Varying;
    }
    if unknown {
        return Lattice::Unknown;
    }
    let mut operands = Vec::new();
    op.for_each_operand(|value| {
        if let Lattice::Constant(constant) = known(value) {
            operands.push(constant.clone());
        }
    });
    evaluate(op, &operands, longest).map_or(Lattice::Varying, Lattice::Constant)
}

fn is_foldable(op: &Op) -> bool {
    matches!(op, Op::Unary(..) | Op::Binary(..) | Op::Compare(..) | Op::Format(..))
        || matches!(op, Op::Intrinsic(intrinsic, _) if is_primitive(*intrinsic))
}

/// Whether an intrinsic is a function of its arguments alone, known here.
fn is_primitive(intrinsic: Intrinsic) -> bool {
    use Intrinsic::{
        StrAt, StrByte, StrConcat, StrFind, StrLen, StrReplace, StrSub, StrText, StrToLong,
    };
    matches!(
        intrinsic,
        StrAt | StrByte | StrConcat | StrFind | StrLen | StrReplace | StrSub | StrText | StrToLong
    )
}

/// The result of an operation on constants; `None` if it raises or is not computed here.
pub(crate) fn evaluate(op: &Op, operands: &[Const], longest: usize) -> Option<Const> {
    let long = |truth: bool| Some(Const::Long(i64::from(truth)));
    match (op, operands) {
        (Op::Unary(op, _), [Const::Long(a)]) => Some(Const::Long(arith::unary(*op, *a))),
        (Op::Binary(op, ..), [Const::Long(a), Const::Long(b)]) => {
            arith::binary(*op, *a, *b).map(Const::Long)
        }
        (Op::Compare(op, ..), [Const::Long(a), Const::Long(b)]) => long(arith::compare(*op, a, b)),
        (Op::Compare(op, ..), [Const::Str(a), Const::Str(b)]) => long(arith::compare(*op, a, b)),
        (Op::Intrinsic(intrinsic, _), operands) => strings::evaluate(*intrinsic, operands, longest),
        (Op::Format(format, _), operands) => {
            let mut text = render(format, operands)?;
            text.truncate(longest);
            // A byte 0 ends a string where it is taken out of the output again.
            (!text.contains(&0)).then(|| Const::Str(text.into()))
        }
        _ => None,
    }
}

/// The type of a constant.
fn type_of(constant: &Const) -> Type {
    match constant {
        Const::Long(_) => Type::Long,
        Const::Str(bytes) => Type::Str(u32::try_from(bytes.len()).unwrap_or(u32::MAX)),
    }
}

/// What was made constants.
struct Folded {
    count: usize,
    changes: Changes,
}

/// Has constants made by `const`: results in place, parameters at the start of their blocks.
fn make_constants(
    cx: &mut BodyContext<'_>,
    values: &[Lattice],
    reached: &[bool],
    users: &Users,
) -> Folded {
    let entry = cx.body.entry();
    let mut folded = Folded { count: 0, changes: Changes::empty() };
    let mut keep: Vec<Vec<bool>> = vec![Vec::new(); cx.body.blocks.len()];
    for block in cx.body.layout.clone() {
        if !reached[block.index()] {
            continue;
        }
        for &inst in &cx.body.blocks[block].insts.clone() {
            let data = &cx.body.insts[inst];
            let Some(result) = data.result.filter(|_| !matches!(data.op, Op::Const(_))) else {
                continue;
            };
            if let Lattice::Constant(constant) = &values[result.index()] {
                folded.count += 1;
                folded.changes |= Changes::CONSTANTS | Changes::DROPPED;
                if users.at_end(result) {
                    folded.changes |= Changes::ENDS;
                }
                if may_raise(cx.module, &data.op) {
                    folded.changes |= Changes::EFFECTS;
                }
                cx.body.values[result].ty = type_of(constant);
                cx.body.insts[inst].op = Op::Const(constant.clone());
            }
        }
        if block == entry {
            continue;
        }
        let params = cx.body.blocks[block].params.clone();
        keep[block.index()] = vec![true; params.len()];
        // `caught` stays first.
        let mut at = starts_with_caught(cx.body, block);
        for (index, param) in params.into_iter().enumerate() {
            if let Lattice::Constant(constant) = &values[param.index()] {
                keep[block.index()][index] = false;
                cx.body.values[param].ty = type_of(constant);
                let op = Op::Const(constant.clone());
                cx.body.insert_inst(block, at, InstData { op, result: Some(param), pos: None });
                at += 1;
                folded.count += 1;
                folded.changes = Changes::all();
            }
        }
    }
    cx.body.retain_params(&keep);
    folded
}

fn starts_with_caught(body: &Body, block: Block) -> usize {
    let first = body.blocks[block].insts.first();
    usize::from(first.is_some_and(|&inst| body.insts[inst].op == Op::Caught))
}

/// Folds branches of which one way is never taken, and `try` after what cannot raise.
fn decide_branches(cx: &mut BodyContext<'_>, values: &[Lattice], reached: &[bool]) -> usize {
    let mut decided = 0;
    for block in cx.body.layout.clone() {
        if !reached[block.index()] {
            continue;
        }
        let data = &cx.body.blocks[block];
        let call = match &data.terminator {
            Terminator::Try(normal, _) => {
                let last = data.insts.last().map(|&inst| &cx.body.insts[inst].op);
                let raises =
                    last.is_some_and(|op| may_raise(cx.module, op) && !is_safe(op, values));
                if raises {
                    continue;
                }
                normal.clone()
            }
            terminator => {
                let Some(taken) = ways(terminator, |value| &values[value.index()]) else {
                    continue;
                };
                let Some(call) = terminator.successors().nth(taken) else { continue };
                call.clone()
            }
        };
        log_decided(cx, block, values);
        cx.body.blocks[block].terminator = Terminator::Jump(call);
        decided += 1;
    }
    decided
}

/// Tells which way a branch goes, where the script has its condition.
fn log_decided(cx: &mut BodyContext<'_>, block: Block, values: &[Lattice]) {
    let Terminator::Branch(condition, ..) = &cx.body.blocks[block].terminator else { return };
    let Lattice::Constant(constant) = &values[condition.index()] else { return };
    let defines = |inst: &Inst| cx.body.insts[*inst].result == Some(*condition);
    let mut insts = cx.body.iter_insts().map(|(_, inst)| inst);
    let pos = insts.find(defines).and_then(|inst| cx.body.insts[inst].pos);
    if pos.is_some() {
        let truth = *constant != Const::Long(0);
        cx.log.applied(pos, format!("this condition is always {truth}"));
    }
}

/// Whether an operation that may raise does not with these operands: a divisor that is not zero.
fn is_safe(op: &Op, values: &[Lattice]) -> bool {
    match op {
        Op::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) => {
            matches!(&values[divisor.index()], Lattice::Constant(Const::Long(n)) if *n != 0)
        }
        _ => false,
    }
}
