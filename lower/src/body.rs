//! The state of lowering one body, and what every construct needs from it.

use id_arena::Arena;
use xlate_elaborate::Span;
use xlate_elaborate::program::{self as typed, FunctionId, LocalId};
use xlate_ir::builder::{BodyBuilder, Variable};
use xlate_ir::entities::{Block, Value};
use xlate_ir::instructions::Op;
use xlate_ir::module::{Body, Module};
use xlate_ir::types::Type;

use crate::tables::Tables;
use crate::walks::read_off_walks;

/// The body of one handler or function while it is lowered.
pub(crate) struct BodyLowering<'m> {
    pub(crate) tables: &'m Tables<'m>,
    pub(crate) builder: BodyBuilder<'m>,
    /// For each local, its variable.
    variables: Vec<Variable>,
    pub(crate) owner: Owner,
    /// The loops around the current statement, the innermost last.
    pub(crate) loops: Vec<Loop>,
    /// The walks that a return has to end, the innermost last, and where their loops stand.
    pub(crate) walks: Vec<(Value, Span)>,
    /// The blocks that receive errors, the innermost last.
    catches: Vec<Block>,
}

/// What the body belongs to.
#[derive(Clone, Debug)]
pub(crate) enum Owner {
    /// A handler.
    Handler,
    /// A function.
    Function {
        /// Itself.
        id: FunctionId,
        /// Type of its result.
        result: Option<Type>,
        /// What it was called with.
        arguments: Vec<Value>,
        /// What a `next` goes on with.
        next: Option<FunctionId>,
    },
}

/// Where `break` and `continue` go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) exit: Block,
    pub(crate) again: Block,
}

/// Lowers the body of a handler, still without locks.
pub(crate) fn lower_handler(tables: &Tables, module: &Module, handler: &typed::Handler) -> Body {
    let mut lowering = BodyLowering::new(tables, BodyBuilder::new(module), Owner::Handler);
    lowering.declare_locals(&handler.locals);
    lowering.stmts(&handler.body);
    lowering.leave(None, handler.span);
    lowering.finish()
}

/// Lowers the body of a function.
pub(crate) fn lower_function(
    tables: &Tables,
    module: &Module,
    id: FunctionId,
    body: &[typed::Stmt],
) -> Body {
    let mut lowering = BodyLowering::of_function(tables, module, id);
    lowering.stmts(body);
    lowering.leave(None, tables.program.functions[id].span);
    lowering.finish()
}

/// Makes the body of a function whose C, now another function, may hand over to the next overload.
pub(crate) fn lower_handing_over(
    tables: &Tables,
    module: &Module,
    id: FunctionId,
    c: xlate_ir::entities::Function,
) -> Body {
    let span = tables.program.functions[id].span;
    let mut lowering = BodyLowering::of_function(tables, module, id);
    if let Owner::Function { arguments, .. } = lowering.owner.clone() {
        let result = lowering.push(Op::Call(c, arguments), span);
        lowering.hand_over_if_asked(result, span);
    }
    lowering.finish()
}

impl<'m> BodyLowering<'m> {
    /// Starts the body of a function.
    fn of_function(tables: &'m Tables<'m>, module: &'m Module, id: FunctionId) -> Self {
        let function = &tables.program.functions[id];
        let params = function.params.iter().map(|&param| {
            let local = &function.locals[param];
            (tables.ty(local.ty), Some(local.name.clone()))
        });
        let (builder, arguments) = BodyBuilder::for_function(module, params);
        let owner = Owner::Function {
            id,
            result: function.result.map(|ty| tables.ty(ty)),
            arguments: arguments.clone(),
            next: function.next_overload,
        };
        let mut lowering = BodyLowering::new(tables, builder, owner);
        lowering.declare_locals(&function.locals);
        for (&param, argument) in function.params.iter().zip(arguments) {
            lowering.define(param, argument);
        }
        lowering
    }

    fn new(tables: &'m Tables<'m>, builder: BodyBuilder<'m>, owner: Owner) -> Self {
        BodyLowering {
            tables,
            builder,
            variables: Vec::new(),
            owner,
            loops: Vec::new(),
            walks: Vec::new(),
            catches: Vec::new(),
        }
    }

