//! Printing: formats become one call for each piece.

use xlate_ir::entities::{Inst, Value};
use xlate_ir::format::{Conversion, ConversionKind, Count, Format, Piece};
use xlate_ir::types::{Const, Pos};

use super::calls::raised;
use super::{BodyEmitter, context};
use crate::c::expr::Expr;
use crate::c::stmt::Stmt;

/// Bytes of the longest number, and those that a name takes while it is written.
const LONGEST_NUMBER: i64 = 20;
const NAME_ROOM: i64 = 16;

/// Bytes that are made room for at once, at most: what is not used of them is lost at a ring's end.
const LARGEST_GROUP: i64 = 256;

/// Blanks in a literal, at most: more are better made at run time.
const LARGEST_PADDING: usize = 64;

impl BodyEmitter<'_> {
    pub(super) fn print(&mut self, format: &Format, args: &[Value], pos: Option<Pos>) {
        match self.bound(format, args) {
            Some(bound) => self.put_all(format, args, bound),
            None => self.append_all(format, args, pos, &[]),
        }
    }

    /// The most bytes that a print writes, if its pieces are literals, plain numbers and names.
    fn bound(&self, format: &Format, args: &[Value]) -> Option<i64> {
        let mut args = args.iter();
        let mut bound = 0;
        let mut values = 0;
        for piece in &format.pieces {
            bound += match piece {
                Piece::Text(bytes) => i64::try_from(bytes.len()).ok()?,
                Piece::Conversion(conversion) => {
                    let arg = *args.next()?;
                    let is_constant = self.folding.constant(self.body, arg).is_some();
                    values += 1;
                    match conversion.kind {
                        _ if !is_plain(conversion) || is_constant => return None,
                        ConversionKind::Decimal => LONGEST_NUMBER,
                        ConversionKind::Str if self.is_words(arg) => NAME_ROOM,
                        _ => return None,
                    }
                }
            };
        }
        (values > 0 && bound <= LARGEST_GROUP).then_some(bound)
    }

    /// Makes room once for all pieces, which then need not look for it.
    fn put_all(&mut self, format: &Format, args: &[Value], bound: i64) {
        self.needs.headers.insert("output.h");
        let mut args = args.iter();
        let mut then = Vec::new();
        for piece in &format.pieces {
            let (function, value) = match piece {
                Piece::Text(bytes) if bytes.is_empty() => continue,
                Piece::Text(bytes) => ("xl_put", Expr::Str(bytes.to_vec())),
                Piece::Conversion(conversion) => {
                    let Some(&arg) = args.next() else { continue };
                    match conversion.kind {
                        ConversionKind::Str => ("xl_put_name", self.name(arg)),
                        _ => ("xl_put_long", self.value(arg)),
                    }
                }
            };
            then.push(Stmt::call(function, vec![context(), value]));
        }
        let cond = Expr::call("xl_print_room_for", vec![context(), Expr::Long(bound)]);
        self.push(Stmt::If { cond, then, otherwise: Vec::new() });
    }

    /// `sprintf`: what is printed meanwhile goes to the place of the result.
    pub(super) fn format(&mut self, inst: Inst, format: &Format, args: &[Value], pos: Option<Pos>) {
        self.needs.headers.insert("output.h");
        let place = self.destination(inst);
        let saved = self.helper("struct xl_output", "saved").address();
        self.call("xl_sprint_begin", vec![context(), saved.clone(), place.clone()]);
        let end = Expr::call("xl_sprint_end", vec![context(), saved, place]);
        self.append_all(format, args, pos, &[Stmt::Expr(end.clone())]);
        self.assign_text(inst, end);
    }

    /// Appends all pieces; `undo` is done before leaving by an error.
    fn append_all(&mut self, format: &Format, args: &[Value], pos: Option<Pos>, undo: &[Stmt]) {
        self.needs.headers.insert("output.h");
        let mut args = args.iter().copied();
        for piece in &format.pieces {
            match piece {
                Piece::Text(bytes) => self.literal(bytes),
                Piece::Conversion(conversion) => {
                    let width = self.count(conversion.width, &mut args);
                    let precision = self.count(conversion.precision, &mut args);
                    if let Some(arg) = args.next() {
                        self.conversion(conversion, width, precision, arg, pos, undo);
                    }
                }
            }
        }
    }

    fn literal(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.call("xl_print", vec![context(), Expr::Str(bytes.to_vec())]);
        }
    }

    fn count(&mut self, count: Count, args: &mut impl Iterator<Item = Value>) -> Option<Expr> {
        match count {
            Count::None => None,
            Count::Fixed(n) => Some(Expr::Long(i64::from(n))),
            Count::Argument => args.next().map(|arg| self.value(arg)),
        }
    }

    fn conversion(
        &mut self,
        conversion: &Conversion,
        width: Option<Expr>,
        precision: Option<Expr>,
        arg: Value,
        pos: Option<Pos>,
        undo: &[Stmt],
    ) {
        let plain = width.is_none() && precision.is_none() && flags(conversion).is_empty();
        let constant = self.folding.constant(self.body, arg).cloned();
        match (conversion.kind, constant) {
            // What is known is text.
            (ConversionKind::Str, Some(Const::Str(bytes))) if plain => {
                return self.literal(&bytes);
            }
            (ConversionKind::Str, Some(Const::Str(bytes))) => {
                if let Some(text) = padded(conversion, &bytes) {
                    return self.literal(&text);
                }
            }
            (ConversionKind::Decimal, Some(Const::Long(n))) if plain => {
                return self.literal(n.to_string().as_bytes());
            }
            (ConversionKind::Str, _) if plain => {
                let text = self.view(arg);
                return self.call("xl_print_str", vec![context(), text]);
            }
            (ConversionKind::Decimal, _) if plain => {
                let value = self.value(arg);
                return self.call("xl_print_long", vec![context(), value]);
            }
            _ => {}
        }
        self.needs.headers.insert("format.h");
        let width = width.unwrap_or(Expr::Long(0));
        let precision = precision.unwrap_or(Expr::Long(-1));
        let words = flags(conversion);
        let value = if conversion.kind.takes_str() { self.view(arg) } else { self.value(arg) };
        match conversion.kind {
            ConversionKind::Str => {
                let args = vec![context(), value, any_of(&words), width, precision];
                self.call("xl_print_string", args);
            }
            ConversionKind::Char => {
                self.call("xl_print_char", vec![context(), value, any_of(&words), width]);
            }
            ConversionKind::Binary => self.call("xl_print_binary", vec![context(), value, width]),
            ConversionKind::Memory | ConversionKind::MemoryHex => {
                let mut words = words;
                if conversion.kind == ConversionKind::MemoryHex {
                    words.insert(0, "XL_HEX");
                }
                let place = self.place_of(pos);
                let args = vec![context(), value, any_of(&words), width, precision, place];
                self.call("xl_print_memory", args);
                self.check(raised(), undo.to_vec());
            }
            number => {
                let mut words = words;
                words.insert(0, kind_word(number));
                let args = vec![context(), value, any_of(&words), width, precision];
                self.call("xl_print_number", args);
            }
        }
    }
}

