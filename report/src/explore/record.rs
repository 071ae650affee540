//! What passes do to each handler and function, step by step.

use std::collections::BTreeMap;

use serde::Serialize;
use similar::{Algorithm, ChangeTag, capture_diff_slices};
use xlate_codegen::EmitOptions;
use xlate_ir::entities::Handler;
use xlate_ir::module::{FunctionCode, Module, ProbePoint};
use xlate_ir::text;
use xlate_ir::types::Pos;
use xlate_passes::manager::Observer;
use xlate_passes::registry::Pass;

use super::flow::{Flow, Node};
use super::lines::Lines;

/// Of texts that have more lines than this together, only the number of differences is told: finding
/// where they are takes time that grows with the product of lines and differences.
const MOST_LINES: usize = 4000;

/// Watches passes. Handlers are followed by their probe points: numbers change when others are
/// dropped, and what is merged goes on under the number of its twin.
#[derive(Clone, Debug)]
pub struct Recorder {
    pub(super) lines: Lines,
    pub(super) units: Vec<Tracked>,
    pub(super) steps: Vec<Step>,
    /// The C of the whole module after each step that changes it.
    pub(super) c: Vec<Version>,
    c_now: Option<Vec<usize>>,
    how: EmitOptions,
}

/// What a person can pick, and how to find it in a module.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    key: Key,
    /// Its lines after the last pass; `None` if it is gone.
    now: Option<Vec<usize>>,
    pub(super) unit: Unit,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Key {
    /// Everything outside of bodies.
    Tables,
    Function(String),
    /// The handler of a probe point with this name, at this place.
    Probe(String, Option<Pos>),
}

/// A handler, a function, or the tables.
#[derive(Clone, Serialize, Debug)]
pub(super) struct Unit {
    pub(super) name: String,
    kind: &'static str,
    pos: i64,
    /// What it looked like, from the first step on; a step without one left it alone.
    versions: Vec<Version>,
}

/// A pass that changed something; the first is none: what lowering made.
#[derive(Clone, Serialize, Debug)]
pub(super) struct Step {
    pass: &'static str,
    description: &'static str,
}

/// What a unit looked like after a step.
#[derive(Clone, Serialize, Debug)]
pub(super) struct Version {
    step: usize,
    /// The numbers of its lines, times three; plus 1 for an added line, plus 2 for a removed one.
    rows: Vec<usize>,
    added: usize,
    removed: usize,
    /// Whether it is dropped, or merged with a twin that keeps its name.
    gone: bool,
    flow: Option<Flow>,
}

impl Recorder {
    /// Begins with a module that no pass has seen; `how` says how its C is emitted.
    pub fn new(module: &Module, how: EmitOptions) -> Recorder {
        let mut recorder = Recorder {
            lines: Lines::default(),
            units: Vec::new(),
            steps: Vec::new(),
            c: Vec::new(),
            c_now: None,
            how,
        };
        for (handler, data) in module.handlers.iter() {
            let mut points = module.probes.iter().filter(|probe| probe.handler == handler);
            let Some(first) = points.next() else { continue };
            let mut name = first.name.clone();
            let more = points.count();
            if more > 0 {
                name.push_str(&format!(" and {more} more"));
            }
            recorder.add("handler", name, data.pos, key_of(first));
        }
        for (_, data) in module.functions.iter() {
            let key = Key::Function(data.name.clone());
            recorder.add("function", data.name.clone(), data.pos, key);
        }
        recorder.add("tables", "globals and probe points".to_owned(), None, Key::Tables);
        recorder.record("", "as lowered, before any pass", module);
        recorder
    }

    /// For each handler of a module, the first unit that shows it.
    pub(super) fn units_of_handlers(&self, module: &Module) -> Vec<Option<usize>> {
        let shown: Vec<_> = self.units.iter().map(|tracked| tracked.key.handler(module)).collect();
        let first = |id: Handler| shown.iter().position(|handler| *handler == Some(id));
        module.handlers.iter().map(|(id, _)| first(id)).collect()
    }

    fn add(&mut self, kind: &'static str, name: String, pos: Option<Pos>, key: Key) {
        let unit = Unit { name, kind, pos: self.lines.position(pos), versions: Vec::new() };
        self.units.push(Tracked { key, now: None, unit });
    }

