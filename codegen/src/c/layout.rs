//! Layout of C: kernel style, tabs of eight, lines of at most [`WIDTH`] columns.

use xlate_ir::types::Pos;

use super::expr::{Binding, Expr, needs_parentheses};
use super::literal;
use super::stmt::{Label, Stmt};
use super::text::Text;
use super::verbatim::laid_out;

/// Columns of a line, at most; only text of the script that cannot be split may be longer.
pub(crate) const WIDTH: usize = 100;

const TAB: usize = 8;

/// Writes C as text.
pub(crate) struct Writer {
    out: Text,
    /// Where the statements come from that are being written, the innermost last.
    places: Vec<Vec<Pos>>,
    depth: usize,
    label_name: Box<dyn Fn(Label) -> String>,
}

impl Writer {
    /// A writer at the left margin. `label_name` names the labels of the control-flow graph.
    pub(crate) fn new(label_name: impl Fn(Label) -> String + 'static) -> Writer {
        Writer {
            out: Text::default(),
            places: Vec::new(),
            depth: 0,
            label_name: Box::new(label_name),
        }
    }

    /// The text written so far.
    pub(crate) fn finish(self) -> Text {
        self.out
    }

    /// Writes an expression and what ends its line.
    pub(crate) fn line_of(&mut self, head: &str, expr: &Expr, end: &str) {
        self.with_expr(head, expr, end);
    }

