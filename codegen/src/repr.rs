//! How values of the script are represented in C.

use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::types::{ElementType, Type};

/// The longest string that is kept in two words, in bytes.
pub(crate) const NAME_BYTES: u32 = 15;

/// The representation of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repr {
    /// `s64`.
    Long,
    /// `struct xl_name`: the bytes themselves, in two words.
    Name,
    /// `struct xl_str`: a view of bytes that lie elsewhere.
    View,
    /// A walk over an array: no value of its own.
    Walk,
}

impl Repr {
    /// The representation of values of a type.
    pub(crate) fn of(ty: Type) -> Repr {
        match ty {
            Type::Long => Repr::Long,
            Type::Str(bound) if bound <= NAME_BYTES => Repr::Name,
            Type::Str(_) => Repr::View,
            Type::Iter => Repr::Walk,
        }
    }

    /// Its type in C.
    pub(crate) fn c_type(self) -> &'static str {
        match self {
            Repr::Long | Repr::Walk => "s64",
            Repr::Name => "struct xl_name",
            Repr::View => "struct xl_str",
        }
    }
}

/// The type in C of storage for a string of at most `bound` bytes.
pub(crate) fn string_place(bound: u32, longest: u32) -> String {
    if bound >= longest {
        "struct xl_string".to_owned()
    } else {
        format!("XL_STRING({})", bound + 1)
    }
}

/// The type in C of a global or of an array's elements. `name` is the global's name in C.
pub(crate) fn element_type(name: &str, element: ElementType, longest: u32) -> String {
    match element {
        ElementType::Long => "s64".to_owned(),
        ElementType::Stat => format!("struct {name}_stat"),
        ElementType::Str(bound) if bound <= NAME_BYTES => "struct xl_name".to_owned(),
        ElementType::Str(bound) if bound >= longest => "struct xl_string".to_owned(),
        ElementType::Str(_) => format!("struct {name}_text"),
    }
}

/// Whether an intrinsic gives its string as a value, without a place to write it to.
pub(crate) fn is_value_query(intrinsic: Intrinsic) -> bool {
    matches!(
        intrinsic,
        Intrinsic::Execname
            | Intrinsic::Pexecname
            | Intrinsic::Pp
            | Intrinsic::Pn
            | Intrinsic::ModuleName
    )
}
