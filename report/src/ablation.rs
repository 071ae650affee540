//! What each pass is worth: the standard pipeline without it, for `bench/run ablation`.
//!
//! All numbers are static. They say that a pass matters to a script, not by how much it makes a probe
//! faster, which only running it tells.

use xlate_codegen::EmitOptions;
use xlate_ir::module::Module;
use xlate_passes::manager::{NoObserver, Options, run};
use xlate_passes::pipeline::Pipeline;
use xlate_passes::registry::PASSES;

use crate::measure::Measures;

/// A count that changes when a pass is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The pass.
    pub pass: &'static str,
    /// What is counted.
    pub metric: &'static str,
    /// The count after all passes.
    pub with: u64,
    /// The count after all but this one.
    pub without: u64,
}

/// What is counted: the measures of the IR, and the length of the C.
type Counts = Vec<(&'static str, u64)>;

/// For a module that no pass has seen, the counts that change when a pass is left out of the standard
/// pipeline, pass by pass in the order in which `--passes` lists them.
///
/// # Errors
/// What is wrong with the IR, or why there is no C of it, with the name of the pass that was left out.
pub fn differences(module: &Module) -> Result<Vec<Difference>, String> {
    let with = counts(module, &Pipeline::standard())?;
    let mut differences = Vec::new();
    for pass in PASSES {
        let rest = Pipeline::standard().without(pass.name);
        let without =
            counts(module, &rest).map_err(|error| format!("without {}: {error}", pass.name))?;
        for (&(metric, with), (_, without)) in with.iter().zip(without) {
            if with != without {
                differences.push(Difference { pass: pass.name, metric, with, without });
            }
        }
    }
    Ok(differences)
}

fn counts(module: &Module, pipeline: &Pipeline) -> Result<Counts, String> {
    let mut module = module.clone();
    let options = Options { verify_each: false, ..Options::default() };
    run(&mut module, pipeline, &options, &mut NoObserver).map_err(|error| error.to_string())?;
    let emitted = xlate_codegen::emit(&module, &EmitOptions::default());
    let emitted = emitted.map_err(|error| error.to_string())?;
    let mut counts = Measures::of(&module).rows().to_vec();
    counts.push(("lines of C", emitted.c.lines().count() as u64));
    counts.push(("bytes of frames", emitted.frames.iter().map(|f| u64::from(f.bytes)).sum()));
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_that_matters_shows_and_others_do_not() {
        let module = xlate_ir::text::parse(
            "global @k: long = 3\n\
             probe timer.profile -> @h0\n\
             handler @h0 {\n\
             b0:\n\
             \x20 lock @k:read\n\
             \x20 v0 = load @k: long\n\
             \x20 print \"%d\", v0\n\
             \x20 unlock @k\n\
             \x20 ret\n}\n",
        )
        .expect("a module");
        let found = differences(&module).expect("all pipelines run");
        let globals: Vec<_> =
            found.iter().filter(|difference| difference.metric == "globals").collect();
        let by = |pass| Difference { pass, metric: "globals", with: 0, without: 1 };
        assert_eq!(globals, [&by("global-constness"), &by("unused-globals")]);
        assert!(!found.iter().any(|difference| difference.pass == "loop-invariants"), "{found:?}");
    }
}
