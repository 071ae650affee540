//! Output and formatting.

use xlate_elaborate::Span;
use xlate_elaborate::program::{self as typed, Expr};
use xlate_ir::entities::Value;
use xlate_ir::format::{Conversion, ConversionKind, Count, Format, Piece};
use xlate_ir::instructions::Op;

use crate::body::BodyLowering;

impl BodyLowering<'_> {
    /// `print` and its kind.
    pub(crate) fn print(&mut self, format: &typed::Format, arguments: &[Expr], span: Span) {
        let arguments = self.values(arguments);
        let format = lower_format(format);
        if !format.pieces.is_empty() {
            self.act(Op::Print(format, arguments), span);
        }
    }

    /// `sprint` and its kind.
    pub(crate) fn format(
        &mut self,
        format: &typed::Format,
        arguments: &[Expr],
        span: Span,
    ) -> Value {
        let arguments = self.values(arguments);
        self.compute(Op::Format(lower_format(format), arguments), span)
    }

    fn values(&mut self, exprs: &[Expr]) -> Vec<Value> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }
}

/// The format as the IR wants it: texts side by side are one, and none is empty.
fn lower_format(format: &typed::Format) -> Format {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in &format.pieces {
        match piece {
            typed::Piece::Conversion(conversion) => {
                pieces.push(Piece::Conversion(lower_conversion(conversion)));
            }
            typed::Piece::Text(text) if text.is_empty() => {}
            typed::Piece::Text(text) => match pieces.last_mut() {
                Some(Piece::Text(before)) => *before = [&**before, text].concat().into(),
                _ => pieces.push(Piece::Text(text.clone().into())),
            },
        }
    }
    Format { pieces }
}

fn lower_conversion(conversion: &typed::Conversion) -> Conversion {
    Conversion {
        kind: lower_kind(conversion.kind),
        left: conversion.left,
        plus: conversion.plus,
        space: conversion.space,
        alternate: conversion.alternate,
        zero: conversion.zero,
        width: lower_count(conversion.width),
        precision: lower_count(conversion.precision),
    }
}

fn lower_count(count: typed::Count) -> Count {
    match count {
        typed::Count::None => Count::None,
        typed::Count::Fixed(n) => Count::Fixed(n),
        typed::Count::Argument => Count::Argument,
    }
}

fn lower_kind(kind: typed::ConversionKind) -> ConversionKind {
    match kind {
        typed::ConversionKind::Decimal => ConversionKind::Decimal,
        typed::ConversionKind::Unsigned => ConversionKind::Unsigned,
        typed::ConversionKind::Octal => ConversionKind::Octal,
        typed::ConversionKind::Hex => ConversionKind::Hex,
        typed::ConversionKind::HexUpper => ConversionKind::HexUpper,
        typed::ConversionKind::Pointer => ConversionKind::Pointer,
        typed::ConversionKind::Binary => ConversionKind::Binary,
        typed::ConversionKind::Char => ConversionKind::Char,
        typed::ConversionKind::Str => ConversionKind::Str,
        typed::ConversionKind::Memory => ConversionKind::Memory,
        typed::ConversionKind::MemoryHex => ConversionKind::MemoryHex,
    }
}
