//! Inlining of functions that are small or called from one place.
//!
//! Assumes nothing. Works from callees to callers, so that what is inlined has had its own calls
//! inlined. Where the call stood before a `try`, everything in the copy that may raise does so to the
//! same catch. Recursive functions stay. Guarantees nothing about what is left: functions that are not
//! called any more are left to `unused-functions`.

use xlate_ir::cfg::Cfg;
use xlate_ir::effects::{call_components, may_raise};
use xlate_ir::entities::{Block, Entity, Function, Value};
use xlate_ir::instructions::{BlockCall, InstData, Op, Terminator};
use xlate_ir::module::{BlockData, Body, FunctionCode, Module};
use xlate_ir::types::Pos;

use crate::manager::ModuleContext;

/// A function of at most this many instructions and without a loop is always inlined: a call of it
/// costs as much.
const SMALL: usize = 10;
/// A function that is called once is inlined up to this size.
const LARGE: usize = 200;
/// No body grows beyond this size by inlining.
const LARGEST_BODY: usize = 2000;

/// Runs the pass.
pub(crate) fn run(cx: &mut ModuleContext<'_>) -> bool {
    let mut inliner = Inliner::of(cx.module);
    let mut inlined = 0;
    for function in std::mem::take(&mut inliner.order) {
        let FunctionCode::Body(body) = &mut cx.module.functions[function].code else { continue };
        let mut body = std::mem::take(body);
        inlined += inliner.inline_calls(cx, &mut body);
        inliner.traits[function.index()] = Traits::of(&body);
        cx.module.functions[function].code = FunctionCode::Body(body);
    }
    for handler in cx.module.handlers.iter().map(|(id, _)| id).collect::<Vec<_>>() {
        let mut body = std::mem::take(&mut cx.module.handlers[handler].body);
        inlined += inliner.inline_calls(cx, &mut body);
        cx.module.handlers[handler].body = body;
    }
    cx.log.count("calls inlined", inlined);
    inlined > 0
}

/// A call that is to be inlined.
struct Site {
    /// Where its block is in the layout.
    at: usize,
    index: usize,
    callee: Function,
    pos: Option<Pos>,
    why: &'static str,
}

/// What decides whether a function is inlined, besides the number of calls.
#[derive(Clone, Copy, Default)]
struct Traits {
    size: usize,
    /// Whether it is small and has no loop.
    is_trivial: bool,
}

impl Traits {
    fn of(body: &Body) -> Traits {
        let size = size(body);
        Traits { size, is_trivial: size <= SMALL && Cfg::of(body).components().is_empty() }
    }
}

/// What is known of the functions, by number.
struct Inliner {
    /// Callees before callers.
    order: Vec<Function>,
    recursive: Vec<bool>,
    /// How often each is called in the module as it is now.
    calls: Vec<usize>,
    /// Of the functions that are done.
    traits: Vec<Traits>,
}

impl Inliner {
    fn of(module: &Module) -> Inliner {
        let count = module.functions.len();
        let mut inliner = Inliner {
            order: Vec::with_capacity(count),
            recursive: vec![false; count],
            calls: vec![0; count],
            traits: vec![Traits::default(); count],
        };
        for component in call_components(module) {
            for function in component.functions {
                inliner.recursive[function.index()] = component.recursive;
                inliner.order.push(function);
            }
        }
        for body in module.bodies() {
            inliner.count_calls(body);
        }
        inliner
    }

    fn count_calls(&mut self, body: &Body) {
        for (_, inst) in body.iter_insts() {
            if let Op::Call(callee, _) = body.insts[inst].op {
                self.calls[callee.index()] += 1;
            }
        }
    }

    fn inline_calls(&mut self, cx: &mut ModuleContext<'_>, body: &mut Body) -> usize {
        let mut count = 0;
        let mut body_size = size(body);
        // What stands earlier in the layout stays as it is: calls only become more.
        let mut from = 0;
        while body_size <= LARGEST_BODY
            && let Some(site) = self.find_site(cx.module, body, from)
        {
            let data = &cx.module.functions[site.callee];
            let FunctionCode::Body(callee) = &data.code else { break };
            cx.log.applied(site.pos, format!("`{}` is inlined: {}", data.name, site.why));
            inline(cx.module, body, &site, callee);
            self.calls[site.callee.index()] -= 1;
            self.count_calls(callee);
            body_size = body_size - 1 + self.traits[site.callee.index()].size;
            from = site.at;
            count += 1;
        }
        count
    }

    /// The first call to inline, from a block of the layout on.
    fn find_site(&self, module: &Module, body: &Body, from: usize) -> Option<Site> {
        for (at, &block) in body.layout.iter().enumerate().skip(from) {
            for (index, &inst) in body.blocks[block].insts.iter().enumerate() {
                let Op::Call(callee, _) = body.insts[inst].op else { continue };
                let data = &module.functions[callee];
                let FunctionCode::Body(_) = &data.code else { continue };
                // Its messages name places that only a call knows.
                if !data.places.is_empty() {
                    continue;
                }
                // Callees that are not recursive are done.
                if self.recursive[callee.index()] {
                    continue;
                }
                let traits = self.traits[callee.index()];
                let why = match traits.size {
                    _ if traits.is_trivial => "it is small",
                    ..=LARGE if self.calls[callee.index()] == 1 => "it is called once",
                    _ => continue,
                };
                return Some(Site { at, index, callee, pos: body.insts[inst].pos, why });
            }
        }
        None
    }
}