    fn finish(self) -> Body {
        let mut body = self.builder.finish();
        read_off_walks(&mut body);
        body
    }

    fn declare_locals(&mut self, locals: &Arena<typed::Local>) {
        for (_, local) in locals {
            let ty = self.tables.ty(local.ty);
            self.variables.push(self.builder.declare(ty, Some(local.name.clone())));
        }
    }

    /// Gives a local a new value.
    pub(crate) fn define(&mut self, local: LocalId, value: Value) {
        self.builder.write(self.variables[local.index()], value);
    }

    /// The value of a local.
    pub(crate) fn read(&mut self, local: LocalId) -> Value {
        self.builder.read(self.variables[local.index()])
    }

    /// Adds an instruction; gives its result, if it has one. If it may raise and a `catch` of this
    /// body receives that, it ends its block.
    pub(crate) fn push(&mut self, op: Op, span: Span) -> Option<Value> {
        self.builder.set_pos(self.tables.position(span));
        self.builder.push(op)
    }

    /// Adds an instruction that has no result.
    pub(crate) fn act(&mut self, op: Op, span: Span) {
        self.push(op, span);
    }

    /// Adds an instruction that has a result.
    pub(crate) fn compute(&mut self, op: Op, span: Span) -> Value {
        self.builder.set_pos(self.tables.position(span));
        self.builder.value(op)
    }

    /// Raises an error with a message.
    pub(crate) fn raise(&mut self, message: Value, span: Span) {
        self.builder.set_pos(self.tables.position(span));
        self.builder.raise(message);
    }

    /// Runs `body` with `catch` receiving what it raises.
    pub(crate) fn watched(&mut self, catch: Block, body: impl FnOnce(&mut Self)) {
        self.catches.push(catch);
        self.builder.push_catch(catch);
        body(self);
        self.builder.pop_catch();
        self.catches.pop();
    }

    /// Runs `body` with what it raises leaving this function.
    pub(crate) fn unwatched<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        let catches = std::mem::take(&mut self.catches);
        for _ in &catches {
            self.builder.pop_catch();
        }
        let result = body(self);
        for &catch in &catches {
            self.builder.push_catch(catch);
        }
        self.catches = catches;
        result
    }

    /// An integer constant.
    pub(crate) fn long(&mut self, value: i64, span: Span) -> Value {
        self.builder.set_pos(self.tables.position(span));
        self.builder.long(value)
    }

    /// A string constant, cut to the longest string there can be.
    pub(crate) fn text(&mut self, bytes: &[u8], span: Span) -> Value {
        self.builder.set_pos(self.tables.position(span));
        self.builder.text(&bytes[..bytes.len().min(self.tables.longest as usize)])
    }

    /// Zero, or the empty string.
    pub(crate) fn default_of(&mut self, ty: Type, span: Span) -> Value {
        self.builder.set_pos(self.tables.position(span));
        if ty.is_str() { self.builder.text(b"") } else { self.builder.long(0) }
    }

    /// Seals a block and goes on at its start.
    pub(crate) fn enter(&mut self, block: Block) {
        self.builder.seal(block);
        self.builder.switch_to(block);
    }

    /// Goes to a block, if control gets here.
    pub(crate) fn jump(&mut self, block: Block) {
        if self.builder.is_open() {
            self.builder.jump(block);
        }
    }

    /// Ends the walks that are under way, the innermost first.
    pub(crate) fn end_walks(&mut self) {
        for index in (0..self.walks.len()).rev() {
            let (iter, span) = self.walks[index];
            self.act(Op::IterEnd(iter), span);
        }
    }

    /// Leaves the body, with this value if it gives one; with zero or the empty string if it gives
    /// one and there is none here.
    pub(crate) fn leave(&mut self, value: Option<Value>, span: Span) {
        if !self.builder.is_open() {
            return;
        }
        self.end_walks();
        let value = match self.owner {
            Owner::Function { result: Some(ty), .. } => {
                Some(value.unwrap_or_else(|| self.default_of(ty, span)))
            }
            _ => None,
        };
        self.builder.ret(value);
    }
}
