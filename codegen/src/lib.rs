//! From IR to C.
