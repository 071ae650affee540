//! Lock sets: as few locks as possible, in the weakest mode, for the shortest span.
//!
//! Assumes that disciplines are chosen and that nothing runs later that adds accesses or moves them.
//! Globals that the same handlers use share one lock, named after the first. Handlers that run alone
//! take none. In every other handler, locks are taken all at once, as late as the first access or the
//! first effect with an access after it allows, never in a loop, and not at all on paths without
//! accesses; each is released after the last access that needs it, and an array that is emptied
//! behind a walk over it is emptied at once where that makes no difference. Guarantees the verifier's
//! rules.
//!
//! The span is computed by [`Plan`]: a lock is *needed* where an access that it guards can still
//! follow; a handler *holds* what is needed from the point where it must hold something on.

use std::collections::{BTreeMap, BTreeSet};

use xlate_ir::cfg::Cfg;
use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Block, Entity, Global, Handler, Inst};
use xlate_ir::instructions::{InstData, LockMode, Op, Terminator};
use xlate_ir::module::{Body, Module};
use xlate_ir::sharing::Sharing;
use xlate_ir::types::{Discipline, Pos};

use crate::accesses::Accesses;
use crate::concurrency::Concurrency;
use crate::early_clears;
use crate::manager::ModuleContext;
use crate::remarks::Log;

/// Locks by the global that they are named after.
type Locks = BTreeMap<Global, LockMode>;

/// Runs the pass.
pub(crate) fn run(cx: &mut ModuleContext<'_>) -> bool {
    let before = cx.module.clone();
    let summaries = Summaries::of(cx.module);
    let concurrency = Concurrency::of(cx.module);
    let sharing = Sharing::of(cx.module);
    share(cx.module, &summaries, &concurrency, cx.log);
    cx.module.retain_locks(|_| false);
    let handlers: Vec<Handler> = cx.module.handlers.iter().map(|(id, _)| id).collect();
    for handler in handlers {
        if !cx.module.is_exclusive(handler) {
            let mut body = std::mem::take(&mut cx.module.handlers[handler].body);
            let user =
                User { module: cx.module, summaries: &summaries, sharing: &sharing, handler };
            early_clears::run(cx.module, &summaries, &mut body, cx.log);
            place(&user, &mut body, cx.log);
            cx.module.handlers[handler].body = body;
        }
    }
    *cx.module != before
}

/// Has globals that the same concurrent handlers use share a lock.
fn share(module: &mut Module, summaries: &Summaries, concurrency: &Concurrency, log: &mut Log) {
    let accesses = Accesses::of(module, summaries);
    let mut leaders: BTreeMap<(bool, Vec<Handler>), Global> = BTreeMap::new();
    let locked: Vec<Global> = module.globals.iter().map(|(id, _)| id).collect();
    for global in locked {
        if module.lock_of(global).is_none() {
            continue;
        }
        let users: Vec<Handler> = accesses
            .to(global)
            .map(|(handler, _)| handler)
            .filter(|&handler| concurrency.is_concurrent(handler))
            .collect();
        let alone = users.is_empty();
        let sharded = module.globals[global].discipline.is_sharded();
        let leader = *leaders.entry((sharded, users)).or_insert(global);
        let own = leader == global || alone;
        module.globals[global].discipline = match (sharded, own) {
            (false, true) => Discipline::Locked,
            (true, true) => Discipline::ShardedLocked,
            (false, false) => Discipline::LockedWith(leader),
            (true, false) => Discipline::ShardedLockedWith(leader),
        };
        if own {
            continue;
        }
        let (name, other) = (&module.globals[global].name, &module.globals[leader].name);
        let message = format!("`{name}` shares the lock of `{other}`: the same handlers use both");
        log.applied(module.globals[global].pos, message);
    }
}

/// A handler that gets locks, and what is known of all.
#[derive(Clone, Copy)]
struct User<'a> {
    module: &'a Module,
    summaries: &'a Summaries,
    sharing: &'a Sharing,
    handler: Handler,
}

impl User<'_> {
    /// How an access wants a global's lock: of a sharded one, all accesses of a handler are alike.
    fn mode(&self, global: Global, writes: bool) -> LockMode {
        if self.module.globals[global].discipline.is_sharded() {
            return self.sharing.lock_mode(self.module, self.handler, global);
        }
        if writes { LockMode::Write } else { LockMode::Read }
    }
}

