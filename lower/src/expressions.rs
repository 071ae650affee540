//! Expressions: for their value, for their effect only, and as conditions.

use xlate_elaborate::Span;
use xlate_elaborate::program::{self as typed, Expr, ExprKind, Place};
use xlate_ir::builder::Variable;
use xlate_ir::entities::{Block, Value};
use xlate_ir::instructions::{self, BinaryOp, CompareOp, IterSpec, Op, StatField, UnaryOp};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::types::Type;

use crate::body::BodyLowering;

impl BodyLowering<'_> {
    /// Evaluates an expression whose result is not used.
    pub(crate) fn effect(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Assign { place, op, value } => {
                self.assign_unused(place, *op, value, expr.span);
            }
            ExprKind::Step { place, by, .. } => self.step_unused(place, *by, expr.span),
            ExprKind::And(..) | ExprKind::Or(..) => {
                let done = self.builder.create_block();
                self.branch(expr, done, done);
                self.enter(done);
            }
            ExprKind::Conditional(condition, yes, no) => {
                self.choose(condition, |this| this.effect(yes), |this| this.effect(no))
            }
            ExprKind::Call(function, arguments) => {
                self.call(*function, arguments, expr.span);
            }
            ExprKind::Print(format, arguments) => self.print(format, arguments, expr.span),
            ExprKind::PrintHistogram(place) => {
                let place = self.place(place);
                self.act(Op::PrintHistogram(place), expr.span);
            }
            _ => {
                self.value(expr);
            }
        }
    }

    /// Evaluates an expression. One without a result gives zero.
    pub(crate) fn value(&mut self, expr: &Expr) -> Value {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Literal(literal) => self.literal(literal, span),
            ExprKind::Read(place) => self.read_place(place, span),
            ExprKind::Assign { place, op, value } => self.assign(place, *op, value, span),
            ExprKind::Step { place, by, post } => self.step(place, *by, *post, span),
            ExprKind::Accumulate { place, value } => {
                let place = self.place(place);
                let value = self.value(value);
                self.act(Op::StatAdd(place, value), span);
                value
            }
            ExprKind::Unary(op, operand) => self.unary(*op, operand, span),
            ExprKind::Binary(op, left, right) => {
                let left = self.value(left);
                let right = self.value(right);
                self.binary(*op, left, right, span)
            }
            ExprKind::And(..) | ExprKind::Or(..) => {
                let result = self.builder.declare(Type::Long, None);
                self.choose(
                    expr,
                    |this| this.set_long(result, 1, span),
                    |this| this.set_long(result, 0, span),
                );
                self.builder.read(result)
            }
            ExprKind::Conditional(condition, yes, no) => self.conditional(expr, condition, yes, no),
            ExprKind::In { array, keys } => self.is_in(*array, keys, span),
            ExprKind::Match { text, regex, negated } => {
                let text = self.value(text);
                let regex = self.tables.regex(*regex);
                let matches = self.compute(Op::Match(regex, text), span);
                if *negated { self.is_zero(matches, span) } else { matches }
            }
            ExprKind::Call(function, arguments) => {
                let result = self.call(*function, arguments, span);
                result.unwrap_or_else(|| self.no_result(expr))
            }
            ExprKind::Stat(field, place) => self.statistic(*field, place, span),
            ExprKind::Bucket(place, bucket) => {
                let place = self.place(place);
                let bucket = self.value(bucket);
                self.compute(Op::Bucket(place, bucket), span)
            }
            ExprKind::Format(format, arguments) => self.format(format, arguments, span),
            ExprKind::EmbeddedC(c) => {
                if let Some(function) = self.tables.outlined(c) {
                    return self.compute(Op::Call(function, Vec::new()), span);
                }
                let ty = self.type_of_expr(expr);
                self.builder.set_pos(self.tables.position(span));
                let result = self.builder.push_typed(Op::CExpression(c.text.clone()), Some(ty));
                result.unwrap_or_else(|| self.no_result(expr))
            }
            ExprKind::Print(..) | ExprKind::PrintHistogram(_) => {
                self.effect(expr);
                self.no_result(expr)
            }
        }
    }

    /// Goes to `yes` if the long is not zero, else to `no`. The jumps are all there then.
    pub(crate) fn branch(&mut self, expr: &Expr, yes: Block, no: Block) {
        match &expr.kind {
            ExprKind::Unary(typed::UnaryOp::LogicalNot, operand) => self.branch(operand, no, yes),
            ExprKind::And(left, right) => {
                let both = self.builder.create_block();
                self.branch(left, both, no);
                self.enter(both);
                self.branch(right, yes, no);
            }
            ExprKind::Or(left, right) => {
                let neither = self.builder.create_block();
                self.branch(left, yes, neither);
                self.enter(neither);
                self.branch(right, yes, no);
            }
            ExprKind::Match { text, regex, negated: true } => {
                let text = self.value(text);
                let regex = self.tables.regex(*regex);
                let matches = self.compute(Op::Match(regex, text), expr.span);
                self.builder.branch(matches, no, yes);
            }
            _ => {
                let value = self.value(expr);
                self.builder.branch(value, yes, no);
            }
        }
    }

    /// Runs one of two pieces of code.
    fn choose(
        &mut self,
        condition: &Expr,
        if_true: impl FnOnce(&mut Self),
        if_false: impl FnOnce(&mut Self),
    ) {
        let yes = self.builder.create_block();
        let no = self.builder.create_block();
        let done = self.builder.create_block();
        self.branch(condition, yes, no);
        self.enter(yes);
        if_true(self);
        self.jump(done);
        self.enter(no);
        if_false(self);
        self.jump(done);
        self.enter(done);
    }

    fn conditional(&mut self, expr: &Expr, condition: &Expr, yes: &Expr, no: &Expr) -> Value {
        let result = self.builder.declare(self.type_of_expr(expr), None);
        let set = |this: &mut Self, expr: &Expr| {
            let value = this.value(expr);
            this.builder.write(result, value);
        };
        self.choose(condition, |this| set(this, yes), |this| set(this, no));
        self.builder.read(result)
    }

    fn set_long(&mut self, variable: Variable, value: i64, span: Span) {
        let value = self.long(value, span);
        self.builder.write(variable, value);
    }

    fn literal(&mut self, literal: &typed::Literal, span: Span) -> Value {
        self.compute(Op::Const(self.tables.constant(literal)), span)
    }

    fn read_place(&mut self, place: &Place, span: Span) -> Value {
        let target = self.target(place);
        self.load(&target, span)
    }

    fn unary(&mut self, op: typed::UnaryOp, operand: &Expr, span: Span) -> Value {
        let operand = self.value(operand);
        let op = match op {
            typed::UnaryOp::Neg => UnaryOp::Neg,
            typed::UnaryOp::Not => UnaryOp::Not,
            typed::UnaryOp::LogicalNot => return self.is_zero(operand, span),
        };
        self.compute(Op::Unary(op, operand), span)
    }

    fn is_zero(&mut self, value: Value, span: Span) -> Value {
        let zero = self.long(0, span);
        self.compute(Op::Compare(CompareOp::Eq, value, zero), span)
    }

    /// Applies an operator to two values.
    pub(crate) fn binary(
        &mut self,
        op: typed::BinaryOp,
        left: Value,
        right: Value,
        span: Span,
    ) -> Value {
        match operation(op) {
            Operation::Arithmetic(op) => self.compute(Op::Binary(op, left, right), span),
            Operation::Comparison(op) => self.compute(Op::Compare(op, left, right), span),
            Operation::Concatenation => {
                self.compute(Op::Intrinsic(Intrinsic::StrConcat, vec![left, right]), span)
            }
        }
    }

    /// `[k, …] in a`. With a `*`, it is whether a walk over what matches finds anything.
    fn is_in(&mut self, array: typed::GlobalId, keys: &[Option<Expr>], span: Span) -> Value {
        let global = self.tables.global(array);
        let keys = self.optional_values(keys);
        if let Some(keys) = keys.iter().copied().collect::<Option<Vec<Value>>>() {
            let place = instructions::Place { global, keys };
            return self.compute(Op::Contains(place), span);
        }
        let limit = self.long(1, span);
        let spec = IterSpec { global, sort: None, slice: keys, limit: Some(limit) };
        let iter = self.compute(Op::IterBegin(spec), span);
        let found = self.compute(Op::IterNext(iter), span);
        self.act(Op::IterEnd(iter), span);
        found
    }

    /// Evaluates the keys of a slice.
    pub(crate) fn optional_values(&mut self, keys: &[Option<Expr>]) -> Vec<Option<Value>> {
        keys.iter().map(|key| key.as_ref().map(|key| self.value(key))).collect()
    }

    fn statistic(
        &mut self,
        field: typed::StatField,
        place: &typed::GlobalPlace,
        span: Span,
    ) -> Value {
        let place = self.place(place);
        self.compute(Op::StatGet(stat_field(field), place), span)
    }

    /// The type that the expression has, a long if it has none.
    fn type_of_expr(&self, expr: &Expr) -> Type {
        expr.ty.map_or(Type::Long, |ty| self.tables.ty(ty))
    }

    /// What stands for the result of an expression that has none: control does not get past it, or
    /// nothing looks at it.
    fn no_result(&mut self, expr: &Expr) -> Value {
        self.default_of(self.type_of_expr(expr), expr.span)
    }
}

