//! Statistics and their histograms.

use super::place::Use;
use super::{Body, Elaborated, describe};
use crate::program::{ExprKind, GlobalPlace, Histogram, Place, StatField};
use crate::types::Kind;
use xlate_grammar::Span;
use xlate_grammar::ast::{self, HistogramKind, Key, StatOp};

impl Body<'_, '_> {
    /// The statistic that an expression names, if it names one; else an error.
    pub(super) fn statistic(&mut self, source: &ast::Expr, usage: Use) -> Option<GlobalPlace> {
        let (place, var) = self.place(source, usage)?;
        match place {
            Place::Global(place) => {
                self.need(source, var, Kind::Stat);
                Some(place)
            }
            Place::Local(local) => {
                let name = self.locals[local].name.clone();
                let message = format!("{} is no statistic", describe(source));
                self.cx
                    .error(source.span, message, "statistics are global variables")
                    .notes
                    .push(format!("declare it with `global {name}`"));
                let var = self.states[local.index()].var;
                self.cx.types.poison(var);
                None
            }
        }
    }

    pub(super) fn stat(
        &mut self,
        op: StatOp,
        target: &ast::Expr,
        shift: Option<i64>,
        span: Span,
    ) -> Elaborated {
        let shift = match shift.map(u32::try_from) {
            None => 0,
            Some(Ok(shift @ 0..=62)) => shift,
            Some(_) => {
                self.cx.error(span, "the shift of `@variance` is out of range", "0 to 62");
                0
            }
        };
        let field = match op {
            StatOp::Variance => StatField::Variance(shift),
            _ => field(op),
        };
        match self.statistic(target, Use::READ) {
            Some(place) => self.as_long(ExprKind::Stat(field, place), span),
            None => self.wrong_value(span),
        }
    }

    /// A histogram of a statistic. All histograms of one global have to be alike.
    pub(super) fn histogram(&mut self, source: &ast::Histogram) -> Option<GlobalPlace> {
        let kind = match source.kind {
            HistogramKind::Log => Histogram::Log,
            HistogramKind::Linear { start, stop, interval } => {
                if let Err((message, label, note)) = buckets(start, stop, interval) {
                    self.cx.error(source.span, message, label).notes.push(note);
                    return None;
                }
                Histogram::Linear { low: start, high: stop, width: interval }
            }
        };
        let place = self.statistic(&source.target, Use::READ)?;
        match self.cx.global_state(place.global).histogram {
            Some((other, since)) if other != kind => {
                let message = format!("{} has histograms of two kinds", describe(&source.target));
                let diagnostic = self.cx.error(source.span, message, "a different one here");
                *diagnostic = diagnostic.clone().with_secondary(since, "one here");
                return None;
            }
            Some(_) => {}
            None => self.cx.global_state(place.global).histogram = Some((kind, source.span)),
        }
        Some(place)
    }

    /// `@hist_log(x)[i]`
    pub(super) fn bucket(
        &mut self,
        histogram: &ast::Histogram,
        keys: &[Key],
        span: Span,
    ) -> Elaborated {
        let place = self.histogram(histogram);
        let [Key::Expr(index)] = keys else {
            self.cx.error(span, "a histogram has one index", "the number of a bucket");
            return self.wrong_value(span);
        };
        let index = Box::new(self.long(index));
        match place {
            Some(place) => self.as_long(ExprKind::Bucket(place, index), span),
            None => self.wrong_value(span),
        }
    }
}

/// The field that an operator asks for.
pub(super) fn field(op: StatOp) -> StatField {
    match op {
        StatOp::Count => StatField::Count,
        StatOp::Sum => StatField::Sum,
        StatOp::Min => StatField::Min,
        StatOp::Max => StatField::Max,
        StatOp::Avg => StatField::Avg,
        StatOp::Variance => StatField::Variance(0),
    }
}

/// The most buckets of a linear histogram.
const MOST_BUCKETS: i128 = 4096;

/// Checks the numbers of `@hist_linear`; the error is a message, what to say beside the numbers, and
/// a way out.
fn buckets(start: i64, stop: i64, interval: i64) -> Result<(), (String, String, String)> {
    let way_out = "write @hist_linear(x, LOW, HIGH, WIDTH)".to_owned();
    if interval <= 0 {
        let message = "the buckets of a histogram are at least 1 wide".to_owned();
        return Err((message, format!("these are {interval} wide"), way_out));
    }
    if start >= stop {
        let message = "a histogram ends above where it begins".to_owned();
        return Err((message, format!("this goes from {start} to {stop}"), way_out));
    }
    let range = i128::from(stop) - i128::from(start);
    let count = range / i128::from(interval);
    if count > MOST_BUCKETS {
        return Err((
            format!("a histogram has at most {MOST_BUCKETS} buckets"),
            format!("this asks for {count}"),
            format!("make them at least {} wide", range / (MOST_BUCKETS + 1) + 1),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_histograms_are_checked() {
        let said = |start, stop, interval| {
            let (message, label, note) = buckets(start, stop, interval).expect_err("refused");
            format!("{message}; {label}; {note}")
        };
        assert_eq!(
            said(0, 10_000_000, 1),
            "a histogram has at most 4096 buckets; this asks for 10000000; \
             make them at least 2441 wide"
        );
        assert_eq!(buckets(0, 10_000_000, 2441), Ok(()));
        assert!(buckets(0, 10_000_000, 2440).is_err());
        assert_eq!(buckets(i64::MIN, i64::MAX, i64::MAX), Ok(()));
        assert!(said(i64::MIN, i64::MAX, 1).contains("this asks for 18446744073709551615"));
        assert!(said(5, 5, 1).contains("this goes from 5 to 5"));
        assert!(said(0, 5, -1).contains("these are -1 wide"));
    }
}