    /// Writes statements one level deeper than the writer stands.
    pub(crate) fn block(&mut self, list: &[Stmt]) {
        self.depth += 1;
        for (n, stmt) in list.iter().enumerate() {
            self.stmt(stmt);
            let labels = matches!(stmt, Stmt::Label(_) | Stmt::ExitLabel(_));
            let next = list.get(n + 1);
            if labels && matches!(next, None | Some(Stmt::Declare(..) | Stmt::Define(..))) {
                self.line(";");
            }
        }
        self.depth -= 1;
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("\t");
        }
        self.out.push_str(text);
        self.out.push_str("\n");
    }

    /// `head EXPR tail`, broken into lines where it is too long.
    fn with_expr(&mut self, head: &str, expr: &Expr, tail: &str) {
        let start = self.depth * TAB + columns(head);
        let mut flow = Flow::new(start, tail.len());
        flow.expr(expr, Binding::LOWEST);
        let text = format!("{head}{}{tail}", flow.text);
        let begin = self.out.lines();
        let mut lines = text.split('\n');
        if let Some(first) = lines.next() {
            self.line(first);
        }
        for rest in lines {
            self.out.push_str(rest);
            self.out.push_str("\n");
        }
        self.mark_from(begin);
    }

    /// Says of the lines from `begin` on that they come from where the statement at hand does.
    fn mark_from(&mut self, begin: usize) {
        for &pos in self.places.last().into_iter().flatten() {
            self.out.mark(begin, pos);
        }
    }

    /// Writes a statement; its own lines, not those of statements inside it, get its places.
    fn stmt(&mut self, stmt: &Stmt) {
        let mut places = Vec::new();
        stmt.for_each_origin(&mut |pos| places.push(pos));
        self.places.push(places);
        self.own_lines(stmt);
        self.places.pop();
    }

    fn own_lines(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Expr(e) => self.with_expr("", e, ";"),
            Stmt::Assign(target, value) => self.assign(target, value),
            Stmt::If { cond, then, otherwise } => self.conditional("if (", cond, then, otherwise),
            Stmt::Loop { cond: Some(cond), body } => {
                let brace = needs_braces(body);
                self.with_expr("while (", cond, if brace { ") {" } else { ")" });
                self.block(body);
                if brace {
                    self.line("}");
                }
            }
            Stmt::Loop { cond: None, body } => {
                self.line("for (;;) {");
                self.block(body);
                self.line("}");
            }
            Stmt::For { init, cond, step, body } => {
                let head = format!("for ({}; ", self.clause(init));
                let brace = needs_braces(body);
                let tail = format!("; {}){}", self.clause(step), if brace { " {" } else { "" });
                self.with_expr(&head, cond, &tail);
                self.block(body);
                if brace {
                    self.line("}");
                }
            }
            Stmt::Each { head, body } => {
                let brace = needs_braces(body);
                self.with_expr("", head, if brace { " {" } else { "" });
                self.block(body);
                if brace {
                    self.line("}");
                }
            }
            Stmt::DoWhile { body, cond } => {
                self.line("do {");
                self.block(body);
                self.with_expr("} while (", cond, ");");
            }
            Stmt::Block(body) => {
                self.line("{");
                self.block(body);
                self.line("}");
            }
            Stmt::Break => self.line("break;"),
            Stmt::Continue => self.line("continue;"),
            Stmt::Return(None) => self.line("return;"),
            Stmt::Return(Some(value)) => self.with_expr("return ", value, ";"),
            Stmt::Goto(label) => {
                let name = (self.label_name)(*label);
                self.line(&format!("goto {name};"));
            }
            Stmt::Label(label) => {
                let name = (self.label_name)(*label);
                self.label(&name);
            }
            Stmt::Exit(name) => self.line(&format!("goto {name};")),
            Stmt::ExitLabel(name) => self.label(name),
            Stmt::Verbatim(text) => self.verbatim(text),
            Stmt::Declare(ty, name) => {
                let line = format!("{};", declarator(ty, name));
                self.line(&line);
            }
            Stmt::Define(ty, name, value) => {
                self.with_expr(&format!("{} = ", declarator(ty, name)), value, ";");
            }
            Stmt::Blank => self.out.push_str("\n"),
        }
    }

    /// A clause of a `for`: an assignment on one line.
    fn clause(&self, stmt: &Stmt) -> String {
        let mut writer = Writer::new(|label| label.0.to_string());
        writer.stmt(stmt);
        writer.out.as_str().trim_end().trim_end_matches(';').to_owned()
    }

    /// A label, at the margin.
    fn label(&mut self, name: &str) {
        self.out.push_str(name);
        self.out.push_str(":\n");
    }

    fn verbatim(&mut self, text: &str) {
        self.line("{");
        let begin = self.out.lines();
        self.out.push_str(&laid_out(text, self.depth + 1));
        self.out.push_str("\n");
        self.mark_from(begin);
        self.line("}");
    }

    fn assign(&mut self, target: &Expr, value: &Expr) {
        if let Expr::Infix(op, a, b) = value
            && **a == *target
            && matches!(*op, "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>")
        {
            let one = **b == Expr::Long(1) && matches!(*op, "+" | "-");
            let name = flat(target, if one { Binding::PREFIX } else { Binding::LOWEST });
            // `(*v)++`: a prefix operator binds less tightly than the increment.
            let name = match target {
                Expr::Prefix(..) if one => format!("({})", flat(target, Binding::LOWEST)),
                _ => name,
            };
            if one {
                let begin = self.out.lines();
                self.line(&format!("{name}{op}{op};"));
                self.mark_from(begin);
            } else {
                self.with_expr(&format!("{name} {op}= "), b, ";");
            }
            return;
        }
        let name = flat(target, Binding::LOWEST);
        self.with_expr(&format!("{name} = "), value, ";");
    }

    fn conditional(&mut self, head: &str, cond: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let brace = needs_braces(then) || (!otherwise.is_empty() && needs_braces(otherwise));
        self.with_expr(head, cond, if brace { ") {" } else { ")" });
        self.block(then);
        match otherwise {
            [] => {
                if brace {
                    self.line("}");
                }
            }
            [Stmt::If { cond, then, otherwise }] => {
                let head = if brace { "} else if (" } else { "else if (" };
                self.conditional(head, cond, then, otherwise);
            }
            _ => {
                self.line(if brace { "} else {" } else { "else" });
                self.block(otherwise);
                if brace {
                    self.line("}");
                }
            }
        }
    }
}

/// `s64 x`, `s64 *x`: no blank after a star.
pub(crate) fn declarator(ty: &str, name: &str) -> String {
    if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") }
}

/// Whether the body of a statement must stand in braces: more than one simple line.
fn needs_braces(body: &[Stmt]) -> bool {
    !matches!(
        body,
        [Stmt::Expr(_)
            | Stmt::Assign(..)
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Return(_)
            | Stmt::Goto(_)
            | Stmt::Exit(_)]
    )
}

/// An expression on one line.
pub(crate) fn flat(expr: &Expr, outer: Binding) -> String {
    let mut flow = Flow::new(0, 0);
    flow.width = usize::MAX;
    flow.expr(expr, outer);
    flow.text
}

fn columns(text: &str) -> usize {
    text.chars().map(|c| if c == '\t' { TAB } else { 1 }).sum()
}

/// Lays out one expression, starting at some column.
struct Flow {
    text: String,
    column: usize,
    width: usize,
    /// Room to keep on the last line.
    tail: usize,
}

impl Flow {
    fn new(column: usize, tail: usize) -> Flow {
        Flow { text: String::new(), column, width: WIDTH, tail }
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += columns(text);
    }

