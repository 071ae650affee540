//! Every script of the corpus and every example goes through passes 1 to 3, with and without the
//! optimizing passes.

mod common;

use xlate_grammar::SourceMap;
use xlate_passes::pipeline::Pipeline;

use common::{elaborate, emitted, library, lowered, parse, scripts};

#[test]
fn every_script_is_translated() {
    let library = library();
    let mut failures = Vec::new();
    let mut all = scripts("tests/corpus");
    all.extend(scripts("examples").into_iter().map(|mut script| {
        script.args = vec!["vfs_read".to_owned()];
        script
    }));
    all.extend(scripts("bench/scripts"));
    for script in &all {
        let outcome = match script.last_pass {
            1 => parse(script, &library, &mut SourceMap::new()).map(drop),
            2 => elaborate(script, &library, &mut SourceMap::new()).map(drop),
            _ => lowered(script, &library).and_then(|module| {
                emitted(module.clone(), &Pipeline::none())?;
                emitted(module, &Pipeline::standard()).map(drop)
            }),
        };
        if let Err(message) = outcome {
            failures.push(format!("{}:\n{message}", script.name));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} scripts:\n{}",
        failures.len(),
        all.len(),
        failures.join("\n")
    );
}
