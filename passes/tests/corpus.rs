//! The standard pipeline over what the corpus of scripts lowers to.

mod lowered;

use std::collections::BTreeSet;

use xlate_ir::module::Module;
use xlate_ir::text::print;
use xlate_passes::manager::{Observer, Options, run};
use xlate_passes::pipeline::Pipeline;
use xlate_passes::registry::{PASSES, Pass};

/// Collects which passes change something.
#[derive(Default)]
struct Changes(BTreeSet<&'static str>);

impl Observer for Changes {
    fn after(&mut self, pass: &Pass, _: &Module, changed: bool) {
        if changed {
            self.0.insert(pass.name);
        }
    }
}

#[test]
fn scripts_give_their_snapshots_and_every_pass_has_work() {
    let mut changes = Changes::default();
    let options = Options { verify_each: true, ..Options::default() };
    let mut settings = insta::Settings::clone_current();
    let snapshots = concat!(env!("CARGO_MANIFEST_DIR"), "/../snapshots/passes/corpus");
    settings.set_snapshot_path(snapshots);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (name, mut module) in lowered::modules() {
        run(&mut module, &Pipeline::standard(), &options, &mut changes)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        settings.bind(|| insta::assert_snapshot!(name, print(&module)));
    }
    // Lowering makes updates of `n += e` itself, and no two functions of the corpus are alike.
    let rare = ["updates", "duplicate-functions", "similar-functions"];
    let names = PASSES.iter().map(|pass| pass.name).filter(|name| !rare.contains(name));
    let idle: Vec<&str> = names.filter(|name| !changes.0.contains(name)).collect();
    assert_eq!(idle, Vec::<&str>::new(), "passes that no script of the corpus needs");
}

#[test]
fn a_second_run_finds_nothing_more() {
    // What has become small by the end of the first run would be inlined.
    let standard = Pipeline::standard().to_string().replace("inline,", "");
    let standard = Pipeline::parse(&standard).expect("a pipeline");
    let options = Options { verify_each: true, ..Options::default() };
    for (name, mut module) in lowered::modules() {
        let mut changes = Changes::default();
        run(&mut module, &standard, &options, &mut changes)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let once = print(&module);
        run(&mut module, &standard, &options, &mut changes)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(print(&module), once, "{name}");
    }
}
