//! Random scripts: what a user sees is the same without passes, after each pass, and after all.
//!
//! `XLATE_RANDOM_SCRIPTS=10000` says how many scripts are made, `XLATE_RANDOM_FIRST` with which seed to
//! begin. A script that fails is made smaller and printed with its seed.

#[allow(dead_code, reason = "every test uses its part")]
#[path = "../common/mod.rs"]
mod common;
mod generate;
#[path = "../../passes/tests/differential/interpret/mod.rs"]
mod interpret;
#[path = "../common/opcodes.rs"]
mod opcodes;
#[path = "../../passes/tests/differential/random.rs"]
mod random;
mod reduce;
mod script;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use xlate_elaborate::Library;
use xlate_ir::module::Module;
use xlate_ir::text::print;
use xlate_ir::verifier::verify;
use xlate_passes::manager::{self, NoObserver};
use xlate_passes::pipeline::Pipeline;
use xlate_passes::registry::PASSES;

use script::Script;

/// What makes bodies clean, which most passes assume.
const CLEAN: &[&str] =
    &["simplify-cfg", "copy-propagation", "sccp", "simplify-instructions", "gvn", "dead-code"];

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Passes 1 to 3 up to the IR as lowered.
fn lowered(script: &Script, library: &Library) -> Result<Module, String> {
    let script = common::Script {
        name: "random.stp".into(),
        text: script.text(),
        args: Vec::new(),
        guru: true,
        settings: Vec::new(),
        last_pass: 3,
    };
    let mut module = common::lowered(&script, library)?;
    // Calls that nothing comes to may be of C, which is not interpreted.
    module.limits.max_nesting = None;
    Ok(module)
}

/// What was wrong with a script.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Outcome {
    /// Everything came out the same: the passes that changed something, and the operations there were.
    Same { changed: BTreeSet<&'static str>, reached: BTreeSet<String> },
    /// It is no script.
    Refused(String),
    /// A pass broke a rule, or something came out differently: after which passes, and what.
    Wrong(String, String),
}

/// The transcript of a session.
fn transcript(module: &Module) -> Result<String, String> {
    catch_unwind(AssertUnwindSafe(|| interpret::run(module)))
        .map_err(|_| "the interpreter met something impossible".into())
}

/// The module after passes, each of which runs after all changes or only those that wake it.
fn optimized(before: &Module, pipeline: &str, always_awake: bool) -> Result<Module, String> {
    let mut module = before.clone();
    let passes = Pipeline::parse(pipeline).expect("a pipeline");
    let options =
        manager::Options { verify_each: false, always_awake, ..manager::Options::default() };
    let run = catch_unwind(AssertUnwindSafe(|| {
        manager::run(&mut module, &passes, &options, &mut NoObserver).map(drop)
    }));
    match run {
        Ok(Ok(())) => Ok(module),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("a pass panicked".into()),
    }
}

