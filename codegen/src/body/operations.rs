//! Instructions that are statements.

use xlate_ir::entities::{Inst, Value};
use xlate_ir::instructions::{BinaryOp, Op, StatField};
use xlate_ir::types::{Const, Pos};

use super::BodyEmitter;
use super::locks::Lock;
use crate::c::expr::Expr;
use crate::c::stmt::Stmt;
use crate::fold::{Home, borrows};
use crate::repr::{self, Repr};

impl BodyEmitter<'_> {
    /// Emits an instruction at its place: all of it, or the check ahead of one that is folded.
    pub(super) fn instruction(&mut self, inst: Inst) {
        let outer = self.enter(inst);
        self.instruction_here(inst);
        self.origin = outer;
    }

    /// Has what is emitted next come from where an instruction stands; gives where it came from.
    pub(super) fn enter(&mut self, inst: Inst) -> Option<Pos> {
        let pos = self.body.insts[inst].pos.or(self.origin);
        std::mem::replace(&mut self.origin, pos)
    }

    fn instruction_here(&mut self, inst: Inst) {
        let body = self.body;
        let data = &body.insts[inst];
        if !self.folding.is_statement(self.facts(), body, inst) {
            if data.result.is_some_and(|result| self.folding.home(result) == Home::Inline) {
                self.check_ahead(&data.op, data.pos);
            }
            return;
        }
        let pos = data.pos;
        match &data.op {
            Op::Intrinsic(intrinsic, args) => {
                let row = intrinsic.signature();
                let is_value = repr::is_value_query(*intrinsic)
                    || row.result == Some(xlate_ir::intrinsics::Slot::Long);
                if is_value && !row.acts && !row.raises {
                    let value = self.operation(inst);
                    self.assign(inst, value);
                } else {
                    self.intrinsic_statement(inst, *intrinsic, args, pos);
                }
            }
            Op::Call(function, args) => self.call_statement(inst, *function, args),
            Op::Store(place, value) => self.store(place, *value, pos),
            Op::Update(op, place, value) => self.update(*op, place, *value, pos),
            Op::Fetch(op, place, value) => self.fetch(inst, *op, place.global, *value),
            Op::Delete(place) => self.delete(place),
            Op::Clear(global) => self.clear(*global),
            Op::StatAdd(place, value) => self.stat_add(place, *value, pos),
            Op::StatGet(field, place) if !matches!(field, StatField::Count | StatField::Sum) => {
                self.stat_get_checked(inst, *field, place, pos);
            }
            Op::Bucket(place, index) => self.bucket(inst, place, *index, pos),
            Op::IterBegin(spec) => self.begin_walk(inst, spec),
            Op::IterEnd(_) | Op::Caught => {}
            Op::Print(format, args) => self.print(format, args, pos),
            Op::Format(format, args) => self.format(inst, format, args, pos),
            Op::PrintHistogram(place) => self.print_histogram(place, pos),
            Op::Action => {
                let place = self.place_of(pos);
                let spent = Expr::call("xl_spend", vec![super::context(), place]);
                self.check_limit(spent.negated());
            }
            Op::CStatement(text) => self.push(Stmt::Verbatim(text.clone().into())),
            Op::CExpression(text) => self.c_expression(inst, text),
            Op::Lock(locks) => {
                let locks: Vec<_> =
                    locks.iter().map(|&(global, mode)| (Lock::Global(global), mode)).collect();
                self.lock(&locks);
            }
            Op::Unlock(globals) => self.unlock(globals),
            op if borrows(op) => {
                let value = self.operation(inst);
                self.load_statement(inst, value);
            }
            op => {
                self.check_ahead(op, pos);
                // Of a division that nothing needs, only the check remains.
                if self.result_of(inst).is_some() || matches!(op, Op::IterNext(_)) {
                    let value = self.operation(inst);
                    self.assign(inst, value);
                }
            }
        }
    }

    /// The check that goes before an operation which is then a plain expression.
    fn check_ahead(&mut self, op: &Op, pos: Option<Pos>) {
        match op {
            Op::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) => {
                self.check_divisor(*divisor, pos);
            }
            Op::StatGet(field, place)
                if place.keys.is_empty() && !matches!(field, StatField::Count | StatField::Sum) =>
            {
                self.stat_check(place, pos);
            }
            _ => {}
        }
    }

    fn check_divisor(&mut self, divisor: Value, pos: Option<Pos>) {
        let raise = self.raise("division by zero", pos);
        match self.folding.constant(self.body, divisor) {
            Some(Const::Long(0)) => self.raise_now(vec![raise]),
            Some(_) => {}
            None => {
                let zero = self.value(divisor).negated();
                self.check(zero, vec![raise]);
            }
        }
    }

    /// An expression in C of the script. A string is copied: it may lie anywhere.
    fn c_expression(&mut self, inst: Inst, text: &str) {
        let text = text.trim();
        let ended = if text.contains("//") { format!("{text}\n") } else { text.to_owned() };
        let text = ended.as_str();
        let Some((result, _)) = self.result_of(inst) else {
            self.push(Stmt::Verbatim(format!("\t\t(void)({text});").into()));
            return;
        };
        if self.repr(result) == Repr::Long {
            self.assign(inst, Expr::prefix("(s64)", Expr::atom(format!("({text})"))));
            return;
        }
        self.needs.headers.insert("strings.h");
        let view = Expr::call("xl_str_c", vec![Expr::atom(text)]);
        if self.repr(result) == Repr::Name {
            self.assign(inst, Expr::call("xl_name", vec![view]));
        } else {
            let place = self.destination(inst);
            self.assign(inst, Expr::call("xl_set", vec![place, view]));
        }
    }
}
