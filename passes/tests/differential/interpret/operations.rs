//! What each operation does.

use std::fmt::Write;

use xlate_ir::arith;
use xlate_ir::entities::Value;
use xlate_ir::format::{Conversion, ConversionKind, Count, Format, Piece};
use xlate_ir::instructions::{FetchOp, Op, Place, UpdateOp};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::FunctionCode;
use xlate_ir::render;
use xlate_ir::strings;
use xlate_ir::types::Pos;

use super::shards::Update;
use super::state::{Element, State, Walk, buckets, field_of};
use super::{Datum, Exit, Machine, constant, datum};

/// The operands of an operation.
struct Operands<'a>(&'a dyn Fn(Value) -> Datum);

impl Operands<'_> {
    fn long(&self, value: Value) -> i64 {
        match (self.0)(value) {
            Datum::Long(n) => n,
            other => panic!("{other:?} is no long"),
        }
    }

    fn text(&self, value: Value) -> Vec<u8> {
        match (self.0)(value) {
            Datum::Str(text) => text,
            other => panic!("{other:?} is no string"),
        }
    }

    fn walk(&self, value: Value) -> usize {
        match (self.0)(value) {
            Datum::Iter(n) => n,
            other => panic!("{other:?} is no walk"),
        }
    }

    fn keys(&self, place: &Place) -> Vec<Datum> {
        place.keys.iter().map(|&key| (self.0)(key)).collect()
    }
}

