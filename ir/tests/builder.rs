//! The builder makes minimal SSA: block parameters only where values of a variable meet.

use xlate_ir::builder::BodyBuilder;
use xlate_ir::effects::Summaries;
use xlate_ir::instructions::{BinaryOp, CompareOp, Op, Place};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::{Body, HandlerData, Module};
use xlate_ir::text::{parse, print, print_handler};
use xlate_ir::types::Type;

fn module() -> Module {
    parse("global @n: long\nglobal @a[str, long]: long max=8").expect("a module")
}

/// Compares a handler of this body with a snapshot, and reads it back.
fn check(name: &str, module: &Module, body: Body) {
    let mut module = module.clone();
    let handler = module.handlers.alloc(HandlerData {
        body,
        record: Vec::new(),
        places: Vec::new(),
        pos: None,
    });
    assert_eq!(parse(&print(&module)).as_ref(), Ok(&module));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../snapshots/ir"));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, print_handler(&module, handler)));
}

fn global(module: &Module, name: &str) -> xlate_ir::entities::Global {
    module.globals.iter().find(|(_, data)| data.name == name).expect("it is declared").0
}

#[test]
fn values_meet_after_an_if() {
    let module = module();
    let mut b = BodyBuilder::new(&module);
    let x = b.declare(Type::Long, Some("x".into()));
    let same = b.declare(Type::Long, Some("same".into()));
    let (then, other, after) = (b.create_block(), b.create_block(), b.create_block());
    let two = b.long(2);
    b.write(same, two);
    let condition = b.value(Op::Load(Place::scalar(global(&module, "n"))));
    b.branch(condition, then, other);
    b.seal(then);
    b.seal(other);
    b.switch_to(then);
    let one = b.long(1);
    b.write(x, one);
    b.jump(after);
    b.switch_to(other);
    b.jump(after);
    b.seal(after);
    b.switch_to(after);
    let (x, same) = (b.read(x), b.read(same));
    let sum = b.value(Op::Binary(BinaryOp::Add, x, same));
    b.push(Op::Store(Place::scalar(global(&module, "n")), sum));
    b.ret(None);
    check("builder_if", &module, b.finish());
}

#[test]
fn loops_carry_only_what_changes() {
    let module = module();
    let mut b = BodyBuilder::new(&module);
    let i = b.declare(Type::Long, Some("i".into()));
    let j = b.declare(Type::Long, Some("j".into()));
    let fixed = b.declare(Type::Long, Some("fixed".into()));
    let five = b.long(5);
    b.write(fixed, five);
    let (outer, inner, inner_body, next, done) =
        (b.create_block(), b.create_block(), b.create_block(), b.create_block(), b.create_block());
    b.jump(outer);
    b.switch_to(outer);
    let (iv, limit) = (b.read(i), b.read(fixed));
    let more = b.value(Op::Compare(CompareOp::Lt, iv, limit));
    b.branch(more, inner, done);
    b.switch_to(inner);
    let (jv, limit) = (b.read(j), b.read(fixed));
    let more = b.value(Op::Compare(CompareOp::Lt, jv, limit));
    b.branch(more, inner_body, next);
    b.seal(inner_body);
    b.switch_to(inner_body);
    b.push(Op::Action);
    let one = b.long(1);
    let jv = b.read(j);
    let sum = b.value(Op::Binary(BinaryOp::Add, jv, one));
    b.write(j, sum);
    b.jump(inner);
    b.seal(inner);
    b.seal(next);
    b.switch_to(next);
    b.push(Op::Action);
    let one = b.long(1);
    let iv = b.read(i);
    let sum = b.value(Op::Binary(BinaryOp::Add, iv, one));
    b.write(i, sum);
    b.jump(outer);
    b.seal(outer);
    b.seal(done);
    b.switch_to(done);
    b.ret(None);
    check("builder_nested_loops", &module, b.finish());
}

#[test]
fn what_raises_inside_of_a_catch_ends_its_block() {
    let module = module();
    let a = global(&module, "a");
    let mut b = BodyBuilder::new(&module);
    let x = b.declare(Type::Long, Some("x".into()));
    let (catch, after) = (b.create_block(), b.create_block());
    let name = b.value(Op::Intrinsic(Intrinsic::Execname, vec![]));
    let pid = b.value(Op::Intrinsic(Intrinsic::Pid, vec![]));
    b.push_catch(catch);
    let quotient = b.value(Op::Binary(BinaryOp::Div, pid, pid));
    b.write(x, quotient);
    b.push(Op::Store(xlate_ir::instructions::Place { global: a, keys: vec![name, pid] }, pid));
    let message = b.text(b"no");
    b.raise(message);
    b.pop_catch();
    b.seal(catch);
    b.switch_to(catch);
    let message = b.value(Op::Caught);
    b.push(Op::Intrinsic(Intrinsic::Warn, vec![message]));
    b.jump(after);
    b.seal(after);
    b.switch_to(after);
    let x = b.read(x);
    b.value(Op::Binary(BinaryOp::Rem, x, x));
    b.ret(None);
    check("builder_try", &module, b.finish());
}

