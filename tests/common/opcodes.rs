//! The operations of the IR by name, and what varies of each.

use std::collections::BTreeSet;

use xlate_ir::instructions::{
    BinaryOp, CompareOp, FetchOp, LockMode, Op, SortKey, StatField, Terminator, UnaryOp, UpdateOp,
};
use xlate_ir::module::{Body, Module};

/// Adds what a module has.
pub(crate) fn note_module(module: &Module, reached: &mut BTreeSet<String>) {
    module.bodies().for_each(|body| note(body, reached));
}

fn note(body: &Body, reached: &mut BTreeSet<String>) {
    for (_, inst) in body.iter_insts() {
        reached.extend(words(&body.insts[inst].op));
    }
    for &block in &body.layout {
        reached.insert(terminator(&body.blocks[block].terminator).to_owned());
    }
}

/// The words for an operation and what varies of it.
fn words(op: &Op) -> Vec<String> {
    let plain = |word: &str| vec![word.to_owned()];
    match op {
        Op::Const(_) => plain("const"),
        Op::Record(_) => plain("record"),
        Op::Unary(op, _) => plain(op.name()),
        Op::Binary(op, ..) => plain(op.name()),
        Op::Compare(op, ..) => vec![format!("cmp.{op}")],
        Op::Intrinsic(..) => plain("intrinsic"),
        Op::Match(..) => plain("match"),
        Op::Call(..) => plain("call"),
        Op::Load(_) => plain("load"),
        Op::Store(..) => plain("store"),
        Op::Update(op, ..) => vec![format!("update.{op}")],
        Op::Fetch(op, ..) => vec![format!("fetch.{op}")],
        Op::Contains(_) => plain("contains"),
        Op::Delete(_) => plain("delete"),
        Op::Clear(_) => plain("clear"),
        Op::StatAdd(..) => plain("stat.add"),
        Op::StatGet(field, _) => vec![format!("stat.{}", field_word(*field))],
        Op::Bucket(..) => plain("bucket"),
        Op::BucketCount(_) => plain("bucket.count"),
        Op::IterBegin(spec) => {
            let sort = spec.sort.map(|(key, descending)| {
                let order = if descending { "descending" } else { "ascending" };
                format!("sort.{}.{order}", sort_word(key))
            });
            let slice = spec.slice.iter().any(Option::is_some).then(|| "slice".to_owned());
            let limit = spec.limit.map(|_| "limit".to_owned());
            let parts = [Some("iter.begin".to_owned()), sort, slice, limit];
            parts.into_iter().flatten().collect()
        }
        Op::IterNext(_) => plain("iter.next"),
        Op::IterKey(..) => plain("iter.key"),
        Op::IterValue(_) => plain("iter.value"),
        Op::IterStat(_, field) => vec![format!("iter.stat.{}", field_word(*field))],
        Op::IterEnd(_) => plain("iter.end"),
        Op::Print(..) => plain("print"),
        Op::Format(..) => plain("format"),
        Op::PrintHistogram(_) => plain("print.histogram"),
        Op::Caught => plain("caught"),
        Op::Action => plain("action"),
        Op::CStatement(_) => plain("c.statement"),
        Op::CExpression(_) => plain("c.expression"),
        Op::Lock(locks) => locks.iter().map(|(_, mode)| format!("lock.{mode}")).collect(),
        Op::Unlock(_) => plain("unlock"),
    }
}

fn field_word(field: StatField) -> &'static str {
    match field {
        StatField::Count => "count",
        StatField::Sum => "sum",
        StatField::Min => "min",
        StatField::Max => "max",
        StatField::Avg => "avg",
        StatField::Variance(_) => "variance",
    }
}

fn sort_word(key: SortKey) -> &'static str {
    match key {
        SortKey::Key(_) => "key",
        SortKey::Value => "value",
        SortKey::Stat(_) => "stat",
    }
}

fn terminator(terminator: &Terminator) -> &'static str {
    match terminator {
        Terminator::Jump(_) => "jump",
        Terminator::Branch(..) => "branch",
        Terminator::Return(None) => "ret",
        Terminator::Return(Some(_)) => "ret value",
        Terminator::Raise { catch: None, .. } => "raise",
        Terminator::Raise { catch: Some(_), .. } => "raise, catch",
        Terminator::Try(..) => "try",
        Terminator::Unreachable => "unreachable",
    }
}

/// All words but `unreachable`, which no finished body has.
pub(crate) fn all() -> BTreeSet<String> {
    let fixed = "const record intrinsic match call load store contains delete clear stat.add bucket \
                 bucket.count iter.begin slice limit iter.next iter.key iter.value iter.end print \
                 format print.histogram caught action c.statement c.expression unlock jump branch \
                 ret raise try";
    let mut all: BTreeSet<String> = fixed.split_whitespace().map(str::to_owned).collect();
    all.extend(["ret value", "raise, catch"].map(str::to_owned));
    all.extend(UnaryOp::ALL.iter().map(|op| op.name().to_owned()));
    all.extend(BinaryOp::ALL.iter().map(|op| op.name().to_owned()));
    all.extend(CompareOp::ALL.iter().map(|op| format!("cmp.{op}")));
    all.extend(UpdateOp::ALL.iter().map(|op| format!("update.{op}")));
    all.extend(FetchOp::ALL.iter().map(|op| format!("fetch.{op}")));
    all.extend(LockMode::ALL.iter().map(|mode| format!("lock.{mode}")));
    for field in ["count", "sum", "min", "max", "avg", "variance"] {
        all.extend([format!("stat.{field}"), format!("iter.stat.{field}")]);
    }
    for key in ["key", "value", "stat"] {
        all.extend([format!("sort.{key}.ascending"), format!("sort.{key}.descending")]);
    }
    all
}