/// Whether a conversion has no flags, width or precision.
fn is_plain(conversion: &Conversion) -> bool {
    let counts = [conversion.width, conversion.precision];
    counts.iter().all(|count| matches!(count, Count::None)) && flags(conversion).is_empty()
}

/// A literal as a conversion with a fixed width and precision prints it.
fn padded(conversion: &Conversion, text: &[u8]) -> Option<Vec<u8>> {
    let fixed = |count| match count {
        Count::None => Some(None),
        Count::Fixed(n) => Some(usize::try_from(n).ok()),
        Count::Argument => None,
    };
    let (width, precision) = (fixed(conversion.width)?, fixed(conversion.precision)?);
    let text = &text[..text.len().min(precision.unwrap_or(text.len()))];
    let blanks = width.unwrap_or(0).saturating_sub(text.len());
    if blanks > LARGEST_PADDING {
        return None;
    }
    let blanks = vec![b' '; blanks];
    Some(if conversion.left { [text, &blanks].concat() } else { [&blanks, text].concat() })
}

fn kind_word(kind: ConversionKind) -> &'static str {
    match kind {
        ConversionKind::Unsigned => "XL_UNSIGNED",
        ConversionKind::Octal => "XL_OCTAL",
        ConversionKind::Hex => "XL_HEX",
        ConversionKind::HexUpper => "XL_UPPER_HEX",
        ConversionKind::Pointer => "XL_POINTER",
        _ => "XL_DECIMAL",
    }
}

fn flags(conversion: &Conversion) -> Vec<&'static str> {
    let all = [
        (conversion.left, "XL_LEFT"),
        (conversion.zero, "XL_ZERO"),
        (conversion.plus, "XL_PLUS"),
        (conversion.space, "XL_SPACE"),
        (conversion.alternate, "XL_ALTERNATE"),
    ];
    all.into_iter().filter(|(set, _)| *set).map(|(_, word)| word).collect()
}

fn any_of(words: &[&'static str]) -> Expr {
    let mut words = words.iter();
    match words.next() {
        None => Expr::Long(0),
        Some(first) => {
            words.fold(Expr::atom(*first), |all, word| Expr::infix("|", all, Expr::atom(*word)))
        }
    }
}
