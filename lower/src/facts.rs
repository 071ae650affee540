//! What statements call, which globals they write, callees included, and what C they contain.
//!
//! Lowering needs to know before it starts which calls are recursive, for those pay an action;
//! whether the body of a `foreach` leaves the array alone, for then its elements need not be looked
//! up again; and which C becomes functions of its own.

use std::collections::{BTreeMap, BTreeSet};

use xlate_elaborate::Span;

use xlate_elaborate::program::{
    EmbeddedC, Expr, ExprKind, Foreach, FunctionCode, FunctionId, GlobalId, GlobalPlace, Place,
    Program, Stmt, StmtKind, Type,
};

/// What a list of statements does itself.
#[derive(Clone, Default, Debug)]
struct Facts<'p> {
    calls: BTreeSet<FunctionId>,
    writes: BTreeSet<GlobalId>,
    outlined: Outlined<'p>,
}

/// C of statements and expressions that may raise or that names globals, by where it stands. An
/// instruction cannot say such things of itself, a function can.
pub(crate) type Outlined<'p> = BTreeMap<Span, (&'p EmbeddedC, Option<Type>)>;

/// The C in all bodies of a program that becomes functions.
pub(crate) fn outlined(program: &Program) -> Outlined<'_> {
    let mut facts = Facts::default();
    for (_, function) in &program.functions {
        if let FunctionCode::Script(body) = &function.code {
            facts.stmts(body);
        }
    }
    for (_, handler) in &program.handlers {
        facts.stmts(&handler.body);
    }
    facts.outlined
}

/// The call graph, closed, and what each function writes itself.
#[derive(Debug)]
pub(crate) struct CallGraph {
    /// For each function, those that it may run, itself only if it is recursive.
    reaches: Vec<BTreeSet<FunctionId>>,
    writes: Vec<BTreeSet<GlobalId>>,
}

impl CallGraph {
    /// The call graph of a program.
    pub(crate) fn new(program: &Program) -> Self {
        let facts: Vec<Facts> = program
            .functions
            .iter()
            .map(|(_, function)| {
                let mut facts = Facts::default();
                match &function.code {
                    FunctionCode::Script(body) => facts.stmts(body),
                    FunctionCode::C(c) => facts.writes.extend(&c.writes),
                    FunctionCode::Intrinsic(_) => {}
                }
                facts.calls.extend(function.next_overload);
                facts
            })
            .collect();
        let reaches = facts.iter().map(|f| reachable(&f.calls, &facts)).collect();
        CallGraph { reaches, writes: facts.into_iter().map(|f| f.writes).collect() }
    }

    /// Whether a call of `callee` in the body of `caller` is on a cycle of the call graph.
    pub(crate) fn is_recursive(&self, caller: FunctionId, callee: FunctionId) -> bool {
        caller == callee || self.reaches[callee.index()].contains(&caller)
    }

    /// Whether running the statements may write the global.
    pub(crate) fn may_write(&self, body: &[Stmt], global: GlobalId) -> bool {
        let mut facts = Facts::default();
        facts.stmts(body);
        let writes = |f: &FunctionId| self.writes[f.index()].contains(&global);
        facts.writes.contains(&global)
            || facts.calls.iter().any(|f| writes(f) || self.reaches[f.index()].iter().any(writes))
    }
}

/// All functions that may run when those of `roots` are called.
fn reachable(roots: &BTreeSet<FunctionId>, facts: &[Facts]) -> BTreeSet<FunctionId> {
    let mut seen = roots.clone();
    let mut pending: Vec<_> = roots.iter().copied().collect();
    while let Some(function) = pending.pop() {
        let calls = facts[function.index()].calls.iter().copied();
        pending.extend(calls.filter(|&callee| seen.insert(callee)));
    }
    seen
}

impl<'p> Facts<'p> {
    fn stmts(&mut self, stmts: &'p [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'p Stmt) {
        match &stmt.kind {
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Block(body) => self.stmts(body),
            StmtKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.stmts(then);
                self.stmts(otherwise);
            }
            StmtKind::Loop { init, condition, step, body } => {
                self.exprs(init);
                self.exprs(condition);
                self.exprs(step);
                self.stmts(body);
            }
            StmtKind::Foreach(foreach) => {
                let Foreach { slice, limit, body, .. } = &**foreach;
                self.exprs(slice.iter().flatten());
                self.exprs(limit);
                self.stmts(body);
            }
            StmtKind::ForeachBucket { place, limit, body, .. } => {
                self.exprs(&place.keys);
                self.exprs(limit);
                self.stmts(body);
            }
            StmtKind::Return(value) => self.exprs(value),
            StmtKind::Delete(place) => self.written(place),
            StmtKind::Clear(global) => {
                self.writes.insert(*global);
            }
            StmtKind::Try { body, catch, .. } => {
                self.stmts(body);
                self.stmts(catch);
            }
            StmtKind::EmbeddedC(c) => self.embedded(c, None),
            StmtKind::Break | StmtKind::Continue | StmtKind::Next => {}
        }
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'p Expr>) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &'p Expr) {
        match &expr.kind {
            ExprKind::Literal(_) => {}
            ExprKind::Read(place) => self.exprs(keys(place)),
            ExprKind::Assign { place, value, .. } => {
                self.written(place);
                self.expr(value);
            }
            ExprKind::Step { place, .. } => self.written(place),
            ExprKind::Accumulate { place, value } => {
                self.written_global(place);
                self.expr(value);
            }
            ExprKind::Unary(_, a) | ExprKind::Match { text: a, .. } => self.expr(a),
            ExprKind::Binary(_, a, b) | ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Conditional(a, b, c) => {
                self.expr(a);
                self.expr(b);
                self.expr(c);
            }
            ExprKind::In { keys, .. } => self.exprs(keys.iter().flatten()),
            ExprKind::Call(function, arguments) => {
                self.exprs(arguments);
                self.calls.insert(*function);
            }
            ExprKind::Print(_, arguments) | ExprKind::Format(_, arguments) => self.exprs(arguments),
            ExprKind::Stat(_, place) | ExprKind::PrintHistogram(place) => self.exprs(&place.keys),
            ExprKind::Bucket(place, bucket) => {
                self.exprs(&place.keys);
                self.expr(bucket);
            }
            ExprKind::EmbeddedC(c) => self.embedded(c, expr.ty),
        }
    }

    fn written(&mut self, place: &'p Place) {
        if let Place::Global(place) = place {
            self.written_global(place);
        }
    }

    fn written_global(&mut self, place: &'p GlobalPlace) {
        self.exprs(&place.keys);
        self.writes.insert(place.global);
    }

    fn embedded(&mut self, c: &'p EmbeddedC, result: Option<Type>) {
        self.writes.extend(&c.writes);
        if c.raises || !c.reads.is_empty() || !c.writes.is_empty() {
            self.outlined.insert(c.span, (c, result));
        }
    }
}

fn keys(place: &Place) -> &[Expr] {
    match place {
        Place::Local(_) => &[],
        Place::Global(place) => &place.keys,
    }
}
