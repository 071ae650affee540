//! The command of `-c`: started before the probes, held until they are in place.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};

use crate::Error;

/// A shell stops itself before it becomes the command, so the process number is known, and the
/// command's own, while nothing of it has run yet.
const HELD: &str = "kill -STOP $$; exec /bin/sh -c \"$1\"";

/// A command that runs while the probes are in place.
#[derive(Debug)]
pub(crate) struct Target {
    child: Child,
    pid: Pid,
    ended: OwnedFd,
    status: Option<ExitStatus>,
    held: bool,
}

impl Target {
    /// Starts the command and holds it.
    ///
    /// # Errors
    /// [`Error::Tool`] if no shell can be started.
    pub(crate) fn hold(command: &str) -> Result<Self, Error> {
        let hold = || -> io::Result<Self> {
            let child = Command::new("/bin/sh").args(["-c", HELD, "sh", command]).spawn()?;
            let pid = Pid::from_child(&child);
            let ended = pidfd_open(pid, PidfdFlags::empty())?;
            let target = Self { child, pid, ended, status: None, held: true };
            // Returns when it is stopped or, if it was killed, gone.
            while let Err(rustix::io::Errno::INTR) = waitpid(Some(pid), WaitOptions::UNTRACED) {}
            Ok(target)
        };
        hold().map_err(|source| Error::Tool { tool: "/bin/sh".to_owned(), source })
    }

    /// The command's process number.
    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Lets the command run.
    pub(crate) fn release(&mut self) {
        self.held = false;
        // It can only be gone because somebody killed it.
        let _ = kill_process(self.pid, Signal::CONT);
    }

    /// How the command ended, if it has.
    pub(crate) fn poll_status(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status
    }

    /// Waits for the command's end.
    pub(crate) fn wait(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
        self.status
    }
}

impl AsFd for Target {
    /// Readable when the command has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}

impl Drop for Target {
    /// A command that was never let go must not stay behind, stopped.
    fn drop(&mut self) {
        if self.held {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn nothing_runs_before_the_release() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("pid");
        let command = format!("echo $$ > {}; exit 3", path.display());
        let mut target = Target::hold(&command).expect("started");
        sleep(Duration::from_millis(50));
        assert!(!path.exists());
        assert_eq!(target.poll_status(), None);
        target.release();
        assert_eq!(target.wait().and_then(|status| status.code()), Some(3));
        let pid = fs::read_to_string(&path).expect("written");
        assert_eq!(pid.trim(), target.pid().to_string());
    }

    #[test]
    fn a_held_command_goes_with_its_handle() {
        let target = Target::hold("sleep 1000").expect("started");
        let process = format!("/proc/{}", target.pid());
        assert!(fs::exists(&process).expect("proc"));
        drop(target);
        assert!(!fs::exists(&process).expect("proc"));
    }
}
