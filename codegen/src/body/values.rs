//! Expressions for values.

use xlate_ir::entities::{Handler, Inst, Value};
use xlate_ir::instructions::{BinaryOp, CompareOp, Op, StatField, UnaryOp};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::ProbePoint;
use xlate_ir::types::Const;

use super::{BodyEmitter, context};
use crate::c::expr::{Expr, Width};
use crate::fold::Home;
use crate::repr::{NAME_BYTES, Repr};
use crate::walks::Owner;

/// How deep the expression of one instruction goes before that of an operand begins, at most.
const OWN_DEPTH: u32 = 6;

impl BodyEmitter<'_> {
    /// The representation of a value.
    pub(super) fn repr(&self, value: Value) -> Repr {
        Repr::of(self.body.type_of(value))
    }

    /// A long, or a string in its own representation.
    pub(super) fn value(&mut self, value: Value) -> Expr {
        match self.folding.home(value) {
            Home::Variable => match self.locals.get(value) {
                Some(local) => Expr::atom(&local.name),
                None => Expr::Long(0),
            },
            Home::Inline => match self.folding.definition(value) {
                Some(inst) => self.operation(inst),
                None => Expr::Long(0),
            },
            Home::Nowhere => Expr::Long(0),
        }
    }

    /// A string as a view.
    pub(super) fn view(&mut self, value: Value) -> Expr {
        if let Some(Const::Str(bytes)) = self.folding.constant(self.body, value) {
            return literal_view(bytes);
        }
        if let Some(field) = self.record_field(value) {
            self.needs.record_views.insert(field);
            return Expr::atom(format!("record->f{}", field.1));
        }
        let own = self.value(value);
        match self.repr(value) {
            Repr::Name => Expr::call("xl_name_str", vec![own.address()]),
            _ => own,
        }
    }

    /// A string as a name.
    pub(super) fn name(&mut self, value: Value) -> Expr {
        if let Some(Const::Str(bytes)) = self.folding.constant(self.body, value) {
            let bytes = &bytes[..bytes.len().min(NAME_BYTES as usize)];
            return Expr::call("XL_NAME", vec![Expr::Str(bytes.to_vec())]);
        }
        let own = self.value(value);
        match self.repr(value) {
            Repr::Name => own,
            _ => Expr::call("xl_name", vec![own]),
        }
    }

    /// Whether a string is two words, or a literal that fits them.
    pub(super) fn is_words(&self, value: Value) -> bool {
        match self.folding.constant(self.body, value) {
            Some(Const::Str(bytes)) => bytes.len() <= NAME_BYTES as usize,
            _ => self.repr(value) == Repr::Name,
        }
    }

    /// The field of the constant record that a value is.
    fn record_field(&self, value: Value) -> Option<(Handler, u32)> {
        let Owner::Handler(handler) = self.owner else { return None };
        match self.body.insts[self.folding.definition(value)?].op {
            Op::Record(field) => Some((handler, field)),
            _ => None,
        }
    }

    /// A value in a representation.
    pub(super) fn value_as(&mut self, value: Value, repr: Repr) -> Expr {
        match repr {
            Repr::Long | Repr::Walk => self.value(value),
            Repr::View => self.view(value),
            Repr::Name => self.name(value),
        }
    }

    /// The expression of an instruction that is folded into its use.
    pub(super) fn operation(&mut self, inst: Inst) -> Expr {
        let outer = self.enter(inst);
        let mut expr = self.operation_here(inst);
        if let Some(pos) = self.origin {
            expr.stamp(pos, OWN_DEPTH);
        }
        self.origin = outer;
        expr
    }

    fn operation_here(&mut self, inst: Inst) -> Expr {
        let body = self.body;
        let data = &body.insts[inst];
        match &data.op {
            Op::Const(Const::Long(n)) => Expr::Long(*n),
            Op::Const(Const::Str(bytes)) => literal_view(bytes),
            Op::Record(field) => self.record(*field),
            Op::Unary(op, a) => match (op, self.value(*a)) {
                (UnaryOp::Neg, Expr::Long(n)) => Expr::Long(n.wrapping_neg()),
                (UnaryOp::Not, Expr::Long(n)) => Expr::Long(!n),
                (UnaryOp::Neg, a) => Expr::prefix("-", a.widened()),
                (UnaryOp::Not, a) => Expr::prefix("~", a.widened()),
            },
            Op::Binary(op, a, b) => self.binary(*op, *a, *b),
            Op::Compare(op, a, b) => self.compare(*op, *a, *b),
            Op::Intrinsic(intrinsic, args) => self.intrinsic(*intrinsic, args),
            Op::Match(regex, a) => {
                self.needs.regexes.insert(*regex);
                let text = self.view(*a);
                Expr::call(crate::regex::function_name(*regex), vec![text])
            }
            Op::Call(function, args) => self.script_call(*function, args, None),
            Op::Load(place) => self.load(place),
            Op::Contains(place) => {
                let found = self.find(place);
                Expr::infix("!=", found, Expr::atom("NULL"))
            }
            Op::StatGet(field, place) => self.stat_get(*field, place),
            Op::BucketCount(place) => self.bucket_count(place.global),
            Op::IterNext(walk) => self.next(*walk),
            Op::IterKey(walk, key) => self.walk_key(*walk, *key),
            Op::IterValue(walk) => self.walk_value(*walk),
            Op::IterStat(walk, field) => self.walk_stat(*walk, *field),
            _ => Expr::Long(0),
        }
    }

    /// A field of the constant record, in the representation of its type.
    fn record(&mut self, field: u32) -> Expr {
        let Owner::Handler(handler) = self.owner else { return Expr::Long(0) };
        let ty = self.facts().module.handlers[handler].record[field as usize];
        match Repr::of(ty) {
            Repr::Name => {
                self.needs.record_names.insert((handler, field));
                Expr::atom(format!("record->n{field}.name"))
            }
            Repr::View => {
                self.needs.record_views.insert((handler, field));
                Expr::atom(format!("record->f{field}"))
            }
            Repr::Long | Repr::Walk => Expr::atom(format!("record->f{field}")),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Expr {
        let constant = match self.folding.constant(self.body, b) {
            Some(Const::Long(n)) => Some(*n),
            _ => None,
        };
        let (x, y) = (self.value(a), self.value(b));
        let count = constant.map(|n| Expr::Long(n & 63));
        match op {
            BinaryOp::Add => match constant {
                Some(n) if n < 0 && n != i64::MIN => Expr::arithmetic("-", x, Expr::Long(-n)),
                _ => Expr::arithmetic("+", x, y),
            },
            BinaryOp::Sub => match constant {
                Some(n) if n < 0 && n != i64::MIN => Expr::arithmetic("+", x, Expr::Long(-n)),
                _ => Expr::arithmetic("-", x, y),
            },
            BinaryOp::Mul => Expr::arithmetic("*", x, y),
            BinaryOp::And => Expr::arithmetic("&", x, y),
            BinaryOp::Or => Expr::arithmetic("|", x, y),
            BinaryOp::Xor => Expr::arithmetic("^", x, y),
            BinaryOp::DivPlain => Expr::arithmetic("/", x, y),
            BinaryOp::RemPlain => Expr::arithmetic("%", x, y),
            BinaryOp::Div | BinaryOp::DivNonzero => match constant {
                Some(-1) => Expr::prefix("-", x.widened()),
                Some(n) if n != 0 => Expr::arithmetic("/", x, y),
                _ => Expr::call("xl_div", vec![x, y]),
            },
            BinaryOp::Rem | BinaryOp::RemNonzero => match constant {
                Some(n) if n != 0 && n != -1 => Expr::arithmetic("%", x, y),
                Some(-1) => Expr::Long(0),
                _ => Expr::call("xl_mod", vec![x, y]),
            },
            BinaryOp::Shl => match count {
                Some(n) => Expr::infix("<<", x.widened(), n),
                None if self.is_count(b) => Expr::infix("<<", x.widened(), y),
                None => Expr::call("xl_shl", vec![x, y]),
            },
            BinaryOp::Shr => match count {
                Some(n) => Expr::infix(">>", x.widened(), n),
                None if self.is_count(b) => Expr::infix(">>", x.widened(), y),
                None => Expr::call("xl_shr", vec![x, y]),
            },
            BinaryOp::Ushr => Expr::call("xl_ushr", vec![x, count.unwrap_or(y)]),
        }
    }

    /// Whether a value is masked to less than 64, as shift counts must be in C.
    fn is_count(&self, value: Value) -> bool {
        let masks = |value: Value| {
            let constant = self.folding.constant(self.body, value);
            matches!(constant, Some(Const::Long(0..=63)))
        };
        self.folding.definition(value).is_some_and(|inst| match self.body.insts[inst].op {
            Op::Binary(BinaryOp::And, a, b) => masks(a) || masks(b),
            _ => false,
        })
    }

    fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Expr {
        let sign = match op {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        };
        if self.body.type_of(a).is_str() {
            self.needs.headers.insert("strings.h");
            let words = self.is_words(a) && self.is_words(b);
            if words && matches!(op, CompareOp::Eq | CompareOp::Ne) {
                let equal = Expr::call("xl_name_equal", vec![self.name(a), self.name(b)]);
                return if op == CompareOp::Eq { equal } else { equal.negated() };
            }
            let args = vec![self.view(a), self.view(b)];
            return match op {
                CompareOp::Eq => Expr::call("xl_str_equal", args),
                CompareOp::Ne => Expr::call("xl_str_equal", args).negated(),
                _ => Expr::infix(sign, Expr::call("xl_str_compare", args), Expr::Long(0)),
            };
        }
        let (x, y) = (self.value(a), self.value(b));
        if x == y && x.is_simple() {
            // Compilers take a comparison with itself for a slip.
            let holds = matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge);
            return Expr::Long(i64::from(holds));
        }
        match (&x, &y) {
            (_, Expr::Long(n)) if x.width() == Width::Truth => compare_truth(op, x, *n),
            (Expr::Long(n), _) if y.width() == Width::Truth => compare_truth(op.swapped(), y, *n),
            _ => Expr::comparison(sign, x, y),
        }
    }

    /// A field of a scalar statistic, or of an element where no check is needed.
    fn stat_get(&mut self, field: StatField, place: &xlate_ir::instructions::Place) -> Expr {
        if place.keys.is_empty() {
            let statistic = Expr::atom(self.shared.names.global(place.global));
            return self.stat_field(&statistic, ".", field);
        }
        self.needs.headers.insert("map.h");
        let found = self.find(place);
        let name = if field == StatField::Sum { "sum" } else { "count" };
        Expr::call("xl_field", vec![found, Expr::atom(name)])
    }

    /// A field of a statistic that is not empty.
    pub(super) fn stat_field(&mut self, statistic: &Expr, dot: &str, field: StatField) -> Expr {
        let text = match statistic {
            Expr::Atom(text) => text.to_string(),
            _ => String::new(),
        };
        let member = |name: &str| Expr::atom(format!("{text}{dot}{name}"));
        match field {
            StatField::Count => member("count"),
            StatField::Sum => member("sum"),
            StatField::Min => member("min"),
            StatField::Max => member("max"),
            StatField::Avg => Expr::call("xl_div", vec![member("sum"), member("count")]),
            // The runtime computes it exactly, so bits of fraction make no difference.
            StatField::Variance(_) => {
                self.needs.headers.insert("stat.h");
                let args = vec![member("squares").address(), member("count"), member("sum")];
                Expr::call("xl_variance", args)
            }
        }
    }

    /// `pp()` and its kind: a literal where one probe point fires the handler, else from its record;
    /// in functions, from the frame, where the handler has left it.
    fn probe_text(&mut self, intrinsic: Intrinsic) -> Expr {
        self.needs.headers.insert("strings.h");
        let field = probe_field(intrinsic);
        match self.owner {
            Owner::Handler(handler) => {
                let mut points = self.facts().points(handler);
                match (points.next(), points.next()) {
                    (Some(point), None) => literal_view(probe_text(intrinsic, point).as_bytes()),
                    _ => Expr::atom(format!("record->{field}")),
                }
            }
            Owner::Function(_) => Expr::atom(format!("XL_FRAME(c)->{field}")),
        }
    }

    /// An intrinsic that is a plain expression.
    pub(super) fn intrinsic(&mut self, intrinsic: Intrinsic, args: &[Value]) -> Expr {
        match intrinsic {
            Intrinsic::Pp | Intrinsic::Pn => return self.probe_text(intrinsic),
            _ => {}
        }
        let (name, header) = super::calls::runtime_function(intrinsic);
        self.needs.headers.insert(header);
        let mut all = vec![context()];
        for &arg in args {
            let is_str = self.body.type_of(arg).is_str();
            all.push(if is_str { self.view(arg) } else { self.value(arg) });
        }
        Expr::call(name, all)
    }
}

/// A comparison of what is 0 or 1 with a literal: compilers take one for a slip.
fn compare_truth(op: CompareOp, truth: Expr, n: i64) -> Expr {
    let holds = |value: i64| match op {
        CompareOp::Eq => value == n,
        CompareOp::Ne => value != n,
        CompareOp::Lt => value < n,
        CompareOp::Le => value <= n,
        CompareOp::Gt => value > n,
        CompareOp::Ge => value >= n,
    };
    match (holds(0), holds(1)) {
        (false, true) => truth,
        (true, false) => truth.negated(),
        (both, _) => Expr::Long(i64::from(both)),
    }
}

/// The field of the record or frame that holds the text of a probe query.
pub(crate) fn probe_field(intrinsic: Intrinsic) -> &'static str {
    if intrinsic == Intrinsic::Pp { "pp" } else { "pn" }
}

/// The answer of a probe point to a probe query.
pub(crate) fn probe_text(intrinsic: Intrinsic, point: &ProbePoint) -> &str {
    if intrinsic == Intrinsic::Pp { &point.name } else { &point.written }
}

/// A view of a literal.
pub(super) fn literal_view(bytes: &[u8]) -> Expr {
    Expr::call("XL_STR", vec![Expr::Str(bytes.to_vec())])
}
