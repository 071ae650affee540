//! Lines of IR and C and positions, each kept once and named by number.

use std::collections::BTreeMap;

use xlate_codegen::Emitted;
use xlate_ir::entities::{Entity, File};
use xlate_ir::types::Pos;

/// Lines and positions that have come up.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    lines: Vec<(String, i64)>,
    line_numbers: BTreeMap<(String, i64), usize>,
    c_lines: Vec<(String, Vec<i64>)>,
    c_numbers: BTreeMap<(String, Vec<i64>), usize>,
    positions: Vec<Pos>,
    position_numbers: BTreeMap<Pos, usize>,
    /// The number of each text, wherever it comes from.
    texts: BTreeMap<String, usize>,
    /// By line of IR, and by line of C: the number of its text.
    ir_texts: Vec<usize>,
    c_texts: Vec<usize>,
}

impl Lines {
    /// The number of a line of the text form; its position, if it ends in one, is taken off.
    pub(super) fn line(&mut self, text: &str) -> usize {
        let (text, pos) = split_position(text);
        let line = (text, self.position(pos));
        if let Some(&number) = self.line_numbers.get(&line) {
            return number;
        }
        let text = self.text_number(&line.0);
        self.ir_texts.push(text);
        self.lines.push(line.clone());
        self.line_numbers.insert(line, self.lines.len() - 1);
        self.lines.len() - 1
    }

    /// The numbers of the lines of a C file, of which each knows the positions that it comes from.
    pub(super) fn c_file(&mut self, emitted: &Emitted) -> Vec<usize> {
        let mut origins = emitted.origins.iter().peekable();
        let mut numbers = Vec::new();
        for (line, at) in emitted.c.lines().zip(1..) {
            let mut positions = Vec::new();
            while let Some((_, pos)) = origins.next_if(|(line, _)| *line == at) {
                positions.push(self.position(Some(*pos)));
            }
            numbers.push(self.c_line((line.to_owned(), positions)));
        }
        numbers
    }

    fn c_line(&mut self, line: (String, Vec<i64>)) -> usize {
        if let Some(&number) = self.c_numbers.get(&line) {
            return number;
        }
        let text = self.text_number(&line.0);
        self.c_texts.push(text);
        self.c_lines.push(line.clone());
        self.c_numbers.insert(line, self.c_lines.len() - 1);
        self.c_lines.len() - 1
    }

    fn text_number(&mut self, text: &str) -> usize {
        let next = self.texts.len();
        *self.texts.entry(text.to_owned()).or_insert(next)
    }

    /// By line of IR, the number of its text: lines that differ in positions only have the same.
    pub(super) fn ir_texts(&self) -> &[usize] {
        &self.ir_texts
    }

    /// The same by line of C.
    pub(super) fn c_texts(&self) -> &[usize] {
        &self.c_texts
    }

    /// The text of a line, its position left out.
    pub(super) fn text(&self, number: usize) -> &str {
        &self.lines[number].0
    }

    /// The number of a position; -1 for none.
    pub(super) fn position(&mut self, pos: Option<Pos>) -> i64 {
        let Some(pos) = pos else { return -1 };
        let number = *self.position_numbers.entry(pos).or_insert_with(|| {
            self.positions.push(pos);
            self.positions.len() - 1
        });
        number as i64
    }

    /// The lines of IR, each with the number of its position; those of C, with the numbers of
    /// theirs; and the positions.
    pub(super) fn finish(self) -> Finished {
        Finished { ir: self.lines, c: self.c_lines, positions: self.positions }
    }
}

/// All that has come up.
pub(super) struct Finished {
    pub(super) ir: Vec<(String, i64)>,
    pub(super) c: Vec<(String, Vec<i64>)>,
    pub(super) positions: Vec<Pos>,
}

/// A line of the text form without the position at its end, and that. A brace may follow the position.
fn split_position(line: &str) -> (String, Option<Pos>) {
    let (body, brace) = match line.strip_suffix(" {") {
        Some(body) => (body, " {"),
        None => (line, ""),
    };
    match body.rsplit_once(" @f").and_then(|(text, pos)| Some((text, read_position(pos)?))) {
        Some((text, pos)) => (format!("{}{brace}", text.trim_end()), Some(pos)),
        None => (line.to_owned(), None),
    }
}

/// `0:4:9`, as it stands behind `@f`.
fn read_position(text: &str) -> Option<Pos> {
    let mut numbers = text.split(':').map(|number| number.parse::<u32>().ok());
    let (file, line, column) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let is_all = numbers.next().is_none();
    is_all.then(|| Pos { file: File::from_index(file as usize), line, column })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_taken_off() {
        let pos = |line, column| Some(Pos { file: File::from_index(2), line, column });
        for (line, text, expected) in [
            ("  v0 = const 3: long       @f2:4:9", "  v0 = const 3: long", pos(4, 9)),
            ("handler @h0 @f2:1:1 {", "handler @h0 {", pos(1, 1)),
            ("  store @f2, v0", "  store @f2, v0", None),
            ("  print \"x @f2:1:1\"", "  print \"x @f2:1:1\"", None),
            ("  ret", "  ret", None),
        ] {
            assert_eq!(split_position(line), (text.to_owned(), expected), "{line}");
        }
    }

    #[test]
    fn equal_lines_have_one_number() {
        let mut lines = Lines::default();
        let first = lines.line("  ret @f0:1:1");
        assert_eq!(lines.line("  ret @f0:1:1"), first);
        assert_ne!(lines.line("  ret @f0:1:2"), first);
        assert_eq!(lines.text(first), "  ret");
        let finished = lines.finish();
        assert_eq!((finished.ir.len(), finished.positions.len()), (2, 2));
    }

    #[test]
    fn lines_of_c_know_their_positions() {
        let pos = |line| Pos { file: File::from_index(0), line, column: 1 };
        let c = "a\n}\na\n}\n".to_owned();
        let origins = vec![(1, pos(3)), (1, pos(4)), (3, pos(4))];
        let mut lines = Lines::default();
        let file = lines.c_file(&Emitted { c, origins, frames: Vec::new() });
        assert_eq!(file, [0, 1, 2, 1]);
        assert_eq!(lines.c_texts(), [0, 1, 0]);
        let expected = [("a", vec![0, 1]), ("}", vec![]), ("a", vec![1])];
        assert_eq!(lines.finish().c, expected.map(|(text, places)| (text.to_owned(), places)));
    }
}
