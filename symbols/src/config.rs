//! The kernel's build configuration: `CONFIG_NAME=value` lines.

use std::collections::HashMap;

/// The options that a kernel was built with. Options that are off are absent.
#[derive(Clone, Debug, Default)]
pub struct Config {
    values: HashMap<String, String>,
}

impl Config {
    /// Reads the text of a `.config`, `auto.conf` or `/boot/config-…` file: one `NAME=value` a
    /// line, `#` starting a comment. Quotes around string values are taken off.
    pub fn parse(text: &str) -> Self {
        let values = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.trim().to_owned(), unquote(value.trim()).to_owned()))
            .collect();
        Self { values }
    }

    /// The value of the option `name` (with its `CONFIG_` prefix): `y`, `m`, a number or a
    /// string; `None` if it is off.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The options that are on and their values, in no set order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many options are on.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no option is on, as in an empty file.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// Takes off one pair of double quotes.
fn unquote(value: &str) -> &str {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind() {
        let config = Config::parse(
            "# Automatically generated\nCONFIG_SMP=y\nCONFIG_EXT4_FS=m\n# CONFIG_KASAN is not set\n\
             CONFIG_HZ=250\nCONFIG_LOCALVERSION=\"-x\"\nCONFIG_EMPTY=\"\"\n\n",
        );
        assert_eq!(config.get("CONFIG_SMP"), Some("y"));
        assert_eq!(config.get("CONFIG_EXT4_FS"), Some("m"));
        assert_eq!(config.get("CONFIG_KASAN"), None);
        assert_eq!(config.get("CONFIG_HZ"), Some("250"));
        assert_eq!(config.get("CONFIG_LOCALVERSION"), Some("-x"));
        assert_eq!(config.get("CONFIG_EMPTY"), Some(""));
        assert_eq!(config.len(), 5);
        assert!(!config.is_empty());
    }
}
