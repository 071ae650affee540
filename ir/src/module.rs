//! The module: everything that one script becomes.

use crate::effects::Effects;
use crate::entities::{
    Block, Entity, EntityArena, File, Function, Global, Handler, Inst, Regex, Value,
};
use crate::instructions::{InstData, Op, Terminator};
use crate::types::{Const, GlobalData, Pos, Type};

/// What a script becomes: globals, functions, handlers, and the table of probe points.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Module {
    /// The scripts that positions refer to, by path as given.
    pub files: EntityArena<String, File>,
    /// The globals.
    pub globals: EntityArena<GlobalData, Global>,
    /// The functions.
    pub functions: EntityArena<FunctionData, Function>,
    /// The handlers.
    pub handlers: EntityArena<HandlerData, Handler>,
    /// The regular expressions, as written.
    pub regexes: EntityArena<Box<[u8]>, Regex>,
    /// The probe points, in script order.
    pub probes: Vec<ProbePoint>,
    /// C of the script to be emitted ahead of everything else (guru mode), as written.
    pub preamble: Vec<CText>,
    /// Limits that the emitted module keeps.
    pub limits: Limits,
}

/// C of the script, as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CText {
    /// The text between `%{` and `%}`.
    pub text: String,
    /// Where it stands.
    pub pos: Option<Pos>,
}

/// Limits, by the names of their `-D` macros in small letters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// MAXSTRINGLEN: bytes of a string, NUL included.
    pub max_string_len: u32,
    /// MAXMAPENTRIES: elements of an array that gives no size.
    pub max_map_entries: u32,
    /// MAXACTION: back edges and recursive calls of one run of a handler.
    pub max_action: u32,
    /// MAXACTION_INTERRUPTIBLE: the same for `begin`, `end` and `error`.
    pub max_action_interruptible: u32,
    /// MAXNESTING: depth of calls. `None`: from the call graph, plus 10 if recursive.
    pub max_nesting: Option<u32>,
    /// MAXERRORS: errors before the session ends.
    pub max_errors: u32,
    /// MAXSKIPPED: skipped handlers before the session ends.
    pub max_skipped: u32,
}

impl Limits {
    /// The most bytes that a string holds, NUL not counted.
    pub fn longest_string(&self) -> u32 {
        self.max_string_len.saturating_sub(1)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_string_len: 512,
            max_map_entries: 2048,
            max_action: 1000,
            max_action_interruptible: 10_000,
            max_nesting: None,
            max_errors: 0,
            max_skipped: 100,
        }
    }
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionData {
    /// Its name, unique in the module.
    pub name: String,
    /// Types of its parameters.
    pub params: Vec<Type>,
    /// Type of its result; `None` if it gives none.
    pub result: Option<Type>,
    /// What it does.
    pub code: FunctionCode,
    /// Positions in its body that stand for others: messages name those of the variant instead whose
    /// number the last argument is. Without repetition.
    pub places: Vec<Pos>,
    /// For each function that it does the work of, what its places stand for. Not empty if there are
    /// places.
    pub variants: Vec<Vec<Pos>>,
    /// Where it is declared.
    pub pos: Option<Pos>,
}

/// The code of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FunctionCode {
    /// A body. The entry block's parameters are the function's.
    Body(Body),
    /// C of the script or tapset, with what its pragmas say it does.
    C {
        /// The text between `%{` and `%}`.
        text: String,
        /// Names of the parameters, for `STAP_ARG_name`.
        names: Vec<String>,
        /// What it may do.
        effects: Effects,
    },
}

/// A probe handler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandlerData {
    /// Its body. The entry block has no parameters.
    pub body: Body,
    /// Types of the fields of the constant record that each of its probe points brings.
    pub record: Vec<Type>,
    /// Positions in its body that stand for others, which each of its probe points brings: messages
    /// name those instead. Without repetition.
    pub places: Vec<Pos>,
    /// Where its script text starts.
    pub pos: Option<Pos>,
}

/// A probe point and what it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbePoint {
    /// What fires it.
    pub kind: ProbeKind,
    /// The text of `pp()`.
    pub name: String,
    /// The text of `pn()`, the probe point as the script wrote it.
    pub written: String,
    /// The handler that it runs.
    pub handler: Handler,
    /// The constant record that it brings, of the handler's record types.
    pub record: Vec<Const>,
    /// The positions that messages name where the handler has those of its own list of places.
    pub places: Vec<Pos>,
    /// Whether it is left out without a message where it cannot be registered (`?`, `!`).
    pub optional: bool,
    /// Where it stands in the script.
    pub pos: Option<Pos>,
}

