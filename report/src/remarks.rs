//! What the passes say, for `--remarks`: notes at script positions, or JSON.

use std::fmt;

use codespan_reporting::diagnostic::{Diagnostic, Label};
use codespan_reporting::files::{Files, SimpleFiles};
use codespan_reporting::term;
use serde::Serialize;
use xlate_ir::entities::Entity;
use xlate_ir::module::Module;
use xlate_ir::types::Pos;
use xlate_passes::registry::find;
use xlate_passes::remarks::{Remark, RemarkKind};

/// Which remarks are shown, and how.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    kinds: Vec<RemarkKind>,
    passes: Vec<&'static str>,
    all: bool,
    json: bool,
}

/// A word of a filter that is neither a kind of remark nor a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownWord(String);

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is neither a pass nor one of all, applied, missed, analysis, detail and json",
            self.0
        )
    }
}

impl std::error::Error for UnknownWord {}

impl Filter {
    /// Reads words with commas between: names of passes, kinds of remarks (`applied`, `missed`,
    /// `analysis`, `detail`), `all`, and `json`. Without a pass, all passes count; without a kind, all
    /// kinds, details only with a pass or with `all`.
    ///
    /// # Errors
    /// If a word is none of these.
    pub fn parse(text: &str) -> Result<Filter, UnknownWord> {
        let mut filter = Filter::default();
        let words = || text.split(',').map(str::trim).filter(|word| !word.is_empty());
        if words().next().is_none() && !text.is_empty() {
            return Err(UnknownWord(text.to_owned()));
        }
        for word in words() {
            match (word, find(word)) {
                ("all", _) => filter.all = true,
                ("applied", _) => filter.kinds.push(RemarkKind::Applied),
                ("missed", _) => filter.kinds.push(RemarkKind::Missed),
                ("analysis", _) => filter.kinds.push(RemarkKind::Analysis),
                ("detail", _) => filter.kinds.push(RemarkKind::Detail),
                ("json", _) => filter.json = true,
                (_, Some(pass)) => filter.passes.push(pass.name),
                (_, None) => return Err(UnknownWord(word.to_owned())),
            }
        }
        Ok(filter)
    }

    /// Whether a remark is shown.
    pub fn shows(&self, remark: &Remark) -> bool {
        let usual = self.all || !self.passes.is_empty() || remark.kind != RemarkKind::Detail;
        (if self.kinds.is_empty() { usual } else { self.kinds.contains(&remark.kind) })
            && (self.passes.is_empty() || self.passes.contains(&remark.pass))
    }

    /// The remarks that are shown, as the filter wants them: notes or JSON. `script` gives the text
    /// of a file by its name.
    pub fn render<'s>(
        &self,
        remarks: &[Remark],
        module: &Module,
        script: impl Fn(&str) -> Option<&'s str>,
        colour: bool,
    ) -> String {
        let shown = remarks.iter().filter(|remark| self.shows(remark));
        if self.json {
            shown.map(|remark| json(remark, module) + "\n").collect()
        } else {
            let notes = Notes::new(module, script);
            shown.map(|remark| notes.render(remark, colour)).collect()
        }
    }
}

/// The word for a kind of remark.
pub fn kind_name(kind: RemarkKind) -> &'static str {
    match kind {
        RemarkKind::Applied => "applied",
        RemarkKind::Missed => "missed",
        RemarkKind::Analysis => "analysis",
        RemarkKind::Detail => "detail",
    }
}

/// Renders remarks beside the script lines that they are about.
struct Notes<'s> {
    files: SimpleFiles<String, &'s str>,
}

impl<'s> Notes<'s> {
    fn new(module: &Module, script: impl Fn(&str) -> Option<&'s str>) -> Notes<'s> {
        let mut files = SimpleFiles::new();
        for (_, name) in module.files.iter() {
            files.add(name.clone(), script(name).unwrap_or_default());
        }
        Notes { files }
    }

    fn render(&self, remark: &Remark, colour: bool) -> String {
        let code = match remark.kind {
            RemarkKind::Applied => remark.pass.to_owned(),
            kind => format!("{}: {}", remark.pass, kind_name(kind)),
        };
        let mut labels = Vec::new();
        if let Some((file, range)) = remark.pos.and_then(|pos| self.word_at(pos)) {
            labels.push(Label::primary(file, range));
        }
        for (pos, message) in &remark.related {
            if let Some((file, range)) = self.word_at(*pos) {
                labels.push(Label::secondary(file, range).with_message(message));
            }
        }
        let note =
            Diagnostic::note().with_code(code).with_message(&remark.message).with_labels(labels);
        let config = term::Config { tab_width: 8, ..term::Config::default() };
        let mut buffer = match colour {
            true => term::termcolor::Buffer::ansi(),
            false => term::termcolor::Buffer::no_color(),
        };
        match term::emit_to_write_style(&mut buffer, &config, &self.files, &note) {
            Ok(()) => String::from_utf8_lossy(buffer.as_slice()).into_owned(),
            // The message is worth having without its place.
            Err(_) => format!("note[{}]: {}\n", remark.pass, remark.message),
        }
    }

    /// The bytes of the word, or else the character, at a position; `None` outside of the file.
    fn word_at(&self, pos: Pos) -> Option<(usize, std::ops::Range<usize>)> {
        let file = pos.file.index();
        let line = self.files.line_range(file, pos.line.checked_sub(1)? as usize).ok()?;
        let text = self.files.source(file).ok()?;
        let start = line.start + pos.column.checked_sub(1)? as usize;
        let rest = text.get(start..line.end)?;
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@');
        let length = match rest.find(|c| !word(c)).unwrap_or(rest.len()) {
            0 => rest.chars().next().map_or(0, char::len_utf8),
            length => length,
        };
        Some((file, start..start + length))
    }
}

/// A place in a script, in JSON.
#[derive(Serialize)]
struct Place<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
}

