//! Expressions.

use super::place::Use;
use super::{Body, Elaborated, describe, literal, untyped};
use crate::embedded;
use crate::program::{BinaryOp, Expr, ExprKind, Literal, Place, Type, UnaryOp};
use crate::regex;
use crate::types::{Kind, TypeVar};
use crate::walk;
use xlate_grammar::Span;
use xlate_grammar::ast::{self, AssignOp, CrementOp, Indexable};

impl Body<'_, '_> {
    /// An expression whose value is needed.
    pub(super) fn value(&mut self, source: &ast::Expr) -> (Expr, TypeVar) {
        let (mut expr, var) = self.expr(source, true);
        if let Some(var) = var {
            return (expr, var);
        }
        match &expr.kind {
            // As a value, output is zero.
            ExprKind::Print(..) | ExprKind::PrintHistogram(_) => {
                expr.ty = Some(Type::Long);
                let var = self.cx.types.known(Kind::Long, source.span);
                (expr, var)
            }
            _ => {
                let what = match &source.kind {
                    ast::ExprKind::Call { name, .. } => format!("`{}`", name.name),
                    _ => describe(source),
                };
                let message = format!("a value is needed, but {what} gives none");
                self.cx.error(source.span, message, "this has no value");
                self.wrong(source.span)
            }
        }
    }

    /// An expression; `used` says whether its value is.
    pub(super) fn expr(&mut self, source: &ast::Expr, used: bool) -> Elaborated {
        let span = source.span;
        match &source.kind {
            ast::ExprKind::Number(number) => {
                let var = self.cx.types.known(Kind::Long, span);
                (literal(Literal::Long(*number), span), Some(var))
            }
            ast::ExprKind::String(string) => {
                let bytes = self.cx.string(string, span);
                let var = self.cx.types.known(Kind::Str, span);
                (literal(Literal::Str(bytes), span), Some(var))
            }
            ast::ExprKind::Name(_) | ast::ExprKind::Index { base: Indexable::Array(_), .. } => {
                let usage = if used { Use::READ } else { Use { read: false, write: false } };
                match self.place(source, usage) {
                    Some((place, var)) => (untyped(ExprKind::Read(place), span), Some(var)),
                    None => self.wrong_value(span),
                }
            }
            ast::ExprKind::Index { base: Indexable::Histogram(histogram), keys } => {
                self.bucket(histogram, keys, span)
            }
            ast::ExprKind::In { keys, array } => self.membership(keys, array, span),
            ast::ExprKind::EmbeddedC(code) => self.embedded(code, span),
            ast::ExprKind::Const(name) => self.constant(name, span),
            ast::ExprKind::Call { name, args } => self.call(name, args, span, used),
            ast::ExprKind::Unary { op, operand } => self.unary(*op, operand, span),
            ast::ExprKind::Crement { op, prefix, target } => {
                self.step(*op, *prefix, target, span, used)
            }
            ast::ExprKind::Binary { op, left, right } => self.binary(*op, left, right, span, used),
            ast::ExprKind::Match { subject, pattern, negated } => {
                let text = Box::new(self.string(subject));
                if let Err(error) = regex::check(pattern.value.as_bytes()) {
                    let message = format!("this is no regular expression: {error}");
                    self.cx.error(pattern.span, message, "in this pattern");
                }
                let regex = self.cx.regex(pattern.value.as_bytes(), pattern.span);
                let kind = ExprKind::Match { text, regex, negated: *negated };
                self.as_long(kind, span)
            }
            ast::ExprKind::Ternary { condition, then, otherwise } => {
                self.ternary(condition, then, otherwise, span, used)
            }
            ast::ExprKind::Assign { op, target, value } => {
                self.assign(*op, target, value, span, used)
            }
            ast::ExprKind::ProbeWrite(inner) => self.probe_write(inner, span),
            ast::ExprKind::Stat { op, target, shift } => self.stat(*op, target, *shift, span),
            ast::ExprKind::Print(print) => self.print(print, span),
            ast::ExprKind::Histogram(_) => {
                let label = "print it, index it, or walk over it with `foreach`";
                self.cx.error(span, "a histogram is no value", label);
                self.wrong_value(span)
            }
            ast::ExprKind::Target(_)
            | ast::ExprKind::Defined(_)
            | ast::ExprKind::Entry(_)
            | ast::ExprKind::Perf(_)
            | ast::ExprKind::Enum(_)
            | ast::ExprKind::EnumName(_)
            | ast::ExprKind::Register { .. }
            | ast::ExprKind::Deref { .. } => self.unsupported(source),
        }
    }

