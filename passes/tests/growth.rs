//! The time of passes grows with the program, not with its square.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use xlate_ir::module::Module;
use xlate_ir::text::parse;
use xlate_passes::manager::{NoObserver, Options, run};
use xlate_passes::pipeline::Pipeline;

/// Functions that each call the next.
fn chain(length: usize) -> Module {
    let mut text = "probe begin(0) -> @h0\n".to_owned();
    for n in 0..length {
        let _ = write!(
            text,
            "function @f{n}(long) -> long {{\nb0(v0: long):\n  v1 = call @f{}(v0): long\n  \
             v2 = const 1: long\n  v3 = add v1, v2: long\n  ret v3\n}}\n",
            n + 1
        );
    }
    let _ = write!(
        text,
        "function @f{length}(long) -> long {{\nb0(v0: long):\n  ret v0\n}}\n\
         handler @h0 {{\nb0:\n  v0 = const 1: long\n  v1 = call @f0(v0): long\n  \
         print \"%d\", v1\n  ret\n}}\n"
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// The least time of a few runs: what else the machine does only adds to it.
fn time(pass: &str, module: &Module) -> Duration {
    let pipeline = Pipeline::parse(pass).expect("a pass");
    let how = Options { verify_each: false, ..Options::default() };
    let once = || {
        let mut module = module.clone();
        let begun = Instant::now();
        run(&mut module, &pipeline, &how, &mut NoObserver).expect("it runs");
        begun.elapsed()
    };
    (0..5).map(|_| once()).min().expect("there are some")
}

/// Eight times as many functions: 64 times as long if each looked at all others.
#[test]
fn inlining_a_chain_of_calls_takes_time_for_each_call() {
    let (short, long) = (time("inline", &chain(150)), time("inline", &chain(1200)));
    assert!(long < 30 * short, "{short:?} for 150 functions, {long:?} for 1200");
}
