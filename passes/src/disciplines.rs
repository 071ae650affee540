//! Picks how accesses to each global are kept atomic: the cheapest discipline that keeps the contract.
//!
//! Assumes that the probe table is final: merging handlers later can make them overlap. Guarantees
//! that every global that stays *locked* has two accesses that can overlap, one of them a write, and
//! that no handler takes a lock that no global needs. The candidates stand in [`Choice::of`], cheapest
//! first; `xlate_ir::sharing` has the rules of *sharded* and *lone*.

use std::collections::BTreeSet;

use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Entity, Global, Handler};
use xlate_ir::instructions::{LockMode, Op, UpdateOp};
use xlate_ir::module::Module;
use xlate_ir::sharing::{Commutative, Described, Obstacle, Sharing, is_bare};
use xlate_ir::types::{Discipline, Pos};

use crate::accesses::{Access, Accesses};
use crate::concurrency::Concurrency;
use crate::manager::ModuleContext;
use crate::remarks::{Log, RemarkKind};
use crate::shard_sizes::Budget;

/// Runs the pass.
pub(crate) fn run(cx: &mut ModuleContext<'_>) -> bool {
    let summaries = Summaries::of(cx.module);
    let bare = bare_handlers(cx.module, &summaries);
    let chosen = {
        let facts = Facts {
            module: cx.module,
            accesses: &Accesses::of(cx.module, &summaries),
            concurrency: &Concurrency::of(cx.module),
            sharing: &Sharing::of(cx.module),
        };
        Choice::of(&facts, cx.log).new
    };
    let globals: Vec<Global> = cx.module.globals.iter().map(|(id, _)| id).collect();
    for (global, discipline) in globals.into_iter().zip(&chosen) {
        if let Some(discipline) = *discipline {
            cx.log.count(counter(discipline), 1);
            cx.module.globals[global].discipline = discipline;
        }
    }
    let has_lock: Vec<bool> =
        cx.module.globals.iter().map(|(id, _)| cx.module.lock_of(id).is_some()).collect();
    cx.module.retain_locks(|global| has_lock[global.index()]);
    take_all_shards(cx.module, &chosen);
    for handler in bare_handlers(cx.module, &summaries).difference(&bare) {
        let message = "the handler needs no guard against interruption: each of its updates is one \
                       instruction on memory of its CPU";
        cx.log.applied(cx.module.handlers[*handler].pos, message);
    }
    chosen.iter().any(Option::is_some)
}

fn bare_handlers(module: &Module, summaries: &Summaries) -> BTreeSet<Handler> {
    let handlers = module.handlers.iter().map(|(id, _)| id);
    handlers.filter(|&handler| is_bare(module, summaries, handler)).collect()
}

fn counter(discipline: Discipline) -> &'static str {
    match discipline {
        Discipline::Serial => "globals made serial",
        Discipline::Lone => "globals made lone",
        _ => "globals sharded",
    }
}

/// Has the locks of globals that are sharded now be taken whole: to weaken them is for lock sets.
fn take_all_shards(module: &mut Module, chosen: &[Option<Discipline>]) {
    let is_new = |global: Global| chosen[global.index()] == Some(Discipline::ShardedLocked);
    for body in module.bodies_mut() {
        for inst in body.iter_insts().map(|(_, inst)| inst).collect::<Vec<_>>() {
            if let Op::Lock(locks) = &mut body.insts[inst].op {
                for (_, mode) in locks.iter_mut().filter(|(global, _)| is_new(*global)) {
                    *mode = LockMode::Write;
                }
            }
        }
    }
}

/// What choices are made from.
pub(crate) struct Facts<'a> {
    pub(crate) module: &'a Module,
    pub(crate) accesses: &'a Accesses,
    pub(crate) concurrency: &'a Concurrency,
    pub(crate) sharing: &'a Sharing,
}

/// New disciplines, by global.
struct Choice<'a, 'b> {
    facts: &'b Facts<'a>,
    budget: Budget,
    new: Vec<Option<Discipline>>,
}

impl<'a, 'b> Choice<'a, 'b> {
    fn of(facts: &'b Facts<'a>, log: &mut Log) -> Self {
        let count = facts.module.globals.len();
        let mut choice = Choice { facts, budget: Budget::default(), new: vec![None; count] };
        let locked: Vec<Global> = (facts.module.globals.iter())
            .filter(|(_, data)| !data.discipline.is_sharded())
            .map(|(id, _)| id)
            .filter(|&global| facts.module.lock_of(global).is_some())
            .collect();
        choice.choose(&locked, |choice, global| {
            (conflict(choice.facts, global).is_none()).then_some(Discipline::Serial)
        });
        choice.choose(&locked, |choice, global| choice.sharded(global, false));
        choice.choose(&locked, |choice, global| choice.lone(global));
        choice.choose(&locked, |choice, global| choice.sharded(global, true));
        for global in locked {
            choice.explain(global, log);
        }
        choice
    }

    /// Gives a discipline to those that have none yet and that `pick` has one for.
    fn choose(
        &mut self,
        locked: &[Global],
        pick: impl Fn(&mut Self, Global) -> Option<Discipline>,
    ) {
        for &global in locked {
            if self.new[global.index()].is_none() {
                self.new[global.index()] = pick(self, global);
            }
        }
        // A lock that others share stays.
        for &global in locked {
            if let Some(leader) = self.facts.module.globals[global].discipline.leader()
                && self.new[global.index()].is_none()
            {
                self.new[leader.index()] = None;
            }
        }
    }

