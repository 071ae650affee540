//! What the guest sends about its cases, as it comes.

use std::collections::BTreeMap;

/// What one case printed and left, by kind: `stdout`, `stderr`, `status`, `leftovers`, `log`.
pub(crate) type Files = BTreeMap<String, String>;

/// Something that the guest said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A case begins.
    Begin(String),
    /// A case is over.
    End(String, Files),
    /// All cases are over.
    Done,
}

/// Reads the report from a growing file's contents.
#[derive(Debug, Default)]
pub(crate) struct ReportReader {
    at: usize,
    files: Files,
}

impl ReportReader {
    /// The next event in `report`, if it is there as a whole.
    pub(crate) fn next_event(&mut self, report: &[u8]) -> Option<Event> {
        loop {
            let rest = report.get(self.at..)?;
            let end = rest.iter().position(|&byte| byte == b'\n')?;
            let line = String::from_utf8_lossy(&rest[..end]).trim_end().to_owned();
            let words: Vec<&str> = line.split(' ').collect();
            let mut next = self.at + end + 1;
            let event = match words[..] {
                ["begin", case] => Some(Event::Begin(case.to_owned())),
                ["end", case] => Some(Event::End(case.to_owned(), std::mem::take(&mut self.files))),
                ["done"] => Some(Event::Done),
                ["file", _, kind, size] => {
                    let size: usize = size.parse().ok()?;
                    let contents = report.get(next..next + size)?;
                    let text = String::from_utf8_lossy(contents).into_owned();
                    self.files.insert(kind.to_owned(), text);
                    next += size;
                    None
                }
                _ => None,
            };
            self.at = next;
            if event.is_some() {
                return event;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_in_pieces() {
        let report =
            b"begin one\nfile one stdout 9\nend one\n\nfile one status 2\n0\nend one\ndone\n";
        for cut in 0..=report.len() {
            let mut reader = ReportReader::default();
            let mut events = Vec::new();
            for part in [&report[..cut], &report[..]] {
                while let Some(event) = reader.next_event(part) {
                    events.push(event);
                }
            }
            let files = [("stdout", "end one\n\n"), ("status", "0\n")];
            let files = files.map(|(kind, text)| (kind.to_owned(), text.to_owned()));
            let expected = [
                Event::Begin("one".to_owned()),
                Event::End("one".to_owned(), Files::from(files)),
                Event::Done,
            ];
            assert_eq!(events, expected, "cut at {cut}");
        }
    }
}
