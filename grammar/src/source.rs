//! Source files, spans and positions.
//!
//! Everything that the front end says about a script points at it with a [`Span`]: a file and two
//! byte offsets. Tokens that come out of a macro carry a span in a *virtual* file, which stands for
//! one expansion of one macro: its text is that of the file in which the macro is defined, and it
//! remembers where it was called. [`SourceMap::origin`] leads from there back to the script.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A source file, or one expansion of a macro, of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

impl FileId {
    /// The position of the file in its map, counted from zero.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A half-open range of bytes of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file, or the macro expansion.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// Where nothing is: the span of nodes whose position does not matter.
    pub const ERASED: Span = Span { file: FileId(0), start: 0, end: 0 };

    /// The bytes `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Span { file, start, end }
    }

    /// From the start of `self` to the end of `last`.
    ///
    /// Where the two are not in the same file (one of them comes out of a macro), the result is
    /// `self`; [`SourceMap::join`] does better.
    pub fn to(self, last: Span) -> Span {
        if self.file == last.file && last.end >= self.start {
            Span { end: last.end, ..self }
        } else {
            self
        }
    }

    /// The empty range at the start of this one.
    pub fn at_start(self) -> Span {
        Span { end: self.start, ..self }
    }

    /// The empty range behind this one.
    pub fn at_end(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether the range has no bytes.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// A line and a column, both counted from one; columns count bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// How a token came to be where the parser saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The macro or script argument as it is invoked: `@name`, `$1`.
    pub name: String,
    /// The invocation.
    pub call: Span,
}

#[derive(Debug)]
struct Text {
    name: String,
    /// What is lexed.
    bytes: Arc<[u8]>,
    /// What is shown, where that differs: each byte that is not UTF-8 is replaced by `?`, so that
    /// offsets are the same in both.
    shown: Option<String>,
    /// Offset of each line's first byte.
    lines: Vec<u32>,
}

#[derive(Debug)]
enum Entry {
    Text(Text),
    Expansion { of: FileId, expansion: Expansion },
}

/// All the files that a run has read.
#[derive(Debug, Default)]
pub struct SourceMap {
    entries: Vec<Entry>,
}

/// A source file of 4 GiB or more, which spans cannot address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the file is larger than 4 GiB")
    }
}

impl std::error::Error for TooLarge {}

impl SourceMap {
    /// A map without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file under the name that messages will use.
    ///
    /// The text need not be UTF-8; comments and literals may hold any bytes.
    ///
    /// # Errors
    /// [`TooLarge`] if offsets into the text do not fit 32 bits.
    pub fn try_add(
        &mut self,
        name: impl Into<String>,
        text: impl Into<Vec<u8>>,
    ) -> Result<FileId, TooLarge> {
        let bytes = text.into();
        if u32::try_from(bytes.len()).is_err() {
            return Err(TooLarge);
        }
        let ends = memchr::memchr_iter(b'\n', &bytes);
        let lines = std::iter::once(0).chain(ends.map(|at| at as u32 + 1)).collect();
        let shown = match std::str::from_utf8(&bytes) {
            Ok(_) => None,
            Err(_) => Some(replace_invalid(&bytes)),
        };
        Ok(self.push(Entry::Text(Text { name: name.into(), bytes: bytes.into(), shown, lines })))
    }

