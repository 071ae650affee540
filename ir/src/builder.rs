//! Builds bodies in SSA form from code with variables.
//!
//! M. Braun, S. Buchwald, S. Hack, R. Leißa, C. Mallon, A. Zwinkau, "Simple and Efficient
//! Construction of Static Single Assignment Form", 2013, with block parameters in place of φ
//! functions and a work list in place of recursion, so that long scripts need no deep stack.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::effects::may_raise;
use crate::entities::{Block, Entity, EntityArena, Global, Value};
use crate::instructions::{BlockCall, InstData, Op, Terminator};
use crate::module::{Body, Module};
use crate::types::{Const, Pos, Type};
use crate::typing::{Outcome, outcome};

/// A variable of the code being built: it may be written any number of times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(u32);

/// A block parameter that stands for a variable; its arguments are found once all edges are known.
struct Join {
    block: Block,
    variable: Variable,
    /// One per edge into the block, in order of the edges.
    args: Vec<Value>,
}

#[derive(Default)]
struct BlockState {
    /// Edges into the block, in the order in which they were made.
    edges: SmallVec<[(Block, usize); 2]>,
    /// Whether no more edges will come.
    sealed: bool,
    /// Whether its terminator has been set.
    filled: bool,
    /// Whether it has its place in the layout.
    placed: bool,
    /// Values of variables at the end of what has been built of it.
    current: FxHashMap<Variable, Value>,
    /// Joins whose arguments wait for the block to be sealed.
    waiting: Vec<usize>,
}

/// Builds one body.
///
/// Code after a terminator goes to a block that nothing reaches and that [`BodyBuilder::finish`]
/// drops, so that callers need not look out for it.
pub struct BodyBuilder<'m> {
    module: &'m Module,
    body: Body,
    states: Vec<BlockState>,
    variables: Vec<(Type, Option<String>)>,
    joins: Vec<Join>,
    /// The zero or empty string that a variable holds before it is written, made on demand.
    defaults: Vec<(Type, Value)>,
    walked: FxHashMap<Value, Global>,
    catches: Vec<Block>,
    current: Block,
    pos: Option<Pos>,
}

impl<'m> BodyBuilder<'m> {
    /// Starts the body of a handler. The module gives the signatures of globals and functions, so they
    /// must be declared in it first; bodies of functions need not be there yet.
    pub fn new(module: &'m Module) -> BodyBuilder<'m> {
        let mut builder = BodyBuilder {
            module,
            // Few bodies have fewer instructions; growing to so many takes three steps.
            body: Body {
                values: EntityArena::with_capacity(16),
                insts: EntityArena::with_capacity(16),
                ..Body::default()
            },
            states: Vec::new(),
            variables: Vec::new(),
            joins: Vec::new(),
            defaults: Vec::new(),
            walked: FxHashMap::default(),
            catches: Vec::new(),
            current: Block::from_index(0),
            pos: None,
        };
        let entry = builder.create_block();
        builder.seal(entry);
        builder.switch_to(entry);
        builder
    }

    /// Starts the body of a function: as [`BodyBuilder::new`], with the function's parameters as
    /// parameters of the entry block.
    pub fn for_function(
        module: &'m Module,
        params: impl IntoIterator<Item = (Type, Option<String>)>,
    ) -> (BodyBuilder<'m>, Vec<Value>) {
        let mut builder = BodyBuilder::new(module);
        let entry = builder.current;
        let params =
            params.into_iter().map(|(ty, name)| builder.body.add_param(entry, ty, name)).collect();
        (builder, params)
    }

    /// The module that the body is built for.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.body.type_of(value)
    }

    /// Sets the script position of the instructions to come.
    pub fn set_pos(&mut self, pos: Option<Pos>) {
        self.pos = pos;
    }

    /// The script position that instructions get.
    pub fn pos(&self) -> Option<Pos> {
        self.pos
    }

    // Blocks.

    /// Makes a block. It takes its place in the layout when first switched to.
    pub fn create_block(&mut self) -> Block {
        let block = self.body.add_block();
        self.body.layout.pop();
        self.states.push(BlockState::default());
        block
    }

    /// Gives a block a parameter of its own, beside those that variables get.
    /// All such parameters must be there before the first edge to the block.
    pub fn add_param(&mut self, block: Block, ty: Type, name: Option<String>) -> Value {
        debug_assert!(self.states[block.index()].edges.is_empty());
        self.body.add_param(block, ty, name)
    }

    /// Goes on at the end of a block that has no terminator yet.
    pub fn switch_to(&mut self, block: Block) {
        debug_assert!(!self.states[block.index()].filled, "internal error: {block} is finished");
        if !std::mem::replace(&mut self.states[block.index()].placed, true) {
            self.body.layout.push(block);
        }
        self.current = block;
    }

