//! The tables of a module: globals, functions, handlers, probe points.

use std::collections::BTreeSet;

use super::{VerifierError, fits};
use crate::module::{FunctionCode, FunctionData, Module, ProbePoint};
use crate::types::{Const, Discipline, ElementType, GlobalData, Histogram, Type};

/// Checks everything that is outside of bodies.
pub(super) fn check(module: &Module) -> Vec<VerifierError> {
    let mut errors = Vec::new();
    let mut wrong = |owner: String, message: String| {
        errors.push(VerifierError { owner, block: None, inst: None, message });
    };
    let mut names = BTreeSet::new();
    for (_, data) in module.globals.iter() {
        let owner = || format!("global @{}", data.name);
        if !names.insert(&data.name) {
            wrong(owner(), "there are two of this name".into());
        }
        for message in global(module, data) {
            wrong(owner(), message);
        }
    }
    names.clear();
    for (_, data) in module.functions.iter() {
        let owner = || format!("function @{}", data.name);
        if !names.insert(&data.name) {
            wrong(owner(), "there are two of this name".into());
        }
        if data.params.iter().chain(&data.result).any(|ty| !is_plain(module, *ty)) {
            wrong(owner(), "parameters and results are long or strings within the limit".into());
        }
        if let Some(message) = variants(data) {
            wrong(owner(), message.into());
        }
        if let FunctionCode::C { names, effects, .. } = &data.code {
            if names.len() != data.params.len() {
                wrong(owner(), "the parameters of a C function have names".into());
            }
            let mut globals = effects.reads.iter().chain(&effects.writes);
            if globals.any(|&global| module.globals.get(global).is_none()) {
                wrong(owner(), "its effects are on a global that there is not".into());
            }
        }
    }
    for (id, data) in module.handlers.iter() {
        if data.record.iter().any(|ty| !is_plain(module, *ty)) {
            let message = "fields of a record are long or strings within the limit";
            wrong(format!("handler @{id}"), message.into());
        }
        if data.places.iter().collect::<BTreeSet<_>>().len() < data.places.len() {
            wrong(format!("handler @{id}"), "a place stands in its list twice".into());
        }
    }
    for point in &module.probes {
        if let Some(message) = probe(module, point) {
            wrong(format!("probe {}", point.name), message);
        }
    }
    errors
}

/// What is wrong with the places of a function.
fn variants(data: &FunctionData) -> Option<&'static str> {
    let places = &data.places;
    if places.iter().collect::<BTreeSet<_>>().len() < places.len() {
        return Some("a place stands in its list twice");
    }
    if data.variants.iter().any(|variant| variant.len() != places.len()) {
        return Some("its variants have as many places as it has");
    }
    if places.is_empty() != data.variants.is_empty() {
        return Some("it has variants if it has places");
    }
    let tells = data.params.last() == Some(&Type::Long);
    (!places.is_empty() && !tells).then_some("its last parameter tells its variants apart")
}

/// Whether a type is `long` or a string that the limits allow.
fn is_plain(module: &Module, ty: Type) -> bool {
    match ty {
        Type::Long => true,
        Type::Str(bound) => bound <= module.limits.longest_string(),
        Type::Iter => false,
    }
}

fn global(module: &Module, data: &GlobalData) -> Vec<String> {
    let mut wrong = Vec::new();
    if data.keys.len() > 9 {
        wrong.push("an array has at most 9 keys".into());
    }
    if data.keys.iter().any(|ty| !is_plain(module, *ty)) {
        wrong.push("keys are long or strings within the limit".into());
    }
    if data.element.value_type().is_some_and(|ty| !is_plain(module, ty)) {
        wrong.push("a string is longer than the limit".into());
    }
    if data.is_array() && data.max_entries == 0 {
        wrong.push("an array has room for at least one element".into());
    }
    if data.wrap && !data.is_array() {
        wrong.push("only arrays wrap".into());
    }
    if let Some(init) = &data.init {
        let good = match (init, data.element) {
            (Const::Long(_), ElementType::Long) => true,
            (Const::Str(bytes), ElementType::Str(bound)) => {
                bytes.len() <= bound as usize && !bytes.contains(&0)
            }
            _ => false,
        };
        if !good || data.is_array() {
            wrong.push("its initial value does not fit".into());
        }
    }
    if data.parameter && (data.is_array() || data.is_stat()) {
        wrong.push("only plain scalars are module parameters".into());
    }
    match data.histogram {
        Some(_) if !data.is_stat() => wrong.push("only statistics have histograms".into()),
        Some(Histogram::Linear { low, high, width }) if width <= 0 || high < low => {
            wrong.push("the histogram has no buckets".into());
        }
        _ => {}
    }
    let wanted = match data.discipline {
        Discipline::ShardedLockedWith(_) => Discipline::ShardedLocked,
        _ => Discipline::Locked,
    };
    if let Some(leader) = data.discipline.leader()
        && module.globals.get(leader).map(|leader| leader.discipline) != Some(wanted)
    {
        wrong.push("it shares the lock of a global that has none".into());
    }
    wrong
}

fn probe(module: &Module, point: &ProbePoint) -> Option<String> {
    let Some(handler) = module.handlers.get(point.handler) else {
        return Some("its handler does not exist".into());
    };
    let types = point.record.iter().map(|constant| match constant {
        Const::Long(_) => Type::Long,
        Const::Str(bytes) => Type::Str(u32::try_from(bytes.len()).unwrap_or(u32::MAX)),
    });
    let same = point.record.len() == handler.record.len()
        && types.zip(&handler.record).all(|(have, &want)| fits(have, want));
    if point.places.len() != handler.places.len() {
        return Some(format!("its places are not those of @{}", point.handler));
    }
    if same { None } else { Some(format!("its record does not fit @{}", point.handler)) }
}
