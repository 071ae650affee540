//! Runs passes: in order, timed, counted, watched and verified.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use xlate_ir::cfg::Graph;
use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Function, Handler};
use xlate_ir::module::{Body, FunctionCode, Module};
use xlate_ir::verifier::{VerifierError, verify};

use crate::changes::Changes;
use crate::pipeline::{Pipeline, Step};
use crate::registry::{PASSES, Pass, Run};
use crate::remarks::{Log, Remark};

/// Whose body a pass works on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Owner {
    /// A function.
    Function(Function),
    /// A handler.
    Handler(Handler),
}

/// What a pass over one body works with.
pub struct BodyContext<'a> {
    /// The module; the body at hand is taken out of it.
    pub module: &'a Module,
    /// Effects of all functions.
    pub summaries: &'a Summaries,
    /// The body.
    pub body: &'a mut Body,
    /// Whose body it is.
    pub owner: Owner,
    /// What others have changed since the pass has last run on it; all kinds if it has not.
    pub since: Changes,
    /// The graph of the body when it was last asked for.
    graph: &'a mut Option<Rc<Graph>>,
    /// Where remarks and counters go.
    pub log: &'a mut Log,
}

impl BodyContext<'_> {
    /// The graph of the body as it is: the last one if no edge has changed since.
    pub fn graph(&mut self) -> Rc<Graph> {
        let known = self.graph.take().filter(|graph| graph.is_of(self.body));
        self.graph.insert(known.unwrap_or_else(|| Rc::new(Graph::of(self.body)))).clone()
    }
}

/// What a pass over a module works with.
pub struct ModuleContext<'a> {
    /// The module.
    pub module: &'a mut Module,
    /// Where remarks and counters go.
    pub log: &'a mut Log,
}

/// How passes are run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Verify the module after every pass that changed it.
    pub verify_each: bool,
    /// Run no more than this many steps, where a step is one pass on one body or, for a pass over the
    /// module, on the module. Passes that come later are skipped.
    pub bisect_limit: Option<u64>,
    /// Keep what passes say, and not only what they count.
    pub remarks: bool,
    /// Run passes wherever anything has changed, and not only where something wakes them, and have
    /// them look at everything.
    pub always_awake: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            verify_each: cfg!(debug_assertions),
            bisect_limit: None,
            remarks: true,
            always_awake: false,
        }
    }
}

/// Watches passes at work, for `--print-before` and its kind.
pub trait Observer {
    /// Called before a pass runs.
    fn before(&mut self, _pass: &Pass, _module: &Module) {}
    /// Called after a pass has run, with whether it changed anything.
    fn after(&mut self, _pass: &Pass, _module: &Module, _changed: bool) {}
}

/// Watches nothing.
pub struct NoObserver;

impl Observer for NoObserver {}

/// One step that `bisect_limit` counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BisectStep {
    /// The pass.
    pub pass: &'static str,
    /// What it ran on: `handler @h0`, `function @f`, `module`.
    pub target: String,
    /// Whether it ran: the limit was not reached.
    pub ran: bool,
}

/// What came out of a run, the module aside.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What the passes say, in order.
    pub remarks: Vec<Remark>,
    /// Counters by pass and name.
    pub statistics: BTreeMap<(&'static str, &'static str), u64>,
    /// Time in each pass, in order of first run, with the number of runs.
    pub times: Vec<(&'static str, Duration, u32)>,
    /// The steps that `bisect_limit` counts; recorded if there is a limit.
    pub bisect: Vec<BisectStep>,
}

/// A pass that left a module which breaks the rules: an internal error.
#[derive(Clone, Debug)]
pub struct PassError {
    /// The pass; `None` if the module was wrong before any pass.
    pub pass: Option<&'static str>,
    /// The rules that are broken.
    pub errors: Vec<VerifierError>,
}

impl fmt::Display for PassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pass {
            Some(pass) => write!(f, "internal error: after pass `{pass}` the IR is wrong:")?,
            None => write!(f, "internal error: before any pass the IR is wrong:")?,
        }
        self.errors.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl std::error::Error for PassError {}

/// Takes a module through a pipeline.
///
/// # Errors
/// With `verify_each`, if the module breaks a rule before or after some pass.
pub fn run(
    module: &mut Module,
    pipeline: &Pipeline,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Report, PassError> {
    if options.verify_each {
        verify(module).map_err(|errors| PassError { pass: None, errors })?;
    }
    let mut manager = Manager {
        module,
        options,
        observer,
        log: Log { listens: options.remarks, ..Log::default() },
        report: Report::default(),
        steps_run: 0,
        since: FxHashMap::default(),
        module_since: EVERYTHING,
        graphs: FxHashMap::default(),
    };
    manager.steps(&pipeline.steps)?;
    let Manager { log, mut report, .. } = manager;
    report.remarks = log.remarks.into_iter().collect();
    report.statistics = log.counters;
    Ok(report)
}

struct Manager<'a> {
    module: &'a mut Module,
    options: &'a Options,
    observer: &'a mut dyn Observer,
    log: Log,
    report: Report,
    steps_run: u64,
    /// By body: what has changed since each pass has run on it; everything if it is not there.
    since: FxHashMap<Owner, Since>,
    /// What has changed anywhere since each pass over the module has run.
    module_since: Since,
    graphs: FxHashMap<Owner, Option<Rc<Graph>>>,
}

/// For each pass, by its place in the list of all: what others have changed since it has run.
type Since = [Changes; PASSES.len()];

const EVERYTHING: Since = [Changes::all(); PASSES.len()];

