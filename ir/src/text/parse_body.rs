//! Parses bodies: blocks, instructions, terminators.

use super::lexer::Token;
use super::parser::{Parse, Parser};
use crate::entities::{Block, Entity, Global, Regex, Value};
use crate::format::Format;
use crate::instructions::{
    BinaryOp, BlockCall, CompareOp, FetchOp, InstData, IterSpec, LockMode, Op, Place, SortKey,
    StatField, Terminator, UnaryOp, UpdateOp,
};
use crate::intrinsics::Intrinsic;
use crate::module::{BlockData, Body, ValueData};
use crate::types::{Pos, Type};

/// A body under construction: values and blocks may be named before they are defined.
#[derive(Default)]
struct Pending {
    body: Body,
    /// For each value: its definition, and the token of the first mention.
    values: Vec<(Option<ValueData>, Option<usize>)>,
    /// For each block: its contents, and the token of the first mention.
    blocks: Vec<(Option<BlockData>, Option<usize>)>,
}

impl Parser {
    /// `{`, blocks, `}`.
    pub(super) fn body(&mut self) -> Parse<Body> {
        self.expect('{')?;
        self.end_of_line()?;
        let mut pending = Pending::default();
        while !self.eat('}') {
            self.block(&mut pending)?;
        }
        self.end_of_line()?;
        self.finish(pending)
    }

    /// Puts the definitions in place; everything mentioned must be defined.
    fn finish(&self, pending: Pending) -> Parse<Body> {
        let mut body = pending.body;
        for (index, (data, mention)) in pending.values.into_iter().enumerate() {
            let filler = match (data, mention) {
                (Some(data), _) => data,
                (None, Some(at)) => {
                    return self.error_at(at, format!("v{index} is never defined"));
                }
                (None, None) => ValueData { ty: Type::Long, name: None },
            };
            body.values.alloc(filler);
        }
        for (index, (data, mention)) in pending.blocks.into_iter().enumerate() {
            let filler = match (data, mention) {
                (Some(data), _) => data,
                (None, Some(at)) => {
                    return self.error_at(at, format!("there is no block b{index}"));
                }
                (None, None) => BlockData {
                    params: Vec::new(),
                    insts: Vec::new(),
                    terminator: Terminator::Unreachable,
                },
            };
            body.blocks.alloc(filler);
        }
        Ok(body)
    }

    fn block(&mut self, pending: &mut Pending) -> Parse<()> {
        let at = self.at;
        let block: Block = self.entity("b", "a block or `}`")?;
        let params = match self.peek() {
            Token::Punct('(') => self.list('(', ')', |p| {
                let (value, name) = p.defined_value(pending)?;
                p.expect(':')?;
                let ty = p.ty()?;
                pending.values[value.index()].0 = Some(ValueData { ty, name });
                Ok(value)
            })?,
            _ => Vec::new(),
        };
        self.expect(':')?;
        self.end_of_line()?;
        let mut insts = Vec::new();
        let terminator = loop {
            if let Some(terminator) = self.terminator(pending)? {
                break terminator;
            }
            let data = self.inst(pending)?;
            insts.push(pending.body.insts.alloc(data));
        };
        let entry = slot(&mut pending.blocks, block.index());
        if entry.0.is_some() {
            return self.error_at(at, format!("there are two blocks {block}"));
        }
        entry.0 = Some(BlockData { params, insts, terminator });
        pending.body.layout.push(block);
        Ok(())
    }

    fn value(&mut self, pending: &mut Pending) -> Parse<Value> {
        let at = self.at;
        let value: Value = self.entity("v", "a value")?;
        slot(&mut pending.values, value.index()).1.get_or_insert(at);
        Ok(value)
    }

    /// A value that is being defined, and its hint. The caller fills its slot.
    fn defined_value(&mut self, pending: &mut Pending) -> Parse<(Value, Option<String>)> {
        let at = self.at;
        let value: Value = self.entity("v", "a value")?;
        if slot(&mut pending.values, value.index()).0.is_some() {
            return self.error_at(at, format!("{value} is defined twice"));
        }
        let name = match self.peek() {
            Token::Hint(name) => {
                let name = name.clone();
                self.at += 1;
                Some(name)
            }
            _ => None,
        };
        Ok((value, name))
    }

    /// `b1` or `b1(v0, v1)`.
    fn block_call(&mut self, pending: &mut Pending) -> Parse<BlockCall> {
        let at = self.at;
        let block: Block = self.entity("b", "a block")?;
        slot(&mut pending.blocks, block.index()).1.get_or_insert(at);
        let args = match self.peek() {
            Token::Punct('(') => self.list('(', ')', |p| p.value(pending))?,
            _ => Vec::new(),
        };
        Ok(BlockCall { block, args })
    }

