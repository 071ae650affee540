//! Which values become C variables, and which are written where they are used.
//!
//! A value that is used once, in the block that computes it, is folded into its use when nothing that
//! is done between the two could change it: it is pure, or it reads globals that nothing in between
//! writes or unlocks. Reading a clock moves past nothing. A value that must be computed by a statement
//! (a call that may raise, a string that needs a place) gets a variable. Constants and fields of the
//! constant record are written wherever they are used.

use std::collections::BTreeSet;
use std::rc::Rc;

use xlate_ir::effects::Invariance;
use xlate_ir::entities::{Block, Entity, Global, Inst, Value};
use xlate_ir::global_set::GlobalSet;
use xlate_ir::instructions::{BinaryOp, Op, Place, StatField, Terminator};
use xlate_ir::module::Body;
use xlate_ir::types::{Const, Type};

use crate::facts::{Facts, Field};
use crate::repr::{self, Repr};

/// Operations in one expression, at most: more than that, nobody would write on one line.
const LARGEST_EXPRESSION: usize = 8;

/// Where a value lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Home {
    /// Nowhere: nothing needs it.
    Nowhere,
    /// In the expression that uses it.
    Inline,
    /// In a variable.
    Variable,
}

/// The homes of a body's values.
pub(crate) struct Folding {
    homes: Vec<Home>,
    needed: Rc<[bool]>,
    definitions: Vec<Option<Inst>>,
}

/// A value that waits to be written where it is used.
struct Pending {
    value: Value,
    reads: GlobalSet,
    /// It, or something folded into it, reads a clock or memory.
    volatile: bool,
    /// It, or something folded into it, is taken from the current element of a walk.
    walks: bool,
    /// Operators, calls and leaves in its expression.
    size: usize,
}

impl Folding {
    /// Decides for all values of a body.
    pub(crate) fn of(facts: &Facts, body: &Body, result: Option<Type>) -> Folding {
        let needed: Rc<[bool]> = needed_values(facts, body).into();
        let mut definitions = vec![None; body.values.len()];
        for (_, inst) in body.iter_insts() {
            if let Some(result) = body.insts[inst].result {
                definitions[result.index()] = Some(inst);
            }
        }
        let mut homes = vec![Home::Nowhere; body.values.len()];
        for (home, needed) in homes.iter_mut().zip(needed.iter()) {
            if *needed {
                *home = Home::Variable;
            }
        }
        let mut folding = Folding { homes, needed, definitions };
        let uses = folding.find_uses(facts, body);
        for &block in &body.layout {
            Folder { facts, body, result, uses: &uses, folding: &mut folding, pending: vec![] }
                .block(block);
        }
        folding
    }

    /// Where a value lives.
    pub(crate) fn home(&self, value: Value) -> Home {
        self.homes[value.index()]
    }

    /// The instruction that computes a value; `None` for block parameters.
    pub(crate) fn definition(&self, value: Value) -> Option<Inst> {
        self.definitions[value.index()]
    }

