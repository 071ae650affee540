//! Release strings and the numbers in them.

use std::fmt;
use std::str::FromStr;

/// The numeric part of a kernel release: `6.1.0-57-amd64` is 6.1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number, 0 if there is none.
    pub minor: u32,
    /// The third number, 0 if there is none.
    pub patch: u32,
}

impl Version {
    /// Makes a version from its three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The text does not begin with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAVersion;

impl FromStr for Version {
    type Err = NotAVersion;

    /// Takes up to three dot-separated numbers from the start of a release string and ignores
    /// what follows them.
    fn from_str(release: &str) -> Result<Self, NotAVersion> {
        let mut numbers = [0; 3];
        let mut rest = release;
        for (index, number) in numbers.iter_mut().enumerate() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            match rest[..digits].parse() {
                Ok(parsed) => *number = parsed,
                Err(_) if index == 0 => return Err(NotAVersion),
                Err(_) => break,
            }
            match rest[digits..].strip_prefix('.') {
                Some(after) => rest = after,
                None => break,
            }
        }
        let [major, minor, patch] = numbers;
        Ok(Self { major, minor, patch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_release_strings() {
        for (release, expected) in [
            ("6.1.0-57-amd64", Version::new(6, 1, 0)),
            ("6.12.38+deb12-amd64", Version::new(6, 12, 38)),
            ("7.2-rc3", Version::new(7, 2, 0)),
            ("5", Version::new(5, 0, 0)),
            ("6.1.x", Version::new(6, 1, 0)),
        ] {
            assert_eq!(release.parse(), Ok(expected), "{release}");
        }
    }

    #[test]
    fn a_release_begins_with_a_number() {
        for release in ["", "amd64", ".5", "99999999999999999999.1"] {
            assert_eq!(release.parse::<Version>(), Err(NotAVersion), "{release:?}");
        }
    }

    #[test]
    fn versions_order_by_number() {
        assert!(Version::new(6, 12, 0) > Version::new(6, 2, 9));
    }
}
