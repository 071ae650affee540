//! Tracepoint names as the header tree declares them.
//!
//! The macros `TRACE_EVENT`, `DEFINE_EVENT`, `DECLARE_TRACE` and their variants name most
//! tracepoints outright. Some headers wrap them in macros of their own, which only a preprocessor
//! could follow, and a declaration does not prove that the kernel was configured to have the
//! tracepoint. So a name found here is good news and a missing name is no news.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The folders of a header tree that hold tracepoint declarations.
const FOLDERS: [&str; 2] = ["include/trace/events", "arch/x86/include/asm/trace"];

/// Macros whose first argument is a tracepoint's name.
const NAME_FIRST: [&str; 7] = [
    "TRACE_EVENT",
    "TRACE_EVENT_CONDITION",
    "TRACE_EVENT_FN",
    "TRACE_EVENT_FN_COND",
    "TRACE_EVENT_RCU",
    "TRACE_EVENT_SYSCALL",
    "TRACE_EVENT_NOP",
];

/// Macros whose second argument is a tracepoint's name; the first is its event class.
const NAME_SECOND: [&str; 4] =
    ["DEFINE_EVENT", "DEFINE_EVENT_FN", "DEFINE_EVENT_PRINT", "DEFINE_EVENT_CONDITION"];

/// Macros that declare a tracepoint without an event; newer kernels append `_tp` to its name.
const BARE: [&str; 2] = ["DECLARE_TRACE", "DECLARE_TRACE_CONDITION"];

/// The tracepoint names declared in a header tree, sorted. Unreadable files are passed over.
pub(crate) fn tracepoints(source: &Path) -> Vec<String> {
    let mut names = BTreeSet::new();
    for folder in FOLDERS {
        let Ok(entries) = fs::read_dir(source.join(folder)) else { continue };
        for entry in entries.flatten() {
            if let Ok(text) = fs::read_to_string(entry.path()) {
                declared_in(&text, &mut names);
            }
        }
    }
    names.into_iter().collect()
}

/// Adds the tracepoints that one header declares.
fn declared_in(text: &str, names: &mut BTreeSet<String>) {
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let before = &rest[..open];
        let after = &rest[open + 1..];
        rest = after;
        // Only macros at the start of a line: the definition of one has `#define` before it.
        let line = before.rfind('\n').map_or(before, |newline| &before[newline + 1..]);
        let macro_name = line.trim_end();
        if !macro_name.starts_with(['T', 'D']) {
            continue;
        }
        let mut arguments = after.splitn(3, [',', ')']).map(str::trim);
        let (first, second) = (arguments.next(), arguments.next());
        if NAME_FIRST.contains(&macro_name) {
            names.extend(first.and_then(identifier));
        } else if NAME_SECOND.contains(&macro_name) {
            names.extend(second.and_then(identifier));
        } else if BARE.contains(&macro_name)
            && let Some(name) = first.and_then(identifier)
        {
            names.insert(format!("{name}_tp"));
            names.insert(name);
        }
    }
}

/// The text, if it is a C identifier.
fn identifier(text: &str) -> Option<String> {
    let is_name = !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let mut names = BTreeSet::new();
        declared_in(text, &mut names);
        names.into_iter().collect()
    }

    #[test]
    fn declarations_of_every_kind() {
        let text = "\
TRACE_EVENT_FN(sys_enter,\n\tTP_PROTO(struct pt_regs *regs, long id),\n\tsyscall_regfunc\n);\n\
DECLARE_EVENT_CLASS(class_one, TP_PROTO(int a));\n\
DEFINE_EVENT(class_one, one_b,\n\tTP_PROTO(int a));\n\
DEFINE_EVENT(class_one,\n\tone_a,\n\tTP_PROTO(int a));\n\
DECLARE_TRACE(bare,\n\tTP_PROTO(int a));\n\
TRACE_EVENT (spaced, TP_PROTO(int a));\n";
        assert_eq!(names(text), ["bare", "bare_tp", "one_a", "one_b", "spaced", "sys_enter"]);
    }

    #[test]
    fn definitions_of_macros_declare_nothing() {
        assert!(names("#define DEFINE_EVENT(template, name, proto, args)\n").is_empty());
        assert!(names("\tDEFINE_EVENT(class, name##_entry, TP_PROTO(int a))\n").is_empty());
        assert!(names("DEFINE_EVENT(class, name##_exit, TP_PROTO(int a))\n").is_empty());
    }
}
