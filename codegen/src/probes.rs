//! The probe tables: which point runs which handler, and the hooks that the runtime calls.

use std::fmt::Write as _;

use indexmap::IndexMap;
use xlate_ir::entities::Handler;
use xlate_ir::intrinsics::Intrinsic;
use xlate_ir::module::{Period, ProbeKind, ProbePoint};
use xlate_ir::types::{Const, Type};

use crate::body::{probe_field, probe_text};
use crate::c::literal;
use crate::c::table::{Row, Rows};
use crate::facts::Facts;
use crate::module_names::ModuleNames;
use crate::needs::Needs;

/// Whether a probe point runs while nothing else does.
pub(crate) fn runs_alone(kind: &ProbeKind) -> bool {
    matches!(kind, ProbeKind::Begin(_) | ProbeKind::End(_) | ProbeKind::Error(_))
}

/// What a handler is told about the probe point that fired.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    handler: Handler,
    /// Types of the fields that the IR gives it.
    fields: Vec<Type>,
    /// Number of positions for messages.
    places: usize,
    /// What it or its callees ask about the probe point.
    queries: Vec<Intrinsic>,
}

impl Record {
    /// The record of a handler. One with a single probe point needs none for what it asks.
    pub(crate) fn of(facts: &Facts, handler: Handler) -> Record {
        let data = &facts.module.handlers[handler];
        let wants = facts.wants(&data.body);
        let many = facts.points(handler).count() > 1;
        let all = [(wants.pp, Intrinsic::Pp), (wants.pn, Intrinsic::Pn)];
        let queries =
            all.into_iter().filter(|(wanted, _)| *wanted && many).map(|(_, query)| query).collect();
        Record { handler, fields: data.record.clone(), places: data.places.len(), queries }
    }

    /// Whether the handler gets none.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.places == 0 && self.queries.is_empty()
    }

    /// The definition of its struct.
    pub(crate) fn definition(&self, needs: &Needs, handler: &str) -> String {
        let mut out = format!("struct {handler}_record {{\n");
        for (n, ty) in self.fields.iter().enumerate() {
            for form in self.forms(needs, n, *ty) {
                let _ = writeln!(out, "\t{} {}{n};", form.c_type(), form.letter());
            }
        }
        for &query in &self.queries {
            let _ = writeln!(out, "\tstruct xl_str {};", probe_field(query));
        }
        for n in 0..self.places {
            let _ = writeln!(out, "\tconst char *p{n};");
        }
        out.push_str("};\n");
        out
    }

    /// The forms in which a field is there: those that the handler looks at.
    fn forms(&self, needs: &Needs, n: usize, ty: Type) -> impl Iterator<Item = Form> + use<> {
        let all = if ty.is_str() {
            let field = (self.handler, u32::try_from(n).unwrap_or(u32::MAX));
            let is_name = needs.record_names.contains(&field);
            let is_view = needs.record_views.contains(&field) || !is_name;
            [(is_view, Form::View), (is_name, Form::Name)]
        } else {
            [(true, Form::Long), (false, Form::Long)]
        };
        all.into_iter().filter(|(wanted, _)| *wanted).map(|(_, form)| form)
    }

    /// The initializers of the fields of one probe point's.
    fn initialize(&self, facts: &Facts, needs: &Needs, point: &ProbePoint, row: &mut Row) {
        for (n, (field, ty)) in point.record.iter().zip(&self.fields).enumerate() {
            for form in self.forms(needs, n, *ty) {
                row.add(|text| match (field, form) {
                    (Const::Long(n), _) => literal::write_long(*n, text),
                    (Const::Str(bytes), Form::Name) => {
                        text.push_str("{ ");
                        literal::write_string(bytes, text);
                        text.push_str(" }");
                    }
                    (Const::Str(bytes), _) => write_view(bytes, text),
                });
            }
        }
        for &query in &self.queries {
            row.add(|text| write_view(probe_text(query, point).as_bytes(), text));
        }
        for &pos in &point.places {
            let place = facts.position(Some(pos));
            row.add(|text| literal::write_string(place.as_bytes(), text));
        }
    }
}

