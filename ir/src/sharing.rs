//! Who does what to a global, as far as the disciplines *lone* and *sharded* ask.
//!
//! The rules of both stand here, once: the verifier checks what the passes decide by them, and the
//! back end asks on which *side* of a sharded global a body is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::cfg::Cfg;
use crate::effects::{Summaries, call_components, callees};
use crate::entities::{Block, Entity, Function, Global, Handler};
use crate::instructions::{LockMode, Op, Terminator, UpdateOp};
use crate::intrinsics::Intrinsic;
use crate::module::{Body, FunctionCode, Module, ProbeKind};
use crate::types::{Discipline, ElementType};

/// An update that may be done in any order, and whose result nobody sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Commutative {
    /// `update`.
    Update(UpdateOp),
    /// `stat.add`.
    Stat,
}

/// What some code does to a global, callees included.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Touch {
    /// Its updates, by kind.
    pub updates: BTreeSet<Commutative>,
    /// Whether it does anything else: reads, assigns, deletes, walks.
    pub other: bool,
    /// Whether a `catch` receives an error of one of these.
    pub caught: bool,
    /// Whether C of the script does something.
    pub foreign: bool,
}

/// What some code does to globals.
pub type Touches = BTreeMap<Global, Touch>;

/// Which storage of a sharded global a body works on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// What has been gathered from all CPUs.
    Home,
    /// The shard of its own CPU.
    Shard,
}

/// Why a global cannot be sharded or lone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// It is of a kind that cannot be; the words say which.
    Kind(&'static str),
    /// A handler that can run any time does more than update it.
    Handler(Handler),
    /// One handler updates it both alone and beside others.
    Alone(Handler),
    /// There are updates of more than one kind.
    Updates,
    /// A `catch` could tell when the array is full.
    Caught,
    /// A function touches it that is C or that handlers of both sides call, or, if lone, any.
    Function(Function),
    /// A handler also uses this other global, which is shared.
    Other(Handler, Global),
    /// A handler may touch it more than once.
    Twice(Handler),
}

/// Names what stands in the way, as the end of a sentence about the global.
pub struct Described<'a>(pub &'a Module, pub &'a Obstacle);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Described(module, obstacle) = *self;
        let point = |handler: Handler| {
            let found = module.probes.iter().find(|point| point.handler == handler);
            found.map_or_else(|| format!("handler {handler}"), |p| format!("probe `{}`", p.name))
        };
        match obstacle {
            Obstacle::Kind(words) => f.write_str(words),
            Obstacle::Handler(handler) => {
                write!(f, "{} does more than update it", point(*handler))
            }
            Obstacle::Alone(handler) => {
                write!(f, "{} updates it both alone and beside others", point(*handler))
            }
            Obstacle::Updates => f.write_str("its updates do not commute"),
            Obstacle::Caught => f.write_str("a `catch` could tell when it is full"),
            Obstacle::Function(function) => {
                write!(f, "function `{}` touches it", module.functions[*function].name)
            }
            Obstacle::Other(handler, global) => {
                write!(f, "{} also uses `{}`", point(*handler), module.globals[*global].name)
            }
            Obstacle::Twice(handler) => {
                write!(f, "{} may touch it more than once", point(*handler))
            }
        }
    }
}

/// What all handlers and functions of a module do to its globals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sharing {
    handlers: Vec<Touches>,
    functions: Vec<Touches>,
    /// By function: the handlers that may come to call it.
    callers: Vec<BTreeSet<Handler>>,
}

fn join(into: &mut Touches, more: &Touches, caught: bool) {
    for (&global, touch) in more {
        let entry = into.entry(global).or_default();
        entry.updates.extend(touch.updates.iter().copied());
        entry.other |= touch.other;
        entry.caught |= touch.caught || caught;
        entry.foreign |= touch.foreign;
    }
}

impl Sharing {
    /// Finds it all, over the call graph to a fixed point.
    pub fn of(module: &Module) -> Sharing {
        let mut sharing = Sharing {
            handlers: Vec::new(),
            functions: vec![Touches::new(); module.functions.len()],
            callers: vec![BTreeSet::new(); module.functions.len()],
        };
        for component in call_components(module) {
            let mut changed = true;
            while changed {
                changed = false;
                for &function in &component.functions {
                    let touches = match &module.functions[function].code {
                        FunctionCode::Body(body) => sharing.body(body),
                        FunctionCode::C { effects, .. } => {
                            let touch = Touch { other: true, foreign: true, ..Touch::default() };
                            let globals = effects.reads.union(&effects.writes);
                            globals.into_iter().map(|global| (global, touch.clone())).collect()
                        }
                    };
                    changed |= touches != sharing.functions[function.index()];
                    sharing.functions[function.index()] = touches;
                }
            }
        }
        for (handler, data) in module.handlers.iter() {
            let touches = sharing.body(&data.body);
            sharing.handlers.push(touches);
            let mut work: Vec<Function> = callees(&data.body).into_iter().collect();
            while let Some(function) = work.pop() {
                if sharing.callers[function.index()].insert(handler)
                    && let FunctionCode::Body(body) = &module.functions[function].code
                {
                    work.extend(callees(body));
                }
            }
        }
        sharing
    }