    /// The block that instructions go to.
    pub fn current(&self) -> Block {
        self.current
    }

    /// Whether code built now could be reached: false after a terminator, until the next
    /// [`BodyBuilder::switch_to`].
    pub fn is_open(&self) -> bool {
        let state = &self.states[self.current.index()];
        !state.filled
            && (self.current == self.body.entry() || !state.sealed || !state.edges.is_empty())
    }

    /// Says that all edges into a block have been made.
    pub fn seal(&mut self, block: Block) {
        let state = &mut self.states[block.index()];
        if !std::mem::replace(&mut state.sealed, true) {
            let waiting = std::mem::take(&mut state.waiting);
            self.fill_joins(waiting);
        }
    }

    // Variables.

    /// Makes a variable. For strings the type is the bound of everything ever written to it.
    pub fn declare(&mut self, ty: Type, name: Option<String>) -> Variable {
        self.variables.push((ty, name));
        Variable((self.variables.len() - 1) as u32)
    }

    /// Writes a variable.
    pub fn write(&mut self, variable: Variable, value: Value) {
        let name = &self.variables[variable.0 as usize].1;
        let data = &mut self.body.values[value];
        if data.name.is_none() {
            data.name = name.clone();
        }
        self.reopen();
        self.states[self.current.index()].current.insert(variable, value);
    }

    /// Reads a variable: zero or the empty string where it has not been written.
    pub fn read(&mut self, variable: Variable) -> Value {
        self.reopen();
        let mut work = Vec::new();
        let value = self.lookup(variable, self.current, &mut work);
        self.fill_joins(work);
        value
    }

    /// The value of a variable at the end of what has been built of a block. Joins that it makes and
    /// whose arguments are still to be found are added to `work`.
    fn lookup(&mut self, variable: Variable, from: Block, work: &mut Vec<usize>) -> Value {
        let mut passed = Vec::new();
        let mut block = from;
        let value = loop {
            let state = &self.states[block.index()];
            if let Some(&value) = state.current.get(&variable) {
                break value;
            }
            match state.edges[..] {
                [] if state.sealed => break self.default_value(variable),
                // Nothing reaches a chain that is a circle.
                [_] if passed.len() > self.states.len() => break self.default_value(variable),
                [(only, _)] if state.sealed => {
                    passed.push(block);
                    block = only;
                }
                _ => break self.join(variable, block, work),
            }
        };
        passed.push(block);
        for block in passed {
            self.states[block.index()].current.insert(variable, value);
        }
        value
    }

    /// Makes a block parameter for a variable.
    fn join(&mut self, variable: Variable, block: Block, work: &mut Vec<usize>) -> Value {
        let (ty, name) = self.variables[variable.0 as usize].clone();
        let value = self.body.add_param(block, ty, name);
        let state = &mut self.states[block.index()];
        state.current.insert(variable, value);
        let queue = if state.sealed { work } else { &mut state.waiting };
        queue.push(self.joins.len());
        self.joins.push(Join { block, variable, args: Vec::new() });
        value
    }

    /// Finds the arguments of joins whose blocks are sealed.
    fn fill_joins(&mut self, mut work: Vec<usize>) {
        while let Some(join) = work.pop() {
            let Join { block, variable, .. } = self.joins[join];
            for edge in 0..self.states[block.index()].edges.len() {
                let (from, _) = self.states[block.index()].edges[edge];
                let value = self.lookup(variable, from, &mut work);
                self.joins[join].args.push(value);
            }
        }
    }

    fn default_value(&mut self, variable: Variable) -> Value {
        let ty = self.variables[variable.0 as usize].0;
        let ty = if ty.is_str() { Type::Str(0) } else { ty };
        if let Some((_, value)) = self.defaults.iter().find(|(of, _)| *of == ty) {
            return *value;
        }
        let constant = if ty.is_str() { Const::Str(Box::default()) } else { Const::Long(0) };
        let entry = self.body.entry();
        let value = self.body.values.alloc(crate::module::ValueData { ty, name: None });
        let data = InstData { op: Op::Const(constant), result: Some(value), pos: None };
        self.body.insert_inst(entry, 0, data);
        self.defaults.push((ty, value));
        value
    }

    // Instructions.