/// What fires a probe point.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ProbeKind {
    /// `begin(N)`: at the start, in order of N.
    Begin(i64),
    /// `end(N)`: at the end, in order of N, unless there was an error.
    End(i64),
    /// `error(N)`: at the end, in order of N, if there was an error.
    Error(i64),
    /// `never`: never; its handler is checked and dropped.
    Never,
    /// A timer.
    Timer {
        /// Its period.
        period: Period,
        /// Each period is longer or shorter by up to this much, evenly.
        randomize: u64,
    },
    /// `timer.profile`: on each CPU, at every kernel tick.
    Profile,
    /// `kernel.trace("NAME")`.
    Tracepoint(String),
    /// `kprobe.function("NAME")`: at the entry of a function.
    Kprobe(String),
    /// `kprobe.function("NAME").return`, with `maxactive` if given.
    Kretprobe(String, Option<u32>),
}

impl ProbeKind {
    /// Whether nothing else runs while its handler does.
    pub fn is_exclusive(&self) -> bool {
        use ProbeKind::{Begin, End, Error, Never};
        matches!(self, Begin(_) | End(_) | Error(_) | Never)
    }
}

/// The period of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Period {
    /// Kernel ticks.
    Jiffies(u64),
    /// Nanoseconds.
    Nanoseconds(u64),
}

/// The code of a handler or function: basic blocks in SSA form.
///
/// Two bodies are equal if what is reachable through the layout is: the same blocks in the same order
/// with the same instructions, types and names. What the arenas hold beside that does not count.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The values. Ones that no instruction or block defines any more are dead.
    pub values: EntityArena<ValueData, Value>,
    /// The instructions.
    pub insts: EntityArena<InstData, Inst>,
    /// The blocks.
    pub blocks: EntityArena<BlockData, Block>,
    /// The blocks that are part of the body, the entry first. No block jumps to the entry.
    pub layout: Vec<Block>,
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// The script's name for it, if it has one; a hint for readers of the C.
    pub name: Option<String>,
}

/// A basic block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockData {
    /// Its parameters.
    pub params: Vec<Value>,
    /// Its instructions, in order.
    pub insts: Vec<Inst>,
    /// How it ends.
    pub terminator: Terminator,
}

impl Body {
    /// The entry block.
    ///
    /// # Panics
    /// If the body has no blocks, which no finished body is.
    pub fn entry(&self) -> Block {
        self.layout[0]
    }

    /// Makes an empty block at the end of the layout; it ends in `Unreachable` until told otherwise.
    pub fn add_block(&mut self) -> Block {
        let block = self.blocks.alloc(BlockData {
            params: Vec::new(),
            insts: Vec::new(),
            terminator: Terminator::Unreachable,
        });
        self.layout.push(block);
        block
    }

    /// Makes a parameter of a block.
    pub fn add_param(&mut self, block: Block, ty: Type, name: Option<String>) -> Value {
        let value = self.values.alloc(ValueData { ty, name });
        self.blocks[block].params.push(value);
        value
    }

    /// Makes an instruction, with a result if `ty` is given, and puts it at the end of a block.
    pub fn push(
        &mut self,
        block: Block,
        op: Op,
        ty: Option<Type>,
        pos: Option<Pos>,
    ) -> Option<Value> {
        let result = ty.map(|ty| self.values.alloc(ValueData { ty, name: None }));
        let inst = self.insts.alloc(InstData { op, result, pos });
        self.blocks[block].insts.push(inst);
        result
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// The blocks in layout order, with their instructions.
    pub fn iter_insts(&self) -> impl Iterator<Item = (Block, Inst)> + '_ {
        self.layout
            .iter()
            .flat_map(|&block| self.blocks[block].insts.iter().map(move |&inst| (block, inst)))
    }

    /// For each value, the number of uses by instructions and terminators of the layout.
    pub fn use_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.values.len()];
        for &block in &self.layout {
            let data = &self.blocks[block];
            for &inst in &data.insts {
                self.insts[inst].op.for_each_operand(|v| counts[v.index()] += 1);
            }
            data.terminator.for_each_operand(|v| counts[v.index()] += 1);
        }
        counts
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Body) -> bool {
        let same_value = |&value: &Value| self.values[value] == other.values[value];
        let same_inst = |(&a, &b): (&Inst, &Inst)| {
            self.insts[a] == other.insts[b] && self.insts[a].result.iter().all(same_value)
        };
        let same_block = |&block: &Block| {
            let (a, b) = (&self.blocks[block], &other.blocks[block]);
            a.params == b.params
                && a.params.iter().all(same_value)
                && a.insts.len() == b.insts.len()
                && a.insts.iter().zip(&b.insts).all(same_inst)
                && a.terminator == b.terminator
        };
        self.layout == other.layout && self.layout.iter().all(same_block)
    }
}

impl Eq for Body {}
