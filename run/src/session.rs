//! Pass 5: a module's life from loading to removal.
//!
//! Load, say READY, get TRANSPORT, open the trace files, say START, get its result; then messages
//! and output until the script or the user wants to end; say EXIT, get EXIT, read what is left,
//! and remove the module. A module that was loaded is removed however this ends.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command as Process, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::image::Image;
use crate::module::LoadedModule;
use crate::output::{Delivery, Pump};
use crate::protocol::{Command, MESSAGE_MAX, Message};
use crate::recording::{Recorder, save};
use crate::relocations::relocations;
use crate::target::Target;
use crate::{Error, Interrupts};

/// How long a module may take to say that it can be started.
const TRANSPORT_PATIENCE: Duration = Duration::from_secs(10);

/// EXIT is repeated at this distance: a module that is still busy with START ignores it.
const EXIT_REPEAT: Duration = Duration::from_millis(500);

/// Whose doings a script is asked to watch (`target()`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetSpec {
    /// Nobody's in particular.
    #[default]
    None,
    /// The process of that number.
    Process(u32),
    /// A shell command, which runs while the probes are in place; its end is the script's.
    Command(String),
}

/// What to run, and how.
#[derive(Debug)]
pub struct RunRequest<'a> {
    /// The `.ko` file.
    pub module: &'a Path,
    /// Whether the module may get a name of its own for this run, so that others can run it at
    /// the same time. Not for a name that the user chose.
    pub rename: bool,
    /// Module parameters, each `NAME=VALUE`.
    pub parameters: &'a [String],
    /// The size of each CPU's buffer in MiB; `None` for the module's default.
    pub buffer_size: Option<u32>,
    /// The target process.
    pub target: TargetSpec,
    /// When to end the script, counted from its start.
    pub timeout: Option<Duration>,
    /// Where the output goes; `None` for standard output.
    pub output: Option<&'a Path>,
    /// Where the events go that recording probes of the module tell of.
    pub record: Option<&'a Path>,
    /// What ends the script: the first interruption asks it to, the second does not wait for
    /// what it still has to say, the third gives up on removing the module.
    pub interrupts: &'a Interrupts,
}

