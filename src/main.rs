//! The `xlate` command.

fn main() {}
