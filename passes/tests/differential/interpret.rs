//! Runs a module: `begin` handlers, some events at the other probe points, then `end` or `error`
//! handlers. Everything that a user could see is in the transcript.

use std::collections::BTreeMap;
use std::fmt::Write;

use xlate_ir::arith;
use xlate_ir::entities::{Block, Entity, Global, Handler, Value};
use xlate_ir::instructions::{BlockCall, IterSpec, Op, Place, SortKey, StatField, Terminator};
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::{Body, FunctionCode, Module, ProbeKind};
use xlate_ir::types::{Const, ElementType, Pos};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Datum {
    Long(i64),
    Str(Vec<u8>),
    /// A walk, by number.
    Iter(usize),
}

/// Why a body was left.
enum Exit {
    Return(Option<Datum>),
    /// An error with its message.
    Raise(Vec<u8>),
    /// Past every catch.
    Abort,
}

type Stat = Vec<i64>;

#[derive(Clone)]
enum Element {
    Datum(Datum),
    Stat(Stat),
}

struct Walk {
    entries: Vec<(Vec<Datum>, Element)>,
    next: usize,
}

/// A session of one module.
pub(crate) struct Machine<'a> {
    module: &'a Module,
    globals: BTreeMap<Global, BTreeMap<Vec<Datum>, Element>>,
    walks: Vec<Walk>,
    transcript: String,
    actions: u32,
    depth: u32,
    event: i64,
    exiting: bool,
    errors: u32,
}

/// The transcript of a session.
pub(crate) fn run(module: &Module) -> String {
    let mut machine = Machine {
        module,
        globals: BTreeMap::new(),
        walks: Vec::new(),
        transcript: String::new(),
        actions: 0,
        depth: 0,
        event: 0,
        exiting: false,
        errors: 0,
    };
    machine.session();
    machine.transcript
}