/// How a field of a record is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Long,
    /// A string, looked at where it lies.
    View,
    /// A string of at most 15 bytes, as words.
    Name,
}

impl Form {
    fn c_type(self) -> &'static str {
        match self {
            Form::Long => "s64",
            Form::View => "struct xl_str",
            Form::Name => "union xl_name_constant",
        }
    }

    /// What the names of its fields begin with.
    fn letter(self) -> char {
        if self == Form::Name { 'n' } else { 'f' }
    }
}

/// Writes the initializer of a string that is looked at where it lies.
fn write_view(bytes: &[u8], out: &mut String) {
    out.push_str("{ ");
    literal::write_string(bytes, out);
    let _ = write!(out, ", {} }}", bytes.len());
}

/// A way to be probed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Family {
    Tracepoint,
    Kprobe,
    Kretprobe,
    Timer,
    Jiffies,
    Profile,
}

impl Family {
    fn of(kind: &ProbeKind) -> Option<Family> {
        Some(match kind {
            ProbeKind::Begin(_) | ProbeKind::End(_) | ProbeKind::Error(_) | ProbeKind::Never => {
                return None;
            }
            ProbeKind::Tracepoint(_) => Family::Tracepoint,
            ProbeKind::Kprobe(_) => Family::Kprobe,
            ProbeKind::Kretprobe(..) => Family::Kretprobe,
            ProbeKind::Timer { period: Period::Nanoseconds(_), .. } => Family::Timer,
            ProbeKind::Timer { period: Period::Jiffies(_), .. } => Family::Jiffies,
            ProbeKind::Profile => Family::Profile,
        })
    }

    /// Header, entry macro, and the word in the names of struct, table and functions.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Family::Tracepoint => ("tracepoint.h", "XL_TRACEPOINT", "tracepoint"),
            Family::Kprobe => ("kprobe.h", "XL_KPROBE", "kprobe"),
            Family::Kretprobe => ("kretprobe.h", "XL_KRETPROBE", "kretprobe"),
            Family::Timer => ("timer.h", "XL_TIMER", "timer"),
            Family::Jiffies => ("jiffies.h", "XL_JIFFIES_TIMER", "jiffies_timer"),
            Family::Profile => ("profile.h", "XL_PROFILE", "profile"),
        }
    }

    /// Whether the kernel may lack one of its points, so that a table entry says if it must not.
    fn may_be_missing(self) -> bool {
        matches!(self, Family::Tracepoint | Family::Kprobe | Family::Kretprobe)
    }

    /// Whether there is entry code for handlers that need no claim on the context: where the entry
    /// code is most of what a hit costs.
    fn has_bare(self) -> bool {
        matches!(self, Family::Tracepoint | Family::Kprobe)
    }

    fn attaches(self) -> bool {
        !matches!(self, Family::Timer | Family::Jiffies)
    }

    fn starts(self) -> bool {
        matches!(self, Family::Timer | Family::Jiffies | Family::Profile)
    }
}

/// Emits records, entry code, tables and hooks. `setup` is what must be done first of all.
pub(crate) fn emit(
    facts: &Facts,
    names: &ModuleNames,
    needs: &mut Needs,
    setup: &[String],
) -> String {
    let mut tables = Tables {
        facts,
        names,
        needs,
        records: IndexMap::new(),
        runs: String::new(),
        run_count: 0,
        entries: IndexMap::new(),
        rows: IndexMap::new(),
        row: Row::default(),
    };
    tables.add_all();
    tables.text(setup)
}

