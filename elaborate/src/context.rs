//! What the elaboration of all bodies shares: the program being built and what is inferred so far.

use crate::declare::{Declarations, FileIndex, FunctionDecl, GlobalDecl, hands_over};
use crate::embedded::{Claims, claims};
use crate::library::Library;
use crate::program::{
    ElementType, EmbeddedC, Function, FunctionCode, FunctionId, Global, GlobalId, Histogram, Local,
    LocalId, Program, Regex, RegexId, Type,
};
use crate::suggest::did_you_mean;
use crate::types::{Conflict, Kind, TypeVar, Types};
use crate::{Options, walk};
use id_arena::Arena;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use xlate_grammar::ast::{self, FunctionBody};
use xlate_grammar::{Diagnostic, Span, has_errors};

/// What is known of a global besides its entry in the program.
#[derive(Debug)]
pub(crate) struct GlobalState {
    pub(crate) decl: GlobalDecl,
    pub(crate) keys: Vec<TypeVar>,
    pub(crate) element: TypeVar,
    /// Number of keys (0 for a scalar), and the place that decided on it.
    pub(crate) arity: Option<(usize, Span)>,
    pub(crate) histogram: Option<(Histogram, Span)>,
    pub(crate) read: Option<Span>,
    pub(crate) written: Option<Span>,
}

/// What is known of a local variable besides its entry in the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalState {
    pub(crate) var: TypeVar,
    pub(crate) read: Option<Span>,
    pub(crate) written: Option<Span>,
    /// Whether it is a parameter, which hides globals of its name.
    pub(crate) param: bool,
    /// Written by an alias, by a loop or as a parameter: nobody need read it.
    pub(crate) silent: bool,
}

/// What is known of a function besides its entry in the program.
#[derive(Debug)]
pub(crate) struct FunctionState {
    pub(crate) decl: FunctionDecl,
    pub(crate) result: Option<TypeVar>,
    /// The first place that uses the result.
    pub(crate) valued: Option<Span>,
    pub(crate) locals: Vec<LocalState>,
}

