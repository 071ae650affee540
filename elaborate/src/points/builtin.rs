//! The probe points that need no alias.

use super::{Failure, Names, render, unsupported};
use crate::program::{Period, ProbeKind};
use crate::suggest::did_you_mean;
use xlate_grammar::Span;
use xlate_grammar::ast::{Functor, LiteralValue};
use xlate_symbols::Presence;

/// The names of the kernel, if any are known.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub(super) names: &'k dyn Names,
    /// Whether to suggest near names for one that is absent.
    pub(super) suggest: bool,
}

/// What a probe point turns out to be.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) kind: ProbeKind,
    pub(super) oneshot: bool,
}

impl From<ProbeKind> for Point {
    fn from(kind: ProbeKind) -> Self {
        Point { kind, oneshot: false }
    }
}

/// Points of one component that need no argument; wildcards find them.
pub(super) const PLAIN: &[&str] = &["begin", "end", "error", "never"];

/// The first components of the points that there are.
pub(super) const FIRST_NAMES: &[&str] =
    &["begin", "end", "error", "never", "oneshot", "timer", "kernel", "kprobe"];

/// Nanoseconds in a unit of time.
const UNITS: &[(&str, u64)] = &[
    ("s", 1_000_000_000),
    ("sec", 1_000_000_000),
    ("ms", 1_000_000),
    ("msec", 1_000_000),
    ("us", 1_000),
    ("usec", 1_000),
    ("ns", 1),
    ("nsec", 1),
];

/// The shortest period of a timer, in nanoseconds: shorter ones leave no time for anything else.
const SHORTEST: u64 = 100_000;
/// The longest period of a timer, in nanoseconds: a day.
const LONGEST: u64 = 86_400 * 1_000_000_000;
/// The longest period of a timer in jiffies.
const MOST_JIFFIES: i64 = 1_000_000;

/// What the point is; `None` as an error says that nothing like it is known.
pub(super) fn resolve(
    components: &[Functor],
    span: Span,
    kernel: Option<Known<'_>>,
) -> Result<Point, Option<Box<Failure>>> {
    let names: Vec<&str> = components.iter().map(|c| c.name.name.as_str()).collect();
    let found = match names.as_slice() {
        ["begin" | "end" | "error"] => sequence(&components[0]),
        ["never"] if components[0].arg.is_none() => Ok(ProbeKind::Never.into()),
        ["oneshot"] if components[0].arg.is_none() => {
            Ok(Point { kind: ProbeKind::Begin(0), oneshot: true })
        }
        ["begin" | "end" | "error" | "never" | "oneshot", ..] => Err(no_such_form(
            components,
            span,
            "`begin`, `end` and `error` take a number at most, `never` and `oneshot` nothing",
        )),
        ["timer", ..] => timer(components, span),
        ["kernel", "trace"] => tracepoint(components, span, kernel),
        ["kprobe", "function", ..] => kprobe(components, 1, span, kernel),
        ["kprobe", "module", "function", ..] => kprobe(components, 2, span, kernel),
        _ => return Err(unsupported::family(components, span).map(Box::new)),
    };
    found.map_err(|failure| Some(Box::new(failure)))
}

fn no_such_form(components: &[Functor], span: Span, note: &str) -> Failure {
    Failure::wrong(
        span,
        format!("unknown probe point `{}`", render(components)),
        "there is no such form",
    )
    .note(note)
}

fn number(functor: &Functor) -> Option<i64> {
    match functor.arg.as_ref()?.value {
        LiteralValue::Number(number) => Some(number),
        LiteralValue::String(_) => None,
    }
}

fn string(functor: &Functor) -> Option<&str> {
    match &functor.arg.as_ref()?.value {
        LiteralValue::Number(_) => None,
        LiteralValue::String(string) => string.as_str(),
    }
}

fn sequence(component: &Functor) -> Result<Point, Failure> {
    let name = component.name.name.as_str();
    let at = match &component.arg {
        None => 0,
        Some(arg) => match arg.value {
            LiteralValue::Number(number) => number,
            LiteralValue::String(_) => {
                return Err(Failure::wrong(
                    arg.span,
                    format!("`{name}` takes a number"),
                    "the place in the sequence, such as `-1`",
                ));
            }
        },
    };
    let kind = match name {
        "begin" => ProbeKind::Begin(at),
        "end" => ProbeKind::End(at),
        _ => ProbeKind::Error(at),
    };
    Ok(kind.into())
}