/// What is needed and held where, in one body without locks.
struct Plan<'a> {
    body: &'a Body,
    cfg: Cfg,
    /// By instruction: the locks that it needs.
    accesses: Vec<Locks>,
    /// By instruction: whether others can tell that it happened.
    observable: Vec<bool>,
    /// By block: locks that must be held at its end, whatever its instructions need.
    at_end: Vec<Locks>,
    /// By block: locks that an access after its start may need.
    need_in: Vec<Locks>,
    /// By block: locks that an access after its end may need.
    need_out: Vec<Locks>,
    /// By block: the first instruction before which something must be held, if the block is entered
    /// with nothing held; the number of instructions stands for the end of the block.
    must_hold: Vec<Option<usize>>,
    /// By block: whether what is needed is held at its start.
    held_in: Vec<bool>,
}

/// Adds locks to a set, the stronger mode of each.
fn join(locks: &mut Locks, more: &Locks) {
    for (&global, &mode) in more {
        let entry = locks.entry(global).or_insert(mode);
        *entry = (*entry).max(mode);
    }
}

impl<'a> Plan<'a> {
    fn new(user: &User<'_>, body: &'a Body) -> Self {
        let count = body.blocks.len();
        let mut plan = Plan {
            body,
            cfg: Cfg::of(body),
            accesses: vec![Locks::new(); body.insts.len()],
            observable: vec![false; body.insts.len()],
            at_end: vec![Locks::new(); count],
            need_in: vec![Locks::new(); count],
            need_out: vec![Locks::new(); count],
            must_hold: vec![None; count],
            held_in: vec![false; count],
        };
        for (_, inst) in body.iter_insts() {
            plan.find_access(user, inst);
        }
        plan.find_needs();
        plan.extend_to_catches();
        for &block in plan.cfg.reverse_postorder() {
            plan.must_hold[block.index()] = plan.first_that_must_hold(block);
        }
        plan.find_spans();
        plan
    }

    fn find_access(&mut self, user: &User<'_>, inst: Inst) {
        let effects = user.summaries.op(user.module, &self.body.insts[inst].op);
        let mut locks = Locks::new();
        for (globals, writes) in [(&effects.reads, false), (&effects.writes, true)] {
            for &global in globals {
                if let Some(lock) = user.module.lock_of(global) {
                    join(&mut locks, &Locks::from([(lock, user.mode(global, writes))]));
                }
            }
        }
        self.accesses[inst.index()] = locks;
        self.observable[inst.index()] = effects.is_observable();
    }

