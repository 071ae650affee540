//! Statements.

use super::{Builder, Deep, E, Index, MAX_DEPTH};
use crate::ast::*;
use crate::diagnostic::Diagnostic;

pub(crate) type S = Deep<Stmt>;

/// A variable of a `foreach`, whether it sorts in descending order, and the token behind its name.
pub(crate) type KeyVar = Box<(Ident, Option<bool>, Index)>;

impl Builder<'_> {
    pub(crate) fn statement(&self, kind: StmtKind, l: Index, r: Index) -> S {
        Deep::leaf(Stmt { kind, span: self.span(l, r) })
    }

    /// A statement above others, the highest of which has this depth.
    fn nest_statement(&self, kind: StmtKind, children: u32, l: Index, r: Index) -> S {
        let span = self.span(l, r);
        if children >= MAX_DEPTH {
            self.too_deep(span);
            return Deep::leaf(Stmt { kind: StmtKind::Null, span });
        }
        Deep { node: Stmt { kind, span }, depth: children + 1 }
    }

    pub(crate) fn no_statements(&self) -> Deep<Vec<Stmt>> {
        Deep { node: Vec::new(), depth: 0 }
    }

    pub(crate) fn append(&self, mut list: Deep<Vec<Stmt>>, statement: S) -> Deep<Vec<Stmt>> {
        list.node.push(statement.node);
        list.depth = list.depth.max(statement.depth);
        list
    }

    pub(crate) fn block(&self, statements: Deep<Vec<Stmt>>, l: Index, r: Index) -> Deep<Block> {
        let span = self.span(l, r);
        Deep { node: Block { statements: statements.node, span }, depth: statements.depth }
    }

    pub(crate) fn block_statement(&self, block: Deep<Block>, l: Index, r: Index) -> S {
        self.nest_statement(StmtKind::Block(block.node), block.depth, l, r)
    }

    pub(crate) fn expression_statement(&self, e: E, l: Index, r: Index) -> S {
        self.nest_statement(StmtKind::Expr(e.node), e.depth, l, r)
    }

    pub(crate) fn if_(&self, condition: E, then: S, otherwise: Option<S>, l: Index, r: Index) -> S {
        let mut depth = condition.depth.max(then.depth);
        let otherwise = otherwise.map(|statement| {
            depth = depth.max(statement.depth);
            Box::new(statement.node)
        });
        let (condition, then) = (condition.node, Box::new(then.node));
        self.nest_statement(StmtKind::If { condition, then, otherwise }, depth, l, r)
    }

    pub(crate) fn while_(&self, condition: E, body: S, l: Index, r: Index) -> S {
        let depth = condition.depth.max(body.depth);
        let (condition, body) = (condition.node, Box::new(body.node));
        self.nest_statement(StmtKind::While { condition, body }, depth, l, r)
    }

    pub(crate) fn for_(
        &self,
        init: Option<E>,
        condition: Option<E>,
        step: Option<E>,
        body: S,
        l: Index,
        r: Index,
    ) -> S {
        let mut depth = body.depth;
        let mut take = |e: Option<E>| {
            e.map(|e| {
                depth = depth.max(e.depth);
                e.node
            })
        };
        let (init, condition, step) = (take(init), take(condition), take(step));
        let body = Box::new(body.node);
        self.nest_statement(StmtKind::For { init, condition, step, body }, depth, l, r)
    }

    #[allow(clippy::too_many_arguments)] // They are the parts of the production.
    pub(crate) fn foreach(
        &self,
        value: Option<KeyVar>,
        keys: Vec<KeyVar>,
        (over, slice): (Deep<Box<Indexable>>, Option<Deep<Vec<Key>>>),
        sort: Option<(Option<StatOp>, bool, Index)>,
        limit: Option<E>,
        body: S,
        l: Index,
        r: Index,
    ) -> S {
        let mut depth = over.depth.max(body.depth);
        depth = depth.max(slice.as_ref().map_or(0, |slice| slice.depth));
        depth = depth.max(limit.as_ref().map_or(0, |limit| limit.depth));
        let sort = self.sort(value.as_ref(), &keys, sort);
        let foreach = Foreach {
            value: value.map(|key| key.0),
            keys: keys.into_iter().map(|key| key.0).collect(),
            over: *over.node,
            slice: slice.map(|slice| slice.node),
            sort,
            limit: limit.map(|limit| *limit.node),
            body: body.node,
        };
        self.nest_statement(StmtKind::Foreach(Box::new(foreach)), depth, l, r)
    }

    /// The one order that is asked for; more than one is an error.
    fn sort(
        &self,
        value: Option<&KeyVar>,
        keys: &[KeyVar],
        array: Option<(Option<StatOp>, bool, Index)>,
    ) -> Option<Sort> {
        let of_value = value.map(|key| (SortBy::Value(None), key));
        let of_keys = keys.iter().enumerate().map(|(at, key)| (SortBy::Key(at), key));
        let marked = of_value.into_iter().chain(of_keys).filter_map(|(by, key)| {
            let (_, descending, at) = **key;
            descending.map(|descending| (Sort { by, descending }, at))
        });
        let of_array =
            array.map(|(op, descending, at)| (Sort { by: SortBy::Value(op), descending }, at));
        let mut all = marked.chain(of_array);
        let (sort, first) = all.next()?;
        if let Some((_, second)) = all.next() {
            self.report(
                Diagnostic::error(
                    self.token_span(second),
                    "a loop has only one order",
                    "this would be the second",
                )
                .with_secondary(self.token_span(first), "the first"),
            );
        }
        Some(sort)
    }

    pub(crate) fn return_(&self, value: Option<E>, l: Index, r: Index) -> S {
        self.returns.borrow_mut().push(self.token_span(l));
        let depth = value.as_ref().map_or(0, |value| value.depth);
        self.nest_statement(StmtKind::Return(value.map(|value| value.node)), depth, l, r)
    }

    pub(crate) fn delete(&self, target: E, l: Index, r: Index) -> S {
        self.nest_statement(StmtKind::Delete(target.node), target.depth, l, r)
    }

    pub(crate) fn try_(
        &self,
        body: Deep<Block>,
        variable: Option<Ident>,
        handler: Deep<Block>,
        l: Index,
        r: Index,
    ) -> S {
        let depth = body.depth.max(handler.depth);
        let watched = Try { body: body.node, variable, handler: handler.node };
        self.nest_statement(StmtKind::Try(Box::new(watched)), depth, l, r)
    }
}
