//! Hundreds of handlers that differ in literals become one body and a table.

mod common;

use std::fmt::Write;

use xlate_passes::pipeline::Pipeline;

use common::{Script, emitted, library, lowered};

/// A script with this many handlers, each on two probe points, which differ in strings, numbers and
/// positions, and can fail.
fn family(count: usize) -> Script {
    let mut text = String::from("global hits[4000], total[1000], slow\n");
    for n in 0..count {
        let _ = write!(
            text,
            r#"
probe kernel.trace("point_{n}"), timer.ms({}) {{
  if (pid() > {n}) {{
    hits["call_{n}", tid()]++
    total[{n}] += {n} * 3
    if (total[{n}] / 3 > 1000 + {n})
      printf("%s %d: %d\n", "call_{n}", {n}, total[{n}])
  }} else
    slow++
}}
"#,
            100 + n
        );
    }
    text.push_str("probe end { println(slow) foreach ([s, t] in hits) println(s, hits[s, t]) }\n");
    text.push_str("probe end { foreach (n in total-) println(n) }\n");
    Script {
        name: "family.stp".into(),
        text,
        args: Vec::new(),
        guru: false,
        settings: Vec::new(),
        last_pass: 3,
    }
}

/// The C of a family, taken apart: what is not in a table, and what is.
fn sizes(count: usize) -> (usize, usize) {
    let module = lowered(&family(count), &library()).expect("a script");
    let c = emitted(module, &Pipeline::standard()).expect("C");
    let (mut code, mut table, mut in_table) = (0, 0, false);
    for line in c.lines() {
        in_table |= line.starts_with("static ") && line.ends_with("[] = {");
        *(if in_table { &mut table } else { &mut code }) += line.len() + 1;
        in_table &= line != "};";
    }
    (code, table)
}

#[test]
fn four_hundred_handlers_are_hardly_more_code_than_four() {
    let (few, few_table) = sizes(4);
    let (many, many_table) = sizes(400);
    assert!(10 * many <= 16 * few, "{many} bytes of C are more than 1.6 times {few}");
    // Two rows in tables of probe points, and one record, for each.
    let row = (many_table - few_table) / (2 * 396);
    assert!(row <= 250, "a probe point takes {row} bytes in the tables");
}
