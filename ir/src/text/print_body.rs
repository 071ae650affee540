//! Prints bodies: blocks, instructions, terminators.

use std::fmt::{self, Write};

use super::escape::{Name, Quoted};
use crate::entities::{Block, Function, Global, Inst, Value};
use crate::instructions::{BlockCall, IterSpec, Op, Place, SortKey, Terminator};
use crate::module::{Body, Module};
use crate::types::{Const, Pos};

/// Prints one body of a module.
pub(super) struct BodyPrinter<'a, W> {
    pub(super) module: &'a Module,
    pub(super) body: &'a Body,
    pub(super) out: &'a mut W,
}

/// A constant as it stands in the text form.
pub(super) fn show_const(constant: &Const) -> String {
    match constant {
        Const::Long(n) => n.to_string(),
        Const::Str(bytes) => Quoted(bytes).to_string(),
    }
}

/// A position with a blank in front, or nothing.
pub(super) fn show_pos(pos: Option<Pos>) -> String {
    pos.map(|pos| format!(" {pos}")).unwrap_or_default()
}

/// `a, b, c`.
pub(super) fn join<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// The text form of one instruction, its position left out.
pub fn print_inst(module: &Module, body: &Body, inst: Inst) -> String {
    BodyPrinter { module, body, out: &mut String::new() }.inst_text(inst)
}

/// The text form of the terminator of a block.
pub fn print_terminator(module: &Module, body: &Body, block: Block) -> String {
    let printer = BodyPrinter { module, body, out: &mut String::new() };
    printer.terminator(&body.blocks[block].terminator)
}

