//! Expressions.

use super::{Builder, Deep, E, Index, MAX_DEPTH};
use crate::ast::*;
use crate::diagnostic::Diagnostic;
use crate::format;
use crate::source::Span;

/// An operand of a chain of operators, with the tokens where it starts and ends.
pub(crate) type Operand = (E, Index, Index);

/// An operator of a chain, and its right operand.
pub(crate) type Link = (BinaryOp, Operand);

/// The name of a printing function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrintHead {
    at: Index,
    to_string: bool,
    newline: bool,
}

impl Builder<'_> {
    fn leaf(&self, kind: ExprKind, first: Index, end: Index) -> E {
        Deep::leaf(Box::new(Expr::new(kind, self.span(first, end))))
    }

    pub(crate) fn variable(&self, at: Index) -> E {
        self.leaf(ExprKind::Name(self.text(at)), at, at + 1)
    }

    pub(crate) fn number_expression(&self, at: Index) -> E {
        self.leaf(ExprKind::Number(self.number(at)), at, at + 1)
    }

    pub(crate) fn string_expression(&self, string: StringLit) -> E {
        Deep::leaf(Box::new(Expr::new(ExprKind::String(string.value), string.span)))
    }

    pub(crate) fn embedded_expression(&self, at: Index) -> E {
        self.leaf(ExprKind::EmbeddedC(self.code(at)), at, at + 1)
    }

    pub(crate) fn assign(&self, op: AssignOp, target: E, value: E, l: Index, r: Index) -> E {
        let depth = target.depth.max(value.depth);
        let (target, value) = (target.node, value.node);
        self.nest(ExprKind::Assign { op, target, value }, depth, l, r)
    }

    pub(crate) fn ternary(&self, c: E, then: E, otherwise: E, l: Index, r: Index) -> E {
        let depth = c.depth.max(then.depth).max(otherwise.depth);
        let kind =
            ExprKind::Ternary { condition: c.node, then: then.node, otherwise: otherwise.node };
        self.nest(kind, depth, l, r)
    }

    /// A chain of left-associative operators, by their levels.
    pub(crate) fn chain(&self, first: Operand, links: Vec<Link>) -> E {
        // Operators in front of a tighter one wait, each tighter than the one before.
        let mut waiting: Vec<(Operand, BinaryOp)> = Vec::new();
        let mut last = first;
        let mut links = links.into_iter().peekable();
        while let Some((op, right)) = links.next() {
            while let Some((left, tighter)) =
                waiting.pop_if(|(_, before)| before.level() >= op.level())
            {
                last = self.binary(tighter, left, last);
            }
            if links.peek().is_some_and(|(next, _)| next.level() > op.level()) {
                waiting.push((last, op));
                last = right;
            } else {
                last = self.binary(op, last, right);
            }
        }
        while let Some((left, op)) = waiting.pop() {
            last = self.binary(op, left, last);
        }
        last.0
    }

    fn binary(&self, op: BinaryOp, (left, l, _): Operand, (right, _, r): Operand) -> Operand {
        let depth = left.depth.max(right.depth);
        let (left, right) = (left.node, right.node);
        (self.nest(ExprKind::Binary { op, left, right }, depth, l, r), l, r)
    }

    pub(crate) fn unary(&self, op: UnaryOp, operand: E, l: Index, r: Index) -> E {
        let depth = operand.depth;
        self.nest(ExprKind::Unary { op, operand: operand.node }, depth, l, r)
    }

    pub(crate) fn crement(&self, op: CrementOp, prefix: bool, x: E, l: Index, r: Index) -> E {
        let depth = x.depth;
        self.nest(ExprKind::Crement { op, prefix, target: x.node }, depth, l, r)
    }

    pub(crate) fn match_(
        &self,
        subject: E,
        pattern: StringLit,
        negated: bool,
        l: Index,
        r: Index,
    ) -> E {
        let depth = subject.depth;
        let subject = subject.node;
        self.nest(ExprKind::Match { subject, pattern, negated }, depth, l, r)
    }

    pub(crate) fn member(&self, key: E, array: Deep<Box<Indexable>>, l: Index, r: Index) -> E {
        self.in_(self.one_key(self.key(key)), array, l, r)
    }

    pub(crate) fn in_(
        &self,
        keys: Deep<Vec<Key>>,
        array: Deep<Box<Indexable>>,
        l: Index,
        r: Index,
    ) -> E {
        let depth = keys.depth.max(array.depth);
        self.nest(ExprKind::In { keys: keys.node, array: *array.node }, depth, l, r)
    }

    /// `[x]` without `in` behind it is `x`; with more than one index it is an error.
    pub(crate) fn bare_tuple(&self, mut keys: Deep<Vec<Key>>, l: Index, r: Index) -> E {
        if keys.node.len() == 1
            && let Some(Key::Expr(node)) = keys.node.pop()
        {
            return Deep { node: Box::new(node), depth: keys.depth };
        }
        let at = self.token_span(r);
        self.report(
            Diagnostic::error(at, "expected `in` behind the list of indexes", "expected `in`")
                .with_secondary(self.span(l, r), "this list")
                .with_note("`[a, b] in x` asks whether the array x has that element"),
        );
        self.leaf(ExprKind::Number(0), l, r)
    }

    // ------------------------------------------------------------------- Lists

    pub(crate) fn no_expressions(&self) -> Deep<Vec<Expr>> {
        Deep { node: Vec::new(), depth: 0 }
    }

    pub(crate) fn one(&self, e: E) -> Deep<Vec<Expr>> {
        Deep { node: vec![*e.node], depth: e.depth }
    }

    pub(crate) fn more(&self, mut list: Deep<Vec<Expr>>, e: E) -> Deep<Vec<Expr>> {
        list.node.push(*e.node);
        list.depth = list.depth.max(e.depth);
        list
    }

    pub(crate) fn key(&self, e: E) -> Deep<Key> {
        Deep { node: Key::Expr(*e.node), depth: e.depth }
    }

    pub(crate) fn any_key(&self, at: Index) -> Deep<Key> {
        Deep::leaf(Key::Any(self.token_span(at)))
    }

    pub(crate) fn one_key(&self, key: Deep<Key>) -> Deep<Vec<Key>> {
        Deep { node: vec![key.node], depth: key.depth }
    }

    pub(crate) fn more_keys(&self, mut list: Deep<Vec<Key>>, key: Deep<Key>) -> Deep<Vec<Key>> {
        list.node.push(key.node);
        list.depth = list.depth.max(key.depth);
        list
    }

    // ------------------------------------------------- Arrays, calls, statistics

    pub(crate) fn array(&self, at: Index) -> Deep<Box<Indexable>> {
        Deep::leaf(Box::new(Indexable::Array(self.ident(at))))
    }

    pub(crate) fn histogram(&self, histogram: Deep<Box<Histogram>>) -> Deep<Box<Indexable>> {
        let depth = histogram.depth;
        Deep { node: Box::new(Indexable::Histogram(histogram.node)), depth }
    }

    pub(crate) fn index(
        &self,
        base: Deep<Box<Indexable>>,
        keys: Deep<Vec<Key>>,
        l: Index,
        r: Index,
    ) -> E {
        let depth = base.depth.max(keys.depth);
        self.nest(ExprKind::Index { base: *base.node, keys: keys.node }, depth, l, r)
    }

    pub(crate) fn call(&self, args: Deep<Vec<Expr>>, l: Index, r: Index) -> E {
        let name = self.ident(l);
        self.nest(ExprKind::Call { name, args: args.node }, args.depth, l, r)
    }

    pub(crate) fn stat_op(&self, at: Index) -> StatOp {
        match self.bytes(at) {
            b"@sum" => StatOp::Sum,
            b"@min" => StatOp::Min,
            b"@max" => StatOp::Max,
            b"@avg" => StatOp::Avg,
            b"@variance" => StatOp::Variance,
            _ => StatOp::Count,
        }
    }

    pub(crate) fn stat(&self, target: E, shift: Option<i64>, l: Index, r: Index) -> E {
        let depth = target.depth;
        let (op, target) = (self.stat_op(l), target.node);
        self.nest(ExprKind::Stat { op, target, shift }, depth, l, r)
    }

    pub(crate) fn hist_log(&self, target: E, l: Index, r: Index) -> Deep<Box<Histogram>> {
        self.make_histogram(HistogramKind::Log, target, l, r)
    }

    pub(crate) fn hist_linear(
        &self,
        target: E,
        (start, stop, interval): (i64, i64, i64),
        l: Index,
        r: Index,
    ) -> Deep<Box<Histogram>> {
        self.make_histogram(HistogramKind::Linear { start, stop, interval }, target, l, r)
    }

    fn make_histogram(
        &self,
        kind: HistogramKind,
        target: E,
        l: Index,
        r: Index,
    ) -> Deep<Box<Histogram>> {
        let span = self.span(l, r);
        let depth = target.depth + 1;
        Deep { node: Box::new(Histogram { kind, target: *target.node, span }), depth }
    }

    // ------------------------------------------------------------ Target variables

    fn target(&self, target: Target, depth: u32, l: Index, r: Index) -> E {
        self.nest(ExprKind::Target(Box::new(target)), depth, l, r)
    }

    fn leaf_target(&self, base: TargetBase, pretty: Option<Pretty>, l: Index, r: Index) -> E {
        self.target(Target { base, path: Vec::new(), address_of: false, pretty }, 0, l, r)
    }

    pub(crate) fn symbol(&self, at: Index) -> E {
        let name = self.text(at)[1..].to_owned();
        let base = TargetBase::Symbol(Ident { name, span: self.token_span(at) });
        self.leaf_target(base, None, at, at + 1)
    }

    /// `$x$`, `$x$$`
    pub(crate) fn pretty_symbol(&self, at: Index) -> E {
        let text = self.text(at);
        let (name, pretty) = split_pretty(&text);
        let base = TargetBase::Symbol(Ident {
            name: name.get(1..).unwrap_or_default().to_owned(),
            span: self.token_span(at),
        });
        self.leaf_target(base, Some(pretty), at, at + 1)
    }

    /// The target variable that an expression is, or one that starts from it.
    fn as_target(&self, base: E) -> (Target, u32) {
        let Expr { kind, span } = *base.node;
        match kind {
            ExprKind::Target(target) if !target.address_of && target.pretty.is_none() => {
                (*target, base.depth - 1)
            }
            kind => {
                let base_expr = Box::new(Expr::new(kind, span));
                let target = Target {
                    base: TargetBase::Expr(base_expr),
                    path: Vec::new(),
                    address_of: false,
                    pretty: None,
                };
                (target, base.depth)
            }
        }
    }

    fn access(&self, base: E, access: Access, inner: u32, l: Index, r: Index) -> E {
        let (mut target, depth) = self.as_target(base);
        target.path.push(access);
        self.target(target, depth.max(inner), l, r)
    }

    pub(crate) fn field(&self, base: E, at: Index, l: Index, r: Index) -> E {
        self.access(base, Access::Field(self.ident(at)), 0, l, r)
    }

    pub(crate) fn target_index(&self, base: E, index: E, l: Index, r: Index) -> E {
        self.access(base, Access::Index(*index.node), index.depth, l, r)
    }

    pub(crate) fn pretty_field(&self, base: E, at: Index, l: Index, r: Index) -> E {
        let text = self.text(at);
        let (name, pretty) = split_pretty(&text);
        let field = Ident { name: name.to_owned(), span: self.token_span(at) };
        let (mut target, depth) = self.as_target(base);
        target.path.push(Access::Field(field));
        target.pretty = Some(pretty);
        self.target(target, depth, l, r)
    }

    pub(crate) fn prettify(&self, base: E, at: Index, l: Index, r: Index) -> E {
        let (mut target, depth) = self.as_target(base);
        target.pretty = Some(split_pretty(&self.text(at)).1);
        self.target(target, depth, l, r)
    }

    pub(crate) fn address_of(&self, x: E, l: Index, r: Index) -> E {
        let Expr { kind, span } = *x.node;
        if let ExprKind::Target(mut target) = kind {
            if target.address_of {
                self.report(Diagnostic::error(
                    self.token_span(l),
                    "the address of an address",
                    "this `&` is one too many",
                ));
            }
            target.address_of = true;
            return self.target(*target, x.depth - 1, l, r);
        }
        let base = TargetBase::Expr(Box::new(Expr::new(kind, span)));
        let target = Target { base, path: Vec::new(), address_of: true, pretty: None };
        self.target(target, x.depth, l, r)
    }

    pub(crate) fn cast(
        &self,
        operand: E,
        type_name: StringLit,
        module: Option<StringLit>,
        l: Index,
        r: Index,
    ) -> E {
        let base = TargetBase::Cast { operand: operand.node, type_name, module };
        let target = Target { base, path: Vec::new(), address_of: false, pretty: None };
        self.target(target, operand.depth, l, r)
    }

    pub(crate) fn var(&self, name: StringLit, module: Option<StringLit>, l: Index, r: Index) -> E {
        self.leaf_target(TargetBase::Var { name, module }, None, l, r)
    }

    // ------------------------------------------------------- Other `@` operators

    pub(crate) fn defined(&self, e: E, l: Index, r: Index) -> E {
        let depth = e.depth;
        self.nest(ExprKind::Defined(e.node), depth, l, r)
    }

    pub(crate) fn entry(&self, e: E, l: Index, r: Index) -> E {
        let depth = e.depth;
        self.nest(ExprKind::Entry(e.node), depth, l, r)
    }

    pub(crate) fn perf(&self, name: StringLit, l: Index, r: Index) -> E {
        self.leaf(ExprKind::Perf(name), l, r)
    }

    pub(crate) fn const_(&self, name: StringLit, l: Index, r: Index) -> E {
        if !self.embedded {
            self.report(
                Diagnostic::error(
                    self.span(l, r),
                    "@const is not allowed here",
                    "evaluates C in a script",
                )
                .with_note("C code can crash the kernel; -g (guru mode) allows it"),
            );
        }
        self.leaf(ExprKind::Const(name), l, r)
    }

    pub(crate) fn enum_(&self, name: StringLit, l: Index, r: Index) -> E {
        self.leaf(ExprKind::Enum(name), l, r)
    }

    pub(crate) fn enum_name(
        &self,
        value: E,
        names: Box<(Option<StringLit>, Option<StringLit>)>,
        l: Index,
        r: Index,
    ) -> E {
        let (type_name, module) = *names;
        let depth = value.depth;
        let name = EnumName { value: *value.node, type_name, module };
        self.nest(ExprKind::EnumName(Box::new(name)), depth, l, r)
    }

    pub(crate) fn probe_write(&self, name: Ident, l: Index, r: Index) -> E {
        self.leaf(ExprKind::ProbeWrite(name), l, r)
    }

    /// `@k…` or `@u…`.
    fn space(&self, at: Index) -> Space {
        if self.bytes(at).starts_with(b"@u") { Space::User } else { Space::Kernel }
    }

    pub(crate) fn register(&self, register: Literal, l: Index, r: Index) -> E {
        self.leaf(ExprKind::Register { space: self.space(l), register }, l, r)
    }

    pub(crate) fn deref(&self, size: i64, address: E, l: Index, r: Index) -> E {
        let depth = address.depth;
        let address = address.node;
        self.nest(ExprKind::Deref { space: self.space(l), size, address }, depth, l, r)
    }

    // -------------------------------------------------------------------- Printing

    pub(crate) fn print_head(&self, at: Index) -> PrintHead {
        let name = self.bytes(at);
        PrintHead { at, to_string: name.starts_with(b"s"), newline: name.ends_with(b"ln") }
    }

    fn make_print(
        &self,
        head: PrintHead,
        style: PrintStyle,
        args: Deep<Vec<Expr>>,
        end: Index,
    ) -> E {
        let print =
            Print { to_string: head.to_string, newline: head.newline, style, args: args.node };
        self.nest(ExprKind::Print(Box::new(print)), args.depth, head.at, end)
    }

    pub(crate) fn print(
        &self,
        head: PrintHead,
        args: Deep<Vec<Expr>>,
        close: Index,
        end: Index,
    ) -> E {
        if args.node.is_empty() && !head.newline {
            self.missing_arguments(head, close, "at least one argument");
        }
        self.make_print(head, PrintStyle::Plain, args, end)
    }

    pub(crate) fn print_histogram(
        &self,
        head: PrintHead,
        histogram: Deep<Box<Histogram>>,
        end: Index,
    ) -> E {
        let span: Span = histogram.node.span;
        let kind = ExprKind::Histogram(histogram.node);
        let args = Deep { node: vec![Expr::new(kind, span)], depth: histogram.depth };
        self.make_print(head, PrintStyle::Plain, args, end)
    }

    pub(crate) fn print_delimited(
        &self,
        head: PrintHead,
        delimiter: StringLit,
        args: Deep<Vec<Expr>>,
        close: Index,
        end: Index,
    ) -> E {
        if args.node.len() < 2 {
            self.missing_arguments(head, close, "a delimiter and at least two arguments");
        }
        self.make_print(head, PrintStyle::Delimited(delimiter), args, end)
    }

    fn missing_arguments(&self, head: PrintHead, close: Index, what: &str) {
        let message = format!("{} takes {what}", self.text(head.at));
        self.report(Diagnostic::error(self.token_span(close), message, "an argument is missing"));
    }

    /// `at` is the token behind the format.
    pub(crate) fn print_formatted(
        &self,
        head: PrintHead,
        format: StringLit,
        at: Index,
        args: Deep<Vec<Expr>>,
        end: Index,
    ) -> E {
        let pieces = format::parse(format.value.as_bytes()).unwrap_or_else(|error| {
            let diagnostic = Diagnostic::error(format.span, error.message, "in this format");
            self.report(diagnostic.with_note(format::SUMMARY));
            Vec::new()
        });
        debug_assert!(at <= end && args.depth <= MAX_DEPTH);
        self.make_print(head, PrintStyle::Formatted { format, pieces }, args, end)
    }
}

/// Splits the trailing `$` or `$$` from a name.
fn split_pretty(text: &str) -> (&str, Pretty) {
    match text.strip_suffix("$$") {
        Some(name) => (name, Pretty::Deep),
        None => (text.strip_suffix('$').unwrap_or(text), Pretty::Shallow),
    }
}