/// Something that the user should see at once, apart from the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice<'a> {
    /// A warning.
    Warning(&'a str),
    /// An error of the script, at run time.
    Error(&'a str),
    /// Other text, as from `log`.
    Text(&'a str),
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How many errors the script reported.
    pub errors: u64,
    /// How many pieces of output got lost between the module and here. The caller tells the user.
    pub lost: u64,
    /// How the command of [`TargetSpec::Command`] ended.
    pub command: Option<ExitStatus>,
}

impl Outcome {
    /// The program's exit status: 0 unless the script reported errors or the command failed. As
    /// with SystemTap, an interruption is a success.
    pub fn exit_code(&self) -> u8 {
        let failed = self.command.is_some_and(|status| !status.success());
        u8::from(self.errors > 0 || failed)
    }
}

/// Loads a module, runs it to its end, and removes it.
///
/// # Errors
/// [`Error::Load`], [`Error::NotAModule`], [`Error::NoSuchProcess`], [`Error::Protocol`],
/// [`Error::Unload`], and errors of files. Errors of the script are part of the [`Outcome`].
pub fn run(request: &RunRequest<'_>, notify: &mut dyn FnMut(Notice<'_>)) -> Result<Outcome, Error> {
    let mut image = Image::read(request.module)?;
    if request.rename {
        image.rename(std::process::id());
    }
    let mut output = open_output(request.output)?;
    let mut recording = None;
    if let Some(path) = request.record {
        let (recorder, recorded) = Recorder::new(output);
        output = Box::new(recorder);
        recording = Some((recorded, path));
    }
    let mut target = hold_target(&request.target)?;
    let module = LoadedModule::load(&image, &parameters(request))?;
    let symbols = File::open("/proc/kallsyms").map(BufReader::new);
    let relocations =
        symbols.map_or_else(|_| Vec::new(), |table| relocations(image.bytes(), table));
    drop(image);
    let mut session = Session {
        request,
        module: &module,
        notify,
        outcome: Outcome::default(),
        interruptions: 0,
        ending: None,
        deadline: None,
    };
    let result = session.live(&relocations, output, target.as_mut());
    let Session { mut outcome, interruptions, notify, .. } = session;
    // Whatever happened, the module must not stay behind.
    let unloaded = module.unload(request.interrupts);
    let saved = recording.map_or(Ok(true), |(recorded, path)| save(&recorded, path));
    result?;
    unloaded?;
    if !saved? {
        notify(Notice::Warning("nothing was recorded: the module was not built with --record"));
    }
    if let Some(target) = &mut target {
        outcome.command = if interruptions > 0 { target.poll_status() } else { target.wait() };
        if let Some(status) = outcome.command.filter(|status| !status.success()) {
            notify(Notice::Warning(&format!("the command failed: {status}")));
        }
    }
    Ok(outcome)
}

/// The module's parameters in the form that the kernel takes.
fn parameters(request: &RunRequest<'_>) -> String {
    let mut parameters = format!("_stp_bufsize={}", request.buffer_size.unwrap_or(0));
    for parameter in request.parameters {
        parameters.push(' ');
        parameters.push_str(parameter);
    }
    parameters
}

fn open_output(path: Option<&Path>) -> Result<Box<dyn Write + Send>, Error> {
    Ok(match path {
        Some(path) => {
            let file = File::create(path).map_err(|e| Error::io("cannot write", path, e))?;
            Box::new(io::BufWriter::with_capacity(1 << 16, file))
        }
        None => Box::new(io::BufWriter::with_capacity(1 << 16, io::stdout())),
    })
}

fn hold_target(spec: &TargetSpec) -> Result<Option<Target>, Error> {
    match spec {
        TargetSpec::None => Ok(None),
        TargetSpec::Process(pid) if Path::new(&format!("/proc/{pid}")).exists() => Ok(None),
        TargetSpec::Process(pid) => Err(Error::NoSuchProcess { pid: *pid }),
        TargetSpec::Command(command) => Target::hold(command).map(Some),
    }
}

/// A loaded module being talked to.
struct Session<'a> {
    request: &'a RunRequest<'a>,
    module: &'a LoadedModule,
    notify: &'a mut dyn FnMut(Notice<'_>),
    outcome: Outcome,
    /// How often the user has asked to end.
    interruptions: usize,
    /// When EXIT was sent last, once the end is wanted.
    ending: Option<Instant>,
    /// When the script's time is up.
    deadline: Option<Instant>,
}

/// What made a wait end.
#[derive(Default)]
struct Wakeup {
    interrupted: bool,
    command_ended: bool,
    output_broken: bool,
}

