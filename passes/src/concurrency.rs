//! Which handlers can overlap.
//!
//! `begin`, `end` and `error` handlers run alone. A timer point other than `timer.profile` never
//! overlaps itself; everything else may overlap itself and everything else. The relation is one
//! between probe points and is asked about handlers here, so that a body that two timers share
//! overlaps itself.

use xlate_ir::entities::{Entity, Handler};
use xlate_ir::module::{Module, ProbeKind};

/// The overlap relation of the handlers of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Concurrency {
    /// By handler index: how many of its probe points can fire while others run.
    points: Vec<usize>,
    /// By handler index: whether one of its probe points can overlap itself.
    repeats: Vec<bool>,
}

impl Concurrency {
    /// The relation, from the probe table.
    pub fn of(module: &Module) -> Concurrency {
        let count = module.handlers.len();
        let mut concurrency = Concurrency { points: vec![0; count], repeats: vec![false; count] };
        for probe in module.probes.iter().filter(|probe| !probe.kind.is_exclusive()) {
            let handler = probe.handler.index();
            concurrency.points[handler] += 1;
            concurrency.repeats[handler] |= !matches!(probe.kind, ProbeKind::Timer { .. });
        }
        concurrency
    }

    /// Whether a handler can run while another does.
    pub fn is_concurrent(&self, handler: Handler) -> bool {
        self.points[handler.index()] > 0
    }

    /// Whether a run of one handler can overlap a run of the other; of the same one, another run.
    pub fn overlap(&self, a: Handler, b: Handler) -> bool {
        if a == b {
            return self.repeats[a.index()] || self.points[a.index()] > 1;
        }
        self.is_concurrent(a) && self.is_concurrent(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_decide_what_overlaps() {
        let text = "
probe begin(0) -> @h0
probe end(0) -> @h0
probe timer.ns(5) -> @h1
probe timer.ns(5) -> @h2
probe timer.ns(7) -> @h2
probe timer.profile -> @h3
probe kernel.trace(\"x\") -> @h4
probe begin(0) -> @h5
probe timer.ns(5) -> @h5
";
        let handlers: String =
            (0..6).map(|n| format!("handler @h{n} {{\nb0:\n  ret\n}}\n")).collect();
        let module = xlate_ir::text::parse(&format!("{text}{handlers}")).expect("a module");
        let concurrency = Concurrency::of(&module);
        let overlapping: Vec<String> = (0..6)
            .flat_map(|a| (a..6).map(move |b| (a, b)))
            .filter(|&(a, b)| concurrency.overlap(Handler::from_index(a), Handler::from_index(b)))
            .map(|(a, b)| format!("{a}{b}"))
            .collect();
        let expected = "12 13 14 15 22 23 24 25 33 34 35 44 45";
        assert_eq!(overlapping.join(" "), expected);
    }
}
