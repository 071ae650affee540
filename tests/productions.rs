//! Every construct of the language is used by some script of the corpus.

#[allow(dead_code, reason = "every test uses its part")]
mod common;

use xlate_grammar::SourceMap;
use xlate_grammar::coverage::Coverage;

use common::{library, parse, scripts};

#[test]
fn every_construct_is_used() {
    let library = library();
    let mut coverage = Coverage::new();
    for script in scripts("tests/corpus") {
        // Scripts that are refused have a test of their own.
        if let Ok((tree, _)) = parse(&script, &library, &mut SourceMap::new()) {
            coverage.add(&tree);
        }
    }
    assert_eq!(coverage.missing(), [""; 0]);
}