/// What an operator of the language is in the IR.
enum Operation {
    Arithmetic(BinaryOp),
    Comparison(CompareOp),
    Concatenation,
}

fn operation(op: typed::BinaryOp) -> Operation {
    use Operation::{Arithmetic, Comparison};
    match op {
        typed::BinaryOp::Add => Arithmetic(BinaryOp::Add),
        typed::BinaryOp::Sub => Arithmetic(BinaryOp::Sub),
        typed::BinaryOp::Mul => Arithmetic(BinaryOp::Mul),
        typed::BinaryOp::Div => Arithmetic(BinaryOp::Div),
        typed::BinaryOp::Rem => Arithmetic(BinaryOp::Rem),
        typed::BinaryOp::And => Arithmetic(BinaryOp::And),
        typed::BinaryOp::Or => Arithmetic(BinaryOp::Or),
        typed::BinaryOp::Xor => Arithmetic(BinaryOp::Xor),
        typed::BinaryOp::Shl => Arithmetic(BinaryOp::Shl),
        typed::BinaryOp::Shr => Arithmetic(BinaryOp::Shr),
        typed::BinaryOp::Ushr => Arithmetic(BinaryOp::Ushr),
        typed::BinaryOp::Concat => Operation::Concatenation,
        typed::BinaryOp::Eq => Comparison(CompareOp::Eq),
        typed::BinaryOp::Ne => Comparison(CompareOp::Ne),
        typed::BinaryOp::Lt => Comparison(CompareOp::Lt),
        typed::BinaryOp::Le => Comparison(CompareOp::Le),
        typed::BinaryOp::Gt => Comparison(CompareOp::Gt),
        typed::BinaryOp::Ge => Comparison(CompareOp::Ge),
    }
}

/// A field of a statistic in the IR.
pub(crate) fn stat_field(field: typed::StatField) -> StatField {
    match field {
        typed::StatField::Count => StatField::Count,
        typed::StatField::Sum => StatField::Sum,
        typed::StatField::Min => StatField::Min,
        typed::StatField::Max => StatField::Max,
        typed::StatField::Avg => StatField::Avg,
        typed::StatField::Variance(shift) => StatField::Variance(shift),
    }
}