struct Tables<'a> {
    facts: &'a Facts<'a>,
    names: &'a ModuleNames,
    needs: &'a mut Needs,
    /// The record of each handler, and those of its probe points.
    records: IndexMap<Handler, (Record, Rows)>,
    /// Functions that give `begin` handlers and their kind a record.
    runs: String,
    run_count: usize,
    /// The name of the entry code of each handler and family.
    entries: IndexMap<(Handler, Family), String>,
    rows: IndexMap<Family, Rows>,
    /// The one that is being made.
    row: Row,
}

impl Tables<'_> {
    fn add_all(&mut self) {
        let module = self.facts.module;
        for point in &module.probes {
            if let Some(family) = Family::of(&point.kind) {
                self.add(family, point);
            }
        }
        self.rows.sort_keys();
    }

    fn add(&mut self, family: Family, point: &ProbePoint) {
        let record = self.record(point);
        let count = self.entries.len();
        let entry = self.entries.entry((point.handler, family));
        let entry = entry.or_insert_with(|| format!("probe_{count}"));
        self.row.clear();
        start_row(&point.kind, entry, &mut self.row);
        if let Some(record) = record {
            self.row.add(|text| {
                text.push_str(".data = ");
                text.push_str(&record);
            });
        }
        if point.optional && family.may_be_missing() {
            self.row.add(|text| text.push_str(".optional = true"));
        }
        let headers = &mut self.needs.headers;
        let rows = self.rows.entry(family).or_insert_with(|| {
            headers.insert(family.words().0);
            Rows::default()
        });
        rows.push(&self.row);
    }

    /// The address of a probe point's record, if its handler gets one.
    fn record(&mut self, point: &ProbePoint) -> Option<String> {
        let (record, rows) = self
            .records
            .entry(point.handler)
            .or_insert_with(|| (Record::of(self.facts, point.handler), Rows::default()));
        if record.is_empty() {
            return None;
        }
        if rows.is_empty() {
            self.needs.headers.insert("strings.h");
        }
        self.row.clear();
        record.initialize(self.facts, self.needs, point, &mut self.row);
        rows.push(&self.row);
        let handler = self.names.handler(point.handler);
        Some(format!("&{handler}_records[{}]", rows.len() - 1))
    }

    fn text(&mut self, setup: &[String]) -> String {
        let mut hooks = String::new();
        let setup: String = setup.iter().map(|line| format!("\t{line}\n")).collect();
        let begin = self.runs(|kind| if let ProbeKind::Begin(n) = kind { Some(*n) } else { None });
        let end = self.runs(|kind| if let ProbeKind::End(n) = kind { Some(*n) } else { None });
        let error = self.runs(|kind| if let ProbeKind::Error(n) = kind { Some(*n) } else { None });
        let start = self.each_family(Family::starts, "start");
        let start: String = start.iter().map(|call| format!("\t{call};\n")).collect();
        let hooked =
            [("setup", setup), ("begin", begin), ("start", start), ("end", end), ("error", error)];
        for (name, body) in hooked {
            let _ = match body.strip_prefix('\t').and_then(|line| line.strip_suffix(";\n")) {
                _ if body.is_empty() => Ok(()),
                Some(call) if !call.contains('\n') => {
                    write!(hooks, "\n#define xl_{name}() {call}\n")
                }
                _ => write!(
                    hooks,
                    "\nstatic void xl_{name}(void)\n{{\n{body}}}\n#define xl_{name} xl_{name}\n"
                ),
            };
        }
        let mut out = String::new();
        for (handler, (_, rows)) in self.records.iter().filter(|(_, (_, rows))| !rows.is_empty()) {
            let name = self.names.handler(*handler);
            let head = format!("static const struct {name}_record {name}_records[]");
            let _ = write!(out, "\n{head} = {{\n{}}};\n", rows.text());
        }
        out.push_str(&self.runs);
        for ((handler, family), entry) in &self.entries {
            let has_record = self.records.get(handler).is_some_and(|(_, rows)| !rows.is_empty());
            let data = if has_record { "_DATA" } else { "" };
            let is_bare = self.facts.is_bare(*handler) && family.has_bare();
            let bare = if is_bare { "_BARE" } else { "" };
            let (_, macro_name, _) = family.words();
            let handler = self.names.handler(*handler);
            let _ = write!(out, "\n{macro_name}{bare}{data}({entry}, {handler});\n");
        }
        for (family, rows) in &self.rows {
            let (_, _, word) = family.words();
            let table = table_name(word);
            let _ = write!(out, "\nstatic struct xl_{word} {table}[] = {{\n{}}};\n", rows.text());
        }
        let attach = self.each_family(Family::attaches, "attach");
        let attach = if attach.is_empty() { "0".to_owned() } else { attach.join(" ?:\n\t       ") };
        let _ = write!(out, "\nstatic int xl_attach(void)\n{{\n\treturn {attach};\n}}\n");
        let detach = self.each_family(|_| true, "detach");
        let detach: String = detach.iter().map(|call| format!("\t{call};\n")).collect();
        let _ = write!(out, "\nstatic void xl_detach(void)\n{{\n{detach}}}\n");
        out.push_str(&hooks);
        out
    }

    /// Calls of a function of each family in use.
    fn each_family(&self, wanted: impl Fn(Family) -> bool, verb: &str) -> Vec<String> {
        self.rows
            .keys()
            .filter(|family| wanted(**family))
            .map(|family| {
                let table = table_name(family.words().2);
                format!("xl_{verb}_{table}({table}, ARRAY_SIZE({table}))")
            })
            .collect()
    }

    /// Runs of `begin` and its kind, in the order of their numbers.
    fn runs(&mut self, number: impl Fn(&ProbeKind) -> Option<i64>) -> String {
        let module = self.facts.module;
        let mut points: Vec<(i64, &ProbePoint)> = module
            .probes
            .iter()
            .filter_map(|point| number(&point.kind).map(|n| (n, point)))
            .collect();
        points.sort_by_key(|(n, _)| *n);
        let mut out = String::new();
        for (_, point) in points {
            self.needs.headers.insert("session.h");
            let handler = self.names.handler(point.handler).to_owned();
            match self.record(point) {
                Some(record) => {
                    let run = format!("run_{}", self.run_count);
                    self.run_count += 1;
                    let _ = write!(
                        self.runs,
                        "\nstatic void {run}(struct xl_context *c)\n{{\n\t{handler}(c, {record});\n}}\n"
                    );
                    let _ = writeln!(out, "\tXL_RUN({run});");
                }
                None => {
                    let _ = writeln!(out, "\tXL_RUN({handler});");
                }
            }
        }
        out
    }
}