impl<'a> Place<'a> {
    fn of(pos: Option<Pos>, module: &'a Module) -> Place<'a> {
        Place {
            file: pos.and_then(|pos| module.files.get(pos.file)).map(String::as_str),
            line: pos.map(|pos| pos.line),
            column: pos.map(|pos| pos.column),
        }
    }
}

#[derive(Serialize)]
struct JsonRemark<'a> {
    pass: &'a str,
    kind: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
    message: &'a str,
    related: Vec<JsonRelated<'a>>,
}

#[derive(Serialize)]
struct JsonRelated<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    message: &'a str,
}

/// A remark as a JSON object on one line: `pass`, `kind`, `file`, `line`, `column` (counted from 1,
/// columns in bytes; null without a place), `message`, and `related`, a list of places with messages.
pub fn json(remark: &Remark, module: &Module) -> String {
    let related = remark
        .related
        .iter()
        .map(|(pos, message)| JsonRelated { place: Place::of(Some(*pos), module), message });
    let object = JsonRemark {
        pass: remark.pass,
        kind: kind_name(remark.kind),
        place: Place::of(remark.pos, module),
        message: &remark.message,
        related: related.collect(),
    };
    crate::json::text(&object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xlate_ir::entities::File;

    const SCRIPT: &str = "global hits\nprobe a { hits++ }\nprobe b { println(hits) }\n";

    fn module() -> Module {
        xlate_ir::text::parse("file f0 \"a.stp\"\n").expect("a module")
    }

    fn remark(kind: RemarkKind) -> Remark {
        let pos = |line, column| Pos { file: File::from_index(0), line, column };
        Remark {
            pass: "disciplines",
            kind,
            pos: Some(pos(2, 11)),
            message: "`hits` stays locked".to_owned(),
            related: vec![(pos(3, 19), "read here".to_owned())],
        }
    }

    fn render(filter: &str, remark: &Remark) -> String {
        let filter = Filter::parse(filter).expect("a filter");
        filter.render(std::slice::from_ref(remark), &module(), |_| Some(SCRIPT), false)
    }

    #[test]
    fn a_note_shows_the_places() {
        insta::assert_snapshot!(render("", &remark(RemarkKind::Missed)), @r"
        note[disciplines: missed]: `hits` stays locked
          ┌─ a.stp:2:11
          │
        2 │ probe a { hits++ }
          │           ^^^^
        3 │ probe b { println(hits) }
          │                   ---- read here
        ");
    }

    #[test]
    fn json_has_one_object_a_line() {
        assert_eq!(
            render("json", &remark(RemarkKind::Applied)),
            "{\"pass\":\"disciplines\",\"kind\":\"applied\",\"file\":\"a.stp\",\"line\":2,\
             \"column\":11,\"message\":\"`hits` stays locked\",\"related\":[{\"file\":\"a.stp\",\
             \"line\":3,\"column\":19,\"message\":\"read here\"}]}\n"
        );
        let nowhere = Remark { pos: None, related: Vec::new(), ..remark(RemarkKind::Analysis) };
        assert!(render("json", &nowhere).contains("\"file\":null,\"line\":null,\"column\":null"));
    }

    #[test]
    fn places_outside_of_the_file_do_no_harm() {
        for (line, column) in [(0, 0), (2, 99), (99, 1), (4, 1)] {
            let pos = Some(Pos { file: File::from_index(0), line, column });
            let text = render("", &Remark { pos, ..remark(RemarkKind::Applied) });
            assert!(text.contains("`hits` stays locked"), "{line}:{column}: {text}");
        }
    }

    #[test]
    fn words_choose_kinds_and_passes() {
        let shows =
            |filter: &str, kind| Filter::parse(filter).expect("a filter").shows(&remark(kind));
        assert!(shows("", RemarkKind::Applied) && shows("all,json", RemarkKind::Missed));
        assert!(shows("missed", RemarkKind::Missed) && !shows("missed", RemarkKind::Applied));
        assert!(shows("disciplines,missed", RemarkKind::Missed));
        assert!(!shows("sccp,missed", RemarkKind::Missed));
        // Details are many.
        for filter in ["all", "detail", "disciplines", "missed,detail"] {
            assert!(shows(filter, RemarkKind::Detail), "{filter}");
        }
        for filter in ["", "json", "missed", "sccp", "all,missed"] {
            assert!(!shows(filter, RemarkKind::Detail), "{filter}");
        }
        assert_eq!(Filter::parse("sccp,miss"), Err(UnknownWord("miss".to_owned())));
        assert_eq!(Filter::parse(", "), Err(UnknownWord(", ".to_owned())));
    }
}
