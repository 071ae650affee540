//! Globals: scalars, statistics, array elements.

use xlate_ir::entities::{Global, Inst, Value};
use xlate_ir::instructions::{FetchOp, Place, StatField, UpdateOp};
use xlate_ir::sharing::Side;
use xlate_ir::types::{ElementType, Histogram, Pos};

use super::{BodyEmitter, context};
use crate::c::expr::Expr;
use crate::c::stmt::Stmt;
use crate::facts::Field;
use crate::repr::{self, Repr};

impl BodyEmitter<'_> {
    /// The address of the key that a place names, for the functions of its array.
    fn key(&mut self, place: &Place) -> Expr {
        if let Some(entry) = self.current_key(place) {
            return Expr::atom(entry).address();
        }
        let global = &self.facts().module.globals[place.global];
        let name = self.shared.names.global(place.global).to_owned();
        let words = is_words(&global.keys);
        let fields = place
            .keys
            .iter()
            .zip(&global.keys)
            .map(|(&key, &ty)| self.value_as(key, Repr::of(ty)))
            .collect();
        let struct_name = if words { "key" } else { "lookup" };
        Expr::Braces(format!("(struct {name}_{struct_name})").into(), fields).address()
    }

    fn array_call(&mut self, function: &str, place: &Place) -> Expr {
        self.needs.headers.insert("map.h");
        let key = self.key(place);
        let name = self.shared.names.global(place.global);
        Expr::call(format!("{name}_{function}"), vec![key])
    }

    /// The side of a global that this body is on; `None` if it is not sharded.
    fn side(&self, global: Global) -> Option<Side> {
        self.facts().side(self.owner, global)
    }

    /// The address of this CPU's shard of a statistic or an array.
    fn shard(&mut self, global: Global) -> Expr {
        self.needs.headers.insert("shard.h");
        let name = self.shared.names.global(global);
        let shards = if self.facts().lock_of(global).is_some() { "GUARDED" } else { "SHARDS" };
        Expr::atom(format!("XL_{shards}(c)->{name}")).address()
    }

    /// A pointer to the value of an element, or NULL.
    pub(super) fn find(&mut self, place: &Place) -> Expr {
        self.array_call("find", place)
    }

    /// The value of a scalar or of an element.
    pub(super) fn load(&mut self, place: &Place) -> Expr {
        let element = self.facts().module.globals[place.global].element;
        let repr = element.value_type().map_or(Repr::Long, Repr::of);
        if place.keys.is_empty() {
            let name = Expr::atom(self.shared.names.global(place.global));
            if self.facts().is_atomic(self.owner, place.global) {
                self.needs.headers.insert("lone.h");
                return Expr::call("xl_lone_get", vec![name.address()]);
            }
            return match repr {
                Repr::View => Expr::call("xl_str", vec![name.address()]),
                _ => name,
            };
        }
        let found = self.find(place);
        let function = if repr == Repr::View { "xl_value_str" } else { "xl_value" };
        Expr::call(function, vec![found])
    }

    /// Assigns what a load gives to its variable.
    pub(super) fn load_statement(&mut self, inst: Inst, value: Expr) {
        let place = self
            .result_of(inst)
            .and_then(|(result, _)| self.locals.get(result))
            .filter(|local| local.repr == Repr::View)
            .and_then(|local| local.place.clone());
        let copied = self.body.insts[inst]
            .result
            .is_some_and(|result| self.copied.contains(xlate_ir::entities::Entity::index(result)));
        match place {
            Some(place) if copied => {
                let set = Expr::call("xl_set", vec![Expr::atom(place.address), value]);
                self.assign(inst, set);
            }
            _ => self.assign(inst, value),
        }
    }

    /// Finds or makes an element; gives a variable that points to its value.
    fn put(&mut self, place: &Place, pos: Option<Pos>) -> Expr {
        let global = &self.facts().module.globals[place.global];
        let name = self.shared.names.global(place.global).to_owned();
        let longest = self.facts().module.limits.longest_string();
        let ty = format!("{} *", repr::element_type(&name, global.element, longest));
        let purpose = if global.is_stat() { "s" } else { "v" };
        let pointer = self.helper(&ty, purpose);
        let call = match self.side(place.global) {
            Some(Side::Shard) => {
                let key = self.key(place);
                Expr::call(format!("{name}_shard_put"), vec![self.shard(place.global), key])
            }
            _ => self.array_call("put", place),
        };
        self.push(Stmt::Assign(pointer.clone(), call));
        if !global.wrap {
            let script_name = global.name.clone();
            let full = Expr::call("XL_FULL", vec![Expr::Str(script_name.into_bytes())]);
            let args = vec![context(), full, self.place_of(pos)];
            let missing = pointer.clone().negated();
            self.check(missing, vec![Stmt::call("xl_raise", args)]);
        }
        pointer
    }

    /// The target of an assignment to a scalar or an element.
    fn target(&mut self, place: &Place, pos: Option<Pos>) -> Expr {
        if place.keys.is_empty() {
            return Expr::atom(self.shared.names.global(place.global));
        }
        Expr::prefix("*", self.put(place, pos))
    }

    pub(super) fn store(&mut self, place: &Place, value: Value, pos: Option<Pos>) {
        let element = self.facts().module.globals[place.global].element;
        if self.facts().is_atomic(self.owner, place.global) {
            let value = self.value(value);
            return self.atomic("set", place.global, value);
        }
        let target = self.target(place, pos);
        match element.value_type().map(Repr::of) {
            Some(Repr::View) => {
                let text = self.view(value);
                let address = match target {
                    Expr::Prefix("*", pointer) => *pointer,
                    other => other.address(),
                };
                self.needs.headers.insert("strings.h");
                self.call("xl_set", vec![address, text]);
            }
            Some(Repr::Name) => {
                let name = self.name(value);
                self.push(Stmt::Assign(target, name));
            }
            _ => {
                let value = self.value(value);
                self.push(Stmt::Assign(target, value));
            }
        }
    }

    /// One atomic operation on a lone integer.
    fn atomic(&mut self, word: &str, global: Global, value: Expr) {
        self.needs.headers.insert("lone.h");
        let name = Expr::atom(self.shared.names.global(global));
        self.call(&format!("xl_lone_{word}"), vec![name.address(), value]);
    }

    pub(super) fn update(&mut self, op: UpdateOp, place: &Place, value: Value, pos: Option<Pos>) {
        let word = crate::shards::update_word(op);
        if self.facts().is_atomic(self.owner, place.global) {
            let value = self.value(value);
            return self.atomic(word, place.global, value);
        }
        if place.keys.is_empty() && self.side(place.global) == Some(Side::Shard) {
            self.needs.headers.insert("shard.h");
            let value = self.value(value);
            let name = Expr::atom(self.shared.names.global(place.global));
            return self.call(&format!("xl_shard_{word}"), vec![name, value]);
        }
        let target = self.target(place, pos);
        let value = self.value(value);
        let new = match op {
            UpdateOp::Add => match value {
                Expr::Long(n) if n < 0 && n != i64::MIN => {
                    Expr::arithmetic("-", target.clone(), Expr::Long(-n))
                }
                value => Expr::arithmetic("+", target.clone(), value),
            },
            UpdateOp::Or => Expr::arithmetic("|", target.clone(), value),
            UpdateOp::Min => least("min_t", target.clone(), value),
            UpdateOp::Max => least("max_t", target.clone(), value),
        };
        self.push(Stmt::Assign(target, new));
    }

    /// Writes a scalar and gives its variable what was there.
    pub(super) fn fetch(&mut self, inst: Inst, op: FetchOp, global: Global, value: Value) {
        let name = Expr::atom(self.shared.names.global(global));
        let value = self.value(value);
        if self.facts().is_atomic(self.owner, global) {
            self.needs.headers.insert("lone.h");
            let word = match op {
                FetchOp::Add => "fetch_add",
                FetchOp::Exchange => "exchange",
            };
            let call = Expr::call(format!("xl_lone_{word}"), vec![name.address(), value]);
            return self.assign(inst, call);
        }
        let is_literal = matches!(value, Expr::Long(_));
        let mut new = match op {
            FetchOp::Add => Expr::arithmetic("+", name.clone(), value),
            FetchOp::Exchange => value,
        };
        if self.result_of(inst).is_some() {
            // What is read may go where an operand of the new value lies.
            if !is_literal {
                let next = self.helper("s64", "next");
                self.push(Stmt::Assign(next.clone(), new));
                new = next;
            }
            self.assign(inst, name.clone());
        }
        self.push(Stmt::Assign(name, new));
    }

    /// Deletes an element, empties a statistic, zeroes a scalar.
    pub(super) fn delete(&mut self, place: &Place) {
        if !place.keys.is_empty() {
            let call = self.array_call("delete", place);
            self.push(Stmt::Expr(call));
            return;
        }
        let name = Expr::atom(self.shared.names.global(place.global));
        if self.facts().is_atomic(self.owner, place.global) {
            return self.atomic("set", place.global, Expr::Long(0));
        }
        match self.facts().module.globals[place.global].element {
            ElementType::Long => self.push(Stmt::Assign(name, Expr::Long(0))),
            ElementType::Str(bound) if bound > repr::NAME_BYTES => {
                let empty = super::values::literal_view(b"");
                self.call("xl_set", vec![name.address(), empty]);
            }
            ElementType::Str(_) | ElementType::Stat => {
                let size = Expr::call("sizeof", vec![name.clone()]);
                self.call("memset", vec![name.address(), Expr::Long(0), size]);
            }
        }
    }

    pub(super) fn clear(&mut self, global: Global) {
        self.needs.headers.insert("map.h");
        let name = self.shared.names.global(global);
        self.call(&format!("{name}_clear"), Vec::new());
    }

    /// `<<<`.
    pub(super) fn stat_add(&mut self, place: &Place, value: Value, pos: Option<Pos>) {
        let global = place.global;
        let is_shard = self.side(global) == Some(Side::Shard);
        let (statistic, dot) = if place.keys.is_empty() && is_shard {
            let name = self.shared.names.global(global).to_owned();
            let pointer = self.helper(&format!("struct {name}_stat *"), "s");
            let shard = self.shard(global);
            self.push(Stmt::Assign(pointer.clone(), shard));
            (pointer, "->")
        } else if place.keys.is_empty() {
            (Expr::atom(self.shared.names.global(global)), ".")
        } else {
            (self.put(place, pos), "->")
        };
        let text = match &statistic {
            Expr::Atom(text) => text.to_string(),
            _ => String::new(),
        };
        let member = |name: &str| Expr::atom(format!("{text}{dot}{name}"));
        let pointer = || if dot == "." { statistic.clone().address() } else { statistic.clone() };
        let fields = self.facts().fields(global).clone();
        let value = self.value(value);
        if fields.contains(&Field::Min) {
            self.needs.headers.insert("stat.h");
            self.call("xl_stat_min", vec![pointer(), value.clone()]);
        }
        if fields.contains(&Field::Max) {
            self.needs.headers.insert("stat.h");
            self.call("xl_stat_max", vec![pointer(), value.clone()]);
        }
        self.push(increment(member("count"), Expr::Long(1)));
        if fields.contains(&Field::Sum) {
            self.push(increment(member("sum"), value.clone()));
        }
        if fields.contains(&Field::Squares) {
            self.needs.headers.insert("stat.h");
            self.call("xl_squares_add", vec![member("squares").address(), value.clone()]);
        }
        if let Some(histogram) = self.facts().module.globals[global].histogram {
            let bucket = self.bucket_of(histogram, value);
            let cell = Expr::atom(format!(
                "{text}{dot}histogram[{}]",
                crate::c::layout::flat(&bucket, crate::c::expr::Binding::LOWEST)
            ));
            self.push(increment(cell, Expr::Long(1)));
        }
    }

    fn bucket_of(&mut self, histogram: Histogram, value: Expr) -> Expr {
        self.needs.headers.insert("stat.h");
        match histogram {
            Histogram::Log => Expr::call("xl_log_bucket", vec![value]),
            Histogram::Linear { low, high, width } => Expr::call(
                "xl_linear_bucket",
                vec![value, Expr::Long(low), Expr::Long(high), Expr::Long(width)],
            ),
        }
    }

    /// A field of a statistic that must not be empty.
    pub(super) fn stat_get_checked(
        &mut self,
        inst: Inst,
        field: StatField,
        place: &Place,
        pos: Option<Pos>,
    ) {
        let (statistic, dot, empty) = self.checked_statistic(place);
        if !matches!(field, StatField::Count | StatField::Sum) {
            let raise = self.raise("empty aggregate", pos);
            self.check(empty, vec![raise]);
        }
        let value = self.stat_field(&statistic, dot, field);
        self.assign(inst, value);
    }

    /// The check alone, for a scalar statistic whose field is read where it is used.
    pub(super) fn stat_check(&mut self, place: &Place, pos: Option<Pos>) {
        let (_, _, empty) = self.checked_statistic(place);
        let raise = self.raise("empty aggregate", pos);
        self.check(empty, vec![raise]);
    }

    /// A statistic, how its members are named, and the condition that it is empty.
    fn checked_statistic(&mut self, place: &Place) -> (Expr, &'static str, Expr) {
        let name = self.shared.names.global(place.global).to_owned();
        if place.keys.is_empty() {
            let count = Expr::atom(format!("{name}.count"));
            return (Expr::atom(name), ".", count.negated());
        }
        let pointer = self.helper(&format!("struct {name}_stat *"), "s");
        let found = self.find(place);
        self.push(Stmt::Assign(pointer.clone(), found));
        let missing = pointer.clone().negated();
        (pointer, "->", missing)
    }

    pub(super) fn bucket_count(&mut self, global: Global) -> Expr {
        match self.facts().module.globals[global].histogram {
            Some(Histogram::Linear { low, high, width }) => Expr::call(
                "XL_LINEAR_BUCKETS",
                vec![Expr::Long(low), Expr::Long(high), Expr::Long(width)],
            ),
            _ => Expr::atom("XL_LOG_BUCKETS"),
        }
    }

    /// The number of values in a bucket.
    pub(super) fn bucket(&mut self, inst: Inst, place: &Place, index: Value, pos: Option<Pos>) {
        self.needs.headers.insert("stat.h");
        let index = self.value(index);
        let count = self.bucket_count(place.global);
        let outside = Expr::infix(
            "||",
            Expr::comparison("<", index.clone(), Expr::Long(0)),
            Expr::comparison(">=", index.clone(), count),
        );
        let raise = self.raise("no such bucket", pos);
        self.check(outside, vec![raise]);
        let index = crate::c::layout::flat(&index, crate::c::expr::Binding::LOWEST);
        let value = if place.keys.is_empty() {
            let name = self.shared.names.global(place.global);
            Expr::atom(format!("{name}.histogram[{index}]"))
        } else {
            let found = self.find(place);
            Expr::call("xl_field", vec![found, Expr::atom(format!("histogram[{index}]"))])
        };
        self.assign(inst, value);
    }

    /// Draws the histogram of a statistic.
    pub(super) fn print_histogram(&mut self, place: &Place, pos: Option<Pos>) {
        self.needs.headers.extend(["histogram.h", "output.h"]);
        let _ = pos;
        let (statistic, dot, empty) = self.checked_statistic(place);
        let text = match &statistic {
            Expr::Atom(text) => text.to_string(),
            _ => String::new(),
        };
        let mut args = vec![context(), Expr::atom(format!("{text}{dot}histogram"))];
        let function = match self.facts().module.globals[place.global].histogram {
            Some(Histogram::Linear { low, high, width }) => {
                args.extend([Expr::Long(low), Expr::Long(high), Expr::Long(width)]);
                "xl_print_linear_histogram"
            }
            _ => "xl_print_log_histogram",
        };
        let draw = Stmt::call(function, args);
        if place.keys.is_empty() {
            self.push(draw);
        } else {
            self.push(Stmt::If { cond: empty.negated(), then: vec![draw], otherwise: Vec::new() });
        }
    }
}

/// `target += value`.
pub(super) fn increment(target: Expr, value: Expr) -> Stmt {
    let sum = Expr::arithmetic("+", target.clone(), value);
    Stmt::Assign(target, sum)
}

fn least(function: &str, target: Expr, value: Expr) -> Expr {
    Expr::call(function, vec![Expr::atom("s64"), target, value])
}

/// Whether all keys are compared as words.
pub(crate) fn is_words(keys: &[xlate_ir::types::Type]) -> bool {
    keys.iter().all(|&key| Repr::of(key) != Repr::View)
}
