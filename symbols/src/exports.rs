//! The symbols that a kernel and its modules export to other modules: `Module.symvers`.

use std::collections::HashMap;

/// One exported symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Export {
    /// Whether only modules under a GPL-compatible licence may use it.
    pub gpl_only: bool,
    /// Whether the kernel image itself exports it, rather than a module.
    pub in_kernel: bool,
}

/// The symbols that modules may use.
#[derive(Clone, Debug, Default)]
pub struct Exports {
    symbols: HashMap<String, Export>,
}

impl Exports {
    /// Reads the text of a `Module.symvers` file: tab-separated CRC, symbol, exporter, kind of
    /// export, and (since 5.4) namespace.
    ///
    /// # Errors
    /// Names the first line that does not have that form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut symbols = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            let mut fields = line.split('\t');
            let _crc = fields.next();
            let (Some(name), Some(exporter), Some(kind)) =
                (fields.next(), fields.next(), fields.next())
            else {
                return Err(format!("line {} is not an exported symbol: `{line}`", index + 1));
            };
            let export =
                Export { gpl_only: kind.ends_with("_GPL"), in_kernel: exporter == "vmlinux" };
            symbols.insert(name.to_owned(), export);
        }
        Ok(Self { symbols })
    }

    /// The export of that name, if there is one.
    pub fn get(&self, name: &str) -> Option<Export> {
        self.symbols.get(name).copied()
    }

    /// How many symbols are exported.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Whether nothing is exported.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_and_without_namespace() {
        let exports = Exports::parse(
            "0xa9b2b1c4\tregister_kprobe\tvmlinux\tEXPORT_SYMBOL_GPL\t\n\
             0x12345678\tmemcpy\tvmlinux\tEXPORT_SYMBOL\n\
             0x00000001\tnvme_start\tdrivers/nvme/host/nvme-core\tEXPORT_SYMBOL_GPL\tNVME\n",
        )
        .expect("well-formed");
        let of = |gpl_only, in_kernel| Some(Export { gpl_only, in_kernel });
        assert_eq!(exports.get("register_kprobe"), of(true, true));
        assert_eq!(exports.get("memcpy"), of(false, true));
        assert_eq!(exports.get("nvme_start"), of(true, false));
        assert_eq!(exports.get("nothing"), None);
        assert_eq!(exports.len(), 3);
    }

    #[test]
    fn a_line_of_another_kind_is_refused() {
        let error = Exports::parse("0x1\tmemcpy\tvmlinux\tEXPORT_SYMBOL\nnonsense\n").unwrap_err();
        assert_eq!(error, "line 2 is not an exported symbol: `nonsense`");
    }
}
