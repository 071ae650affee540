//! What was measured, as a table and as JSON.

use std::fmt::Write as _;

/// One number, beside those that it is to be compared with.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row {
    /// The benchmark.
    pub(crate) bench: &'static str,
    /// The script, or the module.
    pub(crate) case: String,
    /// What is counted, with its unit.
    pub(crate) metric: &'static str,
    /// Ours.
    pub(crate) value: f64,
    /// The peer's.
    pub(crate) peer: Option<f64>,
    /// What a minimal module, or nothing at all, takes.
    pub(crate) floor: Option<f64>,
}

/// A table for people: one line per row, with the ratios to peer and floor.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    let width = rows.iter().map(|row| row.case.len()).max().unwrap_or(0).max(24);
    let mut last = None;
    for row in rows {
        if last != Some((row.bench, row.metric)) {
            let (ours, floor) = match row.bench {
                "ablation" => ("without", "with all"),
                "families" => ("many", "few"),
                _ => ("xlate", "floor"),
            };
            let _ = write!(
                text,
                "\n{}: {}\n{:<width$}{ours:>12}{floor:>12}{:>12}{:>12}{:>12}\n",
                row.bench, row.metric, "", "ratio", "SystemTap", "ratio"
            );
        }
        last = Some((row.bench, row.metric));
        let _ = writeln!(
            text,
            "{:<width$}{:>12}{:>12}{:>12}{:>12}{:>12}",
            row.case,
            number(Some(row.value)),
            number(row.floor),
            ratio(row.value, row.floor),
            number(row.peer),
            ratio(row.value, row.peer)
        );
    }
    text
}

fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value.fract() == 0.0 => format!("{value:.0}"),
        // Ratios need more digits than counts.
        Some(value) if value < 10.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.1}"),
    }
}

fn ratio(value: f64, to: Option<f64>) -> String {
    match to {
        Some(to) if to > 0.0 => format!("{:.2}", value / to),
        _ => "-".to_owned(),
    }
}

/// A list of objects with the fields of [`Row`]; what was not measured is null.
pub(crate) fn json(rows: &[Row]) -> String {
    let number = |value: Option<f64>| value.map_or("null".to_owned(), |value| value.to_string());
    let object = |row: &Row| {
        format!(
            "{{\"bench\":{},\"case\":{},\"metric\":{},\"value\":{},\"peer\":{},\"floor\":{}}}",
            quoted(row.bench),
            quoted(&row.case),
            quoted(row.metric),
            number(Some(row.value)),
            number(row.peer),
            number(row.floor)
        )
    };
    let objects: Vec<_> = rows.iter().map(object).collect();
    format!("[\n{}\n]\n", objects.join(",\n"))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, value: f64, peer: Option<f64>, floor: Option<f64>) -> Row {
        Row { bench: "cost", case: case.to_owned(), metric: "instructions", value, peer, floor }
    }

    #[test]
    fn numbers_that_are_missing_are_null() {
        let rows = [row("a\"b", 20.0, None, Some(8.5)), row("c", 1.25, Some(319.0), None)];
        assert_eq!(
            json(&rows),
            "[\n\
             {\"bench\":\"cost\",\"case\":\"a\\\"b\",\"metric\":\"instructions\",\"value\":20,\
             \"peer\":null,\"floor\":8.5},\n\
             {\"bench\":\"cost\",\"case\":\"c\",\"metric\":\"instructions\",\"value\":1.25,\
             \"peer\":319,\"floor\":null}\n]\n"
        );
    }

    #[test]
    fn the_table_has_ratios() {
        let text = table(&[row("count", 20.0, Some(320.0), Some(8.0)), row("x", 3.0, None, None)]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 5);
        let words: Vec<_> = lines[3].split_whitespace().collect();
        assert_eq!(words, ["count", "20", "8", "2.50", "320", "0.06"]);
        assert_eq!(lines[4].split_whitespace().collect::<Vec<_>>(), ["x", "3", "-", "-", "-", "-"]);
    }
}
