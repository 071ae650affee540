//! Places, and what reads and changes them.

use xlate_elaborate::Span;
use xlate_elaborate::program::{self as typed, Expr, LocalId};
use xlate_ir::entities::Value;
use xlate_ir::instructions::{BinaryOp, Op, Place, UnaryOp, UpdateOp};

use crate::body::BodyLowering;

/// A place whose keys are evaluated.
pub(crate) enum Target {
    Local(LocalId),
    Global(Place),
}

impl BodyLowering<'_> {
    /// Evaluates the keys of a place.
    pub(crate) fn target(&mut self, place: &typed::Place) -> Target {
        match place {
            typed::Place::Local(local) => Target::Local(*local),
            typed::Place::Global(place) => Target::Global(self.place(place)),
        }
    }

    /// Evaluates the keys of a global place.
    pub(crate) fn place(&mut self, place: &typed::GlobalPlace) -> Place {
        let keys = place.keys.iter().map(|key| self.value(key)).collect();
        Place { global: self.tables.global(place.global), keys }
    }

    /// Reads a place.
    pub(crate) fn load(&mut self, target: &Target, span: Span) -> Value {
        match target {
            Target::Local(local) => self.read(*local),
            Target::Global(place) => self.compute(Op::Load(place.clone()), span),
        }
    }

    fn store(&mut self, target: Target, value: Value, span: Span) {
        match target {
            Target::Local(local) => self.define(local, value),
            Target::Global(place) => self.act(Op::Store(place, value), span),
        }
    }

    /// An assignment whose result is used: the new value.
    pub(crate) fn assign(
        &mut self,
        place: &typed::Place,
        op: Option<typed::BinaryOp>,
        value: &Expr,
        span: Span,
    ) -> Value {
        let target = self.target(place);
        let value = self.value(value);
        self.assign_to(target, op, value, span)
    }

    fn assign_to(
        &mut self,
        target: Target,
        op: Option<typed::BinaryOp>,
        value: Value,
        span: Span,
    ) -> Value {
        let value = match op {
            Some(op) => {
                let old = self.load(&target, span);
                self.binary(op, old, value, span)
            }
            None => value,
        };
        self.store(target, value, span);
        value
    }

    /// An assignment whose result is not used.
    pub(crate) fn assign_unused(
        &mut self,
        place: &typed::Place,
        op: Option<typed::BinaryOp>,
        value: &Expr,
        span: Span,
    ) {
        let target = self.target(place);
        let value = self.value(value);
        let (target, update) = match (target, op) {
            (Target::Global(place), Some(typed::BinaryOp::Add)) => {
                return self.act(Op::Update(UpdateOp::Add, place, value), span);
            }
            (Target::Global(place), Some(typed::BinaryOp::Sub)) => {
                let negated = self.compute(Op::Unary(UnaryOp::Neg, value), span);
                return self.act(Op::Update(UpdateOp::Add, place, negated), span);
            }
            (Target::Global(place), Some(typed::BinaryOp::Or)) => {
                return self.act(Op::Update(UpdateOp::Or, place, value), span);
            }
            other => other,
        };
        self.assign_to(target, update, value, span);
    }

    /// `++` or `--` whose result is used: the value before or after it.
    pub(crate) fn step(&mut self, place: &typed::Place, by: i64, post: bool, span: Span) -> Value {
        let target = self.target(place);
        let old = self.load(&target, span);
        let by = self.long(by, span);
        let new = self.compute(Op::Binary(BinaryOp::Add, old, by), span);
        self.store(target, new, span);
        if post { old } else { new }
    }

    /// `++` or `--` whose result is not used.
    pub(crate) fn step_unused(&mut self, place: &typed::Place, by: i64, span: Span) {
        let target = self.target(place);
        let by = self.long(by, span);
        match target {
            Target::Global(place) => self.act(Op::Update(UpdateOp::Add, place, by), span),
            Target::Local(local) => {
                let old = self.read(local);
                let new = self.compute(Op::Binary(BinaryOp::Add, old, by), span);
                self.define(local, new);
            }
        }
    }
}
