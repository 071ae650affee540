//! C expressions as a tree, so that parentheses are few and conditions can be turned around.

use memchr::memmem;
use xlate_ir::types::Pos;

use super::text::Name;

/// Whether an expression has the type `int` in C (comparisons, small literals) or a wider one.
///
/// Arithmetic on two `int`s would wrap at 32 bits, where the script's wraps at 64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    /// 0 or 1, of type `int`.
    Truth,
    /// A literal of type `int`.
    Literal,
    /// `s64`, a pointer, or anything else that needs no care.
    Wide,
}

/// A C expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expr {
    /// An integer literal of the script.
    Long(i64),
    /// A string literal: its bytes, unescaped.
    Str(Vec<u8>),
    /// A name, or other text that binds as tightly as one.
    Atom(Name),
    /// A call.
    Call(Name, Vec<Expr>),
    /// A list in braces, after a cast where it is a compound literal: `(struct k){ a, b }`.
    Braces(Name, Vec<Expr>),
    /// A prefix operator or cast.
    Prefix(&'static str, Box<Expr>),
    /// An infix operator.
    Infix(&'static str, Box<Expr>, Box<Expr>),
    /// `a ? b : c`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// How tightly an expression binds; larger binds tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Binding(pub(crate) u8);

impl Binding {
    pub(crate) const LOWEST: Binding = Binding(0);
    pub(crate) const CHOICE: Binding = Binding(3);
    pub(crate) const PREFIX: Binding = Binding(14);
    pub(crate) const PRIMARY: Binding = Binding(15);

    /// The binding of an infix operator.
    pub(crate) fn infix(op: &str) -> Binding {
        Binding(match op {
            "*" | "/" | "%" => 13,
            "+" | "-" => 12,
            "<<" | ">>" => 11,
            "<" | "<=" | ">" | ">=" => 10,
            "==" | "!=" => 9,
            "&" => 8,
            "^" => 7,
            "|" => 6,
            "&&" => 5,
            "||" => 4,
            _ => 1,
        })
    }
}

impl Expr {
    /// A name.
    pub(crate) fn atom(text: impl Into<String>) -> Expr {
        Expr::Atom(Name::from(text.into()))
    }

    /// A call.
    pub(crate) fn call(name: impl Into<String>, args: Vec<Expr>) -> Expr {
        Expr::Call(Name::from(name.into()), args)
    }

    /// An infix operator.
    pub(crate) fn infix(op: &'static str, a: Expr, b: Expr) -> Expr {
        Expr::Infix(op, Box::new(a), Box::new(b))
    }

    /// A prefix operator or cast.
    pub(crate) fn prefix(op: &'static str, a: Expr) -> Expr {
        Expr::Prefix(op, Box::new(a))
    }

    /// The address of an expression.
    pub(crate) fn address(self) -> Expr {
        Expr::prefix("&", self)
    }

    /// Says which place of the script the names in it come from, where that has not been said; no
    /// deeper than `depth` operators, for what lies deeper has been told before.
    pub(crate) fn stamp(&mut self, pos: Pos, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match self {
            Expr::Long(_) | Expr::Str(_) => {}
            Expr::Atom(name) => name.stamp(pos),
            Expr::Call(name, args) => {
                name.stamp(pos);
                args.iter_mut().for_each(|arg| arg.stamp(pos, depth));
            }
            Expr::Braces(_, args) => args.iter_mut().for_each(|arg| arg.stamp(pos, depth)),
            Expr::Prefix(_, a) => a.stamp(pos, depth),
            Expr::Infix(_, a, b) => {
                a.stamp(pos, depth);
                b.stamp(pos, depth);
            }
            Expr::Choice(a, b, c) => {
                a.stamp(pos, depth);
                b.stamp(pos, depth);
                c.stamp(pos, depth);
            }
        }
    }

    /// Calls `f` with the places of the script that its names come from.
    pub(crate) fn for_each_origin(&self, f: &mut dyn FnMut(Pos)) {
        match self {
            Expr::Long(_) | Expr::Str(_) => {}
            Expr::Atom(name) => name.origins().iter().copied().for_each(f),
            Expr::Call(name, args) => {
                name.origins().iter().copied().for_each(&mut *f);
                args.iter().for_each(|arg| arg.for_each_origin(f));
            }
            Expr::Braces(_, args) => args.iter().for_each(|arg| arg.for_each_origin(f)),
            Expr::Prefix(_, a) => a.for_each_origin(f),
            Expr::Infix(_, a, b) => {
                a.for_each_origin(f);
                b.for_each_origin(f);
            }
            Expr::Choice(a, b, c) => {
                a.for_each_origin(f);
                b.for_each_origin(f);
                c.for_each_origin(f);
            }
        }
    }

    /// How tightly it binds.
    pub(crate) fn binding(&self) -> Binding {
        match self {
            Expr::Long(n) if *n < 0 => Binding::PREFIX,
            Expr::Long(_) | Expr::Str(_) | Expr::Atom(_) | Expr::Call(..) | Expr::Braces(..) => {
                Binding::PRIMARY
            }
            Expr::Prefix(..) => Binding::PREFIX,
            Expr::Infix(op, ..) => Binding::infix(op),
            Expr::Choice(..) => Binding::CHOICE,
        }
    }

    /// Its type in C, as far as arithmetic cares.
    pub(crate) fn width(&self) -> Width {
        match self {
            Expr::Long(n) if i32::try_from(*n).is_ok() => Width::Literal,
            Expr::Infix(op, ..)
                if matches!(*op, "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||") =>
            {
                Width::Truth
            }
            Expr::Prefix("!", _) => Width::Truth,
            Expr::Choice(_, a, b) => match (a.width(), b.width()) {
                (Width::Wide, _) | (_, Width::Wide) => Width::Wide,
                _ => Width::Truth,
            },
            _ => Width::Wide,
        }
    }

    /// The same value as an `s64`, written so that C sees 64 bits.
    pub(crate) fn widened(self) -> Expr {
        match self.width() {
            Width::Wide => self,
            Width::Literal | Width::Truth => Expr::prefix("(s64)", self),
        }
    }

    /// Arithmetic on longs: at least one operand is made 64 bits wide.
    pub(crate) fn arithmetic(op: &'static str, a: Expr, b: Expr) -> Expr {
        let narrow = a.width() != Width::Wide && b.width() != Width::Wide;
        Expr::infix(op, if narrow { a.widened() } else { a }, b)
    }

    /// A comparison of longs. A truth value is widened first: compilers suspect comparisons of them.
    pub(crate) fn comparison(op: &'static str, a: Expr, b: Expr) -> Expr {
        let widen = |e: Expr| if e.width() == Width::Truth { e.widened() } else { e };
        Expr::infix(op, widen(a), widen(b))
    }

    /// It as a condition: `x != 0` is said as `x`, and what compilers suspect in a condition
    /// (products, shifts, choices) is compared with zero.
    pub(crate) fn condition(self) -> Expr {
        match self {
            Expr::Infix("!=", a, b) if *b == Expr::Long(0) && !matches!(*a, Expr::Str(_)) => {
                a.condition()
            }
            Expr::Infix("==", a, b) if *b == Expr::Long(0) && !matches!(*a, Expr::Str(_)) => {
                a.condition().negated()
            }
            Expr::Infix("!=", a, b) if *b == Expr::atom("NULL") && !a.assigns() => *a,
            Expr::Infix("&&", a, b) => Expr::infix("&&", a.condition(), b.condition()),
            Expr::Infix("||", a, b) => Expr::infix("||", a.condition(), b.condition()),
            Expr::Prefix("(s64)", a) if a.width() == Width::Truth => a.condition(),
            Expr::Infix("*" | "<<", ..) | Expr::Choice(..) => {
                Expr::infix("!=", self, Expr::Long(0))
            }
            other => other,
        }
    }

    /// The opposite of a condition.
    pub(crate) fn negated(self) -> Expr {
        match self {
            Expr::Prefix("!", inner) => *inner,
            Expr::Infix("&&", a, b) => Expr::infix("||", a.negated(), b.negated()),
            Expr::Infix("||", a, b) => Expr::infix("&&", a.negated(), b.negated()),
            Expr::Infix(op, a, b) => match opposite(op) {
                Some(opposite) => Expr::Infix(opposite, a, b),
                None => Expr::prefix("!", Expr::Infix(op, a, b)),
            },
            Expr::Call(name, args) if *name == *"unlikely" && args.len() == 1 => {
                Expr::call("likely", args.into_iter().map(Expr::negated).collect())
            }
            Expr::Call(name, args) if *name == *"likely" && args.len() == 1 => {
                Expr::call("unlikely", args.into_iter().map(Expr::negated).collect())
            }
            other => Expr::prefix("!", other),
        }
    }

    /// Wraps a condition that is hardly ever true.
    pub(crate) fn unlikely(self) -> Expr {
        Expr::call("unlikely", vec![self])
    }

    /// Whether evaluating it twice is as good as once: a name or a literal.
    pub(crate) fn is_simple(&self) -> bool {
        matches!(self, Expr::Long(_) | Expr::Str(_) | Expr::Atom(_))
    }

    /// Calls `f` with every identifier in it, other than functions and members.
    pub(crate) fn for_each_word(&self, f: &mut dyn FnMut(&str)) {
        match self {
            Expr::Atom(text) => {
                words(text).filter(|(_, is_member)| !is_member).for_each(|(word, _)| f(word));
            }
            Expr::Long(_) | Expr::Str(_) => {}
            Expr::Call(_, args) | Expr::Braces(_, args) => {
                args.iter().for_each(|arg| arg.for_each_word(f));
            }
            Expr::Prefix(_, a) => a.for_each_word(f),
            Expr::Infix(_, a, b) => {
                a.for_each_word(f);
                b.for_each_word(f);
            }
            Expr::Choice(a, b, c) => {
                a.for_each_word(f);
                b.for_each_word(f);
                c.for_each_word(f);
            }
        }
    }

    /// Whether a function is called in it.
    pub(crate) fn has_call(&self) -> bool {
        match self {
            Expr::Atom(_) | Expr::Long(_) | Expr::Str(_) => false,
            Expr::Call(name, args) => {
                !matches!(&**name, "likely" | "unlikely") || args.iter().any(Expr::has_call)
            }
            Expr::Braces(_, args) => args.iter().any(Expr::has_call),
            Expr::Prefix(_, a) => a.has_call(),
            Expr::Infix(_, a, b) => a.has_call() || b.has_call(),
            Expr::Choice(a, b, c) => a.has_call() || b.has_call() || c.has_call(),
        }
    }

    /// Whether evaluating it assigns something: such is the step of a walk.
    pub(crate) fn assigns(&self) -> bool {
        match self {
            Expr::Atom(text) => text.ends_with("--"),
            Expr::Long(_) | Expr::Str(_) => false,
            Expr::Call(_, args) | Expr::Braces(_, args) => args.iter().any(Expr::assigns),
            Expr::Prefix(_, a) => a.assigns(),
            Expr::Infix(op, a, b) => *op == "=" || a.assigns() || b.assigns(),
            Expr::Choice(a, b, c) => [a, b, c].iter().any(|part| part.assigns()),
        }
    }

    /// Whether a certain function is called in it.
    pub(crate) fn calls(&self, function: &str) -> bool {
        match self {
            Expr::Atom(_) | Expr::Long(_) | Expr::Str(_) => false,
            Expr::Call(name, args) | Expr::Braces(name, args) => {
                name == function || args.iter().any(|arg| arg.calls(function))
            }
            Expr::Prefix(_, a) => a.calls(function),
            Expr::Infix(_, a, b) => a.calls(function) || b.calls(function),
            Expr::Choice(a, b, c) => [a, b, c].iter().any(|part| part.calls(function)),
        }
    }

    /// Whether a function of the script is called in it.
    pub(crate) fn calls_script(&self) -> bool {
        match self {
            Expr::Atom(_) | Expr::Long(_) | Expr::Str(_) => false,
            Expr::Call(name, args) | Expr::Braces(name, args) => {
                name.starts_with("fn_") || args.iter().any(Expr::calls_script)
            }
            Expr::Prefix(_, a) => a.calls_script(),
            Expr::Infix(_, a, b) => a.calls_script() || b.calls_script(),
            Expr::Choice(a, b, c) => [a, b, c].iter().any(|part| part.calls_script()),
        }
    }

    /// The number of operators, calls and leaves in it.
    pub(crate) fn size(&self) -> usize {
        match self {
            Expr::Atom(_) | Expr::Long(_) | Expr::Str(_) => 1,
            Expr::Call(_, args) | Expr::Braces(_, args) => {
                1 + args.iter().map(Expr::size).sum::<usize>()
            }
            Expr::Prefix(_, a) => 1 + a.size(),
            Expr::Infix(_, a, b) => 1 + a.size() + b.size(),
            Expr::Choice(a, b, c) => 1 + a.size() + b.size() + c.size(),
        }
    }

    /// Whether the identifier `name` stands in it, other than as a function.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        match self {
            Expr::Atom(text) => words(text).any(|word| word == (name, false)),
            Expr::Long(_) | Expr::Str(_) => false,
            Expr::Call(_, args) | Expr::Braces(_, args) => {
                args.iter().any(|arg| arg.mentions(name))
            }
            Expr::Prefix(_, a) => a.mentions(name),
            Expr::Infix(_, a, b) => a.mentions(name) || b.mentions(name),
            Expr::Choice(a, b, c) => a.mentions(name) || b.mentions(name) || c.mentions(name),
        }
    }
}

