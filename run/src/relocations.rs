//! Addresses of the kernel that SystemTap's own modules ask their loader for. Modules of this
//! translator need none.

use std::io;

use crate::protocol::Command;

/// What SystemTap 5's modules look for: where the kernel begins, and functions that it does not export.
const SYMBOLS: [&str; 4] =
    ["_stext", "kallsyms_lookup_name", "kallsyms_on_each_symbol", "module_kallsyms_on_each_symbol"];

/// What every module of ours says of itself.
const OURS: &[u8] = b"A SystemTap script translated by xlate";

/// The messages for a module, given its bytes and the kernel's symbol table: lines of address, type
/// and name.
pub(crate) fn relocations(module: &[u8], table: impl io::BufRead) -> Vec<Command> {
    if module.windows(OURS.len()).any(|window| window == OURS) {
        return Vec::new();
    }
    let mut commands = Vec::new();
    for line in table.lines().map_while(Result::ok) {
        let mut words = line.split(' ');
        let (Some(address), _, Some(name)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let symbol = SYMBOLS.iter().find(|symbol| **symbol == name);
        if let (Some(symbol), Ok(address)) = (symbol, u64::from_str_radix(address, 16)) {
            commands.push(Command::Relocation { symbol, address });
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"ffffffff81000000 T _stext\nffffffff81000010 t other\n\
        ffffffff81100000 T kallsyms_lookup_name\nbroken\nffffffff81100010 T _stext.cold\n";

    #[test]
    fn modules_of_others_are_told_addresses() {
        let found = relocations(b"\x7fELF", TABLE);
        let wanted =
            [("_stext", 0xffff_ffff_8100_0000), ("kallsyms_lookup_name", 0xffff_ffff_8110_0000)]
                .map(|(symbol, address)| Command::Relocation { symbol, address });
        assert_eq!(found, wanted);
    }

    #[test]
    fn ours_are_not() {
        let bytes = [b"\x7fELF description=".as_slice(), OURS].concat();
        assert_eq!(relocations(&bytes, TABLE), []);
    }
}
