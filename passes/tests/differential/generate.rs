//! Makes random modules: structured programs, lowered as scripts are.

use xlate_ir::builder::{BodyBuilder, Variable};
use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Entity, File, Function, Global, Handler, Value};
use xlate_ir::format::Format;
use xlate_ir::instructions::{
    BinaryOp, CompareOp, InstData, IterSpec, LockMode, Op, Place, SortKey, StatField, Terminator,
    UpdateOp,
};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::{Body, FunctionCode, FunctionData, HandlerData, Module};
use xlate_ir::text::parse;
use xlate_ir::types::{Pos, Type};

use super::random::Random;

/// Globals and probe points of every generated module; `@out` and its kind are printed at the end.
const FRAME: &str = r#"
file f0 "random.stp"
limits max_string_len=16
global @out: long
global @text: str
global @a[long]: long max=3
global @b[str]: long max=3
global @st: stat
global @constant: long = 3
global @first: long
global @unread: long
global @last: str
global @hits: long
global @seen[long]: long max=3
global @flag: long

probe begin(0) -> @h0
probe begin(1) -> @h1
probe timer.ns(5) -> @h2
probe kernel.trace("x") -> @h3
probe kernel.trace("y") -> @h4
probe timer.profile -> @h3
probe end(0) -> @h5
probe error(0) -> @h6
probe kernel.trace("hit") -> @h7
probe kernel.trace("flag") -> @h8
probe timer.ns(7) -> @h9
"#;

/// Short handlers of the kind that needs no lock, or only those of shards, if a timer allows it.
fn short_handlers(random: &mut Random) -> String {
    let update = random.pick(&["add", "min", "max", "or"]);
    let element = random.pick(&["  update.add @seen[v0], v0\n", "  update.or @seen[v1], v0\n", ""]);
    let flag = random.pick(&[
        "  store @flag, v0\n",
        "  update.add @flag, v0\n",
        "  v2 = load @flag: long\n  print \"%d\", v2\n",
        "  delete @flag\n",
        "  update.add @flag, v0\n  update.add @hits, v0\n",
    ]);
    let timer = random.pick(&[
        "",
        "  clear @seen\n",
        "  v2 = load @hits: long\n  print \"%d\", v2\n",
        "  store @hits, v1\n  delete @seen[v1]\n",
        "  v2 = load @seen[v0]: long\n  update.add @hits, v2\n",
    ]);
    let handler = |n: u32, insts: &str| {
        format!(
            "handler @h{n} {{\nb0:\n  v0 = ctx.pid: long\n  v1 = const 1: long\n{insts}  ret\n}}\n"
        )
    };
    let hit = format!("  update.{update} @hits, v0\n{element}");
    [handler(7, &hit), handler(8, flag), handler(9, timer)].concat()
}

/// The module of a seed.
pub(crate) fn module(seed: u64) -> Module {
    let mut random = Random::new(seed);
    let handlers: String = (0..7).map(|n| format!("handler @h{n} {{\nb0:\n  ret\n}}\n")).collect();
    let short = short_handlers(&mut random);
    let mut module = parse(&format!("{FRAME}{handlers}{short}")).expect("the frame is a module");
    let functions = 1 + random.below(3) as usize;
    for n in 0..functions {
        module.functions.alloc(FunctionData {
            name: format!("f{n}"),
            params: vec![Type::Long],
            result: Some(Type::Long),
            code: FunctionCode::Body(Body::default()),
            places: Vec::new(),
            variants: Vec::new(),
            pos: None,
        });
    }
    for n in 0..functions {
        let size = 1 + random.below(6);
        let mut body = Generator::function(&mut random, &module, n, size);
        // Now and then two functions are the same.
        if n > 0 && random.below(4) == 0 {
            let first = &module.functions[Function::from_index(0)];
            if let FunctionCode::Body(first) = &first.code {
                body = first.clone();
            }
        }
        module.functions[Function::from_index(n)].code = FunctionCode::Body(body);
    }
    for n in 0..5 {
        // Long `begin` handlers tend to fail, and then nothing else runs.
        let size = 1 + random.below(if n < 2 { 3 } else { 8 });
        let body = Generator::handler(&mut random, &module, size);
        module.handlers[Handler::from_index(n)].body = body;
    }
    for n in [5, 6] {
        let body = report(&module);
        module.handlers[Handler::from_index(n)].body = body;
    }
    // Now and then two handlers are the same.
    if random.below(3) == 0 {
        let HandlerData { body, .. } = module.handlers[Handler::from_index(3)].clone();
        module.handlers[Handler::from_index(4)].body = body;
    }
    guard(&mut module);
    module
}