#[test]
fn code_after_a_terminator_goes() {
    let module = module();
    let mut b = BodyBuilder::new(&module);
    assert!(b.is_open());
    b.ret(None);
    assert!(!b.is_open());
    let one = b.long(1);
    b.push(Op::Intrinsic(Intrinsic::Exit, vec![]));
    assert!(!b.is_open());
    let more = b.create_block();
    b.branch(one, more, more);
    b.switch_to(more);
    b.ret(None);
    let body = b.finish();
    assert_eq!(body.layout.len(), 1);
    assert_eq!(body.iter_insts().count(), 0);
}

#[test]
fn results_have_the_types_that_operands_give() {
    let module = module();
    let a = global(&module, "a");
    let mut b = BodyBuilder::new(&module);
    let name = b.value(Op::Intrinsic(Intrinsic::Execname, vec![]));
    let suffix = b.text(b"-x");
    let both = b.value(Op::Intrinsic(Intrinsic::StrConcat, vec![name, suffix]));
    assert_eq!(b.type_of(both), Type::Str(17));
    let spec =
        xlate_ir::instructions::IterSpec { global: a, sort: None, slice: Vec::new(), limit: None };
    let iter = b.value(Op::IterBegin(spec));
    let (key, number) = (b.value(Op::IterKey(iter, 0)), b.value(Op::IterKey(iter, 1)));
    assert_eq!((b.type_of(key), b.type_of(number)), (Type::Str(511), Type::Long));
    let number = b.value(Op::IterValue(iter));
    assert_eq!(b.type_of(number), Type::Long);
    assert_eq!(b.push(Op::IterEnd(iter)), None);
}

#[test]
fn a_long_script_needs_no_deep_stack() {
    let module = module();
    let mut b = BodyBuilder::new(&module);
    let x = b.declare(Type::Long, None);
    let condition = b.long(1);
    b.write(x, condition);
    for _ in 0..20_000 {
        let (then, after) = (b.create_block(), b.create_block());
        b.branch(condition, then, after);
        b.seal(then);
        b.switch_to(then);
        b.jump(after);
        b.seal(after);
        b.switch_to(after);
    }
    let value = b.read(x);
    b.push(Op::Store(Place::scalar(global(&module, "n")), value));
    b.ret(None);
    let body = b.finish();
    let store = body.iter_insts().last().expect("a store").1;
    assert_eq!(body.insts[store].op, Op::Store(Place::scalar(global(&module, "n")), condition));
    let empty = body.layout.iter().all(|&block| body.blocks[block].params.is_empty());
    assert!(empty, "all values of x are one");
}

#[test]
fn summaries_follow_calls_and_see_what_is_caught() {
    let text = r#"
global @n: long
global @m: long
function @leaf(long) -> long {
b0(v0: long):
  v1 = load @n: long
  v2 = div v1, v0: long
  ret v2
}
function @catches(long) -> long {
b0(v0: long):
  v1 = call @leaf(v0): long
  try b1, b2
b1:
  ret v1
b2:
  ret v0
}
function @even(long) -> long {
b0(v0: long):
  v1 = call @odd(v0): long
  ret v1
}
function @odd(long) -> long {
b0(v0: long):
  store @m, v0
  v1 = call @even(v0): long
  ret v1
}
function @query() -> long {
b0:
  v0 = ctx.pid: long
  v1 = const 2: long
  v2 = mul v0, v1: long
  ret v2
}
"#;
    let module = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let summaries = Summaries::of(&module);
    let show = |name: &str| {
        let (id, _) = module.functions.iter().find(|(_, f)| f.name == name).expect("declared");
        let e = summaries.function(id);
        (e.reads.len(), e.writes.len(), e.raises, e.aborts, e.is_mergeable())
    };
    assert_eq!(show("leaf"), (1, 0, true, false, false));
    assert_eq!(show("catches"), (1, 0, false, false, false));
    assert_eq!(show("even"), (0, 1, false, true, false));
    assert_eq!(show("odd"), (0, 1, false, true, false));
    assert_eq!(show("query"), (0, 0, false, false, true));
}
