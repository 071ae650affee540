//! The SSA intermediate representation: entities, text form, verifier, CFG and dominators.
