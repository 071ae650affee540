//! An optimizing translator from SystemTap scripts to Linux kernel modules.