    /// What a body does, with what is known of its callees.
    fn body(&self, body: &Body) -> Touches {
        let mut all = Touches::new();
        for &block in &body.layout {
            let data = &body.blocks[block];
            for (index, &inst) in data.insts.iter().enumerate() {
                let last = index + 1 == data.insts.len();
                let caught = last && matches!(data.terminator, Terminator::Try(..));
                join(&mut all, &self.op(&body.insts[inst].op), caught);
            }
        }
        all
    }

    /// What an operation does.
    fn op(&self, op: &Op) -> Touches {
        let update = match op {
            Op::Update(op, ..) => Some(Commutative::Update(*op)),
            Op::StatAdd(..) => Some(Commutative::Stat),
            Op::Call(function, _) => {
                return self.functions.get(function.index()).cloned().unwrap_or_default();
            }
            _ => None,
        };
        let touch = Touch {
            updates: update.into_iter().collect(),
            other: update.is_none(),
            ..Touch::default()
        };
        op.global().map(|global| (global, touch)).into_iter().collect()
    }

    /// What a handler does.
    pub fn handler(&self, handler: Handler) -> &Touches {
        &self.handlers[handler.index()]
    }

    /// What a function does.
    pub fn function(&self, function: Function) -> &Touches {
        &self.functions[function.index()]
    }

    /// The handlers that touch a global, with what each does, in order.
    pub fn to(&self, global: Global) -> impl Iterator<Item = (Handler, &Touch)> {
        self.handlers.iter().enumerate().filter_map(move |(index, touches)| {
            touches.get(&global).map(|touch| (Handler::from_index(index), touch))
        })
    }

    /// The side of a sharded global that a handler is on: a handler that runs alone is at home, and
    /// so is a timer's that does more than update it.
    pub fn side(&self, module: &Module, handler: Handler, global: Global) -> Side {
        let updates = self.handler(handler).get(&global).is_some_and(|touch| !touch.other);
        if updates && is_concurrent(module, handler) { Side::Shard } else { Side::Home }
    }

    /// How a handler takes the locks of a sharded global.
    pub fn lock_mode(&self, module: &Module, handler: Handler, global: Global) -> LockMode {
        match self.side(module, handler, global) {
            Side::Shard => LockMode::Read,
            Side::Home => LockMode::Write,
        }
    }

    /// The side that a function is on, which is that of the handlers that call it.
    pub fn function_side(&self, module: &Module, function: Function, global: Global) -> Side {
        let callers = self.callers[function.index()].iter();
        let sides = callers.map(|&handler| self.side(module, handler, global));
        sides.max().unwrap_or(Side::Home)
    }

    /// Whether a global may be sharded; if so, whether its updates need a lock, because timers do more
    /// than update it.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn shardable(&self, module: &Module, global: Global) -> Result<bool, Obstacle> {
        let data = &module.globals[global];
        if data.wrap {
            return Err(Obstacle::Kind("it gives up its oldest element"));
        }
        if matches!(data.element, ElementType::Str(_)) {
            return Err(Obstacle::Kind("strings do not add up"));
        }
        let mut updates = BTreeSet::new();
        let mut guarded = false;
        for (handler, touch) in self.to(global) {
            if data.is_array() && touch.caught {
                return Err(Obstacle::Caught);
            }
            if !is_concurrent(module, handler) {
                continue;
            }
            if touch.other {
                if !is_timer(module, handler) {
                    return Err(Obstacle::Handler(handler));
                }
                guarded = true;
                continue;
            }
            if module.probes.iter().any(|p| p.handler == handler && p.kind.is_exclusive()) {
                return Err(Obstacle::Alone(handler));
            }
            updates.extend(touch.updates.iter().copied());
        }
        let elements = |op| matches!(op, Commutative::Update(UpdateOp::Min | UpdateOp::Max));
        if updates.is_empty() {
            return Err(Obstacle::Kind("nothing updates it"));
        }
        if updates.len() > 1 {
            return Err(Obstacle::Updates);
        }
        if data.is_array() && updates.iter().copied().any(elements) {
            return Err(Obstacle::Kind("an element that is not there counts as 0"));
        }
        self.one_side_each(module, global)?;
        Ok(guarded)
    }

    fn one_side_each(&self, module: &Module, global: Global) -> Result<(), Obstacle> {
        for (function, _) in module.functions.iter() {
            let Some(touch) = self.functions[function.index()].get(&global) else { continue };
            let callers = self.callers[function.index()].iter();
            let sides: BTreeSet<Side> =
                callers.map(|&handler| self.side(module, handler, global)).collect();
            if touch.foreign || sides.len() > 1 {
                return Err(Obstacle::Function(function));
            }
        }
        Ok(())
    }

    /// The one kind of update that a sharded global gets beside others.
    pub fn shard_update(&self, module: &Module, global: Global) -> Option<Commutative> {
        self.to(global)
            .filter(|(handler, touch)| !touch.other && is_concurrent(module, *handler))
            .find_map(|(_, touch)| touch.updates.first().copied())
    }

    /// Whether a global may be lone, if those for which `is_ordered` holds, of the others, are ones
    /// whose accesses other handlers can order (those without a lock or with a shard only cannot).
    ///
    /// # Errors
    /// What stands in the way.
    pub fn lone(
        &self,
        module: &Module,
        global: Global,
        is_ordered: impl Fn(Global) -> bool,
    ) -> Result<(), Obstacle> {
        let data = &module.globals[global];
        if data.is_array() || data.element != ElementType::Long {
            return Err(Obstacle::Kind("it is not one integer"));
        }
        let touched = |(function, _): &(Function, _)| {
            self.functions[Entity::index(*function)].contains_key(&global)
        };
        if let Some((function, _)) = module.functions.iter().find(touched) {
            return Err(Obstacle::Function(function));
        }
        for (handler, _) in self.to(global).filter(|(handler, _)| is_concurrent(module, *handler)) {
            let others = self.handler(handler).keys().copied();
            if let Some(other) = others.filter(|&other| other != global).find(|&g| is_ordered(g)) {
                return Err(Obstacle::Other(handler, other));
            }
            if !touches_once(&module.handlers[handler].body, global) {
                return Err(Obstacle::Twice(handler));
            }
        }
        Ok(())
    }
}