    /// Where an access can still follow: backwards over the graph, to a fixed point.
    fn find_needs(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for &block in self.cfg.reverse_postorder().iter().rev() {
                let mut need = Locks::new();
                for successor in self.cfg.successors(block) {
                    join(&mut need, &self.need_in[successor.index()]);
                }
                self.need_out[block.index()] = need;
                let need = self.need_before(block, 0);
                if need != self.need_in[block.index()] {
                    self.need_in[block.index()] = need;
                    changed = true;
                }
            }
        }
    }

    /// The locks that accesses from the `index`th instruction of a block on may need.
    fn need_before(&self, block: Block, index: usize) -> Locks {
        let mut need = self.need_out[block.index()].clone();
        join(&mut need, &self.at_end[block.index()]);
        for inst in &self.body.blocks[block].insts[index..] {
            join(&mut need, &self.accesses[inst.index()]);
        }
        need
    }

    /// [`Plan::need_before`] for all instructions of a block, and for its end.
    fn needs_inside(&self, block: Block) -> Vec<Locks> {
        let insts = &self.body.blocks[block].insts;
        let mut needs = vec![self.need_before(block, insts.len())];
        for inst in insts.iter().rev() {
            let mut need = needs[needs.len() - 1].clone();
            join(&mut need, &self.accesses[inst.index()]);
            needs.push(need);
        }
        needs.reverse();
        needs
    }

    /// Nothing can be placed on the edges to a block that begins with `caught`. So what is needed on
    /// one of them is made to be needed, and held, on all of them, up to and including the `caught`.
    fn extend_to_catches(&mut self) {
        let catches: Vec<(Block, Inst)> = self
            .cfg
            .reverse_postorder()
            .iter()
            .filter_map(|&block| Some((block, *self.body.blocks[block].insts.first()?)))
            .filter(|&(_, inst)| self.body.insts[inst].op == Op::Caught)
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for &(catch, caught) in &catches {
                let sources: Vec<Block> = self.cfg.predecessors(catch).to_vec();
                let mut union = self.accesses[caught.index()].clone();
                for &source in &sources {
                    join(&mut union, &self.need_at_raise(source));
                }
                changed |= self.raise_access(caught, &union);
                for source in sources {
                    match (
                        &self.body.blocks[source].terminator,
                        self.body.blocks[source].insts.last(),
                    ) {
                        (Terminator::Try(..), Some(&tried)) => {
                            changed |= self.raise_access(tried, &union);
                        }
                        _ => {
                            let at_end = &mut self.at_end[source.index()];
                            changed |= *at_end != union;
                            *at_end = union.clone();
                        }
                    }
                }
            }
            self.find_needs();
        }
    }

    fn raise_access(&mut self, inst: Inst, locks: &Locks) -> bool {
        let access = &mut self.accesses[inst.index()];
        let before = access.clone();
        join(access, locks);
        *access != before
    }

    /// What is needed at the point in a block from which an error leads to a catch.
    fn need_at_raise(&self, block: Block) -> Locks {
        let data = &self.body.blocks[block];
        let last = if matches!(data.terminator, Terminator::Try(..)) { 1 } else { 0 };
        self.need_before(block, data.insts.len().saturating_sub(last))
    }

    /// See [`Plan::must_hold`].
    fn first_that_must_hold(&self, block: Block) -> Option<usize> {
        let needs = self.needs_inside(block);
        let insts = &self.body.blocks[block].insts;
        let first = insts.iter().enumerate().position(|(index, inst)| {
            !self.accesses[inst.index()].is_empty()
                || (self.observable[inst.index()] && !needs[index + 1].is_empty())
        });
        first.or_else(|| (!self.at_end[block.index()].is_empty()).then_some(insts.len()))
    }

    fn holds_at_end(&self, block: Block) -> bool {
        !self.need_before(block, self.body.blocks[block].insts.len()).is_empty()
            && (self.held_in[block.index()] || self.must_hold[block.index()].is_some())
    }

    /// Where blocks are entered with what is needed held: where one predecessor holds it, so that the
    /// others take it on the edge, and all over a loop in which something must be held.
    fn find_spans(&mut self) {
        let components = self.cfg.components();
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &self.cfg.reverse_postorder().to_vec() {
                let needed = !self.need_in[block.index()].is_empty();
                let entered = self.cfg.predecessors(block).iter().any(|&p| self.holds_at_end(p));
                if needed && entered && !self.held_in[block.index()] {
                    self.held_in[block.index()] = true;
                    changed = true;
                }
            }
            for component in &components {
                let holds = |block: &Block| {
                    self.held_in[block.index()] || self.must_hold[block.index()].is_some()
                };
                if component.iter().any(holds) {
                    for block in component {
                        changed |= !std::mem::replace(&mut self.held_in[block.index()], true);
                    }
                }
            }
        }
    }

    /// What is held at the end of a block.
    fn held_out(&self, block: Block) -> BTreeSet<Global> {
        let data = &self.body.blocks[block];
        // What is needed no more after an instruction that may raise is released on the edges.
        let end = match data.terminator {
            Terminator::Try(..) => data.insts.len().saturating_sub(1),
            _ => data.insts.len(),
        };
        let held = self.held_in[block.index()]
            || self.must_hold[block.index()].is_some_and(|at| at <= end);
        if held { self.need_before(block, end).into_keys().collect() } else { BTreeSet::new() }
    }

    /// What is held at the start of a block.
    fn held_at_start(&self, block: Block) -> BTreeSet<Global> {
        if self.held_in[block.index()] {
            self.need_in[block.index()].keys().copied().collect()
        } else {
            BTreeSet::new()
        }
    }

    fn edits(&self) -> Edits {
        let mut edits = Edits::default();
        // One mode per lock and handler, so that releasing one needs no case distinction at run time.
        let mut modes = Locks::new();
        for (_, inst) in self.body.iter_insts() {
            join(&mut modes, &self.accesses[inst.index()]);
        }
        let acquire = |globals: BTreeSet<Global>| {
            Op::Lock(globals.into_iter().map(|global| (global, modes[&global])).collect())
        };
        for &block in self.cfg.reverse_postorder() {
            let start =
                if self.held_in[block.index()] { Some(0) } else { self.must_hold[block.index()] };
            if let Some(start) = start {
                self.edits_inside(block, start, acquire, &mut edits);
            }
            let held = self.held_out(block);
            for (index, &successor) in self.cfg.successors(block).iter().enumerate() {
                let wanted = self.held_at_start(successor);
                let released: Vec<Global> = held.difference(&wanted).copied().collect();
                let op = if !released.is_empty() {
                    Op::Unlock(released)
                } else if held.is_empty() && !wanted.is_empty() {
                    acquire(wanted)
                } else {
                    continue;
                };
                edits.on_edges.push(((block, index), op, self.pos_near(successor, 0)));
            }
        }
        edits
    }

    /// Edits inside of a block where something is held from an instruction on.
    fn edits_inside(
        &self,
        block: Block,
        start: usize,
        acquire: impl Fn(BTreeSet<Global>) -> Op,
        edits: &mut Edits,
    ) {
        let needs = self.needs_inside(block);
        let data = &self.body.blocks[block];
        if !self.held_in[block.index()] {
            let globals = needs[start].keys().copied().collect();
            edits.inside.push((block, start, acquire(globals), self.pos_near(block, start)));
        }
        // After an instruction that may raise there is no place in its block.
        let tried = usize::from(matches!(data.terminator, Terminator::Try(..)));
        for at in start..data.insts.len().saturating_sub(tried) {
            let done: Vec<Global> = needs[at]
                .keys()
                .filter(|lock| !needs[at + 1].contains_key(lock))
                .copied()
                .collect();
            if !done.is_empty() {
                edits.inside.push((block, at + 1, Op::Unlock(done), self.pos_of(data.insts[at])));
            }
        }
    }

    fn pos_of(&self, inst: Inst) -> Option<Pos> {
        self.body.insts[inst].pos
    }

    /// The position of the first instruction from a place on that has one, past jumps.
    fn pos_near(&self, mut block: Block, mut at: usize) -> Option<Pos> {
        let mut seen = BTreeSet::new();
        while seen.insert(block) {
            let rest = self.body.blocks[block].insts.get(at..).unwrap_or_default();
            if let Some(pos) = rest.iter().find_map(|&inst| self.pos_of(inst)) {
                return Some(pos);
            }
            let Terminator::Jump(next) = &self.body.blocks[block].terminator else { break };
            (block, at) = (next.block, 0);
        }
        None
    }
}

