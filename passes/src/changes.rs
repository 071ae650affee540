//! What passes change, by what it may give others to do.

bitflags::bitflags! {
    /// Kinds of changes in a body. A pass says what it has done, and which kinds wake it: it does not
    /// run again in a body in which others have done nothing else since.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Changes: u16 {
        /// Blocks, edges or block parameters came or went, or edges lead elsewhere.
        const GRAPH = 1 << 0;
        /// A block has lost its last instruction.
        const EMPTIED = 1 << 1;
        /// What a block ends with uses other values, or one of them has become a constant.
        const ENDS = 1 << 2;
        /// A result that `const` did not make is one that it makes.
        const CONSTANTS = 1 << 3;
        /// Instructions use other values than before.
        const OPERANDS = 1 << 4;
        /// An instruction has become another with the same result, and no constant.
        const OPERATIONS = 1 << 5;
        /// Instructions without effects, or uses of values, are gone.
        const DROPPED = 1 << 6;
        /// What instructions read, write, raise or print has become less, or has moved.
        const EFFECTS = 1 << 7;
        /// An instruction has a cheaper form, which makes it equal to no other that it was not equal to.
        const FORMS = 1 << 8;
    }
}

impl Changes {
    /// All kinds if something was done, else none: of passes that do many things, or rarely any.
    pub fn any(done: bool) -> Changes {
        if done { Changes::all() } else { Changes::empty() }
    }
}
