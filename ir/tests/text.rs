//! The text form: what is printed reads back as it was, and what is wrong is pointed at.

use proptest::prelude::*;
use xlate_ir::entities::Entity;
use xlate_ir::format::{Conversion, ConversionKind, Count, Format, Piece};
use xlate_ir::instructions::{BinaryOp, CompareOp, Op, Terminator, UnaryOp};
use xlate_ir::intrinsics::{Intrinsic, Slot};
use xlate_ir::module::{Body, HandlerData, Module, ValueData};
use xlate_ir::text::{parse, print};
use xlate_ir::types::{Const, Type};

fn everything() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/filetests/text/everything.xir");
    std::fs::read_to_string(path).expect("the file is there")
}

#[test]
fn every_construct_prints_as_it_reads() {
    let text = everything();
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(print(&module), text);
    assert_eq!(parse(&print(&module)).as_ref(), Ok(&module));
}

#[test]
fn blanks_comments_and_blank_lines_do_not_matter() {
    let text = everything().replace("\n", "  ; comment \"\n\n");
    assert_eq!(parse(&text), parse(&everything()));
}

/// A handler of these instructions.
fn module_of(ops: Vec<(Op, Option<Type>)>, name: Option<String>) -> Module {
    let mut body = Body::default();
    let block = body.add_block();
    for (op, ty) in ops {
        if let Some(value) = body.push(block, op, ty, None) {
            body.values[value].name = name.clone();
        }
    }
    body.blocks[block].terminator = Terminator::Return(None);
    let mut module = Module::default();
    module.handlers.alloc(HandlerData { body, record: Vec::new(), places: Vec::new(), pos: None });
    module
}

#[test]
fn every_operator_and_intrinsic_reads_back() {
    let long = xlate_ir::entities::Value::from_index(0);
    let text = xlate_ir::entities::Value::from_index(1);
    let mut ops = vec![
        (Op::Const(Const::Long(0)), Some(Type::Long)),
        (Op::Const(Const::Str(Box::default())), Some(Type::Str(0))),
    ];
    ops.extend(UnaryOp::ALL.iter().map(|&op| (Op::Unary(op, long), Some(Type::Long))));
    ops.extend(BinaryOp::ALL.iter().map(|&op| (Op::Binary(op, long, long), Some(Type::Long))));
    ops.extend(CompareOp::ALL.iter().map(|&op| (Op::Compare(op, long, long), Some(Type::Long))));
    for &intrinsic in Intrinsic::ALL {
        let row = intrinsic.signature();
        let args = row.params.iter().map(|slot| if *slot == Slot::Long { long } else { text });
        let ty = row.result.map(|slot| if slot == Slot::Long { Type::Long } else { Type::Str(9) });
        ops.push((Op::Intrinsic(intrinsic, args.collect()), ty));
    }
    let module = module_of(ops, None);
    assert_eq!(parse(&print(&module)), Ok(module));
}

#[test]
fn values_that_nothing_defines_leave_no_trace() {
    let mut module = module_of(vec![(Op::Const(Const::Long(1)), Some(Type::Long))], None);
    let body = &mut module.handlers.iter_mut().next().expect("one handler").1.body;
    body.values.alloc(ValueData { ty: Type::Iter, name: None });
    let block = body.entry();
    let kept = body.push(block, Op::Const(Const::Long(2)), Some(Type::Long), None);
    body.blocks[block].insts.remove(0);
    let again = parse(&print(&module)).expect("it reads back");
    assert_eq!(again, module);
    assert_eq!(kept.map(|value| value.to_string()), Some("v2".into()));
    assert!(print(&again).contains("v2 = const 2"));
}

#[test]
fn different_bodies_are_not_equal() {
    let one = |n| module_of(vec![(Op::Const(Const::Long(n)), Some(Type::Long))], None);
    let named = module_of(vec![(Op::Const(Const::Long(1)), Some(Type::Long))], Some("x".into()));
    assert_eq!(one(1), one(1));
    assert_ne!(one(1), one(2));
    assert_ne!(one(1), named);
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let count =
        prop_oneof![Just(Count::None), (1..1000u32).prop_map(Count::Fixed), Just(Count::Argument)];
    let precision =
        prop_oneof![Just(Count::None), (0..1000u32).prop_map(Count::Fixed), Just(Count::Argument)];
    let flags = proptest::array::uniform5(any::<bool>());
    let conversion = (0..ConversionKind::ALL.len(), flags, count, precision).prop_map(
        |(kind, [left, plus, space, alternate, zero], width, precision)| {
            let kind = ConversionKind::ALL[kind];
            let flags =
                Conversion { left, plus, space, alternate, zero, ..Conversion::plain(kind) };
            Piece::Conversion(Conversion { width, precision, ..flags })
        },
    );
    let text = prop::collection::vec(any::<u8>(), 1..6).prop_map(|bytes| Piece::Text(bytes.into()));
    prop::collection::vec(prop_oneof![conversion, text], 0..6).prop_map(|mut pieces| {
        pieces.dedup_by(|a, b| matches!((a, b), (Piece::Text(_), Piece::Text(_))));
        pieces
    })
}

