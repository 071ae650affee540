//! Alternatives in probe points: `{a, b}.c` stands for `a.c, b.c`.

use crate::ast::{Component, Expr, FlatPoint, Functor, ProbePoint};

/// How many probe points the alternatives of one may make.
pub(crate) const MAX_POINTS: usize = 10_000;

impl ProbePoint {
    /// The points that it stands for, with the leftmost alternatives changing slowest.
    pub fn expand(&self) -> Vec<FlatPoint> {
        if self.count() > MAX_POINTS {
            // Reported by the parser.
            return Vec::new();
        }
        let mut points = vec![FlatPoint {
            components: Vec::with_capacity(self.components.len()),
            optional: self.optional,
            sufficient: self.sufficient,
            conditions: self.condition.iter().cloned().collect(),
            span: self.span,
        }];
        for component in &self.components {
            points = match component {
                Component::Functor(functor) => append(points, functor),
                Component::Alternatives { points: alternatives, .. } => {
                    multiply(&points, alternatives)
                }
            };
        }
        points
    }

    /// How many points it stands for.
    pub(crate) fn count(&self) -> usize {
        self.components.iter().fold(1, |count, component| match component {
            Component::Functor(_) => count,
            Component::Alternatives { points, .. } => {
                let sum = points.iter().map(ProbePoint::count).fold(0, usize::saturating_add);
                count.saturating_mul(sum)
            }
        })
    }
}

fn append(mut points: Vec<FlatPoint>, functor: &Functor) -> Vec<FlatPoint> {
    for point in &mut points {
        point.components.push(functor.clone());
    }
    points
}

fn multiply(points: &[FlatPoint], alternatives: &[ProbePoint]) -> Vec<FlatPoint> {
    let expanded: Vec<FlatPoint> = alternatives.iter().flat_map(ProbePoint::expand).collect();
    let pairs = points.iter().flat_map(|point| expanded.iter().map(move |tail| (point, tail)));
    pairs
        .map(|(point, tail)| {
            let mut joined = point.clone();
            joined.components.extend(tail.components.iter().cloned());
            joined.optional |= tail.optional;
            joined.sufficient |= tail.sufficient;
            let conditions: Vec<Expr> = tail.conditions.clone();
            joined.conditions.splice(0..0, conditions);
            joined
        })
        .collect()
}
