//! The way from a text to its tree.

use crate::ast::File;
use crate::builder::Builder;
use crate::diagnostic::Diagnostic;
use crate::options::{LibraryMacros, ParseOptions};
use crate::preprocess::{Preprocessed, preprocess};
use crate::shape::{Shaped, shape};
use crate::source::{FileId, SourceMap};
use crate::stap;
use crate::syntax::SyntaxError;

/// No more errors of one file are reported; after so many syntax errors its rest is not looked at.
const MAX_ERRORS: usize = 200;

/// Parses a script, or a `.stp` file of a library.
///
/// There is always a tree. If any of the diagnostics is an error, it lacks what could not be
/// understood, and the script is to be refused; all syntax errors of the file are reported.
/// Diagnostics are in the order of the text.
pub fn parse_script(
    sources: &mut SourceMap,
    file: FileId,
    options: &ParseOptions<'_>,
) -> (File, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let preprocessed = preprocess(sources, file, options, &mut diagnostics);
    let Shaped { tokens, too_deep } = shape(sources, preprocessed.tokens);
    let embedded = options.library || options.environment.guru_mode;
    let builder = Builder::new(sources, &tokens, preprocessed.end, embedded);
    let indexed = (0..).zip(&tokens).map(|(at, token)| (at, token.kind, at + 1));
    let stream = indexed.take_while(|_| builder.error_count() < MAX_ERRORS);
    let (items, last) = match stap::FileParser::new().parse(&builder, stream) {
        Ok(items) => (items, None),
        Err(error) => (Vec::new(), Some(SyntaxError::from_parse_error(error))),
    };
    builder.report_syntax_errors(last, too_deep);
    diagnostics.extend(builder.into_diagnostics());
    let parsed = File { file, items };
    if parsed.items.is_empty() && diagnostics.is_empty() && !options.library {
        diagnostics.push(Diagnostic::error(
            preprocessed.end,
            "the script is empty",
            "there are no probes, functions or globals",
        ));
    }
    sort(sources, &mut diagnostics);
    (parsed, diagnostics)
}

/// Reads the macros that a `.stpm` file defines and gives them; [`LibraryMacros::extend`] puts those of several files together.
pub fn parse_library_macros(
    sources: &mut SourceMap,
    file: FileId,
    options: &ParseOptions<'_>,
) -> (LibraryMacros, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let Preprocessed { tokens, macros, .. } = preprocess(sources, file, options, &mut diagnostics);
    if let Some(token) = tokens.first() {
        diagnostics.push(Diagnostic::error(
            token.span,
            "a macro file holds nothing but macros",
            "expected `@define`",
        ));
    }
    sort(sources, &mut diagnostics);
    (LibraryMacros { by_name: macros }, diagnostics)
}

fn sort(sources: &SourceMap, diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|diagnostic| {
        diagnostic.span().map(|span| {
            let origin = sources.origin(span);
            (origin.file, origin.start)
        })
    });
    diagnostics.truncate(MAX_ERRORS);
}
