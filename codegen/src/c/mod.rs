//! A small tree of C: what the emitter builds, and its layout as text.

pub(crate) mod expr;
pub(crate) mod layout;
pub(crate) mod literal;
pub(crate) mod stmt;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod verbatim;
