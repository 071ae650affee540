//! Hundreds of handlers that differ in literals become one body and a table.

mod common;
#[path = "../bench/src/family.rs"]
mod family;

use xlate_passes::pipeline::Pipeline;

use common::{Script, emitted, library, lowered, root};

/// The bytes of C of the family that the benchmark measures, with so many members: what is not in a
/// table, and what is.
fn sizes(members: usize) -> (usize, usize) {
    let mut script = Script::read(&root().join("bench/families/literals.stp"));
    script.text = family::script(&script.text, members);
    let module = lowered(&script, &library()).expect("a script");
    family::code_and_tables(&emitted(module, &Pipeline::standard()).expect("C"))
}

#[test]
fn four_hundred_handlers_are_hardly_more_code_than_four() {
    let (few, few_tables) = sizes(4);
    let (many, many_tables) = sizes(400);
    assert!(10 * many <= 16 * few, "{many} bytes of C are more than 1.6 times {few}");
    // A row in the table of probe points, and a record, for each.
    let row = (many_tables - few_tables) / 396;
    assert!(row <= 300, "a handler takes {row} bytes in the tables");
}
