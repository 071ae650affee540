//! Trees without positions, so that they can be compared.

use crate::ast::*;
use crate::source::Span;

impl File {
    /// Makes all spans the same, so that two trees are equal if their scripts mean the same.
    pub fn erase_spans(&mut self) {
        self.items.erase();
    }
}

trait Erase {
    fn erase(&mut self);
}

impl Erase for Span {
    fn erase(&mut self) {
        *self = Span::ERASED;
    }
}

impl<T: Erase> Erase for Vec<T> {
    fn erase(&mut self) {
        self.iter_mut().for_each(Erase::erase);
    }
}

impl<T: Erase> Erase for Option<T> {
    fn erase(&mut self) {
        self.iter_mut().for_each(Erase::erase);
    }
}

impl<T: Erase> Erase for Box<T> {
    fn erase(&mut self) {
        (**self).erase();
    }
}

/// Erases the listed fields of structures.
macro_rules! erase_fields {
    ($($name:ident { $($field:ident),* })*) => {
        $(impl Erase for $name {
            fn erase(&mut self) {
                $(self.$field.erase();)*
            }
        })*
    };
}

erase_fields! {
    Ident { span }
    StringLit { span }
    Literal { span }
    EmbeddedC { span }
    Block { statements, span }
    Try { body, variable, handler }
    EnumName { value, type_name, module }
    Probe { points, body, span }
    Alias { name, points, prologue, epilogue, span }
    ProbePoint { components, condition, span }
    Functor { name, arg, span }
    Global { variables, span }
    GlobalVariable { name, init, span }
    Function { name, params, body, span }
    Param { name, span }
    Stmt { kind, span }
    Foreach { value, keys, over, slice, limit, body }
    Expr { kind, span }
    Target { base, path }
    Histogram { target, span }
    Print { style, args }
}

impl Erase for Item {
    fn erase(&mut self) {
        match self {
            Item::Probe(probe) => probe.erase(),
            Item::Alias(alias) => alias.erase(),
            Item::Global(global) => global.erase(),
            Item::Function(function) => function.erase(),
            Item::EmbeddedC(code) => code.erase(),
        }
    }
}

impl Erase for Component {
    fn erase(&mut self) {
        match self {
            Component::Functor(functor) => functor.erase(),
            Component::Alternatives { points, span } => {
                points.erase();
                span.erase();
            }
        }
    }
}

impl Erase for FunctionBody {
    fn erase(&mut self) {
        match self {
            FunctionBody::Block(block) => block.erase(),
            FunctionBody::EmbeddedC(code) => code.erase(),
        }
    }
}

impl Erase for StmtKind {
    fn erase(&mut self) {
        match self {
            StmtKind::Null | StmtKind::Next | StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Expr(e) | StmtKind::Delete(e) => e.erase(),
            StmtKind::Block(block) => block.erase(),
            StmtKind::If { condition, then, otherwise } => {
                condition.erase();
                then.erase();
                otherwise.erase();
            }
            StmtKind::While { condition, body } => {
                condition.erase();
                body.erase();
            }
            StmtKind::For { init, condition, step, body } => {
                init.erase();
                condition.erase();
                step.erase();
                body.erase();
            }
            StmtKind::Foreach(foreach) => foreach.erase(),
            StmtKind::Return(e) => e.erase(),
            StmtKind::Try(watched) => watched.erase(),
        }
    }
}

impl Erase for Indexable {
    fn erase(&mut self) {
        match self {
            Indexable::Array(name) => name.erase(),
            Indexable::Histogram(histogram) => histogram.erase(),
        }
    }
}

impl Erase for Key {
    fn erase(&mut self) {
        match self {
            Key::Expr(e) => e.erase(),
            Key::Any(span) => span.erase(),
        }
    }
}

impl Erase for Access {
    fn erase(&mut self) {
        match self {
            Access::Field(name) => name.erase(),
            Access::Index(e) => e.erase(),
        }
    }
}

impl Erase for TargetBase {
    fn erase(&mut self) {
        match self {
            TargetBase::Symbol(name) => name.erase(),
            TargetBase::Var { name, module } => {
                name.erase();
                module.erase();
            }
            TargetBase::Cast { operand, type_name, module } => {
                operand.erase();
                type_name.erase();
                module.erase();
            }
            TargetBase::Expr(e) => e.erase(),
        }
    }
}

impl Erase for PrintStyle {
    fn erase(&mut self) {
        match self {
            PrintStyle::Plain => {}
            PrintStyle::Delimited(string) | PrintStyle::Formatted { format: string, .. } => {
                string.erase();
            }
        }
    }
}

impl Erase for ExprKind {
    fn erase(&mut self) {
        match self {
            ExprKind::Number(_)
            | ExprKind::String(_)
            | ExprKind::EmbeddedC(_)
            | ExprKind::Name(_) => {}
            ExprKind::Call { name, args } => {
                name.erase();
                args.erase();
            }
            ExprKind::Index { base, keys } | ExprKind::In { keys, array: base } => {
                base.erase();
                keys.erase();
            }
            ExprKind::Unary { operand: e, .. }
            | ExprKind::Crement { target: e, .. }
            | ExprKind::Defined(e)
            | ExprKind::Entry(e)
            | ExprKind::Deref { address: e, .. }
            | ExprKind::Stat { target: e, .. } => e.erase(),
            ExprKind::Binary { left, right, .. }
            | ExprKind::Assign { target: left, value: right, .. } => {
                left.erase();
                right.erase();
            }
            ExprKind::Match { subject, pattern, .. } => {
                subject.erase();
                pattern.erase();
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                condition.erase();
                then.erase();
                otherwise.erase();
            }
            ExprKind::Target(target) => target.erase(),
            ExprKind::Perf(name) | ExprKind::Const(name) | ExprKind::Enum(name) => name.erase(),
            ExprKind::EnumName(name) => name.erase(),
            ExprKind::ProbeWrite(name) => name.erase(),
            ExprKind::Register { register, .. } => register.erase(),
            ExprKind::Histogram(histogram) => histogram.erase(),
            ExprKind::Print(print) => print.erase(),
        }
    }
}
