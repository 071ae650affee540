//! How much IR there is, for `--stats` and the ablation benchmark.

use std::collections::BTreeSet;

use xlate_ir::cfg::Cfg;
use xlate_ir::effects::callees;
use xlate_ir::entities::{Entity, Function, Handler};
use xlate_ir::instructions::Op;
use xlate_ir::module::{Body, FunctionCode, Module};
use xlate_ir::types::{ElementType, Type};

/// Counts over a module. All are static: what stands in the text, not what runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Measures {
    /// Instructions of all bodies.
    pub instructions: u64,
    /// Instructions of the handlers that others can interrupt or overlap, and of what they call.
    pub concurrent_instructions: u64,
    /// Basic blocks of all bodies.
    pub blocks: u64,
    /// Parameters of blocks: values that depend on the way there. Those of functions do not count.
    pub block_parameters: u64,
    /// Handlers.
    pub handlers: u64,
    /// Probe points.
    pub probe_points: u64,
    /// Functions.
    pub functions: u64,
    /// Globals.
    pub globals: u64,
    /// Globals that a lock guards.
    pub locked_globals: u64,
    /// Locks that handlers which can overlap take, over all of their `lock` instructions.
    pub locks_taken: u64,
    /// Instructions that run under a lock.
    pub guarded_instructions: u64,
    /// Instructions in loops.
    pub instructions_in_loops: u64,
    /// Bytes that strings can have: of values, and of the keys and elements of globals.
    pub string_bytes: u64,
}

impl Measures {
    /// Counts over a module.
    pub fn of(module: &Module) -> Measures {
        let mut measures = Measures {
            handlers: module.handlers.len() as u64,
            probe_points: module.probes.len() as u64,
            functions: module.functions.len() as u64,
            ..Measures::default()
        };
        measures.add_globals(module);
        let called = called_concurrently(module);
        for (function, data) in module.functions.iter() {
            if let FunctionCode::Body(body) = &data.code {
                measures.add_body(body, called.contains(&function));
            }
        }
        for (handler, data) in module.handlers.iter() {
            measures.add_body(&data.body, !module.is_exclusive(handler));
            measures.add_locks(module, handler, &data.body);
        }
        measures
    }

    /// The names of the counts, with what each is here.
    pub fn rows(&self) -> [(&'static str, u64); 13] {
        [
            ("instructions", self.instructions),
            ("instructions in concurrent handlers", self.concurrent_instructions),
            ("instructions in loops", self.instructions_in_loops),
            ("instructions under locks", self.guarded_instructions),
            ("locks taken", self.locks_taken),
            ("basic blocks", self.blocks),
            ("block parameters", self.block_parameters),
            ("handlers", self.handlers),
            ("probe points", self.probe_points),
            ("functions", self.functions),
            ("globals", self.globals),
            ("globals with a lock", self.locked_globals),
            ("bytes of strings", self.string_bytes),
        ]
    }

    fn add_globals(&mut self, module: &Module) {
        for (global, data) in module.globals.iter() {
            self.globals += 1;
            self.locked_globals += u64::from(module.lock_of(global).is_some());
            self.string_bytes += data.keys.iter().map(|key| bound(*key)).sum::<u64>();
            if let ElementType::Str(bytes) = data.element {
                self.string_bytes += u64::from(bytes);
            }
        }
    }

    fn add_body(&mut self, body: &Body, concurrent: bool) {
        let cyclic = Cfg::of(body).in_cycle();
        for &block in &body.layout {
            let data = &body.blocks[block];
            let count = data.insts.len() as u64;
            self.blocks += 1;
            let is_entry = block == body.entry();
            self.block_parameters += if is_entry { 0 } else { data.params.len() as u64 };
            self.instructions += count;
            self.concurrent_instructions += if concurrent { count } else { 0 };
            let in_loop = cyclic[block.index()];
            self.instructions_in_loops += if in_loop { count } else { 0 };
            let results = data.insts.iter().filter_map(|&inst| body.insts[inst].result);
            let values = data.params.iter().copied().chain(results);
            self.string_bytes += values.map(|value| bound(body.type_of(value))).sum::<u64>();
        }
    }

    /// What is held is a function of the place in the code, so one walk finds it.
    fn add_locks(&mut self, module: &Module, handler: Handler, body: &Body) {
        if module.is_exclusive(handler) {
            return;
        }
        let cfg = Cfg::of(body);
        let mut held_at = vec![0usize; body.blocks.len()];
        for &block in cfg.reverse_postorder() {
            let mut held = held_at[block.index()];
            for &inst in &body.blocks[block].insts {
                match &body.insts[inst].op {
                    Op::Lock(locks) => {
                        held += locks.len();
                        self.locks_taken += locks.len() as u64;
                    }
                    Op::Unlock(globals) => held = held.saturating_sub(globals.len()),
                    _ => self.guarded_instructions += u64::from(held > 0),
                }
            }
            for &next in cfg.successors(block) {
                held_at[next.index()] = held;
            }
        }
    }
}

/// The most bytes of a string; 0 for anything else.
fn bound(ty: Type) -> u64 {
    match ty {
        Type::Str(bytes) => u64::from(bytes),
        Type::Long | Type::Iter => 0,
    }
}

/// The functions that handlers which can overlap may call.
fn called_concurrently(module: &Module) -> BTreeSet<Function> {
    let mut called = BTreeSet::new();
    let handlers = module.handlers.iter().filter(|(handler, _)| !module.is_exclusive(*handler));
    let mut work: Vec<Function> = handlers.flat_map(|(_, data)| callees(&data.body)).collect();
    while let Some(function) = work.pop() {
        if called.insert(function)
            && let FunctionCode::Body(body) = &module.functions[function].code
        {
            work.extend(callees(body));
        }
    }
    called
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_counted_where_it_belongs() {
        let module = xlate_ir::text::parse(
            "global @n: long\n\
             global @a[str<15>]: str<20> max=8\n\
             global @s: long serial\n\
             probe begin(0) -> @h0\n\
             probe timer.profile -> @h1\n\
             function @f() -> long {\nb0:\n  v0 = const 1: long\n  ret v0\n}\n\
             handler @h0 {\nb0:\n  print \"x\"\n  ret\n}\n\
             handler @h1 {\n\
             b0:\n  v0 = call @f(): long\n  lock @n:write\n  store @n, v0\n  unlock @n\n\
             \x20 v1 = ctx.execname: str<15>\n  print \"%s\", v1\n  ret\n}\n",
        )
        .expect("a module");
        let expected = Measures {
            instructions: 8,
            concurrent_instructions: 7,
            blocks: 3,
            block_parameters: 0,
            handlers: 2,
            probe_points: 2,
            functions: 1,
            globals: 3,
            locked_globals: 2,
            locks_taken: 1,
            guarded_instructions: 1,
            instructions_in_loops: 0,
            string_bytes: 15 + 20 + 15,
        };
        assert_eq!(Measures::of(&module), expected);
    }
}
