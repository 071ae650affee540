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

/// Cases in which the second pass gives the first something to do: the two, and the lines of a handler.
const WOKEN: &[(&str, &str, &str)] = &[
    // What is stored is what is read: a sum of constants.
    (
        "sccp",
        "gvn",
        "b0:
           v0 = const 5: long
           store @n, v0
           v1 = load @n: long
           v2 = add v1, v0: long
           store @m, v2
           ret",
    ),
    // The same decides a branch.
    (
        "simplify-cfg",
        "gvn",
        "b0:
           v0 = const 5: long
           store @n, v0
           v1 = load @n: long
           branch v1, b1, b2
         b1:
           store @m, v0
           jump b2
         b2:
           ret",
    ),
    // A block in the way is empty.
    (
        "simplify-cfg",
        "dead-code",
        "b0:
           v0 = ctx.pid: long
           branch v0, b1, b2
         b1:
           v1 = ctx.tid: long
           jump b3
         b2:
           store @m, v0
           jump b3
         b3:
           ret",
    ),
    // All arguments of a parameter are one value.
    (
        "copy-propagation",
        "gvn",
        "b0:
           v0 = ctx.pid: long
           v1 = ctx.pid: long
           branch v0, b1(v0), b1(v1)
         b1(v2: long):
           store @m, v2
           ret",
    ),
    // Both operands are one value.
    (
        "simplify-instructions",
        "gvn",
        "b0:
           v0 = ctx.pid: long
           v1 = ctx.pid: long
           v2 = sub v0, v1: long
           store @m, v2
           ret",
    ),
    // What is printed is known.
    (
        "fold-formats",
        "sccp",
        "b0:
           v0 = const 5: long
           v1 = add v0, v0: long
           print \"%d\", v1
           ret",
    ),
    // Two constants are equal.
    (
        "gvn",
        "sccp",
        "b0:
           v0 = const 5: long
           v1 = add v0, v0: long
           v2 = mul v0, v1: long
           v3 = const 10: long
           v4 = mul v0, v3: long
           store @n, v2
           store @m, v4
           ret",
    ),
    // The divisor is what a branch has looked at.
    (
        "ranges",
        "gvn",
        "b0:
           v0 = ctx.pid: long
           v1 = ctx.pid: long
           v2 = const 100: long
           branch v0, b1, b2
         b1:
           v3 = div v2, v1: long
           store @m, v3
           jump b2
         b2:
           ret",
    ),
    // Nothing reads what is stored first.
    (
        "dead-stores",
        "dead-code",
        "b0:
           v0 = ctx.pid: long
           store @n, v0
           v1 = load @n: long
           v2 = ctx.tid: long
           store @n, v2
           ret",
    ),
    // A loop carries one constant around: what is read is what was made of it.
    (
        "sccp",
        "gvn",
        "b0:
           v0 = const 5: long
           v1 = const 7: long
           jump b1(v0)
         b1(v2: long):
           v3 = rem v2, v1: long
           store @n, v3
           v4 = ctx.pid: long
           branch v4, b2, b3
         b2:
           v5 = load @n: long
           jump b1(v5)
         b3:
           store @m, v2
           ret",
    ),
    // What stands between the stores cannot fail any more.
    (
        "dead-stores",
        "ranges",
        "b0:
           v0 = ctx.pid: long
           v1 = const 5: long
           store @n, v0
           v2 = div v0, v1: long
           store @n, v2
           ret",
    ),
    // Nothing needs a quotient that cannot fail any more.
    (
        "dead-code",
        "ranges",
        "b0:
           v0 = ctx.pid: long
           v1 = const 5: long
           v2 = div v0, v1: long
           store @n, v0
           ret",
    ),
    // There is nothing to catch.
    (
        "simplify-cfg",
        "ranges",
        "b0:
           v0 = ctx.pid: long
           v1 = const 5: long
           v2 = div v0, v1: long
           try b1, b2
         b1:
           store @n, v2
           ret
         b2:
           store @m, v0
           ret",
    ),
    // Nothing uses what was compared.
    (
        "dead-code",
        "simplify-cfg",
        "b0:
           v0 = ctx.pid: long
           v1 = cmp.lt v0, v0: long
           branch v1, b1, b1
         b1:
           store @m, v0
           ret",
    ),
];

#[test]
fn what_gives_a_pass_work_wakes_it() {
    for (first, second, lines) in WOKEN {
        let text = format!(
            "global @n: long serial\nglobal @m: long serial\n\nhandler @h0 {{\n{lines}\n}}\n"
        );
        let after = |pipeline: &str, always_awake| {
            let mut module =
                xlate_ir::text::parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
            let pipeline = Pipeline::parse(pipeline).expect("a pipeline");
            let options = Options { verify_each: true, always_awake, ..Options::default() };
            run(&mut module, &pipeline, &options, &mut NoObserver)
                .unwrap_or_else(|error| panic!("{first}, {second}: {error}"));
            print(&module)
        };
        let again = format!("{first},{second},{first}");
        assert_eq!(after(&again, false), after(&again, true), "{second} wakes {first}");
        let once = after(&format!("{first},{second}"), true);
        assert_ne!(after(&again, true), once, "{second} gives {first} nothing to do");
    }
}

/// A function that cannot fail once it is clean, and a handler that catches what it raises.
const CALLED: &str = "global @n: long serial

function @f() -> long {
b0:
  v0 = const 0: long
  branch v0, b1, b2
b1:
  v1 = const \"bad\": str<3>
  raise v1
b2:
  v2 = const 3: long
  ret v2
}

handler @h0 {
b0:
  v0 = call @f(): long
  try b1, b2
b1:
  store @n, v0
  ret
b2:
  ret
}
";

#[test]
fn what_a_pass_does_to_a_function_wakes_it_where_that_is_called() {
    let mut module = xlate_ir::text::parse(CALLED).unwrap_or_else(|error| panic!("{error}"));
    assert!(print(&module).contains("try"));
    let pipeline = Pipeline::parse("(simplify-cfg)*").expect("a pipeline");
    run(&mut module, &pipeline, &Options::default(), &mut NoObserver).expect("good");
    assert!(!print(&module).contains("try"), "{module}");
}
