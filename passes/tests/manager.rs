//! The manager: order, limits, what it tells.

use xlate_ir::module::Module;
use xlate_ir::text::{parse, print};
use xlate_passes::manager::{NoObserver, Observer, Options, run};
use xlate_passes::pipeline::Pipeline;
use xlate_passes::registry::Pass;
use xlate_passes::remarks::RemarkKind;

const TEXT: &str = "file f0 \"a.stp\"
global @n: long @f0:1:8
global @unused: long @f0:1:11

probe begin(0) -> @h0
probe end(0) -> @h1

handler @h0 {
b0:
  lock @n:write, @unused:write
  v0 = const 1: long
  v1 = add v0, v0: long
  store @n, v1
  store @unused, v1
  unlock @n, @unused
  ret
}
handler @h1 {
b0:
  lock @n:write
  v0 = load @n: long
  v1 = load @n: long
  print \"%d\", v0
  unlock @n
  ret
}
";

fn module() -> Module {
    parse(TEXT).unwrap_or_else(|error| panic!("{error}"))
}

fn pipeline(text: &str) -> Pipeline {
    Pipeline::parse(text).expect("a pipeline")
}

/// Writes down what it sees.
#[derive(Default)]
struct Witness(Vec<String>);

impl Observer for Witness {
    fn before(&mut self, pass: &Pass, module: &Module) {
        self.0.push(format!("before {} {}", pass.name, module.globals.len()));
    }

    fn after(&mut self, pass: &Pass, module: &Module, changed: bool) {
        self.0.push(format!("after {} {} {changed}", pass.name, module.globals.len()));
    }
}

#[test]
fn observers_see_every_pass_and_groups_end_when_nothing_changes() {
    let mut witness = Witness::default();
    let options = Options::default();
    let report =
        run(&mut module(), &pipeline("(dead-code,unused-globals)*"), &options, &mut witness)
            .expect("a good module");
    let expected = [
        "before dead-code 2",
        "after dead-code 2 true",
        "before unused-globals 2",
        "after unused-globals 1 true",
        "before dead-code 1",
        "after dead-code 1 false",
        "before unused-globals 1",
        "after unused-globals 1 false",
    ];
    assert_eq!(witness.0, expected);
    let times: Vec<(&str, u32)> =
        report.times.iter().map(|(name, _, runs)| (*name, *runs)).collect();
    assert_eq!(times, [("dead-code", 2), ("unused-globals", 2)]);
}

#[test]
fn remarks_and_counters_come_back_as_data() {
    let options = Options::default();
    let report = run(&mut module(), &Pipeline::standard(), &options, &mut NoObserver)
        .expect("a good module");
    let message = "`n` is the constant 2: `begin` sets it before anything reads it";
    let remark = report.remarks.iter().find(|remark| remark.message == message);
    let remark = remark.expect("the remark is made");
    assert_eq!((remark.pass, remark.kind), ("global-constness", RemarkKind::Applied));
    assert_eq!(remark.pos.map(|pos| (pos.line, pos.column)), Some((1, 8)));
    assert_eq!(report.statistics[&("unused-globals", "globals dropped")], 2);
    assert!(report.bisect.is_empty());
}

#[test]
fn a_bisection_limit_stops_after_so_many_steps() {
    let steps = |limit: u64| {
        let mut module = module();
        let options =
            Options { verify_each: true, bisect_limit: Some(limit), ..Options::default() };
        let report = run(&mut module, &Pipeline::standard(), &options, &mut NoObserver)
            .expect("a good module");
        (print(&module), report.bisect)
    };
    let (text, bisect) = steps(0);
    assert_eq!(text, print(&module()));
    assert!(!bisect.is_empty() && bisect.iter().all(|step| !step.ran));
    let (_, bisect) = steps(3);
    assert_eq!(bisect.iter().filter(|step| step.ran).count(), 3);
    assert_eq!(bisect[0].pass, "duplicate-functions");
    assert_eq!(bisect[0].target, "module");
    assert_eq!(bisect[1].target, "handler @h0");
    let mut all = module();
    run(&mut all, &Pipeline::standard(), &Options::default(), &mut NoObserver).expect("good");
    assert_eq!(steps(u64::MAX).0, print(&all));
}

#[test]
fn a_wrong_module_is_an_internal_error() {
    let mut module = parse("handler @h0 {\nb0:\n  v0 = neg v0: long\n  ret\n}").expect("it parses");
    let options = Options { verify_each: true, ..Options::default() };
    let error = run(&mut module, &Pipeline::none(), &options, &mut NoObserver).expect_err("wrong");
    assert_eq!(
        error.to_string(),
        "internal error: before any pass the IR is wrong:\n  \
         handler @h0, b0, `v0 = neg v0: long`: v0 is not defined on every path here"
    );
}

#[test]
fn no_passes_leave_everything_as_it_is() {
    let mut same = module();
    run(&mut same, &Pipeline::none(), &Options::default(), &mut NoObserver).expect("good");
    assert_eq!(same, module());
}
