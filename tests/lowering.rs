//! What lowering makes of every script of the corpus, in `snapshots/lower/corpus`.

#[allow(dead_code, reason = "every test uses its part")]
mod common;

use xlate_ir::text::print;

use common::{library, lowered, root, scripts};

#[test]
fn the_corpus_lowers_as_before() {
    let library = library();
    for script in scripts("tests/corpus").iter().filter(|script| script.last_pass > 2) {
        let text = lowered(script, &library).map_or_else(|refusal| refusal, |m| print(&m));
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(root().join("snapshots/lower/corpus"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_input_file(root().join(&script.name));
        let name = script.name.trim_start_matches("tests/corpus/").trim_end_matches(".stp");
        settings.bind(|| insta::assert_snapshot!(name.replace('/', "-"), text));
    }
}
