//! Calls of functions and of operations of the runtime.

use xlate_elaborate::Span;
use xlate_elaborate::program::{Expr, FunctionId};
use xlate_ir::entities::Value;
use xlate_ir::instructions::Op;

use crate::body::{BodyLowering, Owner};
use crate::tables::Callee;

impl BodyLowering<'_> {
    /// Calls a function. Gives its result, if it has one.
    pub(crate) fn call(
        &mut self,
        function: FunctionId,
        arguments: &[Expr],
        span: Span,
    ) -> Option<Value> {
        let arguments = arguments.iter().map(|argument| self.value(argument)).collect();
        self.call_with(function, arguments, span)
    }

    /// Calls a function in place of the current one, whose `catch`es do not see its errors.
    pub(crate) fn tail_call(
        &mut self,
        function: FunctionId,
        arguments: Vec<Value>,
        span: Span,
    ) -> Option<Value> {
        self.unwatched(|this| this.call_with(function, arguments, span))
    }

    fn call_with(
        &mut self,
        function: FunctionId,
        arguments: Vec<Value>,
        span: Span,
    ) -> Option<Value> {
        match self.tables.callee(function) {
            Callee::Intrinsic(intrinsic) => self.push(Op::Intrinsic(intrinsic, arguments), span),
            Callee::Error => {
                self.raise(arguments[0], span);
                None
            }
            Callee::Function(callee) => {
                if let Owner::Function { id, .. } = self.owner
                    && self.tables.calls.is_recursive(id, function)
                {
                    self.act(Op::Action, span);
                }
                self.push(Op::Call(callee, arguments), span)
            }
        }
    }
}
