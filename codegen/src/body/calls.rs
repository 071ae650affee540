//! Calls: runtime functions, script functions, errors.

use xlate_ir::entities::{Function, Inst, Value};
use xlate_ir::instructions::Op;
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::FunctionCode;
use xlate_ir::types::{Const, Pos};

use super::values::literal_view;
use super::{BodyEmitter, context};
use crate::c::expr::Expr;
use crate::c::stmt::Stmt;
use crate::fold::Home;
use crate::locals;
use crate::repr::Repr;

/// The runtime's function for an intrinsic, by the rule of the table, and its header.
pub(super) fn runtime_function(intrinsic: Intrinsic) -> (String, &'static str) {
    let name = intrinsic.signature().name;
    let header = match name.split('.').next() {
        Some("time") => "time.h",
        Some("str") => "strfun.h",
        Some("ctl") => "ctl.h",
        _ => match intrinsic {
            Intrinsic::Cpu => "context.h",
            Intrinsic::Target | Intrinsic::ModuleName => "ctl.h",
            Intrinsic::Probefunc => "symbol.h",
            _ => "task.h",
        },
    };
    (format!("xl_{}", name.replace('.', "_")), header)
}

impl BodyEmitter<'_> {
    /// Assigns the result of an instruction that is a statement.
    pub(super) fn assign(&mut self, inst: Inst, value: Expr) {
        match self.result_of(inst) {
            Some((_, name)) => self.push(Stmt::Assign(name, value)),
            None => self.push(Stmt::Expr(value)),
        }
    }

    /// The variable that an instruction's result goes to, if anything needs it.
    pub(super) fn result_of(&self, inst: Inst) -> Option<(Value, Expr)> {
        let result = self.body.insts[inst].result?;
        if self.folding.home(result) != Home::Variable {
            return None;
        }
        self.locals.get(result).map(|local| (result, Expr::atom(&local.name)))
    }

    /// Assigns a view that was just written to the place of the instruction's result.
    pub(super) fn assign_text(&mut self, inst: Inst, view: Expr) {
        let is_name = self.result_of(inst).is_some_and(|(r, _)| self.repr(r) == Repr::Name);
        let value = if is_name { Expr::call("xl_name", vec![view]) } else { view };
        self.assign(inst, value);
    }

    /// The address of the place that an instruction's string goes to.
    pub(super) fn destination(&mut self, inst: Inst) -> Expr {
        if let Some((result, _)) = self.result_of(inst)
            && let Some(local) = self.locals.get(result)
            && let Some(place) = &local.place
        {
            return Expr::atom(&place.address);
        }
        // Nothing needs the string; it must go somewhere all the same.
        if let Some(spare) = &self.spare {
            return Expr::atom(spare);
        }
        let longest = self.facts().module.limits.longest_string();
        let name = self.scope.local("spare");
        let place = locals::place(&mut self.scope, &name, longest, longest);
        self.spare = Some(place.address.clone());
        self.extra_places.push(place.clone());
        Expr::atom(place.address)
    }

    /// An intrinsic that is a statement: it acts, raises, or writes a string.
    pub(super) fn intrinsic_statement(
        &mut self,
        inst: Inst,
        intrinsic: Intrinsic,
        args: &[Value],
        pos: Option<Pos>,
    ) {
        let row = intrinsic.signature();
        let (name, header) = runtime_function(intrinsic);
        self.needs.headers.insert(header);
        self.needs.tokenizes |= intrinsic == Intrinsic::StrTokenize;
        let writes_text = row.result.is_some_and(|slot| slot != xlate_ir::intrinsics::Slot::Long)
            && !crate::repr::is_value_query(intrinsic);
        let mut all = vec![context()];
        if writes_text {
            all.push(self.destination(inst));
        }
        for &arg in args {
            let is_str = self.body.type_of(arg).is_str();
            all.push(if is_str { self.view(arg) } else { self.value(arg) });
        }
        if row.raises {
            all.push(self.place_of(pos));
        }
        let call = Expr::call(name, all);
        if writes_text {
            self.assign_text(inst, call);
        } else {
            self.assign(inst, call);
        }
        if row.raises {
            self.check(raised(), Vec::new());
        }
        if row.aborts {
            let leave = self.leave_raised();
            for stmt in leave {
                self.push(stmt);
            }
        }
    }

    /// A call of a script function; `destination` is where its string goes.
    pub(super) fn script_call(
        &mut self,
        function: Function,
        args: &[Value],
        destination: Option<Expr>,
    ) -> Expr {
        let data = &self.facts().module.functions[function];
        let is_c = matches!(data.code, FunctionCode::C { .. });
        let mut all = vec![context()];
        all.extend(destination);
        for (&arg, &ty) in args.iter().zip(&data.params) {
            let repr = Repr::of(ty);
            let repr = if is_c && repr == Repr::Name { Repr::View } else { repr };
            all.push(self.value_as(arg, repr));
        }
        Expr::call(self.shared.names.function(function), all)
    }

    /// A call that is a statement.
    pub(super) fn call_statement(&mut self, inst: Inst, function: Function, args: &[Value]) {
        let op = Op::Call(function, args.to_vec());
        let effects = self.facts().effects(&op);
        let fails = effects.raises || effects.aborts;
        if self.facts().returns_view(function) {
            let destination = self.destination(inst);
            let call = self.script_call(function, args, Some(destination));
            self.assign_text(inst, call);
        } else {
            let call = self.script_call(function, args, None);
            self.assign(inst, call);
        }
        if effects.raises {
            self.check(raised(), Vec::new());
        } else if fails {
            self.check_limit(raised());
        }
    }

    /// The statements that record an error with a message of the script's.
    pub(super) fn raise_message(&mut self, message: Value, pos: Option<Pos>) -> Vec<Stmt> {
        if let Some(Const::Str(bytes)) = self.folding.constant(self.body, message) {
            let args = vec![context(), Expr::Str(bytes.to_vec()), self.place_of(pos)];
            return vec![Stmt::call("xl_raise", args)];
        }
        self.needs.error_text = true;
        self.needs.headers.insert("strings.h");
        let view = self.view(message);
        let place = self.place_of(pos);
        vec![Stmt::call("xl_raise_str", vec![context(), view, place])]
    }

    /// What a function gives back when it leaves by an error.
    pub(super) fn empty_result(&self) -> Option<Expr> {
        self.result.map(|ty| match Repr::of(ty) {
            Repr::Long | Repr::Walk => Expr::Long(0),
            Repr::Name => Expr::atom("(struct xl_name){ }"),
            Repr::View => literal_view(b""),
        })
    }
}

/// Whether the last call raised.
pub(super) fn raised() -> Expr {
    Expr::call("xl_raised", vec![context()])
}
