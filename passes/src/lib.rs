//! The pass manager, analyses and transformations over the IR.
