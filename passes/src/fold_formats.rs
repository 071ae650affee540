//! Formats constants when the script is translated.
//!
//! Assumes SSA form. Guarantees that `print` and `format` convert nothing that is known: what is known
//! is a string that is copied (`%s`), and neighbouring ones are one. Widths and precisions that are
//! known stand in the format. The strings do not become part of the format yet, so that handlers which
//! differ in them only can still be one; that is what `merge-prints` does.

use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::format::{Conversion, ConversionKind, Count, Format, Piece};
use xlate_ir::instructions::{InstData, Op};
use xlate_ir::module::{Body, ValueData};
use xlate_ir::render::convert;
use xlate_ir::types::{Const, Type};

use crate::changes::Changes;
use crate::duplicates::literal_definitions;
use crate::manager::BodyContext;

/// Bytes of text that one conversion may become: more are better made at run time.
const MOST_BYTES: usize = 64;

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let longest = cx.module.limits.longest_string() as usize;
    let definitions = literal_definitions(cx.body);
    let mut folded = 0;
    for (block, inst) in cx.body.iter_insts().collect::<Vec<_>>() {
        let (Op::Print(format, args) | Op::Format(format, args)) = &cx.body.insts[inst].op else {
            continue;
        };
        let constant = |value: Value| match &cx.body.insts[definitions[value.index()]?].op {
            Op::Const(constant) => Some(constant.clone()),
            _ => None,
        };
        let mut folder = Folder { longest, pieces: Vec::new(), args: Vec::new() };
        let mut rest = args.iter().copied();
        for piece in &format.pieces {
            match piece {
                Piece::Text(_) => folder.pieces.push(piece.clone()),
                Piece::Conversion(conversion) => {
                    folder.conversion(*conversion, &mut rest, &constant);
                }
            }
        }
        if folder.pieces != format.pieces {
            let pos = cx.body.insts[inst].pos;
            cx.log.detail(pos, || "what is known here is formatted when the script is translated");
            replace(cx.body, block, inst, folder);
            folded += 1;
        }
    }
    cx.log.count("formats folded", folded);
    if folded == 0 {
        return Changes::empty();
    }
    Changes::OPERATIONS | Changes::OPERANDS | Changes::DROPPED | Changes::EFFECTS
}

/// An argument of the new format.
enum Argument {
    /// A value that there is.
    Value(Value),
    /// A text that is printed as it is; the value that is that text already, if there is one.
    Text(Vec<u8>, Option<Value>),
}

struct Folder {
    longest: usize,
    pieces: Vec<Piece>,
    args: Vec<Argument>,
}

impl Folder {
    fn conversion(
        &mut self,
        mut conversion: Conversion,
        args: &mut impl Iterator<Item = Value>,
        constant: &impl Fn(Value) -> Option<Const>,
    ) {
        let mut counts = Vec::new();
        for (is_width, count) in [(true, conversion.width), (false, conversion.precision)] {
            if count != Count::Argument {
                continue;
            }
            let Some(value) = args.next() else { return };
            match constant(value) {
                Some(Const::Long(n)) if is_width => set_width(&mut conversion, n),
                Some(Const::Long(n)) => {
                    let fixed = u32::try_from(n).ok().filter(|&n| n <= 65536);
                    match (fixed, n < 0) {
                        (Some(n), _) => conversion.precision = Count::Fixed(n),
                        (None, true) => conversion.precision = Count::None,
                        (None, false) => counts.push(Argument::Value(value)),
                    }
                }
                _ => counts.push(Argument::Value(value)),
            }
        }
        let Some(value) = args.next() else { return };
        let known = constant(value).and_then(|constant| self.text(&conversion, &constant));
        match known {
            Some(text) => {
                let plain = conversion == Conversion::plain(ConversionKind::Str);
                self.add_text(text, plain.then_some(value));
            }
            None => {
                self.pieces.push(Piece::Conversion(conversion));
                self.args.append(&mut counts);
                self.args.push(Argument::Value(value));
            }
        }
    }

    /// What a conversion of a constant gives, if that is short and a string.
    fn text(&self, conversion: &Conversion, constant: &Const) -> Option<Vec<u8>> {
        let fixed = |count| match count {
            Count::None => Some(None),
            Count::Fixed(n) => Some(Some(i64::from(n))),
            Count::Argument => None,
        };
        // What lies in memory depends on the machine.
        if conversion.kind == ConversionKind::Binary {
            return None;
        }
        let text =
            convert(conversion, fixed(conversion.width)?, fixed(conversion.precision)?, constant)?;
        let own = if let Const::Str(bytes) = constant { bytes.len() } else { 0 };
        let fits = text.len() <= self.longest && text.len() <= own + MOST_BYTES;
        (fits && !text.contains(&0)).then_some(text)
    }

    /// Adds a text, to the one before it if that is one too.
    fn add_text(&mut self, text: Vec<u8>, value: Option<Value>) {
        let plain = Piece::Conversion(Conversion::plain(ConversionKind::Str));
        if text.is_empty() {
            return;
        }
        if self.pieces.last() == Some(&plain)
            && let Some(Argument::Text(before, known)) = self.args.last_mut()
            && before.len() + text.len() <= self.longest
        {
            before.extend(text);
            *known = None;
            return;
        }
        self.pieces.push(plain);
        self.args.push(Argument::Text(text, value));
    }
}

/// A width that is known: a negative one means left-justified.
fn set_width(conversion: &mut Conversion, width: i64) {
    let least = width.unsigned_abs().min(65536) as u32;
    // The number of bytes is not a width.
    if conversion.kind == ConversionKind::Binary {
        conversion.width = if width > 0 { Count::Fixed(least) } else { Count::None };
        return;
    }
    conversion.left |= width < 0;
    conversion.width = if least == 0 { Count::None } else { Count::Fixed(least) };
}

/// Gives an instruction its new format, with constants for its texts in front of it.
fn replace(body: &mut Body, block: Block, inst: Inst, folder: Folder) {
    let mut args = Vec::new();
    for arg in folder.args {
        args.push(match arg {
            Argument::Value(value) | Argument::Text(_, Some(value)) => value,
            Argument::Text(text, None) => {
                let ty = Type::Str(u32::try_from(text.len()).unwrap_or(u32::MAX));
                let value = body.values.alloc(ValueData { ty, name: None });
                let insts = &body.blocks[block].insts;
                let at = insts.iter().position(|&other| other == inst).unwrap_or(0);
                let op = Op::Const(Const::Str(text.into()));
                body.insert_inst(block, at, InstData { op, result: Some(value), pos: None });
                value
            }
        });
    }
    match &mut body.insts[inst].op {
        Op::Print(format, old) | Op::Format(format, old) => {
            *format = Format { pieces: joined(folder.pieces) };
            *old = args;
        }
        _ => {}
    }
}

/// Pieces of which no two neighbours are text.
pub(crate) fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (out.last_mut(), piece) {
            (_, Piece::Text(text)) if text.is_empty() => {}
            (Some(Piece::Text(before)), Piece::Text(text)) => {
                *before = [&before[..], &text[..]].concat().into();
            }
            (_, piece) => out.push(piece),
        }
    }
    out
}