/// The number of instructions, constants not counted: they become part of others.
fn size(body: &Body) -> usize {
    body.iter_insts().filter(|&(_, inst)| !matches!(body.insts[inst].op, Op::Const(_))).count()
}

/// Puts a copy of the callee in the place of a call.
fn inline(module: &Module, body: &mut Body, site: &Site, callee: &Body) {
    let block = body.layout[site.at];
    let call = body.blocks[block].insts[site.index];
    let InstData { op, result, .. } = body.insts[call].clone();
    let Op::Call(_, args) = op else { return };
    let (after, catch) = split_after(body, site, result);
    let mut copy = Copy::new(body, callee, args);
    copy.after = after;
    copy.catch = catch;
    copy.blocks(module, body, callee);
    let entry = copy.block(callee.entry());
    body.blocks[block].terminator = Terminator::Jump(BlockCall::plain(entry));
    let at = site.at + 1;
    body.layout.splice(at..at, copy.made.into_iter().chain([after]));
}

/// Takes the call and what follows it off its block: the block that goes on after the call, with its
/// result as parameter, and the catch that the call raises to.
fn split_after(body: &mut Body, site: &Site, result: Option<Value>) -> (Block, Option<BlockCall>) {
    let data = &mut body.blocks[body.layout[site.at]];
    let rest = data.insts.split_off(site.index + 1);
    data.insts.pop();
    let terminator = std::mem::replace(&mut data.terminator, Terminator::Unreachable);
    let (terminator, catch) = match terminator {
        Terminator::Try(normal, catch) if rest.is_empty() => {
            (Terminator::Jump(normal), Some(catch))
        }
        terminator => (terminator, None),
    };
    let params = result.into_iter().collect();
    let after = body.blocks.alloc(BlockData { params, insts: rest, terminator });
    (after, catch)
}

/// The copy of a callee under construction.
struct Copy {
    values: Vec<Option<Value>>,
    blocks: Vec<Option<Block>>,
    /// The blocks of the copy, in layout order.
    made: Vec<Block>,
    after: Block,
    catch: Option<BlockCall>,
}

impl Copy {
    /// Makes the blocks and values of the copy; the callee's parameters are the arguments.
    fn new(body: &mut Body, callee: &Body, args: Vec<Value>) -> Copy {
        let mut copy = Copy {
            values: vec![None; callee.values.len()],
            blocks: vec![None; callee.blocks.len()],
            made: Vec::new(),
            after: Block::from_index(0),
            catch: None,
        };
        for (&param, arg) in callee.blocks[callee.entry()].params.iter().zip(args) {
            copy.values[param.index()] = Some(arg);
        }
        for &block in &callee.layout {
            let data = &callee.blocks[block];
            let results = data.insts.iter().filter_map(|&inst| callee.insts[inst].result);
            for value in data.params.iter().copied().chain(results) {
                if copy.values[value.index()].is_none() {
                    let new = body.values.alloc(callee.values[value].clone());
                    copy.values[value.index()] = Some(new);
                }
            }
            let new = body.blocks.alloc(BlockData {
                params: Vec::new(),
                insts: Vec::new(),
                terminator: Terminator::Unreachable,
            });
            copy.blocks[block.index()] = Some(new);
        }
        copy
    }

    fn value(&self, value: Value) -> Value {
        self.values[value.index()].expect("internal error: a value without definition is inlined")
    }

    fn block(&self, block: Block) -> Block {
        self.blocks[block.index()]
            .expect("internal error: a block outside of the layout is inlined")
    }

    /// Fills the blocks.
    fn blocks(&mut self, module: &Module, body: &mut Body, callee: &Body) {
        for &block in &callee.layout {
            let data = &callee.blocks[block];
            let mut current = self.block(block);
            self.made.push(current);
            if block != callee.entry() {
                body.blocks[current].params = data.params.iter().map(|&p| self.value(p)).collect();
            }
            let tried = matches!(data.terminator, Terminator::Try(..));
            for (index, &inst) in data.insts.iter().enumerate() {
                let mut copy = callee.insts[inst].clone();
                copy.op.for_each_operand_mut(|value| *value = self.value(*value));
                copy.result = copy.result.map(|result| self.value(result));
                let raises = may_raise(module, &copy.op);
                let caught_inside = tried && index + 1 == data.insts.len();
                let copy = body.insts.alloc(copy);
                body.blocks[current].insts.push(copy);
                if let Some(catch) = self.catch.clone().filter(|_| raises && !caught_inside) {
                    current = self.go_on_in_new_block(body, current, catch);
                }
            }
            body.blocks[current].terminator = self.terminator(&data.terminator);
        }
    }

    /// Ends a block after an instruction that may raise to the catch of the call.
    fn go_on_in_new_block(&mut self, body: &mut Body, block: Block, catch: BlockCall) -> Block {
        let next = body.blocks.alloc(BlockData {
            params: Vec::new(),
            insts: Vec::new(),
            terminator: Terminator::Unreachable,
        });
        body.blocks[block].terminator = Terminator::Try(BlockCall::plain(next), catch);
        self.made.push(next);
        next
    }

    fn terminator(&self, terminator: &Terminator) -> Terminator {
        if let Terminator::Return(value) = terminator {
            let args = value.iter().map(|&value| self.value(value)).collect();
            return Terminator::Jump(BlockCall { block: self.after, args });
        }
        let mut copy = terminator.clone();
        copy.for_each_operand_mut(|value| *value = self.value(*value));
        for call in copy.successors_mut() {
            call.block = self.block(call.block);
        }
        if let Terminator::Raise { catch: catch @ None, .. } = &mut copy {
            *catch = self.catch.clone();
        }
        copy
    }
}