/// Prints everything.
fn report(module: &Module) -> Body {
    let mut b = BodyBuilder::new(module);
    let global = |name: &str| find(module, name);
    let out = b.value(Op::Load(Place::scalar(global("out"))));
    let text = b.value(Op::Load(Place::scalar(global("text"))));
    let constant = b.value(Op::Load(Place::scalar(global("constant"))));
    let first = b.value(Op::Load(Place::scalar(global("first"))));
    let count = b.value(Op::StatGet(StatField::Count, Place::scalar(global("st"))));
    let sum = b.value(Op::StatGet(StatField::Sum, Place::scalar(global("st"))));
    let hits = b.value(Op::Load(Place::scalar(global("hits"))));
    let flag = b.value(Op::Load(Place::scalar(global("flag"))));
    let format = Format::from_bytes(b"%d %s %d %d %d %d %d %d").expect("a format");
    b.push(Op::Print(format, vec![out, text, constant, first, count, sum, hits, flag]));
    for name in ["a", "b", "seen"] {
        let (head, body, done) = (b.create_block(), b.create_block(), b.create_block());
        let spec = IterSpec {
            global: global(name),
            sort: Some((SortKey::Key(0), false)),
            slice: Vec::new(),
            limit: None,
        };
        let iter = b.value(Op::IterBegin(spec));
        b.jump(head);
        b.switch_to(head);
        let more = b.value(Op::IterNext(iter));
        b.branch(more, body, done);
        b.seal(body);
        b.switch_to(body);
        let (key, value) = (b.value(Op::IterKey(iter, 0)), b.value(Op::IterValue(iter)));
        let format: &[u8] = if name != "b" { b"%d=%d" } else { b"%s=%d" };
        b.push(Op::Print(Format::from_bytes(format).expect("a format"), vec![key, value]));
        b.push(Op::Action);
        b.jump(head);
        b.seal(head);
        b.seal(done);
        b.switch_to(done);
        b.push(Op::IterEnd(iter));
    }
    b.ret(None);
    b.finish()
}

fn find(module: &Module, name: &str) -> Global {
    module.globals.iter().find(|(_, data)| data.name == name).expect("the frame has it").0
}

/// Locks everything from start to end, as lowering does.
fn guard(module: &mut Module) {
    let summaries = Summaries::of(module);
    for handler in module.handlers.iter().map(|(id, _)| id).collect::<Vec<_>>() {
        let effects = summaries.body(module, &module.handlers[handler].body);
        let touched: Vec<Global> = effects.reads.union(&effects.writes).into_iter().collect();
        if touched.is_empty() {
            continue;
        }
        let body = &mut module.handlers[handler].body;
        let op = Op::Lock(touched.iter().map(|&global| (global, LockMode::Write)).collect());
        body.insert_inst(body.entry(), 0, InstData { op, result: None, pos: None });
        for block in body.layout.clone() {
            if matches!(body.blocks[block].terminator, Terminator::Return(_)) {
                body.push(block, Op::Unlock(touched.clone()), None, None);
            }
        }
    }
}

struct Generator<'a, 'm> {
    random: &'a mut Random,
    module: &'m Module,
    b: BodyBuilder<'m>,
    longs: Vec<Variable>,
    texts: Vec<Variable>,
    /// Functions with a smaller number can be called, and the function itself.
    callable: usize,
    own: Option<usize>,
    line: u32,
    depth: u32,
}

impl<'a, 'm> Generator<'a, 'm> {
    fn handler(random: &'a mut Random, module: &'m Module, size: u64) -> Body {
        let b = BodyBuilder::new(module);
        let callable = module.functions.len();
        Generator::start(random, module, b, callable, None).finish(size, |g| g.b.ret(None))
    }

    fn function(random: &'a mut Random, module: &'m Module, n: usize, size: u64) -> Body {
        let params = [(Type::Long, Some("x".into()))];
        let (b, params) = BodyBuilder::for_function(module, params);
        let mut generator = Generator::start(random, module, b, n, Some(n));
        generator.b.write(generator.longs[0], params[0]);
        generator.finish(size, |g| {
            let value = g.long(2);
            g.b.ret(Some(value));
        })
    }

    fn start(
        random: &'a mut Random,
        module: &'m Module,
        mut b: BodyBuilder<'m>,
        callable: usize,
        own: Option<usize>,
    ) -> Self {
        let longs = (0..3).map(|n| b.declare(Type::Long, Some(format!("l{n}")))).collect();
        let texts = (0..2).map(|n| b.declare(Type::Str(15), Some(format!("t{n}")))).collect();
        Generator { random, module, b, longs, texts, callable, own, line: 0, depth: 0 }
    }

    fn finish(mut self, size: u64, end: impl FnOnce(&mut Self)) -> Body {
        self.statements(size);
        end(&mut self);
        self.b.finish()
    }

    fn global(&self, name: &str) -> Global {
        find(self.module, name)
    }