impl Machine<'_> {
    pub(super) fn op(
        &mut self,
        op: &Op,
        get: &dyn Fn(Value) -> Datum,
        pos: Option<Pos>,
        caught: &[u8],
    ) -> Result<Option<Datum>, Exit> {
        let operands = Operands(get);
        let long = |value: Value| operands.long(value);
        let truth = |truth: bool| Ok(Some(Datum::Long(i64::from(truth))));
        match op {
            Op::Const(constant) => Ok(Some(datum(constant))),
            Op::Record(field) => {
                Ok(Some(datum(&self.module.probes[self.point].record[*field as usize])))
            }
            Op::Unary(op, a) => Ok(Some(Datum::Long(arith::unary(*op, long(*a))))),
            Op::Binary(op, a, b) => match arith::binary(*op, long(*a), long(*b)) {
                Some(n) => Ok(Some(Datum::Long(n))),
                None if op.is_guarded() => panic!("{op} {} by {}", long(*a), long(*b)),
                None => Err(self.raise("division by zero", pos)),
            },
            Op::Compare(op, a, b) => truth(arith::compare(*op, &get(*a), &get(*b))),
            Op::Intrinsic(intrinsic, args) => self.intrinsic(*intrinsic, args, &operands, pos),
            Op::Match(regex, a) => {
                let pattern = String::from_utf8_lossy(&self.module.regexes[*regex]);
                let regex = regex::bytes::Regex::new(&format!("(?s-u){pattern}"));
                truth(regex.expect("a regular expression").is_match(&operands.text(*a)))
            }
            Op::Call(function, args) => {
                self.depth += 1;
                // Actions run out earlier: how deep calls may nest is not for passes to keep.
                if self.depth > 100 {
                    return Err(Exit::Abort);
                }
                let data = &self.module.functions[*function];
                let FunctionCode::Body(body) = &data.code else { panic!("C is not interpreted") };
                let depth = self.depth;
                let args: Vec<Datum> = args.iter().map(|&arg| get(arg)).collect();
                let variant = match args.last() {
                    Some(Datum::Long(n)) if !data.places.is_empty() => usize::try_from(*n).ok(),
                    _ => None,
                };
                let places = variant.map(|n| (&data.places[..], &data.variants[n][..]));
                let exit = self.body(body, data.pos, places, args);
                self.depth = depth - 1;
                match exit {
                    Exit::Return(value) => Ok(value),
                    other => Err(other),
                }
            }
            Op::Load(place) => Ok(Some(self.load(place, &operands))),
            Op::Store(place, value) => self.set(place, &operands, Element::Datum(get(*value)), pos),
            Op::Update(op, place, value) if self.is_on_shard(place.global) => {
                let update = Update::Long(*op, long(*value));
                self.update_shard(place.global, operands.keys(place), update, pos)
            }
            Op::StatAdd(place, value) if self.is_on_shard(place.global) => {
                let update = Update::Stat(long(*value));
                self.update_shard(place.global, operands.keys(place), update, pos)
            }
            Op::Update(op, place, value) => {
                let Datum::Long(old) = self.load(place, &operands) else {
                    panic!("updates are of longs")
                };
                let new = Datum::Long(arith::update(*op, old, long(*value)));
                self.set(place, &operands, Element::Datum(new), pos)
            }
            Op::Fetch(op, place, value) => {
                let old = self.load(place, &operands);
                let (Datum::Long(n), by) = (&old, long(*value)) else { panic!("it is a long") };
                let new = match op {
                    FetchOp::Add => arith::update(UpdateOp::Add, *n, by),
                    FetchOp::Exchange => by,
                };
                self.set(place, &operands, Element::Datum(Datum::Long(new)), pos)?;
                Ok(Some(old))
            }
            Op::Contains(place) => {
                truth(self.state.get(place.global, &operands.keys(place)).is_some())
            }
            Op::Delete(place) => {
                self.state.remove(place.global, &operands.keys(place));
                Ok(None)
            }
            Op::Clear(global) => {
                self.state.clear(*global);
                Ok(None)
            }
            Op::StatAdd(place, value) => {
                let mut values = self.state.stat(place.global, &operands.keys(place));
                values.push(long(*value));
                self.set(place, &operands, Element::Stat(values), pos)
            }
            Op::StatGet(field, place) => {
                field_of(*field, &self.state.stat(place.global, &operands.keys(place)))
                    .map(|n| Some(Datum::Long(n)))
                    .ok_or_else(|| self.raise("empty statistic", pos))
            }
            Op::Bucket(place, index) => {
                let buckets = self.buckets(place, &operands);
                let bucket = usize::try_from(long(*index)).ok().and_then(|n| buckets.get(n));
                bucket
                    .map(|n| Some(Datum::Long(*n)))
                    .ok_or_else(|| self.raise("no such bucket", pos))
            }
            Op::BucketCount(place) => {
                Ok(Some(Datum::Long(self.buckets(place, &operands).len() as i64)))
            }
            Op::PrintHistogram(place) => {
                let buckets = self.buckets(place, &operands);
                self.output.extend(format!("{buckets:?}\n").into_bytes());
                Ok(None)
            }
            Op::IterBegin(spec) => {
                let slice: Vec<_> = spec.slice.iter().map(|key| key.map(get)).collect();
                let limit = spec.limit.map(long);
                self.walks.push(self.state.walk(spec.global, spec.sort, &slice, limit));
                Ok(Some(Datum::Iter(self.walks.len() - 1)))
            }
            Op::IterNext(iter) => {
                let walk = &mut self.walks[operands.walk(*iter)];
                walk.next += 1;
                truth(walk.next <= walk.entries.len())
            }
            Op::IterKey(iter, n) => Ok(Some(self.current(&operands, *iter).0[*n as usize].clone())),
            Op::IterValue(iter) => match &self.current(&operands, *iter).1 {
                Element::Datum(datum) => Ok(Some(datum.clone())),
                Element::Stat(_) => panic!("a statistic has no value"),
            },
            Op::IterStat(iter, field) => match &self.current(&operands, *iter).1 {
                Element::Stat(values) => field_of(*field, values)
                    .map(|n| Some(Datum::Long(n)))
                    .ok_or_else(|| self.raise("empty statistic", pos)),
                Element::Datum(_) => panic!("a plain value has no fields"),
            },
            Op::Lock(locks) => {
                self.gather_locked(locks);
                Ok(None)
            }
            Op::IterEnd(_) | Op::Unlock(_) => Ok(None),
            Op::Print(format, args) => {
                let mut output = std::mem::take(&mut self.output);
                let result = self.format(format, args, &operands, pos, &mut output);
                self.output = output;
                result.map(|()| None)
            }
            Op::Format(format, args) => {
                let mut text = Vec::new();
                self.format(format, args, &operands, pos, &mut text)?;
                // A string ends at its first NUL where it is taken out of the output again.
                text.truncate(self.longest());
                Ok(Some(Datum::Str(text)))
            }
            Op::Caught => {
                let mut message = caught.to_vec();
                message.truncate(self.longest());
                Ok(Some(Datum::Str(message)))
            }
            Op::Action => {
                self.actions -= 1;
                if self.actions == 0 { Err(Exit::Abort) } else { Ok(None) }
            }
            Op::CStatement(text) => {
                let _ = writeln!(self.messages, "C: {text}");
                Ok(None)
            }
            Op::CExpression(text) => {
                let _ = writeln!(self.messages, "C: {text}");
                Ok(Some(Datum::Long(text.len() as i64)))
            }
        }
    }

    fn longest(&self) -> usize {
        self.module.limits.longest_string() as usize
    }

    pub(super) fn raise(&self, message: &str, pos: Option<Pos>) -> Exit {
        Exit::Raise(self.at(message.as_bytes(), pos))
    }

    fn load(&self, place: &Place, operands: &Operands<'_>) -> Datum {
        match self.state.get(place.global, &operands.keys(place)) {
            Some(Element::Datum(datum)) => datum.clone(),
            _ => State::zero(self.module, place.global),
        }
    }

    fn set(
        &mut self,
        place: &Place,
        operands: &Operands<'_>,
        element: Element,
        pos: Option<Pos>,
    ) -> Result<Option<Datum>, Exit> {
        let keys = operands.keys(place);
        self.state
            .set(self.module, place.global, keys, element)
            .map(|()| None)
            .map_err(|message| self.raise(message, pos))
    }

    fn buckets(&self, place: &Place, operands: &Operands<'_>) -> Vec<i64> {
        let histogram = self.module.globals[place.global].histogram.expect("a histogram");
        buckets(histogram, &self.state.stat(place.global, &operands.keys(place)))
    }

    fn current(&self, operands: &Operands<'_>, iter: Value) -> &(Vec<Datum>, Element) {
        let Walk { entries, next } = &self.walks[operands.walk(iter)];
        &entries[next - 1]
    }

    fn intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        args: &[Value],
        operands: &Operands<'_>,
        pos: Option<Pos>,
    ) -> Result<Option<Datum>, Exit> {
        let long = |n: i64| Ok(Some(Datum::Long(n)));
        let text = |text: String| Ok(Some(Datum::Str(text.into_bytes())));
        let point = &self.module.probes[self.point];
        match intrinsic {
            Intrinsic::Pid => long(self.event % 4),
            Intrinsic::Tid => long(self.event % 3),
            Intrinsic::Execname => text(format!("p{}", self.event % 3)),
            Intrinsic::Pexecname => text(format!("parent{}", self.event % 2)),
            Intrinsic::Pp => text(point.name.chars().take(self.longest()).collect()),
            Intrinsic::Pn => text(point.written.chars().take(self.longest()).collect()),
            Intrinsic::Probefunc | Intrinsic::ModuleName => text("fn".into()),
            Intrinsic::Exit => {
                self.exiting = true;
                Ok(None)
            }
            Intrinsic::Abort => {
                self.exiting = true;
                Err(Exit::Stop)
            }
            Intrinsic::Warn | Intrinsic::Log | Intrinsic::System => {
                let text = operands.text(args[0]);
                let _ = writeln!(self.messages, "{intrinsic}: {}", text.escape_ascii());
                Ok(None)
            }
            Intrinsic::StrTokenize => {
                let input = operands.text(args[0]);
                let delimiters = operands.text(args[1]);
                if !input.is_empty() {
                    self.tokens = input;
                }
                Ok(Some(Datum::Str(next_token(&mut self.tokens, &delimiters))))
            }
            _ if args.is_empty() => long(self.event * 1000 + intrinsic as i64),
            _ => {
                let args: Vec<_> = args.iter().map(|&arg| constant((operands.0)(arg))).collect();
                match strings::evaluate(intrinsic, &args, self.longest()) {
                    Some(result) => Ok(Some(datum(&result))),
                    None if intrinsic == Intrinsic::StrByte => panic!("there is no such byte"),
                    None => Err(self.raise("no such byte", pos)),
                }
            }
        }
    }

    /// Adds what a format prints to a text.
    fn format(
        &self,
        format: &Format,
        args: &[Value],
        operands: &Operands<'_>,
        pos: Option<Pos>,
        out: &mut Vec<u8>,
    ) -> Result<(), Exit> {
        let mut args = args.iter().map(|&arg| constant((operands.0)(arg)));
        for piece in &format.pieces {
            if let Piece::Conversion(Conversion {
                kind: ConversionKind::Memory | ConversionKind::MemoryHex,
                width,
                precision,
                ..
            }) = piece
            {
                let counts = [width, precision].iter().filter(|c| ***c == Count::Argument).count();
                match args.by_ref().nth(counts) {
                    Some(xlate_ir::types::Const::Long(n)) if n % 3 != 0 => out.push(b'm'),
                    _ => return Err(self.raise("memory cannot be read", pos)),
                }
                continue;
            }
            let one = Format { pieces: vec![piece.clone()] };
            let own: Vec<_> = args.by_ref().take(one.argument_count()).collect();
            out.extend(render::render(&one, &own).expect("arguments fit"));
        }
        Ok(())
    }
}

/// Takes the next token off a text.
fn next_token(text: &mut Vec<u8>, delimiters: &[u8]) -> Vec<u8> {
    let is_delimiter = |byte: &u8| delimiters.contains(byte);
    let start = text.iter().take_while(|byte| is_delimiter(byte)).count();
    let length = text[start..].iter().take_while(|byte| !is_delimiter(byte)).count();
    let token = text[start..start + length].to_vec();
    text.drain(..start + length);
    token
}
