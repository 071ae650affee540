//! How much memory shards may take: they are there for every CPU that a machine can have.

use xlate_ir::types::{ElementType, GlobalData, Histogram, Type};

/// Bytes of all shards of one CPU, at most. What is gathered from n CPUs takes n times as much again,
/// and so does a snapshot of it.
const MOST_BYTES: u64 = 1 << 20;

/// Sharded integers of a module, at most: they lie in the small area that the kernel keeps for
/// per-CPU variables of modules.
const MOST_INTEGERS: u32 = 128;

/// Elements of an array that timers gather, at most: they do it with the locks of all shards held, in
/// well under a microsecond for each element of each shard.
const MOST_GATHERED: u32 = 8192;

/// What of the limits is used.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Budget {
    bytes: u64,
    integers: u32,
}

impl Budget {
    /// Whether a global's shard fits; if so, it counts. `locked`: timers gather it.
    pub(crate) fn take(&mut self, data: &GlobalData, locked: bool) -> bool {
        if locked && data.is_array() && data.max_entries > MOST_GATHERED {
            return false;
        }
        let mut next = *self;
        if data.is_array() || data.is_stat() {
            next.bytes = next.bytes.saturating_add(shard_bytes(data));
        } else {
            next.integers += 1;
        }
        let fits = next.bytes <= MOST_BYTES && next.integers <= MOST_INTEGERS;
        if fits {
            *self = next;
        }
        fits
    }
}

/// The size of a shard of a global, rounded up.
fn shard_bytes(data: &GlobalData) -> u64 {
    let text = |bound: u32| if bound <= 15 { 16 } else { u64::from(bound) + 8 };
    let key = |ty: &Type| match ty {
        Type::Str(bound) => text(*bound),
        Type::Long | Type::Iter => 8,
    };
    let element = match data.element {
        ElementType::Long => 8,
        ElementType::Str(bound) => text(bound),
        // All fields that there are.
        ElementType::Stat => 48 + 8 * buckets(data.histogram),
    };
    if !data.is_array() {
        return element;
    }
    // Two links, and two for the buckets, beside keys and value.
    let entry = 16 + data.keys.iter().map(key).sum::<u64>() + element;
    entry.saturating_mul(u64::from(data.max_entries.max(1)))
}

fn buckets(histogram: Option<Histogram>) -> u64 {
    match histogram {
        None => 0,
        Some(Histogram::Log) => 128,
        Some(Histogram::Linear { low, high, width }) => {
            high.abs_diff(low) / width.unsigned_abs().max(1) + 3
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(max: u32) -> GlobalData {
        let text = format!("global @a[str<15>, long]: stat max={max} hist=log");
        let module = xlate_ir::text::parse(&text).expect("a module");
        module.globals.iter().next().map(|(_, data)| data.clone()).expect("a global")
    }

    #[test]
    fn what_does_not_fit_takes_nothing() {
        let mut budget = Budget::default();
        assert!(budget.take(&array(500), false));
        assert!(!budget.take(&array(500), false));
        assert!(!budget.take(&array(u32::MAX), true));
        assert!(budget.take(&array(400), true));
    }

    #[test]
    fn timers_gather_no_more_than_they_have_time_for() {
        let text = "global @a[long]: long max=10000";
        let module = xlate_ir::text::parse(text).expect("a module");
        let (_, data) = module.globals.iter().next().expect("a global");
        assert!(!Budget::default().take(data, true));
        assert!(Budget::default().take(data, false));
    }
}
