//! Expressions.

use super::Printer;
use crate::ast::*;

fn level(e: &Expr) -> Level {
    match &e.kind {
        ExprKind::Assign { .. } => Level::Assign,
        ExprKind::Ternary { .. } => Level::Ternary,
        ExprKind::Binary { op, .. } => op.level(),
        ExprKind::In { .. } => Level::Membership,
        ExprKind::Match { .. } => Level::Comparison,
        ExprKind::Unary { .. } => Level::Unary,
        ExprKind::Crement { .. } => Level::Crement,
        ExprKind::Target(target) if target.address_of => Level::Address,
        _ => Level::Postfix,
    }
}

impl Printer {
    pub(super) fn expression(&mut self, e: &Expr) {
        self.at_least(e, Level::Assign);
    }

    /// In parentheses, if it holds together less tightly than needed.
    fn at_least(&mut self, e: &Expr, needed: Level) {
        if level(e) >= needed {
            return self.bare(e);
        }
        self.put("(");
        self.bare(e);
        self.put(")");
    }

    fn bare(&mut self, e: &Expr) {
        match &e.kind {
            // Negative values come from literals of 2^63 and above.
            ExprKind::Number(number) => self.write(format_args!("{}", *number as u64)),
            ExprKind::String(string) => self.write(format_args!("\"{string}\"")),
            ExprKind::EmbeddedC(code) => self.embedded(code),
            ExprKind::Name(name) => self.put(name),
            ExprKind::Call { name, args } => {
                self.put(&name.name);
                self.arguments(args);
            }
            ExprKind::Index { base, keys } => {
                self.indexable(base);
                self.keys(keys);
            }
            ExprKind::In { keys, array } => self.membership(keys, array),
            ExprKind::Unary { op, operand } => self.unary(*op, operand),
            ExprKind::Crement { op, prefix, target } => {
                let sign = match op {
                    CrementOp::Increment => "++",
                    CrementOp::Decrement => "--",
                };
                if *prefix {
                    self.put(sign);
                }
                self.at_least(target, Level::Address);
                if !prefix {
                    self.put(sign);
                }
            }
            ExprKind::Binary { op, left, right } => {
                let level = op.level();
                self.at_least(left, level);
                self.write(format_args!(" {} ", binary_name(*op)));
                self.at_least(right, level.tighter());
            }
            ExprKind::Match { subject, pattern, negated } => {
                self.at_least(subject, Level::Shift);
                self.put(if *negated { " !~ " } else { " =~ " });
                self.string(pattern);
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                self.at_least(condition, Level::Or);
                self.put(" ? ");
                self.expression(then);
                self.put(" : ");
                self.at_least(otherwise, Level::Ternary);
            }
            ExprKind::Assign { op, target, value } => {
                self.at_least(target, Level::Ternary);
                self.write(format_args!(" {} ", assign_name(*op)));
                self.expression(value);
            }
            ExprKind::Target(target) => self.target(target),
            ExprKind::Histogram(histogram) => self.histogram(histogram),
            ExprKind::Print(print) => self.print(print),
            _ => self.operator(e),
        }
    }

    /// What starts with `@`.
    fn operator(&mut self, e: &Expr) {
        let prefix = |space: &Space| match space {
            Space::Kernel => "k",
            Space::User => "u",
        };
        match &e.kind {
            ExprKind::Defined(inner) => self.applied("@defined", inner),
            ExprKind::Entry(inner) => self.applied("@entry", inner),
            ExprKind::Perf(name) => self.named("@perf", name),
            ExprKind::Const(name) => self.named("@const", name),
            ExprKind::Enum(name) => self.named("@enum", name),
            ExprKind::EnumName(name) => {
                self.put("@enumname(");
                self.expression(&name.value);
                for text in name.type_name.iter().chain(&name.module) {
                    self.put(", ");
                    self.string(text);
                }
                self.put(")");
            }
            ExprKind::ProbeWrite(name) => self.write(format_args!("@probewrite({})", name.name)),
            ExprKind::Register { space, register } => {
                self.write(format_args!("@{}register(", prefix(space)));
                self.literal(register);
                self.put(")");
            }
            ExprKind::Deref { space, size, address } => {
                self.write(format_args!("@{}deref({size}, ", prefix(space)));
                self.expression(address);
                self.put(")");
            }
            ExprKind::Stat { op, target, shift } => {
                self.write(format_args!("{}(", stat_name(*op)));
                self.expression(target);
                if let Some(shift) = shift {
                    self.write(format_args!(", {shift}"));
                }
                self.put(")");
            }
            _ => unreachable!("internal error (printer): the expression is no `@` operator"),
        }
    }

    fn applied(&mut self, name: &str, e: &Expr) {
        self.put(name);
        self.put("(");
        self.expression(e);
        self.put(")");
    }

    fn named(&mut self, name: &str, string: &StringLit) {
        self.put(name);
        self.put("(");
        self.string(string);
        self.put(")");
    }

    fn string(&mut self, string: &StringLit) {
        self.write(format_args!("\"{}\"", string.value));
    }

    fn arguments(&mut self, args: &[Expr]) {
        self.put("(");
        self.list(args, Self::expression);
        self.put(")");
    }

    pub(super) fn indexable(&mut self, base: &Indexable) {
        match base {
            Indexable::Array(name) => self.put(&name.name),
            Indexable::Histogram(histogram) => self.histogram(histogram),
        }
    }

