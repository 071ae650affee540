//! From the typed program to SSA.