    fn record(&mut self, pass: &'static str, description: &'static str, module: &Module) {
        let step = self.steps.len();
        self.steps.push(Step { pass, description });
        for tracked in &mut self.units {
            let (rows, flow) = tracked.key.find(module, &mut self.lines);
            if rows != tracked.now {
                let (old, new) = (tracked.now.as_deref(), rows.as_deref());
                let version = Version::new(step, old, new, self.lines.ir_texts(), flow);
                tracked.unit.versions.push(version);
                tracked.now = rows;
            }
        }
        // There is none if the script asks for what has no C; the last step says so to the user.
        let emitted = xlate_codegen::emit(module, &self.how).ok();
        let rows = emitted.map(|emitted| self.lines.c_file(&emitted));
        if rows != self.c_now {
            let (old, new) = (self.c_now.as_deref(), rows.as_deref());
            let version = Version::new(step, old, new, self.lines.c_texts(), None);
            self.c.push(version);
            self.c_now = rows;
        }
    }
}

impl Observer for Recorder {
    fn after(&mut self, pass: &Pass, module: &Module, changed: bool) {
        if changed {
            self.record(pass.name, pass.description, module);
        }
    }
}

fn key_of(probe: &ProbePoint) -> Key {
    Key::Probe(probe.name.clone(), probe.pos)
}

impl Key {
    /// Its lines in a module, and its control flow; no lines if it is not there.
    fn find(&self, module: &Module, lines: &mut Lines) -> (Option<Vec<usize>>, Option<Flow>) {
        match self {
            Key::Tables => (Some(number_all(&tables(module), lines)), None),
            Key::Function(name) => {
                let mut all = module.functions.iter();
                let Some((id, data)) = all.find(|(_, data)| data.name == *name) else {
                    return (None, None);
                };
                let rows = number_all(&text::print_function(module, id), lines);
                let flow = match &data.code {
                    FunctionCode::Body(body) => Some(Flow::of(body, &rows, lines)),
                    FunctionCode::C { .. } => None,
                };
                (Some(rows), flow)
            }
            Key::Probe(..) => match self.handler(module) {
                Some(handler) => {
                    let rows = number_all(&text::print_handler(module, handler), lines);
                    let flow = Flow::of(&module.handlers[handler].body, &rows, lines);
                    (Some(rows), Some(flow))
                }
                None => (None, None),
            },
        }
    }

    fn handler(&self, module: &Module) -> Option<Handler> {
        module.probes.iter().find(|probe| key_of(probe) == *self).map(|probe| probe.handler)
    }
}

/// The text form up to the first body.
fn tables(module: &Module) -> String {
    let is_body = |line: &&str| line.starts_with("function ") || line.starts_with("handler ");
    let text = text::print(module);
    text.lines().take_while(|line| !is_body(line)).map(|line| format!("{line}\n")).collect()
}

fn number_all(text: &str, lines: &mut Lines) -> Vec<usize> {
    text.trim_end().lines().map(|line| lines.line(line)).collect()
}

impl Version {
    /// What is new after a step; lines are compared by their `texts`.
    fn new(
        step: usize,
        old: Option<&[usize]>,
        new: Option<&[usize]>,
        texts: &[usize],
        flow: Option<Flow>,
    ) -> Version {
        let is_first = old.is_none() && step == 0;
        let mut version =
            Version { step, rows: Vec::new(), added: 0, removed: 0, gone: new.is_none(), flow };
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let texts_of = |lines: &[usize]| lines.iter().map(|line| texts[*line]).collect::<Vec<_>>();
        let (old_texts, new_texts) = (texts_of(old), texts_of(new));
        if is_first || old.len() + new.len() > MOST_LINES {
            version.rows = new.iter().map(|line| line * 3).collect();
            if !is_first {
                version.added = missing_from(&old_texts, &new_texts);
                version.removed = missing_from(&new_texts, &old_texts);
            }
            return version;
        }
        for op in capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts) {
            for change in op.iter_changes(&old_texts, &new_texts) {
                let line = match (change.new_index(), change.old_index()) {
                    (Some(at), _) => new[at],
                    (None, Some(at)) => old[at],
                    (None, None) => continue,
                };
                let mark = match change.tag() {
                    ChangeTag::Equal => 0,
                    ChangeTag::Insert => 1,
                    ChangeTag::Delete => 2,
                };
                version.rows.push(line * 3 + mark);
                version.added += usize::from(mark == 1);
                version.removed += usize::from(mark == 2);
            }
        }
        version
    }
}