    /// Starts a line whose text begins at `column`: tabs as far as they go, then blanks.
    fn new_line(&mut self, column: usize) {
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n('\t', column / TAB));
        self.text.extend(std::iter::repeat_n(' ', column % TAB));
        self.column = column;
    }

    fn fits(&self, text: &str, after: usize) -> bool {
        self.column.saturating_add(columns(text)).saturating_add(after) <= self.width
    }

    fn expr(&mut self, expr: &Expr, outer: Binding) {
        if self.width == usize::MAX || self.is_short(expr, outer) {
            self.whole(expr, outer);
        } else {
            self.broken(expr, outer);
        }
    }

    fn is_short(&self, expr: &Expr, outer: Binding) -> bool {
        self.fits(&flat(expr, outer), self.tail)
    }

    /// On one line.
    fn whole(&mut self, expr: &Expr, outer: Binding) {
        let parenthesize = expr.binding() < outer;
        if parenthesize {
            self.put("(");
        }
        match expr {
            Expr::Long(n) => self.put(&literal::long(*n)),
            Expr::Str(bytes) => self.put(&literal::string(bytes)),
            Expr::Atom(text) => self.put(text),
            Expr::Call(name, args) => {
                self.put(name);
                self.put("(");
                self.list(args);
                self.put(")");
            }
            Expr::Braces(head, fields) => {
                self.put(head);
                self.put("{ ");
                self.list(fields);
                self.put(" }");
            }
            Expr::Prefix(op, a) => {
                self.put(op);
                // `- -x` must not become `--x`, nor `& &x` a logical and.
                let repeats = matches!(&**a, Expr::Prefix(inner, _) if inner == op)
                    || (*op == "-" && matches!(**a, Expr::Long(n) if n < 0));
                if repeats && *op != "!" && *op != "~" {
                    self.put("(");
                    self.whole(a, Binding::LOWEST);
                    self.put(")");
                } else {
                    self.whole(a, Binding::PREFIX);
                }
            }
            Expr::Infix(op, a, b) => {
                self.operand(op, a, false);
                self.put(&format!(" {op} "));
                self.operand(op, b, true);
            }
            Expr::Choice(cond, a, b) => {
                self.whole(cond, Binding(4));
                self.put(" ? ");
                self.whole(a, Binding(4));
                self.put(" : ");
                self.whole(b, Binding::CHOICE);
            }
        }
        if parenthesize {
            self.put(")");
        }
    }

    fn list(&mut self, items: &[Expr]) {
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                self.put(", ");
            }
            self.whole(item, Binding::LOWEST);
        }
    }

    fn operand(&mut self, op: &str, child: &Expr, is_right: bool) {
        if needs_parentheses(op, child, is_right) {
            self.put("(");
            self.whole(child, Binding::LOWEST);
            self.put(")");
        } else {
            self.whole(child, Binding::LOWEST);
        }
    }

    /// On several lines.
    fn broken(&mut self, expr: &Expr, outer: Binding) {
        let parenthesize = expr.binding() < outer;
        if parenthesize {
            self.put("(");
            self.tail += 1;
        }
        match expr {
            Expr::Str(bytes) => self.broken_string(bytes),
            Expr::Call(name, args) => {
                self.put(name);
                self.put("(");
                self.broken_list(args, 1);
                self.put(")");
            }
            Expr::Braces(head, fields) => {
                self.put(head);
                self.put("{ ");
                self.broken_list(fields, 2);
                self.put(" }");
            }
            Expr::Prefix(op, a) => {
                self.put(op);
                self.broken(a, Binding::PREFIX);
            }
            Expr::Infix(op, a, b) => {
                let start = self.column;
                self.broken_operand(op, a, false, op.len() + 1);
                self.put(&format!(" {op} "));
                if !self.fits(&flat(b, Binding::LOWEST), self.tail + 2) {
                    self.new_line(start);
                }
                self.broken_operand(op, b, true, 0);
            }
            Expr::Choice(cond, a, b) => {
                let start = self.column;
                self.expr(cond, Binding(4));
                self.put(" ?");
                self.new_line(start);
                self.expr(a, Binding(4));
                self.put(" :");
                self.new_line(start);
                self.expr(b, Binding::CHOICE);
            }
            Expr::Long(_) | Expr::Atom(_) => self.whole(expr, outer),
        }
        if parenthesize {
            self.put(")");
            self.tail -= 1;
        }
    }

    fn broken_operand(&mut self, op: &str, child: &Expr, is_right: bool, after: usize) {
        let tail = self.tail;
        if !is_right {
            self.tail = after;
        }
        if needs_parentheses(op, child, is_right) {
            self.put("(");
            self.tail += 1;
            self.expr(child, Binding::LOWEST);
            self.put(")");
        } else {
            self.expr(child, Binding::LOWEST);
        }
        self.tail = tail;
    }

    /// Fills lines with items, aligned at the first; `closing` columns follow the last.
    fn broken_list(&mut self, items: &[Expr], closing: usize) {
        let start = self.column;
        let tail = self.tail;
        for (n, item) in items.iter().enumerate() {
            let last = n + 1 == items.len();
            self.tail = if last { tail + closing } else { 1 };
            if n > 0 {
                self.put(" ");
                if !self.is_short(item, Binding::LOWEST) && self.column > start {
                    self.new_line(start);
                }
            }
            self.expr(item, Binding::LOWEST);
            if !last {
                self.put(",");
            }
        }
        self.tail = tail;
    }

    /// A literal in pieces that C puts together again.
    fn broken_string(&mut self, bytes: &[u8]) {
        let start = self.column;
        self.put("\"");
        for unit in literal::escaped_units(bytes) {
            let room = columns(&unit) + 1 + self.tail;
            if self.column + room > self.width && self.column > start + 1 {
                self.put("\"");
                self.new_line(start);
                self.put("\"");
            }
            self.put(&unit);
        }
        self.put("\"");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(text: &str) -> Expr {
        Expr::atom(text)
    }

    fn text(e: &Expr) -> String {
        flat(e, Binding::LOWEST)
    }

    #[test]
    fn parentheses_stand_where_precedence_or_a_reader_wants_them() {
        let sum = Expr::infix("+", atom("a"), atom("b"));
        let product = Expr::infix("*", atom("a"), atom("b"));
        assert_eq!(text(&Expr::infix("*", sum.clone(), atom("c"))), "(a + b) * c");
        assert_eq!(text(&Expr::infix("+", product.clone(), atom("c"))), "a * b + c");
        assert_eq!(text(&Expr::infix("-", atom("c"), sum.clone())), "c - (a + b)");
        assert_eq!(text(&Expr::infix("&", sum.clone(), atom("c"))), "(a + b) & c");
        let and = Expr::infix("&&", atom("a"), atom("b"));
        assert_eq!(text(&Expr::infix("||", and, atom("c"))), "(a && b) || c");
        assert_eq!(text(&Expr::prefix("-", Expr::prefix("-", atom("a")))), "-(-a)");
        assert_eq!(text(&Expr::prefix("-", Expr::Long(-1))), "-(-1)");
        assert_eq!(text(&Expr::prefix("!", sum)), "!(a + b)");
    }

    #[test]
    fn conditions_turn_around() {
        let less = Expr::infix("<", atom("a"), atom("b"));
        assert_eq!(text(&less.clone().negated()), "a >= b");
        let both = Expr::infix("&&", less, atom("c"));
        assert_eq!(text(&both.negated()), "a >= b || !c");
        let zero = Expr::infix("!=", Expr::infix("*", atom("a"), atom("b")), Expr::Long(0));
        assert_eq!(text(&zero.condition()), "a * b != 0");
    }

    #[test]
    fn literals_do_not_wrap_at_32_bits() {
        let sum = Expr::arithmetic("+", Expr::Long(2_147_483_647), Expr::Long(1));
        assert_eq!(text(&sum), "(s64)2147483647 + 1");
        let sum = Expr::arithmetic("+", atom("n"), Expr::Long(1));
        assert_eq!(text(&sum), "n + 1");
    }

    #[test]
    fn long_lines_are_broken() {
        let args = (0..12).map(|n| atom(&format!("argument_{n}"))).collect();
        let long = "word ".repeat(40).into_bytes();
        let list =
            [Stmt::call("f", args), Stmt::call("xl_print", vec![atom("c"), Expr::Str(long)])];
        let mut writer = Writer::new(|label| format!("l{}", label.0));
        writer.block(&list);
        let (out, _) = writer.finish().finish();
        assert!(out.lines().count() > 4, "{out}");
        for line in out.lines() {
            assert!(columns(line) <= WIDTH, "{line}");
        }
        let joined: String = out.split(['\n', '\t', ' ', '"']).collect();
        assert_eq!(joined.matches("word").count(), 40);
    }

    #[test]
    fn increments_of_what_a_pointer_names_are_parenthesized() {
        let target = Expr::prefix("*", atom("v"));
        let list = [
            Stmt::Assign(target.clone(), Expr::infix("+", target.clone(), Expr::Long(1))),
            Stmt::Assign(target.clone(), Expr::infix("+", target, atom("n"))),
        ];
        let mut writer = Writer::new(|label| format!("l{}", label.0));
        writer.block(&list);
        assert_eq!(writer.finish().as_str(), "\t(*v)++;\n\t*v += n;\n");
    }
}
