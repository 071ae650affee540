//! What a body does, up to the names of locals, and if asked up to literals.
//!
//! Two bodies with equal shapes do the same once the literals that their shapes leave out, in order,
//! are the same. A constant counts where it is used, not where it is defined: bodies that use `5` twice
//! and bodies that use `5` and `6` have one shape. Positions count only where a message names them.

use rustc_hash::FxHashMap;
use xlate_ir::cfg::reverse_postorder;
use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Block, Entity, File, Function, Handler, Inst, Value};
use xlate_ir::instructions::{BinaryOp, Op, Terminator};
use xlate_ir::module::{Body, Module};
use xlate_ir::types::{Const, Pos, Type};

use super::literals::may_vary;

/// Operands from here on stand for no value of the body: literals that differ or do not.
const LITERALS: usize = 1 << 30;

/// What stands for a literal that is left out: a long, or a string.
const HOLES: [usize; 2] = [LITERALS, LITERALS + 1];

/// What bodies are compared by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Likeness {
    /// Everything but names: literals, bounds of strings, positions of messages.
    Exact,
    /// Everything but names, those literals that may become parameters, and positions as long as equal
    /// ones are equal in both; for functions.
    Literals,
    /// Everything but names, literals that may become fields of a record, bounds of strings, and
    /// positions as long as equal ones are equal in both; for handlers.
    Records,
}

/// A body without what is not compared.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Shape {
    /// Types of the parameters, and what the block does.
    blocks: Vec<(Vec<Type>, Vec<Line>)>,
}

/// An instruction or terminator.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Line {
    Inst(Op, Option<Type>, Option<Pos>),
    End(Terminator, Option<Pos>),
}

/// A literal, as a body has it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Literal {
    /// A constant.
    Const(Const),
    /// A field of the record.
    Field(u32),
}

/// A body, taken apart.
pub(super) struct Anatomy {
    /// What does not differ.
    pub(super) shape: Shape,
    /// The literals that the shape leaves out, in the order of use.
    pub(super) literals: Vec<Literal>,
    /// The values that are no literals, in the order of their definitions.
    pub(super) values: Vec<Value>,
    /// Positions that messages name, each once.
    pub(super) places: Vec<Pos>,
}

/// Numbers for literals that are compared, the same in all bodies of a module.
#[derive(Default)]
pub(super) struct Interner {
    known: FxHashMap<(Literal, Option<Handler>), usize>,
}

impl Interner {
    fn number(&mut self, literal: &Literal, owner: Option<Handler>) -> Value {
        let owner = owner.filter(|_| matches!(literal, Literal::Field(_)));
        let next = LITERALS + HOLES.len() + self.known.len();
        Value::from_index(*self.known.entry((literal.clone(), owner)).or_insert(next))
    }
}

/// Whose body it is, and where messages without a position of their own say they come from.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) module: &'a Module,
    pub(super) summaries: &'a Summaries,
    pub(super) body: &'a Body,
    pub(super) pos: Option<Pos>,
    pub(super) function: Option<Function>,
    pub(super) handler: Option<Handler>,
    /// The position that a message about too many nested calls names, if calls of it count.
    pub(super) nesting: Option<Pos>,
    /// Whether positions that messages name are compared as they are; otherwise only which of them
    /// are the same.
    pub(super) keeps_places: bool,
}

/// Takes a body apart.
pub(super) fn dissect(
    subject: Subject<'_>,
    likeness: Likeness,
    interner: &mut Interner,
) -> Anatomy {
    let body = subject.body;
    // The order in which bodies are compared.
    let order = reverse_postorder(body);
    let mut dissector = Dissector {
        subject,
        likeness,
        interner,
        definitions: literal_definitions(body),
        numbers: vec![usize::MAX; body.values.len()],
        blocks: vec![usize::MAX; body.blocks.len()],
        found: Anatomy {
            shape: Shape { blocks: Vec::with_capacity(order.len()) },
            literals: Vec::new(),
            values: Vec::new(),
            places: subject.nesting.into_iter().collect(),
        },
    };
    dissector.number_all(&order);
    for &block in &order {
        dissector.block(block);
    }
    dissector.found
}

