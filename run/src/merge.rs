//! One stream of output from the records of many CPUs.
//!
//! Each CPU's trace file is a sequence of records: four magic bytes, a sequence number, the
//! length of the data, the data. One counter numbers the records of all CPUs, beginning with 1.
//! [`RecordReader`] splits a file into records, [`Merger`] puts the records of all files in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// What a record begins with.
const MAGIC: [u8; 4] = [0xf0, 0x9f, 0xa9, 0xba];

/// Magic, sequence number and length, in bytes.
const HEADER_LEN: usize = 12;

/// No record holds more data than this, in bytes.
const DATA_MAX: usize = 128 * 1024;

/// How long a missing record is waited for: it was numbered but its CPU has not published it yet.
const PATIENCE: Duration = Duration::from_secs(2);

/// One piece of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Its place in the output.
    pub(crate) sequence: u32,
    /// What was printed.
    pub(crate) data: Vec<u8>,
}

/// Splits what is read from one trace file into records.
#[derive(Debug, Default)]
pub(crate) struct RecordReader {
    pending: Vec<u8>,
    /// Bytes that belong to no record. A sound module makes none.
    pub(crate) garbage: u64,
}

impl RecordReader {
    /// Takes what was read next and returns the records that are complete now.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Record> {
        self.pending.extend_from_slice(bytes);
        let mut records = Vec::new();
        let mut at = 0;
        loop {
            at += self.skip_to_record(at);
            let Some((record, len)) = parse(&self.pending[at..]) else { break };
            records.push(record);
            at += len;
        }
        self.pending.drain(..at);
        records
    }

    /// How many bytes from `at` on are not the start of a record. Zeros are padding.
    fn skip_to_record(&mut self, at: usize) -> usize {
        let rest = &self.pending[at..];
        let starts_record = |at: &usize| {
            let here = &rest[*at..];
            let magic = &here[..here.len().min(MAGIC.len())];
            MAGIC.starts_with(magic) && (here.len() < HEADER_LEN || length(here) <= DATA_MAX)
        };
        let skipped = (0..rest.len()).find(starts_record).unwrap_or(rest.len());
        self.garbage += rest[..skipped].iter().filter(|byte| **byte != 0).count() as u64;
        skipped
    }
}

/// The length field of a whole header.
fn length(record: &[u8]) -> usize {
    word(record, 8) as usize
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |word| u32::from_ne_bytes(*word))
}

/// The record that `bytes` begin with, and its length with the header, if it is all there.
fn parse(bytes: &[u8]) -> Option<(Record, usize)> {
    if bytes.len() < HEADER_LEN {
        return None;
    }
    let end = HEADER_LEN + length(bytes);
    let data = bytes.get(HEADER_LEN..end)?.to_vec();
    Some((Record { sequence: word(bytes, 4), data }, end))
}

/// Puts records in the order of their numbers.
#[derive(Debug)]
pub(crate) struct Merger {
    /// The number of the next record to go out, counted on where the 32-bit numbers wrap.
    next: u64,
    /// Records that came early.
    waiting: BinaryHeap<Reverse<(u64, Vec<u8>)>>,
    /// Since when the next record has been missing though a later one is there.
    missing_since: Option<Instant>,
    /// How many records were given up.
    pub(crate) lost: u64,
}

impl Merger {
    /// A merger for a module that has not printed yet.
    pub(crate) fn new() -> Self {
        Self { next: 1, waiting: BinaryHeap::new(), missing_since: None, lost: 0 }
    }

    /// Takes records of one CPU.
    pub(crate) fn add(&mut self, records: Vec<Record>) {
        for Record { sequence, data } in records {
            // The number whose low half this is and which is nearest to the next one.
            let distance = sequence.wrapping_sub(self.next as u32) as i32;
            let sequence = self.next.saturating_add_signed(i64::from(distance));
            self.waiting.push(Reverse((sequence, data)));
        }
    }

    /// Passes on the records whose turn it is. A gap is waited for, but not for ever.
    pub(crate) fn take<E>(
        &mut self,
        now: Instant,
        mut out: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(Reverse((sequence, _))) = self.waiting.peek() {
            if *sequence > self.next {
                let since = *self.missing_since.get_or_insert(now);
                if now.duration_since(since) < PATIENCE {
                    break;
                }
            }
            self.put_first(&mut out)?;
        }
        Ok(())
    }

    /// Passes on all that is left, in order.
    pub(crate) fn finish<E>(
        &mut self,
        mut out: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while !self.waiting.is_empty() {
            self.put_first(&mut out)?;
        }
        Ok(())
    }