fn timer(components: &[Functor], span: Span) -> Result<Point, Failure> {
    let (unit, rest) = match &components[1..] {
        [] => {
            return Err(no_such_form(
                components,
                span,
                "say how often: `timer.s(1)`, `timer.ms(100)`, `timer.hz(10)`, `timer.profile`, …",
            ));
        }
        [unit, rest @ ..] => (unit, rest),
    };
    if components[0].arg.is_some() {
        return Err(no_such_form(components, span, "the number belongs to the unit: `timer.s(1)`"));
    }
    let name = unit.name.name.as_str();
    match (name, rest) {
        ("profile", []) if unit.arg.is_none() => return Ok(ProbeKind::Profile.into()),
        ("profile", [tick]) if unit.arg.is_none() && is_plain(tick, "tick") => {
            return Ok(ProbeKind::Profile.into());
        }
        ("profile", _) => return Err(unsupported::profile(components, span)),
        _ => {}
    }
    let scale = UNITS.iter().find(|(unit, _)| *unit == name).map(|(_, scale)| *scale);
    if scale.is_none() && !matches!(name, "jiffies" | "hz") {
        let units = UNITS.iter().map(|(unit, _)| *unit);
        return Err(Failure::wrong(
            unit.span,
            format!("unknown timer `{}`", render(components)),
            "this is no unit of time",
        )
        .notes(did_you_mean(name, units.chain(["jiffies", "hz", "profile"])))
        .note("the units are s, ms, us, ns, jiffies and hz"));
    }
    let Some(count) = number(unit) else {
        return Err(Failure::wrong(
            unit.span,
            format!("`timer.{name}` takes a number"),
            format!("such as `{name}(10)`"),
        ));
    };
    let period = period(unit, count, scale)?;
    let randomize = match rest {
        [] => 0,
        [randomize] if randomize.name.name == "randomize" && name != "hz" => {
            spread(randomize, count)? * scale.unwrap_or(1)
        }
        _ => {
            return Err(no_such_form(
                components,
                span,
                "only `.randomize(M)` can follow, and not after `hz`",
            ));
        }
    };
    Ok(ProbeKind::Timer { period, randomize }.into())
}

fn period(unit: &Functor, count: i64, scale: Option<u64>) -> Result<Period, Failure> {
    let out_of_range = |range: String| {
        let name = &unit.name.name;
        let message = format!("the period of `timer.{name}` is out of range");
        Failure::wrong(unit.span, message, format!("this takes {range}"))
    };
    match scale {
        Some(scale) => {
            let (least, most) = (SHORTEST.div_ceil(scale), LONGEST / scale);
            match u64::try_from(count) {
                Ok(count) if (least..=most).contains(&count) => {
                    Ok(Period::Nanoseconds(count * scale))
                }
                _ => Err(out_of_range(format!("{least} to {most}"))),
            }
        }
        None if unit.name.name == "hz" => {
            let most = 1_000_000_000 / SHORTEST;
            match u64::try_from(count) {
                Ok(count) if (1..=most).contains(&count) => {
                    Ok(Period::Nanoseconds(1_000_000_000 / count))
                }
                _ => Err(out_of_range(format!("1 to {most}"))),
            }
        }
        None if (1..=MOST_JIFFIES).contains(&count) => Ok(Period::Jiffies(count as u64)),
        None => Err(out_of_range(format!("1 to {MOST_JIFFIES}"))),
    }
}

/// The `M` of `.randomize(M)`, at most the period.
fn spread(randomize: &Functor, period: i64) -> Result<u64, Failure> {
    match number(randomize).and_then(|spread| u64::try_from(spread).ok()) {
        Some(spread) if spread <= period as u64 => Ok(spread),
        _ => Err(Failure::wrong(
            randomize.span,
            "`randomize` is out of range",
            format!("this takes 0 to {period}, the period"),
        )),
    }
}