    pub(super) fn wrong_value(&mut self, span: Span) -> Elaborated {
        let (expr, var) = self.wrong(span);
        (expr, Some(var))
    }

    /// An expression that is a long whatever it consists of.
    pub(super) fn as_long(&mut self, kind: ExprKind, span: Span) -> Elaborated {
        (untyped(kind, span), Some(self.cx.types.known(Kind::Long, span)))
    }

    fn unary(&mut self, op: ast::UnaryOp, operand: &ast::Expr, span: Span) -> Elaborated {
        let value = self.long(operand);
        let op = match op {
            // It changes nothing, but only longs have it.
            ast::UnaryOp::Plus => {
                let var = self.cx.types.known(Kind::Long, span);
                return (value, Some(var));
            }
            ast::UnaryOp::Negate => UnaryOp::Neg,
            ast::UnaryOp::Not => UnaryOp::LogicalNot,
            ast::UnaryOp::Complement => UnaryOp::Not,
        };
        self.as_long(ExprKind::Unary(op, Box::new(value)), span)
    }

    fn step(
        &mut self,
        op: CrementOp,
        prefix: bool,
        target: &ast::Expr,
        span: Span,
        used: bool,
    ) -> Elaborated {
        let Some((place, var)) = self.place(target, Use { read: used, write: true }) else {
            return self.wrong_value(span);
        };
        self.need(target, var, Kind::Long);
        let by = match op {
            CrementOp::Increment => 1,
            CrementOp::Decrement => -1,
        };
        self.as_long(ExprKind::Step { place, by, post: !prefix }, span)
    }

    fn binary(
        &mut self,
        op: ast::BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
        used: bool,
    ) -> Elaborated {
        match op {
            ast::BinaryOp::And | ast::BinaryOp::Or => {
                let first = Box::new(self.long(left));
                // `x && f()` as a statement needs no value of `f`.
                let second = if used { self.long(right) } else { self.expr(right, false).0 };
                let kind = match op {
                    ast::BinaryOp::And => ExprKind::And(first, Box::new(second)),
                    _ => ExprKind::Or(first, Box::new(second)),
                };
                self.as_long(kind, span)
            }
            ast::BinaryOp::Concat => {
                let first = Box::new(self.string(left));
                let second = Box::new(self.string(right));
                let expr = untyped(ExprKind::Binary(BinaryOp::Concat, first, second), span);
                (expr, Some(self.cx.types.known(Kind::Str, span)))
            }
            ast::BinaryOp::Equal
            | ast::BinaryOp::NotEqual
            | ast::BinaryOp::Less
            | ast::BinaryOp::LessEqual
            | ast::BinaryOp::Greater
            | ast::BinaryOp::GreaterEqual => {
                let (first, a) = self.value(left);
                let (second, b) = self.value(right);
                if let Err(conflict) = self.cx.types.unify(a, b) {
                    let message = format!(
                        "a {} cannot be compared with a {}",
                        conflict.left.kind, conflict.right.kind
                    );
                    self.cx.mismatch(message, span, conflict);
                }
                let kind = ExprKind::Binary(operator(op), Box::new(first), Box::new(second));
                self.as_long(kind, span)
            }
            _ => {
                let first = Box::new(self.long(left));
                let second = Box::new(self.long(right));
                self.as_long(ExprKind::Binary(operator(op), first, second), span)
            }
        }
    }