    /// The constant that a value is.
    pub(crate) fn constant<'b>(&self, body: &'b Body, value: Value) -> Option<&'b Const> {
        match &body.insts[self.definition(value)?].op {
            Op::Const(constant) => Some(constant),
            _ => None,
        }
    }

    /// Whether an instruction is written at its own place: it does something, or computes a variable.
    pub(crate) fn is_statement(&self, facts: &Facts, body: &Body, inst: Inst) -> bool {
        let data = &body.insts[inst];
        match data.result {
            Some(result) if self.home(result) == Home::Inline => false,
            Some(result) if self.needed[result.index()] => true,
            _ => !facts.effects(&data.op).is_removable(),
        }
    }

    /// Calls `f` with every variable that an expression for `value` reads.
    pub(crate) fn for_each_leaf(
        &self,
        facts: &Facts,
        body: &Body,
        value: Value,
        f: &mut dyn FnMut(Value),
    ) {
        match self.home(value) {
            Home::Variable => f(value),
            Home::Nowhere => {}
            Home::Inline => {
                if let Some(inst) = self.definition(value) {
                    facts.for_each_operand(&body.insts[inst].op, |operand| {
                        self.for_each_leaf(facts, body, operand, f);
                    });
                }
            }
        }
    }

    /// The only use of each value by what is emitted.
    fn find_uses(&self, facts: &Facts, body: &Body) -> Vec<Use> {
        let mut uses = vec![Use::None; body.values.len()];
        for &block in &body.layout {
            let data = &body.blocks[block];
            let mut count = |value: Value| {
                let known = &mut uses[value.index()];
                *known = if *known == Use::None { Use::Once(block) } else { Use::Often };
            };
            for &inst in &data.insts {
                if self.is_statement(facts, body, inst) {
                    facts.for_each_operand(&body.insts[inst].op, &mut count);
                }
            }
            for_each_terminator_use(body, &data.terminator, &self.needed, &mut count);
        }
        uses
    }
}

/// How a value is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    None,
    /// Once, in this block.
    Once(Block),
    Often,
}

/// Calls `f` with the operands of a terminator, leaving out arguments of parameters that nothing
/// needs.
pub(crate) fn for_each_terminator_use(
    body: &Body,
    terminator: &Terminator,
    needed: &[bool],
    mut f: impl FnMut(Value),
) {
    match terminator {
        Terminator::Branch(value, ..)
        | Terminator::Return(Some(value))
        | Terminator::Raise { message: value, .. } => f(*value),
        _ => {}
    }
    for call in terminator.successors() {
        for (&arg, param) in call.args.iter().zip(&body.blocks[call.block].params) {
            if needed[param.index()] {
                f(arg);
            }
        }
    }
}

/// The values that something with an effect depends on.
fn needed_values(facts: &Facts, body: &Body) -> Vec<bool> {
    let mut needed = vec![false; body.values.len()];
    let mut work = Vec::new();
    let mut defining = vec![None; body.values.len()];
    let mut arguments: Vec<Vec<Value>> = vec![Vec::new(); body.values.len()];
    for &block in &body.layout {
        let data = &body.blocks[block];
        for &inst in &data.insts {
            let inst_data = &body.insts[inst];
            if let Some(result) = inst_data.result {
                defining[result.index()] = Some(inst);
            }
            if !facts.effects(&inst_data.op).is_removable() {
                facts.for_each_operand(&inst_data.op, |v| work.push(v));
            }
        }
        match &data.terminator {
            Terminator::Branch(value, ..)
            | Terminator::Return(Some(value))
            | Terminator::Raise { message: value, .. } => work.push(*value),
            _ => {}
        }
        for call in data.terminator.successors() {
            for (arg, param) in call.args.iter().zip(&body.blocks[call.block].params) {
                arguments[param.index()].push(*arg);
            }
        }
    }
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut needed[value.index()], true) {
            continue;
        }
        match defining[value.index()] {
            Some(inst) => facts.for_each_operand(&body.insts[inst].op, |v| work.push(v)),
            None => work.extend(&arguments[value.index()]),
        }
    }
    needed
}

struct Folder<'a> {
    facts: &'a Facts<'a>,
    body: &'a Body,
    /// Type of the function's result.
    result: Option<Type>,
    uses: &'a [Use],
    folding: &'a mut Folding,
    pending: Vec<Pending>,
}

