//! What is read from the kernels that are installed on this machine, against what any kernel of
//! a distribution has.

use std::fs;

use xlate_symbols::{Kernel, KernelSpec, Presence};

/// The releases that have both headers and an image here.
fn installed() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/lib/modules") else { return Vec::new() };
    let releases = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let complete = |release: &String| {
        fs::exists(format!("/lib/modules/{release}/build")).unwrap_or(false)
            && fs::exists(format!("/boot/vmlinuz-{release}")).unwrap_or(false)
    };
    releases.filter(complete).collect()
}

#[test]
fn names_and_options_of_installed_kernels() {
    for release in installed() {
        let spec = KernelSpec::Release(release.clone());
        let kernel = Kernel::open(&spec).expect("installed");
        assert_eq!(kernel.config().expect("config").get("CONFIG_TRACEPOINTS"), Some("y"));
        assert!(kernel.exports().expect("exports").len() > 10_000, "{release}");

        // A declared name is believed at once; what the image says must not contradict it.
        for name in ["sys_enter", "sched_switch", "timer_start", "netif_rx"] {
            assert_eq!(kernel.tracepoint(name), Presence::Present, "{release} {name}");
        }
        assert_eq!(kernel.tracepoint("sched_swich"), Presence::Absent, "{release}");
        for name in ["sys_enter", "sched_switch", "timer_start", "netif_rx"] {
            assert_eq!(kernel.tracepoint(name), Presence::Present, "{release} {name}");
        }
        let tracepoints = kernel.tracepoints().expect("tracepoints");
        assert!(tracepoints.len() > 500, "{release}: {}", tracepoints.len());
        assert!(tracepoints.is_sorted());

        assert_eq!(kernel.functions_named("do_exit"), Some(1), "{release}");
        assert_eq!(kernel.function("do_exitt"), Presence::Absent, "{release}");
        assert!(kernel.functions().expect("functions").len() > 30_000, "{release}");
        assert!(kernel.names_error().is_none());
    }
}
