//! What the kernel may write into its log while a module is loaded, runs and goes.

/// What any module that is built outside the kernel tree and is not signed brings about, once per
/// boot; and what a case does that switches a CPU off and on.
const HARMLESS: [&str; 5] = [
    ": loading out-of-tree module taints kernel.",
    ": module verification failed: signature and/or required key missing - tainting kernel",
    " smpboot: CPU 1 is now offline",
    " x86: Booting SMP configuration:",
    " smpboot: Booting Node 0 Processor 1 APIC 0x1",
];

/// The lines of a log that should not be there.
pub(crate) fn complaints(log: &str) -> Vec<&str> {
    log.lines()
        .filter(|line| !line.trim().is_empty())
        .filter(|line| !HARMLESS.iter().any(|harmless| line.ends_with(harmless)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taint_is_harmless_and_nothing_else_is() {
        let log = "[    3.1] xlate_12: loading out-of-tree module taints kernel.\n\n\
                   [    3.2] BUG: scheduling while atomic\n";
        assert_eq!(complaints(log), ["[    3.2] BUG: scheduling while atomic"]);
    }
}
