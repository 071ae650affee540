//! Small sets of globals.

use smallvec::SmallVec;

use crate::entities::Global;

/// A set of globals, in order of their ids.
///
/// Most instructions touch no global or one, so that a set of a few takes no allocation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GlobalSet(SmallVec<[Global; 4]>);

impl GlobalSet {
    /// The empty set.
    pub fn new() -> GlobalSet {
        GlobalSet::default()
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many are in it.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether a global is in it.
    pub fn contains(&self, global: &Global) -> bool {
        self.0.binary_search(global).is_ok()
    }

    /// Adds a global; gives whether it is new.
    pub fn insert(&mut self, global: Global) -> bool {
        match self.0.binary_search(&global) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, global);
                true
            }
        }
    }

    /// Keeps those that `keep` holds for.
    pub fn retain(&mut self, mut keep: impl FnMut(&Global) -> bool) {
        self.0.retain(|global| keep(global));
    }

    /// Drops all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Those in it, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Global> {
        self.0.iter()
    }

    /// Whether no global is in both.
    pub fn is_disjoint(&self, other: &GlobalSet) -> bool {
        !self.iter().any(|global| other.contains(global))
    }

    /// Those in one or both, in order.
    pub fn union(&self, other: &GlobalSet) -> GlobalSet {
        self.iter().chain(other).collect()
    }

    /// Those in both, in order.
    pub fn intersection(&self, other: &GlobalSet) -> GlobalSet {
        self.iter().filter(|global| other.contains(global)).collect()
    }
}

impl Extend<Global> for GlobalSet {
    fn extend<T: IntoIterator<Item = Global>>(&mut self, globals: T) {
        globals.into_iter().for_each(|global| {
            self.insert(global);
        });
    }
}

impl<'a> Extend<&'a Global> for GlobalSet {
    fn extend<T: IntoIterator<Item = &'a Global>>(&mut self, globals: T) {
        self.extend(globals.into_iter().copied());
    }
}

impl FromIterator<Global> for GlobalSet {
    fn from_iter<T: IntoIterator<Item = Global>>(globals: T) -> GlobalSet {
        let mut set = GlobalSet::new();
        set.extend(globals);
        set
    }
}

impl<'a> FromIterator<&'a Global> for GlobalSet {
    fn from_iter<T: IntoIterator<Item = &'a Global>>(globals: T) -> GlobalSet {
        globals.into_iter().copied().collect()
    }
}

impl IntoIterator for GlobalSet {
    type Item = Global;
    type IntoIter = smallvec::IntoIter<[Global; 4]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a GlobalSet {
    type Item = &'a Global;
    type IntoIter = std::slice::Iter<'a, Global>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entities::Entity;

    fn set(ids: &[usize]) -> GlobalSet {
        ids.iter().map(|&id| Global::from_index(id)).collect()
    }

    #[test]
    fn a_set_is_in_order_and_has_each_once() {
        assert_eq!(set(&[3, 1, 3, 2]), set(&[1, 2, 3]));
        assert_eq!(set(&[5, 4]).union(&set(&[4, 1])), set(&[1, 4, 5]));
        assert_eq!(set(&[5, 4]).intersection(&set(&[4, 1])), set(&[4]));
        assert!(set(&[1, 9]).is_disjoint(&set(&[2, 8])));
        assert!(!set(&[1, 9]).is_disjoint(&set(&[9])));
        assert!(!set(&[1]).contains(&Global::from_index(0)));
        let mut many = set(&[9, 8, 7, 6, 5, 4]);
        assert!(!many.insert(Global::from_index(9)) && many.insert(Global::from_index(0)));
        many.retain(|global| global.index() % 2 == 0);
        assert_eq!(many, set(&[0, 4, 6, 8]));
    }
}