    pub(super) fn keys(&mut self, keys: &[Key]) {
        self.put("[");
        self.list(keys, |this, key| match key {
            Key::Expr(e) => this.expression(e),
            Key::Any(_) => this.put("*"),
        });
        self.put("]");
    }

    fn membership(&mut self, keys: &[Key], array: &Indexable) {
        match keys {
            [Key::Expr(e)] if level(e) >= Level::Comparison => self.bare(e),
            keys => self.keys(keys),
        }
        self.put(" in ");
        self.indexable(array);
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) {
        self.put(match op {
            UnaryOp::Plus => "+",
            UnaryOp::Negate => "-",
            UnaryOp::Not => "!",
            UnaryOp::Complement => "~",
        });
        // Together with another sign this one could be read as `--` or `!~`.
        if matches!(operand.kind, ExprKind::Unary { .. } | ExprKind::Crement { prefix: true, .. }) {
            self.put(" ");
        }
        self.at_least(operand, Level::Unary);
    }

    fn histogram(&mut self, histogram: &Histogram) {
        match histogram.kind {
            HistogramKind::Log => self.applied("@hist_log", &histogram.target),
            HistogramKind::Linear { start, stop, interval } => {
                self.put("@hist_linear(");
                self.expression(&histogram.target);
                self.write(format_args!(", {start}, {stop}, {interval})"));
            }
        }
    }

    // -------------------------------------------------------- Target variables

    fn target(&mut self, target: &Target) {
        if target.address_of {
            self.put("&");
        }
        let mut only_dollars = false;
        match &target.base {
            TargetBase::Symbol(name) => {
                self.write(format_args!("${}", name.name));
                only_dollars = name.name.bytes().all(|byte| byte == b'$');
            }
            TargetBase::Var { name, module } => {
                self.put("@var(");
                self.string(name);
                self.module(module.as_ref());
            }
            TargetBase::Cast { operand, type_name, module } => {
                self.put("@cast(");
                self.expression(operand);
                self.put(", ");
                self.string(type_name);
                self.module(module.as_ref());
            }
            TargetBase::Expr(base) => self.target_base(base, target),
        }
        for access in &target.path {
            match access {
                Access::Field(name) => {
                    self.write(format_args!("->{}", name.name));
                    only_dollars = name.name.bytes().all(|byte| byte == b'$');
                }
                Access::Index(index) => {
                    self.put("[");
                    self.expression(index);
                    self.put("]");
                    only_dollars = false;
                }
            }
        }
        if let Some(pretty) = target.pretty {
            // `$$` and `$` would be read as one name.
            if only_dollars {
                self.put(" ");
            }
            self.put(match pretty {
                Pretty::Shallow => "$",
                Pretty::Deep => "$$",
            });
        }
    }

    /// `name[…]` would index an array, and accesses would be added to another target variable's.
    fn target_base(&mut self, base: &Expr, target: &Target) {
        let first_is_field = matches!(target.path.first(), Some(Access::Field(_)));
        let alone = target.path.is_empty() && target.pretty.is_none();
        let ambiguous = match &base.kind {
            ExprKind::Name(_) => !first_is_field && !alone,
            ExprKind::Target(_) => true,
            _ => false,
        };
        if ambiguous {
            self.put("(");
            self.bare(base);
            self.put(")");
        } else {
            self.at_least(base, Level::Postfix);
        }
    }

    fn module(&mut self, module: Option<&StringLit>) {
        if let Some(module) = module {
            self.put(", ");
            self.string(module);
        }
        self.put(")");
    }

    // ---------------------------------------------------------------- Printing

    fn print(&mut self, print: &Print) {
        let prefix = if print.to_string { "s" } else { "" };
        let suffix = if print.newline { "ln" } else { "" };
        let (style, first) = match &print.style {
            PrintStyle::Plain => ("", None),
            PrintStyle::Delimited(delimiter) => ("d", Some(delimiter)),
            PrintStyle::Formatted { format, .. } => ("f", Some(format)),
        };
        self.write(format_args!("{prefix}print{style}{suffix}("));
        if let Some(first) = first {
            self.string(first);
            if !print.args.is_empty() {
                self.put(", ");
            }
        }
        self.list(&print.args, Self::expression);
        self.put(")");
    }
}

/// The operator as a script writes it.
pub(super) fn stat_name(op: StatOp) -> &'static str {
    match op {
        StatOp::Count => "@count",
        StatOp::Sum => "@sum",
        StatOp::Min => "@min",
        StatOp::Max => "@max",
        StatOp::Avg => "@avg",
        StatOp::Variance => "@variance",
    }
}

fn binary_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Modulo => "%",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Concat => ".",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::ShiftRightLogical => ">>>",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

fn assign_name(op: AssignOp) -> &'static str {
    match op {
        AssignOp::Set => "=",
        AssignOp::Multiply => "*=",
        AssignOp::Divide => "/=",
        AssignOp::Modulo => "%=",
        AssignOp::Add => "+=",
        AssignOp::Subtract => "-=",
        AssignOp::Concat => ".=",
        AssignOp::ShiftLeft => "<<=",
        AssignOp::ShiftRight => ">>=",
        AssignOp::BitAnd => "&=",
        AssignOp::BitXor => "^=",
        AssignOp::BitOr => "|=",
        AssignOp::Aggregate => "<<<",
    }
}
