//! Items: probes, aliases, globals and functions.

use super::{Builder, E, Index};
use crate::ast::*;
use crate::diagnostic::Diagnostic;
use crate::expand::MAX_POINTS;

/// The most elements that an array may be declared to hold.
const MAX_ARRAY_SIZE: i64 = i32::MAX as i64;

impl Builder<'_> {
    pub(crate) fn embedded(&self, at: Index) -> EmbeddedC {
        EmbeddedC { code: self.code(at), span: self.token_span(at) }
    }

    pub(crate) fn probe(
        &self,
        points: Vec<ProbePoint>,
        body: Block,
        l: Index,
        r: Index,
    ) -> Box<Item> {
        self.refuse_returns();
        self.check_points(&points);
        Box::new(Item::Probe(Probe { points, body, span: self.span(l, r) }))
    }

    pub(crate) fn alias(
        &self,
        name: Box<ProbePoint>,
        points: Vec<ProbePoint>,
        prologue: Option<Block>,
        epilogue: Option<Block>,
        l: Index,
        r: Index,
    ) -> Box<Item> {
        self.refuse_returns();
        self.check_points(&points);
        let mut names = name.components.iter();
        if let Some(component) = names.find(|c| matches!(c, Component::Alternatives { .. })) {
            self.report(Diagnostic::error(
                component.span(),
                "an alias has one name",
                "alternatives are not allowed here",
            ));
        }
        if name.optional {
            self.report(Diagnostic::error(
                name.span,
                "the name of an alias can be neither optional nor sufficient",
                "no `?` or `!` is allowed here",
            ));
        }
        let (name, span) = (*name, self.span(l, r));
        Box::new(Item::Alias(Alias { name, points, prologue, epilogue, span }))
    }

    /// Reports the `return` statements of a handler, which returns to nobody.
    fn refuse_returns(&self) {
        for span in self.returns.take() {
            self.report(
                Diagnostic::error(span, "`return` outside of a function", "this is in a probe")
                    .with_note("`next` leaves a probe's handler"),
            );
        }
    }

    fn check_points(&self, points: &[ProbePoint]) {
        for point in points {
            if point.count() > MAX_POINTS {
                self.report(Diagnostic::error(
                    point.span,
                    format!("more than {MAX_POINTS} probe points"),
                    "these alternatives multiply",
                ));
            }
        }
    }

    pub(crate) fn point(
        &self,
        components: Vec<Component>,
        flag: Option<bool>,
        condition: Option<E>,
        l: Index,
        r: Index,
    ) -> Box<ProbePoint> {
        let last = components.len().saturating_sub(1);
        for (at, component) in components.iter().enumerate() {
            if let Component::Alternatives { points, .. } = component {
                self.check_alternatives(points, at == last, flag, l, r);
            }
        }
        Box::new(ProbePoint {
            components,
            optional: flag.is_some(),
            sufficient: flag == Some(true),
            condition: condition.map(|condition| *condition.node),
            span: self.span(l, r),
        })
    }

    /// Only at the end of a point, and only once, may there be `?`, `!` and conditions.
    fn check_alternatives(
        &self,
        points: &[ProbePoint],
        last: bool,
        flag: Option<bool>,
        l: Index,
        r: Index,
    ) {
        for point in points {
            if !last && (point.optional || point.condition.is_some()) {
                self.report(Diagnostic::error(
                    point.span,
                    "`?`, `!` and conditions go to the end of a probe point",
                    "this is not the end",
                ));
            }
            if last && point.optional && flag.is_some() {
                self.report(
                    Diagnostic::error(
                        self.span(l, r),
                        "`?` or `!` is given twice",
                        "the whole has one",
                    )
                    .with_secondary(point.span, "and so has this alternative"),
                );
            }
        }
    }

    pub(crate) fn functor(&self, l: Index, arg: Option<Literal>, r: Index) -> Component {
        let functor = Functor { name: self.ident(l), arg, span: self.span(l, r) };
        Component::Functor(functor)
    }

    pub(crate) fn alternatives(&self, points: Vec<ProbePoint>, l: Index, r: Index) -> Component {
        Component::Alternatives { points, span: self.span(l, r) }
    }

    pub(crate) fn global(
        &self,
        private: bool,
        variables: Vec<GlobalVariable>,
        l: Index,
        r: Index,
    ) -> Global {
        Global { private, variables, span: self.span(l, r) }
    }

    pub(crate) fn global_variable(
        &self,
        name: Ident,
        wrap: bool,
        size: Option<Literal>,
        init: Option<Literal>,
        l: Index,
        r: Index,
    ) -> Box<GlobalVariable> {
        if let (Some(size), Some(init)) = (&size, &init) {
            self.report(
                Diagnostic::error(init.span, "an array cannot be initialized", "this value")
                    .with_secondary(size.span, "the size makes it an array"),
            );
        }
        let size = size.and_then(|literal| self.array_size(&literal));
        Box::new(GlobalVariable { name, wrap, size, init, span: self.span(l, r) })
    }

    fn array_size(&self, literal: &Literal) -> Option<u32> {
        match literal.value {
            LiteralValue::Number(size) if (1..=MAX_ARRAY_SIZE).contains(&size) => Some(size as u32),
            _ => {
                self.report(Diagnostic::error(
                    literal.span,
                    "the size of an array is out of range",
                    format!("must be 1 to {MAX_ARRAY_SIZE}"),
                ));
                None
            }
        }
    }

    pub(crate) fn param(&self, name: Ident, ty: Option<Type>, l: Index, r: Index) -> Box<Param> {
        Box::new(Param { name, ty, span: self.span(l, r) })
    }

    pub(crate) fn function_rest(
        &self,
        name: Ident,
        result: Option<Type>,
        params: Vec<Param>,
        priority: Option<Literal>,
        body: Box<FunctionBody>,
    ) -> Box<Function> {
        self.returns.take();
        for (at, param) in params.iter().enumerate() {
            if let Some(first) = params[..at].iter().find(|p| p.name.name == param.name.name) {
                self.report(
                    Diagnostic::error(
                        param.name.span,
                        format!("two parameters are named `{}`", param.name.name),
                        "this is the second",
                    )
                    .with_secondary(first.name.span, "the first"),
                );
            }
        }
        let priority = priority.and_then(|literal| self.priority(&literal));
        let (body, span) = (*body, name.span);
        Box::new(Function { name, private: false, result, params, priority, body, span })
    }

    fn priority(&self, literal: &Literal) -> Option<i64> {
        match literal.value {
            LiteralValue::Number(priority) if priority > 0 => Some(priority),
            _ => {
                let message = "a function's priority must be more than zero";
                self.report(Diagnostic::error(literal.span, message, "too small"));
                None
            }
        }
    }

    pub(crate) fn function(
        &self,
        private: bool,
        function: Box<Function>,
        l: Index,
        r: Index,
    ) -> Box<Item> {
        let span = self.span(l, r);
        Box::new(Item::Function(Function { private, span, ..*function }))
    }
}
