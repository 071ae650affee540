//! Runs a module: `begin` handlers, some events at the other probe points, then `end` or `error`
//! handlers. Everything that a user could see is in the transcript: the output, and apart from it, for
//! it goes elsewhere, errors and messages.
//!
//! Context queries and clocks answer by probe point and round, so that they do not depend on what
//! passes do.

mod operations;
mod shards;
mod state;

use std::fmt::Write;

use xlate_ir::entities::{Block, Entity, Handler, Value};
use xlate_ir::instructions::{BlockCall, Terminator};
use xlate_ir::module::{Body, Module, ProbeKind};
use xlate_ir::types::{Const, Pos};

use shards::Shards;
use state::{State, Walk};

/// A value at run time.
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
    /// Past every catch, as an error.
    Abort,
    /// Past every catch, as the script asked.
    Stop,
}

/// A session of one module.
struct Machine<'a> {
    module: &'a Module,
    state: State,
    shards: Shards,
    walks: Vec<Walk>,
    output: Vec<u8>,
    /// What goes to standard error.
    messages: String,
    /// What is left of the string that is being taken apart.
    tokens: Vec<u8>,
    actions: u32,
    depth: u32,
    /// The probe point that fired, by number, and its handler.
    point: usize,
    handler: Handler,
    event: i64,
    exiting: bool,
    errors: u32,
}

/// The transcript of a session.
pub(crate) fn run(module: &Module) -> String {
    let mut machine = Machine {
        module,
        state: State::of(module),
        shards: Shards::of(module),
        walks: Vec::new(),
        output: Vec::new(),
        messages: String::new(),
        tokens: Vec::new(),
        actions: 0,
        depth: 0,
        point: 0,
        handler: Handler::from_index(0),
        event: 0,
        exiting: false,
        errors: 0,
    };
    machine.session();
    let lines = machine.output.split_inclusive(|&byte| byte == b'\n');
    let output: String = lines.map(|line| format!("{}\n", line.escape_ascii())).collect();
    format!("{output}--\n{}", machine.messages)
}

impl Machine<'_> {
    fn session(&mut self) {
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
        self.gather(|_, _| true);
        let last = if self.errors > 0 { errors } else { ends };
        for (_, point, handler) in last {
            self.handler(point, 0, handler);
        }
    }

    fn handler(&mut self, point: usize, round: i64, handler: Handler) {
        // What a probe point meets does not depend on what else was dropped.
        let name = self.module.probes[point].name.bytes();
        (self.point, self.handler) = (point, handler);
        self.event = round + name.map(i64::from).sum::<i64>();
        self.actions = 40;
        self.depth = 0;
        let data = &self.module.handlers[handler];
        match self.body(&data.body, data.pos, None, Vec::new()) {
            Exit::Return(_) | Exit::Stop => {}
            Exit::Raise(message) => {
                self.errors += 1;
                self.exiting = true;
                let _ = writeln!(self.messages, "error: {}", message.escape_ascii());
            }
            Exit::Abort => {
                self.errors += 1;
                self.exiting = true;
                self.messages.push_str("limit\n");
            }
        }
    }

    /// Runs a body; `pos` is where messages say they come from that have no place of their own, and
    /// `places` are those that stand for others, with the others.
    fn body(
        &mut self,
        body: &Body,
        pos: Option<Pos>,
        places: Option<(&[Pos], &[Pos])>,
        args: Vec<Datum>,
    ) -> Exit {
        let place = |own: Option<Pos>| {
            let pos = own.or(pos)?;
            let listed = places.and_then(|(names, others)| {
                names.iter().position(|&name| name == pos).map(|n| others[n])
            });
            Some(listed.unwrap_or(pos))
        };
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
                match self.op(&inst.op, &get, place(inst.pos), &caught) {
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
                (None, Terminator::Raise { message, catch, pos: own }) => {
                    let Some(Datum::Str(text)) = &values[message.index()] else {
                        panic!("a message is a string")
                    };
                    let text = self.at(text, place(*own));
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

    /// A message with the place that it names.
    fn at(&self, message: &[u8], pos: Option<Pos>) -> Vec<u8> {
        let places = &self.module.handlers[self.handler].places;
        let listed = places.iter().position(|&place| Some(place) == pos);
        let pos = listed.map_or(pos, |n| Some(self.module.probes[self.point].places[n]));
        let pos = pos.map(|pos| format!(" at {}:{}", pos.line, pos.column)).unwrap_or_default();
        [message, pos.as_bytes()].concat()
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

fn constant(datum: Datum) -> Const {
    match datum {
        Datum::Long(n) => Const::Long(n),
        Datum::Str(bytes) => Const::Str(bytes.into()),
        Datum::Iter(_) => panic!("a walk is no operand"),
    }
}
