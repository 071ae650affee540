//! Every pass alone, and all together, on random modules: what a user sees stays the same.

mod generate;
mod interpret;
mod random;

use std::collections::BTreeMap;

use xlate_ir::module::Module;
use xlate_ir::text::print;
use xlate_ir::verifier::verify;
use xlate_passes::manager::{NoObserver, Options, run};
use xlate_passes::pipeline::Pipeline;
use xlate_passes::registry::PASSES;

/// How many modules are made, unless `XLATE_RANDOM_MODULES` says otherwise.
fn count() -> u64 {
    std::env::var("XLATE_RANDOM_MODULES").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

/// Says what was being run if the interpreter meets something impossible.
struct Context<'a>(u64, &'a str, &'a Module, &'a Module);

impl Drop for Context<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Context(seed, pipeline, before, after) = self;
            eprintln!("seed {seed}, {pipeline}:\n{before}\nbecame\n{after}");
        }
    }
}

/// The first step of a pipeline after which a module does something else.
fn culprit(module: &Module, before: &str, passes: &Pipeline) -> String {
    let run_some = |limit: u64| {
        let mut copy = module.clone();
        let options =
            Options { verify_each: false, bisect_limit: Some(limit), ..Options::default() };
        let report =
            run(&mut copy, passes, &options, &mut NoObserver).expect("nothing is verified");
        (interpret::run(&copy) == before, report.bisect, copy)
    };
    let (mut good, mut bad) = (0, run_some(u64::MAX).1.len() as u64);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if run_some(middle).0 { good = middle } else { bad = middle }
    }
    let (_, steps, broken) = run_some(bad);
    let step = &steps[good as usize];
    let (pass, target) = (step.pass, &step.target);
    format!("{pass} on {target}, making of\n{}\nthis:\n{broken}\n", run_some(good).2)
}

/// Runs passes on a copy; gives whether they changed it.
fn compare(seed: u64, module: &Module, before: &str, pipeline: &str) -> bool {
    let mut copy = module.clone();
    let passes = Pipeline::parse(pipeline).expect("a pipeline");
    let options = Options { verify_each: true, ..Options::default() };
    if let Err(error) = run(&mut copy, &passes, &options, &mut NoObserver) {
        panic!("seed {seed}, {pipeline}: {error}\n{module}\nbecame\n{copy}");
    }
    let _context = Context(seed, pipeline, module, &copy);
    let after = interpret::run(&copy);
    if before != after {
        let culprit = culprit(module, before, &passes);
        panic!("{culprit} is at fault: it said\n{after}\ninstead of\n{before}");
    }
    copy != *module
}

/// Looks whether passes find something where nothing that wakes them has changed.
fn compare_awake(seed: u64, module: &Module, pipeline: &str) {
    let passes = Pipeline::parse(pipeline).expect("a pipeline");
    let after = |always_awake| {
        let mut copy = module.clone();
        let options = Options { verify_each: false, always_awake, ..Options::default() };
        run(&mut copy, &passes, &options, &mut NoObserver).expect("nothing is verified");
        print(&copy)
    };
    let (some, all) = (after(false), after(true));
    assert!(some == all, "seed {seed}: {module}\nbecame\n{some}\nand, always awake,\n{all}");
}

#[test]
fn passes_keep_what_random_modules_do() {
    let standard = Pipeline::standard().to_string();
    let mut changed: BTreeMap<&str, u64> = BTreeMap::new();
    let mut told_something = 0;
    // A seed that failed can be looked at alone.
    let first = std::env::var("XLATE_RANDOM_FIRST").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for seed in first..first + count() {
        let module = generate::module(seed);
        if let Err(errors) = verify(&module) {
            panic!("seed {seed}: {}\n{}", errors[0], print(&module));
        }
        let before = {
            let _context = Context(seed, "nothing", &module, &module);
            interpret::run(&module)
        };
        told_something += u64::from(before.len() > 40);
        for pass in PASSES {
            let did = compare(seed, &module, &before, pass.name);
            *changed.entry(pass.name).or_default() += u64::from(did);
        }
        compare(seed, &module, &before, &standard);
        compare_awake(seed, &module, &standard);
    }
    assert!(told_something * 3 > count(), "{told_something} modules say something");
    for (pass, times) in &changed {
        println!("{pass} changes {times} of {}", count());
    }
}