    fn statements(&mut self, count: u64) {
        for _ in 0..count {
            self.line += 1;
            let pos = Pos { file: File::from_index(0), line: self.line, column: 1 };
            self.b.set_pos(Some(pos));
            self.statement();
        }
    }

    fn statement(&mut self) {
        let deep = self.depth >= 3;
        match self.random.below(if deep { 12 } else { 18 }) {
            0 | 1 => {
                let variable = self.random.pick(&self.longs.clone());
                let value = self.long(3);
                self.b.write(variable, value);
            }
            2 => {
                let variable = self.random.pick(&self.texts.clone());
                let value = self.text(2);
                self.b.write(variable, value);
            }
            3 | 4 => self.store(),
            5 => self.update(),
            6 => {
                let value = self.long(2);
                self.b.push(Op::StatAdd(Place::scalar(self.global("st")), value));
            }
            7 => {
                let key = self.long(1);
                let place = Place { global: self.global("a"), keys: vec![key] };
                let op = if self.random.below(4) == 0 {
                    Op::Clear(self.global("b"))
                } else {
                    Op::Delete(place)
                };
                self.b.push(op);
            }
            8 | 9 => {
                let (long, text) = (self.long(2), self.text(1));
                let format = Format::from_bytes(b"%d %s").expect("a format");
                self.b.push(Op::Print(format, vec![long, text]));
            }
            10 => self.rare(),
            11 => {
                self.read_modify_write();
            }
            12..=14 => self.branch(),
            15 => self.repeat(),
            _ => self.catch(),
        }
    }

    fn store(&mut self) {
        let value = self.long(2);
        let text = self.text(1);
        let (place, value) = match self.random.below(7) {
            0 => (Place::scalar(self.global("text")), text),
            1 => (Place { global: self.global("a"), keys: vec![self.long(1)] }, value),
            2 => (Place { global: self.global("b"), keys: vec![text] }, value),
            3 => (Place::scalar(self.global("first")), value),
            4 => (Place::scalar(self.global("unread")), value),
            5 => (Place::scalar(self.global("last")), text),
            _ => (Place::scalar(self.global("out")), value),
        };
        self.b.push(Op::Store(place, value));
    }

    fn update(&mut self) {
        let value = self.long(2);
        let op = self.random.pick(UpdateOp::ALL);
        let place = match self.random.below(3) {
            0 => Place { global: self.global("a"), keys: vec![self.long(1)] },
            1 => Place { global: self.global("b"), keys: vec![self.text(1)] },
            _ => Place::scalar(self.global("out")),
        };
        self.b.push(Op::Update(op, place, value));
    }

