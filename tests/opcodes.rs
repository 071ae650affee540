//! Every operation of the IR is reached by some script of the corpus, as lowered or optimized.

#[allow(dead_code, reason = "every test uses its part")]
mod common;
#[path = "common/opcodes.rs"]
mod opcodes;

use std::collections::BTreeSet;

use xlate_passes::manager::{self, NoObserver};
use xlate_passes::pipeline::Pipeline;

use common::{library, lowered, scripts};
use opcodes::{all, note_module};

#[test]
fn every_operation_is_reached() {
    let library = library();
    let mut reached = BTreeSet::new();
    for script in scripts("tests/corpus").iter().filter(|script| script.last_pass > 2) {
        // Scripts that are refused have a test of their own.
        let Ok(mut module) = lowered(script, &library) else { continue };
        note_module(&module, &mut reached);
        let options = manager::Options::default();
        let run = manager::run(&mut module, &Pipeline::standard(), &options, &mut NoObserver);
        if run.is_ok() {
            note_module(&module, &mut reached);
        }
    }
    let missing: Vec<String> = all().difference(&reached).cloned().collect();
    assert_eq!(missing, Vec::<String>::new(), "reached: {reached:?}");
}
