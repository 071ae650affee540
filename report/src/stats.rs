//! What the passes counted, and how much IR there was and is, for `--stats`.

use std::fmt::Write;

use xlate_passes::manager::Report;

use crate::measure::Measures;

/// Two tables: what each pass counted, sorted by pass and name, and how much IR there was before
/// and after. In each line numbers come first and a name last; the pass is one word.
pub fn table(report: &Report, before: &Measures, after: &Measures) -> String {
    let width = report.statistics.keys().map(|(pass, _)| pass.len()).max().unwrap_or(0).max(4);
    let mut out = format!("{:>8}  {:width$}  what\n", "count", "pass");
    // Writing to a string does not fail.
    for ((pass, what), count) in &report.statistics {
        let _ = writeln!(out, "{count:>8}  {pass:width$}  {what}");
    }
    let _ = write!(out, "\n{:>8}  {:>8}  what\n", "before", "after");
    for ((what, before), (_, after)) in before.rows().iter().zip(after.rows()) {
        let _ = writeln!(out, "{before:>8}  {after:>8}  {what}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_sorted_and_come_first() {
        let counts = [(("sccp", "values folded"), 2), (("dead-code", "instructions dropped"), 13)];
        let report = Report { statistics: counts.into(), ..Report::default() };
        let before = Measures { instructions: 40, blocks: 7, ..Measures::default() };
        let after = Measures { instructions: 21, blocks: 3, ..Measures::default() };
        let text = table(&report, &before, &after);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..6],
            [
                "   count  pass       what",
                "      13  dead-code  instructions dropped",
                "       2  sccp       values folded",
                "",
                "  before     after  what",
                "      40        21  instructions",
            ]
        );
        assert!(lines.contains(&"       7         3  basic blocks"), "{text}");
    }
}
