//! Tail merging: blocks that go to the same place and end alike share their ends.
//!
//! Assumes clean bodies, so that what is alike looks alike. Where all ways into a block jump there,
//! none of them back, and the blocks that they come from end in the same instructions, those
//! instructions stand once, in a block of their own; so they do where the two ways of a branch return.
//! What the instructions differ in becomes a parameter, as long as that is less than what is saved.
//! Positions must be equal where a message names them. Guarantees that no such end is left that is
//! worth it.

use std::collections::HashMap;

use xlate_ir::entities::{Block, Entity, Inst, Value};
use xlate_ir::instructions::{BlockCall, Op, Terminator};
use xlate_ir::module::Body;
use xlate_ir::types::Type;
use xlate_ir::typing::{Outcome, outcome};

use crate::changes::Changes;
use crate::duplicates::literal_definitions;
use crate::manager::BodyContext;

/// Runs the pass.
pub(crate) fn run(cx: &mut BodyContext<'_>) -> Changes {
    let mut merged = 0;
    while let Some(tail) = find(cx) {
        merged += tail.length * (tail.blocks.len() - 1);
        let pos = tail.lines.iter().find_map(|&inst| cx.body.insts[inst].pos);
        let message = format!("{} ways end alike: their ends are one", tail.blocks.len());
        cx.log.applied(pos, message);
        tail.merge(cx.body);
    }
    cx.log.count("instructions merged", merged);
    Changes::any(merged > 0)
}

/// Ends of blocks that are alike.
struct Tail {
    blocks: Vec<Block>,
    /// How many instructions of each block are in it.
    length: usize,
    /// Those of the first block.
    lines: Vec<Inst>,
    /// For each operand that differs between blocks: its values, by block.
    params: Vec<Vec<Value>>,
    /// What stands for each operand of the first block, in the order of use.
    stands: Vec<Stand>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// A parameter.
    Param(usize),
    /// A constant, made again.
    Constant(Inst),
    /// Itself: all blocks use it, or it is made in the end.
    Itself,
}

fn find(cx: &mut BodyContext<'_>) -> Option<Tail> {
    if cx.body.layout.len() == 1 {
        return None;
    }
    let graph = cx.graph();
    let (cfg, dominators) = (&graph.cfg, graph.dominators());
    let constants = literal_definitions(cx.body);
    let groups = cfg.reverse_postorder().iter().filter_map(|&block| {
        let from = cfg.predecessors(block);
        let jumps = |&from: &Block| {
            matches!(cx.body.blocks[from].terminator, Terminator::Jump(_))
                && !dominators.dominates(block, from)
        };
        if from.len() > 1 && from.iter().all(jumps) {
            return Some(from.to_vec());
        }
        let Terminator::Branch(_, a, b) = &cx.body.blocks[block].terminator else { return None };
        let returns = |block: Block| {
            matches!(cx.body.blocks[block].terminator, Terminator::Return(_))
                && cfg.predecessors(block).len() == 1
        };
        (a.block != b.block && returns(a.block) && returns(b.block)).then(|| vec![a.block, b.block])
    });
    groups.into_iter().find_map(|blocks| alike(cx, &constants, blocks))
}

/// The longest end that is worth it.
fn alike(cx: &BodyContext<'_>, constants: &[Option<Inst>], blocks: Vec<Block>) -> Option<Tail> {
    let lists: Vec<Vec<Inst>> = blocks
        .iter()
        .map(|&block| {
            let insts = cx.body.blocks[block].insts.iter().copied();
            insts.filter(|&inst| !matches!(cx.body.insts[inst].op, Op::Const(_))).collect()
        })
        .collect();
    let shortest = lists.iter().map(Vec::len).min()?;
    let agree = |back: &usize| {
        let first = lists[0][lists[0].len() - back];
        let same = |list: &Vec<Inst>| same_kind(cx, first, list[list.len() - back]);
        lists[1..].iter().all(same)
    };
    let most = (1..=shortest).take_while(agree).count();
    (1..=most).rev().find_map(|length| {
        let ends: Vec<&[Inst]> = lists.iter().map(|list| &list[list.len() - length..]).collect();
        let tail = Matcher::tail(cx.body, constants, &blocks, &ends)?;
        (tail.params.len() < length && results_fit(cx, &tail)).then_some(tail)
    })
}