    /// A terminator with its line, if one is next.
    fn terminator(&mut self, pending: &mut Pending) -> Parse<Option<Terminator>> {
        let Token::Word(word) = self.peek().clone() else { return Ok(None) };
        let start = self.at;
        self.at += 1;
        let terminator = match word.as_str() {
            "jump" => Terminator::Jump(self.block_call(pending)?),
            "branch" => {
                let condition = self.value(pending)?;
                self.expect(',')?;
                let then = self.block_call(pending)?;
                self.expect(',')?;
                Terminator::Branch(condition, then, self.block_call(pending)?)
            }
            "ret" if self.entity_index("v").is_some() => {
                Terminator::Return(Some(self.value(pending)?))
            }
            "ret" => Terminator::Return(None),
            "raise" => {
                let message = self.value(pending)?;
                let catch = if self.eat(',') {
                    if !self.eat_word("catch") {
                        return self.expected("`catch`");
                    }
                    Some(self.block_call(pending)?)
                } else {
                    None
                };
                Terminator::Raise { message, catch, pos: self.pos()? }
            }
            "try" => {
                let normal = self.block_call(pending)?;
                self.expect(',')?;
                Terminator::Try(normal, self.block_call(pending)?)
            }
            "unreachable" => Terminator::Unreachable,
            _ => {
                self.at = start;
                return Ok(None);
            }
        };
        self.end_of_line()?;
        Ok(Some(terminator))
    }

    fn inst(&mut self, pending: &mut Pending) -> Parse<InstData> {
        let mut defined = None;
        if self.entity_index("v").is_some() {
            defined = Some(self.defined_value(pending)?);
            self.expect('=')?;
        }
        let op = self.op(pending)?;
        let mut result = None;
        if let Some((value, name)) = defined {
            self.expect(':')?;
            let ty = self.ty()?;
            pending.values[value.index()].0 = Some(ValueData { ty, name });
            result = Some(value);
        }
        let pos: Option<Pos> = self.pos()?;
        self.end_of_line()?;
        Ok(InstData { op, result, pos })
    }

    fn op(&mut self, pending: &mut Pending) -> Parse<Op> {
        let at = self.at;
        let word = self.word("an instruction or terminator")?;
        if let Some(op) = UnaryOp::named(&word) {
            return Ok(Op::Unary(op, self.value(pending)?));
        }
        if let Some(op) = BinaryOp::named(&word) {
            let (a, b) = self.pair(pending)?;
            return Ok(Op::Binary(op, a, b));
        }
        if let Some(intrinsic) = Intrinsic::named(&word) {
            return self.intrinsic(intrinsic, pending);
        }
        if let Some(op) = self.place_op(&word, pending)? {
            return Ok(op);
        }
        if let Some(op) = self.dotted_op(&word, pending)? {
            return Ok(op);
        }
        Ok(match word.as_str() {
            "const" => Op::Const(self.constant()?),
            "record" => Op::Record(self.int("the number of a field")?),
            "match" => {
                let regex: Regex = self.entity("re", "a regular expression")?;
                self.expect(',')?;
                Op::Match(regex, self.value(pending)?)
            }
            "call" => {
                let function = self.function()?;
                Op::Call(function, self.list('(', ')', |p| p.value(pending))?)
            }
            "clear" => Op::Clear(self.global()?),
            "print" => {
                let (format, args) = self.format(pending)?;
                Op::Print(format, args)
            }
            "format" => {
                let (format, args) = self.format(pending)?;
                Op::Format(format, args)
            }
            "caught" => Op::Caught,
            "action" => Op::Action,
            "c.statement" => Op::CStatement(self.text("C text")?),
            "c.expression" => Op::CExpression(self.text("C text")?),
            "lock" => Op::Lock(self.locks()?),
            "unlock" => Op::Unlock(self.separated(Self::global)?),
            _ => return self.error_at(at, format!("there is no instruction `{word}`")),
        })
    }

    fn pair(&mut self, pending: &mut Pending) -> Parse<(Value, Value)> {
        let a = self.value(pending)?;
        self.expect(',')?;
        Ok((a, self.value(pending)?))
    }

    /// The rest of an instruction whose first operand is a place.
    fn place_op(&mut self, word: &str, pending: &mut Pending) -> Parse<Option<Op>> {
        let make: fn(Place) -> Op = match word {
            "load" => Op::Load,
            "contains" => Op::Contains,
            "delete" => Op::Delete,
            "bucket.count" => Op::BucketCount,
            "print.histogram" => Op::PrintHistogram,
            "store" | "stat.add" | "bucket" => {
                let place = self.place(pending)?;
                self.expect(',')?;
                let value = self.value(pending)?;
                return Ok(Some(match word {
                    "store" => Op::Store(place, value),
                    "bucket" => Op::Bucket(place, value),
                    _ => Op::StatAdd(place, value),
                }));
            }
            _ => return Ok(None),
        };
        Ok(Some(make(self.place(pending)?)))
    }

