//! Duplicate elimination: functions, and handlers, that are equal up to the names of locals become one,
//! and handlers that differ in literals only become one with a record for each probe point.
//!
//! Assumes clean bodies: what differs only in unneeded code is not found. Functions are merged to a
//! fixed point, for merging two can make their callers equal, and before handlers. Positions are
//! compared for functions, where a message names them; those of handlers go in the record. Handlers
//! are merged where both run alone or neither does; disciplines must be chosen after that, since a
//! merged handler can overlap itself. Guarantees that no two functions, and no two handlers of a kind,
//! are equal in this sense, and that no body became slower by more than one load for each use of a
//! literal.

mod functions;
mod handlers;
mod literals;
mod shape;

pub(crate) use functions::{run_duplicates as run_functions, run_similar};
pub(crate) use handlers::run as run_handlers;
pub(crate) use shape::literal_definitions;
