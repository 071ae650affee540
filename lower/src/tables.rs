//! The tables of the module: files, globals, functions by name, regular expressions, probe points.

use std::cell::{Cell, RefCell};

use xlate_elaborate::program as typed;
use xlate_elaborate::{FileId, SourceMap, Span};
use xlate_ir::effects::{Effects, Invariance};
use xlate_ir::entities::{Entity, File, Function, Global, Handler, Regex};
use xlate_ir::intrinsics::{Intrinsic, Slot};
use xlate_ir::module::{
    Body, CText, FunctionCode, FunctionData, Limits, Module, Period, ProbeKind, ProbePoint,
};
use xlate_ir::types::{Const, Discipline, ElementType, GlobalData, Histogram, Pos, Type};

use crate::LowerError;
use crate::facts::{CallGraph, Outlined, handing_over, outlined};

/// What a call of a function becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Callee {
    /// A call of a function of the module.
    Function(Function),
    /// An operation of the runtime.
    Intrinsic(Intrinsic),
    /// Raises its argument as an error.
    Error,
}

/// A line of a source file, from its first byte up to its end.
#[derive(Clone, Copy, Debug)]
struct Line {
    file: FileId,
    start: u32,
    end: u32,
    /// A position in it.
    pos: Pos,
}

impl Line {
    fn has(&self, span: Span) -> bool {
        self.file == span.file && (self.start..self.end).contains(&span.start)
    }
}

/// The name by which a tapset function asks to raise its argument as an error.
const ERROR: &str = "ctl.error";

/// What the lowering of every body looks things up in.
#[derive(Debug)]
pub(crate) struct Tables<'a> {
    pub(crate) program: &'a typed::Program,
    pub(crate) calls: CallGraph,
    sources: &'a SourceMap,
    /// The source file behind each file of the module, as positions come to need it.
    files: RefCell<Vec<FileId>>,
    /// The line that was asked for last: it mostly is the one that is asked for next.
    line: Cell<Option<Line>>,
    /// What each function of the program becomes.
    callees: Vec<Callee>,
    /// The functions that C of statements and expressions becomes, after all others.
    outlined: Outlined<'a>,
    /// Functions in C that hand over to another overload; their C becomes a function of its own,
    /// after those.
    handing_over: Vec<typed::FunctionId>,
    /// Most bytes of a string, the NUL not counted.
    pub(crate) longest: u32,
}

impl<'a> Tables<'a> {
    /// The tables of a program.
    pub(crate) fn new(
        program: &'a typed::Program,
        sources: &'a SourceMap,
        limits: &Limits,
    ) -> Result<Self, LowerError> {
        let mut next = 0;
        let callees = program.functions.iter().map(|(_, f)| callee(f, &mut next));
        Ok(Tables {
            program,
            calls: CallGraph::new(program),
            sources,
            files: RefCell::default(),
            line: Cell::default(),
            callees: callees.collect::<Result<_, _>>()?,
            outlined: outlined(program),
            handing_over: handing_over(program),
            longest: limits.longest_string(),
        })
    }

    /// A module with everything but code: functions are declared only.
    pub(crate) fn declare(&self, limits: Limits) -> Module {
        let mut module = Module { limits, ..Module::default() };
        for (_, global) in &self.program.globals {
            module.globals.alloc(self.global_data(global, module.limits.max_map_entries));
        }
        for (_, function) in &self.program.functions {
            if let Some(data) = self.function_data(function) {
                module.functions.alloc(data);
            }
        }
        for (index, &(c, result)) in self.outlined.values().enumerate() {
            module.functions.alloc(self.outlined_function(index, c, result));
        }
        for &id in &self.handing_over {
            let function = &self.program.functions[id];
            if let typed::FunctionCode::C(c) = &function.code {
                let name = format!("{}__c", function.name);
                module.functions.alloc(FunctionData {
                    name,
                    code: self.function_in_c(function, c),
                    ..self.signature(function)
                });
            }
        }
        for (_, regex) in &self.program.regexes {
            module.regexes.alloc(regex.pattern.clone().into());
        }
        for c in &self.program.embedded {
            module.preamble.push(CText { text: c.text.clone(), pos: self.position(c.span) });
        }
        module.probes = self.program.probes.iter().map(|probe| self.probe_point(probe)).collect();
        module
    }

    /// The names of the files that positions refer to, in the order of their ids.
    pub(crate) fn file_names(&self) -> Vec<String> {
        self.files.borrow().iter().map(|&file| self.sources.name(file).to_owned()).collect()
    }