/// The module after passes; `None` if they leave it as it is.
fn after(before: &Module, pipeline: &str) -> Result<Option<Module>, String> {
    let module = optimized(before, pipeline, false)?;
    if pipeline.contains('*') && print(&module) != print(&optimized(before, pipeline, true)?) {
        return Err("a pass that nothing wakes finds something".into());
    }
    if module == *before {
        return Ok(None);
    }
    match verify(&module) {
        Ok(()) => Ok(Some(module)),
        Err(errors) => Err(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    }
}

/// Runs a script without passes, after each pass, and after all.
fn check(script: &Script, library: &Library) -> Outcome {
    let plain = match lowered(script, library) {
        Ok(module) => module,
        Err(message) => return Outcome::Refused(message),
    };
    let expected = match transcript(&plain) {
        Ok(expected) => expected,
        Err(message) => return Outcome::Wrong("nothing".into(), message),
    };
    let prepared = |pipeline: &str| match after(&plain, pipeline) {
        Ok(module) => Ok(module.unwrap_or_else(|| plain.clone())),
        Err(message) => Err(Outcome::Wrong(pipeline.to_owned(), message)),
    };
    // Lowering leaves no copies; other passes do.
    let before_copies = "simplify-cfg,sccp,gvn,";
    let (clean, copies) = match (prepared(&CLEAN.join(",")), prepared(before_copies)) {
        (Ok(clean), Ok(copies)) => (clean, copies),
        (Err(wrong), _) | (_, Err(wrong)) => return wrong,
    };
    let (mut changed, mut reached) = (BTreeSet::new(), BTreeSet::new());
    opcodes::note_module(&plain, &mut reached);
    let standard = Pipeline::standard().to_string();
    let alone = CLEAN.iter().map(|&pass| match pass {
        "copy-propagation" => (&copies, pass, before_copies.to_owned()),
        _ => (&plain, pass, String::new()),
    });
    let others = PASSES.iter().map(|pass| pass.name).filter(|name| !CLEAN.contains(name));
    let others = others.map(|pass| (&clean, pass, format!("{},", CLEAN.join(","))));
    let whole = std::iter::once((&plain, "all", String::new()));
    for (start, pass, before) in alone.chain(others).chain(whole) {
        let pipeline = if pass == "all" { standard.as_str() } else { pass };
        let module = match after(start, pipeline) {
            Ok(None) => continue,
            Ok(Some(module)) => module,
            Err(message) => return Outcome::Wrong(format!("{before}{pass}"), message),
        };
        changed.insert(pass);
        if pass == "all" {
            opcodes::note_module(&module, &mut reached);
        }
        let wrong = match transcript(&module) {
            Ok(said) if said == expected => continue,
            Ok(said) => format!("it says\n{said}\ninstead of\n{expected}"),
            Err(message) => message,
        };
        return Outcome::Wrong(format!("{before}{pass}"), wrong);
    }
    Outcome::Same { changed, reached }
}

/// The smallest script found that goes wrong after the same passes.
fn reduced(script: &Script, library: &Library) -> (Script, Outcome) {
    let passes = |outcome: &Outcome| match outcome {
        Outcome::Wrong(passes, _) => Some(passes.clone()),
        _ => None,
    };
    let wanted = passes(&check(script, library));
    let fails = |script: &Script| passes(&check(script, library)) == wanted;
    let small = reduce::reduce(script.clone(), &fails);
    let outcome = check(&small, library);
    (small, outcome)
}

/// What was seen of scripts.
#[derive(Default)]
struct Tally {
    refused: Vec<String>,
    /// The operations that scripts came to have.
    reached: BTreeSet<String>,
    changed: BTreeMap<&'static str, u64>,
}

impl Tally {
    fn add(&mut self, seed: u64, library: &Library) {
        let script = generate::script(seed);
        match check(&script, library) {
            Outcome::Same { changed, reached } => {
                self.reached.extend(reached);
                for pass in changed {
                    *self.changed.entry(pass).or_default() += 1;
                }
            }
            Outcome::Refused(message) => self.refused.push(format!("seed {seed}: {message}")),
            Outcome::Wrong(passes, wrong) => {
                eprintln!("seed {seed} goes wrong after {passes}: {wrong}\nMaking it smaller ...");
                let (small, outcome) = reduced(&script, library);
                panic!("seed {seed}: {outcome:#?}\n{}", small.text());
            }
        }
    }

    fn join(&mut self, other: Tally) {
        self.refused.extend(other.refused);
        self.reached.extend(other.reached);
        for (pass, times) in other.changed {
            *self.changed.entry(pass).or_default() += times;
        }
    }
}

#[test]
fn passes_keep_what_random_scripts_do() {
    let (first, count) = (number("XLATE_RANDOM_FIRST", 0), number("XLATE_RANDOM_SCRIPTS", 300));
    let next = AtomicU64::new(first);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let work = || {
            let library = common::library();
            let mut tally = Tally::default();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= first + count {
                    return tally;
                }
                tally.add(seed, &library);
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            tally.join(worker.join().expect("a worker found something"));
        }
    });
    for (pass, times) in &tally.changed {
        println!("{pass} changes {times} of {count}");
    }
    let refused = tally.refused.len() as u64;
    assert!(refused * 20 <= count, "{refused} are no scripts:\n{}", tally.refused.join("\n"));
    if count < 100 {
        return;
    }
    let missing: Vec<String> = opcodes::all().difference(&tally.reached).cloned().collect();
    assert_eq!(missing, Vec::<String>::new(), "operations that no script has");
    let names = PASSES.iter().map(|pass| pass.name);
    let rate = |pass: &str| tally.changed.get(pass).copied().unwrap_or(0);
    let idle: Vec<&str> = names.filter(|pass| rate(pass) * 100 < count).collect();
    assert!(idle.is_empty(), "passes that change fewer than 1%: {idle:?}");
}
