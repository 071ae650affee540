//! Expansion of probe points: alternatives, aliases and wildcards, down to what can be probed.

mod builtin;
mod names;
mod unsupported;

use crate::declare::{AliasName, Declarations, FileIndex};
use crate::library::{Library, glob};
use crate::program::ProbeKind;
use crate::suggest::did_you_mean;
pub(crate) use names::Names;
use std::fmt::Write as _;
use xlate_grammar::ast::{Alias, Expr, FlatPoint, Functor, LiteralValue, Probe, ProbePoint};
use xlate_grammar::{Diagnostic, Span};

/// Aliases within aliases, at most.
const DEEPEST: usize = 64;

/// An alias that a probe point went through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer<'a> {
    pub(crate) alias: &'a Alias,
    pub(crate) file: FileIndex,
}

/// A probe point that can be probed, and how it was reached.
#[derive(Clone, Debug)]
pub(crate) struct Resolved<'a> {
    pub(crate) kind: ProbeKind,
    /// Whether the session ends behind it: `oneshot`.
    pub(crate) oneshot: bool,
    pub(crate) name: String,
    pub(crate) written: String,
    pub(crate) optional: bool,
    pub(crate) span: Span,
    /// The aliases, outermost first.
    pub(crate) layers: Vec<Layer<'a>>,
    /// Conditions of the points that led here, outermost first, with the files they stand in.
    pub(crate) conditions: Vec<(Expr, FileIndex)>,
}

/// What could not be resolved.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) diagnostic: Diagnostic,
    /// Whether SystemTap may well know it: leaving it out deserves a word even if it is optional.
    pub(crate) unsupported: bool,
}

impl Failure {
    fn wrong(span: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        Failure { diagnostic: Diagnostic::error(span, message, label), unsupported: false }
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.diagnostic = self.diagnostic.with_note(note);
        self
    }

    fn notes(self, note: Option<String>) -> Self {
        match note {
            Some(note) => self.note(note),
            None => self,
        }
    }
}

/// Expands the points of probes.
pub(crate) struct Expander<'e, 'a> {
    pub(crate) declarations: &'e Declarations<'a>,
    pub(crate) library: &'e Library,
    pub(crate) kernel: Option<&'e dyn Names>,
    pub(crate) diagnostics: &'e mut Vec<Diagnostic>,
}

/// The way to a probe point.
#[derive(Clone, Default)]
struct Path<'a> {
    written: Option<String>,
    optional: bool,
    layers: Vec<Layer<'a>>,
    conditions: Vec<(Expr, FileIndex)>,
    /// Where the outermost point stands.
    outermost: Option<Span>,
}