    /// What the `updates` pass looks for, and what comes near it.
    fn read_modify_write(&mut self) {
        let place = match self.random.below(2) {
            0 => Place { global: self.global("a"), keys: vec![self.long(1)] },
            _ => Place::scalar(self.global("out")),
        };
        let value = self.long(1);
        let old = self.b.value(Op::Load(place.clone()));
        if self.random.below(2) == 0 {
            let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Or, BinaryOp::Xor]);
            let new = self.b.value(Op::Binary(op, old, value));
            self.b.push(Op::Store(place, new));
        } else {
            let op = self.random.pick(CompareOp::ALL);
            let condition = self.b.value(Op::Compare(op, value, old));
            let (then, after) = (self.b.create_block(), self.b.create_block());
            self.b.branch(condition, then, after);
            self.b.seal(then);
            self.b.switch_to(then);
            self.b.push(Op::Store(place, value));
            self.b.jump(after);
            self.b.seal(after);
            self.b.switch_to(after);
        }
    }

    fn rare(&mut self) {
        match self.random.below(6) {
            0 => {
                self.b.push(Op::Intrinsic(Intrinsic::Exit, Vec::new()));
            }
            1 => {
                let message = self.text(1);
                self.b.raise(message);
            }
            2 if self.own.is_none() => self.b.ret(None),
            3 if self.own.is_some() => {
                let value = self.long(1);
                self.b.ret(Some(value));
            }
            _ => self.update(),
        }
    }

    fn branch(&mut self) {
        let condition = self.long(3);
        let (then, other, after) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.branch(condition, then, other);
        for block in [then, other] {
            self.b.seal(block);
            self.b.switch_to(block);
            self.depth += 1;
            let size = self.random.below(4);
            self.statements(size);
            self.depth -= 1;
            self.b.jump(after);
        }
        self.b.seal(after);
        self.b.switch_to(after);
    }

    fn repeat(&mut self) {
        let counter = self.b.declare(Type::Long, Some("i".into()));
        let limit = 1 + self.random.below(4) as i64;
        let zero = self.b.long(0);
        self.b.write(counter, zero);
        let (head, body, done) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.jump(head);
        self.b.switch_to(head);
        let (now, limit) = (self.b.read(counter), self.b.long(limit));
        let more = self.b.value(Op::Compare(CompareOp::Lt, now, limit));
        self.b.branch(more, body, done);
        self.b.seal(body);
        self.b.switch_to(body);
        self.depth += 1;
        let size = 1 + self.random.below(4);
        self.statements(size);
        self.depth -= 1;
        self.b.push(Op::Action);
        let (now, one) = (self.b.read(counter), self.b.long(1));
        let next = self.b.value(Op::Binary(BinaryOp::Add, now, one));
        self.b.write(counter, next);
        self.b.jump(head);
        self.b.seal(head);
        self.b.seal(done);
        self.b.switch_to(done);
    }

    fn catch(&mut self) {
        let (catch, after) = (self.b.create_block(), self.b.create_block());
        self.b.push_catch(catch);
        self.depth += 1;
        let size = 1 + self.random.below(4);
        self.statements(size);
        self.b.pop_catch();
        self.b.jump(after);
        self.b.seal(catch);
        self.b.switch_to(catch);
        if self.random.below(3) > 0 {
            let message = self.b.value(Op::Caught);
            let variable = self.random.pick(&self.texts.clone());
            self.b.write(variable, message);
        }
        let size = self.random.below(3);
        self.statements(size);
        self.depth -= 1;
        self.b.jump(after);
        self.b.seal(after);
        self.b.switch_to(after);
    }

    fn long(&mut self, depth: u32) -> Value {
        if depth == 0 || self.random.below(4) == 0 {
            return self.leaf();
        }
        match self.random.below(12) {
            0..=4 => {
                let (a, b) = (self.long(depth - 1), self.long(depth - 1));
                let op = self.random.pick(BinaryOp::ALL);
                // Nothing here makes sure of what others rely on.
                let op = if op.is_guarded() { BinaryOp::Rem } else { op };
                self.b.value(Op::Binary(op, a, b))
            }
            5 | 6 => {
                let (a, b) = (self.long(depth - 1), self.long(depth - 1));
                let op = self.random.pick(CompareOp::ALL);
                self.b.value(Op::Compare(op, a, b))
            }
            7 => {
                let (a, b) = (self.text(depth - 1), self.text(depth - 1));
                let op = self.random.pick(CompareOp::ALL);
                self.b.value(Op::Compare(op, a, b))
            }
            8 => {
                let key = self.long(depth - 1);
                let place = Place { global: self.global("a"), keys: vec![key] };
                let op =
                    if self.random.below(2) == 0 { Op::Load(place) } else { Op::Contains(place) };
                self.b.value(op)
            }
            9 => {
                let text = self.text(depth - 1);
                self.b.value(Op::Intrinsic(Intrinsic::StrLen, vec![text]))
            }
            10 => self.call(depth),
            _ => {
                let field = self.random.pick(&[StatField::Count, StatField::Sum, StatField::Avg]);
                self.b.value(Op::StatGet(field, Place::scalar(self.global("st"))))
            }
        }
    }

    fn call(&mut self, depth: u32) -> Value {
        let argument = self.long(depth - 1);
        let own = self.own.filter(|_| self.random.below(8) == 0);
        let callee = match own {
            Some(own) => own,
            None if self.callable > 0 => self.random.below(self.callable as u64) as usize,
            None => return argument,
        };
        if own.is_some() {
            self.b.push(Op::Action);
        }
        self.b.value(Op::Call(Function::from_index(callee), vec![argument]))
    }

    fn leaf(&mut self) -> Value {
        match self.random.below(8) {
            0 | 1 => {
                let value = self.random.pick(&[0, 1, 2, -1, 7, i64::MIN, i64::MAX]);
                self.b.long(value)
            }
            2..=4 => {
                let variable = self.random.pick(&self.longs.clone());
                self.b.read(variable)
            }
            5 => self.b.value(Op::Intrinsic(Intrinsic::Pid, Vec::new())),
            6 => self.b.value(Op::Intrinsic(Intrinsic::Tid, Vec::new())),
            _ => {
                let name = self.random.pick(&["out", "constant", "first"]);
                self.b.value(Op::Load(Place::scalar(self.global(name))))
            }
        }
    }

    fn text(&mut self, depth: u32) -> Value {
        match self.random.below(6) {
            0 if depth > 0 => {
                let (a, b) = (self.text(depth - 1), self.text(depth - 1));
                self.b.value(Op::Intrinsic(Intrinsic::StrConcat, vec![a, b]))
            }
            1 => self.b.value(Op::Intrinsic(Intrinsic::Execname, Vec::new())),
            2 => self.b.value(Op::Load(Place::scalar(self.global("text")))),
            3 => {
                let text: &[u8] = self.random.pick(&[b"", b"a", b"bc", b"a long word"]);
                self.b.text(text)
            }
            _ => {
                let variable = self.random.pick(&self.texts.clone());
                self.b.read(variable)
            }
        }
    }
}
