//! Picks how accesses to each global are kept atomic: the cheapest discipline that keeps the contract.
//!
//! Assumes that the probe table is final: merging handlers later can make them overlap. Guarantees
//! that every global that stays *locked* has two accesses that can overlap, one of them a write, and
//! that no handler takes a lock that no global needs. The candidates stand in [`choose`], cheapest
//! first.

use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Entity, Global, Handler};
use xlate_ir::module::Module;
use xlate_ir::types::{Discipline, Pos};

use crate::accesses::{Access, Accesses};
use crate::concurrency::Concurrency;
use crate::manager::ModuleContext;
use crate::remarks::{Log, RemarkKind};

/// Runs the pass.
pub(crate) fn run(cx: &mut ModuleContext<'_>) -> bool {
    let summaries = Summaries::of(cx.module);
    let accesses = Accesses::of(cx.module, &summaries);
    let concurrency = Concurrency::of(cx.module);
    let globals: Vec<Global> = cx.module.globals.iter().map(|(id, _)| id).collect();
    let mut serial = vec![false; globals.len()];
    for &global in &globals {
        if cx.module.lock_of(global).is_none() {
            continue;
        }
        let facts =
            Facts { module: cx.module, accesses: &accesses, concurrency: &concurrency, global };
        serial[global.index()] = choose(&facts, cx.log) == Discipline::Serial;
    }
    keep_shared(cx.module, &mut serial);
    let chosen = serial.iter().filter(|serial| **serial).count();
    if chosen == 0 {
        return false;
    }
    cx.log.count("globals made serial", chosen);
    for &global in globals.iter().filter(|global| serial[global.index()]) {
        cx.module.globals[global].discipline = Discipline::Serial;
    }
    cx.module.retain_locks(|global| !serial[global.index()]);
    true
}

/// What a choice is made from.
struct Facts<'a> {
    module: &'a Module,
    accesses: &'a Accesses,
    concurrency: &'a Concurrency,
    global: Global,
}

/// The cheapest discipline for a global.
fn choose(facts: &Facts<'_>, log: &mut Log) -> Discipline {
    let data = &facts.module.globals[facts.global];
    match conflict(facts) {
        None => {
            let message = format!("`{}` needs no lock: {}", data.name, why_serial(facts));
            log.applied(data.pos, message);
            Discipline::Serial
        }
        Some((a, b)) => {
            log_conflict(facts, a, b, log);
            data.discipline
        }
    }
}

type Party<'a> = (Handler, &'a Access);

/// Two accesses that can overlap, the first a write.
fn conflict<'a>(facts: &Facts<'a>) -> Option<(Party<'a>, Party<'a>)> {
    let all: Vec<Party<'a>> = facts.accesses.to(facts.global).collect();
    let pairs = || {
        let writers = all.iter().filter(|(_, access)| access.writes);
        let pairs = writers.flat_map(|writer| all.iter().map(move |other| (*writer, *other)));
        pairs.filter(|(a, b)| facts.concurrency.overlap(a.0, b.0))
    };
    // A handler's conflict with another is easier to understand than one with itself.
    pairs().find(|(a, b)| a.0 != b.0).or_else(|| pairs().next())
}

fn why_serial(facts: &Facts<'_>) -> &'static str {
    let mut concurrent = facts
        .accesses
        .to(facts.global)
        .filter(|(handler, _)| facts.concurrency.is_concurrent(*handler));
    match (concurrent.next(), concurrent.next()) {
        (None, _) => "only handlers that run alone use it",
        (Some((_, access)), None) if access.writes => {
            "besides handlers that run alone, one timer uses it"
        }
        _ => "only handlers that run alone write it",
    }
}

fn log_conflict(facts: &Facts<'_>, a: Party<'_>, b: Party<'_>, log: &mut Log) {
    let data = &facts.module.globals[facts.global];
    let (first, second) = (point(facts.module, a.0), point(facts.module, b.0));
    let message = if a.0 == b.0 {
        format!("`{}` stays locked: {first} writes it and can overlap itself", data.name)
    } else {
        format!(
            "`{}` stays locked: {first} writes it and can overlap {second}, where it is {}",
            data.name,
            b.1.verb()
        )
    };
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

/// Keeps the locks that others share.
fn keep_shared(module: &Module, serial: &mut [bool]) {
    for (global, data) in module.globals.iter() {
        if let Discipline::LockedWith(leader) = data.discipline
            && !serial[global.index()]
        {
            serial[leader.index()] = false;
        }
    }
}
