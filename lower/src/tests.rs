//! Lowering of hand-made programs: what scripts can hardly be made to show, and the shape of the
//! rest. Snapshots of whole scripts are with the end-to-end tests.

use xlate_elaborate::program::{
    BinaryOp, Conversion, ConversionKind, Count, ElementType, EmbeddedC, Expr, ExprKind, Foreach,
    Format, Function, FunctionCode, FunctionId, Global, GlobalId, GlobalPlace, Handler, Literal,
    Local, LocalId, Piece, Place, Probe, ProbeKind, Program, Stmt, StmtKind, Type,
};
use xlate_elaborate::{SourceMap, Span};
use xlate_ir::text::print;
use xlate_ir::verifier::verify;

use crate::{LowerOptions, lower};

/// A program in the making. Everything stands at the start of the one file.
struct Maker {
    program: Program,
    sources: SourceMap,
    span: Span,
}

impl Maker {
    fn new() -> Self {
        let mut sources = SourceMap::new();
        let span = Span::new(sources.add("test.stp", "probe begin {}"), 0, 5);
        Maker { program: Program::default(), sources, span }
    }

    fn global(&mut self, name: &str, keys: &[Type], element: ElementType) -> GlobalId {
        self.program.globals.alloc(Global {
            name: name.to_owned(),
            keys: keys.to_vec(),
            element,
            init: None,
            size: None,
            wrap: false,
            parameter: false,
            histogram: None,
            span: self.span,
        })
    }

    fn long(&mut self, name: &str) -> GlobalId {
        self.global(name, &[], ElementType::Value(Type::Long))
    }

    fn function(
        &mut self,
        name: &str,
        result: Option<Type>,
        params: &[(&str, Type)],
    ) -> FunctionId {
        let mut locals = id_arena::Arena::new();
        let params = params
            .iter()
            .map(|(name, ty)| {
                locals.alloc(Local { name: (*name).to_owned(), ty: *ty, span: self.span })
            })
            .collect();
        self.program.functions.alloc(Function {
            name: name.to_owned(),
            written: name.split("__").next().unwrap_or_default().to_owned(),
            params,
            locals,
            result,
            code: FunctionCode::Script(Vec::new()),
            next_overload: None,
            span: self.span,
        })
    }

    fn body(&mut self, function: FunctionId, body: Vec<Stmt>) {
        self.program.functions[function].code = FunctionCode::Script(body);
    }

    fn param(&self, function: FunctionId, index: usize) -> LocalId {
        self.program.functions[function].params[index]
    }

    fn local(&mut self, function: FunctionId, name: &str, ty: Type) -> LocalId {
        let span = self.span;
        self.program.functions[function].locals.alloc(Local { name: name.to_owned(), ty, span })
    }

    fn probe(&mut self, kind: ProbeKind, body: Vec<Stmt>) {
        let span = self.span;
        let handler =
            self.program.handlers.alloc(Handler { locals: id_arena::Arena::new(), body, span });
        let name = match &kind {
            ProbeKind::End(_) => "end",
            _ => "begin",
        };
        self.program.probes.push(Probe {
            kind,
            name: name.to_owned(),
            written: name.to_owned(),
            handler,
            optional: false,
            span,
        });
    }

    fn expr(&self, kind: ExprKind, ty: Option<Type>) -> Expr {
        Expr { kind, ty, span: self.span }
    }

    fn number(&self, value: i64) -> Expr {
        self.expr(ExprKind::Literal(Literal::Long(value)), Some(Type::Long))
    }

    fn text(&self, text: &str) -> Expr {
        self.expr(ExprKind::Literal(Literal::Str(text.into())), Some(Type::Str))
    }

    fn read(&self, place: Place) -> Expr {
        self.expr(ExprKind::Read(place), Some(Type::Long))
    }

    fn binary(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        self.expr(ExprKind::Binary(op, left.into(), right.into()), Some(Type::Long))
    }

    fn assign(&self, place: Place, op: Option<BinaryOp>, value: Expr) -> Expr {
        let ty = value.ty;
        self.expr(ExprKind::Assign { place, op, value: value.into() }, ty)
    }

    fn increment(&self, place: Place) -> Expr {
        self.expr(ExprKind::Step { place, by: 1, post: true }, Some(Type::Long))
    }

    fn call(&self, function: FunctionId, arguments: Vec<Expr>) -> Expr {
        let ty = self.program.functions[function].result;
        self.expr(ExprKind::Call(function, arguments), ty)
    }

    fn printf(&self, value: Expr) -> Stmt {
        let conversion = Conversion {
            kind: ConversionKind::Decimal,
            left: false,
            plus: false,
            space: false,
            alternate: false,
            zero: false,
            width: Count::None,
            precision: Count::None,
        };
        let pieces = vec![Piece::Conversion(conversion), Piece::Text(b"\n".to_vec())];
        self.does(self.expr(ExprKind::Print(Format { pieces }, vec![value]), None))
    }

    fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span }
    }

    fn does(&self, expr: Expr) -> Stmt {
        self.stmt(StmtKind::Expr(expr))
    }

    /// The text form of the module.
    fn lower(&self) -> String {
        let options = LowerOptions::default();
        match lower(&self.program, &self.sources, &options) {
            Ok(module) => {
                assert_eq!(verify(&module), Ok(()), "{}", print(&module));
                print(&module)
            }
            Err(error) => format!("{error}\n"),
        }
    }
}

fn scalar(global: GlobalId) -> Place {
    Place::Global(GlobalPlace { global, keys: Vec::new() })
}

fn element(global: GlobalId, keys: Vec<Expr>) -> Place {
    Place::Global(GlobalPlace { global, keys })
}

fn snapshot(name: &str, module: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/lower");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, module));
}

#[test]
fn an_unused_increment_is_one_update() {
    let mut m = Maker::new();
    let n = m.long("n");
    let increment = m.does(m.increment(scalar(n)));
    m.probe(ProbeKind::Begin(0), vec![increment]);
    let used = m.printf(m.increment(scalar(n)));
    m.probe(ProbeKind::End(0), vec![used]);
    snapshot("increments", &m.lower());
}

#[test]
fn a_place_is_read_after_its_right_hand_side() {
    let mut m = Maker::new();
    let n = m.long("n");
    let inner = m.assign(scalar(n), None, m.number(5));
    let sum = m.assign(scalar(n), Some(BinaryOp::Add), inner);
    let print = m.printf(sum);
    m.probe(ProbeKind::Begin(0), vec![print]);
    snapshot("assignment-order", &m.lower());
}

#[test]
fn next_passes_the_first_arguments_on_and_leaves_try() {
    let mut m = Maker::new();
    let second = m.function("f__2", Some(Type::Long), &[("x", Type::Long)]);
    let x = Place::Local(m.param(second, 0));
    let result = m.binary(BinaryOp::Div, m.number(1), m.read(x));
    let result = m.stmt(StmtKind::Return(Some(result)));
    m.body(second, vec![result]);
    let first = m.function("f__1", Some(Type::Long), &[("x", Type::Long)]);
    m.program.functions[first].next_overload = Some(second);
    let x = Place::Local(m.param(first, 0));
    let body = vec![m.does(m.increment(x.clone())), m.stmt(StmtKind::Next)];
    let catch = vec![m.stmt(StmtKind::Return(Some(m.read(x))))];
    let watched = m.stmt(StmtKind::Try { body, message: None, catch });
    m.body(first, vec![watched]);
    let print = m.printf(m.call(first, vec![m.number(0)]));
    m.probe(ProbeKind::Begin(0), vec![print]);
    snapshot("next-overload", &m.lower());
}

#[test]
fn recursive_calls_pay_and_others_do_not() {
    let mut m = Maker::new();
    let even = m.function("even", Some(Type::Long), &[("n", Type::Long)]);
    let odd = m.function("odd", Some(Type::Long), &[("n", Type::Long)]);
    for (this, other) in [(even, odd), (odd, even)] {
        let n = m.read(Place::Local(m.param(this, 0)));
        let less = m.binary(BinaryOp::Sub, n, m.number(1));
        let result = m.stmt(StmtKind::Return(Some(m.call(other, vec![less]))));
        m.body(this, vec![result]);
    }
    let print = m.printf(m.call(even, vec![m.number(4)]));
    m.probe(ProbeKind::Begin(0), vec![print]);
    let text = m.lower();
    assert_eq!(text.matches("action").count(), 2, "{text}");
}

/// `function f(k) { foreach (k in a) { foreach (j in a) { BODY } } return k }`, called in `begin`.
fn nested_walks(
    body: impl FnOnce(&mut Maker, FunctionId, GlobalId, [LocalId; 2]) -> Vec<Stmt>,
) -> String {
    let mut m = Maker::new();
    let a = m.global("a", &[Type::Long], ElementType::Value(Type::Long));
    let f = m.function("f", Some(Type::Long), &[]);
    let [k, j] = [m.local(f, "k", Type::Long), m.local(f, "j", Type::Long)];
    let mut body = body(&mut m, f, a, [k, j]);
    for key in [j, k] {
        let foreach = Foreach {
            array: a,
            keys: vec![key],
            value: None,
            sort: None,
            slice: Vec::new(),
            limit: None,
            body,
        };
        body = vec![m.stmt(StmtKind::Foreach(Box::new(foreach)))];
    }
    body.push(m.stmt(StmtKind::Return(Some(m.read(Place::Local(k))))));
    m.body(f, body);
    let print = m.printf(m.call(f, Vec::new()));
    m.probe(ProbeKind::Begin(0), vec![print]);
    m.lower()
}

#[test]
fn leaving_loops_ends_their_walks() {
    let text = nested_walks(|m, _, a, [k, j]| {
        let at = |m: &Maker, key| m.read(element(a, vec![m.read(Place::Local(key))]));
        let same = m.binary(BinaryOp::Eq, at(m, k), at(m, j));
        let result = m.binary(BinaryOp::Mul, at(m, j), m.number(2));
        vec![
            m.stmt(StmtKind::If {
                condition: same,
                then: vec![m.stmt(StmtKind::Return(Some(result)))],
                otherwise: vec![m.stmt(StmtKind::Continue)],
            }),
            m.stmt(StmtKind::Break),
        ]
    });
    snapshot("nested-walks", &text);
}