    /// The rest of an instruction whose name has a family in front of the dot.
    fn dotted_op(&mut self, word: &str, pending: &mut Pending) -> Parse<Option<Op>> {
        if let Some(op) = word.strip_prefix("cmp.").and_then(CompareOp::named) {
            let (a, b) = self.pair(pending)?;
            return Ok(Some(Op::Compare(op, a, b)));
        }
        if let Some(op) = word.strip_prefix("update.").and_then(UpdateOp::named) {
            let place = self.place(pending)?;
            self.expect(',')?;
            return Ok(Some(Op::Update(op, place, self.value(pending)?)));
        }
        if let Some(op) = word.strip_prefix("fetch.").and_then(FetchOp::named) {
            let place = self.place(pending)?;
            self.expect(',')?;
            return Ok(Some(Op::Fetch(op, place, self.value(pending)?)));
        }
        if let Some(field) = word.strip_prefix("iter.stat.") {
            let field = self.stat_field(field)?;
            return Ok(Some(Op::IterStat(self.value(pending)?, field)));
        }
        if let Some(field) = word.strip_prefix("stat.") {
            let field = self.stat_field(field)?;
            return Ok(Some(Op::StatGet(field, self.place(pending)?)));
        }
        Ok(Some(match word {
            "iter.begin" => Op::IterBegin(self.iter_spec(pending)?),
            "iter.next" => Op::IterNext(self.value(pending)?),
            "iter.value" => Op::IterValue(self.value(pending)?),
            "iter.end" => Op::IterEnd(self.value(pending)?),
            "iter.key" => {
                let iter = self.value(pending)?;
                self.expect(',')?;
                Op::IterKey(iter, self.int("the number of a key")?)
            }
            _ => return Ok(None),
        }))
    }

    /// The field of a statistic whose word has just been taken.
    fn stat_field(&mut self, word: &str) -> Parse<StatField> {
        Ok(match word {
            "count" => StatField::Count,
            "sum" => StatField::Sum,
            "min" => StatField::Min,
            "max" => StatField::Max,
            "avg" => StatField::Avg,
            "variance" => {
                self.expect('<')?;
                let shift = self.int("a number of bits")?;
                self.expect('>')?;
                StatField::Variance(shift)
            }
            _ => {
                let message = format!("a statistic has no field `{word}`");
                return self.error_at(self.at - 1, message);
            }
        })
    }

    fn intrinsic(&mut self, intrinsic: Intrinsic, pending: &mut Pending) -> Parse<Op> {
        let mut args = Vec::new();
        if self.entity_index("v").is_some() {
            args = self.separated(|p| p.value(pending))?;
        }
        Ok(Op::Intrinsic(intrinsic, args))
    }

    /// One or more items with commas between.
    fn separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(',') {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn place(&mut self, pending: &mut Pending) -> Parse<Place> {
        let global = self.global()?;
        let keys = match self.peek() {
            Token::Punct('[') => self.list('[', ']', |p| p.value(pending))?,
            _ => Vec::new(),
        };
        Ok(Place { global, keys })
    }

    fn iter_spec(&mut self, pending: &mut Pending) -> Parse<IterSpec> {
        let mut spec =
            IterSpec { global: self.global()?, sort: None, slice: Vec::new(), limit: None };
        if self.eat_word("sort") {
            let key = match self.word("what to sort by")?.as_str() {
                "key" => SortKey::Key(self.int_argument()?),
                "value" => SortKey::Value,
                word => SortKey::Stat(self.stat_field(word)?),
            };
            let descending = match self.word("`asc` or `desc`")?.as_str() {
                "asc" => false,
                "desc" => true,
                _ => {
                    self.at -= 1;
                    return self.expected("`asc` or `desc`");
                }
            };
            spec.sort = Some((key, descending));
        }
        if self.eat_word("slice") {
            spec.slice = self.list('[', ']', |p| {
                if p.eat('*') { Ok(None) } else { p.value(pending).map(Some) }
            })?;
        }
        if self.eat_word("limit") {
            spec.limit = Some(self.value(pending)?);
        }
        Ok(spec)
    }

    fn format(&mut self, pending: &mut Pending) -> Parse<(Format, Vec<Value>)> {
        let at = self.at;
        let bytes = self.bytes("a format")?;
        let format = Format::from_bytes(&bytes)
            .or_else(|offset| self.error_at(at, format!("byte {offset}: no such conversion")))?;
        let mut args = Vec::new();
        while self.eat(',') {
            args.push(self.value(pending)?);
        }
        Ok((format, args))
    }

    fn locks(&mut self) -> Parse<Vec<(Global, LockMode)>> {
        self.separated(|p| {
            let global = p.global()?;
            p.expect(':')?;
            match LockMode::named(&p.word("a mode")?) {
                Some(mode) => Ok((global, mode)),
                None => p.error_at(p.at - 1, "a lock is taken for `read` or `write`"),
            }
        })
    }
}

/// The element at an index, the vector made long enough.
fn slot<T: Default>(items: &mut Vec<T>, index: usize) -> &mut T {
    if items.len() <= index {
        items.resize_with(index + 1, T::default);
    }
    &mut items[index]
}
