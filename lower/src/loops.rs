//! Loops.
//!
//! Every loop has one block that goes back to its start. It is where `continue` goes, it runs the
//! step of a `for`, and it pays the action. A walk over an array ends in one block too, which is
//! where `break` goes.

use xlate_elaborate::Span;
use xlate_elaborate::program::{self as typed, Expr, Foreach, GlobalId, Sort, SortBy, Stmt};
use xlate_ir::entities::Block;
use xlate_ir::instructions::{BinaryOp, CompareOp, IterSpec, Op, Place, SortKey};
use xlate_ir::types::Type;

use crate::body::{BodyLowering, Loop};
use crate::expressions::stat_field;

impl BodyLowering<'_> {
    /// `for` and `while`.
    pub(crate) fn loop_while(&mut self, each: &typed::Loop, span: Span) {
        if let Some(init) = &each.init {
            self.effect(init);
        }
        let start = self.start_loop();
        let exit = self.builder.create_block();
        if let Some(condition) = &each.condition {
            let inside = self.builder.create_block();
            self.branch(condition, inside, exit);
            self.enter(inside);
        }
        self.loop_body(start, exit, &each.body, span, |this| {
            if let Some(step) = &each.step {
                this.effect(step);
            }
        });
        self.enter(exit);
    }

    /// `foreach` over an array.
    pub(crate) fn foreach(&mut self, foreach: &Foreach, span: Span) {
        let spec = IterSpec {
            global: self.tables.global(foreach.array),
            sort: foreach.sort.map(sort_key),
            slice: self.optional_values(&foreach.slice),
            limit: foreach.limit.as_ref().map(|limit| self.value(limit)),
        };
        let iter = self.compute(Op::IterBegin(spec), span);
        let start = self.start_loop();
        let exit = self.builder.create_block();
        let inside = self.builder.create_block();
        let more = self.compute(Op::IterNext(iter), span);
        self.builder.branch(more, inside, exit);
        self.enter(inside);
        for (index, &local) in foreach.keys.iter().enumerate() {
            let key = self.compute(Op::IterKey(iter, index as u32), span);
            self.define(local, key);
        }
        if let Some(local) = foreach.value {
            let value = self.compute(Op::IterValue(iter), span);
            self.define(local, value);
        }
        self.walks.push((iter, span));
        self.loop_body(start, exit, &foreach.body, span, |_| {});
        self.walks.pop();
        self.enter(exit);
        self.act(Op::IterEnd(iter), span);
    }

    /// `delete a[k, *]`: a walk over what matches, which the array's size bounds and which pays no
    /// actions.
    pub(crate) fn clear_slice(&mut self, array: GlobalId, keys: &[Option<Expr>], span: Span) {
        let spec = IterSpec {
            global: self.tables.global(array),
            sort: None,
            slice: self.optional_values(keys),
            limit: None,
        };
        let global = spec.global;
        let iter = self.compute(Op::IterBegin(spec), span);
        let start = self.start_loop();
        let inside = self.builder.create_block();
        let exit = self.builder.create_block();
        let more = self.compute(Op::IterNext(iter), span);
        self.builder.branch(more, inside, exit);
        self.enter(inside);
        let key = |index| Op::IterKey(iter, index as u32);
        let keys = (0..keys.len()).map(|index| self.compute(key(index), span)).collect();
        self.act(Op::Delete(Place { global, keys }), span);
        self.jump(start);
        self.builder.seal(start);
        self.enter(exit);
        self.act(Op::IterEnd(iter), span);
    }

    /// `foreach` over the buckets of a histogram, all of them.
    pub(crate) fn foreach_bucket(&mut self, buckets: &typed::ForeachBucket, span: Span) {
        let place = self.place(&buckets.place);
        let limit = buckets.limit.as_ref().map(|limit| self.value(limit));
        let count = self.compute(Op::BucketCount(place), span);
        let turn = self.builder.declare(Type::Long, None);
        let zero = self.long(0, span);
        self.builder.write(turn, zero);
        let start = self.start_loop();
        let exit = self.builder.create_block();
        let turns = self.builder.read(turn);
        for bound in [Some(count), limit].into_iter().flatten() {
            let inside = self.builder.create_block();
            let goes_on = Op::Compare(CompareOp::Lt, turns, bound);
            let goes_on = self.compute(goes_on, span);
            self.builder.branch(goes_on, inside, exit);
            self.enter(inside);
        }
        let bucket = if buckets.descending {
            let left = self.compute(Op::Binary(BinaryOp::Sub, count, turns), span);
            let one = self.long(1, span);
            self.compute(Op::Binary(BinaryOp::Sub, left, one), span)
        } else {
            turns
        };
        self.define(buckets.index, bucket);
        self.loop_body(start, exit, &buckets.body, span, |this| {
            let turns = this.builder.read(turn);
            let one = this.long(1, span);
            let next = this.compute(Op::Binary(BinaryOp::Add, turns, one), span);
            this.builder.write(turn, next);
        });
        self.enter(exit);
    }

    /// Begins the block that each turn of a loop starts in.
    fn start_loop(&mut self) -> Block {
        let start = self.builder.create_block();
        self.jump(start);
        self.builder.switch_to(start);
        start
    }

    /// Lowers the body of a loop and the way back to its start.
    fn loop_body(
        &mut self,
        start: Block,
        exit: Block,
        body: &[Stmt],
        span: Span,
        step: impl FnOnce(&mut Self),
    ) {
        let again = self.builder.create_block();
        self.loops.push(Loop { exit, again });
        self.stmts(body);
        self.loops.pop();
        self.jump(again);
        self.enter(again);
        if self.builder.is_open() {
            step(self);
            self.act(Op::Action, span);
            self.jump(start);
        }
        self.builder.seal(start);
    }
}

fn sort_key(sort: Sort) -> (SortKey, bool) {
    let by = match sort.by {
        SortBy::Key(index) => SortKey::Key(index as u32),
        SortBy::Value => SortKey::Value,
        SortBy::Stat(field) => SortKey::Stat(stat_field(field)),
    };
    (by, sort.descending)
}
