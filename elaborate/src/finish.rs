//! The last step: types that were inferred go into the program, and what depends on them is
//! decided.

use crate::program::{
    BinaryOp, ConversionKind, ElementType, Expr, ExprKind, Foreach, Format, Function, FunctionCode,
    Global, GlobalPlace, Literal, Local, Loop, Piece, Place, Program, SortBy, StatField, Stmt,
    StmtKind, Type,
};
use id_arena::Arena;
use std::mem;
use xlate_grammar::{Diagnostic, Span};

/// Fills in the types of all bodies. Those of variables and functions are there already.
pub(crate) fn finish(program: &mut Program, diagnostics: &mut Vec<Diagnostic>) {
    let results: Vec<Option<Type>> =
        program.functions.iter().map(|(_, function)| function.result).collect();
    let globals = mem::take(&mut program.globals);
    for (_, function) in program.functions.iter_mut() {
        let Function { locals, code, .. } = function;
        if let FunctionCode::Script(body) = code {
            Finisher { globals: &globals, results: &results, locals, diagnostics }.body(body);
        }
    }
    for (_, handler) in program.handlers.iter_mut() {
        let locals = &handler.locals;
        Finisher { globals: &globals, results: &results, locals, diagnostics }
            .body(&mut handler.body);
    }
    program.globals = globals;
}

/// The error about a statistic where a value is needed.
pub(crate) fn statistic_as_value(what: &str, span: Span) -> Diagnostic {
    let message = format!("{what} is a statistic, which is no value");
    Diagnostic::error(span, message, "a value is needed here")
        .with_note("ask for one of its values: `@count`, `@sum`, `@min`, `@max`, `@avg`")
}

struct Finisher<'f> {
    globals: &'f Arena<Global>,
    /// Of functions, by index.
    results: &'f [Option<Type>],
    locals: &'f Arena<Local>,
    diagnostics: &'f mut Vec<Diagnostic>,
}