/// How many of some lines others do not have, each counted as often as it stands.
fn missing_from(others: &[usize], lines: &[usize]) -> usize {
    let mut left: BTreeMap<usize, usize> = BTreeMap::new();
    for line in others {
        *left.entry(*line).or_default() += 1;
    }
    let is_missing = |line: &&usize| match left.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    lines.iter().filter(is_missing).count()
}

impl Node {
    /// The nodes of a body whose lines are `rows`: a heading, then the blocks.
    pub(super) fn all(body: &xlate_ir::module::Body, rows: &[usize], lines: &Lines) -> Vec<Node> {
        let mut row = 1;
        let mut nodes = Vec::new();
        for &block in &body.layout {
            // A heading, the instructions and the terminator.
            let count = body.blocks[block].insts.len() + 2;
            let texts = rows[row..row + count].iter().map(|&line| lines.text(line));
            nodes.push(Node::new(block, row, texts));
            row += count;
        }
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xlate_passes::manager::{Options, run};
    use xlate_passes::pipeline::Pipeline;

    /// Two equal handlers and one without effect.
    const TEXT: &str = "global @n: long
probe timer.profile -> @h0
probe kernel.trace(\"a\") -> @h1
probe timer.ns(5) -> @h2
handler @h0 {
b0:
  ret
}
handler @h1 {
b0:
  print \"x\"
  ret
}
handler @h2 {
b0:
  print \"x\"
  ret
}
";

    #[test]
    fn handlers_are_followed_by_their_probe_points() {
        let mut module = text::parse(TEXT).expect("a module");
        let mut recorder = Recorder::new(&module, EmitOptions::default());
        let pipeline = Pipeline::parse("empty-handlers,duplicate-handlers").expect("passes");
        run(&mut module, &pipeline, &Options::default(), &mut recorder).expect("they run");
        let names: Vec<&str> = recorder.units.iter().map(|unit| unit.unit.name.as_str()).collect();
        assert_eq!(
            names,
            ["timer.profile", "kernel.trace(\"a\")", "timer.ns(5)", "globals and probe points"]
        );
        let passes: Vec<&str> = recorder.steps.iter().map(|step| step.pass).collect();
        assert_eq!(passes, ["", "empty-handlers", "duplicate-handlers"]);
        let last = |unit: usize| {
            let tracked = &recorder.units[unit];
            let version = tracked.unit.versions.last().expect("a version");
            let first = tracked.now.as_ref().map(|rows| recorder.lines.text(rows[0]).to_owned());
            (version.step, version.gone, first)
        };
        assert_eq!(last(0), (1, true, None), "dropped");
        assert_eq!(last(1), (1, false, Some("handler @h0 {".to_owned())), "another number");
        assert_eq!(last(2), (2, false, Some("handler @h0 {".to_owned())), "merged");
        assert_eq!(last(3).0, 2, "the tables changed with the handlers");
    }

    #[test]
    fn of_long_texts_differences_are_only_counted() {
        let old: Vec<usize> = (0..MOST_LINES).collect();
        let mut new = old.clone();
        new[7] = 8;
        let version = Version::new(1, Some(&old), Some(&new), &old, None);
        assert_eq!((version.added, version.removed), (1, 1));
        assert_eq!(version.rows, new.iter().map(|line| line * 3).collect::<Vec<_>>());
    }

    #[test]
    fn a_version_is_a_difference() {
        let texts: Vec<usize> = (0..10).collect();
        let version = Version::new(3, Some(&[5, 6, 7]), Some(&[5, 8, 7]), &texts, None);
        assert_eq!((version.added, version.removed, version.gone), (1, 1, false));
        let mut rows = version.rows;
        rows[1..3].sort();
        assert_eq!(rows, [15, 20, 25, 21]);
        // Line 9 is line 5 at another place.
        let texts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 5];
        let version = Version::new(3, Some(&[5, 7]), Some(&[9, 7]), &texts, None);
        assert_eq!((version.added, version.removed), (0, 0));
        assert_eq!(version.rows, [27, 21], "the new place");
    }
}
