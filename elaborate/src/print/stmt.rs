//! Statements as text.

use super::{Locals, Printer};
use crate::program::{Foreach, ForeachBucket, Loop, Sort, SortBy, Stmt, StmtKind};

impl Printer<'_> {
    pub(super) fn body(&mut self, body: &[Stmt], locals: Locals<'_>) {
        for stmt in body {
            self.statement(stmt, locals);
        }
    }

    /// A line that begins a block, the block, and its end.
    fn nested(&mut self, head: &str, body: &[Stmt], locals: Locals<'_>) {
        self.line(&format!("{head} {{"));
        self.inner(body, locals);
        self.line("}");
    }

    fn inner(&mut self, body: &[Stmt], locals: Locals<'_>) {
        self.depth += 1;
        self.body(body, locals);
        self.depth -= 1;
    }

    fn statement(&mut self, stmt: &Stmt, locals: Locals<'_>) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.line(&self.expr(expr, locals)),
            StmtKind::Block(body) => {
                self.line("{");
                self.inner(body, locals);
                self.line("}");
            }
            StmtKind::If { condition, then, otherwise } => {
                self.line(&format!("if ({}) {{", self.expr(condition, locals)));
                self.inner(then, locals);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.inner(otherwise, locals);
                }
                self.line("}");
            }
            StmtKind::Loop(each) => {
                let Loop { init, condition, step, body } = &**each;
                let clause = |expr: &Option<_>| {
                    expr.as_ref().map_or(String::new(), |expr| self.expr(expr, locals))
                };
                let head = match (init, condition, step) {
                    (None, Some(condition), None) => {
                        format!("while ({})", self.expr(condition, locals))
                    }
                    _ => format!("for ({}; {}; {})", clause(init), clause(condition), clause(step)),
                };
                self.nested(&head, body, locals);
            }
            StmtKind::Foreach(foreach) => {
                let head = self.foreach_head(foreach, locals);
                self.nested(&head, &foreach.body, locals);
            }
            StmtKind::ForeachBucket(buckets) => {
                let ForeachBucket { index, place, descending, limit, body } = &**buckets;
                let sign = if *descending { "-" } else { "" };
                let limit = limit
                    .as_ref()
                    .map_or(String::new(), |limit| format!(" limit {}", self.expr(limit, locals)));
                let place = self.global_place(place, locals);
                let head =
                    format!("foreach ({}{sign} in @hist({place}){limit})", locals[*index].name);
                self.nested(&head, body, locals);
            }
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(None) => self.line("return"),
            StmtKind::Return(Some(expr)) => {
                self.line(&format!("return {}", self.expr(expr, locals)));
            }
            StmtKind::Next => self.line("next"),
            StmtKind::Delete(place) => self.line(&format!("delete {}", self.place(place, locals))),
            StmtKind::Clear(global) => {
                self.line(&format!("delete {}", self.program.globals[*global].name));
            }
            StmtKind::ClearSlice { array, keys } => {
                let name = &self.program.globals[*array].name;
                self.line(&format!("delete {name}[{}]", self.slice(keys, locals)));
            }
            StmtKind::Try { body, message, catch } => {
                self.line("try {");
                self.inner(body, locals);
                match message {
                    Some(local) => self.line(&format!("}} catch ({}) {{", locals[*local].name)),
                    None => self.line("} catch {"),
                }
                self.inner(catch, locals);
                self.line("}");
            }
            StmtKind::EmbeddedC(code) => {
                let effects = super::effects(self.program, code);
                self.line(&format!("%{{{}%}}{effects}", code.text));
            }
        }
    }

    fn foreach_head(&self, foreach: &Foreach, locals: Locals<'_>) -> String {
        let mark = |by: SortBy| match foreach.sort {
            Some(Sort { by: sort, descending }) if sort == by => {
                if descending {
                    "-"
                } else {
                    "+"
                }
            }
            _ => "",
        };
        let keys: Vec<String> = foreach
            .keys
            .iter()
            .enumerate()
            .map(|(at, key)| format!("{}{}", locals[*key].name, mark(SortBy::Key(at))))
            .collect();
        let mut head = String::from("foreach (");
        if let Some(value) = foreach.value {
            head.push_str(&format!("{} = ", locals[value].name));
        }
        head.push_str(&format!("[{}] in ", keys.join(", ")));
        head.push_str(&self.program.globals[foreach.array].name);
        if !foreach.slice.is_empty() {
            head.push_str(&format!("[{}]", self.slice(&foreach.slice, locals)));
        }
        match foreach.sort {
            Some(Sort { by: SortBy::Stat(field), descending }) => {
                let sign = if descending { "-" } else { "+" };
                head.push_str(&format!(" {}{sign}", super::expr::stat_name(field)));
            }
            _ => head.push_str(mark(SortBy::Value)),
        }
        if let Some(limit) = &foreach.limit {
            head.push_str(&format!(" limit {}", self.expr(limit, locals)));
        }
        head.push(')');
        head
    }
}
