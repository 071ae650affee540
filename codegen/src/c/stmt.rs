//! C statements as a tree.

use xlate_ir::types::Pos;

use super::expr::Expr;
use super::text::Name;

/// A place that jumps go to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Label(pub(crate) u32);

/// A C statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stmt {
    /// An expression for its effect.
    Expr(Expr),
    /// `target = value;`, printed as `++`, `--` or `op=` where it is one.
    Assign(Expr, Expr),
    /// `if`.
    If {
        /// The condition.
        cond: Expr,
        /// What runs when it holds.
        then: Vec<Stmt>,
        /// What runs when it does not.
        otherwise: Vec<Stmt>,
    },
    /// A loop: `while (cond)`, or `for (;;)` without a condition.
    Loop {
        /// The condition, tested before each round.
        cond: Option<Expr>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `for (init; cond; step)`; `init` and `step` are assignments.
    For {
        /// Before the first round.
        init: Box<Stmt>,
        /// The condition, tested before each round.
        cond: Expr,
        /// After each round.
        step: Box<Stmt>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A loop made by a macro.
    Each {
        /// The macro's call.
        head: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `do … while (cond);`.
    DoWhile {
        /// The body.
        body: Vec<Stmt>,
        /// The condition, tested after each round.
        cond: Expr,
    },
    /// A block of its own.
    Block(Vec<Stmt>),
    /// Leaves the innermost loop.
    Break,
    /// Starts the next round of the innermost loop.
    Continue,
    /// Leaves the function.
    Return(Option<Expr>),
    /// Jumps to a label of the control-flow graph.
    Goto(Label),
    /// The target of a `Goto`.
    Label(Label),
    /// Jumps to a label by name: one of the exits at the end of a function.
    Exit(String),
    /// A label by name.
    ExitLabel(String),
    /// C of the script, as written, between `{` and `}`.
    Verbatim(Name),
    /// A declaration without value.
    Declare(String, String),
    /// A declaration with value: type, name, value.
    Define(String, String, Expr),
    /// An empty line.
    Blank,
}

/// The lists of statements inside a statement, borrowed as the statement is.
macro_rules! bodies_of {
    ($stmt:expr) => {
        match $stmt {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Loop { body, .. }
            | Stmt::For { body, .. }
            | Stmt::Each { body, .. }
            | Stmt::DoWhile { body, .. }
            | Stmt::Block(body) => vec![body],
            _ => Vec::new(),
        }
    };
}

impl Stmt {
    /// A call for its effect.
    pub(crate) fn call(name: impl Into<String>, args: Vec<Expr>) -> Stmt {
        Stmt::Expr(Expr::call(name, args))
    }

    /// Calls `f` with every expression of its own, those of statements inside it left out.
    pub(crate) fn for_each_expr(&self, f: &mut dyn FnMut(&Expr)) {
        match self {
            Stmt::Expr(e)
            | Stmt::Return(Some(e))
            | Stmt::Each { head: e, .. }
            | Stmt::Define(_, _, e)
            | Stmt::If { cond: e, .. }
            | Stmt::Loop { cond: Some(e), .. }
            | Stmt::DoWhile { cond: e, .. }
            | Stmt::For { cond: e, .. } => f(e),
            Stmt::Assign(target, value) => {
                f(target);
                f(value);
            }
            _ => {}
        }
    }

    /// The lists of statements inside it, in order.
    pub(crate) fn bodies(&self) -> Vec<&Vec<Stmt>> {
        bodies_of!(self)
    }

    /// The same, to be changed.
    pub(crate) fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        bodies_of!(self)
    }

    /// Says which place of the script it comes from, with all that is inside it, where that has not
    /// been said.
    pub(crate) fn stamp(&mut self, pos: Pos) {
        match self {
            Stmt::Expr(e) | Stmt::Return(Some(e)) | Stmt::Define(_, _, e) => {
                e.stamp(pos, u32::MAX);
            }
            Stmt::Assign(target, value) => {
                target.stamp(pos, u32::MAX);
                value.stamp(pos, u32::MAX);
            }
            Stmt::If { cond, then, otherwise } => {
                cond.stamp(pos, u32::MAX);
                then.iter_mut().chain(otherwise).for_each(|stmt| stmt.stamp(pos));
            }
            Stmt::Loop { cond: Some(cond), body }
            | Stmt::DoWhile { body, cond }
            | Stmt::For { cond, body, .. }
            | Stmt::Each { head: cond, body } => {
                cond.stamp(pos, u32::MAX);
                body.iter_mut().for_each(|stmt| stmt.stamp(pos));
            }
            Stmt::Loop { cond: None, body } | Stmt::Block(body) => {
                body.iter_mut().for_each(|stmt| stmt.stamp(pos));
            }
            Stmt::Verbatim(text) => text.stamp(pos),
            Stmt::Break
            | Stmt::Continue
            | Stmt::Return(None)
            | Stmt::Goto(_)
            | Stmt::Label(_)
            | Stmt::Exit(_)
            | Stmt::ExitLabel(_)
            | Stmt::Declare(..)
            | Stmt::Blank => {}
        }
    }

    /// Calls `f` with the places of the script that its own names come from, those of statements
    /// inside it left out.
    pub(crate) fn for_each_origin(&self, f: &mut dyn FnMut(Pos)) {
        self.for_each_expr(&mut |expr| expr.for_each_origin(f));
        match self {
            Stmt::For { init, step, .. } => {
                init.for_each_origin(f);
                step.for_each_origin(f);
            }
            Stmt::Verbatim(text) => text.origins().iter().copied().for_each(f),
            _ => {}
        }
    }

    /// Whether control never comes out at its end.
    pub(crate) fn leaves(&self) -> bool {
        match self {
            Stmt::Break | Stmt::Continue | Stmt::Return(_) | Stmt::Goto(_) | Stmt::Exit(_) => true,
            Stmt::If { then, otherwise, .. } => ends_away(then) && ends_away(otherwise),
            Stmt::Loop { cond: None, body } => !breaks(body),
            Stmt::Block(body) => ends_away(body),
            _ => false,
        }
    }
}

/// Whether control never comes out at the end of a list.
pub(crate) fn ends_away(list: &[Stmt]) -> bool {
    list.last().is_some_and(Stmt::leaves)
}

/// Whether a `break` in the list leaves the loop around it.
pub(crate) fn breaks(list: &[Stmt]) -> bool {
    list.iter().any(|stmt| match stmt {
        Stmt::Break => true,
        Stmt::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
        Stmt::Block(body) => breaks(body),
        _ => false,
    })
}

/// Whether a `continue` in the list starts the next round of the loop around it.
pub(crate) fn continues(list: &[Stmt]) -> bool {
    list.iter().any(|stmt| match stmt {
        Stmt::Continue => true,
        Stmt::If { then, otherwise, .. } => continues(then) || continues(otherwise),
        Stmt::Block(body) => continues(body),
        _ => false,
    })
}
