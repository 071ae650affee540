//! What passes say about what they did: remarks and counters, as data.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use xlate_ir::types::Pos;

/// What a remark is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RemarkKind {
    /// The pass did something.
    Applied,
    /// The pass could not do what it is there for.
    Missed,
    /// The pass found something out.
    Analysis,
    /// The pass did something small, of which there are many: it cleaned up after others.
    Detail,
}

/// One thing that a pass says.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Remark {
    /// The pass.
    pub pass: &'static str,
    /// What kind of thing.
    pub kind: RemarkKind,
    /// The script position that it is about.
    pub pos: Option<Pos>,
    /// What it says; script names stand between backticks.
    pub message: String,
    /// Other script positions that matter, each with what is there.
    pub related: Vec<(Pos, String)>,
}

/// Where passes put remarks and counters.
#[derive(Clone, Default, Debug)]
pub struct Log {
    /// Whether anybody wants remarks.
    pub(crate) listens: bool,
    /// The pass that is running.
    pub(crate) pass: &'static str,
    pub(crate) remarks: IndexSet<Remark, FxBuildHasher>,
    pub(crate) counters: BTreeMap<(&'static str, &'static str), u64>,
}

impl Log {
    /// Records something done.
    pub fn applied(&mut self, pos: Option<Pos>, message: impl Into<String>) {
        self.push(RemarkKind::Applied, pos, message.into(), Vec::new());
    }

    /// Records something that could not be done.
    pub fn missed(&mut self, pos: Option<Pos>, message: impl Into<String>) {
        self.push(RemarkKind::Missed, pos, message.into(), Vec::new());
    }

    /// Records a finding.
    pub fn analysis(&mut self, pos: Option<Pos>, message: impl Into<String>) {
        self.push(RemarkKind::Analysis, pos, message.into(), Vec::new());
    }

    /// Records something small that was done at a position of the script.
    pub fn detail<M: Into<String>>(&mut self, pos: Option<Pos>, message: impl FnOnce() -> M) {
        if self.listens && pos.is_some() {
            self.push(RemarkKind::Detail, pos, message().into(), Vec::new());
        }
    }

    /// Records a remark with other positions that matter. A remark that was made before is not
    /// repeated: passes run more than once.
    pub fn push(
        &mut self,
        kind: RemarkKind,
        pos: Option<Pos>,
        message: String,
        related: Vec<(Pos, String)>,
    ) {
        if !self.listens {
            return;
        }
        self.remarks.insert(Remark { pass: self.pass, kind, pos, message, related });
    }

    /// Adds to a counter of the running pass.
    pub fn count(&mut self, counter: &'static str, by: usize) {
        if by > 0 {
            *self.counters.entry((self.pass, counter)).or_default() += by as u64;
        }
    }
}