    /// Passes on the first record, whatever is missing before it.
    fn put_first<E>(&mut self, out: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let Some(Reverse((sequence, data))) = self.waiting.pop() else { return Ok(()) };
        if sequence < self.next {
            // It was given up, and comes after all.
            self.lost = self.lost.saturating_sub(1);
        } else {
            self.lost += sequence - self.next;
            self.next = sequence + 1;
            self.missing_since = None;
        }
        out(&data)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encode(sequence: u32, data: &[u8]) -> Vec<u8> {
        let len = (data.len() as u32).to_ne_bytes();
        [&MAGIC[..], &sequence.to_ne_bytes(), &len, data].concat()
    }

    fn record(sequence: u32, data: &str) -> Record {
        Record { sequence, data: data.as_bytes().to_vec() }
    }

    /// What comes out of a merger at a time.
    fn taken(merger: &mut Merger, now: Instant) -> String {
        let mut out = Vec::new();
        let put = |data: &[u8]| -> Result<(), ()> {
            out.extend_from_slice(data);
            Ok(())
        };
        merger.take(now, put).expect("cannot fail");
        String::from_utf8(out).expect("text")
    }

    fn finished(merger: &mut Merger) -> String {
        let mut out = Vec::new();
        let put = |data: &[u8]| -> Result<(), ()> {
            out.extend_from_slice(data);
            Ok(())
        };
        merger.finish(put).expect("cannot fail");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn records_in_pieces() {
        let stream = [encode(1, b"one"), vec![0; 5], encode(2, b"two")].concat();
        for cut in 0..stream.len() {
            let mut reader = RecordReader::default();
            let mut records = reader.push(&stream[..cut]);
            records.extend(reader.push(&stream[cut..]));
            assert_eq!(records, [record(1, "one"), record(2, "two")], "cut at {cut}");
            assert_eq!(reader.garbage, 0);
        }
    }

    #[test]
    fn garbage_is_counted_and_passed_over() {
        let mut too_long = encode(9, b"");
        too_long[8..12].copy_from_slice(&(DATA_MAX as u32 + 1).to_ne_bytes());
        let stream = [b"xx".to_vec(), encode(1, b"one"), too_long, encode(2, b"two")].concat();
        let mut reader = RecordReader::default();
        assert_eq!(reader.push(&stream), [record(1, "one"), record(2, "two")]);
        assert!(reader.garbage >= 2, "{}", reader.garbage);
    }

    #[test]
    fn order_over_cpus() {
        let mut merger = Merger::new();
        let now = Instant::now();
        merger.add(vec![record(2, "b"), record(4, "d")]);
        assert_eq!(taken(&mut merger, now), "");
        merger.add(vec![record(1, "a"), record(3, "c"), record(6, "f")]);
        assert_eq!(taken(&mut merger, now), "abcd");
        merger.add(vec![record(5, "e")]);
        assert_eq!(taken(&mut merger, now), "ef");
        assert_eq!(merger.lost, 0);
    }

    #[test]
    fn a_gap_is_waited_for_and_then_given_up() {
        let mut merger = Merger::new();
        let begun = Instant::now();
        merger.add(vec![record(1, "a"), record(4, "d")]);
        assert_eq!(taken(&mut merger, begun), "a");
        assert_eq!(taken(&mut merger, begun + PATIENCE / 2), "");
        assert_eq!(taken(&mut merger, begun + PATIENCE), "d");
        assert_eq!(merger.lost, 2);
        merger.add(vec![record(3, "late"), record(5, "e")]);
        assert_eq!(taken(&mut merger, begun + PATIENCE), "latee");
        assert_eq!(merger.lost, 1);
    }

    #[test]
    fn the_end_waits_for_nothing() {
        let mut merger = Merger::new();
        merger.add(vec![record(3, "c"), record(2, "b"), record(7, "g")]);
        assert_eq!(finished(&mut merger), "bcg");
        assert_eq!(merger.lost, 1 + 3);
    }

    #[test]
    fn numbers_wrap() {
        let mut merger = Merger::new();
        merger.next = u64::from(u32::MAX) - 1;
        let numbers = [0, u32::MAX - 1, 1, u32::MAX];
        merger.add(numbers.map(|number| record(number, &format!("{number} "))).to_vec());
        let expected = format!("{} {} 0 1 ", u32::MAX - 1, u32::MAX);
        assert_eq!(taken(&mut merger, Instant::now()), expected);
        assert_eq!(merger.lost, 0);
    }

    proptest! {
        #[test]
        fn any_distribution_over_cpus_comes_out_in_order(
            cpus in prop::collection::vec(0_usize..4, 0..200),
            rounds in prop::collection::vec(0_usize..300, 0..20),
        ) {
            let mut files = vec![Vec::new(); 4];
            let mut expected = String::new();
            for (index, cpu) in cpus.iter().enumerate() {
                let text = format!("{index};");
                files[*cpu].extend(encode(index as u32 + 1, text.as_bytes()));
                expected.push_str(&text);
            }
            let mut merger = Merger::new();
            let mut readers: Vec<RecordReader> = (0..4).map(|_| RecordReader::default()).collect();
            let now = Instant::now();
            let mut output = String::new();
            for len in rounds.into_iter().chain([usize::MAX]) {
                for (file, reader) in files.iter_mut().zip(&mut readers) {
                    let rest = file.split_off(len.min(file.len()));
                    merger.add(reader.push(file));
                    *file = rest;
                }
                output.push_str(&taken(&mut merger, now));
            }
            prop_assert_eq!(output, expected);
            prop_assert_eq!(merger.lost, 0);
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
            let mut reader = RecordReader::default();
            let mut merger = Merger::new();
            merger.add(reader.push(&bytes));
            finished(&mut merger);
        }
    }
}