/// The place of a pass in the list of all.
fn index_of(pass: &'static Pass) -> usize {
    PASSES.iter().position(|other| other.name == pass.name).unwrap_or(0)
}

impl Manager<'_> {
    /// Runs steps once; gives whether one changed anything.
    fn steps(&mut self, steps: &[Step]) -> Result<bool, PassError> {
        let mut changed = false;
        for step in steps {
            match step {
                Step::Pass(pass) => changed |= self.pass(pass)?,
                Step::Group(steps, most) => {
                    for _ in 0..*most {
                        if !self.steps(steps)? {
                            break;
                        }
                        changed = true;
                    }
                }
            }
        }
        Ok(changed)
    }

    fn pass(&mut self, pass: &'static Pass) -> Result<bool, PassError> {
        self.observer.before(pass, self.module);
        self.log.pass = pass.name;
        let start = Instant::now();
        let changed = match pass.run {
            Run::Body(run) => self.bodies(pass, run),
            Run::Module(run) => self.whole(pass, run),
        };
        let time = start.elapsed();
        match self.report.times.iter_mut().find(|(name, ..)| *name == pass.name) {
            Some((_, total, runs)) => {
                *total += time;
                *runs += 1;
            }
            None => self.report.times.push((pass.name, time, 1)),
        }
        self.observer.after(pass, self.module, changed);
        if changed && self.options.verify_each {
            verify(self.module).map_err(|errors| PassError { pass: Some(pass.name), errors })?;
        }
        Ok(changed)
    }

    /// Runs a pass on the module, unless nothing has woken it.
    fn whole(&mut self, pass: &'static Pass, run: fn(&mut ModuleContext<'_>) -> bool) -> bool {
        let index = index_of(pass);
        let is_awake = self.is_awake(pass, self.module_since[index]);
        if !is_awake || !self.may_run(pass, |_| "module".into()) {
            return false;
        }
        let changed = run(&mut ModuleContext { module: self.module, log: &mut self.log });
        self.module_since[index] = Changes::empty();
        if changed {
            self.since.clear();
            self.module_since = EVERYTHING;
        }
        changed
    }

    /// Runs a pass on all bodies but for those in which nothing has woken it. What a pass leaves it has
    /// nothing to do in: it is not woken by itself, but by what it has done to a function before, since
    /// summaries are of before the pass: what it changes makes effects fewer, never more.
    fn bodies(&mut self, pass: &'static Pass, run: fn(&mut BodyContext<'_>) -> Changes) -> bool {
        let index = index_of(pass);
        let summaries = Summaries::of(self.module);
        let functions = self.module.functions.iter().map(|(id, _)| Owner::Function(id));
        let handlers = self.module.handlers.iter().map(|(id, _)| Owner::Handler(id));
        let owners: Vec<Owner> = functions.chain(handlers).collect();
        let mut changed = false;
        let mut functions = Changes::empty();
        for owner in owners {
            let since = self.since.get(&owner).map_or(Changes::all(), |since| since[index]);
            if !self.is_awake(pass, since) {
                continue;
            }
            let Some(mut body) = take_body(self.module, owner) else { continue };
            if self.may_run(pass, |module| match owner {
                Owner::Function(id) => format!("function @{}", module.functions[id].name),
                Owner::Handler(id) => format!("handler @{id}"),
            }) {
                let done = run(&mut BodyContext {
                    module: self.module,
                    summaries: &summaries,
                    body: &mut body,
                    owner,
                    since: if self.options.always_awake { Changes::all() } else { since },
                    graph: self.graphs.entry(owner).or_default(),
                    log: &mut self.log,
                });
                changed |= !done.is_empty();
                self.note(owner, index, done, functions);
                if matches!(owner, Owner::Function(_)) {
                    functions |= done;
                }
            }
            put_body(self.module, owner, body);
        }
        changed
    }

    /// Whether a pass runs after such changes.
    fn is_awake(&self, pass: &Pass, since: Changes) -> bool {
        since.intersects(pass.wakes) || (self.options.always_awake && !since.is_empty())
    }

    /// Notes what a pass has done to a body, and what to functions that it has not heard of there.
    fn note(&mut self, owner: Owner, index: usize, done: Changes, unheard: Changes) {
        // What a function does is part of what its callers do.
        if matches!(owner, Owner::Function(_)) && !done.is_empty() {
            self.since.clear();
        }
        let since = self.since.entry(owner).or_insert(EVERYTHING);
        since.iter_mut().chain(&mut self.module_since).for_each(|since| *since |= done);
        since[index] = unheard;
    }

    /// Counts a step; gives whether the limit allows it.
    fn may_run(&mut self, pass: &'static Pass, target: impl FnOnce(&Module) -> String) -> bool {
        let Some(limit) = self.options.bisect_limit else { return true };
        self.steps_run += 1;
        let ran = self.steps_run <= limit;
        let target = target(self.module);
        self.report.bisect.push(BisectStep { pass: pass.name, target, ran });
        ran
    }
}

/// Takes the body out of a function or handler; `None` for C functions.
pub(crate) fn take_body(module: &mut Module, owner: Owner) -> Option<Body> {
    match owner {
        Owner::Handler(handler) => Some(std::mem::take(&mut module.handlers[handler].body)),
        Owner::Function(function) => match &mut module.functions[function].code {
            FunctionCode::Body(body) => Some(std::mem::take(body)),
            FunctionCode::C { .. } => None,
        },
    }
}

/// Puts it back.
pub(crate) fn put_body(module: &mut Module, owner: Owner, body: Body) {
    match owner {
        Owner::Handler(handler) => module.handlers[handler].body = body,
        Owner::Function(function) => module.functions[function].code = FunctionCode::Body(body),
    }
}
