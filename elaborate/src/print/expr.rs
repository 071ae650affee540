//! Expressions as text. All nested operators are in parentheses.

use super::{Locals, Printer, text};
use crate::program::{
    BinaryOp, ConversionKind, Count, Expr, ExprKind, Format, GlobalPlace, Piece, Place, StatField,
    UnaryOp,
};
use std::fmt::Write as _;

impl Printer<'_> {
    pub(super) fn expr(&self, expr: &Expr, locals: Locals<'_>) -> String {
        let nested = |inner: &Expr| self.nested_expr(inner, locals);
        match &expr.kind {
            ExprKind::Literal(literal) => literal.to_string(),
            ExprKind::Read(place) => self.place(place, locals),
            ExprKind::Assign { place, op, value } => format!(
                "{} {}= {}",
                self.place(place, locals),
                op.map_or("", operator),
                self.expr(value, locals)
            ),
            ExprKind::Step { place, by, post } => {
                let (place, sign) = (self.place(place, locals), if *by < 0 { "--" } else { "++" });
                if *post { format!("{place}{sign}") } else { format!("{sign}{place}") }
            }
            ExprKind::Accumulate { place, value } => {
                format!("{} <<< {}", self.global_place(place, locals), self.expr(value, locals))
            }
            ExprKind::Unary(op, operand) => {
                let sign = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "~",
                    UnaryOp::LogicalNot => "!",
                };
                // Two signs would be another operator.
                match &operand.kind {
                    ExprKind::Literal(_) => format!("{sign}({})", self.expr(operand, locals)),
                    _ => format!("{sign}{}", nested(operand)),
                }
            }
            ExprKind::Binary(op, left, right) => {
                format!("{} {} {}", nested(left), operator(*op), nested(right))
            }
            ExprKind::And(left, right) => format!("{} && {}", nested(left), nested(right)),
            ExprKind::Or(left, right) => format!("{} || {}", nested(left), nested(right)),
            ExprKind::Conditional(condition, then, otherwise) => {
                format!("{} ? {} : {}", nested(condition), nested(then), nested(otherwise))
            }
            ExprKind::In { array, keys } => {
                let name = &self.program.globals[*array].name;
                format!("[{}] in {name}", self.slice(keys, locals))
            }
            ExprKind::Match { text: subject, regex, negated } => {
                let pattern = text(&self.program.regexes[*regex].pattern);
                let op = if *negated { "!~" } else { "=~" };
                format!("{} {op} \"{pattern}\"", nested(subject))
            }
            ExprKind::Call(function, args) => {
                let name = &self.program.functions[*function].name;
                format!("{name}({})", self.list(args, locals))
            }
            ExprKind::Stat(field, place) => {
                let place = self.global_place(place, locals);
                match field {
                    StatField::Variance(shift) if *shift > 0 => {
                        format!("@variance({place}, {shift})")
                    }
                    _ => format!("{}({place})", stat_name(*field)),
                }
            }
            ExprKind::Bucket(place, index) => {
                format!("@hist({})[{}]", self.global_place(place, locals), self.expr(index, locals))
            }
            ExprKind::Print(format, args) => self.formatted("printf", format, args, locals),
            ExprKind::Format(format, args) => self.formatted("sprintf", format, args, locals),
            ExprKind::PrintHistogram(place) => {
                format!("print(@hist({}))", self.global_place(place, locals))
            }
            ExprKind::EmbeddedC(code) => format!("%{{{}%}}", code.text),
        }
    }

    fn nested_expr(&self, expr: &Expr, locals: Locals<'_>) -> String {
        let text = self.expr(expr, locals);
        match expr.kind {
            ExprKind::Assign { .. }
            | ExprKind::Accumulate { .. }
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::And(..)
            | ExprKind::Or(..)
            | ExprKind::Conditional(..)
            | ExprKind::In { .. }
            | ExprKind::Match { .. } => format!("({text})"),
            _ => text,
        }
    }

    fn list(&self, exprs: &[Expr], locals: Locals<'_>) -> String {
        exprs.iter().map(|expr| self.expr(expr, locals)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn slice(&self, keys: &[Option<Expr>], locals: Locals<'_>) -> String {
        let key = |key: &Option<Expr>| match key {
            Some(expr) => self.expr(expr, locals),
            None => "*".into(),
        };
        keys.iter().map(key).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn place(&self, place: &Place, locals: Locals<'_>) -> String {
        match place {
            Place::Local(local) => locals[*local].name.clone(),
            Place::Global(place) => self.global_place(place, locals),
        }
    }

    pub(super) fn global_place(&self, place: &GlobalPlace, locals: Locals<'_>) -> String {
        let name = &self.program.globals[place.global].name;
        match place.keys.as_slice() {
            [] => name.clone(),
            keys => format!("{name}[{}]", self.list(keys, locals)),
        }
    }

    fn formatted(&self, name: &str, format: &Format, args: &[Expr], locals: Locals<'_>) -> String {
        let mut out = format!("{name}(\"{}\"", format_text(format));
        for arg in args {
            let _ = write!(out, ", {}", self.expr(arg, locals));
        }
        out.push(')');
        out
    }
}

/// The format as a script would write it between quotes.
fn format_text(format: &Format) -> String {
    let mut out = String::new();
    for piece in &format.pieces {
        match piece {
            Piece::Text(bytes) => out.push_str(&text(bytes).replace('%', "%%")),
            Piece::Conversion(conversion) => {
                out.push('%');
                for (set, flag) in [
                    (conversion.left, '-'),
                    (conversion.plus, '+'),
                    (conversion.space, ' '),
                    (conversion.alternate, '#'),
                    (conversion.zero, '0'),
                ] {
                    if set {
                        out.push(flag);
                    }
                }
                let count = |count| match count {
                    Count::None => String::new(),
                    Count::Fixed(number) => number.to_string(),
                    Count::Argument => "*".into(),
                };
                out.push_str(&count(conversion.width));
                if conversion.precision != Count::None {
                    let _ = write!(out, ".{}", count(conversion.precision));
                }
                out.push_str(letter(conversion.kind));
            }
        }
    }
    out
}

fn letter(kind: ConversionKind) -> &'static str {
    crate::body::letter(kind).trim_start_matches('%')
}

/// The operator that asks for a field.
pub(super) fn stat_name(field: StatField) -> &'static str {
    match field {
        StatField::Count => "@count",
        StatField::Sum => "@sum",
        StatField::Min => "@min",
        StatField::Max => "@max",
        StatField::Avg => "@avg",
        StatField::Variance(_) => "@variance",
    }
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Ushr => ">>>",
        BinaryOp::Concat => ".",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
    }
}
