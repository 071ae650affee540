//! `--record`: probes beside a script's own, which tell of each hit of its kernel probe points.
//!
//! They are script themselves, so a hit is recorded through the same gate and in the same output
//! as what the script prints: a handler that is turned away or whose output is lost is not in the
//! file either, and the run's last warning counts it.

use std::collections::BTreeSet;

use xlate_elaborate::program::{Probe, ProbeKind, Program};

/// What the lines begin with that are not the script's output; `xlate_run` takes them out.
const MARK: &str = "\\002";

/// The name of the recording probes in messages.
pub const NAME: &str = "<recorder>";

/// The script of the recording probes, in the language of scripts.
pub fn script(program: &Program) -> String {
    let points: BTreeSet<&str> =
        program.probes.iter().filter(|probe| is_fired(probe)).map(|probe| &*probe.name).collect();
    let mut text = format!(
        "probe begin(-9223372036854775807) {{\n\
         \tprintf(\"{MARK}start %d %d\\n\", gettimeofday_ns(), ktime_get_ns())\n}}\n"
    );
    if !points.is_empty() {
        let points: Vec<&str> = points.into_iter().collect();
        text += &format!(
            "probe {} {{\n\
             \tprintf(\"{MARK}%d %s %d %d %d \\\"%s\\\" uid=%d gid=%d ppid=%d pexecname=\\\"%s\\\"\\n\",\n\
             \t\tktime_get_ns(), pp(), cpu(), pid(), tid(), text_str(execname()), uid(), gid(), ppid(),\n\
             \t\ttext_str(pexecname()))\n}}\n",
            points.join(" ?, ") + " ?"
        );
    }
    text
}

/// Whether an event file can fire a probe.
fn is_fired(probe: &Probe) -> bool {
    matches!(probe.kind, ProbeKind::Tracepoint(_) | ProbeKind::Kprobe(_) | ProbeKind::Kretprobe(..))
}
