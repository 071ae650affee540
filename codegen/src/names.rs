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
    "cpu_online_mask",
    "cpu_possible_mask",
    "cpu_present_mask",
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
    "float",
    "for",
    "frame",
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
    "long",
    "main",
    "max",
    "min",
    "noinline",
    "noinstr",
    "notrace",
    "nr_cpu_ids",
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
];

/// Beginnings of names that macros of the kernel or emitted names have.
const RESERVED_PREFIXES: &[&str] =
    &["__", "elf_", "fn_", "g_", "handler_", "ifc_", "ifr_", "si_", "sigev_", "xl_", "STAP_"];

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
            name.push('_');
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
    let is_constant = name.chars().all(|c| !c.is_ascii_lowercase());
    is_constant
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
        assert_eq!(scope.local("$x"), "_x");
        assert_eq!(scope.local("v1"), "v1");
        assert_eq!(scope.local("v1"), "v1_2");
    }
}