fn tracepoint(
    components: &[Functor],
    span: Span,
    kernel: Option<Known<'_>>,
) -> Result<Point, Failure> {
    let named = if components[0].arg.is_none() { string(&components[1]) } else { None };
    let Some(written) = named else {
        return Err(no_such_form(components, span, "name it: `kernel.trace(\"sched_switch\")`"));
    };
    let place = components[1].arg.as_ref().map_or(span, |arg| arg.span);
    // The system before the colon is for people: names of tracepoints are unique without it.
    let name = written.rsplit_once(':').map_or(written, |(_, name)| name);
    if name.contains(['*', '?', '[']) {
        return Err(unsupported::pattern("tracepoint", place));
    }
    if !is_identifier(name) {
        return Err(Failure::wrong(
            place,
            format!("`{written}` is no name of a tracepoint"),
            "names have letters, digits and `_`",
        ));
    }
    if let Some(kernel) = kernel
        && kernel.names.tracepoint(name) == Presence::Absent
    {
        return Err(absent("tracepoint", name, place, kernel, |names| names.tracepoints()));
    }
    Ok(ProbeKind::Tracepoint(name.into()).into())
}

/// `kprobe.function("F")` and `kprobe.module("M").function("F")`, with what may follow; `at` is the
/// position of the component `function`.
fn kprobe(
    components: &[Functor],
    at: usize,
    span: Span,
    kernel: Option<Known<'_>>,
) -> Result<Point, Failure> {
    let module = match at {
        1 => None,
        _ => string(&components[1]),
    };
    let named = if components[0].arg.is_none() { string(&components[at]) } else { None };
    let (Some(name), true) = (named, at == 1 || module.is_some()) else {
        return Err(no_such_form(
            components,
            span,
            "name it: `kprobe.function(\"vfs_read\")`, `kprobe.module(\"ext4\").function(\"…\")`",
        ));
    };
    let place = components[at].arg.as_ref().map_or(span, |arg| arg.span);
    if name.contains(['*', '?', '[']) {
        return Err(unsupported::pattern("function", place));
    }
    // Copies that the compiler made have names like `do_it.isra.0`.
    if !name.split('.').all(|part| !part.is_empty() && part.chars().all(is_word))
        || name.starts_with(|c: char| c.is_ascii_digit())
    {
        return Err(Failure::wrong(
            place,
            format!("`{name}` is no name of a function"),
            "names have letters, digits, `_` and `.`",
        ));
    }
    // The kernel looks a function of a module up under this name.
    let symbol = match module {
        Some(module) if is_identifier(module) => format!("{module}:{name}"),
        Some(module) => {
            return Err(Failure::wrong(
                components[1].span,
                format!("`{module}` is no name of a module"),
                "names have letters, digits and `_`",
            ));
        }
        None => name.into(),
    };
    let kind = match &components[at + 1..] {
        [] => ProbeKind::Kprobe(symbol),
        [call] if is_plain(call, "call") => ProbeKind::Kprobe(symbol),
        [exit] if is_plain(exit, "return") => ProbeKind::Kretprobe(symbol, None),
        [exit, active] if is_plain(exit, "return") && active.name.name == "maxactive" => {
            match number(active).and_then(|number| u32::try_from(number).ok()) {
                Some(most @ 1..=65_535) => ProbeKind::Kretprobe(symbol, Some(most)),
                _ => {
                    return Err(Failure::wrong(
                        active.span,
                        "`maxactive` is out of range",
                        "this takes 1 to 65535",
                    ));
                }
            }
        }
        _ => {
            let note = "only `.call`, `.return` and `.return.maxactive(N)` can follow";
            return Err(no_such_form(components, span, note));
        }
    };
    if let (Some(kernel), None) = (kernel, module)
        && kernel.names.function(name) == Presence::Absent
    {
        let failure = absent("function", name, place, kernel, |names| names.functions());
        return Err(failure.note(format!(
            "if it belongs to a module: `kprobe.module(\"NAME\").function(\"{name}\")`"
        )));
    }
    Ok(kind.into())
}

fn absent(
    what: &str,
    name: &str,
    place: Span,
    kernel: Known<'_>,
    others: impl FnOnce(&dyn Names) -> &[String],
) -> Failure {
    let others = if kernel.suggest { others(kernel.names) } else { &[] };
    Failure::wrong(
        place,
        format!("there is no {what} `{name}`"),
        format!("kernel {} does not have it", kernel.names.release()),
    )
    .notes(did_you_mean(name, others.iter().map(String::as_str)))
}

fn is_plain(functor: &Functor, name: &str) -> bool {
    functor.name.name == name && functor.arg.is_none()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit())
}