    /// Sharded, if it can be with or without locks and has a lock of its own if it must keep one.
    fn sharded(&mut self, global: Global, locked: bool) -> Option<Discipline> {
        let Facts { module, sharing, .. } = self.facts;
        let guarded = sharing.shardable(module, global).ok()?;
        let own = module.globals[global].discipline == Discipline::Locked;
        if guarded != locked
            || (locked && !own)
            || !self.budget.take(&module.globals[global], locked)
        {
            return None;
        }
        Some(if guarded { Discipline::ShardedLocked } else { Discipline::Sharded })
    }

    fn lone(&mut self, global: Global) -> Option<Discipline> {
        let is_ordered = |other: Global| match self.new[other.index()] {
            Some(new) => !matches!(new, Discipline::Serial | Discipline::Sharded),
            None => self.facts.module.is_ordered(other),
        };
        let lone = self.facts.sharing.lone(self.facts.module, global, is_ordered);
        lone.is_ok().then_some(Discipline::Lone)
    }

    fn explain(&self, global: Global, log: &mut Log) {
        let facts = self.facts;
        let data = &facts.module.globals[global];
        let name = &data.name;
        let message = match self.new[global.index()] {
            None => return log_conflict(facts, global, self.why_not_sharded(global), log),
            Some(Discipline::Serial) => {
                format!("`{name}` needs no lock: {}", why_serial(facts, global))
            }
            Some(Discipline::Lone) => format!(
                "`{name}` needs no lock: handlers touch it once, by one atomic operation, and \
                 nothing else that others see meanwhile"
            ),
            Some(discipline) => {
                let verb = verb(facts.sharing.shard_update(facts.module, global));
                let locks = match discipline {
                    Discipline::Sharded => "needs no lock",
                    _ => "only timers lock all of it",
                };
                format!("`{name}` is sharded and {locks}: handlers that can overlap only {verb}")
            }
        };
        log.applied(data.pos, message);
    }

    /// Why something that is updated is not sharded, if the conflict alone does not say.
    fn why_not_sharded(&self, global: Global) -> Option<String> {
        let Facts { module, sharing, .. } = self.facts;
        match sharing.shardable(module, global) {
            Ok(_) => Some("shards would take too much memory, or time to gather".to_owned()),
            Err(Obstacle::Handler(_) | Obstacle::Kind(_)) => None,
            Err(obstacle) => Some(Described(module, &obstacle).to_string()),
        }
    }
}

/// What an update does, for a remark.
fn verb(update: Option<Commutative>) -> &'static str {
    match update {
        Some(Commutative::Update(UpdateOp::Min)) => "take its minimum with a value",
        Some(Commutative::Update(UpdateOp::Max)) => "take its maximum with a value",
        Some(Commutative::Update(UpdateOp::Or)) => "set bits in it",
        _ => "add to it",
    }
}

pub(crate) type Party<'a> = (Handler, &'a Access);

/// Two accesses that can overlap, the first a write.
pub(crate) fn conflict<'a>(facts: &Facts<'a>, global: Global) -> Option<(Party<'a>, Party<'a>)> {
    let all: Vec<Party<'a>> = facts.accesses.to(global).collect();
    let pairs = || {
        let writers = all.iter().filter(|(_, access)| access.writes);
        let pairs = writers.flat_map(|writer| all.iter().map(move |other| (*writer, *other)));
        pairs.filter(|(a, b)| facts.concurrency.overlap(a.0, b.0))
    };
    // A handler's conflict with another is easier to understand than one with itself.
    pairs().find(|(a, b)| a.0 != b.0).or_else(|| pairs().next())
}

fn why_serial(facts: &Facts<'_>, global: Global) -> &'static str {
    let mut concurrent =
        facts.accesses.to(global).filter(|(handler, _)| facts.concurrency.is_concurrent(*handler));
    match (concurrent.next(), concurrent.next()) {
        (None, _) => "only handlers that run alone use it",
        (Some((_, access)), None) if access.writes => {
            "besides handlers that run alone, one timer uses it"
        }
        _ => "only handlers that run alone write it",
    }
}

fn log_conflict(facts: &Facts<'_>, global: Global, unsharded: Option<String>, log: &mut Log) {
    let data = &facts.module.globals[global];
    let Some((a, b)) = conflict(facts, global) else { return };
    let (first, second) = (point(facts.module, a.0), point(facts.module, b.0));
    let mut message = if a.0 == b.0 {
        format!("`{}` stays locked: {first} writes it and can overlap itself", data.name)
    } else {
        format!(
            "`{}` stays locked: {first} writes it and can overlap {second}, where it is {}",
            data.name,
            b.1.verb()
        )
    };
    if let Some(reason) = unsharded {
        message.push_str(&format!("; it is not sharded: {reason}"));
    }
    let mut related: Vec<(Pos, String)> = Vec::new();
    related
        .extend(b.1.at().filter(|_| a.0 != b.0).map(|pos| (pos, format!("{} here", b.1.verb()))));
    log.push(RemarkKind::Missed, a.1.at().or(data.pos), message, related);
}

/// A probe point of a handler, for remarks.
fn point(module: &Module, handler: Handler) -> String {
    let mut points = module.probes.iter().filter(|probe| probe.handler == handler);
    match (points.next(), points.count()) {
        (Some(first), 0) => format!("probe `{}`", first.name),
        (Some(first), more) => format!("probe `{}` (and {more} more)", first.name),
        (None, _) => format!("handler {handler}"),
    }
}
