//! Type variables and their unification.
//!
//! Every variable, key, element, parameter and result has a type variable. Uses say that one is a
//! certain type, or that two are the same; whatever order they come in, the outcome is the same
//! but for which of two conflicting uses is the one that is blamed.
//! (Unification by union-find: R. E. Tarjan, "Efficiency of a Good But Not Linear Set Union
//! Algorithm", 1975; inference: R. Milner, "A Theory of Type Polymorphism in Programming", 1978,
//! without the polymorphism.)

use crate::program::{ElementType, Type};
use std::fmt;
use xlate_grammar::Span;

/// A type that is being inferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TypeVar(u32);

/// What a type variable can turn out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Long,
    Str,
    Stat,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Long => "long",
            Kind::Str => "string",
            Kind::Stat => "statistic",
        })
    }
}

impl From<Type> for Kind {
    fn from(ty: Type) -> Kind {
        match ty {
            Type::Long => Kind::Long,
            Type::Str => Kind::Str,
        }
    }
}

impl From<xlate_grammar::ast::Type> for Kind {
    fn from(ty: xlate_grammar::ast::Type) -> Kind {
        match ty {
            xlate_grammar::ast::Type::Long => Kind::Long,
            xlate_grammar::ast::Type::String => Kind::Str,
        }
    }
}

/// A type and the place that decided on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Evidence {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// Two uses that do not go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Conflict {
    pub(crate) left: Evidence,
    pub(crate) right: Evidence,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Unknown,
    Known(Evidence),
    /// Something about it was an error already: it goes with everything, and nobody asks again.
    Poisoned,
}

/// All type variables of a program.
#[derive(Debug, Default)]
pub(crate) struct Types {
    parents: Vec<u32>,
    states: Vec<State>,
}

impl Types {
    fn push(&mut self, state: State) -> TypeVar {
        let id = self.parents.len() as u32;
        self.parents.push(id);
        self.states.push(state);
        TypeVar(id)
    }

    /// One of which nothing is known.
    pub(crate) fn fresh(&mut self) -> TypeVar {
        self.push(State::Unknown)
    }

    /// One that is known because of what stands at `span`.
    pub(crate) fn known(&mut self, kind: Kind, span: Span) -> TypeVar {
        self.push(State::Known(Evidence { kind, span }))
    }

    /// One that belongs to something wrong.
    pub(crate) fn poisoned(&mut self) -> TypeVar {
        self.push(State::Poisoned)
    }

    fn root(&mut self, var: TypeVar) -> usize {
        let mut at = var.0 as usize;
        while self.parents[at] as usize != at {
            // Path halving: every other node skips its parent.
            self.parents[at] = self.parents[self.parents[at] as usize];
            at = self.parents[at] as usize;
        }
        at
    }

    /// What is known of it.
    pub(crate) fn evidence(&mut self, var: TypeVar) -> Option<Evidence> {
        let root = self.root(var);
        match self.states[root] {
            State::Known(evidence) => Some(evidence),
            State::Unknown | State::Poisoned => None,
        }
    }

    /// Whether nothing is known of it, and no error explains why.
    pub(crate) fn is_unknown(&mut self, var: TypeVar) -> bool {
        let root = self.root(var);
        matches!(self.states[root], State::Unknown)
    }

    /// Whether something about it was reported.
    pub(crate) fn is_poisoned(&mut self, var: TypeVar) -> bool {
        let root = self.root(var);
        matches!(self.states[root], State::Poisoned)
    }

    /// Says that something about it was reported.
    pub(crate) fn poison(&mut self, var: TypeVar) {
        let root = self.root(var);
        self.states[root] = State::Poisoned;
    }

    /// Says that it is of a kind, because of what stands at `span`.
    pub(crate) fn require(&mut self, var: TypeVar, kind: Kind, span: Span) -> Result<(), Conflict> {
        let root = self.root(var);
        let right = Evidence { kind, span };
        match self.states[root] {
            State::Unknown => self.states[root] = State::Known(right),
            State::Known(left) if left.kind != kind => return Err(Conflict { left, right }),
            State::Known(_) | State::Poisoned => {}
        }
        Ok(())
    }

    /// Says that the two are the same.
    pub(crate) fn unify(&mut self, a: TypeVar, b: TypeVar) -> Result<(), Conflict> {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return Ok(());
        }
        let state = match (self.states[a], self.states[b]) {
            (State::Known(left), State::Known(right)) if left.kind != right.kind => {
                return Err(Conflict { left, right });
            }
            // A known type survives a meeting with an error, so that other errors are still found.
            (State::Known(known), _) | (_, State::Known(known)) => State::Known(known),
            (State::Poisoned, _) | (_, State::Poisoned) => State::Poisoned,
            (State::Unknown, State::Unknown) => State::Unknown,
        };
        let (low, high) = (a.min(b), a.max(b));
        self.parents[high] = low as u32;
        self.states[low] = state;
        Ok(())
    }

    /// The type of a value; `long` where nothing says otherwise.
    pub(crate) fn value(&mut self, var: TypeVar) -> Type {
        match self.evidence(var) {
            Some(Evidence { kind: Kind::Str, .. }) => Type::Str,
            _ => Type::Long,
        }
    }

    /// The type of what a global holds; `long` where nothing says otherwise.
    pub(crate) fn element(&mut self, var: TypeVar) -> ElementType {
        match self.evidence(var) {
            Some(Evidence { kind: Kind::Stat, .. }) => ElementType::Stat,
            _ => ElementType::Value(self.value(var)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xlate_grammar::SourceMap;

    fn spans() -> (Span, Span) {
        let file = SourceMap::new().add("a.stp", "x y");
        (Span::new(file, 0, 1), Span::new(file, 2, 3))
    }

    #[test]
    fn what_one_use_says_reaches_all_that_are_the_same() {
        let (here, _) = spans();
        let mut types = Types::default();
        let vars: Vec<_> = (0..4).map(|_| types.fresh()).collect();
        for pair in vars.windows(2) {
            types.unify(pair[0], pair[1]).unwrap();
        }
        assert!(types.is_unknown(vars[3]));
        types.require(vars[0], Kind::Str, here).unwrap();
        assert_eq!(types.value(vars[3]), Type::Str);
        assert_eq!(types.evidence(vars[2]), Some(Evidence { kind: Kind::Str, span: here }));
    }

    #[test]
    fn a_conflict_names_both_places() {
        let (here, there) = spans();
        let mut types = Types::default();
        let (a, b) = (types.known(Kind::Long, here), types.known(Kind::Str, there));
        let conflict = types.unify(a, b).unwrap_err();
        assert_eq!((conflict.left.span, conflict.right.span), (here, there));
        assert_eq!(types.require(a, Kind::Stat, there).unwrap_err().left.kind, Kind::Long);
        // Neither has changed.
        assert_eq!((types.value(a), types.value(b)), (Type::Long, Type::Str));
    }

    #[test]
    fn errors_are_reported_once() {
        let (here, _) = spans();
        let mut types = Types::default();
        let (a, b) = (types.poisoned(), types.fresh());
        types.unify(a, b).unwrap();
        assert!(!types.is_unknown(b));
        types.require(b, Kind::Str, here).unwrap();
        assert_eq!(types.evidence(b), None);
    }
}