impl Folder<'_> {
    fn block(&mut self, block: Block) {
        let data = &self.body.blocks[block];
        for &inst in &data.insts {
            self.inst(block, inst);
        }
        let mut used = BTreeSet::new();
        let needed = Rc::clone(&self.folding.needed);
        for_each_terminator_use(self.body, &data.terminator, &needed, |v| {
            used.insert(v);
        });
        for value in self.unfit_for(&data.terminator) {
            used.remove(&value);
        }
        self.pending.retain(|p| !used.contains(&p.value));
        self.settle(|_| true);
    }

    /// Values that a terminator uses and that need a variable for it: views on the edges of storage
    /// that does not outlive them, and names that are looked at through their address.
    fn unfit_for(&self, terminator: &Terminator) -> Vec<Value> {
        let is_borrowed = |value: Value| {
            self.folding.definition(value).is_some_and(|inst| borrows(&self.body.insts[inst].op))
        };
        let is_name = |value: Value| Repr::of(self.body.type_of(value)) == Repr::Name;
        let mut unfit = Vec::new();
        match terminator {
            Terminator::Raise { message, .. } if is_name(*message) => unfit.push(*message),
            Terminator::Return(Some(value))
                if is_name(*value) && self.result.map(Repr::of) != Some(Repr::Name) =>
            {
                unfit.push(*value);
            }
            _ => {}
        }
        for call in terminator.successors() {
            for (&arg, &param) in call.args.iter().zip(&self.body.blocks[call.block].params) {
                let is_view = Repr::of(self.body.type_of(param)) == Repr::View;
                if is_view && (is_borrowed(arg) || is_name(arg)) {
                    unfit.push(arg);
                }
            }
        }
        unfit
    }

    fn inst(&mut self, block: Block, inst: Inst) {
        let data = &self.body.insts[inst];
        if let Some(result) = data.result
            && self.folding.needed[result.index()]
            && matches!(data.op, Op::Const(_) | Op::Record(_))
        {
            self.folding.homes[result.index()] = Home::Inline;
            return;
        }
        if !self.folding.is_statement(self.facts, self.body, inst) {
            return;
        }
        let own = self.facts.effects(&data.op);
        let mut folded = Pending {
            value: data.result.unwrap_or(Value::from_index(0)),
            reads: own.reads.clone(),
            volatile: own.invariance == Invariance::Volatile && !is_walk_query(&data.op),
            walks: is_walk_query(&data.op),
            size: 1,
        };
        self.consume(&data.op, &mut folded);
        if self.may_wait(block, inst) {
            if folded.volatile {
                self.settle(|p| p.volatile);
            }
            self.folding.homes[folded.value.index()] = Home::Inline;
            self.pending.push(folded);
            return;
        }
        let unlocks = matches!(data.op, Op::Unlock(_));
        // What is known before a lock is taken is computed before.
        let locks = matches!(data.op, Op::Lock(_));
        self.settle(|p| {
            locks
                || p.volatile
                || (p.walks && own.advances)
                || (unlocks && !p.reads.is_empty())
                || !p.reads.is_disjoint(&own.writes)
        });
    }

    /// Takes the operands that wait out of the list, into the expression of `op`.
    fn consume(&mut self, op: &Op, into: &mut Pending) {
        let mut operands = Vec::new();
        self.facts.for_each_operand(op, |v| operands.push(v));
        for (index, operand) in operands.into_iter().enumerate() {
            let Some(at) = self.pending.iter().position(|p| p.value == operand) else { continue };
            let pending = self.pending.remove(at);
            let is_str = self.body.type_of(operand).is_str();
            let too_long = into.size + pending.size > LARGEST_EXPRESSION && !is_str;
            if too_long || self.must_be_named(op, index, operand, &pending) {
                self.folding.homes[operand.index()] = Home::Variable;
                continue;
            }
            into.reads.extend(pending.reads);
            into.volatile |= pending.volatile;
            into.walks |= pending.walks;
            into.size += pending.size;
        }
    }

    /// Whether an operand must be a variable although it could be folded.
    fn must_be_named(&self, op: &Op, index: usize, operand: Value, pending: &Pending) -> bool {
        let definition = self.folding.definition(operand).map(|inst| &self.body.insts[inst].op);
        // A name is looked at through its address.
        let is_place = definition.is_some_and(is_name_place);
        if Repr::of(self.body.type_of(operand)) == Repr::Name
            && !is_place
            && !self.facts.takes_name(op, index)
        {
            return true;
        }
        match op {
            Op::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => index == 1,
            // Compared with two bounds, then used as an index.
            Op::Bucket(place, _) => index == place.keys.len(),
            Op::StatAdd(place, _) if index == place.keys.len() => {
                pending.reads.contains(&place.global) || self.updates_twice(place.global)
            }
            // The element is found or made before the value is computed.
            Op::Store(place, _) | Op::Update(_, place, _) if index == place.keys.len() => {
                is_element(place) && pending.reads.contains(&place.global)
            }
            // The function may write what a view that it is given lies in.
            Op::Call(..) => {
                self.body.type_of(operand).is_str()
                    && !pending.reads.is_disjoint(&self.facts.effects(op).writes)
            }
            // Slices are compared with every element.
            Op::IterBegin(spec) => index < spec.slice.iter().flatten().count(),
            _ => false,
        }
    }

    /// Whether an update of a statistic writes the value that is added more than once.
    fn updates_twice(&self, global: Global) -> bool {
        let compares = |field: &Field| matches!(field, Field::Min | Field::Max);
        self.facts.stat_updates(global) > 1 || self.facts.fields(global).iter().any(compares)
    }

    /// Whether the result of an instruction may wait for its only use, in the same block.
    fn may_wait(&self, block: Block, inst: Inst) -> bool {
        let data = &self.body.insts[inst];
        let Some(result) = data.result else { return false };
        self.folding.needed[result.index()]
            && self.uses[result.index()] == Use::Once(block)
            && is_expression(self.facts, self.body, &data.op, result)
    }

    /// Gives those that wait and match a variable after all.
    fn settle(&mut self, matches: impl Fn(&Pending) -> bool) {
        let homes = &mut self.folding.homes;
        self.pending.retain(|p| {
            let settled = matches(p);
            if settled {
                homes[p.value.index()] = Home::Variable;
            }
            !settled
        });
    }
}

