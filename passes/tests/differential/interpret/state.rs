//! Globals, and walks over arrays.

use std::collections::BTreeMap;

use xlate_ir::entities::{Entity, Global};
use xlate_ir::instructions::{SortKey, StatField};
use xlate_ir::module::Module;
use xlate_ir::types::{ElementType, Histogram};

use super::{Datum, datum};

/// The values that were added to a statistic.
pub(super) type Stat = Vec<i64>;

/// What a scalar or an element holds.
#[derive(Clone)]
pub(super) enum Element {
    Datum(Datum),
    Stat(Stat),
}

/// The elements of a global by key, with the time at which each was made; a scalar has one.
type Elements = BTreeMap<Vec<Datum>, (u64, Element)>;

/// All globals.
pub(super) struct State {
    globals: Vec<Elements>,
    made: u64,
}

/// A walk that has begun.
pub(super) struct Walk {
    pub(super) entries: Vec<(Vec<Datum>, Element)>,
    /// The number of the element after the current one.
    pub(super) next: usize,
}

impl State {
    pub(super) fn of(module: &Module) -> State {
        let globals = module.globals.iter().map(|(_, data)| {
            let init = data.init.iter();
            init.map(|init| (Vec::new(), (0, Element::Datum(datum(init))))).collect()
        });
        State { globals: globals.collect(), made: 0 }
    }

    pub(super) fn get(&self, global: Global, keys: &[Datum]) -> Option<&Element> {
        self.globals[global.index()].get(keys).map(|(_, element)| element)
    }

    pub(super) fn stat(&self, global: Global, keys: &[Datum]) -> Stat {
        match self.get(global, keys) {
            Some(Element::Stat(values)) => values.clone(),
            _ => Stat::new(),
        }
    }

    /// Sets an element; a full array is an error, or gives up its oldest element.
    pub(super) fn set(
        &mut self,
        module: &Module,
        global: Global,
        keys: Vec<Datum>,
        element: Element,
    ) -> Result<(), &'static str> {
        let data = &module.globals[global];
        let elements = &mut self.globals[global.index()];
        if let Some((_, old)) = elements.get_mut(&keys) {
            *old = element;
            return Ok(());
        }
        if data.is_array() && elements.len() >= data.max_entries as usize {
            if !data.wrap {
                return Err("array is full");
            }
            let oldest = elements.iter().min_by_key(|(_, (made, _))| *made);
            let oldest = oldest.map(|(keys, _)| keys.clone()).unwrap_or_default();
            elements.remove(&oldest);
        }
        self.made += 1;
        elements.insert(keys, (self.made, element));
        Ok(())
    }

    /// How many elements there are.
    pub(super) fn count(&self, global: Global) -> usize {
        self.globals[global.index()].len()
    }

    pub(super) fn remove(&mut self, global: Global, keys: &[Datum]) {
        self.globals[global.index()].remove(keys);
    }

    pub(super) fn clear(&mut self, global: Global) {
        self.globals[global.index()].clear();
    }

    pub(super) fn zero(module: &Module, global: Global) -> Datum {
        match module.globals[global].element {
            ElementType::Str(_) => Datum::Str(Vec::new()),
            _ => Datum::Long(0),
        }
    }

    /// The elements to visit: those of the slice, sorted, no more than the limit.
    pub(super) fn walk(
        &self,
        global: Global,
        sort: Option<(SortKey, bool)>,
        slice: &[Option<Datum>],
        limit: Option<i64>,
    ) -> Walk {
        let matches = |keys: &[Datum]| {
            slice.iter().zip(keys).all(|(want, key)| want.as_ref().is_none_or(|want| want == key))
        };
        let elements = self.globals[global.index()].iter();
        let mut entries: Vec<(Vec<Datum>, Element)> = elements
            .filter(|(keys, _)| matches(keys))
            .map(|(keys, (_, element))| (keys.clone(), element.clone()))
            .collect();
        if let Some((key, descending)) = sort {
            // Equal sort keys are ordered by index, whichever way the sort goes.
            entries.sort_by(|a, b| {
                let order = sort_datum(key, a).cmp(&sort_datum(key, b));
                if descending { order.reverse() } else { order }
            });
        }
        if let Some(limit) = limit {
            entries.truncate(usize::try_from(limit).unwrap_or(0));
        }
        Walk { entries, next: 0 }
    }
}

fn sort_datum(key: SortKey, (keys, element): &(Vec<Datum>, Element)) -> Datum {
    match (key, element) {
        (SortKey::Key(n), _) => keys[n as usize].clone(),
        (SortKey::Value, Element::Datum(datum)) => datum.clone(),
        (SortKey::Stat(field), Element::Stat(values)) => {
            Datum::Long(field_of(field, values).unwrap_or(0))
        }
        _ => panic!("{key:?} is not of this array"),
    }
}

/// A field of a statistic; `None` if it is empty and the field is not defined then.
pub(super) fn field_of(field: StatField, values: &[i64]) -> Option<i64> {
    let sum = || values.iter().fold(0i64, |sum, n| sum.wrapping_add(*n));
    let count = values.len() as i64;
    match field {
        StatField::Count => Some(count),
        StatField::Sum => Some(sum()),
        StatField::Min => values.iter().min().copied(),
        StatField::Max => values.iter().max().copied(),
        StatField::Avg => (count > 0).then(|| sum().wrapping_div(count)),
        // Not the variance, but a function of what it is one of.
        StatField::Variance(bits) => (count > 0).then(|| {
            let squares = values.iter().fold(0i64, |sum, n| sum.wrapping_add(n.wrapping_mul(*n)));
            squares.wrapping_sub(sum()).wrapping_add(i64::from(bits))
        }),
    }
}

/// The counts of the buckets of a histogram.
pub(super) fn buckets(histogram: Histogram, values: &[i64]) -> Vec<i64> {
    let (count, of): (usize, Box<dyn Fn(i64) -> usize>) = match histogram {
        Histogram::Log => (
            129,
            Box::new(|n: i64| {
                let bits = 64 - n.unsigned_abs().leading_zeros() as usize;
                if n < 0 { 64 - bits } else { 64 + bits }
            }),
        ),
        Histogram::Linear { low, high, width } => {
            let count = ((high - low) / width + 3) as usize;
            (
                count,
                Box::new(move |n: i64| {
                    if n < low {
                        0
                    } else if n > high {
                        count - 1
                    } else {
                        1 + ((n - low) / width) as usize
                    }
                }),
            )
        }
    };
    let mut buckets = vec![0; count];
    for &value in values {
        buckets[of(value)] += 1;
    }
    buckets
}
