//! Checks that a module keeps the rules of the IR.
//!
//! Each rule has a file of its own kind: the tables of the module, names of globals and functions,
//! [`structure`](self) of blocks and terminators, types of operands and results, dominance, iterators,
//! locks, and disciplines. Every complaint names the instruction. `docs/ir.md` lists the rules.

mod disciplines;
mod dominance;
mod iterators;
mod locks;
mod names;
mod operands;
mod structure;
mod tables;

use std::fmt;

use crate::cfg::{Cfg, Dominators};
use crate::effects::Summaries;
use crate::entities::{Block, Function, Handler, Inst};
use crate::module::{Body, FunctionCode, Module};
use crate::sharing::Sharing;
use crate::text;
use crate::types::Type;

/// A rule that a module breaks, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifierError {
    /// What it is about: `global @n`, `handler @h0`, `function @f`, `probe begin(0)`.
    pub owner: String,
    /// The block, in a body.
    pub block: Option<Block>,
    /// The offending instruction or terminator as the text form has it.
    pub inst: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.owner)?;
        if let Some(block) = self.block {
            write!(f, ", {block}")?;
        }
        if let Some(inst) = &self.inst {
            write!(f, ", `{inst}`")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for VerifierError {}

/// Checks a module.
///
/// # Errors
/// All rules that it breaks, in the order of the text form. Rules that build on others are checked
/// only where those hold.
pub fn verify(module: &Module) -> Result<(), Vec<VerifierError>> {
    let mut errors = tables::check(module);
    if errors.is_empty() {
        for (owner, body) in bodies(module) {
            errors.extend(names::check(module, body, owner));
        }
    }
    if errors.is_empty() {
        let summaries = Summaries::of(module);
        let sharing = Sharing::of(module);
        let (summaries, sharing) = (&summaries, &sharing);
        for (owner, body) in bodies(module) {
            let checker = Checker { module, summaries, sharing, body, owner, errors: Vec::new() };
            errors.extend(checker.check());
        }
        if errors.is_empty() {
            errors = disciplines::check(module, sharing);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// All bodies, in the order of the text form.
fn bodies(module: &Module) -> impl Iterator<Item = (Owner, &Body)> {
    let functions = module.functions.iter().filter_map(|(id, data)| match &data.code {
        FunctionCode::Body(body) => Some((Owner::Function(id), body)),
        FunctionCode::C { .. } => None,
    });
    functions.chain(module.handlers.iter().map(|(id, data)| (Owner::Handler(id), &data.body)))
}

/// An owner as the text form has it.
fn owner_name(module: &Module, owner: Owner) -> String {
    match owner {
        Owner::Handler(handler) => format!("handler @{handler}"),
        Owner::Function(function) => format!("function @{}", module.functions[function].name),
    }
}

/// Whose body is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Function(Function),
    Handler(Handler),
}

/// The check of one body.
struct Checker<'a> {
    module: &'a Module,
    summaries: &'a Summaries,
    sharing: &'a Sharing,
    body: &'a Body,
    owner: Owner,
    errors: Vec<VerifierError>,
}

impl Checker<'_> {
    fn check(mut self) -> Vec<VerifierError> {
        self.check_structure();
        // The rest takes the graph for granted.
        if self.errors.is_empty() {
            let cfg = Cfg::of(self.body);
            let dominators = Dominators::of(&cfg);
            self.check_reachability(&cfg);
            self.check_dominance(&cfg, &dominators);
            self.check_operands();
            if self.errors.is_empty() {
                self.check_iterators(&cfg);
                self.check_locks(&cfg);
            }
        }
        self.errors
    }

    fn owner_name(&self) -> String {
        owner_name(self.module, self.owner)
    }

    /// Records an error about an instruction.
    fn at_inst(&mut self, block: Block, inst: Inst, message: impl Into<String>) {
        let inst = Some(text::print_inst(self.module, self.body, inst));
        let error = VerifierError {
            owner: self.owner_name(),
            block: Some(block),
            inst,
            message: message.into(),
        };
        self.errors.push(error);
    }

    /// Records an error about a terminator.
    fn at_end(&mut self, block: Block, message: impl Into<String>) {
        let inst = Some(text::print_terminator(self.module, self.body, block));
        let error = VerifierError {
            owner: self.owner_name(),
            block: Some(block),
            inst,
            message: message.into(),
        };
        self.errors.push(error);
    }

    /// Records an error about a block or, without one, the whole body.
    fn at_block(&mut self, block: Option<Block>, message: impl Into<String>) {
        let error =
            VerifierError { owner: self.owner_name(), block, inst: None, message: message.into() };
        self.errors.push(error);
    }
}

/// Whether a value of one type may stand where another is expected: strings must not be longer.
fn fits(have: Type, want: Type) -> bool {
    match (have, want) {
        (Type::Str(have), Type::Str(want)) => have <= want,
        (have, want) => have == want,
    }
}