    /// Where a span starts, in the script itself if it comes out of a macro.
    pub(crate) fn position(&self, span: Span) -> Option<Pos> {
        let origin = self.sources.origin(span);
        let line = self.line.get();
        if let Some(line) = line.filter(|line| line.has(origin)) {
            return Some(Pos { column: origin.start - line.start + 1, ..line.pos });
        }
        let mut files = self.files.borrow_mut();
        let known = files.iter().position(|&file| file == origin.file);
        let index = known.unwrap_or_else(|| {
            files.push(origin.file);
            files.len() - 1
        });
        let at = self.sources.position_of(origin.file, origin.start);
        let pos = Pos { file: File::from_index(index), line: at.line, column: at.column };
        let bytes = self.sources.line_range(origin.file, at.line as usize - 1);
        let bytes = bytes.map(|bytes| (bytes.start as u32, bytes.end as u32));
        self.line.set(bytes.map(|(start, end)| Line { file: origin.file, start, end, pos }));
        Some(pos)
    }

    /// The type of any value of a type of the language.
    pub(crate) fn ty(&self, ty: typed::Type) -> Type {
        match ty {
            typed::Type::Long => Type::Long,
            typed::Type::Str => Type::Str(self.longest),
        }
    }

    /// A literal as a constant, cut to the longest string there can be.
    pub(crate) fn constant(&self, literal: &typed::Literal) -> Const {
        match literal {
            typed::Literal::Long(value) => Const::Long(*value),
            typed::Literal::Str(bytes) => {
                let length = bytes.len().min(self.longest as usize);
                Const::Str(bytes[..length].into())
            }
        }
    }

    /// What a call of the function becomes.
    pub(crate) fn callee(&self, function: typed::FunctionId) -> Callee {
        self.callees[function.index()]
    }

    /// The function that C of a statement or expression becomes, if it becomes one.
    pub(crate) fn outlined(&self, c: &typed::EmbeddedC) -> Option<Function> {
        let index = self.outlined.keys().position(|&span| span == c.span)?;
        Some(Function::from_index(self.declared_functions() + index))
    }

    /// The function that has the C of a function which hands over to another overload.
    pub(crate) fn handing_over(&self, function: typed::FunctionId) -> Option<Function> {
        let index = self.handing_over.iter().position(|&id| id == function)?;
        Some(Function::from_index(self.declared_functions() + self.outlined.len() + index))
    }

    fn declared_functions(&self) -> usize {
        let is_function = |callee: &&Callee| matches!(callee, Callee::Function(_));
        self.callees.iter().filter(is_function).count()
    }

    /// The global of the module.
    pub(crate) fn global(&self, global: typed::GlobalId) -> Global {
        Global::from_index(global.index())
    }

    /// The regular expression of the module.
    pub(crate) fn regex(&self, regex: typed::RegexId) -> Regex {
        Regex::from_index(regex.index())
    }

    fn global_data(&self, global: &typed::Global, max_entries: u32) -> GlobalData {
        let element = match global.element {
            typed::ElementType::Value(typed::Type::Long) => ElementType::Long,
            typed::ElementType::Value(typed::Type::Str) => ElementType::Str(self.longest),
            typed::ElementType::Stat => ElementType::Stat,
        };
        GlobalData {
            name: global.name.clone(),
            keys: global.keys.iter().map(|&ty| self.ty(ty)).collect(),
            element,
            init: global.init.as_ref().map(|init| self.constant(init)),
            max_entries: global.size.unwrap_or(max_entries),
            wrap: global.wrap,
            parameter: global.parameter,
            histogram: global.histogram.map(histogram),
            discipline: Discipline::default(),
            pos: self.position(global.span),
        }
    }

    /// The signature of a function, with its code if that is C; `None` for an operation of the
    /// runtime.
    fn function_data(&self, function: &typed::Function) -> Option<FunctionData> {
        let code = match &function.code {
            typed::FunctionCode::Intrinsic(_) => return None,
            typed::FunctionCode::C(c) if function.next_overload.is_none() => {
                self.function_in_c(function, c)
            }
            _ => FunctionCode::Body(Body::default()),
        };
        Some(FunctionData { code, ..self.signature(function) })
    }

    /// A function without code.
    fn signature(&self, function: &typed::Function) -> FunctionData {
        let params = function.params.iter().map(|&param| self.ty(function.locals[param].ty));
        FunctionData {
            name: function.name.clone(),
            params: params.collect(),
            result: function.result.map(|ty| self.ty(ty)),
            code: FunctionCode::Body(Body::default()),
            places: Vec::new(),
            variants: Vec::new(),
            pos: self.position(function.span),
        }
    }

    fn function_in_c(&self, function: &typed::Function, c: &typed::EmbeddedC) -> FunctionCode {
        let names = function.params.iter().map(|&param| function.locals[param].name.clone());
        let mut effects = effects_of(c);
        // It tells its caller whether to hand over.
        effects.acts |= function.next_overload.is_some();
        FunctionCode::C { text: c.text.clone(), names: names.collect(), effects }
    }

