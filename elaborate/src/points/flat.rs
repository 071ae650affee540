//! Alternatives: `{a, b}.c` stands for `a.c` and `b.c`.

use xlate_grammar::ast::{Component, FlatPoint, ProbePoint};

/// Points that alternatives multiply to, at most; the rest is left out.
const MOST: usize = 65_536;

/// The points that a point with alternatives stands for, in product order.
pub(crate) fn flatten(point: &ProbePoint) -> Vec<FlatPoint> {
    let mut found = vec![FlatPoint {
        components: Vec::new(),
        optional: point.optional || point.sufficient,
        sufficient: point.sufficient,
        conditions: point.condition.iter().cloned().collect(),
        span: point.span,
    }];
    for component in &point.components {
        match component {
            Component::Functor(functor) => {
                for flat in &mut found {
                    flat.components.push(functor.clone());
                }
            }
            Component::Alternatives { points, .. } => {
                let inner: Vec<FlatPoint> = points.iter().flat_map(flatten).collect();
                let product = found.iter().flat_map(|flat| inner.iter().map(|i| join(flat, i)));
                found = product.take(MOST).collect();
            }
        }
    }
    found
}

fn join(flat: &FlatPoint, inner: &FlatPoint) -> FlatPoint {
    let mut joined = flat.clone();
    joined.components.extend(inner.components.iter().cloned());
    joined.optional |= inner.optional;
    joined.sufficient |= inner.sufficient;
    joined.conditions.extend(inner.conditions.iter().cloned());
    joined
}