#[test]
fn next_without_a_further_overload_raises() {
    let mut m = Maker::new();
    let f = m.function("f__2", None, &[]);
    let body = vec![m.stmt(StmtKind::Next)];
    let watched = m.stmt(StmtKind::Try { body, message: None, catch: Vec::new() });
    m.body(f, vec![watched]);
    let call = m.does(m.call(f, Vec::new()));
    m.probe(ProbeKind::Begin(0), vec![call]);
    let text = m.lower();
    assert!(text.contains("\"no overload of f is left for next\""), "{text}");
    assert!(text.contains("raise v0 @") && !text.contains("catch"), "{text}");
}

#[test]
fn deleting_a_slice_is_a_walk() {
    let mut m = Maker::new();
    let a = m.global("a", &[Type::Long, Type::Str], ElementType::Stat);
    let keys = vec![Some(m.number(1)), None];
    let delete = m.stmt(StmtKind::ClearSlice { array: a, keys });
    m.probe(ProbeKind::Begin(0), vec![delete]);
    snapshot("delete-slice", &m.lower());
}

#[test]
fn errors_go_to_the_innermost_catch() {
    let mut m = Maker::new();
    let n = m.long("n");
    let error = m.function("error", None, &[("msg", Type::Str)]);
    m.program.functions[error].code = FunctionCode::Intrinsic("ctl.error".to_owned());
    let quotient = m.binary(BinaryOp::Div, m.number(1), m.read(scalar(n)));
    let inner = m.stmt(StmtKind::Try {
        body: vec![m.printf(quotient.clone())],
        message: None,
        catch: vec![m.does(m.call(error, vec![m.text("again")])), m.printf(m.number(1))],
    });
    let outer = m.stmt(StmtKind::Try {
        body: vec![inner, m.printf(quotient.clone())],
        message: None,
        catch: vec![m.printf(m.number(2))],
    });
    let last = m.printf(quotient);
    m.probe(ProbeKind::Begin(0), vec![outer, last]);
    snapshot("nested-catch", &m.lower());
}

#[test]
fn handlers_lock_what_their_callees_touch() {
    let mut m = Maker::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| m.long(name));
    let inner = m.function("inner", None, &[]);
    let step = m.does(m.increment(scalar(c)));
    m.body(inner, vec![step]);
    let native = m.function("native", None, &[]);
    m.program.functions[native].code = FunctionCode::C(EmbeddedC {
        text: " ; ".to_owned(),
        pure_: false,
        stable: false,
        raises: false,
        reads: vec![b],
        writes: Vec::new(),
        span: m.span,
    });
    let outer = m.function("outer", None, &[]);
    let calls = vec![m.does(m.call(inner, Vec::new())), m.does(m.call(native, Vec::new()))];
    m.body(outer, calls);
    let call = m.does(m.call(outer, Vec::new()));
    m.probe(ProbeKind::Begin(0), vec![call]);
    let step = m.does(m.increment(scalar(a)));
    m.probe(ProbeKind::End(0), vec![step]);
    snapshot("locks", &m.lower());
}

#[test]
fn c_that_names_globals_becomes_a_function() {
    let mut m = Maker::new();
    let n = m.long("n");
    let mut c = EmbeddedC {
        text: " /* pragma:read:n */ STAP_GLOBAL_GET_n() ".to_owned(),
        pure_: false,
        stable: false,
        raises: false,
        reads: vec![n],
        writes: Vec::new(),
        span: m.span,
    };
    let print = m.printf(m.expr(ExprKind::EmbeddedC(Box::new(c.clone())), Some(Type::Long)));
    m.probe(ProbeKind::Begin(0), vec![print]);
    c.reads.clear();
    c.span.start += 1;
    c.text = " ; ".to_owned();
    let plain = m.stmt(StmtKind::EmbeddedC(Box::new(c)));
    m.probe(ProbeKind::End(0), vec![plain]);
    snapshot("embedded-c", &m.lower());
}

#[test]
fn an_unknown_operation_is_an_error() {
    let mut m = Maker::new();
    let f = m.function("f", Some(Type::Long), &[]);
    m.program.functions[f].code = FunctionCode::Intrinsic("ctx.moon".to_owned());
    assert_eq!(m.lower(), "function `f`: the runtime has no operation of the name `ctx.moon`\n");
    m.program.functions[f].code = FunctionCode::Intrinsic("str.len".to_owned());
    assert_eq!(
        m.lower(),
        "function `f`: the parameters are not those of the operation `str.len`\n"
    );
    m.program.functions[f].code = FunctionCode::Intrinsic("ctx.execname".to_owned());
    assert_eq!(m.lower(), "function `f`: the result is not that of the operation `ctx.execname`\n");
}
