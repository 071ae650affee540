//! Makes one `print` of neighbouring ones, and part of its text of strings that are known.
//!
//! Assumes that `fold-formats` has made strings of all that is known, and that handlers which differ
//! in them have been merged. Guarantees that no `print` copies a string that is known, and that between
//! two of a block stands something that others can see, that may fail, or that moves an iterator.

use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::format::{Conversion, ConversionKind, Format, Piece};
use xlate_ir::instructions::Op;
use xlate_ir::types::Const;

use crate::changes::Changes;
use crate::duplicates::literal_definitions;
use crate::fold_formats::joined;
use crate::manager::BodyContext;

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let folded = fold_texts(cx);
    let mut merged = 0;
    for block in cx.body.layout.clone() {
        merged += merge_block(cx, block);
    }
    cx.log.count("strings made text", folded);
    cx.log.count("prints merged", merged);
    Changes::any(folded + merged > 0)
}

/// Has formats hold the strings that are known; gives the number of those.
fn fold_texts(cx: &mut BodyContext<'_>) -> usize {
    let body = &mut *cx.body;
    let definitions = literal_definitions(body);
    let mut folded = 0;
    for (_, inst) in body.iter_insts().collect::<Vec<_>>() {
        let (Op::Print(format, args) | Op::Format(format, args)) = &body.insts[inst].op else {
            continue;
        };
        let constant = |value: Value| match &body.insts[definitions[value.index()]?].op {
            Op::Const(Const::Str(bytes)) => Some(bytes.clone()),
            _ => None,
        };
        let plain = Piece::Conversion(Conversion::plain(ConversionKind::Str));
        let (mut pieces, mut kept) = (Vec::new(), Vec::new());
        let mut rest = args.iter().copied();
        for piece in &format.pieces {
            let taken = Format { pieces: vec![piece.clone()] }.argument_count();
            let own: Vec<Value> = rest.by_ref().take(taken).collect();
            match own.first().filter(|_| *piece == plain).and_then(|&value| constant(value)) {
                Some(text) => {
                    folded += 1;
                    pieces.push(Piece::Text(text));
                }
                None => {
                    pieces.push(piece.clone());
                    kept.extend(own);
                }
            }
        }
        let data = &mut body.insts[inst];
        if let Op::Print(format, args) | Op::Format(format, args) = &mut data.op {
            if kept.len() < args.len() {
                cx.log.detail(data.pos, || "strings that are known are part of the text here");
            }
            (*format, *args) = (Format { pieces: joined(pieces) }, kept);
        }
    }
    folded
}

/// Merges the prints of a block; gives the number of those that are gone.
fn merge_block(cx: &mut BodyContext<'_>, block: Block) -> usize {
    let mut last: Option<Inst> = None;
    let mut gone = Vec::new();
    for inst in cx.body.blocks[block].insts.clone() {
        let effects = cx.summaries.op(cx.module, &cx.body.insts[inst].op);
        match &cx.body.insts[inst].op {
            Op::Print(format, args) => {
                if let Some(before) = last
                    && let Op::Print(first, first_args) = &cx.body.insts[before].op
                {
                    let pieces = first.pieces.iter().chain(&format.pieces).cloned().collect();
                    let args = first_args.iter().chain(args).copied().collect();
                    let pos = cx.body.insts[inst].pos;
                    cx.log.detail(pos, || "this is printed together with what comes before it");
                    cx.body.insts[inst].op = Op::Print(Format { pieces: joined(pieces) }, args);
                    gone.push(before);
                }
                // What fails in the second part must not be taken for the first.
                last = (!effects.raises).then_some(inst);
            }
            _ if effects.is_removable() => {}
            _ => last = None,
        }
    }
    cx.body.blocks[block].insts.retain(|inst| !gone.contains(inst));
    gone.len()
}
