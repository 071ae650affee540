//! Which constructs of the language a set of scripts uses.
//!
//! A construct is a production of the grammar, or a form of one that later stages treat apart:
//! each operator, each conversion of `printf`, an alias with and without epilogue. Text that the
//! preprocessor drops or replaces does not count.

use crate::ast::*;
use std::collections::BTreeMap;

/// How often scripts use each construct.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    counts: BTreeMap<&'static str, u64>,
}

impl Coverage {
    /// Nothing used yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the constructs of one more file.
    pub fn add(&mut self, file: &File) {
        file.items.iter().for_each(|item| self.item(item));
    }

    /// Each construct and how often it was used, in the order of [`CONSTRUCTS`].
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        CONSTRUCTS.iter().map(|name| (*name, self.counts.get(name).copied().unwrap_or(0)))
    }

    /// The constructs that were never used.
    pub fn missing(&self) -> Vec<&'static str> {
        self.counts().filter(|(_, count)| *count == 0).map(|(name, _)| name).collect()
    }

    fn hit(&mut self, construct: &'static str) {
        debug_assert!(CONSTRUCTS.contains(&construct), "{construct} is not listed");
        *self.counts.entry(construct).or_default() += 1;
    }

    fn hit_if(&mut self, condition: bool, construct: &'static str) {
        if condition {
            self.hit(construct);
        }
    }

    // ------------------------------------------------------------------- Items

    fn item(&mut self, item: &Item) {
        match item {
            Item::Probe(probe) => {
                self.hit("probe");
                self.points(&probe.points);
                self.block(&probe.body);
            }
            Item::Alias(alias) => self.alias(alias),
            Item::Global(global) => {
                self.hit(if global.private { "private global" } else { "global" });
                global.variables.iter().for_each(|variable| self.variable(variable));
            }
            Item::Function(function) => self.function(function),
            Item::EmbeddedC(_) => self.hit("top-level embedded C"),
        }
    }

    fn alias(&mut self, alias: &Alias) {
        self.hit(match (&alias.prologue, &alias.epilogue) {
            (Some(_), Some(_)) => "alias with prologue and epilogue",
            (None, Some(_)) => "alias with epilogue",
            _ => "alias with prologue",
        });
        self.point(&alias.name);
        self.points(&alias.points);
        alias.prologue.iter().chain(&alias.epilogue).for_each(|block| self.block(block));
    }

    fn points(&mut self, points: &[ProbePoint]) {
        self.hit_if(points.len() > 1, "several probe points");
        points.iter().for_each(|point| self.point(point));
    }

    fn point(&mut self, point: &ProbePoint) {
        self.hit_if(point.optional && !point.sufficient, "optional probe point");
        self.hit_if(point.sufficient, "sufficient probe point");
        if let Some(condition) = &point.condition {
            self.hit("probe point condition");
            self.expr(condition);
        }
        for component in &point.components {
            match component {
                Component::Functor(functor) => self.functor(functor),
                Component::Alternatives { points, .. } => {
                    self.hit("probe point alternatives");
                    points.iter().for_each(|point| self.point(point));
                }
            }
        }
    }

    fn functor(&mut self, functor: &Functor) {
        self.hit_if(functor.name.name.contains('*'), "probe point wildcard");
        match functor.arg.as_ref().map(|arg| &arg.value) {
            Some(LiteralValue::Number(_)) => self.hit("probe point with number"),
            Some(LiteralValue::String(_)) => self.hit("probe point with string"),
            None => self.hit("probe point component"),
        }
    }

    fn variable(&mut self, variable: &GlobalVariable) {
        self.hit_if(variable.wrap, "global that wraps");
        self.hit_if(variable.size.is_some(), "global with size");
        match variable.init.as_ref().map(|init| &init.value) {
            Some(LiteralValue::Number(_)) => self.hit("global with number"),
            Some(LiteralValue::String(_)) => self.hit("global with string"),
            None => {}
        }
    }

    fn function(&mut self, function: &Function) {
        self.hit(if function.private { "private function" } else { "function" });
        self.hit_if(function.result.is_some(), "function with type");
        self.hit_if(function.priority.is_some(), "function with priority");
        for param in &function.params {
            self.hit(if param.ty.is_some() { "parameter with type" } else { "parameter" });
        }
        match &function.body {
            FunctionBody::Block(block) => self.block(block),
            FunctionBody::EmbeddedC(_) => self.hit("embedded-C function"),
        }
    }

    // -------------------------------------------------------------- Statements

    fn block(&mut self, block: &Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Null => self.hit(";"),
            StmtKind::Expr(e) => {
                self.hit("expression statement");
                self.expr(e);
            }
            StmtKind::Block(block) => {
                self.hit("block");
                self.block(block);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.hit(if otherwise.is_some() { "if else" } else { "if" });
                self.expr(condition);
                self.statement(then);
                otherwise.iter().for_each(|statement| self.statement(statement));
            }
            StmtKind::While { condition, body } => {
                self.hit("while");
                self.expr(condition);
                self.statement(body);
            }
            StmtKind::For { init, condition, step, body } => {
                self.hit("for");
                init.iter().chain(condition).chain(step).for_each(|e| self.expr(e));
                self.statement(body);
            }
            StmtKind::Foreach(foreach) => self.foreach(foreach),
            StmtKind::Return(None) => self.hit("return without value"),
            StmtKind::Return(Some(e)) => {
                self.hit("return");
                self.expr(e);
            }
            StmtKind::Delete(e) => {
                self.hit("delete");
                self.expr(e);
            }
            StmtKind::Next => self.hit("next"),
            StmtKind::Break => self.hit("break"),
            StmtKind::Continue => self.hit("continue"),
            StmtKind::Try(watched) => {
                let Try { body, variable, handler } = &**watched;
                self.hit(if variable.is_some() { "catch with variable" } else { "catch" });
                self.block(body);
                self.block(handler);
            }
        }
    }

    fn foreach(&mut self, foreach: &Foreach) {
        self.hit("foreach");
        self.hit_if(foreach.value.is_some(), "foreach with value");
        self.hit_if(foreach.keys.len() > 1, "foreach with several keys");
        if let Some(sort) = foreach.sort {
            self.hit(match sort.by {
                SortBy::Key(_) => "foreach sorted by key",
                SortBy::Value(None) => "foreach sorted by value",
                SortBy::Value(Some(_)) => "foreach sorted by statistic",
            });
            self.hit(if sort.descending { "foreach descending" } else { "foreach ascending" });
        }
        if let Some(slice) = &foreach.slice {
            self.hit("foreach over slice");
            self.keys(slice);
        }
        if let Some(limit) = &foreach.limit {
            self.hit("foreach with limit");
            self.expr(limit);
        }
        match &foreach.over {
            Indexable::Array(_) => {}
            Indexable::Histogram(histogram) => {
                self.hit("foreach over histogram");
                self.histogram(histogram);
            }
        }
        self.statement(&foreach.body);
    }

    // ------------------------------------------------------------- Expressions

    fn keys(&mut self, keys: &[Key]) {
        for key in keys {
            match key {
                Key::Expr(e) => self.expr(e),
                Key::Any(_) => self.hit("* as index"),
            }
        }
    }

    fn histogram(&mut self, histogram: &Histogram) {
        self.hit(match histogram.kind {
            HistogramKind::Log => "@hist_log",
            HistogramKind::Linear { .. } => "@hist_linear",
        });
        self.expr(&histogram.target);
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Number(_) => self.hit("number"),
            ExprKind::String(_) => self.hit("string"),
            ExprKind::EmbeddedC(_) => self.hit("embedded-C expression"),
            ExprKind::Name(_) => self.hit("variable"),
            ExprKind::Call { args, .. } => {
                self.hit("call");
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Index { base, keys } => {
                self.hit(match base {
                    Indexable::Array(_) => "array element",
                    Indexable::Histogram(_) => "histogram bucket",
                });
                self.indexed(base, keys);
            }
            ExprKind::In { keys, array } => {
                self.hit(if keys.len() > 1 { "in with several keys" } else { "in" });
                self.indexed(array, keys);
            }
            ExprKind::Unary { op, operand } => {
                self.hit(unary(*op));
                self.expr(operand);
            }
            ExprKind::Crement { op, prefix, target } => {
                self.hit(match (op, prefix) {
                    (CrementOp::Increment, true) => "++x",
                    (CrementOp::Increment, false) => "x++",
                    (CrementOp::Decrement, true) => "--x",
                    (CrementOp::Decrement, false) => "x--",
                });
                self.expr(target);
            }
            ExprKind::Binary { op, left, right } => {
                self.hit(binary(*op));
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Match { subject, negated, .. } => {
                self.hit(if *negated { "!~" } else { "=~" });
                self.expr(subject);
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                self.hit("?:");
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
            }
            ExprKind::Assign { op, target, value } => {
                self.hit(assign(*op));
                self.expr(target);
                self.expr(value);
            }
            ExprKind::Target(target) => self.target(target),
            ExprKind::Histogram(histogram) => {
                self.hit("histogram printed");
                self.histogram(histogram);
            }
            ExprKind::Print(print) => self.print(print),
            _ => self.operator(e),
        }
    }

    /// What starts with `@`.
    fn operator(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Defined(e) => self.applied("@defined", e),
            ExprKind::Entry(e) => self.applied("@entry", e),
            ExprKind::Perf(_) => self.hit("@perf"),
            ExprKind::Const(_) => self.hit("@const"),
            ExprKind::Enum(_) => self.hit("@enum"),
            ExprKind::EnumName(name) => self.applied("@enumname", &name.value),
            ExprKind::ProbeWrite(_) => self.hit("@probewrite"),
            ExprKind::Register { space: Space::Kernel, .. } => self.hit("@kregister"),
            ExprKind::Register { space: Space::User, .. } => self.hit("@uregister"),
            ExprKind::Deref { space: Space::Kernel, address, .. } => {
                self.applied("@kderef", address);
            }
            ExprKind::Deref { space: Space::User, address, .. } => {
                self.applied("@uderef", address);
            }
            ExprKind::Stat { op, target, shift } => {
                self.hit_if(shift.is_some(), "@variance with shift");
                self.applied(stat(*op), target);
            }
            _ => {}
        }
    }

    fn applied(&mut self, construct: &'static str, e: &Expr) {
        self.hit(construct);
        self.expr(e);
    }

    fn indexed(&mut self, base: &Indexable, keys: &[Key]) {
        if let Indexable::Histogram(histogram) = base {
            self.histogram(histogram);
        }
        self.keys(keys);
    }

    fn target(&mut self, target: &Target) {
        match &target.base {
            TargetBase::Symbol(_) => self.hit("$variable"),
            TargetBase::Var { .. } => self.hit("@var"),
            TargetBase::Cast { operand, .. } => self.applied("@cast", operand),
            TargetBase::Expr(base) => self.applied("typed expression", base),
        }
        for access in &target.path {
            match access {
                Access::Field(_) => self.hit("->"),
                Access::Index(e) => self.applied("index of target variable", e),
            }
        }
        self.hit_if(target.address_of, "address of target variable");
        match target.pretty {
            Some(Pretty::Shallow) => self.hit("$variable$"),
            Some(Pretty::Deep) => self.hit("$variable$$"),
            None => {}
        }
    }

    fn print(&mut self, print: &Print) {
        self.hit(match (&print.style, print.to_string, print.newline) {
            (PrintStyle::Plain, false, false) => "print",
            (PrintStyle::Plain, false, true) => "println",
            (PrintStyle::Plain, true, false) => "sprint",
            (PrintStyle::Plain, true, true) => "sprintln",
            (PrintStyle::Delimited(_), false, false) => "printd",
            (PrintStyle::Delimited(_), false, true) => "printdln",
            (PrintStyle::Delimited(_), true, false) => "sprintd",
            (PrintStyle::Delimited(_), true, true) => "sprintdln",
            (PrintStyle::Formatted { .. }, false, _) => "printf",
            (PrintStyle::Formatted { .. }, true, _) => "sprintf",
        });
        if let PrintStyle::Formatted { pieces, .. } = &print.style {
            pieces.iter().for_each(|piece| self.piece(piece));
        }
        print.args.iter().for_each(|arg| self.expr(arg));
    }

    fn piece(&mut self, piece: &Piece) {
        let Piece::Directive(directive) = piece else { return };
        self.hit(conversion(directive.conversion));
        self.hit_if(directive.left, "%-");
        self.hit_if(directive.zero, "%0");
        self.hit_if(directive.plus, "%+");
        self.hit_if(directive.space, "% ");
        self.hit_if(directive.alternate, "%#");
        self.hit_if(matches!(directive.width, Measure::Fixed(_)), "% width");
        self.hit_if(directive.width == Measure::Dynamic, "%*");
        self.hit_if(matches!(directive.precision, Measure::Fixed(_)), "%. precision");
        self.hit_if(directive.precision == Measure::Dynamic, "%.*");
    }
}

