//! Diagnostics as data, and the one place that renders them.

use crate::source::{FileId, SourceMap, Span};
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term;
use std::ops::Range;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// For information, such as what an optimization did.
    Note,
    /// Suspicious; translation goes on.
    Warning,
    /// The script is refused.
    Error,
}

/// A place in a script and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What it has to do with the diagnostic; may be empty.
    pub message: String,
    /// Whether this is where the problem is, rather than something to look at with it.
    pub primary: bool,
}

/// Something to tell the user about a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One line: what is wrong, in lower case and without a full stop.
    pub message: String,
    /// Where; the first primary label is the position of the diagnostic.
    pub labels: Vec<Label>,
    /// Explanations and ways out, each printed on its own line below the source.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic without labels.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic { severity, message: message.into(), labels: Vec::new(), notes: Vec::new() }
    }

    /// An error at a place; `label` says what is wrong there.
    pub fn error(span: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self::new(Severity::Error, message).with_primary(span, label)
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message).with_primary(span, label)
    }

    /// Adds a place where the problem is.
    pub fn with_primary(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into(), primary: true });
        self
    }

    /// Adds a place to look at with it.
    pub fn with_secondary(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into(), primary: false });
        self
    }

    /// Adds an explanation or a way out.
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Whether the script is refused.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Where the problem is: the first primary label, else the first label.
    pub fn span(&self) -> Option<Span> {
        let primary = self.labels.iter().find(|label| label.primary);
        primary.or(self.labels.first()).map(|label| label.span)
    }
}

/// Whether any of the diagnostics is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// The diagnostics as text for a terminal, with the source lines they point at.
pub fn render(sources: &SourceMap, diagnostics: &[Diagnostic], color: bool) -> String {
    diagnostics.iter().map(|diagnostic| render_one(sources, diagnostic, color)).collect()
}

fn render_one(sources: &SourceMap, diagnostic: &Diagnostic, color: bool) -> String {
    let report = to_codespan(sources, diagnostic);
    let config = term::Config { tab_width: 8, ..term::Config::default() };
    let files = Sources(sources);
    let mut text = String::new();
    let emitted = if color {
        let mut buffer = term::termcolor::Buffer::ansi();
        let emitted = term::emit_to_write_style(&mut buffer, &config, &files, &report);
        text = String::from_utf8_lossy(buffer.as_slice()).into_owned();
        emitted
    } else {
        term::emit_to_string(&mut text, &config, &files, &report)
    };
    match emitted {
        Ok(()) => text,
        // Labels outside of the file: the message is still worth having.
        Err(_) => format!("error: {}\n", diagnostic.message),
    }
}

/// How many of the macros that a token came through are shown.
const MAX_EXPANSIONS_SHOWN: usize = 6;

fn to_codespan(sources: &SourceMap, diagnostic: &Diagnostic) -> codespan::Diagnostic<FileId> {
    let severity = match diagnostic.severity {
        Severity::Note => codespan::Severity::Note,
        Severity::Warning => codespan::Severity::Warning,
        Severity::Error => codespan::Severity::Error,
    };
    let mut labels = Vec::new();
    for label in &diagnostic.labels {
        let span = sources.spelling(label.span);
        let range = span.start as usize..span.end.max(span.start) as usize;
        let style = if label.primary {
            codespan::LabelStyle::Primary
        } else {
            codespan::LabelStyle::Secondary
        };
        labels.push(codespan::Label::new(style, span.file, range).with_message(&label.message));
        let mut inner = label.span;
        for _ in 0..MAX_EXPANSIONS_SHOWN {
            let Some(expansion) = sources.expansion(inner) else { break };
            let call = sources.spelling(expansion.call);
            labels.push(
                codespan::Label::secondary(call.file, call.start as usize..call.end as usize)
                    .with_message(format!("in this expansion of {}", expansion.name)),
            );
            inner = expansion.call;
        }
    }
    codespan::Diagnostic::new(severity)
        .with_message(&diagnostic.message)
        .with_labels(labels)
        .with_notes(diagnostic.notes.clone())
}

/// The source map as codespan-reporting wants it.
struct Sources<'a>(&'a SourceMap);

impl<'a> Files<'a> for Sources<'a> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, file: FileId) -> Result<&'a str, Error> {
        Ok(self.0.name(file))
    }

    fn source(&'a self, file: FileId) -> Result<&'a str, Error> {
        Ok(self.0.shown(file))
    }

    fn line_index(&'a self, file: FileId, offset: usize) -> Result<usize, Error> {
        Ok(self.0.position_of(file, offset as u32).line as usize - 1)
    }

    fn line_range(&'a self, file: FileId, line: usize) -> Result<Range<usize>, Error> {
        self.0.line_range(file, line).ok_or(Error::LineTooLarge {
            given: line,
            max: self.0.line_count(file).saturating_sub(1),
        })
    }
}