impl<W: Write> BodyPrinter<'_, W> {
    /// Prints the blocks in layout order.
    pub(super) fn print(&mut self) -> fmt::Result {
        for &block in &self.body.layout {
            self.block(block)?;
        }
        Ok(())
    }

    pub(super) fn block(&mut self, block: Block) -> fmt::Result {
        let data = &self.body.blocks[block];
        write!(self.out, "{block}")?;
        if !data.params.is_empty() {
            let params = data.params.iter().map(|&param| self.definition(param));
            write!(self.out, "({})", join(params))?;
        }
        writeln!(self.out, ":")?;
        for &inst in &data.insts {
            self.inst(inst)?;
        }
        writeln!(self.out, "  {}", self.terminator(&data.terminator))
    }

    fn inst(&mut self, inst: Inst) -> fmt::Result {
        let mut line = format!("  {}", self.inst_text(inst));
        if let Some(pos) = self.body.insts[inst].pos {
            let width = line.chars().count().max(39);
            line = format!("{line:width$} {pos}");
        }
        writeln!(self.out, "{line}")
    }

    fn inst_text(&self, inst: Inst) -> String {
        let data = &self.body.insts[inst];
        let mut line = String::new();
        if let Some(result) = data.result {
            line.push_str(&self.hinted(result));
            line.push_str(" = ");
        }
        line.push_str(&self.op(&data.op));
        if let Some(result) = data.result {
            line.push_str(&format!(": {}", self.body.type_of(result)));
        }
        line
    }

    /// `v0'name`.
    fn hinted(&self, value: Value) -> String {
        match &self.body.values[value].name {
            Some(name) => format!("{value}'{}", Name(name)),
            None => value.to_string(),
        }
    }

    /// `v0'name: long`.
    fn definition(&self, value: Value) -> String {
        format!("{}: {}", self.hinted(value), self.body.type_of(value))
    }

    fn global(&self, global: Global) -> String {
        match self.module.globals.get(global) {
            Some(data) => format!("@{}", Name(&data.name)),
            None => format!("@\"?{global}\""),
        }
    }

    fn function(&self, function: Function) -> String {
        match self.module.functions.get(function) {
            Some(data) => format!("@{}", Name(&data.name)),
            None => format!("@\"?{function}\""),
        }
    }

    fn place(&self, place: &Place) -> String {
        let global = self.global(place.global);
        if place.keys.is_empty() { global } else { format!("{global}[{}]", join(&place.keys)) }
    }

    fn op(&self, op: &Op) -> String {
        let args = |head: String, args: &[Value]| {
            if args.is_empty() { head } else { format!("{head} {}", join(args)) }
        };
        let list = |args: &[Value]| {
            args.iter().map(|value| format!(", {value}")).collect::<Vec<_>>().concat()
        };
        match op {
            Op::Const(constant) => format!("const {}", show_const(constant)),
            Op::Record(field) => format!("record {field}"),
            Op::Unary(op, a) => format!("{op} {a}"),
            Op::Binary(op, a, b) => format!("{op} {a}, {b}"),
            Op::Compare(op, a, b) => format!("cmp.{op} {a}, {b}"),
            Op::Intrinsic(intrinsic, operands) => args(intrinsic.to_string(), operands),
            Op::Match(regex, a) => format!("match {regex}, {a}"),
            Op::Call(function, operands) => {
                format!("call {}({})", self.function(*function), join(operands))
            }
            Op::Load(place) => format!("load {}", self.place(place)),
            Op::Store(place, a) => format!("store {}, {a}", self.place(place)),
            Op::Update(op, place, a) => format!("update.{op} {}, {a}", self.place(place)),
            Op::Fetch(op, place, a) => format!("fetch.{op} {}, {a}", self.place(place)),
            Op::Contains(place) => format!("contains {}", self.place(place)),
            Op::Delete(place) => format!("delete {}", self.place(place)),
            Op::Clear(global) => format!("clear {}", self.global(*global)),
            Op::StatAdd(place, a) => format!("stat.add {}, {a}", self.place(place)),
            Op::StatGet(field, place) => format!("stat.{field} {}", self.place(place)),
            Op::Bucket(place, a) => format!("bucket {}, {a}", self.place(place)),
            Op::BucketCount(place) => format!("bucket.count {}", self.place(place)),
            Op::IterBegin(spec) => format!("iter.begin {}", self.iter_spec(spec)),
            Op::IterNext(iter) => format!("iter.next {iter}"),
            Op::IterKey(iter, n) => format!("iter.key {iter}, {n}"),
            Op::IterValue(iter) => format!("iter.value {iter}"),
            Op::IterStat(iter, field) => format!("iter.stat.{field} {iter}"),
            Op::IterEnd(iter) => format!("iter.end {iter}"),
            Op::Print(format, operands) => {
                format!("print {}{}", Quoted(&format.to_bytes()), list(operands))
            }
            Op::Format(format, operands) => {
                format!("format {}{}", Quoted(&format.to_bytes()), list(operands))
            }
            Op::PrintHistogram(place) => format!("print.histogram {}", self.place(place)),
            Op::Caught => "caught".into(),
            Op::Action => "action".into(),
            Op::CStatement(text) => format!("c.statement {}", Quoted(text.as_bytes())),
            Op::CExpression(text) => format!("c.expression {}", Quoted(text.as_bytes())),
            Op::Lock(locks) => {
                let locks = locks.iter().map(|(g, mode)| format!("{}:{mode}", self.global(*g)));
                format!("lock {}", join(locks))
            }
            Op::Unlock(globals) => {
                format!("unlock {}", join(globals.iter().map(|&global| self.global(global))))
            }
        }
    }

    fn iter_spec(&self, spec: &IterSpec) -> String {
        let mut text = self.global(spec.global);
        if let Some((key, descending)) = spec.sort {
            let key = match key {
                SortKey::Key(n) => format!("key({n})"),
                SortKey::Value => "value".into(),
                SortKey::Stat(field) => field.to_string(),
            };
            text += &format!(" sort {key} {}", if descending { "desc" } else { "asc" });
        }
        if !spec.slice.is_empty() {
            let keys = spec.slice.iter().map(|key| key.map_or("*".into(), |v| v.to_string()));
            text += &format!(" slice [{}]", join(keys));
        }
        if let Some(limit) = spec.limit {
            text += &format!(" limit {limit}");
        }
        text
    }

    fn terminator(&self, terminator: &Terminator) -> String {
        match terminator {
            Terminator::Jump(to) => format!("jump {}", show_call(to)),
            Terminator::Branch(condition, then, other) => {
                format!("branch {condition}, {}, {}", show_call(then), show_call(other))
            }
            Terminator::Return(None) => "ret".into(),
            Terminator::Return(Some(value)) => format!("ret {value}"),
            Terminator::Raise { message, catch, pos } => {
                let catch = catch.as_ref().map(|c| format!(", catch {}", show_call(c)));
                format!("raise {message}{}{}", catch.unwrap_or_default(), show_pos(*pos))
            }
            Terminator::Try(normal, catch) => {
                format!("try {}, {}", show_call(normal), show_call(catch))
            }
            Terminator::Unreachable => "unreachable".into(),
        }
    }
}

fn show_call(call: &BlockCall) -> String {
    if call.args.is_empty() {
        call.block.to_string()
    } else {
        format!("{}({})", call.block, join(&call.args))
    }
}
