//! The printer: trees as scripts.
//!
//! What is printed parses to the same tree, apart from spans: parentheses stand where the tree
//! needs them, and a `;` behind every statement that could otherwise take in the next one.

mod expr;

use crate::ast::*;
use std::fmt::Write;

/// The script that has this tree.
pub fn print(file: &File) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    for (at, item) in file.items.iter().enumerate() {
        if at > 0 {
            printer.text.push('\n');
        }
        printer.item(item);
    }
    printer.text
}

/// A statement as it would stand in a script, on as many lines as it needs.
pub fn print_statement(statement: &Stmt) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    printer.statement(statement);
    printer.text
}

/// An expression as it would stand in a script.
pub fn print_expression(expression: &Expr) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    printer.expression(expression);
    printer.text
}

/// A probe point as it would stand in a script.
pub fn print_point(point: &ProbePoint) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    printer.point(point);
    printer.text
}

struct Printer {
    text: String,
    /// Levels of blocks around what is printed.
    indent: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn write(&mut self, args: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.text.write_fmt(args);
    }

    fn line(&mut self) {
        self.text.push('\n');
        for _ in 0..self.indent {
            self.text.push_str("  ");
        }
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            each(self, item);
        }
    }

    // ------------------------------------------------------------------- Items

    fn item(&mut self, item: &Item) {
        match item {
            Item::Probe(probe) => self.probe(probe),
            Item::Alias(alias) => self.alias(alias),
            Item::Global(global) => self.global(global),
            Item::Function(function) => self.function(function),
            Item::EmbeddedC(code) => self.embedded(&code.code),
        }
        self.put("\n");
    }

    fn embedded(&mut self, code: &str) {
        self.write(format_args!("%{{{code}%}}"));
    }

    fn probe(&mut self, probe: &Probe) {
        self.put("probe ");
        self.list(&probe.points, Self::point);
        self.put(" ");
        self.block(&probe.body);
    }

    fn alias(&mut self, alias: &Alias) {
        self.put("probe ");
        self.point(&alias.name);
        self.put(if alias.prologue.is_some() { " = " } else { " += " });
        self.list(&alias.points, Self::point);
        self.put(" ");
        let blocks = alias.prologue.iter().chain(&alias.epilogue);
        for (at, block) in blocks.enumerate() {
            if at > 0 {
                self.put(", ");
            }
            self.block(block);
        }
    }

    fn point(&mut self, point: &ProbePoint) {
        for (at, component) in point.components.iter().enumerate() {
            if at > 0 {
                self.put(".");
            }
            match component {
                Component::Functor(functor) => self.functor(functor),
                Component::Alternatives { points, .. } => {
                    self.put("{");
                    self.list(points, Self::point);
                    self.put("}");
                }
            }
        }
        if point.sufficient {
            self.put("!");
        } else if point.optional {
            self.put("?");
        }
        if let Some(condition) = &point.condition {
            self.put(" if (");
            self.expression(condition);
            self.put(")");
        }
    }

    fn functor(&mut self, functor: &Functor) {
        self.put(&functor.name.name);
        if let Some(arg) = &functor.arg {
            self.put("(");
            self.literal(arg);
            self.put(")");
        }
    }

    fn literal(&mut self, literal: &Literal) {
        match &literal.value {
            LiteralValue::Number(number) => self.write(format_args!("{number}")),
            LiteralValue::String(string) => self.write(format_args!("\"{string}\"")),
        }
    }

    fn global(&mut self, global: &Global) {
        self.put(if global.private { "private global " } else { "global " });
        self.list(&global.variables, |this, variable| {
            this.put(&variable.name.name);
            if variable.wrap {
                this.put("%");
            }
            if let Some(size) = variable.size {
                this.write(format_args!("[{size}]"));
            }
            if let Some(init) = &variable.init {
                this.put(" = ");
                this.literal(init);
            }
        });
        self.put(";");
    }

    fn function(&mut self, function: &Function) {
        self.put(if function.private { "private function " } else { "function " });
        self.put(&function.name.name);
        self.ty(function.result);
        self.put("(");
        self.list(&function.params, |this, param| {
            this.put(&param.name.name);
            this.ty(param.ty);
        });
        self.put(")");
        if let Some(priority) = function.priority {
            self.write(format_args!(":{priority}"));
        }
        self.put(" ");
        match &function.body {
            FunctionBody::Block(block) => self.block(block),
            FunctionBody::EmbeddedC(code) => self.embedded(&code.code),
        }
    }

    fn ty(&mut self, ty: Option<Type>) {
        match ty {
            Some(Type::Long) => self.put(":long"),
            Some(Type::String) => self.put(":string"),
            None => {}
        }
    }

    // -------------------------------------------------------------- Statements

    fn block(&mut self, block: &Block) {
        if block.statements.is_empty() {
            return self.put("{ }");
        }
        self.put("{");
        self.indent += 1;
        for statement in &block.statements {
            self.line();
            self.statement(statement);
        }
        self.indent -= 1;
        self.line();
        self.put("}");
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Null => self.put(";"),
            StmtKind::Expr(e) => {
                self.expression(e);
                self.put(";");
            }
            StmtKind::Block(block) => self.block(block),
            StmtKind::If { condition, then, otherwise } => {
                self.header("if", condition);
                self.body(then);
                if let Some(otherwise) = otherwise {
                    match then.kind {
                        StmtKind::Block(_) => self.put(" else"),
                        _ => {
                            self.line();
                            self.put("else");
                        }
                    }
                    match otherwise.kind {
                        StmtKind::If { .. } => {
                            self.put(" ");
                            self.statement(otherwise);
                        }
                        _ => self.body(otherwise),
                    }
                }
            }
            StmtKind::While { condition, body } => {
                self.header("while", condition);
                self.body(body);
            }
            StmtKind::For { init, condition, step, body } => {
                self.put("for (");
                self.optional(init.as_deref());
                self.put("; ");
                self.optional(condition.as_deref());
                self.put("; ");
                self.optional(step.as_deref());
                self.put(")");
                self.body(body);
            }
            StmtKind::Foreach(foreach) => self.foreach(foreach),
            StmtKind::Return(None) => self.put("return;"),
            StmtKind::Return(Some(e)) => {
                self.put("return ");
                self.expression(e);
                self.put(";");
            }
            StmtKind::Delete(e) => {
                self.put("delete ");
                self.expression(e);
                self.put(";");
            }
            StmtKind::Next => self.put("next;"),
            StmtKind::Break => self.put("break;"),
            StmtKind::Continue => self.put("continue;"),
            StmtKind::Try(watched) => {
                let Try { body, variable, handler } = &**watched;
                self.put("try ");
                self.block(body);
                self.put(" catch ");
                if let Some(variable) = variable {
                    self.write(format_args!("({}) ", variable.name));
                }
                self.block(handler);
            }
        }
    }

    fn header(&mut self, keyword: &str, condition: &Expr) {
        self.write(format_args!("{keyword} ("));
        self.expression(condition);
        self.put(")");
    }

    fn optional(&mut self, e: Option<&Expr>) {
        if let Some(e) = e {
            self.expression(e);
        }
    }

    /// A statement behind a header: a block on the same line, others on one of their own.
    fn body(&mut self, statement: &Stmt) {
        if let StmtKind::Block(block) = &statement.kind {
            self.put(" ");
            return self.block(block);
        }
        self.indent += 1;
        self.line();
        self.statement(statement);
        self.indent -= 1;
    }

    fn foreach(&mut self, foreach: &Foreach) {
        let sign = |sort: Sort| if sort.descending { "-" } else { "+" };
        self.put("foreach (");
        if let Some(value) = &foreach.value {
            self.write(format_args!("{} = ", value.name));
        }
        self.put("[");
        for (at, key) in foreach.keys.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            self.put(&key.name);
            if let Some(sort) = foreach.sort.filter(|sort| sort.by == SortBy::Key(at)) {
                self.put(sign(sort));
            }
        }
        self.put("] in ");
        self.indexable(&foreach.over);
        if let Some(slice) = &foreach.slice {
            self.keys(slice);
        }
        if let Some(sort @ Sort { by: SortBy::Value(op), .. }) = foreach.sort {
            if let Some(op) = op {
                self.write(format_args!(" {}", expr::stat_name(op)));
            }
            self.put(sign(sort));
        }
        if let Some(limit) = &foreach.limit {
            self.put(" limit ");
            self.expression(limit);
        }
        self.put(")");
        self.body(&foreach.body);
    }
}