fn table_name(word: &str) -> String {
    format!("{word}s")
}

/// Starts a row of a table: what it says of the point itself.
fn start_row(kind: &ProbeKind, entry: &str, row: &mut Row) {
    let mut field = |name: &str, value: &str| {
        row.add(|text| {
            let _ = write!(text, ".{name} = {value}");
        });
    };
    match kind {
        ProbeKind::Tracepoint(name) => {
            field("name", &literal::string(name.as_bytes()));
            field("probe", entry);
        }
        ProbeKind::Kprobe(name) => {
            field("kp.symbol_name", &literal::string(name.as_bytes()));
            field("kp.pre_handler", entry);
        }
        ProbeKind::Kretprobe(name, active) => {
            field("rp.kp.symbol_name", &literal::string(name.as_bytes()));
            field("rp.handler", entry);
            if let Some(active) = active {
                field("rp.maxactive", &active.to_string());
            }
        }
        ProbeKind::Timer { period, randomize } => {
            let (Period::Jiffies(interval) | Period::Nanoseconds(interval)) = period;
            field("function", entry);
            field("interval", &unsigned(*interval));
            if *randomize != 0 {
                field("randomize", &unsigned(*randomize));
            }
        }
        _ => field("function", entry),
    }
}

fn unsigned(n: u64) -> String {
    if i32::try_from(n).is_ok() { n.to_string() } else { format!("{n}ULL") }
}