impl Session<'_> {
    /// From READY to the module's EXIT.
    fn live(
        &mut self,
        relocations: &[Command],
        output: Box<dyn Write + Send>,
        target: Option<&mut Target>,
    ) -> Result<(), Error> {
        let mut control = self.module.open_control()?;
        for relocation in relocations {
            self.send(&mut control, *relocation)?;
        }
        self.send(&mut control, Command::Ready)?;
        if !self.wait_for_transport(&mut control)? {
            return Ok(());
        }
        let traces = self.module.open_traces()?;
        let pump = Pump::start(traces, output).map_err(|error| {
            Error::io("cannot start a thread to read", self.request.module, error)
        })?;
        let talked = self.talk(&mut control, &pump, target);
        let delivery = if self.interruptions < 2 {
            self.finish_output(pump)
        } else {
            // The user does not want to wait for a reader that may be stuck.
            pump.ask_to_finish();
            Delivery::default()
        };
        talked?;
        self.report(delivery)
    }

    /// Waits until the module can be started; false if the user does not want it any more.
    fn wait_for_transport(&mut self, control: &mut File) -> Result<bool, Error> {
        let begun = Instant::now();
        loop {
            while let Some(message) = self.receive(control)? {
                match message {
                    Message::Transport => return Ok(true),
                    Message::Exited => return Ok(false),
                    other => self.handle_text(other),
                }
            }
            if begun.elapsed() > TRANSPORT_PATIENCE {
                return Err(self.module.protocol_error("it does not answer"));
            }
            let wakeup = self.wait(control, None, None)?;
            if wakeup.interrupted {
                return Ok(false);
            }
        }
    }

    /// From START to the module's EXIT.
    fn talk(
        &mut self,
        control: &mut File,
        pump: &Pump,
        mut target: Option<&mut Target>,
    ) -> Result<(), Error> {
        let target_pid = match (&self.request.target, &target) {
            (TargetSpec::Process(pid), _) => *pid as i32,
            (_, Some(target)) => target.pid(),
            _ => 0,
        };
        self.send(control, Command::Start { target: target_pid })?;
        self.deadline = deadline(Instant::now(), self.request.timeout);
        let mut command_watched = false;
        let mut output_watched = true;
        loop {
            while let Some(message) = self.receive(control)? {
                match message {
                    Message::Exited => return Ok(()),
                    Message::Started { result: 0 } => {
                        if let Some(target) = target.as_deref_mut() {
                            target.release();
                            command_watched = true;
                        }
                    }
                    Message::Started { result } => return self.start_failed(control, result),
                    Message::RequestExit => self.end(control)?,
                    Message::System(command) => run_in_background(&command),
                    other => self.handle_text(other),
                }
            }
            let watched_target = target.as_deref().filter(|_| command_watched);
            let watched_pump = Some(pump).filter(|_| output_watched);
            let wakeup = self.wait(control, watched_target, watched_pump)?;
            if wakeup.command_ended {
                command_watched = false;
                self.end(control)?;
            }
            if wakeup.output_broken {
                output_watched = false;
                self.end(control)?;
            }
            let timed_out = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if wakeup.interrupted || timed_out {
                self.deadline = None;
                self.end(control)?;
            }
            if self.interruptions > 1 {
                return Ok(());
            }
            if self.ending.is_some_and(|sent| sent.elapsed() >= EXIT_REPEAT) {
                self.send(control, Command::Exit)?;
                self.ending = Some(Instant::now());
            }
        }
    }

    /// Asks the module to end, once.
    fn end(&mut self, control: &mut File) -> Result<(), Error> {
        if self.ending.is_none() {
            self.send(control, Command::Exit)?;
            self.ending = Some(Instant::now());
        }
        Ok(())
    }

    /// Probes could not be installed. The module has said why, or its number has to do.
    fn start_failed(&mut self, control: &mut File, result: i32) -> Result<(), Error> {
        while let Some(message) = self.receive(control)? {
            self.handle_text(message);
        }
        if self.outcome.errors > 0 {
            return Ok(());
        }
        let reason = io::Error::from_raw_os_error(result.saturating_abs());
        Err(self.module.protocol_error(format!("its probes could not be installed: {reason}")))
    }

    /// Shows the text of a message, if it has any.
    fn handle_text(&mut self, message: Message) {
        let Message::Text(text) = message else { return };
        let text = text.trim_end_matches('\n');
        if let Some(text) = text.strip_prefix("WARNING: ") {
            (self.notify)(Notice::Warning(text));
        } else if let Some(text) = text.strip_prefix("ERROR: ") {
            self.outcome.errors += 1;
            (self.notify)(Notice::Error(text));
        } else {
            (self.notify)(Notice::Text(text));
        }
    }

    /// Waits until there is something to do, or it is time for EXIT again, or time is up.
    fn wait(
        &mut self,
        control: &File,
        target: Option<&Target>,
        pump: Option<&Pump>,
    ) -> Result<Wakeup, Error> {
        let mut fds = vec![
            PollFd::new(control, PollFlags::IN),
            PollFd::new(self.request.interrupts, PollFlags::IN),
        ];
        // Absent ones are stood in for by a descriptor that is asked for nothing.
        let nothing = || PollFd::new(control, PollFlags::empty());
        fds.push(
            target.map_or_else(nothing, |t| PollFd::from_borrowed_fd(t.as_fd(), PollFlags::IN)),
        );
        fds.push(pump.map_or_else(nothing, |p| PollFd::from_borrowed_fd(p.as_fd(), PollFlags::IN)));
        let mut pause = EXIT_REPEAT;
        if let Some(deadline) = self.deadline {
            pause = pause.min(deadline.saturating_duration_since(Instant::now()));
        }
        let timeout =
            Timespec { tv_sec: pause.as_secs() as i64, tv_nsec: pause.subsec_nanos().into() };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                return Err(self.module.protocol_error(format!("cannot be waited for: {error}")));
            }
        }
        // Asked for apart: a signal that interrupts the poll leaves no mark in its results.
        let signals = self.request.interrupts.take();
        // The control file is asked for messages in any case.
        let ready = |index: usize| fds[index].revents().contains(PollFlags::IN);
        let wakeup = Wakeup {
            interrupted: signals > 0,
            command_ended: ready(2) && target.is_some(),
            output_broken: ready(3) && pump.is_some(),
        };
        self.interruptions += signals;
        Ok(wakeup)
    }

    /// Sends one message.
    fn send(&self, control: &mut File, command: Command) -> Result<(), Error> {
        match control.write_all(&command.encode()) {
            Ok(()) => Ok(()),
            Err(error) => {
                Err(self.module.protocol_error(format!("it did not take {command:?}: {error}")))
            }
        }
    }

    /// The next message, if one is waiting.
    fn receive(&self, control: &mut File) -> Result<Option<Message>, Error> {
        let mut buffer = vec![0; MESSAGE_MAX];
        loop {
            match control.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => {
                    return match Message::decode(&buffer[..count]) {
                        Some(message) => Ok(Some(message)),
                        None => Err(self.module.protocol_error("it sent half a message")),
                    };
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => {
                    return Err(self.module.protocol_error(format!("cannot be read: {error}")));
                }
            }
        }
    }

    /// Reads the output to its end, unless the user loses patience.
    fn finish_output(&mut self, pump: Pump) -> Delivery {
        pump.ask_to_finish();
        while !pump.is_finished() {
            let timeout = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let mut fds = [PollFd::new(self.request.interrupts, PollFlags::IN)];
            // Interrupted or not, the count says what the user wants.
            let _ = poll(&mut fds, Some(&timeout));
            self.interruptions += self.request.interrupts.take();
            if self.interruptions > 1 {
                return Delivery::default();
            }
        }
        pump.finish()
    }

    /// Tells what became of the output.
    fn report(&mut self, delivery: Delivery) -> Result<(), Error> {
        self.outcome.lost = delivery.lost;
        if delivery.garbage > 0 {
            let text = format!("{} bytes of output made no sense", delivery.garbage);
            (self.notify)(Notice::Warning(&text));
        }
        match delivery.write_error {
            // The reader has seen enough, which is its way of saying ^C.
            Some(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.interruptions += 1;
                Ok(())
            }
            Some(error) => {
                let path = self.request.output.unwrap_or(Path::new("standard output"));
                Err(Error::io("cannot write", path, error))
            }
            None => Ok(()),
        }
    }
}

/// Runs a shell command that the script wants, and does not wait for it.
fn run_in_background(command: &str) {
    // The script cannot be told of a failure; the shell itself complains of what it can.
    if let Ok(mut child) = Process::new("/bin/sh").arg("-c").arg(command).spawn() {
        std::thread::spawn(move || child.wait());
    }
}

/// When a session that may last so long ends; `None` if that is never.
fn deadline(now: Instant, timeout: Option<Duration>) -> Option<Instant> {
    now.checked_add(timeout?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_may_last_for_ever() {
        let now = Instant::now();
        assert_eq!(deadline(now, None), None);
        assert_eq!(deadline(now, Some(Duration::MAX)), None);
        let second = Duration::from_secs(1);
        assert_eq!(deadline(now, Some(second)), Some(now + second));
    }
}