/// The locks to place.
#[derive(Default)]
struct Edits {
    /// Before this instruction of the block; in order within a block.
    inside: Vec<(Block, usize, Op, Option<Pos>)>,
    on_edges: Vec<((Block, usize), Op, Option<Pos>)>,
}

impl Edits {
    fn all(&self) -> impl Iterator<Item = (&Op, Option<Pos>)> {
        let inside = self.inside.iter().map(|(_, _, op, pos)| (op, *pos));
        inside.chain(self.on_edges.iter().map(|(_, op, pos)| (op, *pos)))
    }
}

/// What a handler takes, for a remark.
fn describe(module: &Module, locks: &[(Global, LockMode)]) -> String {
    let one = |&(global, mode): &(Global, LockMode)| {
        let data = &module.globals[global];
        let purpose = match (data.discipline.is_sharded(), mode) {
            (false, LockMode::Read) => "for reading",
            (false, LockMode::Write) => "for writing",
            (true, LockMode::Read) => "on its own CPU",
            (true, LockMode::Write) => "on all CPUs",
        };
        format!("`{}` {purpose}", data.name)
    };
    format!("the handler locks {}", locks.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// Places locks in the body of a handler that has none.
fn place(user: &User<'_>, body: &mut Body, log: &mut Log) {
    let plan = Plan::new(user, body);
    if plan.accesses.iter().all(Locks::is_empty) {
        return;
    }
    let edits = plan.edits();
    for (op, pos) in edits.all() {
        if let Op::Lock(locks) = op {
            log.analysis(pos, describe(user.module, locks));
        }
    }
    let predecessors: Vec<usize> =
        body.blocks.iter().map(|(block, _)| plan.cfg.predecessors(block).len()).collect();
    let inside = edits.inside.len();
    let on_edges = edits.on_edges.len();
    // Backwards, so that places stay right.
    for (block, at, op, pos) in edits.inside.into_iter().rev() {
        body.insert_inst(block, at, InstData { op, result: None, pos });
    }
    let mut on_edges_in_order = edits.on_edges;
    on_edges_in_order.sort_by_key(|((block, index), ..)| (*block, *index));
    for (edge, op, pos) in on_edges_in_order {
        let (block, at) = place_on_edge(body, edge, &predecessors);
        body.insert_inst(block, at, InstData { op, result: None, pos });
    }
    log.count("locks and unlocks placed", inside + on_edges);
}

/// A place in the code that only this edge passes; the edge is split if there is none.
fn place_on_edge(body: &mut Body, edge: (Block, usize), predecessors: &[usize]) -> (Block, usize) {
    let (from, index) = edge;
    let terminator = &body.blocks[from].terminator;
    if matches!(terminator, Terminator::Jump(_)) {
        return (from, body.blocks[from].insts.len());
    }
    let target = terminator.successors().nth(index).map(|call| call.block);
    match target {
        Some(target) if predecessors[target.index()] == 1 => (target, 0),
        _ => {
            let middle = body.split_edge(edge);
            body.layout.retain(|block| *block != middle);
            let at = body.layout.iter().position(|block| Some(*block) == target);
            body.layout.insert(at.unwrap_or(body.layout.len()), middle);
            (middle, 0)
        }
    }
}
