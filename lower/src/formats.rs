//! Output and formatting.

use xlate_elaborate::Span;
use xlate_elaborate::program::{self as typed, Expr};
use xlate_ir::entities::Value;
use xlate_ir::format::{Conversion, ConversionKind, Count, Format, Piece};
use xlate_ir::instructions::Op;
use xlate_ir::intrinsics::Intrinsic;

use crate::body::BodyLowering;

impl BodyLowering<'_> {
    /// `print` and its kind.
    pub(crate) fn print(&mut self, format: &typed::Format, arguments: &[Expr], span: Span) {
        let (format, arguments) = self.format_and_values(format, arguments, span);
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
        let (format, arguments) = self.format_and_values(format, arguments, span);
        self.compute(Op::Format(format, arguments), span)
    }

    fn format_and_values(
        &mut self,
        format: &typed::Format,
        arguments: &[Expr],
        span: Span,
    ) -> (Format, Vec<Value>) {
        let mut values: Vec<Value> = arguments.iter().map(|expr| self.value(expr)).collect();
        let mut format = lower_format(format);
        self.escape(&mut format, &mut values, span);
        (format, values)
    }

    /// `%#s` prints the escaped text, which is a `%s` of another string.
    fn escape(&mut self, format: &mut Format, values: &mut [Value], span: Span) {
        let mut next = 0;
        for piece in &mut format.pieces {
            let Piece::Conversion(conversion) = piece else { continue };
            let counts = [conversion.width, conversion.precision];
            next += counts.iter().filter(|count| **count == Count::Argument).count();
            if conversion.kind == ConversionKind::Str && conversion.alternate {
                conversion.alternate = false;
                let text = Op::Intrinsic(Intrinsic::StrText, vec![values[next]]);
                values[next] = self.compute(text, span);
            }
            next += 1;
        }
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