/// Whether strings that are made of parameters are no longer than those that are made now.
fn results_fit(cx: &BodyContext<'_>, tail: &Tail) -> bool {
    let body = &*cx.body;
    let mut stands = tail.stands.iter();
    tail.lines.iter().all(|&inst| {
        let data = &body.insts[inst];
        let mut types: HashMap<Value, Type> = HashMap::new();
        data.op.for_each_operand(|value| {
            let ty = match stands.next() {
                Some(Stand::Param(n)) => tail.type_of(body, *n),
                _ => body.type_of(value),
            };
            types.entry(value).and_modify(|known| *known = wider(*known, ty)).or_insert(ty);
        });
        let type_of = |value| types.get(&value).copied().unwrap_or_else(|| body.type_of(value));
        let given = outcome(cx.module, &data.op, type_of, |_| None);
        match (given, data.result.map(|result| body.type_of(result))) {
            (Outcome::Value(Type::Str(given)), Some(Type::Str(place))) => given <= place,
            _ => true,
        }
    })
}

/// Whether two instructions do the same, operands aside.
fn same_kind(cx: &BodyContext<'_>, a: Inst, b: Inst) -> bool {
    let (a, b) = (&cx.body.insts[a], &cx.body.insts[b]);
    if matches!(a.op, Op::Caught | Op::Lock(_) | Op::Record(_)) {
        return false;
    }
    let plain = |op: &Op| {
        let mut op = op.clone();
        op.for_each_operand_mut(|value| *value = Value::from_index(0));
        op
    };
    let types = |a: Option<Value>, b: Option<Value>| match (a, b) {
        (Some(a), Some(b)) => cx.body.type_of(a) == cx.body.type_of(b),
        (a, b) => a.is_none() && b.is_none(),
    };
    let effects = cx.summaries.op(cx.module, &a.op);
    let told = (effects.raises || effects.aborts) && !matches!(a.op, Op::Call(..));
    plain(&a.op) == plain(&b.op) && types(a.result, b.result) && (!told || a.pos == b.pos)
}

struct Matcher<'a> {
    body: &'a Body,
    constants: &'a [Option<Inst>],
    /// By block: where in the end each value is made.
    made: Vec<HashMap<Value, usize>>,
    params: Vec<Vec<Value>>,
    stands: Vec<Stand>,
}

impl<'a> Matcher<'a> {
    fn tail(
        body: &'a Body,
        constants: &'a [Option<Inst>],
        blocks: &[Block],
        ends: &[&[Inst]],
    ) -> Option<Tail> {
        let numbered = |end: &&[Inst]| {
            let results = end.iter().enumerate();
            results.filter_map(|(n, &inst)| Some((body.insts[inst].result?, n))).collect()
        };
        let mut matcher = Matcher {
            body,
            constants,
            made: ends.iter().map(numbered).collect(),
            params: Vec::new(),
            stands: Vec::new(),
        };
        for line in 0..ends[0].len() {
            let operands = |end: &&[Inst]| {
                let mut operands = Vec::new();
                body.insts[end[line]].op.for_each_operand(|value| operands.push(value));
                operands
            };
            matcher.rows(ends.iter().map(operands).collect())?;
        }
        let last = |&block: &Block| {
            let mut operands = Vec::new();
            body.blocks[block].terminator.for_each_operand(|value| operands.push(value));
            operands
        };
        matcher.rows(blocks.iter().map(last).collect())?;
        let Matcher { params, stands, .. } = matcher;
        let (blocks, lines) = (blocks.to_vec(), ends[0].to_vec());
        Some(Tail { blocks, length: lines.len(), lines, params, stands })
    }

    /// Matches the operands of one line, by block.
    fn rows(&mut self, rows: Vec<Vec<Value>>) -> Option<()> {
        (0..rows[0].len()).try_for_each(|n| self.column(rows.iter().map(|row| row[n]).collect()))
    }

