//! The lock plan: how each global is kept atomic, and what each handler does to it.

use serde::Serialize;
use xlate_ir::effects::Summaries;
use xlate_ir::entities::{Entity, Global, Handler};
use xlate_ir::instructions::{LockMode, Op};
use xlate_ir::module::{Body, Module};
use xlate_ir::types::{Discipline, GlobalData};

use super::lines::Lines;

/// The plan of a module.
#[derive(Clone, Serialize, Debug)]
pub(super) struct Plan {
    handlers: Vec<Column>,
    globals: Vec<Row>,
}

/// A handler.
#[derive(Clone, Serialize, Debug)]
struct Column {
    name: String,
    /// The unit that shows it, if one does.
    unit: Option<usize>,
    /// Whether nothing else runs while it does.
    alone: bool,
}

/// A global.
#[derive(Clone, Serialize, Debug)]
struct Row {
    name: String,
    /// What it holds.
    holds: String,
    discipline: &'static str,
    /// The global whose lock it shares, if not its own.
    shares: Option<String>,
    pos: i64,
    /// One for each handler.
    cells: Vec<Cell>,
}

/// What a handler does to a global.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Debug)]
struct Cell {
    reads: bool,
    writes: bool,
    /// How it locks it: `read` or `write`; of shards `own`, that of its CPU, or `all`; or not at all.
    lock: Option<&'static str>,
}

impl Plan {
    /// The plan of a module; `units` says for each handler which unit shows it.
    pub(super) fn of(module: &Module, units: &[Option<usize>], lines: &mut Lines) -> Plan {
        let handlers: Vec<Handler> = module.handlers.iter().map(|(id, _)| id).collect();
        let summaries = Summaries::of(module);
        let row = |(global, data): (Global, &GlobalData)| Row {
            name: data.name.clone(),
            holds: holds(data),
            discipline: discipline(data),
            shares: data.discipline.leader().map(|leader| module.globals[leader].name.clone()),
            pos: lines.position(data.pos),
            cells: handlers
                .iter()
                .map(|&handler| cell(module, &summaries, &module.handlers[handler].body, global))
                .collect(),
        };
        let globals = module.globals.iter().map(row).collect();
        let column = |&handler: &Handler| {
            let mut points = module.probes.iter().filter(|probe| probe.handler == handler);
            let first =
                points.next().map_or_else(|| handler.to_string(), |point| point.name.clone());
            let name = match points.count() {
                0 => first,
                more => format!("{first} and {more} more"),
            };
            let unit = units.get(handler.index()).copied().flatten();
            Column { name, unit, alone: module.is_exclusive(handler) }
        };
        Plan { handlers: handlers.iter().map(column).collect(), globals }
    }
}

fn holds(data: &GlobalData) -> String {
    if data.keys.is_empty() {
        return data.element.to_string();
    }
    let keys: Vec<String> = data.keys.iter().map(ToString::to_string).collect();
    format!("{} by {}", data.element, keys.join(", "))
}

fn discipline(data: &GlobalData) -> &'static str {
    match data.discipline {
        Discipline::Locked | Discipline::LockedWith(_) => "locked",
        Discipline::Serial => "serial",
        Discipline::Lone => "lone",
        Discipline::Sharded => "sharded",
        Discipline::ShardedLocked | Discipline::ShardedLockedWith(_) => "sharded, locked",
    }
}

fn cell(module: &Module, summaries: &Summaries, body: &Body, global: Global) -> Cell {
    let mut cell = Cell::default();
    let wanted = module.lock_of(global);
    for (_, inst) in body.iter_insts() {
        let op = &body.insts[inst].op;
        if let Op::Lock(locks) = op {
            let mode = locks.iter().find(|(lock, _)| Some(*lock) == wanted).map(|(_, mode)| mode);
            let [weak, strong] = match module.globals[global].discipline.is_sharded() {
                true => ["own", "all"],
                false => ["read", "write"],
            };
            cell.lock = match mode {
                Some(LockMode::Write) => Some(strong),
                Some(LockMode::Read) => cell.lock.or(Some(weak)),
                None => cell.lock,
            };
            continue;
        }
        let effects = summaries.op(module, op);
        cell.reads |= effects.reads.contains(&global);
        cell.writes |= effects.writes.contains(&global);
    }
    // A lock that is shared says nothing of a global that the handler does not touch.
    if !cell.reads && !cell.writes { Cell::default() } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_locked_one_or_all() {
        let module = xlate_ir::text::parse(
            "global @n: long sharded locked\n\
             probe timer.profile -> @h0\nprobe timer.ns(5) -> @h1\n\
             handler @h0 {\nb0:\n  lock @n:read\n  v0 = const 1: long\n  update.add @n, v0\n\
             \x20 unlock @n\n  ret\n}\n\
             handler @h1 {\nb0:\n  lock @n:write\n  v0 = load @n: long\n  print \"%d\", v0\n\
             \x20 unlock @n\n  ret\n}\n",
        )
        .expect("a module");
        let plan = Plan::of(&module, &[], &mut Lines::default());
        let locks: Vec<_> = plan.globals[0].cells.iter().map(|cell| cell.lock).collect();
        assert_eq!(locks, [Some("own"), Some("all")]);
    }

    #[test]
    fn cells_say_what_is_done_and_how_it_is_guarded() {
        let module = xlate_ir::text::parse(
            "global @a: long\nglobal @b[str<15>]: stat max=8 with=@a\nglobal @s: long serial\n\
             probe begin(0) -> @h0\nprobe timer.profile -> @h1\nprobe kernel.trace(\"x\") -> @h2\n\
             handler @h0 {\nb0:\n  v0 = const 1: long\n  store @s, v0\n  ret\n}\n\
             handler @h1 {\nb0:\n  lock @a:read\n  v0 = load @a: long\n  unlock @a\n  ret\n}\n\
             handler @h2 {\nb0:\n  lock @a:write\n  v0 = load @s: long\n  v1 = ctx.execname: str<15>\n\
             \x20 stat.add @b[v1], v0\n  unlock @a\n  ret\n}\n",
        )
        .expect("a module");
        let plan = Plan::of(&module, &[], &mut Lines::default());
        let cell = |reads, writes, lock| Cell { reads, writes, lock };
        let none = Cell::default;
        assert_eq!(plan.globals[0].cells, [none(), cell(true, false, Some("read")), none()]);
        let of_b = &plan.globals[1].cells[2];
        assert_eq!((of_b.writes, of_b.lock), (true, Some("write")));
        assert_eq!(plan.globals[2].cells[0], cell(false, true, None));
        assert_eq!(plan.globals[2].cells[2], cell(true, false, None));
        assert_eq!(plan.globals[1].shares.as_deref(), Some("a"));
        assert_eq!(plan.globals[1].holds, "stat by str<15>");
        let alone: Vec<bool> = plan.handlers.iter().map(|handler| handler.alone).collect();
        assert_eq!(alone, [true, false, false]);
    }
}