/// The identifiers in a piece of C, and whether they name members.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(is_word)?;
        let (before, word) = rest.split_at(start);
        let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
        rest = &word[end..];
        Some((&word[..end], before.ends_with("->") || before.ends_with('.')))
    })
}

/// Whether a character can be part of an identifier.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether an identifier stands in a piece of C.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    memmem::find_iter(text.as_bytes(), word)
        .any(|at| !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word))
}

/// The comparison that holds when `op` does not.
fn opposite(op: &str) -> Option<&'static str> {
    Some(match op {
        "==" => "!=",
        "!=" => "==",
        "<" => ">=",
        ">=" => "<",
        ">" => "<=",
        "<=" => ">",
        _ => return None,
    })
}

/// Whether `child` needs parentheses as an operand of the infix operator `op`: where precedence asks
/// for them, and where compilers and readers do (bit operators, shifts, chained comparisons).
pub(crate) fn needs_parentheses(op: &str, child: &Expr, is_right: bool) -> bool {
    let own = Binding::infix(op);
    let inner = child.binding();
    if inner < own || (is_right && inner == own) {
        return true;
    }
    let Expr::Infix(child_op, ..) = child else { return false };
    match op {
        "<<" | ">>" => true,
        "&" | "^" | "|" => *child_op != op,
        "==" | "!=" => matches!(*child_op, "<" | "<=" | ">" | ">=" | "==" | "!="),
        "<" | "<=" | ">" | ">=" => matches!(*child_op, "<" | "<=" | ">" | ">="),
        "||" => *child_op == "&&",
        _ => false,
    }
}
