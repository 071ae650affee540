//! Intervals of longs, and what operators make of them.
//!
//! Whatever may wrap gives every long: an interval is never wrong, only wide.

use xlate_ir::arith;
use xlate_ir::instructions::{BinaryOp, CompareOp, UnaryOp};

/// The longs from `low` to `high`, both included, with zero left out if it is known not to occur.
/// Never empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interval {
    low: i64,
    high: i64,
    /// Zero is left out. Holds whenever the bounds alone say so.
    nonzero: bool,
}

/// Every long.
pub(crate) const ALL: Interval = Interval { low: i64::MIN, high: i64::MAX, nonzero: false };

/// What is 0 or 1.
pub(crate) const TRUTH: Interval = Interval { low: 0, high: 1, nonzero: false };

impl Interval {
    /// The longs between two bounds, both included; `None` if there is none.
    pub(crate) fn between(low: i64, high: i64) -> Option<Interval> {
        Interval::normal(low, high, false)
    }

    /// One long.
    pub(crate) fn exactly(n: i64) -> Interval {
        Interval { low: n, high: n, nonzero: n != 0 }
    }

    /// The longs between two bounds that are in order.
    fn span(low: i64, high: i64) -> Interval {
        Interval::normal(low, high, false).unwrap_or(ALL)
    }

    /// With bounds that are not zero if zero is left out.
    fn normal(mut low: i64, mut high: i64, nonzero: bool) -> Option<Interval> {
        if nonzero && low == 0 {
            low = 1;
        }
        if nonzero && high == 0 {
            high = -1;
        }
        (low <= high).then_some(Interval { low, high, nonzero: nonzero || low > 0 || high < 0 })
    }

    /// The smallest long in it.
    pub(crate) fn low(self) -> i64 {
        self.low
    }

    /// The largest long in it.
    pub(crate) fn high(self) -> i64 {
        self.high
    }

    /// The only long in it, if there is only one.
    pub(crate) fn single(self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Whether a long is in it.
    pub(crate) fn contains(self, n: i64) -> bool {
        self.low <= n && n <= self.high && !(n == 0 && self.nonzero)
    }

    /// Without zero; `None` if nothing is left.
    pub(crate) fn without_zero(self) -> Option<Interval> {
        Interval::normal(self.low, self.high, true)
    }

    /// What is in either, and perhaps what is between them.
    pub(crate) fn join(self, other: Interval) -> Interval {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            nonzero: self.nonzero && other.nonzero,
        }
    }

    /// What is in both; `None` if that is nothing.
    pub(crate) fn meet(self, other: Interval) -> Option<Interval> {
        let nonzero = self.nonzero || other.nonzero;
        Interval::normal(self.low.max(other.low), self.high.min(other.high), nonzero)
    }

    /// An interval that holds this and the larger `next`, with each bound that has moved as far out as
    /// it goes.
    pub(crate) fn widen(self, next: Interval) -> Interval {
        let joined = self.join(next);
        Interval {
            low: if joined.low < self.low { i64::MIN } else { self.low },
            high: if joined.high > self.high { i64::MAX } else { self.high },
            nonzero: joined.nonzero,
        }
    }

    /// What of this can be where a comparison with something in `other` holds; `None` if it cannot.
    pub(crate) fn where_holds(self, op: CompareOp, other: Interval) -> Option<Interval> {
        let bounds = match op {
            CompareOp::Eq => return self.meet(other),
            CompareOp::Ne => return self.without(other.single()),
            CompareOp::Lt => (i64::MIN, other.high.checked_sub(1)?),
            CompareOp::Le => (i64::MIN, other.high),
            CompareOp::Gt => (other.low.checked_add(1)?, i64::MAX),
            CompareOp::Ge => (other.low, i64::MAX),
        };
        self.meet(Interval::span(bounds.0, bounds.1))
    }

    fn without(self, n: Option<i64>) -> Option<Interval> {
        match n {
            Some(0) => self.without_zero(),
            Some(n) if self.single() == Some(n) => None,
            Some(n) if n == self.low => Interval::normal(n + 1, self.high, self.nonzero),
            Some(n) if n == self.high => Interval::normal(self.low, n - 1, self.nonzero),
            _ => Some(self),
        }
    }
}

/// The truth of a comparison of two longs.
pub(crate) fn compare(op: CompareOp, a: Interval, b: Interval) -> Interval {
    match (a.where_holds(op, b), a.where_holds(op.negated(), b)) {
        (None, _) => Interval::exactly(0),
        (_, None) => Interval::exactly(1),
        _ => TRUTH,
    }
}

