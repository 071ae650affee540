//! Operations that the runtime provides: context queries, string primitives, control.
//!
//! One row each. The tapset declares a function as an intrinsic by a pragma that names the row; the
//! emitted C calls the runtime's function of the same name, dots turned into underscores and `xl_`
//! in front.

use std::fmt;

use crate::effects::Invariance;

/// A parameter or result of an intrinsic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// A long.
    Long,
    /// A string of any length.
    Str,
    /// A string of at most this many bytes.
    Bounded(u32),
}

/// One row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Its name in the text form and in pragmas.
    pub name: &'static str,
    /// Its parameters.
    pub params: &'static [Slot],
    /// Its result.
    pub result: Option<Slot>,
    /// How its result depends on when it is asked.
    pub invariance: Invariance,
    /// Whether it may raise.
    pub raises: bool,
    /// Whether it ends the handler, past every catch.
    pub aborts: bool,
    /// Whether it does something that must happen once, in order (a message, a change of state).
    pub acts: bool,
    /// Whether it relies on a check before it, and must not be done earlier.
    pub guarded: bool,
}

macro_rules! intrinsics {
    (@result) => { None };
    (@result $result:expr) => { Some($result) };
    ($($(#[$doc:meta])* $id:ident = $name:literal ($($param:expr),*) $(-> $result:expr)?,
        $invariance:ident $(+ $flag:ident)*;)*) => {
        /// An operation of the runtime.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Intrinsic { $($(#[$doc])* $id,)* }

        impl Intrinsic {
            /// All of them, in the order of the table.
            pub const ALL: &'static [Intrinsic] = &[$(Intrinsic::$id,)*];

            /// Its row.
            pub fn signature(self) -> &'static Signature {
                match self {
                    $(Intrinsic::$id => {
                        const ROW: Signature = {
                            #[allow(unused_mut)]
                            let mut row = Signature {
                                name: $name,
                                params: &[$($param),*],
                                result: intrinsics!(@result $($result)?),
                                invariance: Invariance::$invariance,
                                raises: false,
                                aborts: false,
                                acts: false,
                                guarded: false,
                            };
                            $(row.$flag = true;)*
                            row
                        };
                        &ROW
                    })*
                }
            }
        }
    };
}

use Slot::{Bounded, Long, Str};

/// The longest command name that the kernel keeps, TASK_COMM_LEN - 1.
const COMM: Slot = Bounded(15);

intrinsics! {
    // Context queries: they do not change within one run of a handler.
    /// Process id (thread group id) of the current task.
    Pid = "ctx.pid"() -> Long, Handler;
    /// Thread id of the current task.
    Tid = "ctx.tid"() -> Long, Handler;
    /// Process id of the parent.
    Ppid = "ctx.ppid"() -> Long, Handler;
    /// Process group id.
    Pgrp = "ctx.pgrp"() -> Long, Handler;
    /// Session id.
    Sid = "ctx.sid"() -> Long, Handler;
    /// User id.
    Uid = "ctx.uid"() -> Long, Handler;
    /// Effective user id.
    Euid = "ctx.euid"() -> Long, Handler;
    /// Group id.
    Gid = "ctx.gid"() -> Long, Handler;
    /// Effective group id.
    Egid = "ctx.egid"() -> Long, Handler;
    /// Name of the current task.
    Execname = "ctx.execname"() -> COMM, Handler;
    /// Name of the parent task.
    Pexecname = "ctx.pexecname"() -> COMM, Handler;
    /// Number of the current CPU.
    Cpu = "ctx.cpu"() -> Long, Handler;
    /// Address of the current task's structure.
    TaskCurrent = "ctx.task"() -> Long, Handler;
    /// The probe point as resolved.
    Pp = "ctx.pp"() -> Str, Handler;
    /// The probe point as the script wrote it.
    Pn = "ctx.pn"() -> Str, Handler;
    /// The function that the probe point is in.
    Probefunc = "ctx.probefunc"() -> Str, Handler;
    /// The process id given with `-x` or made by `-c`; 0 if none.
    Target = "ctx.target"() -> Long, Handler;
    /// Name of this module.
    ModuleName = "ctx.module_name"() -> Bounded(55), Handler;

    // Clocks.
    /// Wall-clock time in nanoseconds.
    TimeNs = "time.ns"() -> Long, Volatile;
    /// Time since boot in nanoseconds, monotonic.
    TimeMonoNs = "time.mono_ns"() -> Long, Volatile;
    /// CPU cycle counter.
    Cycles = "time.cycles"() -> Long, Volatile;
    /// Kernel ticks since boot.
    Jiffies = "time.jiffies"() -> Long, Volatile;
    /// Ticks per second.
    Hz = "time.hz"() -> Long, Pure;

    // Strings.
    /// Concatenation.
    StrConcat = "str.concat"(Str, Str) -> Str, Pure;
    /// Length in bytes.
    StrLen = "str.len"(Str) -> Long, Pure;
    /// `length` bytes from `start`; empty if either is out of range.
    StrSub = "str.sub"(Str, Long, Long) -> Str, Pure;
    /// Whether the second stands in the first.
    StrFind = "str.find"(Str, Str) -> Long, Pure;
    /// The byte at an offset; raises if out of range.
    StrAt = "str.at"(Str, Long) -> Long, Pure + raises;
    /// The byte at an offset that is known to be in range.
    StrByte = "str.byte"(Str, Long) -> Long, Pure + guarded;
    /// The first with each occurrence of the second replaced by the third.
    StrReplace = "str.replace"(Str, Str, Str) -> Str, Pure;
    /// The number that the text starts with, in a base (0: as in C; 2 to 36).
    StrToLong = "str.to_long"(Str, Long) -> Long, Pure;
    /// Control characters, quotes and backslashes escaped.
    StrText = "str.text"(Str) -> Str, Pure;
    /// Next token of the string begun last ("" goes on), split at any of the given bytes.
    StrTokenize = "str.tokenize"(Str, Str) -> Str, Volatile + acts;

    // Control.
    /// Ends the session after this handler.
    Exit = "ctl.exit"(), Volatile + acts;
    /// Ends the session, and this handler at once.
    Abort = "ctl.abort"(), Volatile + acts + aborts;
    /// Sends a warning.
    Warn = "ctl.warn"(Str), Volatile + acts;
    /// Sends a line of log output, in the trace.
    Log = "ctl.log"(Str), Volatile + acts;
    /// Has a shell command run in user space.
    System = "ctl.system"(Str), Volatile + acts;
}

impl fmt::Display for Intrinsic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.signature().name)
    }
}

impl Intrinsic {
    /// The intrinsic of this name.
    pub fn named(name: &str) -> Option<Intrinsic> {
        Intrinsic::ALL.iter().copied().find(|i| i.signature().name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_rows() {
        for &intrinsic in Intrinsic::ALL {
            assert_eq!(Intrinsic::named(&intrinsic.to_string()), Some(intrinsic));
        }
        assert_eq!(Intrinsic::named("ctx.nothing"), None);
    }
}
