//! What parsing depends on besides the text.

use crate::preprocess::Macro;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the user may do, as `systemtap_privilege` tells scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Privilege {
    /// `stapusr`
    User,
    /// `stapsys`
    System,
    /// `stapdev`
    #[default]
    Developer,
}

impl Privilege {
    /// The name of the group.
    pub fn name(self) -> &'static str {
        match self {
            Privilege::User => "stapusr",
            Privilege::System => "stapsys",
            Privilege::Developer => "stapdev",
        }
    }
}

/// What the conditions `%( … %? … %)` can ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Release of the probed kernel, such as `6.1.0-18-amd64`: `kernel_vr`, and up to its first
    /// `-` it is `kernel_v`.
    pub kernel_release: String,
    /// The architecture as the kernel's build system names it, such as `x86_64`: `arch`.
    pub arch: String,
    /// The kernel's configuration by option, with the values as they stand in `.config`: `y`, `m`,
    /// `250`, `"quoted"`. Unset options are left out.
    pub kconfig: BTreeMap<String, String>,
    /// Whether embedded C is allowed in scripts (`-g`): `guru_mode`.
    pub guru_mode: bool,
    /// The version of SystemTap whose language is spoken: `systemtap_v`.
    pub systemtap_v: String,
    /// What the user may do: `systemtap_privilege`.
    pub privilege: Privilege,
    /// Where probes run: `runtime`, such as `kernel`.
    pub runtime: String,
}

impl Default for Environment {
    /// A kernel of which nothing is known, on x86-64, without guru mode.
    fn default() -> Self {
        Environment {
            kernel_release: String::new(),
            arch: "x86_64".to_owned(),
            kconfig: BTreeMap::new(),
            guru_mode: false,
            systemtap_v: crate::SYSTEMTAP_VERSION.to_owned(),
            privilege: Privilege::default(),
            runtime: "kernel".to_owned(),
        }
    }
}

/// The macros that `.stpm` files define for all scripts.
#[derive(Clone, Debug, Default)]
pub struct LibraryMacros {
    pub(crate) by_name: BTreeMap<Vec<u8>, Arc<Macro>>,
}

impl LibraryMacros {
    /// No macros.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the macros of another file; a macro replaces one of the same name.
    pub fn extend(&mut self, other: LibraryMacros) {
        self.by_name.extend(other.by_name);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

/// What a file is, and what it is read with.
#[derive(Clone, Copy, Debug)]
pub struct ParseOptions<'a> {
    /// What conditions ask for.
    pub environment: &'a Environment,
    /// The macros of the library.
    pub macros: &'a LibraryMacros,
    /// The script's arguments: `$1`, `@1` and so on.
    pub args: &'a [String],
    /// Whether the file belongs to a library, in which embedded C is always allowed.
    pub library: bool,
}