/// The result of an operator on one long.
pub(crate) fn unary(op: UnaryOp, a: Interval) -> Interval {
    match op {
        UnaryOp::Not => Interval::span(!a.high, !a.low),
        UnaryOp::Neg if a.low == i64::MIN => Interval { nonzero: a.nonzero, ..ALL },
        UnaryOp::Neg => Interval { low: -a.high, high: -a.low, nonzero: a.nonzero },
    }
}

/// The result of an operator on two longs, where there is one.
pub(crate) fn binary(op: BinaryOp, a: Interval, b: Interval) -> Interval {
    if let (Some(a), Some(b)) = (a.single(), b.single()) {
        return arith::binary(op, a, b).map_or(ALL, Interval::exactly);
    }
    use BinaryOp::{
        Add, And, Div, DivNonzero, DivPlain, Mul, Or, Rem, RemNonzero, RemPlain, Shl, Shr, Sub,
        Ushr, Xor,
    };
    match op {
        Add => bounds(a.low.checked_add(b.low), a.high.checked_add(b.high)),
        Sub => bounds(a.low.checked_sub(b.high), a.high.checked_sub(b.low)),
        Mul => corners(&[a.low, a.high], &[b.low, b.high], i64::checked_mul),
        Div | DivNonzero | DivPlain => divide(a, b),
        Rem | RemNonzero | RemPlain => remainder(a, b),
        And => and(a, b),
        Or => or(a, b),
        Xor if a.low >= 0 && b.low >= 0 => Interval::span(0, ones(a.high.max(b.high))),
        Xor => ALL,
        Shl | Shr | Ushr => shift(op, a, b),
    }
}

/// Between two bounds, unless one has overflowed.
fn bounds(low: Option<i64>, high: Option<i64>) -> Interval {
    match (low, high) {
        (Some(low), Some(high)) => Interval::span(low, high),
        _ => ALL,
    }
}

/// Between the least and the largest result for pairs of operands; every long if one overflows.
fn corners(a: &[i64], b: &[i64], f: impl Fn(i64, i64) -> Option<i64>) -> Interval {
    let mut results = Vec::with_capacity(a.len() * b.len());
    for &a in a {
        results.extend(b.iter().map(|&b| f(a, b)));
    }
    let results: Option<Vec<i64>> = results.into_iter().collect();
    let Some(results) = results else { return ALL };
    bounds(results.iter().min().copied(), results.iter().max().copied())
}

/// A quotient is farthest from zero for the divisors that are nearest to it.
fn divide(a: Interval, b: Interval) -> Interval {
    let near = [b.low, b.high, -1, 1];
    let divisors: Vec<i64> = near.into_iter().filter(|&n| n != 0 && b.contains(n)).collect();
    corners(&[a.low, a.high, a.low.max(0).min(a.high)], &divisors, i64::checked_div)
}

/// A remainder has the sign of the dividend, and is smaller than the divisor and no larger than the
/// dividend.
fn remainder(a: Interval, b: Interval) -> Interval {
    let divisor = b.low.unsigned_abs().max(b.high.unsigned_abs());
    let most = i64::try_from(divisor.saturating_sub(1)).unwrap_or(i64::MAX);
    let low = if a.low < 0 { a.low.max(-most) } else { 0 };
    let high = if a.high > 0 { a.high.min(most) } else { 0 };
    Interval::span(low, high)
}

fn and(a: Interval, b: Interval) -> Interval {
    match (a.low >= 0, b.low >= 0) {
        (true, true) => Interval::span(0, a.high.min(b.high)),
        (true, false) => Interval::span(0, a.high),
        (false, true) => Interval::span(0, b.high),
        (false, false) => ALL,
    }
}

fn or(a: Interval, b: Interval) -> Interval {
    let span = match (a.low >= 0, b.low >= 0) {
        (true, true) => Interval::span(a.low.max(b.low), ones(a.high.max(b.high))),
        _ => ALL,
    };
    Interval { nonzero: span.nonzero || a.nonzero || b.nonzero, ..span }
}

/// The least long of the form 2^n - 1 that is not smaller than this, which is not negative.
fn ones(n: i64) -> i64 {
    match n {
        0 => 0,
        n => i64::MAX >> (n.leading_zeros() - 1),
    }
}

