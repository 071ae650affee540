//! Test machines: a distribution's kernel under QEMU.

pub mod machine;