impl Finisher<'_> {
    fn body(&mut self, body: &mut [Stmt]) {
        for stmt in body {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Expr(expr) => self.unused(expr),
            StmtKind::Return(Some(expr)) => self.expr(expr),
            StmtKind::Block(body) => self.body(body),
            StmtKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.body(then);
                self.body(otherwise);
            }
            StmtKind::Loop(each) => {
                let Loop { init, condition, step, body } = &mut **each;
                for clause in [init, step].into_iter().flatten() {
                    self.unused(clause);
                }
                if let Some(condition) = condition {
                    self.expr(condition);
                }
                self.body(body);
            }
            StmtKind::Foreach(foreach) => self.foreach(foreach),
            StmtKind::ForeachBucket(buckets) => {
                self.place_keys(&mut buckets.place);
                if let Some(limit) = &mut buckets.limit {
                    self.expr(limit);
                }
                self.body(&mut buckets.body);
            }
            StmtKind::Delete(place) => self.place(place),
            StmtKind::Clear(global) => {
                if self.globals[*global].keys.is_empty() {
                    let place = GlobalPlace { global: *global, keys: Vec::new() };
                    stmt.kind = StmtKind::Delete(Place::Global(place));
                }
            }
            StmtKind::ClearSlice { keys, .. } => {
                keys.iter_mut().flatten().for_each(|key| self.expr(key));
            }
            StmtKind::Try { body, catch, .. } => {
                self.body(body);
                self.body(catch);
            }
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Next
            | StmtKind::EmbeddedC(_) => {}
        }
    }

    fn foreach(&mut self, foreach: &mut Foreach) {
        foreach.slice.iter_mut().flatten().for_each(|key| self.expr(key));
        if let Some(limit) = &mut foreach.limit {
            self.expr(limit);
        }
        if let Some(sort) = &mut foreach.sort
            && sort.by == SortBy::Value
            && self.globals[foreach.array].element == ElementType::Stat
        {
            sort.by = SortBy::Stat(StatField::Count);
        }
        self.body(&mut foreach.body);
    }

    fn place(&mut self, place: &mut Place) {
        if let Place::Global(place) = place {
            self.place_keys(place);
        }
    }

    fn place_keys(&mut self, place: &mut GlobalPlace) {
        place.keys.iter_mut().for_each(|key| self.expr(key));
    }

    /// The type of what a place holds; none for a statistic.
    fn place_type(&self, place: &Place) -> Option<Type> {
        match place {
            Place::Local(local) => Some(self.locals[*local].ty),
            Place::Global(place) => match self.globals[place.global].element {
                ElementType::Value(ty) => Some(ty),
                ElementType::Stat => None,
            },
        }
    }

    /// An expression whose value nobody needs: a statistic may be one.
    fn unused(&mut self, expr: &mut Expr) {
        if let ExprKind::Read(place) = &mut expr.kind
            && self.place_type(place).is_none()
        {
            self.place(place);
            expr.kind = ExprKind::Literal(Literal::Long(0));
            expr.ty = Some(Type::Long);
            return;
        }
        self.expr(expr);
    }

    fn expr(&mut self, expr: &mut Expr) {
        let span = expr.span;
        let ty = match &mut expr.kind {
            ExprKind::Literal(Literal::Long(_)) => Some(Type::Long),
            ExprKind::Literal(Literal::Str(_)) => Some(Type::Str),
            ExprKind::Read(place) => {
                self.place(place);
                let ty = self.place_type(place);
                if let (None, Place::Global(place)) = (ty, &*place) {
                    let name = &self.globals[place.global].name;
                    let what = match place.keys.as_slice() {
                        [] => format!("`{name}`"),
                        _ => format!("an element of `{name}`"),
                    };
                    self.diagnostics.push(statistic_as_value(&what, span));
                }
                ty
            }
            ExprKind::Assign { place, value, .. } => {
                self.place(place);
                self.expr(value);
                self.place_type(place)
            }
            ExprKind::Step { place, .. } => {
                self.place(place);
                Some(Type::Long)
            }
            ExprKind::Accumulate { place, value } => {
                self.place_keys(place);
                self.expr(value);
                Some(Type::Long)
            }
            ExprKind::Unary(_, operand) => {
                self.expr(operand);
                Some(Type::Long)
            }
            ExprKind::Binary(op, left, right) => {
                self.expr(left);
                self.expr(right);
                Some(if *op == BinaryOp::Concat { Type::Str } else { Type::Long })
            }
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                self.expr(left);
                self.expr(right);
                Some(Type::Long)
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
                then.ty
            }
            ExprKind::In { keys, .. } => {
                keys.iter_mut().flatten().for_each(|key| self.expr(key));
                Some(Type::Long)
            }
            ExprKind::Match { text, .. } => {
                self.expr(text);
                Some(Type::Long)
            }
            ExprKind::Call(function, args) => {
                args.iter_mut().for_each(|arg| self.expr(arg));
                self.results[function.index()]
            }
            ExprKind::Stat(_, place) => {
                self.place_keys(place);
                Some(Type::Long)
            }
            ExprKind::Bucket(place, index) => {
                self.place_keys(place);
                self.expr(index);
                Some(Type::Long)
            }
            ExprKind::Print(format, args) => {
                self.format(format, args);
                // Set if it stands for a value.
                expr.ty
            }
            ExprKind::Format(format, args) => {
                self.format(format, args);
                Some(Type::Str)
            }
            ExprKind::PrintHistogram(place) => {
                self.place_keys(place);
                expr.ty
            }
            ExprKind::EmbeddedC(_) => expr.ty,
        };
        expr.ty = ty;
    }

    /// Strings that are printed without a format have got the conversion of numbers so far.
    fn format(&mut self, format: &mut Format, args: &mut [Expr]) {
        args.iter_mut().for_each(|arg| self.expr(arg));
        let mut types = args.iter().map(|arg| arg.ty);
        for piece in &mut format.pieces {
            let Piece::Conversion(conversion) = piece else { continue };
            for count in [conversion.width, conversion.precision] {
                if count == crate::program::Count::Argument {
                    types.next();
                }
            }
            if types.next() == Some(Some(Type::Str)) {
                conversion.kind = ConversionKind::Str;
            }
        }
    }
}