impl Machine<'_> {
    fn session(&mut self) {
        for (global, data) in self.module.globals.iter() {
            let mut elements = BTreeMap::new();
            if let Some(init) = &data.init {
                elements.insert(Vec::new(), Element::Datum(datum(init)));
            }
            self.globals.insert(global, elements);
        }
        let of = |wanted: fn(&ProbeKind) -> Option<i64>| {
            let mut points: Vec<(i64, usize, Handler)> = self
                .module
                .probes
                .iter()
                .enumerate()
                .filter_map(|(index, p)| Some((wanted(&p.kind)?, index, p.handler)))
                .collect();
            points.sort();
            points
        };
        let begins = of(|kind| if let ProbeKind::Begin(n) = kind { Some(*n) } else { None });
        let ends = of(|kind| if let ProbeKind::End(n) = kind { Some(*n) } else { None });
        let errors = of(|kind| if let ProbeKind::Error(n) = kind { Some(*n) } else { None });
        let others = of(|kind| (!kind.is_exclusive()).then_some(0));
        for (_, point, handler) in begins {
            if !self.exiting {
                self.handler(point, 0, handler);
            }
        }
        for round in 0..4 {
            for (_, point, handler) in &others {
                if !self.exiting {
                    self.handler(*point, round, *handler);
                }
            }
        }
        let last = if self.errors > 0 { errors } else { ends };
        for (_, point, handler) in last {
            self.handler(point, 0, handler);
        }
    }

    fn handler(&mut self, point: usize, round: i64, handler: Handler) {
        // What a probe point meets does not depend on what else was dropped.
        let name = self.module.probes[point].name.bytes();
        self.event = round + name.map(i64::from).sum::<i64>();
        self.actions = 40;
        self.depth = 0;
        let body = &self.module.handlers[handler].body;
        match self.body(body, Vec::new()) {
            Exit::Return(_) => {}
            Exit::Raise(message) => {
                self.errors += 1;
                self.exiting = true;
                let _ = writeln!(self.transcript, "error: {}", message.escape_ascii());
            }
            Exit::Abort => {
                self.errors += 1;
                self.exiting = true;
                self.transcript.push_str("limit\n");
            }
        }
    }

    fn body(&mut self, body: &Body, args: Vec<Datum>) -> Exit {
        let mut values: Vec<Option<Datum>> = vec![None; body.values.len()];
        let mut caught = Vec::new();
        let entry = body.entry();
        for (&param, arg) in body.blocks[entry].params.iter().zip(args) {
            values[param.index()] = Some(arg);
        }
        let mut block = entry;
        loop {
            let data = &body.blocks[block];
            let mut raised = None;
            for (index, &inst) in data.insts.iter().enumerate() {
                let inst = &body.insts[inst];
                let get = |value: Value| {
                    values[value.index()].clone().unwrap_or_else(|| {
                        panic!("{value} is not defined before {:?} in {block}", inst.op)
                    })
                };
                match self.op(&inst.op, &get, inst.pos, &caught) {
                    Ok(result) => {
                        if let Some(value) = inst.result {
                            values[value.index()] = result;
                        }
                    }
                    // Only the last instruction is tried.
                    Err(Exit::Raise(message)) if index + 1 == data.insts.len() => {
                        raised = Some(message);
                    }
                    Err(exit) => return exit,
                }
            }
            let call = match (raised, &data.terminator) {
                (Some(message), Terminator::Try(_, catch)) => {
                    caught = message;
                    catch
                }
                (Some(message), _) => return Exit::Raise(message),
                (None, Terminator::Jump(to) | Terminator::Try(to, _)) => to,
                (None, Terminator::Branch(condition, then, other)) => {
                    match values[condition.index()] {
                        Some(Datum::Long(0)) => other,
                        _ => then,
                    }
                }
                (None, Terminator::Return(value)) => {
                    return Exit::Return(value.and_then(|v| values[v.index()].clone()));
                }
                (None, Terminator::Raise { message, catch, pos }) => {
                    let Some(Datum::Str(text)) = &values[message.index()] else {
                        panic!("a message is a string")
                    };
                    let text = at(text, *pos);
                    match catch {
                        Some(catch) => {
                            caught = text;
                            catch
                        }
                        None => return Exit::Raise(text),
                    }
                }
                (None, Terminator::Unreachable) => panic!("unreachable is reached"),
            };
            block = enter(body, call, &mut values);
        }
    }

    fn op(
        &mut self,
        op: &Op,
        get: &dyn Fn(Value) -> Datum,
        pos: Option<Pos>,
        caught: &[u8],
    ) -> Result<Option<Datum>, Exit> {
        let long = |value: Value| match get(value) {
            Datum::Long(n) => n,
            other => panic!("{other:?} is no long"),
        };
        let text = |value: Value| match get(value) {
            Datum::Str(text) => text,
            other => panic!("{other:?} is no string"),
        };
        let raise = |message: &str| Exit::Raise(at(message.as_bytes(), pos));
        let truth = |truth: bool| Ok(Some(Datum::Long(i64::from(truth))));
        match op {
            Op::Const(constant) => Ok(Some(datum(constant))),
            Op::Unary(op, a) => Ok(Some(Datum::Long(arith::unary(*op, long(*a))))),
            Op::Binary(op, a, b) => match arith::binary(*op, long(*a), long(*b)) {
                Some(n) => Ok(Some(Datum::Long(n))),
                None => Err(raise("division by zero")),
            },
            Op::Compare(op, a, b) => truth(arith::compare(*op, &get(*a), &get(*b))),
            Op::Intrinsic(intrinsic, args) => Ok(match intrinsic {
                Intrinsic::Pid => Some(Datum::Long(self.event % 4)),
                Intrinsic::Tid => Some(Datum::Long(self.event % 3 - 1)),
                Intrinsic::Execname => Some(Datum::Str(format!("p{}", self.event % 3).into())),
                Intrinsic::StrConcat => {
                    let mut both = [text(args[0]), text(args[1])].concat();
                    both.truncate(self.module.limits.longest_string() as usize);
                    Some(Datum::Str(both))
                }
                Intrinsic::StrLen => Some(Datum::Long(text(args[0]).len() as i64)),
                Intrinsic::StrAt => {
                    let byte = usize::try_from(long(args[1])).ok();
                    let byte = byte.and_then(|n| text(args[0]).get(n).copied());
                    Some(Datum::Long(byte.ok_or_else(|| raise("no such byte"))?.into()))
                }
                Intrinsic::Exit => {
                    self.exiting = true;
                    None
                }
                other => panic!("{other} is not interpreted"),
            }),
            Op::Call(function, args) => {
                self.depth += 1;
                // Actions run out earlier: how deep calls may nest is not for passes to keep.
                if self.depth > 100 {
                    return Err(Exit::Abort);
                }
                let FunctionCode::Body(body) = &self.module.functions[*function].code else {
                    panic!("C is not interpreted")
                };
                let depth = self.depth;
                let exit = self.body(body, args.iter().map(|&arg| get(arg)).collect());
                self.depth = depth - 1;
                match exit {
                    Exit::Return(value) => Ok(value),
                    other => Err(other),
                }
            }
            Op::Load(place) => Ok(Some(match self.element(place, get) {
                Some(Element::Datum(datum)) => datum,
                _ => self.zero(place.global),
            })),
            Op::Store(place, value) => {
                self.set(place, get, Element::Datum(get(*value))).map_err(raise)?;
                Ok(None)
            }
            Op::Update(op, place, value) => {
                let old = match self.element(place, get) {
                    Some(Element::Datum(Datum::Long(n))) => n,
                    _ => 0,
                };
                let new = Datum::Long(arith::update(*op, old, long(*value)));
                self.set(place, get, Element::Datum(new)).map_err(raise)?;
                Ok(None)
            }
            Op::Contains(place) => truth(self.element(place, get).is_some()),
            Op::Delete(place) => {
                let keys: Vec<Datum> = place.keys.iter().map(|&key| get(key)).collect();
                self.elements(place.global).remove(&keys);
                Ok(None)
            }
            Op::Clear(global) => {
                self.elements(*global).clear();
                Ok(None)
            }
            Op::StatAdd(place, value) => {
                let mut values = self.stat(place, get);
                values.push(long(*value));
                self.set(place, get, Element::Stat(values)).map_err(raise)?;
                Ok(None)
            }
            Op::StatGet(field, place) => field_of(*field, &self.stat(place, get))
                .map(|n| Some(Datum::Long(n)))
                .ok_or_else(|| raise("empty statistic")),
            Op::IterBegin(spec) => Ok(Some(self.walk(spec, get))),
            Op::IterNext(iter) => {
                let walk = self.walk_of(get(*iter));
                walk.next += 1;
                truth(walk.next <= walk.entries.len())
            }
            Op::IterKey(iter, n) => {
                let walk = self.walk_of(get(*iter));
                Ok(Some(walk.entries[walk.next - 1].0[*n as usize].clone()))
            }
            Op::IterValue(iter) => {
                let walk = self.walk_of(get(*iter));
                match &walk.entries[walk.next - 1].1 {
                    Element::Datum(datum) => Ok(Some(datum.clone())),
                    Element::Stat(_) => panic!("a statistic has no value"),
                }
            }
            Op::IterEnd(_) | Op::Lock(_) | Op::Unlock(_) => Ok(None),
            Op::Print(format, args) => {
                let args: Vec<String> = args.iter().map(|&arg| show(&get(arg))).collect();
                let format = format.to_bytes().escape_ascii().to_string();
                let _ = writeln!(self.transcript, "{format} {}", args.join(" "));
                Ok(None)
            }
            Op::Caught => {
                let mut message = caught.to_vec();
                message.truncate(self.module.limits.longest_string() as usize);
                Ok(Some(Datum::Str(message)))
            }
            Op::Action => {
                self.actions -= 1;
                if self.actions == 0 { Err(Exit::Abort) } else { Ok(None) }
            }
            other => panic!("{other:?} is not interpreted"),
        }
    }

    fn elements(&mut self, global: Global) -> &mut BTreeMap<Vec<Datum>, Element> {
        self.globals.entry(global).or_default()
    }

    fn element(&mut self, place: &Place, get: &dyn Fn(Value) -> Datum) -> Option<Element> {
        let keys: Vec<Datum> = place.keys.iter().map(|&key| get(key)).collect();
        self.elements(place.global).get(&keys).cloned()
    }

    fn stat(&mut self, place: &Place, get: &dyn Fn(Value) -> Datum) -> Stat {
        match self.element(place, get) {
            Some(Element::Stat(values)) => values,
            _ => Vec::new(),
        }
    }

    fn set(
        &mut self,
        place: &Place,
        get: &dyn Fn(Value) -> Datum,
        element: Element,
    ) -> Result<(), &'static str> {
        let keys: Vec<Datum> = place.keys.iter().map(|&key| get(key)).collect();
        let data = &self.module.globals[place.global];
        let most = data.max_entries as usize;
        let elements = self.elements(place.global);
        if data.is_array() && !elements.contains_key(&keys) && elements.len() >= most {
            return Err("array is full");
        }
        elements.insert(keys, element);
        Ok(())
    }

    fn zero(&self, global: Global) -> Datum {
        match self.module.globals[global].element {
            ElementType::Str(_) => Datum::Str(Vec::new()),
            _ => Datum::Long(0),
        }
    }

    fn walk(&mut self, spec: &IterSpec, get: &dyn Fn(Value) -> Datum) -> Datum {
        let elements = self.elements(spec.global).clone();
        let mut entries: Vec<(Vec<Datum>, Element)> = elements.into_iter().collect();
        match spec.sort {
            Some((SortKey::Key(n), descending)) => {
                entries.sort_by(|a, b| a.0[n as usize].cmp(&b.0[n as usize]));
                if descending {
                    entries.reverse();
                }
            }
            None => {}
            Some(other) => panic!("{other:?} is not interpreted"),
        }
        if let Some(limit) = spec.limit {
            let Datum::Long(n) = get(limit) else { panic!("a limit is a long") };
            entries.truncate(usize::try_from(n).unwrap_or(0));
        }
        self.walks.push(Walk { entries, next: 0 });
        Datum::Iter(self.walks.len() - 1)
    }

    fn walk_of(&mut self, iter: Datum) -> &mut Walk {
        match iter {
            Datum::Iter(n) => &mut self.walks[n],
            other => panic!("{other:?} is no walk"),
        }
    }
}

