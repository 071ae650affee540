//! Test machines, which are a distribution's kernel under QEMU; and cases, which need not run on one.

pub mod case;
pub mod corpus;
pub mod expect;
pub mod machine;