    /// C of a statement or expression as a function without parameters.
    fn outlined_function(
        &self,
        index: usize,
        c: &typed::EmbeddedC,
        result: Option<typed::Type>,
    ) -> FunctionData {
        let text = match result {
            None => c.text.clone(),
            Some(typed::Type::Long) => format!(" STAP_RETVALUE = ({}); ", c.text),
            Some(typed::Type::Str) => {
                format!(" strscpy(STAP_RETVALUE, ({}), MAXSTRINGLEN); ", c.text)
            }
        };
        FunctionData {
            name: format!("embedded__{}", index + 1),
            params: Vec::new(),
            result: result.map(|ty| self.ty(ty)),
            code: FunctionCode::C { text, names: Vec::new(), effects: effects_of(c) },
            places: Vec::new(),
            variants: Vec::new(),
            pos: self.position(c.span),
        }
    }

    fn probe_point(&self, probe: &typed::Probe) -> ProbePoint {
        ProbePoint {
            kind: probe_kind(&probe.kind),
            name: probe.name.clone(),
            written: probe.written.clone(),
            handler: Handler::from_index(probe.handler.index()),
            record: Vec::new(),
            places: Vec::new(),
            optional: probe.optional,
            pos: self.position(probe.span),
        }
    }
}

/// What a call of the function becomes; functions of the module are numbered from `next`.
fn callee(function: &typed::Function, next: &mut usize) -> Result<Callee, LowerError> {
    let typed::FunctionCode::Intrinsic(name) = &function.code else {
        *next += 1;
        return Ok(Callee::Function(Function::from_index(*next - 1)));
    };
    let wrong = |what: &str| LowerError {
        message: format!("function `{}`: {what} `{name}`", function.written),
        span: function.span,
    };
    let params = function.params.iter().map(|&param| function.locals[param].ty);
    if name == ERROR {
        let takes_message = params.eq([typed::Type::Str]);
        return takes_message
            .then_some(Callee::Error)
            .ok_or_else(|| wrong("one string is the parameter of the operation"));
    }
    let intrinsic =
        Intrinsic::named(name).ok_or_else(|| wrong("the runtime has no operation of the name"))?;
    let signature = intrinsic.signature();
    if !params.eq(signature.params.iter().copied().map(slot_type)) {
        return Err(wrong("the parameters are not those of the operation"));
    }
    if function.result != signature.result.map(slot_type) {
        return Err(wrong("the result is not that of the operation"));
    }
    Ok(Callee::Intrinsic(intrinsic))
}

fn slot_type(slot: Slot) -> typed::Type {
    match slot {
        Slot::Long => typed::Type::Long,
        Slot::Str | Slot::Bounded(_) => typed::Type::Str,
    }
}

/// What the pragmas of C say that it does.
fn effects_of(c: &typed::EmbeddedC) -> Effects {
    let globals =
        |ids: &[typed::GlobalId]| ids.iter().map(|id| Global::from_index(id.index())).collect();
    Effects {
        reads: globals(&c.reads),
        writes: globals(&c.writes),
        raises: c.raises,
        acts: !c.pure_,
        invariance: if c.stable { Invariance::Handler } else { Invariance::Volatile },
        ..Effects::default()
    }
}

fn histogram(histogram: typed::Histogram) -> Histogram {
    match histogram {
        typed::Histogram::Log => Histogram::Log,
        typed::Histogram::Linear { low, high, width } => Histogram::Linear { low, high, width },
    }
}

fn probe_kind(kind: &typed::ProbeKind) -> ProbeKind {
    match kind {
        typed::ProbeKind::Begin(n) => ProbeKind::Begin(*n),
        typed::ProbeKind::End(n) => ProbeKind::End(*n),
        typed::ProbeKind::Error(n) => ProbeKind::Error(*n),
        typed::ProbeKind::Never => ProbeKind::Never,
        typed::ProbeKind::Timer { period, randomize } => {
            let period = match *period {
                typed::Period::Jiffies(n) => Period::Jiffies(n),
                typed::Period::Nanoseconds(n) => Period::Nanoseconds(n),
            };
            ProbeKind::Timer { period, randomize: *randomize }
        }
        typed::ProbeKind::Profile => ProbeKind::Profile,
        typed::ProbeKind::Tracepoint(name) => ProbeKind::Tracepoint(name.clone()),
        typed::ProbeKind::Kprobe(name) => ProbeKind::Kprobe(name.clone()),
        typed::ProbeKind::Kretprobe(name, active) => ProbeKind::Kretprobe(name.clone(), *active),
    }
}
