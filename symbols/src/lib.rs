//! What is known of the machine being probed: kernel release, headers, configuration, exports, BTF.