/// Tables of the names of constructs, each in one place with the list of all of them.
macro_rules! tables {
    (
        { $($other:literal)* }
        $($function:ident($ty:ty) { $($pattern:path => $name:literal)* })*
    ) => {
        $(fn $function(value: $ty) -> &'static str {
            match value {
                $($pattern => $name,)*
            }
        })*

        /// The names of all constructs.
        pub const CONSTRUCTS: &[&str] = &[$($other,)* $($($name,)*)*];
    };
}

tables! {
    {
        "probe" "alias with prologue" "alias with epilogue" "alias with prologue and epilogue"
        "several probe points" "optional probe point" "sufficient probe point"
        "probe point condition" "probe point component" "probe point with number"
        "probe point with string" "probe point wildcard" "probe point alternatives"
        "global" "private global" "global that wraps" "global with size" "global with number"
        "global with string" "function" "private function" "function with type"
        "function with priority" "parameter" "parameter with type" "embedded-C function"
        "top-level embedded C"
        ";" "expression statement" "block" "if" "if else" "while" "for" "foreach"
        "foreach with value" "foreach with several keys" "foreach sorted by key"
        "foreach sorted by value" "foreach sorted by statistic" "foreach ascending"
        "foreach descending" "foreach over slice" "foreach with limit" "foreach over histogram"
        "return" "return without value" "delete" "next" "break" "continue" "catch"
        "catch with variable"
        "number" "string" "embedded-C expression" "variable" "call" "array element"
        "histogram bucket" "* as index" "in" "in with several keys" "++x" "x++" "--x" "x--"
        "=~" "!~" "?:"
        "$variable" "@var" "@cast" "typed expression" "->" "index of target variable"
        "address of target variable" "$variable$" "$variable$$"
        "@defined" "@entry" "@perf" "@const" "@enum" "@enumname" "@probewrite" "@kregister"
        "@uregister" "@kderef" "@uderef" "@variance with shift" "@hist_log" "@hist_linear"
        "histogram printed"
        "print" "println" "sprint" "sprintln" "printd" "printdln" "sprintd" "sprintdln" "printf"
        "sprintf" "%-" "%0" "%+" "% " "%#" "% width" "%*" "%. precision" "%.*"
    }
    unary(UnaryOp) {
        UnaryOp::Plus => "unary +"
        UnaryOp::Negate => "unary -"
        UnaryOp::Not => "!"
        UnaryOp::Complement => "~"
    }
    binary(BinaryOp) {
        BinaryOp::Multiply => "*"
        BinaryOp::Divide => "/"
        BinaryOp::Modulo => "%"
        BinaryOp::Add => "+"
        BinaryOp::Subtract => "-"
        BinaryOp::Concat => "."
        BinaryOp::ShiftLeft => "<<"
        BinaryOp::ShiftRight => ">>"
        BinaryOp::ShiftRightLogical => ">>>"
        BinaryOp::Less => "<"
        BinaryOp::LessEqual => "<="
        BinaryOp::Greater => ">"
        BinaryOp::GreaterEqual => ">="
        BinaryOp::Equal => "=="
        BinaryOp::NotEqual => "!="
        BinaryOp::BitAnd => "&"
        BinaryOp::BitXor => "^"
        BinaryOp::BitOr => "|"
        BinaryOp::And => "&&"
        BinaryOp::Or => "||"
    }
    assign(AssignOp) {
        AssignOp::Set => "="
        AssignOp::Multiply => "*="
        AssignOp::Divide => "/="
        AssignOp::Modulo => "%="
        AssignOp::Add => "+="
        AssignOp::Subtract => "-="
        AssignOp::Concat => ".="
        AssignOp::ShiftLeft => "<<="
        AssignOp::ShiftRight => ">>="
        AssignOp::BitAnd => "&="
        AssignOp::BitXor => "^="
        AssignOp::BitOr => "|="
        AssignOp::Aggregate => "<<<"
    }
    stat(StatOp) {
        StatOp::Count => "@count"
        StatOp::Sum => "@sum"
        StatOp::Min => "@min"
        StatOp::Max => "@max"
        StatOp::Avg => "@avg"
        StatOp::Variance => "@variance"
    }
    conversion(Conversion) {
        Conversion::Binary => "%b"
        Conversion::Char => "%c"
        Conversion::Signed => "%d"
        Conversion::Unsigned => "%u"
        Conversion::Octal => "%o"
        Conversion::HexLower => "%x"
        Conversion::HexUpper => "%X"
        Conversion::Pointer => "%p"
        Conversion::String => "%s"
        Conversion::Memory => "%m"
        Conversion::MemoryHex => "%M"
    }
}
