//! Definitions of globals, their locks and snapshots, and the orders that snapshots are sorted in.

use std::fmt::Write as _;

use xlate_ir::entities::Global;
use xlate_ir::instructions::{SortKey, StatField};
use xlate_ir::types::{Const, ElementType, GlobalData, Histogram, Pos, Type};

use crate::body::is_words;
use crate::c::expr::{Expr, has_word};
use crate::c::layout::{WIDTH, Writer};
use crate::c::literal;
use crate::c::text::Text;
use crate::facts::{Facts, Field};
use crate::module_names::ModuleNames;
use crate::needs::Needs;
use crate::repr::{self, Repr};
use crate::shards::{gather_statistic, gather_value, identity, is_allocated};
use crate::walks::{Snapshots, snapshot_name};

/// Emits the globals that the code uses, and those that are module parameters. What cannot be said
/// by an initializer is added to `setup`.
pub(crate) fn emit(
    facts: &Facts,
    names: &ModuleNames,
    needs: &mut Needs,
    code: &str,
    setup: &mut Vec<String>,
) -> Text {
    let mut out = Text::default();
    let mut structs = Text::default();
    for (global, data) in facts.module.globals.iter() {
        let name = names.global(global);
        if is_used(facts, names, global, code) {
            let mut definition = Definition { facts, needs: &mut *needs, name, data, global };
            let (types, text) = definition.text(setup);
            structs.push(&marked(&types, data.pos));
            out.push(&marked(&text, data.pos));
        }
        let lock = format!("{name}_lock");
        if has_word(code, &lock) && !data.discipline.is_sharded() {
            out.push(&marked(&format!("static struct xl_lock {lock};\n"), data.pos));
        }
    }
    structs.push(&out);
    structs
}

/// Lines that come from a place.
fn marked(lines: &str, pos: Option<Pos>) -> Text {
    let mut text = Text::plain(lines);
    if let Some(pos) = pos {
        text.mark(0, pos);
    }
    text
}

/// Whether the code uses a global, or a function of an array; module parameters are used anyway.
pub(crate) fn is_used(facts: &Facts, names: &ModuleNames, global: Global, code: &str) -> bool {
    let name = names.global(global);
    let functions = ["find", "put", "delete", "clear", "entry", "shard_put"];
    facts.module.globals[global].parameter
        || has_word(code, name)
        || functions.iter().any(|f| has_word(code, &format!("{name}_{f}")))
}

struct Definition<'a> {
    facts: &'a Facts<'a>,
    needs: &'a mut Needs,
    name: &'a str,
    data: &'a GlobalData,
    global: Global,
}

