//! Types of operands and results.

use super::{Checker, Owner, fits};
use crate::entities::{Block, Entity, Global, Inst, Value};
use crate::format::{Count, Format, Piece};
use crate::instructions::{IterSpec, Op, Place, SortKey};
use crate::intrinsics::Slot;
use crate::types::{Const, ElementType, GlobalData, Type};
use crate::typing::{Outcome, outcome};

/// The first thing that is wrong with an instruction.
type Checked = Result<(), String>;

impl Checker<'_> {
    pub(super) fn check_operands(&mut self) {
        let walked = self.walked();
        for (block, inst) in self.body.iter_insts() {
            if let Err(message) = self.check_op(&self.body.insts[inst].op, &walked) {
                self.at_inst(block, inst, message);
            } else {
                self.check_result(block, inst, &walked);
            }
        }
    }

    /// For each value: the array that it walks, if it is the result of an `iter.begin`.
    fn walked(&self) -> Vec<Option<Global>> {
        let mut walked = vec![None; self.body.values.len()];
        for (_, inst) in self.body.iter_insts() {
            let data = &self.body.insts[inst];
            if let (Op::IterBegin(spec), Some(result)) = (&data.op, data.result) {
                walked[result.index()] = Some(spec.global);
            }
        }
        walked
    }

    fn check_result(&mut self, block: Block, inst: Inst, walked: &[Option<Global>]) {
        let data = &self.body.insts[inst];
        let have = data.result.map(|result| self.body.type_of(result));
        let given = outcome(
            self.module,
            &data.op,
            |value| self.body.type_of(value),
            |iter| walked[iter.index()],
        );
        let message = match (given, have) {
            (Outcome::Nothing, Some(_)) => "it has no result".to_owned(),
            (Outcome::Value(want), None) => format!("its result is {want}"),
            (Outcome::Value(want), Some(have)) if !fits(want, have) => {
                format!("its result is {want}, not {have}")
            }
            (Outcome::Declared, None) => "it has a result".to_owned(),
            (_, Some(Type::Str(bound))) if bound > self.module.limits.longest_string() => {
                format!("no string is as long as {bound} bytes")
            }
            _ => return,
        };
        self.at_inst(block, inst, message);
    }

    fn check_op(&self, op: &Op, walked: &[Option<Global>]) -> Checked {
        match op {
            Op::Const(constant) => self.constant(constant),
            Op::Record(field) => self.record(*field),
            Op::Unary(_, a) => self.long(*a),
            Op::Binary(_, a, b) => self.long(*a).and(self.long(*b)),
            Op::Compare(_, a, b) => {
                if self.type_of(*a) == Type::Iter || !self.type_of(*a).is_like(self.type_of(*b)) {
                    return Err(format!("{a} and {b} are not of like type"));
                }
                Ok(())
            }
            Op::Intrinsic(intrinsic, args) => {
                let params = intrinsic.signature().params;
                self.count("arguments", params.len(), args.len())?;
                for (slot, &arg) in params.iter().zip(args) {
                    match slot {
                        Slot::Long => self.long(arg)?,
                        Slot::Str => self.text(arg)?,
                        Slot::Bounded(bound) => self.fits(arg, Type::Str(*bound))?,
                    }
                }
                Ok(())
            }
            Op::Match(regex, a) => match self.module.regexes.get(*regex) {
                Some(_) => self.text(*a),
                None => Err(format!("there is no {regex}")),
            },
            Op::Call(function, args) => {
                let data = &self.module.functions[*function];
                self.count("arguments", data.params.len(), args.len())?;
                data.params.iter().zip(args).try_for_each(|(&ty, &arg)| self.fits(arg, ty))
            }
            Op::Load(place) => self.place(place).and_then(not_stat),
            Op::Store(place, value) => self.stored(place, *value),
            Op::Update(_, place, value) => {
                let data = self.place(place)?;
                if data.element != ElementType::Long {
                    return Err("only integers are updated in place".into());
                }
                self.long(*value)
            }
            Op::Fetch(_, place, value) => {
                let data = self.place(place)?;
                if data.is_array() || data.element != ElementType::Long {
                    return Err("only one integer is fetched and written in one step".into());
                }
                self.long(*value)
            }
            Op::Contains(place) => self.place(place).and_then(array),
            Op::Delete(place) => self.place(place).map(|_| ()),
            Op::Clear(global) => array(&self.module.globals[*global]),
            Op::StatAdd(place, value) => {
                self.place(place).and_then(stat)?;
                self.long(*value)
            }
            Op::StatGet(_, place) => self.place(place).and_then(stat),
            Op::Bucket(place, value) => {
                self.place(place).and_then(histogram)?;
                self.long(*value)
            }
            Op::BucketCount(place) | Op::PrintHistogram(place) => {
                self.place(place).and_then(histogram)
            }
            Op::IterBegin(spec) => self.iter_spec(spec),
            Op::IterNext(iter) | Op::IterEnd(iter) => self.iter(*iter, walked).map(|_| ()),
            Op::IterKey(iter, n) => {
                let data = self.iter(*iter, walked)?;
                if *n as usize >= data.keys.len() {
                    return Err(format!("the array has no key {n}"));
                }
                Ok(())
            }
            Op::IterValue(iter) => self.iter(*iter, walked).and_then(not_stat),
            Op::IterStat(iter, _) => self.iter(*iter, walked).and_then(stat),
            Op::Print(format, args) | Op::Format(format, args) => self.format(format, args),
            Op::Caught | Op::Action | Op::CStatement(_) | Op::CExpression(_) => Ok(()),
            Op::Lock(_) | Op::Unlock(_) => self.lock(),
        }
    }

    fn type_of(&self, value: Value) -> Type {
        self.body.type_of(value)
    }

    fn long(&self, value: Value) -> Checked {
        match self.type_of(value) {
            Type::Long => Ok(()),
            other => Err(format!("{value} is {other}, not long")),
        }
    }

    fn text(&self, value: Value) -> Checked {
        match self.type_of(value) {
            Type::Str(_) => Ok(()),
            other => Err(format!("{value} is {other}, not a string")),
        }
    }

    fn fits(&self, value: Value, want: Type) -> Checked {
        let have = self.type_of(value);
        if fits(have, want) { Ok(()) } else { Err(format!("{value} is {have}, not {want}")) }
    }

    fn count(&self, what: &str, want: usize, have: usize) -> Checked {
        if want == have { Ok(()) } else { Err(format!("it has {want} {what}, not {have}")) }
    }

    fn constant(&self, constant: &Const) -> Checked {
        match constant {
            Const::Str(bytes) if bytes.contains(&0) => Err("a string has no NUL bytes".into()),
            Const::Str(bytes) if bytes.len() > self.module.limits.longest_string() as usize => {
                Err(format!("no string is as long as {} bytes", bytes.len()))
            }
            _ => Ok(()),
        }
    }

    fn record(&self, field: u32) -> Checked {
        let Owner::Handler(handler) = self.owner else {
            return Err("only handlers have a record".into());
        };
        match self.module.handlers[handler].record.get(field as usize) {
            Some(_) => Ok(()),
            None => Err(format!("the record has no field {field}")),
        }
    }

    /// The global of a place whose keys are right.
    fn place(&self, place: &Place) -> Result<&GlobalData, String> {
        let data = &self.module.globals[place.global];
        self.count("keys", data.keys.len(), place.keys.len())?;
        data.keys.iter().zip(&place.keys).try_for_each(|(&ty, &key)| self.fits(key, ty))?;
        Ok(data)
    }

    fn stored(&self, place: &Place, value: Value) -> Checked {
        let data = self.place(place)?;
        not_stat(data)?;
        match data.element.value_type() {
            Some(want) => self.fits(value, want),
            None => Ok(()),
        }
    }

    fn iter(&self, iter: Value, walked: &[Option<Global>]) -> Result<&GlobalData, String> {
        match walked[iter.index()] {
            Some(global) => Ok(&self.module.globals[global]),
            None => Err(format!("{iter} is not the result of an `iter.begin`")),
        }
    }

    fn iter_spec(&self, spec: &IterSpec) -> Checked {
        let data = &self.module.globals[spec.global];
        array(data)?;
        match spec.sort {
            Some((SortKey::Key(n), _)) if n as usize >= data.keys.len() => {
                return Err(format!("the array has no key {n}"));
            }
            Some((SortKey::Value, _)) => not_stat(data)?,
            Some((SortKey::Stat(_), _)) => stat(data)?,
            _ => {}
        }
        if !spec.slice.is_empty() {
            self.count("keys", data.keys.len(), spec.slice.len())?;
            for (&ty, key) in data.keys.iter().zip(&spec.slice) {
                if let Some(key) = key {
                    self.fits(*key, ty)?;
                }
            }
        }
        spec.limit.map_or(Ok(()), |limit| self.long(limit))
    }

    fn format(&self, format: &Format, args: &[Value]) -> Checked {
        self.count("arguments", format.argument_count(), args.len())?;
        let mut next = args.iter();
        let mut take = |text: bool| match next.next() {
            Some(&value) if text => self.text(value),
            Some(&value) => self.long(value),
            None => Ok(()),
        };
        for piece in &format.pieces {
            let Piece::Conversion(conversion) = piece else { continue };
            for count in [conversion.width, conversion.precision] {
                if count == Count::Argument {
                    take(false)?;
                }
            }
            take(conversion.kind.takes_str())?;
        }
        Ok(())
    }

    fn lock(&self) -> Checked {
        match self.owner {
            Owner::Handler(_) => Ok(()),
            Owner::Function(_) => Err("locks are taken in handlers only".into()),
        }
    }
}

fn array(data: &GlobalData) -> Checked {
    if data.is_array() { Ok(()) } else { Err(format!("@{} is not an array", data.name)) }
}

fn stat(data: &GlobalData) -> Checked {
    if data.is_stat() { Ok(()) } else { Err(format!("@{} is not a statistic", data.name)) }
}

fn not_stat(data: &GlobalData) -> Checked {
    if data.is_stat() { Err(format!("@{} is a statistic", data.name)) } else { Ok(()) }
}

fn histogram(data: &GlobalData) -> Checked {
    match data.histogram {
        Some(_) => Ok(()),
        None => Err(format!("@{} has no histogram", data.name)),
    }
}
