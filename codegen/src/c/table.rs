//! Tables: arrays of structs, a row for each.

use std::fmt::Write as _;

use crate::c::layout::WIDTH;

/// Columns of a tab.
const TAB: usize = 8;

/// The initializers of the fields of a struct, as its row in a table is made.
#[derive(Default)]
pub(crate) struct Row {
    text: String,
    /// Where each of them ends in the text.
    ends: Vec<usize>,
}

impl Row {
    /// Adds the initializer that `write` writes.
    pub(crate) fn add(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
    }

    fn items(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }

    /// Starts anew.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

/// The rows of a table.
#[derive(Default)]
pub(crate) struct Rows {
    text: String,
    count: usize,
}

impl Rows {
    /// Adds a row: on one line if it fits, else on one line for each of its items.
    pub(crate) fn push(&mut self, row: &Row) {
        self.count += 1;
        let separators = ", ".len() * row.ends.len().saturating_sub(1);
        let length = row.text.chars().count() + separators + "{  }".len();
        if TAB + length < WIDTH {
            self.text.push_str("\t{ ");
            for (n, item) in row.items().enumerate() {
                self.text.push_str(if n == 0 { "" } else { ", " });
                self.text.push_str(item);
            }
            self.text.push_str(" },\n");
            return;
        }
        self.text.push_str("\t{\n");
        for item in row.items() {
            let _ = writeln!(self.text, "\t\t{item},");
        }
        self.text.push_str("\t},\n");
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The rows as they stand between the braces of the table.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}
