//! Sets of small numbers.

/// A set of numbers below a fixed bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// An empty set of numbers below `bound`.
    pub(crate) fn new(bound: usize) -> BitSet {
        BitSet { words: vec![0; bound.div_ceil(64)] }
    }

    /// Adds a number; whether it is new.
    pub(crate) fn insert(&mut self, n: usize) -> bool {
        let bit = 1 << (n % 64);
        let is_new = self.words[n / 64] & bit == 0;
        self.words[n / 64] |= bit;
        is_new
    }

    /// Takes a number out.
    pub(crate) fn remove(&mut self, n: usize) {
        self.words[n / 64] &= !(1 << (n % 64));
    }

    /// Whether the number is in it.
    pub(crate) fn contains(&self, n: usize) -> bool {
        self.words[n / 64] & 1 << (n % 64) != 0
    }

    /// Adds all of another; whether any is new.
    pub(crate) fn extend(&mut self, other: &BitSet) -> bool {
        let mut changed = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            changed |= *more & !*word != 0;
            *word |= more;
        }
        changed
    }

    /// The numbers, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(n, &word)| {
            std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
                .take_while(|rest| *rest != 0)
                .map(move |rest| n * 64 + rest.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_order() {
        let mut set = BitSet::new(200);
        for n in [199, 0, 64, 63, 65] {
            assert!(set.insert(n));
        }
        assert!(!set.insert(64));
        set.remove(65);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 199]);
        assert!(set.contains(63) && !set.contains(65));
    }
}