    /// Matches one operand, by block; `None` if no parameter can stand for it.
    fn column(&mut self, column: Vec<Value>) -> Option<()> {
        let first = column[0];
        let made = |(values, value): (&HashMap<Value, usize>, &Value)| values.get(value).copied();
        let places: Vec<Option<usize>> = self.made.iter().zip(&column).map(made).collect();
        if places.iter().any(Option::is_some) {
            self.stands.push(Stand::Itself);
            return places.iter().all(|place| *place == places[0]).then_some(());
        }
        let constant = |value: &Value| match &self.body.insts[self.constants[value.index()]?].op {
            Op::Const(constant) => Some(constant),
            _ => None,
        };
        let stand = match (constant(&first), column.iter().all(|value| *value == first)) {
            (Some(known), _) if column.iter().all(|value| constant(value) == Some(known)) => {
                Stand::Constant(self.constants[first.index()]?)
            }
            (_, true) => Stand::Itself,
            _ if self.body.type_of(first) == Type::Iter => return None,
            // Comparisons take longs and strings, which no parameter can both be.
            _ if column.iter().any(|&value| !self.alike(value, first)) => return None,
            _ => {
                let known = self.params.iter().position(|param| *param == column);
                Stand::Param(known.unwrap_or_else(|| {
                    self.params.push(column.clone());
                    self.params.len() - 1
                }))
            }
        };
        self.stands.push(stand);
        Some(())
    }

    /// Whether two values have one type, the lengths of strings aside.
    fn alike(&self, a: Value, b: Value) -> bool {
        self.body.type_of(a).is_str() == self.body.type_of(b).is_str()
    }
}

impl Tail {
    /// The type of a parameter.
    fn type_of(&self, body: &Body, param: usize) -> Type {
        let types = self.params[param].iter().map(|&value| body.type_of(value));
        types.reduce(wider).unwrap_or(Type::Long)
    }

    fn merge(self, body: &mut Body) {
        let block = body.add_block();
        // The new block follows the last of those that lead there.
        body.layout.pop();
        let last = body.layout.iter().rposition(|other| self.blocks.contains(other));
        body.layout.insert(last.map_or(body.layout.len(), |at| at + 1), block);
        let types: Vec<Type> = (0..self.params.len()).map(|n| self.type_of(body, n)).collect();
        let params: Vec<Value> =
            types.into_iter().map(|ty| body.add_param(block, ty, None)).collect();
        let mut made: HashMap<Inst, Value> = HashMap::new();
        for stand in &self.stands {
            if let Stand::Constant(inst) = stand
                && !made.contains_key(inst)
            {
                let data = body.insts[*inst].clone();
                let ty = data.result.map(|result| body.type_of(result));
                made.extend(body.push(block, data.op, ty, data.pos).map(|copy| (*inst, copy)));
            }
        }
        let mut stands = self.stands.iter();
        let mut rename = |value: &mut Value| match stands.next() {
            Some(Stand::Param(n)) => *value = params[*n],
            Some(Stand::Constant(inst)) => *value = made[inst],
            Some(Stand::Itself) | None => {}
        };
        for &inst in &self.lines {
            body.insts[inst].op.for_each_operand_mut(&mut rename);
        }
        let mut end = body.blocks[self.blocks[0]].terminator.clone();
        end.for_each_operand_mut(rename);
        for (n, &from) in self.blocks.iter().enumerate() {
            let args = self.params.iter().map(|column| column[n]).collect();
            let mut left = self.length;
            let mut kept = Vec::new();
            for &inst in body.blocks[from].insts.iter().rev() {
                if left > 0 && !matches!(body.insts[inst].op, Op::Const(_)) {
                    left -= 1;
                } else {
                    kept.push(inst);
                }
            }
            kept.reverse();
            body.blocks[from].insts = kept;
            body.blocks[from].terminator = Terminator::Jump(BlockCall { block, args });
        }
        body.blocks[block].insts.extend(self.lines);
        body.blocks[block].terminator = end;
    }
}

fn wider(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Str(a), Type::Str(b)) => Type::Str(a.max(b)),
        (a, _) => a,
    }
}