proptest! {
    #[test]
    fn any_text_name_and_format_reads_back(
        bytes in prop::collection::vec(any::<u8>(), 0..20),
        number in any::<i64>(),
        name in "\\PC{1,12}",
        global in "[a-z@'\"\\\\ é]{1,6}",
        pieces in pieces(),
    ) {
        let ops = vec![
            (Op::Const(Const::Long(number)), Some(Type::Long)),
            (Op::Const(Const::Str(bytes.into())), Some(Type::Str(20))),
            (Op::Print(Format { pieces }, Vec::new()), None),
        ];
        let mut module = module_of(ops, Some(name));
        let declaration = parse("global @x[long]: long").expect("a global");
        let mut data = declaration.globals.iter().next().expect("one global").1.clone();
        data.name = global;
        module.globals.alloc(data);
        prop_assert_eq!(parse(&print(&module)), Ok(module));
    }

    #[test]
    fn no_damage_to_a_text_makes_the_parser_panic(cut in any::<prop::sample::Index>(), byte in " -~") {
        let text = everything();
        let at = cut.index(text.len());
        let mut damaged = text.clone();
        damaged.truncate(at);
        let _ = parse(&damaged);
        damaged.push_str(&byte);
        damaged.push_str(&text[(at + 1).min(text.len())..]);
        let _ = parse(&damaged);
    }
}

#[test]
fn errors_name_line_and_column() {
    let cases = [
        ("global n: long", "1:8: expected the global's name, found `n`"),
        ("file f1 \"x\"", "1:6: expected `f0`, found `f1`"),
        ("global @a: long\nglobal @a: long", "2:8: there are two `@a`"),
        ("global @a: thing", "1:12: expected `long`, `str` or `stat`, found `thing`"),
        ("global @a: long loud", "1:17: `loud` is no attribute of a global"),
        ("global @a: long with=@b", "1:22: there is no global `@b`"),
        ("limits speed=1", "1:8: there is no limit `speed`"),
        ("nonsense", "1:1: `nonsense` starts no item"),
        ("regex re0 \"abc", "1:15: the string has no closing quote"),
        ("preamble \"\\q\"", "1:13: `\\q` is no escape"),
        ("probe begin(0) @h0", "1:16: expected `->`, found `@h0`"),
        ("probe begin(0) -> @h0", "1:22: probe `begin(0)` names no handler: h0"),
        ("handler @h1 {\nb0:\n  ret\n}", "1:9: expected `@h0`: handlers come in order"),
        ("handler @h0 {\nb0:\n  jump b7\n}", "3:8: there is no block b7"),
        ("handler @h0 {\nb0:\n  v1 = neg v0: long\n  ret\n}", "3:12: v0 is never defined"),
        (
            "handler @h0 {\nb0:\n  v0 = const 1: long\n  v0 = const 2: long\n  ret\n}",
            "4:3: v0 is defined twice",
        ),
        ("handler @h0 {\nb0:\n  ret\nb0:\n  ret\n}", "4:1: there are two blocks b0"),
        ("handler @h0 {\nb0:\n  wibble\n}", "3:3: there is no instruction `wibble`"),
        (
            "handler @h0 {\nb0:\n  v0 = const 1\n  ret\n}",
            "3:15: expected `:`, found the end of the line",
        ),
        ("handler @h0 {\nb0:\n}", "3:1: expected an instruction or terminator, found `}`"),
        ("handler @h0 {\nb0:\n  print \"%y\"\n  ret\n}", "3:9: byte 0: no such conversion"),
        (
            "handler @h0 {\nb0:\n  ret @f0:1:1\n}",
            "3:7: expected the end of the line, found a position",
        ),
        ("global @a: long max=99999999999", "1:21: 99999999999 is out of range"),
        ("function @f(long) = c \"\"", "1:12: the parameters of a C function have names"),
        ("^", "1:1: `^` starts no token"),
    ];
    for (text, expected) in cases {
        let error = parse(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}
