//! Sharded globals: the shards of a CPU, and how they are gathered.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use xlate_ir::entities::Global;
use xlate_ir::instructions::UpdateOp;
use xlate_ir::sharing::Commutative;
use xlate_ir::types::GlobalData;

use crate::c::expr::has_word;
use crate::facts::{Facts, Field};
use crate::module_names::ModuleNames;
use crate::needs::Needs;
use crate::walks::{Snapshots, snapshot_name};

/// Whether a global's shards lie in `struct xl_shards`: all but those of integers.
pub(crate) fn is_allocated(data: &GlobalData) -> bool {
    data.is_array() || data.is_stat()
}

/// The word for a kind of update, in the names of the runtime.
pub(crate) fn update_word(op: UpdateOp) -> &'static str {
    match op {
        UpdateOp::Add => "add",
        UpdateOp::Or => "or",
        UpdateOp::Min => "min",
        UpdateOp::Max => "max",
    }
}

/// The function that gathers the value of a global, or of an element of it.
pub(crate) fn gather_value(facts: &Facts, name: &str, global: Global) -> String {
    match facts.sharing.shard_update(facts.module, global) {
        Some(Commutative::Update(op)) => format!("xl_gather_{}", update_word(op)),
        Some(Commutative::Stat) | None => format!("{name}_stat_gather"),
    }
}

/// What changes nothing when it is gathered by the update of a sharded integer.
pub(crate) fn identity(facts: &Facts, global: Global) -> &'static str {
    match facts.sharing.shard_update(facts.module, global) {
        Some(Commutative::Update(UpdateOp::Min)) => "S64_MAX",
        Some(Commutative::Update(UpdateOp::Max)) => "S64_MIN",
        _ => "0",
    }
}

/// The function that gathers statistics: those that the struct has fields for.
pub(crate) fn gather_statistic(
    facts: &Facts,
    needs: &mut Needs,
    name: &str,
    global: Global,
) -> String {
    needs.headers.extend(["shard.h", "stat.h"]);
    let histogram = facts.module.globals[global].histogram.is_some();
    let mut out = format!(
        "static inline void {name}_stat_gather(struct {name}_stat *to, struct {name}_stat *from)\n{{\n"
    );
    if histogram {
        out.push_str("\tint i;\n\n");
    }
    out.push_str("\tif (!from->count)\n\t\treturn;\n");
    let fields = facts.fields(global);
    // Minimum and maximum look at the old count.
    for (field, line) in [
        (Field::Min, "xl_stat_min(to, from->min);"),
        (Field::Max, "xl_stat_max(to, from->max);"),
        (Field::Count, "to->count += from->count;"),
        (Field::Sum, "to->sum += from->sum;"),
        (Field::Squares, "xl_squares_gather(&to->squares, &from->squares);"),
    ] {
        if fields.contains(&field) {
            let _ = writeln!(out, "\t{line}");
        }
    }
    if histogram {
        out.push_str("\tfor (i = 0; i < ARRAY_SIZE(to->histogram); i++)\n");
        out.push_str("\t\tto->histogram[i] += from->histogram[i];\n");
    }
    out.push_str("\tmemset(from, 0, sizeof(*from));\n}\n\n");
    out
}

/// The sharded globals of a module whose code is `code`.
pub(crate) struct Shards<'a> {
    facts: &'a Facts<'a>,
    names: &'a ModuleNames,
    globals: Vec<Global>,
    snapshots: Vec<String>,
}

impl<'a> Shards<'a> {
    /// Finds those that the code uses; `is_used` tells.
    pub(crate) fn of(
        facts: &'a Facts<'a>,
        names: &'a ModuleNames,
        snapshots: &Snapshots,
        code: &str,
        is_used: impl Fn(Global) -> bool,
    ) -> Self {
        let is_sharded = |global: Global| facts.module.globals[global].discipline.is_sharded();
        let globals = facts.module.globals.iter().map(|(id, _)| id);
        let globals = globals.filter(|&global| is_sharded(global) && is_used(global)).collect();
        let snapshots = snapshots
            .iter()
            .filter(|snapshot| is_sharded(snapshot.global))
            .map(|snapshot| snapshot_name(names.global(snapshot.global), snapshot))
            .filter(|name| has_word(code, name))
            .collect();
        Shards { facts, names, globals, snapshots }
    }

