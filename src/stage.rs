//! The five passes by number and name: which one is running, how long it took, and what is said if
//! one of them breaks.

use std::fmt;
use std::panic;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// One of the five passes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Stage {
    /// Pass 1: from text to the syntax tree.
    Parse = 1,
    /// Pass 2: names, probe points and types.
    Elaborate,
    /// Pass 3: IR, optimization, C.
    Translate,
    /// Pass 4: kbuild.
    Compile,
    /// Pass 5: load, run, unload.
    Run,
}

impl Stage {
    const ALL: [Stage; 5] =
        [Stage::Parse, Stage::Elaborate, Stage::Translate, Stage::Compile, Stage::Run];

    fn name(self) -> &'static str {
        match self {
            Stage::Parse => "parse",
            Stage::Elaborate => "elaborate",
            Stage::Translate => "translate",
            Stage::Compile => "compile",
            Stage::Run => "run",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pass {}", *self as u8)
    }
}

/// The number of the pass under way, 0 outside of all: for the panic hook.
static CURRENT: AtomicU8 = AtomicU8::new(0);

/// A pass under way.
#[derive(Debug)]
pub struct Running {
    stage: Stage,
    since: Instant,
}

impl Running {
    /// Begins a pass.
    pub fn start(stage: Stage) -> Self {
        CURRENT.store(stage as u8, Ordering::Relaxed);
        Running { stage, since: Instant::now() }
    }

    /// Ends it; gives the line that `-v` prints. `what` says in the past tense what was done.
    pub fn finish(self, what: &str) -> String {
        CURRENT.store(0, Ordering::Relaxed);
        format!("Pass {}: {what} in {} ms.", self.stage as u8, milliseconds(self.since.elapsed()))
    }
}

fn milliseconds(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 10.0 { format!("{ms:.1}") } else { format!("{ms:.0}") }
}

/// Has a panic reported as what it is: a defect of this program, in one of its passes.
pub fn report_panics() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        let number = CURRENT.load(Ordering::Relaxed);
        let stage = Stage::ALL.iter().find(|stage| **stage as u8 == number);
        let stage = stage.map(|stage| format!(" in {stage} ({})", stage.name()));
        eprintln!(
            "xlate: internal error{}: {message}{}\n\
             This is a defect of xlate {}, not of the script. Please report it, with the script and \
             the command line.",
            stage.unwrap_or_default(),
            place.unwrap_or_default(),
            env!("CARGO_PKG_VERSION"),
        );
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_pass_says_its_number_and_time() {
        let line = Running::start(Stage::Translate).finish("translated");
        assert!(line.starts_with("Pass 3: translated in ") && line.ends_with(" ms."), "{line}");
    }

    #[test]
    fn short_times_have_a_fraction() {
        assert_eq!(milliseconds(Duration::from_micros(1260)), "1.3");
        assert_eq!(milliseconds(Duration::from_micros(12_600)), "13");
    }
}
