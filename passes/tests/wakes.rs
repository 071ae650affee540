//! What passes say that wakes them is all that there is: running them after every change finds no more.

mod lowered;

use xlate_ir::text::print;
use xlate_passes::manager::{NoObserver, Options, run};
use xlate_passes::pipeline::Pipeline;

#[test]
fn passes_that_are_always_awake_find_no_more() {
    let options = Options { verify_each: true, ..Options::default() };
    let awake = Options { always_awake: true, ..options.clone() };
    for (name, module) in lowered::modules() {
        let (mut some, mut all) = (module.clone(), module);
        for (module, options) in [(&mut some, &options), (&mut all, &awake)] {
            run(module, &Pipeline::standard(), options, &mut NoObserver)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        assert_eq!(print(&some), print(&all), "{name}");
    }
}

/// A handler that has something for `gvn` and something for `dead-code`.
const SETTLED: &str = "global @n: long

probe begin(0) -> @h0

handler @h0 {
b0:
  lock @n:write
  v0 = const 1: long
  v1 = const 1: long
  v2 = add v0, v1: long
  v3 = mul v2, v2: long
  store @n, v2
  unlock @n
  ret
}
";

#[test]
fn a_pass_that_nothing_wakes_does_not_run() {
    let steps = |always_awake| {
        let mut module = xlate_ir::text::parse(SETTLED).unwrap_or_else(|error| panic!("{error}"));
        let pipeline = Pipeline::parse("(gvn,dead-code)*").expect("a pipeline");
        let options = Options { always_awake, bisect_limit: Some(u64::MAX), ..Options::default() };
        let report = run(&mut module, &pipeline, &options, &mut NoObserver).expect("good");
        report.bisect.iter().map(|step| step.pass).collect::<Vec<_>>()
    };
    // That `dead-code` drops what nothing uses gives `gvn` nothing to do.
    assert_eq!(steps(false), ["gvn", "dead-code"]);
    assert_eq!(steps(true), ["gvn", "dead-code", "gvn"]);
}