impl<'a> Expander<'_, 'a> {
    /// The points that a probe stands for.
    pub(crate) fn probe(&mut self, probe: &'a Probe, file: FileIndex) -> Vec<Resolved<'a>> {
        let mut resolved = Vec::new();
        self.list(&probe.points, &[], file, &Path::default(), &mut resolved);
        resolved
    }

    /// A list of points, each with the same suffix.
    fn list(
        &mut self,
        points: &'a [ProbePoint],
        suffix: &[Functor],
        file: FileIndex,
        path: &Path<'a>,
        out: &mut Vec<Resolved<'a>>,
    ) {
        for mut flat in points.iter().flat_map(ProbePoint::expand) {
            let before = out.len();
            let sufficient = flat.sufficient;
            flat.components.extend(suffix.iter().cloned());
            let mut path = path.clone();
            path.optional |= flat.optional;
            path.outermost.get_or_insert(flat.span);
            let FlatPoint { components, conditions, span, .. } = flat;
            path.conditions.extend(conditions.into_iter().map(|condition| (condition, file)));
            self.point(&components, span, path, out);
            if sufficient && out.len() > before {
                break;
            }
        }
    }

    fn point(
        &mut self,
        components: &[Functor],
        span: Span,
        path: Path<'a>,
        out: &mut Vec<Resolved<'a>>,
    ) {
        if components.iter().any(|component| component.name.name.contains('*')) {
            self.wildcard(components, span, &path, out);
        } else if let Some(aliases) = self.aliases(components, &path) {
            for (alias, suffix) in aliases {
                self.through(&alias, components, suffix, &path, out);
            }
        } else {
            self.builtin(components, span, path, out);
        }
    }

    /// The aliases that a point names, with the number of components left over as a suffix. A
    /// whole name is preferred to a part of it, a long part to a short one.
    fn aliases(
        &self,
        components: &[Functor],
        path: &Path<'a>,
    ) -> Option<Vec<(AliasName<'a>, usize)>> {
        let usable = |alias: &&AliasName<'a>| {
            !path.layers.iter().any(|layer| std::ptr::eq(layer.alias, alias.alias))
        };
        let first = components.first()?;
        let candidates: Vec<&AliasName<'a>> =
            self.declarations.aliases_named(&first.name.name).collect();
        (1..=components.len()).rev().find_map(|length| {
            let named: Vec<(AliasName<'a>, usize)> = candidates
                .iter()
                .copied()
                .filter(|alias| same_name(&alias.name, &components[..length]))
                .filter(usable)
                .map(|alias| (alias.clone(), components.len() - length))
                .collect();
            (!named.is_empty()).then_some(named)
        })
    }

    fn through(
        &mut self,
        alias: &AliasName<'a>,
        components: &[Functor],
        suffix: usize,
        path: &Path<'a>,
        out: &mut Vec<Resolved<'a>>,
    ) {
        let mut path = path.clone();
        path.written.get_or_insert_with(|| render(components));
        path.conditions.extend(alias.conditions.iter().map(|c| (c.clone(), alias.file)));
        path.layers.push(Layer { alias: alias.alias, file: alias.file });
        if path.layers.len() > DEEPEST {
            let failure = Failure::wrong(
                alias.alias.span,
                "aliases are nested too deeply",
                format!("more than {DEEPEST} within each other"),
            );
            self.fail(failure, &path);
            return;
        }
        let suffix = &components[components.len() - suffix..];
        self.list(&alias.alias.points, suffix, alias.file, &path, out);
    }

    /// Wildcards match the names of aliases, and of built-in points without arguments.
    fn wildcard(
        &mut self,
        components: &[Functor],
        span: Span,
        path: &Path<'a>,
        out: &mut Vec<Resolved<'a>>,
    ) {
        let matches = |length: usize| -> Vec<AliasName<'a>> {
            let matching = self.declarations.aliases.iter();
            let mut matching: Vec<AliasName<'a>> = matching
                .filter(|alias| matches_name(&components[..length], &alias.name))
                .filter(|alias| !path.layers.iter().any(|l| std::ptr::eq(l.alias, alias.alias)))
                .cloned()
                .collect();
            matching.sort_by_key(|alias| render(&alias.name));
            matching
        };
        let found = (1..=components.len()).rev().find_map(|length| {
            let matching = matches(length);
            (!matching.is_empty()).then_some((matching, components.len() - length))
        });
        let builtins: Vec<&str> = match components {
            [Functor { name, arg: None, .. }] => {
                builtin::PLAIN.iter().copied().filter(|plain| glob(&name.name, plain)).collect()
            }
            _ => Vec::new(),
        };
        if found.is_none() && builtins.is_empty() {
            let failure = match unsupported::wildcard(components, span) {
                Some(failure) => failure,
                None => Failure::wrong(
                    span,
                    format!("no probe point matches `{}`", render(components)),
                    "this matches no alias",
                ),
            };
            self.fail(failure, path);
            return;
        }
        for plain in builtins {
            let mut component = components[0].clone();
            component.name.name = plain.into();
            let before = out.len();
            let mut path = path.clone();
            path.written.get_or_insert_with(|| plain.into());
            self.builtin(&[component], span, path, out);
            debug_assert!(out.len() > before, "internal error (probe points): {plain} failed");
        }
        if let Some((aliases, suffix)) = found {
            for alias in aliases {
                let mut name = alias.name.clone();
                name.extend_from_slice(&components[components.len() - suffix..]);
                self.through(&alias, &name, suffix, path, out);
            }
        }
    }

    fn builtin(
        &mut self,
        components: &[Functor],
        span: Span,
        path: Path<'a>,
        out: &mut Vec<Resolved<'a>>,
    ) {
        // Looking for near names takes time, and nobody hears of an optional point.
        let kernel = self.kernel.map(|names| builtin::Known { names, suggest: !path.optional });
        match builtin::resolve(components, span, kernel) {
            Ok(point) => {
                let name = render(components);
                out.push(Resolved {
                    kind: point.kind,
                    oneshot: point.oneshot,
                    written: path.written.unwrap_or_else(|| name.clone()),
                    name: if point.oneshot { "begin".into() } else { name },
                    optional: path.optional,
                    span: path.outermost.unwrap_or(span),
                    layers: path.layers,
                    conditions: path.conditions,
                });
            }
            Err(None) if path.optional => {}
            Err(None) => {
                let failure = self.unknown(components, span, &path);
                self.fail(failure, &path);
            }
            Err(Some(failure)) => self.fail(*failure, &path),
        }
    }

    fn unknown(&self, components: &[Functor], span: Span, path: &Path<'a>) -> Failure {
        let recursive = path.layers.iter().find(|layer| {
            layer.alias.name.expand().iter().any(|name| {
                let length = name.components.len();
                length <= components.len() && same_name(&name.components, &components[..length])
            })
        });
        if let Some(layer) = recursive {
            let mut failure = Failure::wrong(
                span,
                format!("alias `{}` stands for itself", render(components)),
                "this leads back to the alias",
            );
            failure.diagnostic =
                failure.diagnostic.with_secondary(layer.alias.span, "the alias is defined here");
            return failure;
        }
        let first = components.first().map_or("", |first| first.name.name.as_str());
        let aliases = self.declarations.aliases.iter().filter_map(|alias| alias.name.first());
        let names: Vec<&str> = aliases
            .map(|component| component.name.name.as_str())
            .chain(self.library.alias_names())
            .chain(builtin::FIRST_NAMES.iter().copied())
            .collect();
        let whole: Vec<String> =
            self.declarations.aliases.iter().map(|alias| render(&alias.name)).collect();
        let whole = did_you_mean(&render(components), whole.iter().map(String::as_str));
        Failure::wrong(
            span,
            format!("unknown probe point `{}`", render(components)),
            "this is neither a probe point nor an alias",
        )
        .notes(whole.or_else(|| did_you_mean(first, names)))
    }

    fn fail(&mut self, failure: Failure, path: &Path<'a>) {
        let Failure { mut diagnostic, unsupported } = failure;
        let by_library =
            path.layers.last().is_some_and(|layer| self.declarations.is_library(layer.file));
        if path.optional && (!unsupported || by_library) {
            return;
        }
        if path.optional {
            diagnostic.severity = xlate_grammar::Severity::Warning;
            diagnostic = diagnostic.with_note("the probe point is optional and left out");
        }
        let here = diagnostic.span();
        if let (Some(outermost), false) = (path.outermost, path.layers.is_empty())
            && Some(outermost) != here
        {
            diagnostic = diagnostic.with_secondary(outermost, "used by way of an alias here");
        }
        self.diagnostics.push(diagnostic);
    }
}