/// Whether one of a handler's probe points can fire while others run.
pub fn is_concurrent(module: &Module, handler: Handler) -> bool {
    module.probes.iter().any(|point| point.handler == handler && !point.kind.is_exclusive())
}

/// Whether those are all timers, of which there is one for the whole machine.
fn is_timer(module: &Module, handler: Handler) -> bool {
    let mut points = module.probes.iter().filter(|point| point.handler == handler);
    points.all(|p| p.kind.is_exclusive() || matches!(p.kind, ProbeKind::Timer { .. }))
}

/// Whether every path through a body passes at most one access to a global.
pub fn touches_once(body: &Body, global: Global) -> bool {
    let cfg = Cfg::of(body);
    let count = |block: Block| {
        let insts = &body.blocks[block].insts;
        insts.iter().filter(|&&inst| body.insts[inst].op.global() == Some(global)).count()
    };
    let mut seen = vec![false; body.blocks.len()];
    let mut work: Vec<Block> = Vec::new();
    for &block in cfg.reverse_postorder() {
        match count(block) {
            0 => {}
            1 => work.extend(cfg.successors(block)),
            _ => return false,
        }
    }
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        if count(block) > 0 {
            return false;
        }
        work.extend(cfg.successors(block));
    }
    true
}

/// Whether a handler may run even while another has its CPU: all that it does to anything but its own
/// variables is to update sharded integers, by one instruction each, which nothing can interrupt. It
/// neither raises nor prints, and needs no room for strings.
pub fn is_bare(module: &Module, summaries: &Summaries, handler: Handler) -> bool {
    let body = &module.handlers[handler].body;
    is_concurrent(module, handler)
        && body
            .layout
            .iter()
            .all(|&block| !matches!(body.blocks[block].terminator, Terminator::Raise { .. }))
        && body.iter_insts().all(|(_, inst)| {
            let op = &body.insts[inst].op;
            is_instruction(module, op) || is_plain(module, summaries, op)
        })
}

/// Whether an operation is one instruction on this CPU's own memory.
fn is_instruction(module: &Module, op: &Op) -> bool {
    match op {
        Op::Update(UpdateOp::Add | UpdateOp::Or, place, _) => {
            place.keys.is_empty() && module.globals[place.global].discipline == Discipline::Sharded
        }
        _ => false,
    }
}

/// Whether an operation only computes, and needs nothing of the context of the CPU for it.
fn is_plain(module: &Module, summaries: &Summaries, op: &Op) -> bool {
    let known = match op {
        Op::Const(_) | Op::Record(_) | Op::Unary(..) | Op::Binary(..) | Op::Compare(..) => true,
        Op::Intrinsic(intrinsic, _) => matches!(
            intrinsic,
            Intrinsic::Pid
                | Intrinsic::Tid
                | Intrinsic::Uid
                | Intrinsic::Euid
                | Intrinsic::Gid
                | Intrinsic::Egid
                | Intrinsic::Execname
                | Intrinsic::Cpu
                | Intrinsic::Target
        ),
        Op::Load(place) => {
            place.keys.is_empty()
                && module.globals[place.global].element == ElementType::Long
                && module.globals[place.global].discipline == Discipline::Serial
        }
        _ => false,
    };
    let effects = summaries.op(module, op);
    known && !effects.raises && !effects.aborts && !effects.is_observable()
}
