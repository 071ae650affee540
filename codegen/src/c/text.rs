//! Words and text of C that know which places of the script they come from.

use std::fmt;
use std::ops::Deref;

use xlate_ir::types::Pos;

/// A name, or other text that binds as tightly as one, with the places in the script that made it.
/// Equal texts are equal wherever they come from, so that equal code is still found and merged.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    text: String,
    origins: Vec<Pos>,
}

impl Name {
    /// Where it comes from, if known.
    pub(crate) fn origins(&self) -> &[Pos] {
        &self.origins
    }

    /// Says where it comes from, unless that has been said.
    pub(crate) fn stamp(&mut self, pos: Pos) {
        if self.origins.is_empty() {
            self.origins.push(pos);
        }
    }

    /// Has it come from where another comes from, too.
    pub(crate) fn absorb(&mut self, other: &Name) {
        self.origins.extend(&other.origins);
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name { text, origins: Vec::new() }
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.text == other.text
    }
}

impl Eq for Name {}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

/// Lines of C, and where in the script they come from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Text {
    text: String,
    /// The lines that are complete.
    lines: usize,
    /// Lines, counted from 0, with a place each; a line can have several.
    origins: Vec<(usize, Pos)>,
}

impl Text {
    /// Text that comes from nowhere in particular.
    pub(crate) fn plain(text: &str) -> Text {
        let mut own = Text::default();
        own.push_str(text);
        own
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The number of lines that are complete.
    pub(crate) fn lines(&self) -> usize {
        self.lines
    }

    /// Adds text that comes from nowhere in particular.
    pub(crate) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
        self.lines += text.bytes().filter(|byte| *byte == b'\n').count();
    }

    /// Adds text with its places. It must begin a line.
    pub(crate) fn push(&mut self, more: &Text) {
        let moved = more.origins.iter().map(|(line, pos)| (self.lines + line, *pos));
        self.origins.extend(moved);
        self.text.push_str(&more.text);
        self.lines += more.lines;
    }

    /// Says of the lines from `first` on that they come from a place.
    pub(crate) fn mark(&mut self, first: usize, pos: Pos) {
        self.origins.extend((first..self.lines).map(|line| (line, pos)));
    }

    /// The text, and its lines counted from 1 with their places: in order, each once.
    pub(crate) fn finish(mut self) -> (String, Vec<(usize, Pos)>) {
        self.origins.sort();
        self.origins.dedup();
        (self.text, self.origins.into_iter().map(|(line, pos)| (line + 1, pos)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xlate_ir::entities::{Entity, File};

    fn pos(line: u32) -> Pos {
        Pos { file: File::from_index(0), line, column: 1 }
    }

    #[test]
    fn lines_move_with_their_text() {
        let mut inner = Text::plain("a\n");
        inner.push_str("b\nc\n");
        inner.mark(1, pos(7));
        let mut outer = Text::plain("first\n");
        outer.push(&inner);
        outer.push_str("last\n");
        outer.mark(4, pos(9));
        outer.mark(3, pos(7));
        let (text, origins) = outer.finish();
        assert_eq!(text, "first\na\nb\nc\nlast\n");
        assert_eq!(origins, [(3, pos(7)), (4, pos(7)), (5, pos(7)), (5, pos(9))]);
    }

    #[test]
    fn where_a_name_comes_from_is_said_once_and_does_not_make_it_another() {
        let mut name = Name::from("n".to_owned());
        name.stamp(pos(1));
        name.stamp(pos(2));
        assert_eq!(name.origins(), [pos(1)]);
        let mut other = Name::from("m".to_owned());
        other.stamp(pos(3));
        name.absorb(&other);
        assert_eq!(name.origins(), [pos(1), pos(3)]);
        assert_eq!(name, Name::from("n".to_owned()));
    }
}
