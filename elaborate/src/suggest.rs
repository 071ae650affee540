//! Names that are close to one that is unknown.

/// At most this many names are suggested.
const MOST: usize = 3;

/// The names nearest to `wanted`, best first; equally near ones in alphabetical order.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // A name with more than a third of its letters wrong is no typing mistake.
    let limit = (wanted.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .filter(|name| name.len().abs_diff(wanted.len()) <= limit && *name != wanted)
        .map(|name| (strsim::osa_distance(wanted, name), name))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(MOST);
    found.into_iter().map(|(_, name)| name).collect()
}

/// A note that suggests the nearest names, if there are any.
pub(crate) fn did_you_mean<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let quoted: Vec<String> =
        nearest(wanted, names).into_iter().map(|name| format!("`{name}`")).collect();
    let (last, others) = quoted.split_last()?;
    Some(match others {
        [] => format!("did you mean {last}?"),
        _ => format!("did you mean {} or {last}?", others.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first() {
        let names = ["pid", "ppid", "tid", "execname", "strlen"];
        assert_eq!(nearest("stlren", names), ["strlen"]);
        assert_eq!(nearest("pdi", names), ["pid"]);
        assert_eq!(did_you_mean("xid", names), Some("did you mean `pid` or `tid`?".into()));
        assert_eq!(did_you_mean("whatever", names), None);
    }
}
