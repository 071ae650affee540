//! `print`, `printf` and their kind.

use super::{Body, Elaborated, untyped};
use crate::program::{Conversion, ConversionKind, Count, Expr, ExprKind, Format, Piece};
use crate::types::Kind;
use xlate_grammar::Span;
use xlate_grammar::ast::{self, Print, PrintStyle};

impl Body<'_, '_> {
    pub(super) fn print(&mut self, print: &Print, span: Span) -> Elaborated {
        if let Some(done) = self.print_histogram(print, span) {
            return done;
        }
        let (format, args) = match &print.style {
            PrintStyle::Plain => self.print_list(&print.args, b""),
            PrintStyle::Delimited(delimiter) => {
                let bytes = self.cx.string(&delimiter.value, delimiter.span);
                self.print_list(&print.args, &bytes)
            }
            PrintStyle::Formatted { format, pieces } => {
                self.print_format(pieces, &print.args, format.span, span)
            }
        };
        let mut format = format;
        if print.newline {
            push_text(&mut format, b"\n");
        }
        if print.to_string {
            let expr = untyped(ExprKind::Format(format, args), span);
            (expr, Some(self.cx.types.known(Kind::Str, span)))
        } else {
            (untyped(ExprKind::Print(format, args), span), None)
        }
    }

    /// `print(@hist_log(x))`: a histogram is printed alone.
    fn print_histogram(&mut self, print: &Print, span: Span) -> Option<Elaborated> {
        let mut histograms = print.args.iter().filter_map(|arg| match &arg.kind {
            ast::ExprKind::Histogram(histogram) => Some(histogram),
            _ => None,
        });
        let histogram = histograms.next_back()?;
        let alone = print.args.len() == 1 && !print.newline && !print.to_string;
        if !alone || print.style != PrintStyle::Plain {
            self.cx.error(
                histogram.span,
                "a histogram can only be printed alone",
                "use `print(…)` or `println(…)` with nothing else, as a statement",
            );
            return Some(self.wrong_value(span));
        }
        Some(match self.histogram(histogram) {
            Some(place) => (untyped(ExprKind::PrintHistogram(place), span), None),
            None => self.wrong_value(span),
        })
    }

    /// The output of a line feed.
    pub(super) fn line_feed(&self, span: Span) -> Expr {
        let mut format = Format::default();
        push_text(&mut format, b"\n");
        untyped(ExprKind::Print(format, Vec::new()), span)
    }

    /// Values of any type. Their conversions are chosen when their types are known.
    fn print_list(&mut self, args: &[ast::Expr], delimiter: &[u8]) -> (Format, Vec<Expr>) {
        let mut format = Format::default();
        let mut values = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                push_text(&mut format, delimiter);
            }
            values.push(self.value(arg).0);
            format.pieces.push(Piece::Conversion(Conversion {
                kind: ConversionKind::Decimal,
                left: false,
                plus: false,
                space: false,
                alternate: false,
                zero: false,
                width: Count::None,
                precision: Count::None,
            }));
        }
        (format, values)
    }

    fn print_format(
        &mut self,
        pieces: &[ast::Piece],
        args: &[ast::Expr],
        format_span: Span,
        span: Span,
    ) -> (Format, Vec<Expr>) {
        let mut format = Format { pieces: Vec::with_capacity(pieces.len()) };
        let mut wanted: Vec<(Kind, &str)> = Vec::with_capacity(args.len());
        for piece in pieces {
            match piece {
                ast::Piece::Text(text) => {
                    let text = self.cx.string(text, format_span);
                    push_text(&mut format, &text);
                }
                ast::Piece::Directive(directive) => {
                    let conversion = conversion(directive);
                    for (count, what) in
                        [(conversion.width, "width"), (conversion.precision, "precision")]
                    {
                        if count == Count::Argument {
                            wanted.push((Kind::Long, what));
                        }
                    }
                    let kind = match conversion.kind {
                        ConversionKind::Str => Kind::Str,
                        _ => Kind::Long,
                    };
                    wanted.push((kind, letter(conversion.kind)));
                    format.pieces.push(Piece::Conversion(conversion));
                }
            }
        }
        if wanted.len() != args.len() {
            let plural = if wanted.len() == 1 { "" } else { "s" };
            let message = format!(
                "the format takes {} argument{plural}, but {} follow{}",
                wanted.len(),
                args.len(),
                if args.len() == 1 { "s" } else { "" }
            );
            let place = args.get(wanted.len()).map_or(span, |extra| extra.span);
            let label = if args.len() > wanted.len() { "one too many" } else { "too few" };
            let diagnostic = self.cx.error(place, message, label);
            *diagnostic = diagnostic.clone().with_secondary(format_span, "the format");
        }
        let mut values = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            let (value, var) = self.value(arg);
            if let Some((kind, what)) = wanted.get(at)
                && let Err(conflict) = self.cx.types.require(var, *kind, arg.span)
            {
                let message = format!(
                    "{what} takes a {kind}, but argument {} of the format is a {}",
                    at + 1,
                    conflict.left.kind
                );
                self.cx.mismatch(message, arg.span, conflict);
            }
            values.push(value);
        }
        (format, values)
    }
}

/// Adds text; adjacent texts are one piece.
fn push_text(format: &mut Format, text: &[u8]) {
    if text.is_empty() {
        return;
    }
    match format.pieces.last_mut() {
        Some(Piece::Text(last)) => last.extend_from_slice(text),
        _ => format.pieces.push(Piece::Text(text.to_vec())),
    }
}

fn conversion(directive: &xlate_grammar::format::Directive) -> Conversion {
    let count = |measure| match measure {
        ast::Measure::Default => Count::None,
        ast::Measure::Fixed(number) => Count::Fixed(number),
        ast::Measure::Dynamic => Count::Argument,
    };
    let kind = match directive.conversion {
        ast::Conversion::Binary => ConversionKind::Binary,
        ast::Conversion::Char => ConversionKind::Char,
        ast::Conversion::Signed => ConversionKind::Decimal,
        ast::Conversion::Unsigned => ConversionKind::Unsigned,
        ast::Conversion::Octal => ConversionKind::Octal,
        ast::Conversion::HexLower => ConversionKind::Hex,
        ast::Conversion::HexUpper => ConversionKind::HexUpper,
        ast::Conversion::Pointer => ConversionKind::Pointer,
        ast::Conversion::String => ConversionKind::Str,
        ast::Conversion::Memory => ConversionKind::Memory,
        ast::Conversion::MemoryHex => ConversionKind::MemoryHex,
    };
    Conversion {
        kind,
        left: directive.left,
        plus: directive.plus,
        space: directive.space,
        alternate: directive.alternate,
        zero: directive.zero,
        width: count(directive.width),
        precision: count(directive.precision),
    }
}

/// A conversion as formats spell it.
pub(crate) fn letter(kind: ConversionKind) -> &'static str {
    match kind {
        ConversionKind::Decimal => "%d",
        ConversionKind::Unsigned => "%u",
        ConversionKind::Octal => "%o",
        ConversionKind::Hex => "%x",
        ConversionKind::HexUpper => "%X",
        ConversionKind::Pointer => "%p",
        ConversionKind::Binary => "%b",
        ConversionKind::Char => "%c",
        ConversionKind::Str => "%s",
        ConversionKind::Memory => "%m",
        ConversionKind::MemoryHex => "%M",
    }
}
