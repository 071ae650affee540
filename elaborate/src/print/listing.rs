//! What pass 2 found, as a list: globals, functions and probes with their types.

use crate::program::{Function, Global, Local, Program, Type};
use crate::visit::{Node, visit};
use id_arena::Arena;
use std::fmt::Write as _;

/// The list that `-p2` prints, in the form that users of SystemTap know.
pub fn listing(program: &Program) -> String {
    let mut out = String::new();
    let used = used_globals(program);
    let mut globals = program.globals.iter().filter(|(id, _)| used[id.index()]).peekable();
    if globals.peek().is_some() {
        out.push_str("# globals\n");
    }
    for (_, global) in globals {
        let _ = writeln!(out, "{}", global_line(global));
    }
    if program.functions.len() > 0 {
        out.push_str("# functions\n");
    }
    for (_, function) in program.functions.iter() {
        let _ = writeln!(out, "{}", function_line(function));
        locals(&mut out, &function.locals, function.params.len());
    }
    out.push_str("# probes\n");
    for probe in &program.probes {
        let mark = if probe.optional { "?" } else { "" };
        let _ = writeln!(out, "{}{mark} /* <- {} */", probe.name, probe.written);
        locals(&mut out, &program.handlers[probe.handler].locals, 0);
    }
    out
}

/// Which globals anything names; an unused one is not worth a line.
fn used_globals(program: &Program) -> Vec<bool> {
    use crate::program::{ExprKind, FunctionCode, Place, StmtKind};
    let mut used = vec![false; program.globals.len()];
    let mut note = |node: Node<'_>| {
        let global = match node {
            Node::Expr(expr) => match &expr.kind {
                ExprKind::Read(Place::Global(place))
                | ExprKind::Assign { place: Place::Global(place), .. }
                | ExprKind::Step { place: Place::Global(place), .. }
                | ExprKind::Accumulate { place, .. }
                | ExprKind::Stat(_, place)
                | ExprKind::Bucket(place, _)
                | ExprKind::PrintHistogram(place) => Some(place.global),
                ExprKind::In { array, .. } => Some(*array),
                _ => None,
            },
            Node::Stmt(stmt) => match &stmt.kind {
                StmtKind::Foreach(foreach) => Some(foreach.array),
                StmtKind::ForeachBucket(buckets) => Some(buckets.place.global),
                StmtKind::Delete(Place::Global(place)) => Some(place.global),
                StmtKind::Clear(array) | StmtKind::ClearSlice { array, .. } => Some(*array),
                _ => None,
            },
        };
        if let Some(global) = global {
            used[global.index()] = true;
        }
    };
    for (_, function) in program.functions.iter() {
        if let FunctionCode::Script(body) = &function.code {
            visit(body, &mut note);
        }
    }
    for (_, handler) in program.handlers.iter() {
        visit(&handler.body, &mut note);
    }
    for (_, function) in program.functions.iter() {
        if let FunctionCode::C(code) = &function.code {
            code.reads.iter().chain(&code.writes).for_each(|id| used[id.index()] = true);
        }
    }
    used
}

fn global_line(global: &Global) -> String {
    let mut line = global.name.clone();
    if global.wrap {
        line.push('%');
    }
    if let Some(size) = global.size {
        let _ = write!(line, "[{size}]");
    }
    let _ = write!(line, ":{}", global.element);
    if !global.keys.is_empty() {
        let keys: Vec<String> = global.keys.iter().map(Type::to_string).collect();
        let _ = write!(line, " [{}]", keys.join(", "));
    }
    line
}

fn function_line(function: &Function) -> String {
    let params: Vec<String> = function
        .params
        .iter()
        .map(|param| format!("{}:{}", function.locals[*param].name, function.locals[*param].ty))
        .collect();
    let result = function.result.map_or("unknown".into(), |ty| ty.to_string());
    format!("{}:{result} ({})", function.name, params.join(", "))
}

fn locals(out: &mut String, locals: &Arena<Local>, params: usize) {
    if locals.len() > params {
        out.push_str("  # locals\n");
    }
    for (_, local) in locals.iter().skip(params) {
        let _ = writeln!(out, "  {}:{}", local.name, local.ty);
    }
}
