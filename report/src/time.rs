//! Where the time went, for `--time-passes`.

use std::fmt::Write;
use std::time::Duration;

use xlate_passes::manager::Report;

/// A table of the passes that ran, the one that took longest first.
pub fn passes(report: &Report) -> String {
    let mut rows = report.times.clone();
    rows.sort_by(|(_, a, _), (_, b, _)| b.cmp(a));
    let total: Duration = rows.iter().map(|(_, time, _)| *time).sum();
    let mut out = format!("{:>10} {:>6} {:>5}  pass\n", "time", "share", "runs");
    let mut row = |name: &str, time: Duration, runs: &str| {
        let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
        // Writing to a string does not fail.
        let _ =
            writeln!(out, "{:>7.3} ms {share:>5.1}% {runs:>5}  {name}", time.as_secs_f64() * 1e3);
    };
    for (name, time, runs) in &rows {
        row(name, *time, &runs.to_string());
    }
    row("all", total, "");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_comes_first_and_the_sum_last() {
        let report = Report {
            times: vec![
                ("sccp", Duration::from_micros(1500), 2),
                ("dead-code", Duration::from_micros(4500), 1),
            ],
            ..Report::default()
        };
        assert_eq!(
            passes(&report),
            "      time  share  runs  pass\n\
             \x20 4.500 ms  75.0%     1  dead-code\n\
             \x20 1.500 ms  25.0%     2  sccp\n\
             \x20 6.000 ms 100.0%        all\n"
        );
    }
}
