//! The thread that moves a module's output: it reads all trace files, puts the records in order
//! and writes them out.
//!
//! It is a thread of its own because the control thread may be held up in the module, by a `begin`
//! or `end` handler that prints more than the buffers hold.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use crate::merge::{Merger, RecordReader};

/// How much is read at a time, in bytes.
const READ_SIZE: usize = 256 * 1024;

/// The pause between two looks at the files. Handlers wake nobody, so that printing stays cheap.
const IDLE: Duration = Duration::from_millis(100);

/// The pause while output is coming.
const BUSY: Duration = Duration::from_millis(10);

/// What became of the output.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    /// Records that were numbered but never came.
    pub(crate) lost: u64,
    /// Bytes that were no record.
    pub(crate) garbage: u64,
    /// Why writing ended early, if it did. What came after that was read and thrown away.
    pub(crate) write_error: Option<io::Error>,
}

/// The running thread.
#[derive(Debug)]
pub(crate) struct Pump {
    thread: JoinHandle<Delivery>,
    /// Written to when the module prints nothing more.
    end: OwnedFd,
    /// Becomes readable when nothing more can be written.
    broken: OwnedFd,
}

impl Pump {
    /// Starts to move what comes from `traces` to `output`.
    ///
    /// # Errors
    /// If the process may not have more threads or file descriptors.
    pub(crate) fn start(traces: Vec<File>, output: Box<dyn Write + Send>) -> io::Result<Self> {
        let end = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let broken = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let (end_seen, broken_told) = (end.try_clone()?, broken.try_clone()?);
        let thread = thread::Builder::new().name("output".to_owned()).spawn(move || {
            let sources = traces.into_iter().map(Source::new).collect();
            let writer = Writer { output, error: None, broken: broken_told };
            move_output(sources, writer, &end_seen)
        })?;
        Ok(Self { thread, end, broken })
    }

    /// Reads to the end and returns when everything is written.
    pub(crate) fn finish(self) -> Delivery {
        // An event counter of its own always has room for one.
        let _ = rustix::io::write(&self.end, &1_u64.to_ne_bytes());
        self.thread.join().unwrap_or_default()
    }

    /// Whether the thread has ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Asks the thread to read to the end, without waiting for it.
    pub(crate) fn ask_to_finish(&self) {
        let _ = rustix::io::write(&self.end, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Pump {
    /// Readable when nothing more can be written.
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.broken.as_fd()
    }
}

/// One CPU's trace file.
struct Source {
    file: File,
    reader: RecordReader,
}

impl Source {
    fn new(file: File) -> Self {
        Self { file, reader: RecordReader::default() }
    }

    /// Hands over all that is there now; how many bytes that was.
    fn drain(&mut self, buffer: &mut [u8], merger: &mut Merger) -> usize {
        let mut total = 0;
        loop {
            match self.file.read(buffer) {
                Ok(0) => return total,
                Ok(count) => {
                    total += count;
                    merger.add(self.reader.push(&buffer[..count]));
                    // Others must have their turn even if this CPU prints faster than we read.
                    if total >= 16 * buffer.len() {
                        return total;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return total,
            }
        }
    }
}

/// The output, until it breaks.
struct Writer {
    output: Box<dyn Write + Send>,
    error: Option<io::Error>,
    broken: OwnedFd,
}

impl Writer {
    /// Does something with the output unless it is broken.
    fn with(&mut self, action: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.error.is_none()
            && let Err(error) = action(&mut *self.output)
        {
            self.error = Some(error);
            let _ = rustix::io::write(&self.broken, &1_u64.to_ne_bytes());
        }
    }
}

/// The thread's work.
fn move_output(mut sources: Vec<Source>, mut writer: Writer, end: &OwnedFd) -> Delivery {
    let mut merger = Merger::new();
    let mut buffer = vec![0; READ_SIZE];
    let mut pause = IDLE;
    loop {
        let ending = wait(end, pause);
        let count: usize =
            sources.iter_mut().map(|source| source.drain(&mut buffer, &mut merger)).sum();
        writer.with(|output| {
            merger.take(Instant::now(), |data| output.write_all(data))?;
            output.flush()
        });
        if writer.error.is_some() {
            // Nothing can be written any more, but the module's buffers are still emptied.
            merger = Merger::new();
        }
        pause = if ending {
            Duration::ZERO
        } else if count > 0 {
            BUSY
        } else {
            IDLE
        };
        if ending && count == 0 {
            break;
        }
    }
    writer.with(|output| {
        merger.finish(|data| output.write_all(data))?;
        output.flush()
    });
    Delivery {
        lost: merger.lost,
        garbage: sources.iter().map(|source| source.reader.garbage).sum(),
        write_error: writer.error,
    }
}

/// Waits for the pause to be over, or for the end; whether it is the end.
fn wait(end: &OwnedFd, pause: Duration) -> bool {
    let timeout = Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() };
    let mut fds = [PollFd::new(end, PollFlags::IN)];
    // An error means an interruption, after which it is as good to look as to wait.
    poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0)
}
