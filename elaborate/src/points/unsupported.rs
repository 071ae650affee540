//! Probe points that SystemTap has and xlate does not, with a way out where there is one.

use super::{Failure, render};
use xlate_grammar::Span;
use xlate_grammar::ast::{Functor, LiteralValue};

fn failure(span: Span, message: impl Into<String>) -> Failure {
    let mut failure = Failure::wrong(span, message, "not supported");
    failure.unsupported = true;
    failure
}

/// A point of a family that is not supported; `None` if there is no such family.
pub(super) fn family(components: &[Functor], span: Span) -> Option<Failure> {
    let names: Vec<&str> = components.iter().map(|c| c.name.name.as_str()).collect();
    let written = render(components);
    let what = |what: &str| failure(span, format!("`{written}`: {what} are not supported"));
    Some(match names.as_slice() {
        ["kernel" | "module", "function" | "inline", ..] | ["kprobe", "statement", ..] => {
            let failed = what("probes that need debug information");
            match way_out(components) {
                Some(instead) => failed
                    .note(format!("`{instead}` probes the same function, without its variables")),
                None => failed.note("`kprobe.function(\"NAME\")` probes the entry of a function"),
            }
        }
        ["kernel" | "module", "statement", ..] => what("probes of statements")
            .note("`kprobe.function(\"NAME\")` probes a function's entry"),
        ["kernel", "mark" | "data" | "unmangled", ..] => what("markers and data watchpoints")
            .note("`kernel.trace(\"NAME\")` probes a tracepoint"),
        ["kernel" | "module" | "kprobe", ..] => {
            let known = "kernel.trace(\"NAME\"), kprobe.function(\"NAME\") and its .return";
            let message = format!("unknown probe point `{written}`");
            Failure::wrong(span, message, "there is no such form")
                .note(format!("there are {known}"))
        }
        ["process", ..] => what("probes of user space"),
        ["perf", ..] => what("performance counters")
            .note("`timer.profile` fires on every CPU at regular intervals"),
        ["syscall" | "nd_syscall", name, rest @ ..] => {
            let failed = what("probes of one system call");
            let all = if rest.contains(&"return") { "sys_exit" } else { "sys_enter" };
            let all = format!("`kernel.trace(\"{all}\")` probes all of them");
            let suffix = if rest.contains(&"return") { ".return" } else { "" };
            if name.contains('*') {
                failed.note(all)
            } else {
                failed.note(format!(
                    "`kprobe.function(\"__x64_sys_{name}\"){suffix}` probes it on x86-64, and {all}"
                ))
            }
        }
        ["procfs", ..] => what("files in /proc"),
        ["netfilter", ..] => what("netfilter hooks"),
        ["java" | "python2" | "python3", ..] => what("probes of language runtimes"),
        _ => return None,
    })
}

/// The kprobe at the function that a `kernel.function` names, if it names just one.
fn way_out(components: &[Functor]) -> Option<String> {
    let index = components.iter().position(|c| c.name.name == "function")?;
    let LiteralValue::String(name) = &components[index].arg.as_ref()?.value else { return None };
    let name = name.as_str()?.split('@').next()?;
    if name.contains(['*', '?', '[', ':']) {
        return None;
    }
    let suffix: Vec<&str> = components[index + 1..].iter().map(|c| c.name.name.as_str()).collect();
    match suffix.as_slice() {
        [] | ["call"] => Some(format!("kprobe.function(\"{name}\")")),
        ["return", ..] => Some(format!("kprobe.function(\"{name}\").return")),
        _ => None,
    }
}

/// A point with wildcards that no alias matches.
pub(super) fn wildcard(components: &[Functor], span: Span) -> Option<Failure> {
    family(components, span).filter(|failure| failure.unsupported)
}

/// A pattern where a name has to stand.
pub(super) fn pattern(what: &str, span: Span) -> Failure {
    failure(span, format!("wildcards in the name of a {what} are not supported"))
        .note(format!("list the names that are wanted: one {what} each"))
}

/// Forms of `timer.profile`.
pub(super) fn profile(components: &[Functor], span: Span) -> Failure {
    failure(span, format!("`{}` is not supported", render(components)))
        .note("`timer.profile` fires on every CPU at regular intervals")
}