/// The instruction that defines each value that is a literal.
pub(crate) fn literal_definitions(body: &Body) -> Vec<Option<Inst>> {
    let mut definitions = vec![None; body.values.len()];
    for (_, inst) in body.iter_insts() {
        let data = &body.insts[inst];
        if let (Op::Const(_) | Op::Record(_), Some(result)) = (&data.op, data.result) {
            definitions[result.index()] = Some(inst);
        }
    }
    definitions
}

struct Dissector<'a, 'i> {
    subject: Subject<'a>,
    likeness: Likeness,
    interner: &'i mut Interner,
    definitions: Vec<Option<Inst>>,
    numbers: Vec<usize>,
    blocks: Vec<usize>,
    found: Anatomy,
}

impl Dissector<'_, '_> {
    fn number_all(&mut self, order: &[Block]) {
        let body = self.subject.body;
        for (number, &block) in order.iter().enumerate() {
            self.blocks[block.index()] = number;
            let data = &body.blocks[block];
            let results = data.insts.iter().filter_map(|&inst| body.insts[inst].result);
            for value in data.params.iter().copied().chain(results) {
                if self.definitions[value.index()].is_none() {
                    self.numbers[value.index()] = self.found.values.len();
                    self.found.values.push(value);
                }
            }
        }
    }

    fn block(&mut self, block: Block) {
        let body = self.subject.body;
        let data = &body.blocks[block];
        let params = data.params.iter().map(|&param| self.type_of(param)).collect();
        let mut lines = Vec::with_capacity(data.insts.len() + 1);
        for &inst in &data.insts {
            let data = &body.insts[inst];
            if matches!(data.op, Op::Const(_) | Op::Record(_)) {
                continue;
            }
            let pos = if self.names_position(&data.op) { self.place(data.pos) } else { None };
            let mut op = data.op.clone();
            let mut index = 0;
            op.for_each_operand_mut(|operand| {
                let literal = self.literal(*operand);
                let varies = literal.as_ref().is_some_and(|literal| {
                    self.varies(literal, *operand, |literal| {
                        may_vary(self.likeness, body, &data.op, index, literal)
                    })
                });
                *operand = self.operand(*operand, literal, varies);
                index += 1;
            });
            if let Op::Call(function, _) = &mut op
                && self.subject.function == Some(*function)
            {
                *function = Function::from_index(u32::MAX as usize);
            }
            lines.push(Line::Inst(op, data.result.map(|result| self.type_of(result)), pos));
        }
        let mut end = data.terminator.clone();
        let mut end_pos = None;
        if let Terminator::Raise { pos, .. } = &mut end {
            end_pos = self.place(pos.take());
        }
        end.for_each_operand_mut(|operand| {
            let literal = self.literal(*operand);
            let varies =
                literal.as_ref().is_some_and(|literal| self.varies(literal, *operand, |_| true));
            *operand = self.operand(*operand, literal, varies);
        });
        for call in end.successors_mut() {
            call.block = Block::from_index(self.blocks[call.block.index()]);
        }
        lines.push(Line::End(end, end_pos));
        self.found.shape.blocks.push((params, lines));
    }

    /// The literal that a value is.
    fn literal(&self, value: Value) -> Option<Literal> {
        match &self.subject.body.insts[self.definitions[value.index()]?].op {
            Op::Const(constant) => Some(Literal::Const(constant.clone())),
            Op::Record(field) => Some(Literal::Field(*field)),
            _ => None,
        }
    }

