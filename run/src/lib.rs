//! Passes 4 and 5: kbuild, its cache, loading a module and moving its output.