    fn ternary(
        &mut self,
        condition: &ast::Expr,
        then: &ast::Expr,
        otherwise: &ast::Expr,
        span: Span,
        used: bool,
    ) -> Elaborated {
        let condition = Box::new(self.long(condition));
        if !used {
            let (then, a) = self.expr(then, false);
            let (otherwise, b) = self.expr(otherwise, false);
            let var = match (a, b) {
                (Some(a), Some(b)) if self.cx.types.unify(a, b).is_ok() => Some(a),
                _ => None,
            };
            let kind = ExprKind::Conditional(condition, Box::new(then), Box::new(otherwise));
            return (untyped(kind, span), var);
        }
        let (then, a) = self.value(then);
        let (otherwise, b) = self.value(otherwise);
        if let Err(conflict) = self.cx.types.unify(a, b) {
            let message = format!(
                "the two outcomes of `?:` differ: a {} and a {}",
                conflict.left.kind, conflict.right.kind
            );
            self.cx.mismatch(message, span, conflict);
        }
        let kind = ExprKind::Conditional(condition, Box::new(then), Box::new(otherwise));
        (untyped(kind, span), Some(a))
    }

    fn assign(
        &mut self,
        op: AssignOp,
        target: &ast::Expr,
        value: &ast::Expr,
        span: Span,
        used: bool,
    ) -> Elaborated {
        let op = match op {
            AssignOp::Aggregate => return self.accumulate(target, value, span),
            AssignOp::Set => None,
            AssignOp::Multiply => Some(BinaryOp::Mul),
            AssignOp::Divide => Some(BinaryOp::Div),
            AssignOp::Modulo => Some(BinaryOp::Rem),
            AssignOp::Add => Some(BinaryOp::Add),
            AssignOp::Subtract => Some(BinaryOp::Sub),
            AssignOp::Concat => Some(BinaryOp::Concat),
            AssignOp::ShiftLeft => Some(BinaryOp::Shl),
            AssignOp::ShiftRight => Some(BinaryOp::Shr),
            AssignOp::BitAnd => Some(BinaryOp::And),
            AssignOp::BitXor => Some(BinaryOp::Xor),
            AssignOp::BitOr => Some(BinaryOp::Or),
        };
        let place = self.place(target, Use { read: used && op.is_some(), write: true });
        let (expr, given) = self.value(value);
        let Some((place, var)) = place else { return self.wrong_value(span) };
        match op {
            None => {
                if let Err(conflict) = self.cx.types.unify(var, given) {
                    let message = format!(
                        "{} is a {}, but a {} is assigned to it",
                        describe(target),
                        conflict.left.kind,
                        conflict.right.kind
                    );
                    self.cx.mismatch(message, value.span, conflict);
                }
            }
            Some(op) => {
                let kind = if op == BinaryOp::Concat { Kind::Str } else { Kind::Long };
                self.need(target, var, kind);
                self.need(value, given, kind);
            }
        }
        let kind = ExprKind::Assign { place, op, value: Box::new(expr) };
        (untyped(kind, span), Some(var))
    }

    fn accumulate(&mut self, target: &ast::Expr, value: &ast::Expr, span: Span) -> Elaborated {
        let place = self.statistic(target, Use::WRITE);
        let value = Box::new(self.long(value));
        match place {
            Some(place) => self.as_long(ExprKind::Accumulate { place, value }, span),
            None => self.wrong_value(span),
        }
    }

    fn membership(&mut self, keys: &[ast::Key], array: &Indexable, span: Span) -> Elaborated {
        let Indexable::Array(name) = array else {
            self.cx.error(span, "`in` asks about arrays only", "this asks about a histogram");
            return self.wrong_value(span);
        };
        match self.slice(name, keys, span) {
            Some((array, keys)) => {
                self.mark_global(array, span, Use::READ);
                self.as_long(ExprKind::In { array, keys }, span)
            }
            None => self.wrong_value(span),
        }
    }

