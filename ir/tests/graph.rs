//! Control-flow graph, dominators, loops and liveness, shown block by block.

use std::fmt::Write;

use xlate_ir::cfg::{Cfg, Dominators, Loops};
use xlate_ir::entities::{Block, Entity};
use xlate_ir::liveness::Liveness;
use xlate_ir::module::Body;
use xlate_ir::text::parse;

/// One line for each block that can be reached: edges, dominator, loops, values that are live.
fn describe(text: &str) -> String {
    let module = parse(&format!("global @n: long serial\nhandler @h0 {{\n{text}}}\n"))
        .unwrap_or_else(|error| panic!("{error}"));
    let body: &Body = &module.handlers.iter().next().expect("one handler").1.body;
    let cfg = Cfg::of(body);
    let dominators = Dominators::of(&cfg);
    let loops = Loops::of(&cfg, &dominators);
    let live = Liveness::of(body, &cfg);
    let list = |blocks: &[Block]| {
        blocks.iter().map(|block| block.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut out = String::new();
    for &block in cfg.reverse_postorder() {
        let _ = write!(out, "{block} from [{}]", list(cfg.predecessors(block)));
        if let Some(parent) = dominators.immediate(block) {
            let _ = write!(out, " below {parent}");
        }
        if let Some(natural) = loops.innermost(block) {
            let _ = write!(out, " in loop {} depth {}", natural.header, natural.depth);
        }
        let _ = writeln!(out, " live {:?} then {:?}", live.live_in(block), live.live_out(block));
    }
    let cyclic = cfg.in_cycle();
    let cyclic: Vec<Block> =
        (0..body.blocks.len()).filter(|&n| cyclic[n]).map(Block::from_index).collect();
    let _ = write!(out, "cyclic: {}", list(&cyclic));
    out
}

#[test]
fn a_diamond() {
    let text = "b0:
  v0 = ctx.pid: long
  branch v0, b1, b2(v0)
b1:
  v1 = neg v0: long
  jump b3(v1)
b2(v2: long):
  jump b3(v2)
b3(v3: long):
  store @n, v3
  ret
b4:
  jump b3(v3)
";
    let expected = "\
b0 from [] live {} then {v0}
b1 from [b0] below b0 live {v0} then {}
b2 from [b0] below b0 live {} then {}
b3 from [b1 b2] below b0 live {} then {}
cyclic: ";
    assert_eq!(describe(text), expected);
}

#[test]
fn loops_in_loops() {
    let text = "b0:
  v0 = ctx.pid: long
  jump b1(v0)
b1(v1: long):
  branch v1, b2(v1), b5
b2(v2: long):
  branch v2, b3, b4
b3:
  v3 = sub v2, v0: long
  jump b2(v3)
b4:
  v4 = sub v1, v0: long
  jump b1(v4)
b5:
  ret
";
    let expected = "\
b0 from [] live {} then {v0}
b1 from [b0 b4] below b0 in loop b1 depth 0 live {v0} then {v0, v1}
b2 from [b1 b3] below b1 in loop b2 depth 1 live {v0, v1} then {v0, v1, v2}
b3 from [b2] below b2 in loop b2 depth 1 live {v0, v1, v2} then {v0, v1}
b4 from [b2] below b2 in loop b1 depth 0 live {v0, v1} then {v0}
b5 from [b1] below b1 live {} then {}
cyclic: b1 b2 b3 b4";
    assert_eq!(describe(text), expected);
}

#[test]
fn a_circle_with_two_entries_is_no_natural_loop() {
    let text = "b0:
  v0 = ctx.pid: long
  branch v0, b1, b2
b1:
  branch v0, b2, b3
b2:
  jump b1
b3:
  ret
";
    let expected = "\
b0 from [] live {} then {v0}
b2 from [b0 b1] below b0 live {v0} then {v0}
b1 from [b0 b2] below b0 live {v0} then {v0}
b3 from [b1] below b1 live {} then {}
cyclic: b1 b2";
    assert_eq!(describe(text), expected);
}

#[test]
fn errors_are_edges() {
    let text = "b0:
  v0 = ctx.pid: long
  v1 = div v0, v0: long
  try b1, b2(v0)
b1:
  v2 = const \"no\": str<2>
  raise v2, catch b2(v1)
b2(v3: long):
  store @n, v3
  ret
";
    let expected = "\
b0 from [] live {} then {v1}
b1 from [b0] below b0 live {v1} then {}
b2 from [b0 b1] below b0 live {} then {}
cyclic: ";
    assert_eq!(describe(text), expected);
}

#[test]
fn the_nearest_common_dominator() {
    let text = "handler @h0 {
b0:
  v0 = ctx.pid: long
  jump b1
b1:
  branch v0, b2, b3
b2:
  branch v0, b4, b5
b3:
  ret
b4:
  ret
b5:
  ret
b6:
  ret
}";
    let module = parse(text).expect("a module");
    let body = &module.handlers.iter().next().expect("one handler").1.body;
    let dominators = Dominators::of(&Cfg::of(body));
    let b = Block::from_index;
    assert_eq!(dominators.common(b(4), b(5)), b(2));
    assert_eq!(dominators.common(b(4), b(3)), b(1));
    assert_eq!(dominators.common(b(2), b(5)), b(2));
    assert!(dominators.dominates(b(1), b(5)) && dominators.dominates(b(5), b(5)));
    assert!(!dominators.dominates(b(2), b(3)));
    // What cannot be reached is apart.
    assert!(!dominators.dominates(b(0), b(6)) && dominators.dominates(b(6), b(6)));
}