impl Definition<'_> {
    /// The structs that it needs, and its definition.
    fn text(&mut self, setup: &mut Vec<String>) -> (String, String) {
        let (name, data) = (self.name, self.data);
        let mut types = String::new();
        if data.is_stat() {
            types.push_str(&self.statistic());
            if data.discipline.is_sharded() {
                types.push_str(&gather_statistic(self.facts, self.needs, name, self.global));
            }
        }
        let longest = self.facts.module.limits.longest_string();
        let element = repr::element_type(name, data.element, longest);
        if let ElementType::Str(bound) = data.element {
            self.needs.headers.insert("strings.h");
            if element.ends_with("_text") {
                let _ = write!(
                    types,
                    "struct {name}_text {{\n\tu32 len;\n\tchar s[{}];\n}};\n",
                    bound + 1
                );
            }
        }
        let mut line = if data.is_array() {
            types.push_str(&self.keys());
            self.array(&element)
        } else {
            self.scalar(&element, setup)
        };
        let position = self.facts.position(data.pos);
        if !position.is_empty() {
            let columns = line.chars().map(|c| if c == '\t' { 8 } else { 1 }).sum::<usize>();
            let tabs = 5_usize.saturating_sub(columns / 8).max(1);
            let comment = format!("/* {position} */");
            if columns + 8 + comment.len() > WIDTH || line.contains('\n') {
                line = format!("{comment}\n{line}");
            } else {
                let _ = write!(line, "{}{comment}", "\t".repeat(tabs));
            }
        }
        line.push('\n');
        if data.discipline.is_sharded() && !is_allocated(data) {
            self.needs.headers.insert("shard.h");
            let _ = writeln!(line, "XL_SHARD_LONG({name}, {});", identity(self.facts, self.global));
        }
        if data.parameter {
            line.push_str(&self.parameter());
        }
        (types, line)
    }

    fn scalar(&mut self, element: &str, setup: &mut Vec<String>) -> String {
        let name = self.name;
        match &self.data.init {
            Some(Const::Long(n)) if *n != 0 => {
                format!("static {element} {name} = {};", literal::long(*n))
            }
            Some(Const::Str(bytes)) if !bytes.is_empty() => {
                let text = literal::string(bytes);
                if element == "struct xl_name" {
                    setup.push(format!("{name} = xl_name(XL_STR({text}));"));
                    format!("static {element} {name};")
                } else {
                    let fields = vec![
                        Expr::atom(format!(".len = {}", bytes.len())),
                        Expr::infix("=", Expr::atom(".s"), Expr::Str(bytes.to_vec())),
                    ];
                    let value = Expr::Braces(String::new().into(), fields);
                    let mut writer = Writer::new(|label| label.0.to_string());
                    writer.line_of(&format!("static {element} {name} = "), &value, ";");
                    writer.finish().as_str().trim_end().to_owned()
                }
            }
            _ => format!("static {element} {name};"),
        }
    }

    fn array(&mut self, element: &str) -> String {
        self.needs.headers.extend(["map.h", "strings.h"]);
        let name = self.name;
        let max = self.data.max_entries.max(1);
        if self.data.discipline.is_sharded() {
            self.needs.headers.insert("shard_map.h");
            let gather = gather_value(self.facts, name, self.global);
            let is_words = is_words(&self.data.keys);
            let kind = if is_words { "WORDS" } else { "ANY" };
            let mut args = vec![Expr::atom(name), Expr::atom(format!("struct {name}_key"))];
            if !is_words {
                args.push(Expr::atom(format!("struct {name}_lookup")));
            }
            args.extend([Expr::atom(element), Expr::Long(max.into()), Expr::atom(gather)]);
            let mut writer = Writer::new(|label| label.0.to_string());
            writer.line_of("", &Expr::call(format!("XL_MAP_{kind}_SHARDED"), args), ";");
            return writer.finish().as_str().trim().to_owned();
        }
        let wrap = if self.data.wrap { "_WRAP" } else { "" };
        if is_words(&self.data.keys) {
            format!("XL_MAP_WORDS{wrap}({name}, struct {name}_key, {element}, {max});")
        } else {
            format!(
                "XL_MAP{wrap}({name}, struct {name}_key, struct {name}_lookup, {element}, {max});"
            )
        }
    }

    fn parameter(&mut self) -> String {
        self.needs.headers.insert("param.h");
        let kind = match self.data.element {
            ElementType::Long | ElementType::Stat => "LONG",
            ElementType::Str(bound) if bound <= repr::NAME_BYTES => "NAME",
            ElementType::Str(_) => "STRING",
        };
        format!("XL_PARAM_{kind}({}, {});\n", self.data.name, self.name)
    }

    fn statistic(&self) -> String {
        let mut out = format!("struct {}_stat {{\n", self.name);
        for field in self.facts.fields(self.global) {
            out.push_str(match field {
                Field::Count => "\ts64 count;\n",
                Field::Sum => "\ts64 sum;\n",
                Field::Min => "\ts64 min;\n",
                Field::Max => "\ts64 max;\n",
                Field::Squares => "\tstruct xl_squares squares;\n",
            });
        }
        match self.data.histogram {
            None => {}
            Some(Histogram::Log) => out.push_str("\tu64 histogram[XL_LOG_BUCKETS];\n"),
            Some(Histogram::Linear { low, high, width }) => {
                let _ =
                    writeln!(out, "\tu64 histogram[XL_LINEAR_BUCKETS({low}, {high}, {width})];");
            }
        }
        out.push_str("};\n\n");
        out
    }

    /// The struct of an array's keys; with long strings, that of a lookup and the functions that
    /// compare the two.
    fn keys(&self) -> String {
        let name = self.name;
        let longest = self.facts.module.limits.longest_string();
        let words = is_words(&self.data.keys);
        let mut out = format!("struct {name}_key {{\n");
        for (n, &ty) in self.data.keys.iter().enumerate() {
            let ty = match (ty, Repr::of(ty)) {
                (Type::Str(bound), Repr::View) => repr::string_place(bound, longest),
                (_, repr) => repr.c_type().to_owned(),
            };
            let _ = writeln!(out, "\t{ty} k{n};");
        }
        out.push_str("};\n\n");
        if words {
            return out;
        }
        let _ = writeln!(out, "struct {name}_lookup {{");
        let (mut hash, mut equal, mut store) = ("XL_HASH".to_owned(), Vec::new(), String::new());
        let mut views = Vec::new();
        for (n, &ty) in self.data.keys.iter().enumerate() {
            let repr = Repr::of(ty);
            let _ = writeln!(out, "\t{} k{n};", repr.c_type());
            match repr {
                Repr::View => {
                    hash = format!("xl_hash_str({hash}, k->k{n})");
                    equal.push(format!("xl_str_equal(xl_str(&e->k{n}), k->k{n})"));
                    let _ = writeln!(store, "\txl_set(&e->k{n}, k->k{n});");
                    views.push(format!("xl_str(&e->k{n})"));
                }
                Repr::Name => {
                    hash = format!("xl_hash_words({hash}, k->k{n}.word, 2)");
                    equal.push(format!("xl_words_equal(e->k{n}.word, k->k{n}.word, 2)"));
                    let _ = writeln!(store, "\te->k{n} = k->k{n};");
                    views.push(format!("e->k{n}"));
                }
                Repr::Long | Repr::Walk => {
                    hash = format!("xl_hash_long({hash}, k->k{n})");
                    equal.push(format!("e->k{n} == k->k{n}"));
                    let _ = writeln!(store, "\te->k{n} = k->k{n};");
                    views.push(format!("e->k{n}"));
                }
            }
        }
        let equal = equal.join(" &&\n\t       ");
        let head = format!("const struct {name}_key *e, const struct {name}_lookup *k");
        let _ = write!(
            out,
            "}};\n\nstatic inline u64 {name}_hash(const struct {name}_lookup *k)\n{{\n\treturn {hash};\n}}\n\n\
             static inline bool {name}_equal({head})\n{{\n\treturn {equal};\n}}\n\n\
             static inline void {name}_store(struct {name}_key *e, const struct {name}_lookup *k)\n{{\n{store}}}\n\n"
        );
        if self.data.discipline.is_sharded() {
            let _ = write!(
                out,
                "static inline struct {name}_lookup {name}_lookup_of(const struct {name}_key *e)\n{{\n\t\
                 return (struct {name}_lookup){{ {} }};\n}}\n\n",
                views.join(", ")
            );
        }
        out
    }
}