fn value(functor: &Functor) -> Option<&LiteralValue> {
    functor.arg.as_ref().map(|arg| &arg.value)
}

fn same_name(a: &[Functor], b: &[Functor]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| a.name.name == b.name.name && value(a) == value(b))
}

/// Whether a name matches a pattern; a component `**`, or one with `**` in it, may match several.
fn matches_name(pattern: &[Functor], name: &[Functor]) -> bool {
    match pattern {
        [] => name.is_empty(),
        [first, rest @ ..] if first.name.name.contains("**") && first.arg.is_none() => {
            // Components of names contain no dots, so the dot keeps them apart.
            (1..=name.len()).any(|taken| {
                let text: Vec<String> = name[..taken].iter().map(render_one).collect();
                glob(&first.name.name, &text.join(".")) && matches_name(rest, &name[taken..])
            })
        }
        [first, rest @ ..] => name.split_first().is_some_and(|(component, others)| {
            glob(&first.name.name, &component.name.name)
                && value(first) == value(component)
                && matches_name(rest, others)
        }),
    }
}

fn render_one(functor: &Functor) -> String {
    render(std::slice::from_ref(functor))
}

/// A probe point as a script would write it.
pub(crate) fn render(components: &[Functor]) -> String {
    let mut text = String::new();
    for (n, functor) in components.iter().enumerate() {
        text.push_str(if n == 0 { "" } else { "." });
        text.push_str(&functor.name.name);
        let _ = match functor.arg.as_ref().map(|arg| &arg.value) {
            Some(LiteralValue::Number(number)) => write!(text, "({number})"),
            Some(LiteralValue::String(string)) => write!(text, "(\"{string}\")"),
            None => Ok(()),
        };
    }
    text
}