fn is_element(place: &Place) -> bool {
    !place.keys.is_empty()
}

/// Whether an operation asks for a part of the current element of a walk.
fn is_walk_query(op: &Op) -> bool {
    matches!(op, Op::IterKey(..) | Op::IterValue(_) | Op::IterStat(..))
}

/// Whether the string that an operation gives lies in a global or in a walk's element.
pub(crate) fn borrows(op: &Op) -> bool {
    matches!(op, Op::Load(_) | Op::IterKey(..) | Op::IterValue(_))
}

/// Whether an operation can be written as a C expression, or as a check followed by one.
fn is_expression(facts: &Facts, body: &Body, op: &Op, result: Value) -> bool {
    let is_str = body.type_of(result).is_str();
    match op {
        Op::Unary(..) | Op::Binary(..) | Op::Compare(..) | Op::Contains(_) | Op::Match(..) => true,
        Op::Load(_) | Op::IterKey(..) | Op::IterValue(_) => true,
        Op::Intrinsic(intrinsic, _) => {
            let row = intrinsic.signature();
            !row.acts && !row.raises && (!is_str || repr::is_value_query(*intrinsic))
        }
        // Of an element, the fields that must be checked need a pointer of their own.
        Op::StatGet(StatField::Count | StatField::Sum, _) => true,
        Op::StatGet(_, place) => !is_element(place),
        Op::IterStat(..) | Op::BucketCount(_) => true,
        Op::IterNext(_) => true,
        Op::Call(..) => {
            let effects = facts.effects(op);
            !is_str && effects.is_removable()
        }
        Op::Const(_) | Op::Record(_) => true,
        _ => false,
    }
}

/// Whether a name that an operation gives lies somewhere, so that it has an address.
fn is_name_place(op: &Op) -> bool {
    match op {
        Op::Load(place) => place.keys.is_empty(),
        Op::IterKey(..) | Op::IterValue(_) | Op::Record(_) => true,
        _ => false,
    }
}