    /// Like [`SourceMap::try_add`], for texts known to be small; a text that is too large is cut.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Vec<u8>>) -> FileId {
        let mut bytes = text.into();
        bytes.truncate(u32::MAX as usize);
        match self.try_add(name, bytes) {
            Ok(file) => file,
            Err(TooLarge) => unreachable!("internal error (source map): the text was cut to fit"),
        }
    }

    /// Adds a virtual file for one expansion of a macro whose body is in `of`.
    pub fn add_expansion(&mut self, of: FileId, name: impl Into<String>, call: Span) -> FileId {
        let of = self.spelling_file(of);
        self.push(Entry::Expansion { of, expansion: Expansion { name: name.into(), call } })
    }

    fn push(&mut self, entry: Entry) -> FileId {
        let id = FileId(self.entries.len() as u32);
        self.entries.push(entry);
        id
    }

    /// The text file behind a file id: itself, or the one that defines the expanded macro.
    pub fn spelling_file(&self, file: FileId) -> FileId {
        match &self.entries[file.index()] {
            Entry::Text(_) => file,
            Entry::Expansion { of, .. } => *of,
        }
    }

    fn text(&self, file: FileId) -> &Text {
        match &self.entries[self.spelling_file(file).index()] {
            Entry::Text(text) => text,
            Entry::Expansion { .. } => {
                unreachable!("internal error (source map): an expansion's text is an expansion")
            }
        }
    }

    /// The name that messages use for the file.
    pub fn name(&self, file: FileId) -> &str {
        &self.text(file).name
    }

    /// The bytes of the file.
    pub fn bytes(&self, file: FileId) -> &[u8] {
        &self.text(file).bytes
    }

    /// The bytes of the file, to be read while the map changes.
    pub(crate) fn shared_bytes(&self, file: FileId) -> Arc<[u8]> {
        Arc::clone(&self.text(file).bytes)
    }

    /// The text of the file; a byte that is not UTF-8 is shown as `?`.
    pub fn shown(&self, file: FileId) -> &str {
        let text = self.text(file);
        match &text.shown {
            Some(shown) => shown,
            None => std::str::from_utf8(&text.bytes).unwrap_or_default(),
        }
    }

    /// The bytes that a span covers (for a token of a macro: in the macro's body).
    pub fn slice(&self, span: Span) -> &[u8] {
        let bytes = self.bytes(span.file);
        bytes.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Line and column of a byte offset; an offset behind the end counts as the end.
    pub fn position_of(&self, file: FileId, offset: u32) -> Position {
        let text = self.text(file);
        let offset = offset.min(text.bytes.len() as u32);
        let line = text.lines.partition_point(|start| *start <= offset);
        Position { line: line as u32, column: offset - text.lines[line - 1] + 1 }
    }

    /// Line and column of the start of a span in the script: see [`SourceMap::origin`].
    pub fn position(&self, span: Span) -> Position {
        let origin = self.origin(span);
        self.position_of(origin.file, origin.start)
    }

    /// `NAME:LINE:COLUMN` of the start of a span in the script: see [`SourceMap::origin`].
    pub fn locate(&self, span: Span) -> String {
        let origin = self.origin(span);
        format!("{}:{}", self.name(origin.file), self.position_of(origin.file, origin.start))
    }

    /// How the span's tokens came out of a macro, if they did.
    pub fn expansion(&self, span: Span) -> Option<&Expansion> {
        match &self.entries[span.file.index()] {
            Entry::Text(_) => None,
            Entry::Expansion { expansion, .. } => Some(expansion),
        }
    }

    /// The span in the script itself: for tokens out of a macro, that of the outermost invocation.
    pub fn origin(&self, mut span: Span) -> Span {
        while let Some(expansion) = self.expansion(span) {
            span = expansion.call;
        }
        span
    }

    /// The span where the token's text stands: for tokens out of a macro, in the macro's body.
    pub fn spelling(&self, span: Span) -> Span {
        Span { file: self.spelling_file(span.file), ..span }
    }

    /// From the start of `first` to the end of `last`, in the innermost file that has both: the
    /// expansion they share, or the script.
    pub fn join(&self, first: Span, last: Span) -> Span {
        if first.file == last.file {
            return first.to(last);
        }
        let mut from = first;
        loop {
            let mut to = last;
            loop {
                if from.file == to.file {
                    return from.to(to);
                }
                match self.expansion(to) {
                    Some(expansion) => to = expansion.call,
                    None => break,
                }
            }
            match self.expansion(from) {
                Some(expansion) => from = expansion.call,
                None => return from,
            }
        }
    }

    /// Number of lines of the file; a file without line feeds has one.
    pub fn line_count(&self, file: FileId) -> usize {
        self.text(file).lines.len()
    }

    /// The bytes of a line counted from zero, line feed included.
    pub fn line_range(&self, file: FileId, line: usize) -> Option<Range<usize>> {
        let text = self.text(file);
        let start = *text.lines.get(line)? as usize;
        let end = text.lines.get(line + 1).map_or(text.bytes.len(), |next| *next as usize);
        Some(start..end)
    }

    /// All the files, expansions included, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.entries.len() as u32).map(FileId)
    }
}

/// Replaces each byte that is not part of valid UTF-8 by `?`.
fn replace_invalid(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown.push_str(chunk.valid());
        shown.extend(chunk.invalid().iter().map(|_| '?'));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_bytes_from_one() {
        let mut map = SourceMap::new();
        let file = map.add("a.stp", "one\ntwo\n\nfour");
        let at = |offset| map.position_of(file, offset).to_string();
        assert_eq!(at(0), "1:1");
        assert_eq!(at(3), "1:4");
        assert_eq!(at(4), "2:1");
        assert_eq!(at(8), "3:1");
        assert_eq!(at(9), "4:1");
        assert_eq!(at(99), "4:5");
    }

    #[test]
    fn invalid_bytes_keep_their_offsets() {
        let mut map = SourceMap::new();
        let file = map.add("latin.stp", b"# caf\xe9\nprobe".to_vec());
        assert_eq!(map.shown(file), "# caf?\nprobe");
        assert_eq!(map.bytes(file)[5], 0xe9);
        assert_eq!(map.position_of(file, 7).to_string(), "2:1");
    }

    #[test]
    fn an_expansion_leads_back_to_its_call() {
        let mut map = SourceMap::new();
        let library = map.add("lib.stpm", "@define two %( 1 + 1 %)");
        let script = map.add("a.stp", "x =\n  @two * 3");
        let call = Span::new(script, 6, 10);
        let expanded = map.add_expansion(library, "@two", call);
        let (one, plus) = (Span::new(expanded, 15, 16), Span::new(expanded, 17, 18));
        assert_eq!(map.locate(one), "a.stp:2:3");
        assert_eq!(map.slice(one), b"1");
        assert_eq!(map.locate(map.spelling(one)), "lib.stpm:1:16");
        assert_eq!(map.join(one, plus), Span::new(expanded, 15, 18));
        assert_eq!(map.join(one, Span::new(script, 13, 14)), Span::new(script, 6, 14));
        assert_eq!(map.join(Span::new(script, 0, 1), plus), Span::new(script, 0, 10));
    }
}
