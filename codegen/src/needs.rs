//! What the emitted functions turn out to need: headers, comparison functions, frames.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use xlate_ir::entities::{Global, Handler, Regex};
use xlate_ir::instructions::SortKey;

/// Collected while functions are emitted.
#[derive(Default, Debug)]
pub(crate) struct Needs {
    /// Headers of the runtime, by file name.
    pub(crate) headers: BTreeSet<&'static str>,
    /// Whether some error has a message that is not a literal.
    pub(crate) error_text: bool,
    /// Whether a string is taken apart.
    pub(crate) tokenizes: bool,
    /// Comparison functions for sorting, in the order of first use.
    pub(crate) orders: IndexMap<(Global, SortKey, bool), String>,
    /// The frames of functions and handlers, in order of emission.
    pub(crate) frames: Vec<Frame>,
    /// Regular expressions that are matched.
    pub(crate) regexes: BTreeSet<Regex>,
    /// Fields of records that are looked at as names, of at most 15 bytes.
    pub(crate) record_names: BTreeSet<(Handler, u32)>,
    /// Fields of records that are looked at as views.
    pub(crate) record_views: BTreeSet<(Handler, u32)>,
}

/// Places of strings of one function or handler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// The name of the function in C.
    pub(crate) function: String,
    /// Whether it is a handler's: of those, one at a time is active on a CPU.
    pub(crate) is_handler: bool,
    /// Whether there is one for each level of nesting.
    pub(crate) is_recursive: bool,
    /// Type and name of each place.
    pub(crate) places: Vec<(String, String)>,
    /// Its size in bytes, for one level.
    pub(crate) bytes: u32,
}

impl Needs {
    /// The name of the function that orders entries of an array.
    pub(crate) fn order(&mut self, array: Global, key: SortKey, descending: bool) -> String {
        let number = self.orders.len();
        self.orders
            .entry((array, key, descending))
            .or_insert_with(|| format!("before_{number}"))
            .clone()
    }
}
