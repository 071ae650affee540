//! Remarks, statistics, timing and diffs made readable.