    /// The struct of a CPU's shards and the functions that gather, to stand after the globals.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.structure(), self.gathers())
    }

    fn data(&self, global: Global) -> &'a GlobalData {
        &self.facts.module.globals[global]
    }

    fn structure(&self) -> String {
        let mut fields = String::new();
        for &global in &self.globals {
            let name = self.names.global(global);
            if self.facts.module.lock_of(global) == Some(global) {
                let _ = writeln!(fields, "\tstruct xl_lock {name}_lock;");
            }
            let data = self.data(global);
            if data.is_array() {
                let _ = writeln!(fields, "\tstruct {name}_shard {name};");
            } else if data.is_stat() {
                let _ = writeln!(fields, "\tstruct {name}_stat {name};");
            }
        }
        if fields.is_empty() {
            return String::new();
        }
        format!(
            "\n/* What each CPU has of the sharded globals. */\nstruct xl_shards {{\n{fields}}};\n"
        )
    }

    /// One function for each group of globals with the same locks, and the hook that gathers all, those
    /// without locks by itself.
    fn gathers(&self) -> String {
        let mut groups: BTreeMap<Option<Global>, Vec<Global>> = BTreeMap::new();
        for &global in &self.globals {
            groups.entry(self.facts.module.lock_of(global)).or_default().push(global);
        }
        let free = groups.remove(&None).unwrap_or_default();
        let mut out = String::new();
        let mut calls = String::new();
        for (leader, globals) in groups {
            let Some(leader) = leader else { continue };
            let function = gather_function(self.names, leader);
            let _ = write!(out, "\nstatic noinline void {function}(void)\n{{\n");
            let _ = write!(out, "\tint cpu;\n\n{}}}\n", self.each_cpu(&globals));
            let _ = writeln!(calls, "\t{function}();");
        }
        if !self.globals.is_empty() {
            let variable = if free.is_empty() { "" } else { "\tint cpu;\n\n" };
            let _ = write!(
                out,
                "\nstatic void xl_gather(void)\n{{\n{variable}{}{calls}}}\n#define xl_gather xl_gather\n",
                self.each_cpu(&free)
            );
        }
        out
    }

    /// Gathers globals from all CPUs.
    fn each_cpu(&self, globals: &[Global]) -> String {
        let gather = |&global: &Global| {
            let name = self.names.global(global);
            let gather = gather_value(self.facts, name, global);
            match self.data(global) {
                data if data.is_array() => {
                    format!("\t\t{name}_gather(&XL_SHARDS_OF(cpu)->{name});\n")
                }
                data if data.is_stat() => {
                    format!("\t\t{gather}(&{name}, &XL_SHARDS_OF(cpu)->{name});\n")
                }
                _ => format!("\t\t{gather}(&{name}, &per_cpu({name}_shard, cpu));\n"),
            }
        };
        let lines: String = globals.iter().map(gather).collect();
        match globals.len() {
            0 => lines,
            1 => format!("\txl_each_cpu(cpu)\n{lines}"),
            _ => format!("\txl_each_cpu(cpu) {{\n{lines}\t}}\n"),
        }
    }

    /// The hooks that the runtime calls to allocate and free what is gathered to.
    pub(crate) fn hooks(&self) -> String {
        let mut out = String::new();
        let arrays = self.globals.iter().filter(|&&global| self.data(global).is_array());
        let arrays: Vec<Global> = arrays.copied().collect();
        if arrays.is_empty() {
            return out;
        }
        let snapshots = self.snapshots.iter();
        let all: Vec<String> = (arrays.iter())
            .map(|&global| {
                let is_guarded = self.facts.lock_of(global).is_some();
                let shards = if is_guarded { "guarded" } else { "cpus" };
                format!("{}_allocate({shards})", self.names.global(global))
            })
            .chain(snapshots.map(|name| format!("{name}_allocate()")))
            .collect();
        let frees: String = (arrays.iter().map(|&global| self.names.global(global)))
            .chain(self.snapshots.iter().map(String::as_str))
            .map(|name| format!("\t{name}_free();\n"))
            .collect();
        let _ = write!(
            out,
            "\nstatic int xl_allocate(u32 cpus, u32 guarded)\n{{\n\treturn {};\n}}\n#define xl_allocate xl_allocate\n\
             \nstatic void xl_free(void)\n{{\n{frees}}}\n#define xl_free xl_free\n",
            all.join(" ?:\n\t       ")
        );
        out
    }
}

/// The function that gathers the globals with the locks of one of them.
pub(crate) fn gather_function(names: &ModuleNames, leader: Global) -> String {
    format!("gather_{}", names.global(leader).trim_start_matches("g_"))
}
