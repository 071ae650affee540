//! Signals that ask the program to stop, as something that can be polled.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};

/// Turns SIGINT (`^C`), SIGTERM and SIGHUP into bytes that wake a `poll`, from its creation to
/// the end of the process: create it when there is something to clean up, and ask it from then on.
#[derive(Debug)]
pub struct Interrupts {
    receiver: UnixStream,
}

impl Interrupts {
    /// Begins to catch the signals.
    ///
    /// # Errors
    /// If the process may not have another two file descriptors.
    pub fn catch() -> io::Result<Self> {
        let (receiver, sender) = UnixStream::pair()?;
        receiver.set_nonblocking(true)?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
        }
        Ok(Self { receiver })
    }

    /// How many signals have come since the last call.
    pub fn take(&self) -> usize {
        let mut bytes = [0; 64];
        (&self.receiver).read(&mut bytes).unwrap_or(0)
    }
}

impl AsFd for Interrupts {
    /// Readable while a signal waits to be taken.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    #[test]
    fn signals_wake_a_poll_and_are_counted() {
        let interrupts = Interrupts::catch().expect("caught");
        assert_eq!(interrupts.take(), 0);
        kill_process(getpid(), Signal::HUP).expect("sent");
        let mut fds = [PollFd::new(&interrupts, PollFlags::IN)];
        assert_eq!(poll(&mut fds, None).expect("polled"), 1);
        assert_eq!(interrupts.take(), 1);
        assert_eq!(interrupts.take(), 0);
    }
}
