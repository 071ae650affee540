//! Names in the emitted C.
//!
//! What stands at file scope could collide with anything that a kernel header declares, so it gets a
//! prefix that no kernel identifier has: `g_` for globals, `fn_` for functions. Locals hide what they
//! are named like, so they keep the script's names, but for words of C, macros, and the few names that
//! the emitted code itself uses inside functions; those get a trailing underscore.

use std::collections::BTreeSet;

/// Words that a local cannot be called: keywords of C, types, macros of the kernel that look like
/// ordinary names, and what emitted functions call or use.
const RESERVED: &[&str] = &[
    "asm",
    "asm_inline",
    "asmlinkage",
    "auto",
    "barrier",
    "bool",
    "break",
    "c",
    "case",
    "char",
    "compat_dev_t",
    "console_loglevel",
    "const",
    "continue",
    "cpu_active_mask",
    "cpu_all_mask",
    "cpu_dying_mask",
    "cpu_enabled_mask",
    "cpu_none_mask",
    "cpu_online_mask",
    "cpu_possible_mask",
    "cpu_present_mask",
    "cpu_primary_thread_mask",
    "current",
    "d_lock",
    "default",
    "default_console_loglevel",
    "default_message_loglevel",
    "do",
    "double",
    "else",
    "enum",
    "errno",
    "extern",
    "fallthrough",
    "false",
    "first_memory_node",
    "first_online_node",
    "float",
    "for",
    "force_read_lock_recursive",
    "frame",
    "ftrace_return_address0",
    "get_cycles",
    "goto",
    "i386",
    "if",
    "inline",
    "int",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "likely",
    "linux",
    "local_softirq_pending_ref",
    "long",
    "main",
    "max",
    "min",
    "minimum_console_loglevel",
    "node_online_map",
    "node_possible_map",
    "noinline",
    "noinstr",
    "notrace",
    "nr_cpu_ids",
    "pageblock_nr_pages",
    "pageblock_order",
    "paravirt_nop",
    "pgoff_t",
    "point",
    "rcu_head",
    "register",
    "restrict",
    "return",
    "s16",
    "s32",
    "s64",
    "s8",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "static",
    "struct",
    "swap",
    "switch",
    "sysfs_deprecated",
    "true",
    "typedef",
    "typeof",
    "u16",
    "u32",
    "u64",
    "u8",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "union",
    "unix",
    "unlikely",
    "unsigned",
    "vmemmap",
    "void",
    "volatile",
    "while",
    "x32_enabled",
];

/// Beginnings of names that macros of the kernel or emitted names have.
const RESERVED_PREFIXES: &[&str] = &[
    "STAP_",
    "__",
    "_linux_",
    "_struct_",
    "alt_",
    "elf_",
    "fn_",
    "g_",
    "handler_",
    "ifc_",
    "ifr_",
    "pbe_",
    "pt_regs_",
    "randomized_struct_",
    "saved_context_",
    "si_",
    "sigev_",
    "xa_limit_",
    "xl_",
];

/// A scope in which names are unique.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scope {
    used: BTreeSet<String>,
}

impl Scope {
    /// A name for a local: `hint` if it is free and allowed, else something like it.
    pub(crate) fn local(&mut self, hint: &str) -> String {
        let mut name = identifier(hint);
        if is_reserved(&name) {
            // Another beginning for what C keeps for itself: no end makes a difference there.
            name = format!("{}_", if name.starts_with('_') { format!("v{name}") } else { name });
        }
        self.unique(&name)
    }

    /// A name that is free, `name` if it is.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        if self.used.insert(name.to_owned()) {
            return name.to_owned();
        }
        let separator = if name.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        for n in 2_u32.. {
            let candidate = format!("{name}{separator}{n}");
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
        name.to_owned()
    }
}

/// The name with everything that cannot stand in a C identifier replaced.
pub(crate) fn identifier(name: &str) -> String {
    let mut out: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}

fn is_reserved(name: &str) -> bool {
    // Constants of the kernel may end in small letters: `PG_table`.
    let no_small = |text: &str| !text.contains(|c: char| c.is_ascii_lowercase());
    let (stem, _) = name.split_once('_').unwrap_or((name, ""));
    let is_constant = no_small(name) || stem.len() > 1 && no_small(stem);
    // The compiler's own names, and those of the runtime's macros.
    let is_of_c = name.starts_with('_') && name[1..].starts_with(|c: char| c.is_ascii_uppercase());
    is_constant
        || is_of_c
        || name.ends_with('_')
        || RESERVED.binary_search(&name).is_ok()
        || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn locals_keep_their_names_where_c_lets_them() {
        let mut scope = Scope::default();
        assert_eq!(scope.local("count"), "count");
        assert_eq!(scope.local("count"), "count2");
        assert_eq!(scope.local("current"), "current_");
        assert_eq!(scope.local("MAX"), "MAX_");
        assert_eq!(scope.local("value_"), "value__");
        assert_eq!(scope.local("_Bool"), "v_Bool_");
        assert_eq!(scope.local("__x"), "v__x_");
        assert_eq!(scope.local("$x"), "_x");
        assert_eq!(scope.local("v1"), "v1");
        assert_eq!(scope.local("v1"), "v1_2");
    }

    /// Macros that look like variables, in what a module may include, on all installed kernels. One
    /// that stands for another name only renames a local everywhere.
    #[test]
    fn macros_of_the_kernel_are_on_the_list() {
        let runtime = concat!(env!("CARGO_MANIFEST_DIR"), "/../runtime/linux");
        let mut headers: Vec<String> = std::fs::read_dir(runtime)
            .expect("the runtime is there")
            .map(|entry| entry.expect("listed").file_name().to_string_lossy().into_owned())
            .filter(|name| name.ends_with(".h") && name != "module.h")
            .collect();
        headers.sort();
        let includes: String =
            headers.iter().map(|name| format!("#include \"{name}\"\n")).collect();
        for entry in std::fs::read_dir("/lib/modules").into_iter().flatten().flatten() {
            let build = entry.path().join("build");
            if !build.join("Makefile").exists() {
                continue;
            }
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join("all.c"), &includes).expect("written");
            let kbuild = format!("obj-m := all.o\nccflags-y := -I{runtime} -dM\n");
            std::fs::write(folder.path().join("Kbuild"), kbuild).expect("written");
            let make = std::process::Command::new("make")
                .args(["-s", "-C"])
                .arg(&build)
                .arg(format!("M={}", folder.path().display()))
                .arg("all.i")
                .output()
                .expect("make can be started");
            assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
            let macros = std::fs::read_to_string(folder.path().join("all.i")).expect("made");
            assert!(macros.lines().count() > 1000);
            let left: Vec<&str> = macros.lines().filter_map(variable_like).collect();
            assert!(left.is_empty(), "{}: {left:?}", build.display());
        }
    }

    /// The name of a macro that a local must not have, and may.
    fn variable_like(line: &str) -> Option<&str> {
        let (name, body) = line.strip_prefix("#define ")?.split_once(' ')?;
        let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let renames = is_name(body) && body.starts_with(|c: char| !c.is_ascii_digit());
        (is_name(name) && !renames && !is_reserved(name)).then_some(name)
    }
}
