//! The control messages between a loader and a module: SystemTap's, as of its version 5.0, so
//! that either side can be exchanged for SystemTap's own.
//!
//! A message is one `read` or `write` of the control file: a 32-bit number for its type, then a
//! payload, in the machine's byte order.

/// Message types, by their numbers.
mod number {
    pub(super) const START: u32 = 0x50;
    pub(super) const EXIT: u32 = 0x51;
    pub(super) const OOB_DATA: u32 = 0x52;
    pub(super) const SYSTEM: u32 = 0x53;
    pub(super) const TRANSPORT: u32 = 0x54;
    pub(super) const READY: u32 = 0x58;
    pub(super) const RELOCATION: u32 = 0x59;
    pub(super) const REALTIME_DATA: u32 = 0x5c;
    pub(super) const REQUEST_EXIT: u32 = 0x5d;
}

/// No message is longer than this, in bytes.
pub(crate) const MESSAGE_MAX: usize = 16 * 1024;

/// The size of a name in a relocation, its NUL included, in bytes.
const RELOCATION_NAME: usize = 128;

/// A message to a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// The loader is listening.
    Ready,
    /// Where a symbol of the kernel is.
    Relocation { symbol: &'static str, address: u64 },
    /// Install the probes. The payload is the target process, 0 if there is none.
    Start { target: i32 },
    /// Remove the probes, run the `end` handlers, and say when that is done.
    Exit,
}

impl Command {
    /// The bytes to write.
    pub(crate) fn encode(self) -> Vec<u8> {
        let words: &[i32] = match self {
            Self::Ready => &[number::READY as i32],
            Self::Relocation { symbol, address } => return relocation(symbol, address),
            Self::Start { target } => &[number::START as i32, target, 0],
            Self::Exit => &[number::EXIT as i32],
        };
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }
}

/// A relocation: names of the module, here the kernel, and of the symbol, and its address.
fn relocation(symbol: &str, address: u64) -> Vec<u8> {
    let mut bytes = number::RELOCATION.to_ne_bytes().to_vec();
    for name in ["kernel", symbol] {
        let mut field = [0; RELOCATION_NAME];
        for (to, from) in field.iter_mut().zip(name.bytes().take(RELOCATION_NAME - 1)) {
            *to = from;
        }
        bytes.extend(field);
    }
    bytes.extend(address.to_ne_bytes());
    bytes
}

/// A message from a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The module is ready to be started.
    Transport,
    /// Probes were installed, if `result` is zero, else not.
    Started { result: i32 },
    /// Text beside the output: warnings, errors, and what `log` writes.
    Text(String),
    /// A shell command to run.
    System(String),
    /// The script wants to end.
    RequestExit,
    /// All is over; the module can be removed.
    Exited,
    /// A type that a loader without bulk mode and relays has no use for.
    Other(u32),
}

impl Message {
    /// Reads what one `read` returned; `None` if it is too short for its type.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, payload) = bytes.split_first_chunk::<4>()?;
        Some(match u32::from_ne_bytes(*kind) {
            number::TRANSPORT => Self::Transport,
            number::START => {
                Self::Started { result: i32::from_ne_bytes(payload.get(4..8)?.try_into().ok()?) }
            }
            number::OOB_DATA | number::REALTIME_DATA => Self::Text(text(payload)),
            number::SYSTEM => Self::System(text(payload)),
            number::REQUEST_EXIT => Self::RequestExit,
            number::EXIT => Self::Exited,
            other => Self::Other(other),
        })
    }
}

/// The text up to the first NUL.
fn text(payload: &[u8]) -> String {
    let end = payload.iter().position(|&byte| byte == 0).unwrap_or(payload.len());
    String::from_utf8_lossy(&payload[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u32, payload: &[u8]) -> Option<Message> {
        Message::decode(&[&kind.to_ne_bytes(), payload].concat())
    }

    #[test]
    fn commands_are_words() {
        assert_eq!(Command::Ready.encode(), 0x58_u32.to_ne_bytes());
        assert_eq!(Command::Exit.encode(), 0x51_u32.to_ne_bytes());
        let start = Command::Start { target: 77 }.encode();
        let words = [0x50_u32.to_ne_bytes(), 77_u32.to_ne_bytes(), 0_u32.to_ne_bytes()];
        assert_eq!(start, words.concat());
    }

    #[test]
    fn messages_of_every_kind() {
        let result = [7_i32.to_ne_bytes(), (-2_i32).to_ne_bytes()].concat();
        assert_eq!(message(0x50, &result), Some(Message::Started { result: -2 }));
        assert_eq!(message(0x51, &[]), Some(Message::Exited));
        assert_eq!(message(0x52, b"WARNING: x\0y"), Some(Message::Text("WARNING: x".into())));
        assert_eq!(message(0x53, b"date\0"), Some(Message::System("date".into())));
        assert_eq!(message(0x54, &[]), Some(Message::Transport));
        assert_eq!(message(0x5d, &[]), Some(Message::RequestExit));
        assert_eq!(message(0x5a, &[]), Some(Message::Other(0x5a)));
    }

    #[test]
    fn short_messages_are_none() {
        assert_eq!(Message::decode(&[0x50, 0, 0]), None);
        assert_eq!(message(0x50, &[0; 7]), None);
    }
}
