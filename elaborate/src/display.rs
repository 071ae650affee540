//! Globals that a script writes and never reads are printed when the session ends.

use crate::context::Context;
use crate::program::{
    BinaryOp, Conversion, ConversionKind, Count, ElementType, Expr, ExprKind, Foreach, Format,
    GlobalId, GlobalPlace, Handler, Literal, Local, LocalId, Piece, Place, Probe, ProbeKind, Sort,
    SortBy, StatField, Stmt, StmtKind, Type,
};
use id_arena::Arena;
use xlate_grammar::Span;

/// The fields of a statistic that are printed.
const FIELDS: [(&str, StatField); 5] = [
    ("count", StatField::Count),
    ("min", StatField::Min),
    ("max", StatField::Max),
    ("sum", StatField::Sum),
    ("avg", StatField::Avg),
];

/// Adds an `end` probe for each global of the scripts that is written but never read.
pub(crate) fn add(cx: &mut Context<'_>) {
    let ids: Vec<GlobalId> = cx.program.globals.iter().map(|(id, _)| id).collect();
    for id in ids {
        let state = &cx.globals[id.index()];
        let declared = cx.declarations.globals[state.decl.0];
        if state.written.is_none()
            || state.read.is_some()
            || cx.declarations.is_library(declared.file)
        {
            continue;
        }
        let global = &cx.program.globals[id];
        let mut display =
            Display { id, name: &declared.node.name.name, span: global.span, locals: Arena::new() };
        let body = vec![display.statement(&global.keys, global.element)];
        let (locals, span) = (display.locals, global.span);
        let handler = cx.program.handlers.alloc(Handler { locals, body, span });
        cx.program.probes.push(Probe {
            kind: ProbeKind::End(0),
            name: "end".into(),
            written: "end".into(),
            handler,
            optional: false,
            span,
        });
    }
}

struct Display<'d> {
    id: GlobalId,
    name: &'d str,
    span: Span,
    locals: Arena<Local>,
}

impl Display<'_> {
    fn expr(&self, kind: ExprKind, ty: Option<Type>) -> Expr {
        Expr { kind, ty, span: self.span }
    }

    fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span }
    }

    fn local(&mut self, name: &str, ty: Type) -> LocalId {
        self.locals.alloc(Local { name: name.into(), ty, span: self.span })
    }

    fn read(&self, local: LocalId) -> Expr {
        self.expr(ExprKind::Read(Place::Local(local)), Some(self.locals[local].ty))
    }

    fn statement(&mut self, keys: &[Type], element: ElementType) -> Stmt {
        if keys.is_empty() {
            return self.scalar(element);
        }
        let locals: Vec<LocalId> = keys
            .iter()
            .enumerate()
            .map(|(at, ty)| self.local(&format!("key{}", at + 1), *ty))
            .collect();
        let mut line = Line::new(format!("{}[", self.name));
        for (at, local) in locals.iter().enumerate() {
            if at > 0 {
                line.text(",");
            }
            line.value(self.read(*local));
        }
        let (value, by) = match element {
            ElementType::Value(ty) => {
                line.text("]=");
                let local = self.local("value", ty);
                line.value(self.read(local));
                (Some(local), SortBy::Value)
            }
            ElementType::Stat => {
                line.text("]");
                let keys: Vec<Expr> = locals.iter().map(|local| self.read(*local)).collect();
                self.fields(&mut line, &keys);
                (None, SortBy::Stat(StatField::Count))
            }
        };
        let foreach = Foreach {
            array: self.id,
            keys: locals,
            value,
            sort: Some(Sort { by, descending: true }),
            slice: Vec::new(),
            limit: None,
            body: vec![self.print(line)],
        };
        self.stmt(StmtKind::Foreach(Box::new(foreach)))
    }

    fn scalar(&self, element: ElementType) -> Stmt {
        let place = GlobalPlace { global: self.id, keys: Vec::new() };
        match element {
            ElementType::Value(ty) => {
                let mut line = Line::new(format!("{}=", self.name));
                line.value(self.expr(ExprKind::Read(Place::Global(place)), Some(ty)));
                self.print(line)
            }
            ElementType::Stat => {
                let mut line = Line::new(self.name.into());
                self.fields(&mut line, &[]);
                let count = self.expr(ExprKind::Stat(StatField::Count, place), Some(Type::Long));
                let zero = self.expr(ExprKind::Literal(Literal::Long(0)), Some(Type::Long));
                let empty = ExprKind::Binary(BinaryOp::Eq, Box::new(count), Box::new(zero));
                // Of an empty statistic, nothing but the count can be asked.
                self.stmt(StmtKind::If {
                    condition: self.expr(empty, Some(Type::Long)),
                    then: vec![self.print(Line::new(format!("{} @count=0x0", self.name)))],
                    otherwise: vec![self.print(line)],
                })
            }
        }
    }

    fn fields(&self, line: &mut Line, keys: &[Expr]) {
        for (name, field) in FIELDS {
            line.text(&format!(" @{name}="));
            let place = GlobalPlace { global: self.id, keys: keys.to_vec() };
            line.value(self.expr(ExprKind::Stat(field, place), Some(Type::Long)));
        }
    }

    fn print(&self, mut line: Line) -> Stmt {
        line.text("\n");
        let print = ExprKind::Print(line.format, line.values);
        self.stmt(StmtKind::Expr(self.expr(print, None)))
    }
}

/// A line of output under construction.
struct Line {
    format: Format,
    values: Vec<Expr>,
}

impl Line {
    fn new(text: String) -> Self {
        Line { format: Format { pieces: vec![Piece::Text(text.into_bytes())] }, values: Vec::new() }
    }

    fn text(&mut self, text: &str) {
        match self.format.pieces.last_mut() {
            Some(Piece::Text(bytes)) => bytes.extend_from_slice(text.as_bytes()),
            _ => self.format.pieces.push(Piece::Text(text.into())),
        }
    }

    /// A value; strings in quotes, with what is not printable escaped.
    fn value(&mut self, value: Expr) {
        let string = value.ty == Some(Type::Str);
        if string {
            self.text("\"");
        }
        self.format.pieces.push(Piece::Conversion(Conversion {
            kind: if string { ConversionKind::Str } else { ConversionKind::Decimal },
            left: false,
            plus: false,
            space: false,
            alternate: string,
            zero: false,
            width: Count::None,
            precision: Count::None,
        }));
        self.values.push(value);
        if string {
            self.text("\"");
        }
    }
}
