//! Event files of live runs: what the recording probes print is taken out of the output, and
//! becomes a file for host programs, sorted by time.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;

/// What a line of a recording probe begins with.
const MARK: u8 = 2;

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// What was recorded so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Recording {
    /// Wall-clock and monotonic time when the session began, in ns.
    start: Option<(u64, u64)>,
    /// Monotonic time in ns, and the rest of the line.
    events: Vec<(u64, String)>,
}

impl Recording {
    /// Takes a record of the output if it is of a recording probe.
    fn take(&mut self, record: &[u8]) -> bool {
        let Some(line) = record.strip_prefix(&[MARK]) else { return false };
        let line = String::from_utf8_lossy(line);
        let Some((first, rest)) = line.trim_end().split_once(' ') else { return false };
        if first == "start" {
            let times = rest
                .split_once(' ')
                .and_then(|(wall, mono)| Some((wall.parse().ok()?, mono.parse().ok()?)));
            self.start = times;
            return times.is_some();
        }
        let Ok(time) = first.parse() else { return false };
        self.events.push((time, without_maxactive(rest)));
        true
    }

    /// The event file; `None` if no recording probe was there.
    fn text(&self) -> Option<String> {
        let (wall, mono) = self.start?;
        let seconds = |ns: u64| format!("{}.{:09}", ns / SECOND, ns % SECOND);
        let mut events: Vec<_> = self.events.iter().collect();
        events.sort_by_key(|(time, _)| *time);
        let mut text = format!("start {}\n", seconds(wall));
        for (time, rest) in events {
            let _ = writeln!(text, "{} {rest}", seconds(time.saturating_sub(mono)));
        }
        Some(text)
    }
}

/// The event's line without what concerns only how its point was registered.
fn without_maxactive(line: &str) -> String {
    match line.split_once(".maxactive(") {
        Some((before, after)) => match after.split_once(')') {
            Some((_, after)) => format!("{before}{after}"),
            None => line.to_owned(),
        },
        None => line.to_owned(),
    }
}

/// Where the output goes, less what was recorded. Each record of the output comes in one write.
pub(crate) struct Recorder {
    output: Box<dyn Write + Send>,
    recording: Arc<Mutex<Recording>>,
}

impl Recorder {
    /// A recorder in front of an output, and what it is going to record.
    pub(crate) fn new(output: Box<dyn Write + Send>) -> (Self, Arc<Mutex<Recording>>) {
        let recording = Arc::new(Mutex::new(Recording::default()));
        (Recorder { output, recording: Arc::clone(&recording) }, recording)
    }
}

impl Write for Recorder {
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        let mut recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        match recording.take(record) {
            true => Ok(record.len()),
            false => self.output.write(record),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Writes the event file; whether there was anything to tell.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn save(recording: &Mutex<Recording>, path: &Path) -> Result<bool, Error> {
    let recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
    let text = recording.text();
    fs::write(path, text.as_deref().unwrap_or_default())
        .map_err(|error| Error::io("cannot write", path, error))?;
    Ok(text.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_taken_out_and_sorted() {
        let written = Arc::new(Mutex::new(Vec::new()));
        struct Shared(Arc<Mutex<Vec<u8>>>);
        impl Write for Shared {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().expect("no panic").write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (mut recorder, recording) = Recorder::new(Box::new(Shared(Arc::clone(&written))));
        for record in [
            "\u{2}start 1764525600000000001 5000000000\n",
            "hello\n",
            "\u{2}5000002000 kernel.trace(\"t\") 1 2 3 \"a b\" uid=0\n",
            "\u{2}5000001000 kprobe.function(\"f\").return.maxactive(4) 0 2 3 \"x\" uid=0\n",
            "\u{2}not an event\n",
        ] {
            recorder.write_all(record.as_bytes()).expect("written");
        }
        assert_eq!(*written.lock().expect("no panic"), b"hello\n\x02not an event\n");
        let expected = "start 1764525600.000000001\n\
                        0.000001000 kprobe.function(\"f\").return 0 2 3 \"x\" uid=0\n\
                        0.000002000 kernel.trace(\"t\") 1 2 3 \"a b\" uid=0\n";
        assert_eq!(recording.lock().expect("no panic").text().as_deref(), Some(expected));
    }

    #[test]
    fn a_module_without_recording_probes_is_known() {
        let (mut recorder, recording) = Recorder::new(Box::new(io::sink()));
        recorder.write_all(b"hello\n").expect("written");
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        assert!(!save(&recording, file.path()).expect("written"));
        assert_eq!(fs::read_to_string(file.path()).expect("read"), "");
    }
}