    fn embedded(&mut self, code: &str, span: Span) -> Elaborated {
        let claims = embedded::claims(code);
        self.check_guru(span);
        let (kind, ty) =
            if claims.string { (Kind::Str, Type::Str) } else { (Kind::Long, Type::Long) };
        let code = self.cx.embedded(code, &claims, span, self.file);
        let expr = Expr { kind: ExprKind::EmbeddedC(Box::new(code)), ty: Some(ty), span };
        (expr, Some(self.cx.types.known(kind, span)))
    }

    /// `@const("X")`: a constant expression of C.
    fn constant(&mut self, name: &ast::StringLit, span: Span) -> Elaborated {
        self.check_guru(span);
        let code = crate::program::EmbeddedC {
            text: name.value.to_text(),
            pure_: true,
            stable: true,
            raises: false,
            reads: Vec::new(),
            writes: Vec::new(),
            span,
        };
        let kind = ExprKind::EmbeddedC(Box::new(code));
        let expr = Expr { kind, ty: Some(Type::Long), span };
        (expr, Some(self.cx.types.known(Kind::Long, span)))
    }

    /// Scripts may hold C only in guru mode; the library always.
    pub(super) fn check_guru(&mut self, span: Span) {
        if !self.cx.options.guru && !self.cx.declarations.is_library(self.file) {
            self.cx
                .error(span, "a script may hold C only in guru mode", "C in a script")
                .notes
                .push("give `-g` if you trust the script".into());
        }
    }

    /// `@probewrite(x)`: whether the handler that uses an alias writes to `x`.
    fn probe_write(&mut self, variable: &ast::Ident, span: Span) -> Elaborated {
        let written = self.probe_body.is_some_and(|body| walk::writes(body, &variable.name));
        let var = self.cx.types.known(Kind::Long, span);
        (literal(Literal::Long(i64::from(written)), span), Some(var))
    }

    /// `place = value` as a statement of xlate's own.
    pub(super) fn copy(&mut self, place: Place, value: Expr, span: Span) -> Expr {
        untyped(ExprKind::Assign { place, op: None, value: Box::new(value) }, span)
    }
}

/// The operators whose operands are both longs, or both strings, and neither lazy.
fn operator(op: ast::BinaryOp) -> BinaryOp {
    match op {
        ast::BinaryOp::Multiply => BinaryOp::Mul,
        ast::BinaryOp::Divide => BinaryOp::Div,
        ast::BinaryOp::Modulo => BinaryOp::Rem,
        ast::BinaryOp::Add => BinaryOp::Add,
        ast::BinaryOp::Subtract => BinaryOp::Sub,
        ast::BinaryOp::Concat => BinaryOp::Concat,
        ast::BinaryOp::ShiftLeft => BinaryOp::Shl,
        ast::BinaryOp::ShiftRight => BinaryOp::Shr,
        ast::BinaryOp::ShiftRightLogical => BinaryOp::Ushr,
        ast::BinaryOp::Less => BinaryOp::Lt,
        ast::BinaryOp::LessEqual => BinaryOp::Le,
        ast::BinaryOp::Greater => BinaryOp::Gt,
        ast::BinaryOp::GreaterEqual => BinaryOp::Ge,
        ast::BinaryOp::Equal => BinaryOp::Eq,
        ast::BinaryOp::NotEqual => BinaryOp::Ne,
        ast::BinaryOp::BitAnd | ast::BinaryOp::And => BinaryOp::And,
        ast::BinaryOp::BitXor => BinaryOp::Xor,
        ast::BinaryOp::BitOr | ast::BinaryOp::Or => BinaryOp::Or,
    }
}
