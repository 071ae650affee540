//! Entity ids: one word each, typed, printed as they stand in the text form.
//!
//! Every entity lives in an [`id_arena::Arena`]; [`EntityArena`] makes such an arena hand out the
//! ids of this file instead of the crate's own, so that an id has a `Display` of its own.

use std::fmt;
use std::marker::PhantomData;

use id_arena::{Arena, ArenaBehavior};

/// An id that names one element of one arena.
pub trait Entity: Copy + Eq + Ord + std::hash::Hash + fmt::Debug {
    /// The id of the `index`th element.
    fn from_index(index: usize) -> Self;
    /// The position of the element in its arena.
    fn index(self) -> usize;
}

/// Makes an arena hand out ids of type `I`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntityBehavior<T, I>(PhantomData<fn() -> (T, I)>);

impl<T, I: Entity> ArenaBehavior for EntityBehavior<T, I> {
    type Id = I;

    fn new_id(_arena_id: u32, index: usize) -> I {
        I::from_index(index)
    }

    fn index(id: I) -> usize {
        id.index()
    }

    fn arena_id(_: I) -> u32 {
        0
    }

    fn new_arena_id() -> u32 {
        0
    }
}

/// An arena of `T` addressed by ids of type `I`.
pub type EntityArena<T, I> = Arena<T, EntityBehavior<T, I>>;

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl Entity for $name {
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 entities"))
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

entity!(
    /// A script file that positions refer to; `f0` in the text form.
    File, "f"
);
entity!(
    /// A global variable of the script; the text form names it `@name`.
    Global, "g"
);
entity!(
    /// A function of the script or of the tapset; the text form names it `@name`.
    Function, "fn"
);
entity!(
    /// A probe handler, one body that any number of probe points share; `@h0` in the text form.
    Handler, "h"
);
entity!(
    /// A basic block of one body; `b0` in the text form.
    Block, "b"
);
entity!(
    /// An SSA value of one body: the result of an instruction or a block parameter; `v0`.
    Value, "v"
);
entity!(
    /// An instruction of one body. The text form shows its result instead of this id.
    Inst, "i"
);
entity!(
    /// A regular expression of the module; `re0` in the text form.
    Regex, "re"
);