/// Gives the parameters of a block their values, all at once.
fn enter(body: &Body, call: &BlockCall, values: &mut [Option<Datum>]) -> Block {
    let args: Vec<Option<Datum>> = call.args.iter().map(|a| values[a.index()].clone()).collect();
    for (&param, arg) in body.blocks[call.block].params.iter().zip(args) {
        assert!(arg.is_some(), "an argument is defined");
        values[param.index()] = arg;
    }
    call.block
}

fn datum(constant: &Const) -> Datum {
    match constant {
        Const::Long(n) => Datum::Long(*n),
        Const::Str(bytes) => Datum::Str(bytes.to_vec()),
    }
}

fn field_of(field: StatField, values: &[i64]) -> Option<i64> {
    let sum = || values.iter().fold(0i64, |sum, n| sum.wrapping_add(*n));
    match field {
        StatField::Count => Some(values.len() as i64),
        StatField::Sum => Some(sum()),
        StatField::Min => values.iter().min().copied(),
        StatField::Max => values.iter().max().copied(),
        StatField::Avg => (!values.is_empty()).then(|| sum().wrapping_div(values.len() as i64)),
        StatField::Variance(_) => panic!("variance is not interpreted"),
    }
}

/// A message with the place that it names.
fn at(message: &[u8], pos: Option<Pos>) -> Vec<u8> {
    let pos = pos.map(|pos| format!(" at {}:{}", pos.line, pos.column)).unwrap_or_default();
    [message, pos.as_bytes()].concat()
}

fn show(datum: &Datum) -> String {
    match datum {
        Datum::Long(n) => n.to_string(),
        Datum::Str(text) => text.escape_ascii().to_string(),
        Datum::Iter(_) => "iter".into(),
    }
}