    /// Adds an instruction; gives its result, if it has one. One that may raise inside of a
    /// [`BodyBuilder::push_catch`] ends the block, and building goes on in a new one.
    ///
    /// # Panics
    /// For operations whose result type is not determined by operands: use
    /// [`BodyBuilder::push_typed`].
    pub fn push(&mut self, op: Op) -> Option<Value> {
        let ty = match outcome(
            self.module,
            &op,
            |value| self.body.type_of(value),
            |iter| self.walked.get(&iter).copied(),
        ) {
            Outcome::Nothing => None,
            Outcome::Value(ty) => Some(ty),
            Outcome::Declared => panic!("internal error in lowering: {op:?} needs a result type"),
        };
        self.push_typed(op, ty)
    }

    /// Adds an instruction with a result of a given type; otherwise as [`BodyBuilder::push`].
    pub fn push_typed(&mut self, op: Op, ty: Option<Type>) -> Option<Value> {
        self.reopen();
        let raises = may_raise(self.module, &op);
        let walked = if let Op::IterBegin(spec) = &op { Some(spec.global) } else { None };
        let result = self.body.push(self.current, op, ty, self.pos);
        if let (Some(result), Some(global)) = (result, walked) {
            self.walked.insert(result, global);
        }
        if let Some(&catch) = self.catches.last().filter(|_| raises) {
            let next = self.create_block();
            self.terminate(Terminator::Try(BlockCall::plain(next), BlockCall::plain(catch)));
            self.seal(next);
            self.switch_to(next);
        }
        result
    }

    /// Adds an instruction that has a result.
    ///
    /// # Panics
    /// If it has none.
    pub fn value(&mut self, op: Op) -> Value {
        self.push(op).expect("internal error in lowering: an operation without a result")
    }

    /// An integer constant.
    pub fn long(&mut self, value: i64) -> Value {
        self.value(Op::Const(Const::Long(value)))
    }

    /// A string constant; it must not be longer than the limits allow.
    pub fn text(&mut self, bytes: &[u8]) -> Value {
        self.value(Op::Const(Const::Str(bytes.into())))
    }

    /// From here to [`BodyBuilder::pop_catch`], errors go to this block, which starts with
    /// [`Op::Caught`].
    pub fn push_catch(&mut self, block: Block) {
        self.catches.push(block);
    }

    /// Ends what [`BodyBuilder::push_catch`] began.
    pub fn pop_catch(&mut self) {
        self.catches.pop();
    }

    // Terminators.

    /// Goes to a block.
    pub fn jump(&mut self, block: Block) {
        self.jump_with(block, Vec::new());
    }

    /// Goes to a block that has parameters of its own.
    pub fn jump_with(&mut self, block: Block, args: Vec<Value>) {
        self.terminate(Terminator::Jump(BlockCall { block, args }));
    }

    /// Goes to `then` if the long is not zero, else to `other`.
    pub fn branch(&mut self, condition: Value, then: Block, other: Block) {
        let (then, other) = (BlockCall::plain(then), BlockCall::plain(other));
        self.terminate(Terminator::Branch(condition, then, other));
    }

    /// Ends the function or handler.
    pub fn ret(&mut self, value: Option<Value>) {
        self.terminate(Terminator::Return(value));
    }

    /// Raises an error, to the innermost catch if there is one.
    pub fn raise(&mut self, message: Value) {
        let catch = self.catches.last().map(|&block| BlockCall::plain(block));
        self.terminate(Terminator::Raise { message, catch, pos: self.pos });
    }

    /// Ends the current block.
    pub fn terminate(&mut self, terminator: Terminator) {
        self.reopen();
        let block = self.current;
        for (index, call) in terminator.successors().enumerate() {
            let state = &mut self.states[call.block.index()];
            debug_assert!(!state.sealed, "internal error: {} is sealed", call.block);
            state.edges.push((block, index));
        }
        self.states[block.index()].filled = true;
        self.body.blocks[block].terminator = terminator;
    }

    /// Has code after a terminator go to a block that nothing reaches.
    fn reopen(&mut self) {
        if self.states[self.current.index()].filled {
            let block = self.create_block();
            self.seal(block);
            self.switch_to(block);
        }
    }

    /// The finished body. All blocks are sealed; those that nothing reaches go, and so do parameters
    /// that are the same value on all edges.
    pub fn finish(mut self) -> Body {
        for index in 0..self.states.len() {
            self.seal(Block::from_index(index));
        }
        for Join { block, args, .. } in &self.joins {
            for (&(from, index), &value) in self.states[block.index()].edges.iter().zip(args) {
                let terminator = &mut self.body.blocks[from].terminator;
                if let Some(call) = terminator.successors_mut().nth(index) {
                    call.args.push(value);
                }
            }
        }
        self.body.remove_unreachable();
        self.body.remove_trivial_params();
        self.body
    }
}