/// The state of pass 2.
pub(crate) struct Context<'a> {
    pub(crate) declarations: Declarations<'a>,
    pub(crate) library: &'a Library,
    pub(crate) options: &'a Options,
    pub(crate) types: Types,
    pub(crate) program: Program,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// In the order of the program's globals.
    pub(crate) globals: Vec<GlobalState>,
    /// In the order of the program's functions.
    pub(crate) functions: Vec<FunctionState>,
    /// In the order of the program's handlers.
    pub(crate) handler_locals: Vec<(FileIndex, Vec<LocalState>)>,
    /// Statements without an effect.
    pub(crate) idle: Vec<Span>,
    /// Whether some probes are missing for errors in their points: what only they say about types
    /// is unknown.
    pub(crate) incomplete: bool,
    /// Functions whose bodies are still to be elaborated.
    pub(crate) queue: VecDeque<FunctionId>,
    global_ids: FxHashMap<GlobalDecl, GlobalId>,
    function_ids: FxHashMap<FunctionDecl, FunctionId>,
    global_names: FxHashSet<String>,
    function_names: FxHashSet<String>,
    regexes: FxHashMap<Vec<u8>, RegexId>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        declarations: Declarations<'a>,
        library: &'a Library,
        options: &'a Options,
        diagnostics: Vec<Diagnostic>,
    ) -> Self {
        Context {
            incomplete: has_errors(&diagnostics),
            idle: Vec::new(),
            declarations,
            library,
            options,
            types: Types::default(),
            program: Program::default(),
            diagnostics,
            globals: Vec::new(),
            functions: Vec::new(),
            handler_locals: Vec::new(),
            queue: VecDeque::new(),
            global_ids: FxHashMap::default(),
            function_ids: FxHashMap::default(),
            global_names: FxHashSet::default(),
            function_names: FxHashSet::default(),
            regexes: FxHashMap::default(),
        }
    }

    pub(crate) fn error(
        &mut self,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> &mut Diagnostic {
        self.report(Diagnostic::error(span, message, label))
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        let at = self.diagnostics.len();
        self.diagnostics.push(diagnostic);
        &mut self.diagnostics[at]
    }

    /// The entry of a global, made when it is first used.
    pub(crate) fn global(&mut self, decl: GlobalDecl) -> GlobalId {
        if let Some(id) = self.global_ids.get(&decl) {
            return *id;
        }
        let variable = self.declarations.globals[decl.0].node;
        let name = unique(&mut self.global_names, &variable.name.name);
        let init = variable.init.as_ref().map(|literal| self.literal(literal));
        let element = match (&init, &variable.init) {
            (Some(crate::program::Literal::Long(_)), Some(at)) => {
                self.types.known(Kind::Long, at.span)
            }
            (Some(crate::program::Literal::Str(_)), Some(at)) => {
                self.types.known(Kind::Str, at.span)
            }
            _ => self.types.fresh(),
        };
        let id = self.program.globals.alloc(Global {
            name,
            keys: Vec::new(),
            element: ElementType::Value(Type::Long),
            init,
            size: variable.size,
            wrap: variable.wrap,
            parameter: false,
            histogram: None,
            span: variable.name.span,
        });
        let arity = variable.init.as_ref().map(|init| (0, init.span));
        self.globals.push(GlobalState {
            decl,
            keys: Vec::new(),
            element,
            arity,
            histogram: None,
            read: None,
            written: None,
        });
        self.global_ids.insert(decl, id);
        id
    }

    /// A literal as the program has it. Strings end at their first NUL byte, as in C.
    pub(crate) fn literal(&mut self, literal: &ast::Literal) -> crate::program::Literal {
        match &literal.value {
            ast::LiteralValue::Number(number) => crate::program::Literal::Long(*number),
            ast::LiteralValue::String(string) => {
                crate::program::Literal::Str(self.string(string, literal.span))
            }
        }
    }

    /// The bytes of a string literal up to its first NUL.
    pub(crate) fn string(&mut self, string: &ast::ByteString, span: Span) -> Vec<u8> {
        let bytes = string.as_bytes();
        match bytes.iter().position(|byte| *byte == 0) {
            Some(end) => {
                self.report(Diagnostic::warning(
                    span,
                    "a string ends at its first NUL byte",
                    format!("only the first {end} bytes count"),
                ));
                bytes[..end].to_vec()
            }
            None => bytes.to_vec(),
        }
    }

    /// What is known of a global.
    pub(crate) fn global_state(&mut self, id: GlobalId) -> &mut GlobalState {
        &mut self.globals[id.index()]
    }

    /// Says that a global has this many keys, because of what stands at `span`. False, and an
    /// error, if it cannot have.
    pub(crate) fn set_arity(&mut self, id: GlobalId, arity: usize, span: Span) -> bool {
        let variable = self.declarations.globals[self.globals[id.index()].decl.0].node;
        let name = &variable.name.name;
        match self.globals[id.index()].arity {
            Some((known, _)) if known == arity => true,
            Some((known, since)) => {
                let (here, there) = (count_keys(arity), count_keys(known));
                let message = format!("`{name}` is used with {here} and with {there}");
                let diagnostic = Diagnostic::error(span, message, here)
                    .with_secondary(since, format!("{there} first"));
                self.report(diagnostic);
                false
            }
            None if arity == 0 && (variable.size.is_some() || variable.wrap) => {
                let message = format!("the array `{name}` needs an index here");
                let diagnostic = Diagnostic::error(span, message, "without an index")
                    .with_secondary(variable.span, "declared as an array here");
                self.report(diagnostic);
                false
            }
            None if arity > 9 => {
                self.error(span, format!("`{name}` has too many keys"), "9 is the most");
                false
            }
            None => {
                self.globals[id.index()].arity = Some((arity, span));
                let keys = (0..arity).map(|_| self.types.fresh()).collect();
                self.globals[id.index()].keys = keys;
                true
            }
        }
    }

    /// The entry of a function, made when it is first used; its body is elaborated later.
    pub(crate) fn function(&mut self, decl: FunctionDecl) -> FunctionId {
        if let Some(id) = self.function_ids.get(&decl) {
            return *id;
        }
        let function = self.declarations.functions[decl.0].node;
        let name = unique(&mut self.function_names, &function.name.name);
        let mut locals = Arena::new();
        let mut states = Vec::new();
        let mut params: Vec<LocalId> = Vec::new();
        for param in &function.params {
            let span = param.name.span;
            params.push(locals.alloc(Local {
                name: param.name.name.clone(),
                ty: Type::Long,
                span,
            }));
            let var = match param.ty {
                Some(ty) => self.types.known(ty.into(), param.span),
                None => self.types.fresh(),
            };
            states.push(LocalState {
                var,
                read: None,
                written: Some(span),
                param: true,
                silent: true,
            });
        }
        let has_result = function.result.is_some()
            || match &function.body {
                FunctionBody::Block(block) => walk::returns_value(block),
                FunctionBody::EmbeddedC(code) => claims(&code.code).result,
            };
        let result = match function.result {
            Some(ty) => Some(self.types.known(ty.into(), function.name.span)),
            None => has_result.then(|| self.types.fresh()),
        };
        let id = self.program.functions.alloc(Function {
            name,
            written: function.name.name.clone(),
            params,
            locals,
            result: None,
            code: FunctionCode::Script(Vec::new()),
            next_overload: None,
            span: function.span,
        });
        self.functions.push(FunctionState { decl, result, valued: None, locals: states });
        self.function_ids.insert(decl, id);
        self.queue.push_back(id);
        self.chain(id, decl);
        id
    }

    /// The name of a function as the script has it.
    pub(crate) fn function_name(&self, id: FunctionId) -> &'a str {
        let decl = self.functions[id.index()].decl;
        &self.declarations.functions[decl.0].node.name.name
    }

    /// Finds the overload that a function may hand over to, which gets the same arguments and
    /// gives the same kind of value.
    fn chain(&mut self, id: FunctionId, decl: FunctionDecl) {
        let declared = self.declarations.functions[decl.0];
        if !hands_over(declared.node) {
            return;
        }
        let function = declared.node;
        let all =
            self.declarations.overloads(&function.name.name, function.params.len(), declared.file);
        let next = all.iter().skip_while(|other| **other != decl).nth(1);
        let Some(next) = next.map(|next| self.function(*next)) else { return };
        self.program.functions[id].next_overload = Some(next);
        for at in 0..function.params.len() {
            let (here, there) = (self.param(id, at), self.param(next, at));
            if let Err(conflict) = self.types.unify(here, there) {
                let name = &function.params[at].name.name;
                self.mismatch(
                    format!("overloads of `{}` differ in the type of `{name}`", function.name.name),
                    function.params[at].span,
                    conflict,
                );
            }
        }
        if let (Some(here), Some(there)) =
            (self.functions[id.index()].result, self.functions[next.index()].result)
            && let Err(conflict) = self.types.unify(here, there)
        {
            let message =
                format!("overloads of `{}` differ in the type of their value", function.name.name);
            self.mismatch(message, function.name.span, conflict);
        }
    }

    /// The type of a parameter.
    pub(crate) fn param(&self, id: FunctionId, at: usize) -> TypeVar {
        self.functions[id.index()].locals[at].var
    }

    /// Reports that two types differ; `place` is what is at fault.
    pub(crate) fn mismatch(&mut self, message: String, place: Span, conflict: Conflict) {
        let Conflict { left, right } = conflict;
        let mut diagnostic = if place == left.span {
            Diagnostic::error(place, message, format!("a {}", left.kind))
        } else if place == right.span {
            Diagnostic::error(place, message, format!("a {}", right.kind))
        } else {
            Diagnostic::error(place, message, "here")
        };
        for side in [left, right] {
            if side.span != place {
                diagnostic = diagnostic
                    .with_secondary(side.span, format!("this says that it is a {}", side.kind));
            }
        }
        self.report(diagnostic);
    }

    /// The entry of a regular expression.
    pub(crate) fn regex(&mut self, pattern: &[u8], span: Span) -> RegexId {
        if let Some(id) = self.regexes.get(pattern) {
            return *id;
        }
        let id = self.program.regexes.alloc(Regex { pattern: pattern.to_vec(), span });
        self.regexes.insert(pattern.to_vec(), id);
        id
    }

    /// Embedded C, with the globals that it says it uses looked up.
    pub(crate) fn embedded(
        &mut self,
        code: &str,
        claims: &Claims,
        span: Span,
        file: FileIndex,
    ) -> EmbeddedC {
        let mut find = |names: &[String], write: bool| -> Vec<GlobalId> {
            let mut found = Vec::new();
            for name in names {
                let Some(decl) = self.declarations.find_global(name, file) else {
                    let names = self.declarations.globals.iter().map(|g| g.node.name.name.as_str());
                    let note = did_you_mean(name, names);
                    let diagnostic = self.error(
                        span,
                        format!("a pragma names `{name}`, which is no global"),
                        "in this code",
                    );
                    diagnostic.notes.extend(note);
                    continue;
                };
                let id = self.global(decl);
                let state = self.global_state(id);
                let used = if write { &mut state.written } else { &mut state.read };
                used.get_or_insert(span);
                if !found.contains(&id) {
                    found.push(id);
                }
            }
            found
        };
        let reads = find(&claims.reads, false);
        let writes = find(&claims.writes, true);
        EmbeddedC {
            text: code.into(),
            pure_: claims.pure_,
            stable: claims.stable,
            raises: claims.raises,
            reads,
            writes,
            span,
        }
    }
}

/// How many keys something has, in words.
pub(crate) fn count_keys(arity: usize) -> String {
    match arity {
        0 => "no key".into(),
        1 => "1 key".into(),
        _ => format!("{arity} keys"),
    }
}

/// The name, or if it is taken the name with a number.
fn unique(taken: &mut FxHashSet<String>, name: &str) -> String {
    let mut candidate = name.to_string();
    let mut number = 1;
    while !taken.insert(candidate.clone()) {
        number += 1;
        candidate = format!("{name}__{number}");
    }
    candidate
}
