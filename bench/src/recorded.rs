//! What a peer took when it was last measured, for runs without it. Only what does not depend on the
//! machine is kept: instructions and sizes, never times.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::table::Row;

/// Metrics that are the same on every machine.
const METRICS: &[&str] = &["instructions_above_empty", "bytes_of_text", "lines_of_c"];

/// The file in the folder `bench`.
pub(crate) fn file(here: &Path) -> PathBuf {
    here.join("recorded")
}

/// Fills in the peer where it was not measured; whether any number came from the record, whose
/// first line says what was measured when.
pub(crate) fn fill(rows: &mut [Row], record: &str) -> bool {
    let mut filled = false;
    for row in rows.iter_mut().filter(|row| row.peer.is_none()) {
        row.peer = record.lines().find_map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            let [bench, case, metric, value] = words[..] else { return None };
            let same = bench == row.bench && case == row.case && metric == row.metric;
            same.then(|| value.parse().ok()).flatten()
        });
        filled |= row.peer.is_some();
    }
    filled
}

/// Keeps what the peer took, under a line that says what the peer is, with what was recorded before
/// of what was not measured now.
pub(crate) fn write(here: &Path, about: &str, rows: &[Row]) -> io::Result<()> {
    let old = fs::read_to_string(file(here)).unwrap_or_default();
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    for line in old.lines().skip(1) {
        if let Some((what, value)) = line.rsplit_once(' ') {
            lines.insert(what.to_owned(), value.to_owned());
        }
    }
    for row in rows.iter().filter(|row| METRICS.contains(&row.metric)) {
        if let Some(peer) = row.peer {
            lines.insert(format!("{} {} {}", row.bench, row.case, row.metric), peer.to_string());
        }
    }
    let lines: String = lines.iter().map(|(what, value)| format!("{what} {value}\n")).collect();
    fs::write(file(here), format!("# {about}\n{lines}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(metric: &'static str, peer: Option<f64>) -> Row {
        Row { bench: "cost", case: "count".to_owned(), metric, value: 1.0, peer, floor: None }
    }

    #[test]
    fn only_what_was_not_measured_is_filled_in() {
        let record = "# about\ncost count instructions 319.5\ncost map instructions 1\n";
        let mut rows = [row("instructions", None), row("instructions", Some(2.0)), row("x", None)];
        assert!(fill(&mut rows, record));
        assert_eq!(rows.map(|row| row.peer), [Some(319.5), Some(2.0), None]);
        assert!(!fill(&mut [row("x", None)], record));
    }

    #[test]
    fn times_are_not_kept() {
        let folder = tempfile::tempdir().expect("folder");
        let rows = [row("milliseconds", Some(1.0)), row("lines_of_c", Some(2.0))];
        write(folder.path(), "a peer", &rows).expect("written");
        let text = fs::read_to_string(file(folder.path())).expect("read");
        assert_eq!(text, "# a peer\ncost count lines_of_c 2\n");
    }

    #[test]
    fn what_was_not_measured_again_stays() {
        let folder = tempfile::tempdir().expect("folder");
        write(folder.path(), "a peer", &[row("lines_of_c", Some(2.0))]).expect("written");
        let rows = [row("bytes_of_text", Some(1.5))];
        write(folder.path(), "a newer one", &rows).expect("written");
        let text = fs::read_to_string(file(folder.path())).expect("read");
        assert_eq!(text, "# a newer one\ncost count bytes_of_text 1.5\ncost count lines_of_c 2\n");
    }
}
