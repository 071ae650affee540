//! Host programs of C that a test has made itself.

use std::path::Path;
use std::sync::OnceLock;

use xlate_run::{Built, Cache, HostRequest, Interrupts, build_host};

/// Builds a program, or finds it in the cache of the tests.
pub(crate) fn build(c: &str, flags: &str) -> Built {
    static INTERRUPTS: OnceLock<Interrupts> = OnceLock::new();
    let interrupts = INTERRUPTS.get_or_init(|| Interrupts::catch().expect("signals"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let cache = Cache::open_at(folder.join("xlate")).expect("a cache");
    let variables = [format!("CFLAGS={flags}")];
    let request = HostRequest {
        source: c,
        name: None,
        variables: &variables,
        cache: Some(&cache),
        keep: false,
        interrupts,
    };
    build_host(&request).expect("compiled")
}
