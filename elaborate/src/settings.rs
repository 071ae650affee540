//! `-G`: globals that the command line sets.

use crate::context::Context;
use crate::declare::FileIndex;
use crate::program::{Literal, Type};
use crate::suggest::did_you_mean;
use crate::types::Kind;
use xlate_grammar::{Diagnostic, Severity};

/// One `-G NAME=VALUE` or `-G NAME`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The global.
    pub name: String,
    /// Its initial value; without one it becomes a parameter of the module.
    pub value: Option<String>,
}

/// Applies the settings. All uses have been seen, so a global's type is known if anything but the
/// value itself says what it is.
pub(crate) fn apply(cx: &mut Context<'_>) {
    for setting in &cx.options.settings {
        if let Err(diagnostic) = apply_one(cx, setting) {
            cx.report(diagnostic);
        }
    }
}

fn apply_one(cx: &mut Context<'_>, setting: &Setting) -> Result<(), Diagnostic> {
    let Setting { name, value } = setting;
    let failed = |what: String| Diagnostic::new(Severity::Error, format!("-G {name}: {what}"));
    let Some(decl) = cx.declarations.find_global(name, FileIndex(0)) else {
        let names = cx.declarations.globals.iter().map(|global| global.node.name.name.as_str());
        let mut diagnostic = failed("there is no such global".into());
        diagnostic.notes.extend(did_you_mean(name, names));
        return Err(diagnostic);
    };
    let id = cx.global(decl);
    let span = cx.program.globals[id].span;
    let state = cx.global_state(id);
    let element = state.element;
    let is_array = state.arity.is_some_and(|(arity, _)| arity > 0)
        || cx.program.globals[id].size.is_some()
        || cx.program.globals[id].wrap;
    let known = cx.types.evidence(element).map(|evidence| evidence.kind);
    if is_array || known == Some(Kind::Stat) {
        let what = if is_array { "an array" } else { "a statistic" };
        return Err(failed(format!("`{name}` is {what}, which has no initial value"))
            .with_secondary(span, "declared here"));
    }
    let Some(value) = value else {
        cx.program.globals[id].parameter = true;
        return Ok(());
    };
    let number = parse_number(value);
    let kind = match known {
        Some(kind) => kind,
        None if number.is_some() => Kind::Long,
        None => Kind::Str,
    };
    // Cannot conflict: it is what is known already, or nothing is.
    let _ = cx.types.require(element, kind, span);
    let literal = match (cx.types.value(element), number) {
        (Type::Str, _) => Literal::Str(value.bytes().take_while(|byte| *byte != 0).collect()),
        (Type::Long, Some(number)) => Literal::Long(number),
        (Type::Long, None) => {
            return Err(failed(format!("`{value}` is no number, but `{name}` is a long"))
                .with_secondary(span, "declared here"));
        }
    };
    cx.program.globals[id].init = Some(literal);
    Ok(())
}

/// A number as scripts write it, with a sign perhaps.
fn parse_number(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let magnitude = match lower.get(..2) {
        Some("0x") => u64::from_str_radix(&lower[2..], 16),
        Some("0b") => u64::from_str_radix(&lower[2..], 2),
        Some("0o") => u64::from_str_radix(&lower[2..], 8),
        _ if lower.starts_with('0') && lower.len() > 1 => u64::from_str_radix(&lower[1..], 8),
        _ => lower.parse(),
    };
    let value = magnitude.ok()? as i64;
    Some(if negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::parse_number;

    #[test]
    fn numbers_in_all_bases() {
        assert_eq!(parse_number("42"), Some(42));
        assert_eq!(parse_number("-0x10"), Some(-16));
        assert_eq!(parse_number("017"), Some(15));
        assert_eq!(parse_number("0b101"), Some(5));
        assert_eq!(parse_number("18446744073709551615"), Some(-1));
        for text in ["", "-", "0x", "1k", "09", "é"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }
}