fn shift(op: BinaryOp, a: Interval, count: Interval) -> Interval {
    let counts = match (count.low, count.high) {
        (low, high) if low >= 0 && high < 64 => [low, high],
        _ => [0, 63],
    };
    let ends = [a.low, a.high];
    match op {
        // What comes back when shifted back has not lost a bit.
        BinaryOp::Shl => corners(&ends, &counts, |a, n| {
            let shifted = a << n;
            (shifted >> n == a).then_some(shifted)
        }),
        BinaryOp::Ushr if a.low < 0 => match counts[0] {
            0 => ALL,
            least => Interval::span(0, (u64::MAX >> least) as i64),
        },
        _ => corners(&ends, &counts, |a, n| Some(a >> n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals with interesting ends, with and without zero.
    fn samples() -> Vec<Interval> {
        let ends = [i64::MIN, -3, -1, 0, 1, 7, 64, i64::MAX];
        let mut samples = Vec::new();
        for low in ends {
            for high in ends.into_iter().filter(|&high| high >= low) {
                samples.extend(Interval::between(low, high));
                samples.extend(Interval::between(low, high).and_then(Interval::without_zero));
            }
        }
        samples
    }

    /// Longs of an interval: its ends, what is next to them, and what is near zero.
    fn members(interval: Interval) -> Vec<i64> {
        let (low, high) = (interval.low, interval.high);
        let near = [low, low.wrapping_add(1), high.wrapping_sub(1), high, -1, 0, 1, 63];
        near.into_iter().filter(|&n| interval.contains(n)).collect()
    }

    #[test]
    fn operators_never_leave_their_interval() {
        for a in samples() {
            for &op in UnaryOp::ALL {
                for x in members(a) {
                    let result = arith::unary(op, x);
                    assert!(unary(op, a).contains(result), "{op} {x} = {result}, of {a:?}");
                }
            }
            for b in samples() {
                for &op in BinaryOp::ALL {
                    let span = binary(op, a, b);
                    for (x, y) in pairs(a, b) {
                        if let Some(result) = arith::binary(op, x, y) {
                            let told = format!("{x} {op} {y} = {result}, of {a:?} and {b:?}");
                            assert!(span.contains(result), "{told}: {span:?}");
                        }
                    }
                }
            }
        }
    }

    fn pairs(a: Interval, b: Interval) -> impl Iterator<Item = (i64, i64)> {
        members(a).into_iter().flat_map(move |x| members(b).into_iter().map(move |y| (x, y)))
    }

    #[test]
    fn comparisons_never_exclude_what_holds() {
        for a in samples() {
            for b in samples() {
                for &op in CompareOp::ALL {
                    let span = compare(op, a, b);
                    for (x, y) in pairs(a, b) {
                        let holds = arith::compare(op, &x, &y);
                        assert!(span.contains(i64::from(holds)), "{x} {op} {y}: {span:?}");
                        let narrowed = a.where_holds(op, b);
                        let kept = narrowed.is_some_and(|narrowed| narrowed.contains(x));
                        assert!(kept || !holds, "{x} {op} {y}: {narrowed:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn joins_meets_and_widening_keep_what_they_should() {
        for a in samples() {
            for b in samples() {
                let (join, widened, meet) = (a.join(b), a.widen(b), a.meet(b));
                for n in members(a).into_iter().chain(members(b)) {
                    assert!(join.contains(n) && widened.contains(n), "{n}: {a:?} {b:?}");
                    let in_both = a.contains(n) && b.contains(n);
                    let met = meet.is_some_and(|meet| meet.contains(n));
                    assert_eq!(met, in_both, "{n}: {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn bounds_are_tight_where_it_matters() {
        let span = |low, high| Interval::between(low, high).expect("an interval");
        let masked = binary(BinaryOp::And, ALL, span(7, 7));
        assert_eq!(masked, span(0, 7));
        assert_eq!(binary(BinaryOp::Rem, ALL, span(10, 10)), span(-9, 9));
        assert_eq!(binary(BinaryOp::Rem, span(0, i64::MAX), span(10, 10)), span(0, 9));
        assert_eq!(binary(BinaryOp::Add, masked, span(1, 1)), span(1, 8));
        assert_eq!(binary(BinaryOp::Add, span(0, i64::MAX), span(1, 1)), ALL);
        assert_eq!(binary(BinaryOp::Div, span(-100, 100), span(-5, 5)), span(-100, 100));
        assert_eq!(binary(BinaryOp::Shl, span(1, 3), span(0, 4)), span(1, 48));
        assert_eq!(binary(BinaryOp::Ushr, ALL, span(60, 63)), span(0, 15));
        assert_eq!(binary(BinaryOp::Or, span(0, 5), span(0, 8)), span(0, 15));
        assert_eq!(span(3, 9).where_holds(CompareOp::Lt, span(-4, 6)), Some(span(3, 5)));
        assert_eq!(ALL.without_zero().map(|n| n.contains(0)), Some(false));
        assert_eq!(span(0, 9).where_holds(CompareOp::Ne, span(0, 0)), Some(span(1, 9)));
    }
}