/// Emits the snapshots.
pub(crate) fn snapshots(
    facts: &Facts,
    names: &ModuleNames,
    snapshots: &Snapshots,
    code: &str,
) -> String {
    let mut out = String::new();
    for snapshot in snapshots.iter() {
        let array = names.global(snapshot.global);
        let name = snapshot_name(array, snapshot);
        if !has_word(code, &name) {
            continue;
        }
        let data = &facts.module.globals[snapshot.global];
        let max = data.max_entries.max(1);
        let _ = match data.discipline.is_sharded() {
            true => writeln!(out, "XL_SNAPSHOT_SHARDED({name}, {array});"),
            false => writeln!(out, "XL_SNAPSHOT({name}, {array}, {max});"),
        };
        if snapshot.locked {
            let _ = writeln!(out, "static struct xl_lock {name}_lock;");
        }
    }
    out
}

/// Emits the functions that say which of two entries comes first. Equal ones are ordered by index.
pub(crate) fn orders(facts: &Facts, names: &ModuleNames, needs: &Needs) -> String {
    let mut out = String::new();
    for ((global, key, descending), function) in &needs.orders {
        let data = &facts.module.globals[*global];
        let name = names.global(*global);
        let _ = write!(
            out,
            "\nstatic inline bool {function}(const struct {name}_entry *x, const struct {name}_entry *y)\n{{\n"
        );
        let sign = if *descending { ">" } else { "<" };
        match key {
            SortKey::Key(n) => {
                let ty = data.keys.get(*n as usize).copied().unwrap_or(Type::Long);
                out.push_str(&decide(Repr::of(ty), &format!("key.k{n}"), sign));
            }
            SortKey::Value => {
                let repr = data.element.value_type().map_or(Repr::Long, Repr::of);
                out.push_str(&decide(repr, "value", sign));
            }
            SortKey::Stat(field) => {
                let of = |entry: &str| stat_value(*field, entry);
                let _ = write!(
                    out,
                    "\tif ({} != {})\n\t\treturn {} {sign} {};\n",
                    of("x"),
                    of("y"),
                    of("x"),
                    of("y")
                );
            }
        }
        for (n, &ty) in data.keys.iter().enumerate() {
            if *key != SortKey::Key(n as u32) {
                out.push_str(&decide(Repr::of(ty), &format!("key.k{n}"), "<"));
            }
        }
        out.push_str("\treturn false;\n}\n");
    }
    out
}

/// Statements that return if a member differs.
fn decide(repr: Repr, member: &str, sign: &str) -> String {
    let compared = match repr {
        Repr::Long | Repr::Walk => {
            return format!(
                "\tif (x->{member} != y->{member})\n\t\treturn x->{member} {sign} y->{member};\n"
            );
        }
        Repr::Name => {
            format!("xl_str_compare(xl_name_str(&x->{member}), xl_name_str(&y->{member}))")
        }
        Repr::View => format!("xl_str_compare(xl_str(&x->{member}), xl_str(&y->{member}))"),
    };
    format!("\tif ({compared})\n\t\treturn {compared} {sign} 0;\n")
}

fn stat_value(field: StatField, entry: &str) -> String {
    let value = format!("{entry}->value");
    match field {
        StatField::Count => format!("{value}.count"),
        StatField::Sum => format!("{value}.sum"),
        StatField::Min => format!("{value}.min"),
        StatField::Max => format!("{value}.max"),
        StatField::Avg => format!("xl_div({value}.sum, {value}.count)"),
        StatField::Variance(_) => {
            format!("xl_variance(&{value}.squares, {value}.count, {value}.sum)")
        }
    }
}