    fn varies(
        &self,
        literal: &Literal,
        value: Value,
        allowed: impl FnOnce(&Literal) -> bool,
    ) -> bool {
        match self.likeness {
            Likeness::Exact => false,
            // Calls pass strings as values that the callee takes apart again.
            Likeness::Literals if self.subject.body.type_of(value).is_str() => false,
            Likeness::Literals | Likeness::Records => allowed(literal),
        }
    }

    /// What stands for an operand.
    fn operand(&mut self, value: Value, literal: Option<Literal>, varies: bool) -> Value {
        match literal {
            None => Value::from_index(self.numbers[value.index()]),
            Some(literal) if varies => {
                self.found.literals.push(literal);
                let is_str = self.subject.body.type_of(value).is_str();
                Value::from_index(HOLES[usize::from(is_str)])
            }
            Some(literal) => self.interner.number(&literal, self.subject.handler),
        }
    }

    fn type_of(&self, value: Value) -> Type {
        match self.subject.body.type_of(value) {
            Type::Str(_) if self.likeness == Likeness::Records => Type::Str(0),
            ty => ty,
        }
    }

    /// Whether a message that an operation may give names its position.
    fn names_position(&self, op: &Op) -> bool {
        match op {
            // A lock is not what a message is about; what is called has positions of its own.
            Op::Lock(_) | Op::Call(..) => false,
            Op::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) => {
                !matches!(self.literal(*divisor), Some(Literal::Const(Const::Long(n))) if n != 0)
            }
            op => {
                let effects = self.subject.summaries.op(self.subject.module, op);
                effects.raises || effects.aborts
            }
        }
    }

    /// A position as it is compared.
    fn place(&mut self, pos: Option<Pos>) -> Option<Pos> {
        let pos = pos.or(self.subject.pos)?;
        if self.subject.keeps_places {
            return Some(pos);
        }
        let places = &mut self.found.places;
        let number = places.iter().position(|&place| place == pos).unwrap_or_else(|| {
            places.push(pos);
            places.len() - 1
        });
        let line = u32::try_from(number).unwrap_or(u32::MAX);
        Some(Pos { file: File::from_index(0), line, column: 0 })
    }
}

/// Replaces the literals that the shape of a body leaves out: `new` gives what stands for each, by its
/// number in [`Anatomy::literals`], or `None` to keep it.
pub(super) fn replace_literals(
    body: &mut Body,
    likeness: Likeness,
    mut new: impl FnMut(usize) -> Option<Value>,
) {
    let definitions = literal_definitions(body);
    let literal = |body: &Body, value: Value| match &body.insts[definitions[value.index()]?].op {
        Op::Const(constant) => Some(Literal::Const(constant.clone())),
        Op::Record(field) => Some(Literal::Field(*field)),
        _ => None,
    };
    let is_hole =
        |body: &Body, value: Value| likeness == Likeness::Records || !body.type_of(value).is_str();
    let mut number = 0;
    for block in reverse_postorder(body) {
        for inst in body.blocks[block].insts.clone() {
            let old = body.insts[inst].op.clone();
            if matches!(old, Op::Const(_) | Op::Record(_)) {
                continue;
            }
            let mut op = old.clone();
            let mut index = 0;
            op.for_each_operand_mut(|operand| {
                if definitions.get(operand.index()).is_some_and(Option::is_some)
                    && let Some(literal) = literal(body, *operand)
                    && is_hole(body, *operand)
                    && may_vary(likeness, body, &old, index, &literal)
                {
                    *operand = new(number).unwrap_or(*operand);
                    number += 1;
                }
                index += 1;
            });
            body.insts[inst].op = op;
        }
        let mut end = body.blocks[block].terminator.clone();
        end.for_each_operand_mut(|operand| {
            if definitions.get(operand.index()).is_some_and(Option::is_some)
                && is_hole(body, *operand)
            {
                *operand = new(number).unwrap_or(*operand);
                number += 1;
            }
        });
        body.blocks[block].terminator = end;
    }
}
