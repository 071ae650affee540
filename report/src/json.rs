//! Data as JSON.

use serde::Serialize;

/// A value as JSON text on one line.
///
/// # Panics
/// Never for the types of this crate: their maps have text keys, and nothing else can fail.
pub(crate) fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("internal error: a report is not JSON")
}
